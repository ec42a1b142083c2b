"""Reads the fixtures with the largest consensus moves since a time, and when bookmakers followed.

Runs in a thread. The request brings the present state: this module reads the beginning of the window and
the changes since. `actors/lines/movers.py` computes the moves.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from heapq import nsmallest
from typing import Final

from msgspec import Struct

from actors.archive.days.closings import Numbers, shown_at
from actors.archive.days.lines import changed, entry_rows
from actors.archive.days.links import links
from actors.archive.lines.moved import Span, between, breaks_of, moment_before, rosters_of, with_ends
from actors.archive.past import Days, Held, NotYet
from actors.lines.consensus import Past, Terms, counting
from actors.lines.line import Moment, Point, Row, left_in_a_gap, points_of
from actors.lines.links import Bookmakers, LinkRow, RosterRow, entry_ids
from actors.lines.movers import Follower, Move, followers, members_at, move_between, move_of
from actors.markets.market import Market
from actors.markets.odds import Odds
from actors.matches.fair import MIN_BOOKMAKERS, Method
from actors.matches.model import Fixture
from actors.matching.event import FixtureId

MOST: Final = 100
"""Fixtures in an answer."""
_AT_ONCE: Final = 10_000
"""Entries in one statement: SQLite allows 32,766 values."""


class AskedMovers(Struct, frozen=True):
    """The request for fixtures that moved at least so much since a time (Unix milliseconds).

    `bookmakers` are the present bookmakers, for days that did not store their own.
    """

    from_ms: int
    now_ms: int
    last: Moment
    least: float
    market: Market
    bookmakers: Bookmakers
    method: Method
    fixtures: Iterable[Fixture]


class Mover(Struct, frozen=True):
    """A fixture, its move, and its entries, in the order of the configuration."""

    fixture: Fixture
    move: Move
    followers: Sequence[Follower]


class Movers(Struct, frozen=True):
    """The fixtures that moved between two moments, the largest move first, then by id."""

    first: Moment
    last: Moment
    movers: Sequence[Mover]


def read_movers(days: Days, asked: AskedMovers) -> Movers | NotYet:
    """Return the fixtures that moved, as far as the archive is written.

    Raises: OSError, sqlite3.Error, UnreadableError.
    """
    held = days.held()
    if not held or held[-1].last < asked.last.version:
        return NotYet(held[-1].last if held else 0)
    span = _span(days, held, asked)
    if span.first.version >= asked.last.version:
        return Movers(asked.last, asked.last, [])
    reading = _Reading(days, asked, span)
    moves, late = reading.at_the_ends([*asked.fixtures])
    reading.read_rows([*_largest(moves, asked.least), *late])
    for fixture in late:
        move = move_of(reading.terms(fixture), reading.past(fixture), reading.end)
        moves |= {} if move is None else {fixture: move}
    movers = [
        Mover(
            fixture,
            moves[fixture],
            followers(reading.terms(fixture), reading.past(fixture), moves[fixture], reading.end),
        )
        for fixture in _largest(moves, asked.least)
    ]
    return Movers(span.first, span.last, movers)


def _span(days: Days, held: list[Held], asked: AskedMovers) -> Span:
    """Return the range to read: it begins after the last gap that hides changes."""
    first = moment_before(days, held, asked.from_ms + 1) or Moment(held[0].base, held[0].first_ms)
    gaps = breaks_of(days.gaps(held))
    for gap in gaps:
        if gap.after == first.version or (gap.after > first.version and not gap.goes_on):
            first = Moment(gap.until, gap.until_ms)
    begin = next((day for day in reversed(held) if day.base <= first.version), held[0])
    read = [day for day in held[held.index(begin) :] if day.base <= asked.last.version]
    return Span(first, asked.last, read, gaps, held[-1].seen_ms)


def _largest(moves: Mapping[Fixture, Move], least: float) -> list[Fixture]:
    found = [fixture for fixture, move in moves.items() if abs(move.change) >= least]
    return nsmallest(MOST, found, key=lambda fixture: (-abs(moves[fixture].change), fixture.id))


class _Reading:
    """The archive's part of a window: members, bookmakers, prices at its beginning, rows since."""

    def __init__(self, days: Days, asked: AskedMovers, span: Span) -> None:
        self._days, self._asked, self._span = days, asked, span
        self.end = Moment(span.last.version, asked.now_ms)
        linked: dict[FixtureId, list[LinkRow]] = {}
        rosters: list[RosterRow] = []
        for day in span.days:
            with days.reader(day.day) as reader:
                rosters += rosters_of(reader, asked.bookmakers)
                for row in links(reader.connection):
                    linked.setdefault(row.fixture, []).append(row)
        whole = {fixture: with_ends(rows, span.gaps, span.last.version) for fixture, rows in linked.items()}
        self._linked = {fixture: between(rows, span) for fixture, rows in whole.items()}
        self._rosters = between(rosters, span)
        self._begun: dict[str, Odds] = {}
        self._rows: dict[str, list[Row]] = {}

    def terms(self, fixture: Fixture) -> Terms:
        """Return the terms of a fixture's consensus; a begun fixture counts as in play all the time."""
        start = fixture.match.start_time
        in_play_ms = None if start is None else start * 1000
        return Terms(self._asked.market, self._asked.method, 0 if fixture.has_begun else in_play_ms)

    def past(self, fixture: Fixture) -> Past:
        """Return the data read for a fixture, from the beginning on."""
        linked, first = self._linked.get(fixture.match_id, ()), self._span.first
        lines = dict[str, Sequence[Point]]()
        for entry_id in _ids(linked, self._rosters):
            rows = [*self._rows.get(entry_id, ())]
            if entry_id in self._begun:
                rows.insert(0, (first.version, first.at_ms, self._begun[entry_id], None))
            if rows:
                lines[entry_id] = points_of(rows, (), first, self._span.last.version)
        return Past(lines, linked, self._rosters, ())

    def at_the_ends(self, fixtures: Sequence[Fixture]) -> tuple[dict[Fixture, Move], list[Fixture]]:
        """Return the moves of fixtures that had a consensus at the beginning, and the other fixtures.

        Without a change in a present price of a fixture nothing moved. The lines of entries are not read:
        that would take long, and few fixtures moved far.
        """
        moves, late, first = dict[Fixture, Move](), list[Fixture](), self._span.first
        changed, shown = self._changed(), {fixture: _shown(fixture) for fixture in fixtures}
        touched = [fixture for fixture in fixtures if not changed.isdisjoint(shown[fixture])]
        same = {
            entry_id: odds
            for fixture in touched
            for entry_id, odds in shown[fixture].items()
            if entry_id not in changed
        }
        self._read_begin(touched, same)
        self._begun |= same
        for fixture in touched:
            prices = shown[fixture]
            then, now = self._counted(fixture, self._begun, first), self._counted(fixture, prices, self.end)
            if len(now) < MIN_BOOKMAKERS:
                continue
            if len(then) < MIN_BOOKMAKERS:
                late.append(fixture)
            elif move := move_between(self.terms(fixture), (first, then), (self.end, now)):
                moves[fixture] = move
        return moves, late

    def read_rows(self, fixtures: Iterable[Fixture]) -> None:
        """Read the changes in the entries of fixtures since the beginning."""
        ids, low, high = [*self._ids(fixtures)], self._span.first.version + 1, self._span.last.version
        for day in self._span.days:
            with self._days.reader(day.day) as reader:
                for begin in range(0, len(ids), _AT_ONCE):
                    some = ids[begin : begin + _AT_ONCE]
                    found = entry_rows(reader, self._asked.market, some, min(day.last, high), low)
                    for entry_id, there in found.items():
                        self._rows.setdefault(entry_id, []).extend(there.rows)

    def _counted(self, fixture: Fixture, odds: Mapping[str, Odds], at: Moment) -> Mapping[str, Odds]:
        """Return the prices that count for the consensus at a moment."""
        past = Past({}, self._linked.get(fixture.match_id, ()), self._rosters, ())
        return counting(odds, *members_at(past, at.version)) or {}

    def _changed(self) -> set[str]:
        """Return the entries with a row since the beginning: all others have the same prices as then."""
        low, high, found = self._span.first.version + 1, self._span.last.version, set[str]()
        for day in self._span.days:
            with self._days.reader(day.day) as reader:
                found.update(changed(reader, self._asked.market, low, min(day.last, high)))
        return found

    def _read_begin(self, fixtures: Iterable[Fixture], same: Container[str]) -> None:
        """Read the fixtures' prices at the beginning, except for entries that are the `same` now.

        An unchanged entry may be in another fixture now.
        """
        first, day = self._span.first, self._span.days[0]
        wanted = {(entry_id, first.version) for entry_id in self._ids(fixtures) if entry_id not in same}
        with self._days.reader(day.day) as reader:
            shown = shown_at(reader, Numbers(reader, self._asked.market), wanted)
        for (entry_id, _), seen in shown.items():
            row = seen.price.at.version
            if seen.last is seen.price and not left_in_a_gap(self._span.gaps, row, first.version):
                self._begun[entry_id] = seen.price.odds

    def _ids(self, fixtures: Iterable[Fixture]) -> dict[str, None]:
        linked = (self._linked.get(fixture.match_id, ()) for fixture in fixtures)
        return {entry_id: None for rows in linked for entry_id in _ids(rows, self._rosters)}


def _shown(fixture: Fixture) -> dict[str, Odds]:
    """Return the present prices of a fixture by the ids of its entries in 1X2."""
    return {entry.id.partition(" ")[0]: entry.match.prices for entry in fixture.listed}


def _ids(linked: Sequence[LinkRow], rosters: Sequence[RosterRow]) -> dict[str, None]:
    """Return the ids of all entries that these members had."""
    return {
        entry_id: None
        for row in linked
        for roster in rosters
        for entry_id in entry_ids(row.links, roster.bookmakers)
    }
