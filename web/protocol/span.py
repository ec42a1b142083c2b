"""The query parameters of lines and moves: an id, a span of time, the number of points, the least move."""

from __future__ import annotations

import re
from math import isinf
from typing import Final

from msgspec import Struct

from web.protocol import query
from web.protocol.problems import Problem
from web.protocol.query import Parameter, Query

MAX_POINTS = 10_000
_ID = re.compile(r"fx[a-z2-7]{13}|[a-z0-9-]{1,32}_[A-Za-z0-9._~-]{1,128}", re.ASCII)
_POINTS = re.compile(r"[1-9][0-9]{0,4}", re.ASCII)
_THEN = "in Unix seconds or as a time of RFC 3339, such as 2026-12-05T15:00:00Z"
ID: Final = Parameter(
    "id",
    "The id of an entry, such as alder_4711, or of a fixture.",
    {"type": "string", "pattern": f"^({_ID.pattern})$"},
    is_required=True,
)
MARKET: Final = Parameter(
    "market", "One market, such as over_under:2.5 or btts, instead of 1x2; /api/v2/markets lists them."
)
FROM: Final = Parameter(
    "from", f"Begin then, {_THEN}; default: seven days before the end.", query.FROM.schema
)
TO: Final = Parameter("to", f"End before then, {_THEN}; default: now.", query.TO.schema)
POINTS: Final = Parameter(
    "points",
    "Points of each bookmaker at most; ends, extremes and absences are always kept.",
    {"type": "integer", "minimum": 1, "maximum": MAX_POINTS},
)
MIN_WINDOW_S, WINDOW_S, MAX_WINDOW_S = 60, 900, 86_400
_WINDOW = re.compile(r"[1-9][0-9]{1,4}", re.ASCII)
WINDOW: Final = Parameter(
    "window_s",
    f"The length of the time until now, in seconds; default: {WINDOW_S}.",
    {"type": "integer", "minimum": MIN_WINDOW_S, "maximum": MAX_WINDOW_S},
)
_LEAST = re.compile(r"0(?:\.[0-9]{1,9})?|1(?:\.0{1,9})?", re.ASCII)
LEAST_MOVE = 0.01
LEAST: Final = Parameter(
    "min",
    f"Show only moves of this probability or more, from 0 to 1; default: {LEAST_MOVE}.",
    {"type": "string", "pattern": f"^({_LEAST.pattern})$"},
)


class Span(Struct, frozen=True):
    """A span of time in Unix milliseconds; the end is excluded."""

    from_ms: int
    until_ms: int


class SpanQuery(Query):
    """The parameters of a request for lines. Each method raises Problem 400 for a forbidden value."""

    def id(self) -> str:
        """Return the requested id; it is required."""
        must = "must be the id of an entry, such as alder_4711, or of a fixture"
        given = self._one(ID.name, must)
        if given is None:
            raise _invalid(ID.name, "is missing", must)
        if not _ID.fullmatch(given):
            raise _invalid(ID.name, f"was {given[:64]!r}", must)
        return given

    def span(self, now_ms: int, default_ms: int) -> Span:
        """Return the requested span; it ends now at the latest."""
        until_s, from_s = self._time(TO.name, float("inf")), self._time(FROM.name, float("-inf"))
        until_ms = now_ms + 1 if isinf(until_s) else min(round(until_s * 1000), now_ms + 1)
        from_ms = until_ms - default_ms if isinf(from_s) else round(from_s * 1000)
        if not isinf(until_s) and not isinf(from_s) and from_s >= until_s:
            raise _invalid(TO.name, "is not after 'from'", f"must be later than '{FROM.name}'")
        return Span(from_ms, until_ms)

    def points(self) -> int:
        """Return the most points of a bookmaker; `MAX_POINTS` if absent."""
        must = f"must be a whole number from 1 to {MAX_POINTS}"
        given = self._one(POINTS.name, must)
        if given is None:
            return MAX_POINTS
        if not _POINTS.fullmatch(given) or int(given) > MAX_POINTS:
            raise _invalid(POINTS.name, f"was {given[:64]!r}", must)
        return int(given)

    def window_s(self) -> int:
        """Return the requested length of the time until now, in seconds."""
        must = f"must be a whole number from {MIN_WINDOW_S} to {MAX_WINDOW_S}"
        given = self._one(WINDOW.name, must)
        if given is None:
            return WINDOW_S
        if not _WINDOW.fullmatch(given) or not MIN_WINDOW_S <= int(given) <= MAX_WINDOW_S:
            raise _invalid(WINDOW.name, f"was {given[:64]!r}", must)
        return int(given)

    def least(self) -> float:
        """Return the smallest move to show, as a probability."""
        must = "must be a number from 0 to 1, like 0.01"
        given = self._one(LEAST.name, must)
        if given is None:
            return LEAST_MOVE
        if not _LEAST.fullmatch(given):
            raise _invalid(LEAST.name, f"was {given[:64]!r}", must)
        return float(given)

    def league(self) -> str | None:
        """Return the requested league, None if absent."""
        return self._one(query.LEAGUE.name, "must be given once, or not at all")


def _invalid(name: str, fault: str, must: str) -> Problem:
    return Problem(400, f"invalid_{name}", f"parameter '{name}' {fault}, {must}")
