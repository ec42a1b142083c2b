"""Content negotiation: which media type and coding a client wants, and whether it has the answer already.

Pure functions of header values, by RFC 9110: Accept (12.5.1), Accept-Encoding (12.5.3) and
If-None-Match (13.1.2). Parts that do not follow the grammar are ignored.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from web.protocol.problems import Problem

_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_WEIGHT = r"[ \t]*;[ \t]*[qQ]=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)"
_PARAMETER = r"[ \t]*;(?![ \t]*[qQ]=)[^;]*+"  # possessive, so that hostile headers cause no backtracking
_CODING = re.compile(rf"({_WORD})(?:{_WEIGHT})?")
_MEDIA_RANGE = re.compile(rf"({_WORD}/{_WORD})(?:{_PARAMETER})*+(?:{_WEIGHT}[ \t]*(?:;.*)?)?", re.DOTALL)
_TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
_LISTED = rf"[ \t]*+(?:{_TAG})?[ \t]*+"
_TAGS = re.compile(rf"{_LISTED}(?:,{_LISTED})*+")
_MAX_HEADER = 8192


class Coding(StrEnum):
    """The content codings of the odds lists.

    With zstd or brotli each version would be compressed as a whole, because not every client reads a body
    that is joined from compressed parts (docs/figures.md).
    """

    IDENTITY = "identity"
    GZIP = "gzip"


class Format(StrEnum):
    """The format in which lists are written; the query decides it, `Accept` does not."""

    JSON = "json"
    CSV = "csv"

    @property
    def media_type(self) -> str:
        """The Content-Type of its bodies."""
        return "application/json" if self is Format.JSON else "text/csv; charset=utf-8"


@lru_cache(maxsize=256)
def coding_for(accept_encoding: str | None) -> Coding | None:
    """Return the coding with the higher weight, gzip if equal; None if neither is acceptable."""
    weights = _weights(accept_encoding or "", _CODING)
    others = weights.get("*")
    gzip = weights.get("gzip", weights.get("x-gzip", others or 0.0))
    identity = weights.get("identity", others)
    if gzip > 0.0 and gzip >= (identity or 0.0):
        return Coding.GZIP
    return None if identity == 0.0 else Coding.IDENTITY  # acceptable unless refused


def acceptable(accept_encoding: str | None) -> Coding:
    """Return the coding of an answer. Raises: Problem 406 if no coding is acceptable."""
    if (coding := coding_for(accept_encoding)) is None:
        detail = f"Accept-Encoding allows none of the available content codings: {', '.join(Coding)}"
        raise Problem(406, "not_acceptable", detail, {"Vary": "Accept-Encoding"})
    return coding


@lru_cache(maxsize=64)  # keyed by what clients send, up to 8 kB each
def prefers_html(accept: str | None) -> bool:
    """Return whether text/html has a higher weight than application/json."""
    weights = _media_weights(accept)
    return _weight(weights, "text", "html") > _weight(weights, "application", "json")


@lru_cache(maxsize=64)  # keyed by what clients send, up to 8 kB each
def prefers_openmetrics(accept: str | None) -> bool:
    """Return whether OpenMetrics is named, and has no lower weight than plain text."""
    weights = _media_weights(accept)
    return 0.0 < weights.get("application/openmetrics-text", 0.0) >= _weight(weights, "text", "plain")


@lru_cache(maxsize=64)  # keyed by what clients send, up to 8 kB each
def has_already(if_none_match: str, etag: str) -> bool:
    """Return whether If-None-Match is `*` or names `etag` (a quoted strong tag), by weak comparison."""
    if if_none_match.strip(" \t") == "*":
        return True
    if len(if_none_match) > _MAX_HEADER or not _TAGS.fullmatch(if_none_match):
        return False
    return etag in {tag.removeprefix("W/") for tag in re.findall(_TAG, if_none_match)}


def newest_version(if_none_match: str) -> tuple[int, str]:
    """Return the newest version among the tags of If-None-Match, and its epoch; 0 without a version."""
    found = re.findall(r'"([0-9]{1,16})-([^"-]+)[-"]', if_none_match[:_MAX_HEADER])
    return max([(int(version), epoch) for version, epoch in found], default=(0, ""))


def _media_weights(accept: str | None) -> dict[str, float]:
    return {} if accept is None or len(accept) > _MAX_HEADER else _weights(accept, _MEDIA_RANGE)


def _weight(weights: dict[str, float], kind: str, form: str) -> float:
    return next((weights[key] for key in (f"{kind}/{form}", f"{kind}/*", "*/*") if key in weights), 0.0)


def _weights(header: str, form: re.Pattern[str]) -> dict[str, float]:
    found = (form.fullmatch(part.strip(" \t")) for part in header.split(","))
    return {item[1].lower(): float(item[2] or 1) for item in found if item}
