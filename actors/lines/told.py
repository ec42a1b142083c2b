"""The values of an answer about lines: points, first seen, extremes, close, members. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from msgspec import Struct

from actors.core.messages import BookmakerId, Prices
from actors.lines.closing import Close, NoClose
from actors.lines.consensus import FairPoint
from actors.lines.line import Break, Extremes, Moment, Point, extremes_of, first_seen
from actors.lines.links import LinkRow, RosterRow, entry_ids
from actors.lines.thinning import thinned
from actors.markets.market import Market
from actors.matching.rules import Certainty

MOST = 10_000
"""Points of a bookmaker in an answer."""
MOST_OF_ALL = 50_000
"""Points of all bookmakers in an answer."""


class Membership(Struct, frozen=True):
    """An entry's certainty as a member from a moment on (None: not stored), or the end of membership."""

    version: int
    at_ms: int
    is_member: bool
    certainty: Certainty | None = None


Memberships: TypeAlias = dict[str, list[Membership]]


class Line(Struct, frozen=True):
    """A line; its `count` points may be thinned. `prices` is its newest kind of prices, None if unknown."""

    id: str
    bookmaker: BookmakerId
    prices: Prices | None
    count: int
    points: Sequence[Point]
    first_seen: Point | None
    newest: Point | None
    extremes: Extremes | None
    close: Close | NoClose | None
    members: Sequence[Membership] = ()


class Lines(Struct, frozen=True):
    """The lines of an entry or of a fixture between two moments; a fixture has a consensus, too.

    The consensus was thinned from `consensus_count` points. With `is_over` the match has kicked off, and
    has left the board entirely.
    """

    id: str
    market: Market
    first: Moment
    last: Moment
    kick_off: int | None
    lines: Sequence[Line]
    gaps: Sequence[Break]
    consensus: Sequence[FairPoint] | None = None
    consensus_count: int = 0
    is_over: bool = False


def line_of(
    entry: tuple[str, BookmakerId],
    points: Sequence[Point],
    most: int,
    close: Close | NoClose | None,
    *,
    prices: Prices | None = None,
    members: Sequence[Membership] = (),
) -> Line:
    """Return a line for an answer, with at most `most` points, or more if more must stay."""
    extremes = extremes_of(points)
    kept: set[int] = set()
    if len(points) > most and extremes is not None:
        wanted = {id(point) for point in (*extremes.highest, *extremes.lowest)}
        kept = {place for place, point in enumerate(points) if id(point) in wanted}
        if isinstance(close, Close):
            kept |= {place for place, point in enumerate(points) if point.version == close.version}
    shown = thinned(points, most, kept, _is_absent)
    newest = points[-1] if points else None
    return Line(
        *entry, prices, len(points), shown, first_seen(points), newest, extremes, close, tuple(members)
    )


def memberships(links: Iterable[LinkRow], rosters: Sequence[RosterRow], first: Moment) -> Memberships:
    """Return by entry when it was a member of a fixture, with which certainty, from the first moment on."""
    found: Memberships = {}
    for row in links:
        bookmakers = next(
            (roster.bookmakers for roster in reversed(rosters) if roster.version <= row.version), {}
        )
        at = (row.version, row.at_ms) if row.version > first.version else (first.version, first.at_ms)
        ids = entry_ids(row.links, bookmakers)
        for entry_id in dict.fromkeys([*found, *ids]):
            link = ids.get(entry_id)
            now = Membership(*at, link is not None, None if link is None else link[1].certainty)
            _add(found.setdefault(entry_id, []), now)
    return found


def _add(found: list[Membership], now: Membership) -> None:
    if found and found[-1].version == now.version:
        found.pop()
    before = found[-1] if found else None
    is_same = before is not None and (before.is_member, before.certainty) == (now.is_member, now.certainty)
    if not is_same and (now.is_member or before is not None):
        found.append(now)


def share_of(most: int, lines: int) -> int:
    """Return how many points, at most `most`, each of `lines` lines may have."""
    return max(min(most, MOST, MOST_OF_ALL // max(lines, 1)), 1)


def _is_absent(point: Point) -> bool:
    return point.absent is not None
