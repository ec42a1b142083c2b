"""Reads the start of a match in a table. Pure.

A local time needs a zone. A time that a change of the clocks skips or repeats is refused.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from functools import lru_cache

from msgspec import Struct

from actors.sources.table.options import ISO, UNIX, UNIX_MS, TableOptions, zone_named

MAX_CHARS = 64  # a longer cell is not a time, and must not fill the caches

_ISO = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?)"
    r" ?(Z|[+-][0-9]{2}:?[0-9]{2})?)?"
).fullmatch
# Before a point the hour has two digits: 0.45 is a share of a day, as spreadsheets store times.
_TIME = re.compile(r"(?:([0-9]{1,2}):|([0-9]{2})\.)([0-9]{2})(?::([0-9]{2}))?(?: ?([AaPp])[Mm])?").fullmatch
_UNIX = re.compile(r"[1-9][0-9]{0,15}(?:\.[0-9]{1,9})?").fullmatch


class Start(Struct, frozen=True):
    """The day of a match in its zone, and its start (Unix seconds); without a time, the end of the day."""

    day: date
    start_time: float | None
    latest_start: int | None = None


def start_of(first: str, clock: str, options: TableOptions) -> Start:
    """Read a start from a cell, or from a date and a time; if there is no time, only the day is known.

    Raises: ValueError with the cell and the allowed formats.
    """
    return _found(first, clock, options.date_format, options.timezone)


def moment_of(cell: str, options: TableOptions) -> float:
    """Read a moment in the format of the start, as date and time, or ISO. Raises: ValueError."""
    pattern = ISO if _ISO(cell) else options.date_format
    is_split = pattern not in {ISO, UNIX, UNIX_MS} and not {"%H", "%I"} & {*re.findall("%.", pattern)}
    first, _, clock = cell.partition(" ") if is_split else (cell, "", "")
    moment = _found(first, clock, pattern, options.timezone).start_time
    if moment is None:
        raise ValueError(f"the time was {cell[:MAX_CHARS]!r}, must be a date with a time")
    return moment


def _found(first: str, clock: str, pattern: str, zone_name: str | None) -> Start:
    found = _cached(first, clock, pattern, zone_name)
    if isinstance(found, Start):
        return found
    raise ValueError(found)


@lru_cache(maxsize=8192)
def _cached(first: str, clock: str, pattern: str, zone_name: str | None) -> Start | str:
    try:
        return _parsed(first, clock, pattern, zone_name)
    except (ValueError, OverflowError, OSError) as error:
        return f"the time was {f'{first} {clock}'.strip()[:MAX_CHARS]!r}, {error}"


def _parsed(first: str, clock: str, pattern: str, zone_name: str | None) -> Start:
    zone = UTC if zone_name is None else zone_named(zone_name) or UTC
    if len(first) + len(clock) > MAX_CHARS or not (first + clock).isascii():
        raise ValueError("must be a date")
    if pattern in {UNIX, UNIX_MS}:
        if not _UNIX(first):
            raise ValueError(f"must be {'milliseconds' if pattern == UNIX_MS else 'seconds'} since 1970")
        at = float(first) / (1000 if pattern == UNIX_MS else 1)
        return Start(datetime.fromtimestamp(at, zone).date(), at)
    try:
        moment, has_time = _read(first, clock, pattern)
    except (ValueError, OverflowError):
        form = "like 2026-12-31 or 2026-12-31T15:00:00+01:00" if pattern == ISO else f"as {pattern}"
        raise ValueError(f"must be {form}{', the time like 15:00' if clock else ''}") from None
    if moment.tzinfo is not None:
        return Start(moment.astimezone(zone).date(), moment.timestamp())
    if zone_name is None:
        raise ValueError("which has no offset: timezone must be set")
    return _local(moment.replace(tzinfo=zone), has_time=has_time)


def _read(first: str, clock: str, pattern: str) -> tuple[datetime, bool]:
    """Return a moment, and whether its time of day is known. Raises: ValueError."""
    if pattern == ISO:
        if (found := _ISO(first)) is None or (found[2] and clock):
            raise ValueError
        moment, has_time = (
            datetime.fromisoformat(first.replace(" ", "T", 1).replace(" ", "")),
            bool(found[2]),
        )
    else:
        moment = datetime.strptime(first, pattern)  # noqa: DTZ007 - `_local` adds the zone
        has_time = "%H" in pattern or "%I" in pattern
    return (datetime.combine(moment.date(), _time(clock)), True) if clock else (moment, has_time)


def _time(clock: str) -> time:
    """Read a time of day. Raises: ValueError."""
    if (found := _TIME(clock)) is None:
        raise ValueError
    hour, half = int(found[1] or found[2]), (found[5] or "").lower()
    if half:
        if not 1 <= hour <= 12:  # noqa: PLR2004
            raise ValueError
        hour = hour % 12 + (12 if half == "p" else 0)
    return time(hour, int(found[3]), int(found[4] or 0))


def _local(moment: datetime, *, has_time: bool) -> Start:
    """Return the start at a local time. Raises: ValueError for a skipped or repeated time."""
    if not has_time:
        end = datetime.combine(moment.date(), time(23, 59), moment.tzinfo)
        return Start(moment.date(), None, int(end.timestamp()) + 60)
    if moment.utcoffset() != moment.replace(fold=1).utcoffset():
        raise ValueError("which the clocks leave out or have twice that day: an offset must say which")
    return Start(moment.date(), moment.timestamp())
