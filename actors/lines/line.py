"""The line of an entry: each price of a market with its version and time, and each absence with its reason.

Pure. A gap has no price: the price before it ends, and the state after it begins anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final, TypeAlias

from msgspec import Struct

from actors.markets.odds import Odds


class Absence(StrEnum):
    """Why a line has no price."""

    REMOVED = "removed"  # it was not on the board
    SUSPENDED = "suspended"
    GAP = "gap"  # no data is known, or the service was down


UNKNOWN: Final = "unknown"
"""The reason for entries that left the board in a gap."""
_DOWN: Final = ("stopped", "killed")
"""Gaps with these reasons do not interrupt the board: all removals in them are known."""


class Break(Struct, frozen=True):
    """Versions and times (Unix milliseconds) between which nothing is known, and why."""

    after: int
    until: int
    after_ms: int
    until_ms: int
    reason: str

    @property
    def goes_on(self) -> bool:
        """Whether the board after it continues the board before it, apart from known removals."""
        return self.reason in _DOWN


def left_in_a_gap(gaps: Iterable[Break], row: int, until: int) -> bool:
    """Return whether an entry left the board in a gap of the record that ended by the version `until`.

    `row` is the version of the entry's last row.
    """
    return any(not gap.goes_on and row < gap.until <= until for gap in gaps)


class Moment(Struct, frozen=True, order=True):
    """A version of the board, and its time (Unix milliseconds)."""

    version: int
    at_ms: int


class Point(Struct, frozen=True, gc=False):
    """A price from a version on, or (None) an absence and why.

    The `odds` are in the order of the market's outcomes. With `is_state` the price may have begun before:
    it is the first known price, or follows a gap.
    """

    version: int
    at_ms: int
    odds: Odds | None = None
    absent: Absence | None = None
    reason: str | None = None
    is_state: bool = False


Row: TypeAlias = tuple[int, int, Odds | None, str | None]
"""A row of an entry: version, time (Unix milliseconds), prices, or (None) the reason why it left."""


class _Line:
    """The points of a line so far: its current price, and whether it had one since the first moment."""

    def __init__(self, first: Moment) -> None:
        self.points: list[Point] = []
        self._first = first
        self._shown: Odds | None = None
        self._is_known = False
        self._pending: Break | None = None

    def row(self, row: Row) -> None:
        """Apply a row."""
        version, at_ms, odds, reason = row
        if version <= self._first.version:
            self._shown = odds
            return
        self._is_known = True
        is_state = self._pending is not None and self._pending.until == version
        if not is_state:
            self.settle()
        self._pending = None
        if odds is None:
            if self._shown is not None or is_state:
                absent = Absence.SUSPENDED if reason == Absence.SUSPENDED else Absence.REMOVED
                self.points.append(Point(version, at_ms, None, absent, reason))
        elif odds != self._shown or is_state:
            self.points.append(Point(version, at_ms, odds, None, None, is_state))
        self._shown = odds

    def begin(self) -> None:
        """Begin with the price at the first moment."""
        if self._shown is not None:
            self._is_known = True
            first = self._first
            self.points.append(Point(first.version, first.at_ms, self._shown, is_state=True))

    def gap(self, gap: Break, last: int) -> None:
        """Apply a gap, and the state after it unless that is later than the version `last`."""
        if gap.until <= self._first.version:
            self._shown = self._shown if gap.goes_on else None
            return
        self.settle()
        if not self._is_known or (gap.goes_on and self._shown is None):
            return
        self.points.append(Point(gap.after, gap.after_ms, None, Absence.GAP, gap.reason))
        if gap.until <= last:
            self._pending = gap

    def settle(self) -> None:
        """Add the point after a gap that has no row: the price went on, or the entry left in the gap."""
        gap, self._pending = self._pending, None
        if gap is None:
            return
        if not gap.goes_on:
            self._shown = None
        if self._shown is not None:
            self.points.append(Point(gap.until, gap.until_ms, self._shown, is_state=True))
        else:
            self.points.append(Point(gap.until, gap.until_ms, None, Absence.REMOVED, UNKNOWN))


def points_of(rows: Iterable[Row], gaps: Sequence[Break], first: Moment, last: int) -> list[Point]:
    """Return the points of an entry from a moment up to a version.

    `rows` begin with a whole state at or before the first moment, sorted by version; rows may repeat the
    state. `gaps` are the gaps that begin up to the last version, in order. The first point is the state at
    the first moment.
    """
    line, waiting, has_begun = _Line(first), [*reversed(gaps)], False
    for row in rows:
        version = row[0]
        while waiting and waiting[-1].until <= version:
            gap = waiting.pop()
            if not has_begun and gap.until > first.version:
                line.begin()
                has_begun = True
            line.gap(gap, last)
        if not has_begun and version > first.version:
            line.begin()
            has_begun = True
        line.row(row)
    for gap in reversed(waiting):
        if not has_begun and gap.until > first.version:
            line.begin()
            has_begun = True
        line.gap(gap, last)
    if not has_begun:
        line.begin()
    line.settle()
    return line.points


class Extremes(Struct, frozen=True):
    """For each outcome the first point with its highest price, and the first with its lowest."""

    highest: tuple[Point, ...]
    lowest: tuple[Point, ...]


def extremes_of(points: Sequence[Point]) -> Extremes | None:
    """Return the extremes of a line; None if it never had a price."""
    priced = [point for point in points if point.odds is not None]
    if not priced:
        return None
    columns = [*zip(*[point.odds for point in priced if point.odds is not None], strict=True)]
    return Extremes(
        tuple([priced[column.index(max(column))] for column in columns]),
        tuple([priced[column.index(min(column))] for column in columns]),
    )


def first_seen(points: Sequence[Point]) -> Point | None:
    """Return the first point with a price; None if there is none."""
    return next((point for point in points if point.odds is not None), None)
