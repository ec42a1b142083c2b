"""Parses versions and times that clients send."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from msgspec import Struct

MAX_DIGITS = 20
"""No version has more digits; Python refuses to parse numbers of some thousand digits."""

TOKEN = re.compile(r"(-?[0-9]+)(?:-([0-9a-z]{1,32}))?", re.ASCII)
_TIME = re.compile(r"-?[0-9]{1,12}", re.ASCII)
_RFC_3339 = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?"
    r"(?:([Zz])|([+ -])([0-9]{2}:[0-9]{2}))",
    re.ASCII,
)
_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)


class At(Struct, frozen=True):
    """A moment in the past: a version, or a time in Unix milliseconds if the version is None."""

    version: int | None
    ms: int = 0


class Since(Struct, frozen=True):
    """The version that a client has, and the version's epoch; None if the client sent the version alone."""

    version: int
    epoch: str | None = None

    def is_of(self, epoch: str) -> bool:
        """Return whether the version may belong to `epoch`."""
        return self.epoch in {None, epoch}


def milliseconds(text: str) -> int | None:
    """Parse a time of RFC 3339 to Unix milliseconds; None for anything else.

    A blank before the offset counts as a plus sign: a query decodes an unencoded plus to a blank.
    """
    if (found := _RFC_3339.fullmatch(text)) is None:
        return None
    day, time, fraction, zulu, sign, offset = found.groups()
    zone = "+00:00" if zulu else f"{'-' if sign == '-' else '+'}{offset}"
    try:
        whole = datetime.fromisoformat(f"{day}T{time}{zone}")
    except ValueError:
        return None
    return (whole - _BEGIN) // timedelta(milliseconds=1) + int(f"{fraction or ''}000"[:3])


def seconds_of(text: str) -> float | None:
    """Parse Unix seconds, or a time of RFC 3339; None for anything else."""
    if _TIME.fullmatch(text):
        return float(text)
    at_ms = milliseconds(text)
    return None if at_ms is None else at_ms / 1000


def since_of(text: str) -> Since | None:
    """Parse `VERSION` or `VERSION-EPOCH`; None for anything else."""
    if (found := TOKEN.fullmatch(text)) is None:
        return None
    version, epoch = found.groups()
    if len(version) > MAX_DIGITS:  # such a text is still a version, but far out of range
        version = f"{version[0]}{'9' * MAX_DIGITS}"
    return Since(int(version), epoch)
