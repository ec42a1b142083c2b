"""Lines of a service without an archive: the last change and the current price of each entry."""

from __future__ import annotations

from collections.abc import Iterable

from actors.archive.lines.moved import Asked, Nowhere
from actors.board.history import Change
from actors.board.snapshot import Entry, Snapshot
from actors.core.messages import BookmakerId, Prices
from actors.lines.consensus import FairPoint, Terms, consensus_of, counted
from actors.lines.line import Absence, Moment, Point
from actors.lines.links import Link, bookmakers_of
from actors.lines.told import Line, Lines, line_of, share_of
from actors.markets.market import ONE_X_TWO
from actors.matches.model import Fixture, FixtureState, fixtures_of
from actors.matching.event import FixtureId
from web.feeds.subscribers import Live


async def lines_in_memory(live: Live, asked: Asked, client: str | None) -> Lines | Nowhere:
    """Return the lines in memory: each entry's last change, if it is still kept, and its current price.

    Raises: Problem 429 if the client has caused too much work.
    """
    board = live.board if asked.market == ONE_X_TWO else None
    if board is None and asked.market.kind in live.markets:
        board = live.markets[asked.market.kind].board
    newest = live.board.newest
    first = live.audience.history.oldest(None)
    if board is None:
        return Nowhere(first, newest.version)
    shown = board.newest
    fixture = _fixture(shown, asked)
    entries = _entries(shown, asked) if fixture is None else fixture.entries
    lines = list[Line]()
    for name in entries or _bookmakers(asked):
        entry = entries.get(name)
        points = await _points(live, asked, name, entry, client)
        if points:
            kept = share_of(asked.points, len(entries))
            entry_id = asked.id if entry is None else entry.id.partition(" ")[0]
            lines.append(line_of((entry_id, name), points, kept, None, prices=_prices(shown, name)))
    if not lines:
        return Nowhere(first, newest.version)
    moments = Moment(first, _earliest(lines)), Moment(newest.version, asked.now_ms)
    start = next((entry.match.start_time for entry in entries.values()), None)
    kick_off = start if fixture is None else fixture.match.start_time
    consensus = None if fixture is None else [_consensus(shown, fixture, asked)]
    return Lines(asked.id, asked.market, *moments, kick_off, lines, (), consensus, 1)


def _fixture(shown: Snapshot, asked: Asked) -> Fixture | None:
    state = shown.fixtures
    if asked.is_entry or not isinstance(state, FixtureState):
        return None
    market = "" if asked.market == ONE_X_TWO else f" {asked.market}"
    return state.get(FixtureId(f"{asked.id}{market}"))


def _bookmakers(asked: Asked) -> Iterable[BookmakerId]:
    """Return the bookmaker of an entry that is not shown any more."""
    return [BookmakerId(asked.id.partition("_")[0])] if asked.is_entry else []


def _entries(shown: Snapshot, asked: Asked) -> dict[BookmakerId, Entry]:
    name = BookmakerId(asked.id.partition("_")[0])
    if not asked.is_entry or name not in shown.books:
        return {}
    wanted = asked.id if asked.market == ONE_X_TWO else f"{asked.id} {asked.market}"
    found = (entry for chunk in shown.books[name].chunks for entry in chunk.entries if entry.id == wanted)
    return dict.fromkeys([name], entry) if (entry := next(found, None)) and entry.is_named else {}


async def _points(
    live: Live, asked: Asked, name: BookmakerId, entry: Entry | None, client: str | None
) -> list[Point]:
    change: Change | None = None
    if asked.market == ONE_X_TWO and name in live.board.newest.books:
        wanted = asked.id if entry is None else entry.id
        change = await live.answers.own.charged(live.audience.history.last(name, wanted), client)
    if change is None:
        return [] if entry is None else [_state(entry)]
    found = [] if change.before is None else [_state(change.before)]
    at = change.version, round(change.at * 1000)
    if change.entry is None:
        suspended = change.reason.value == Absence.SUSPENDED.value
        return [
            *found,
            Point(*at, None, Absence.SUSPENDED if suspended else Absence.REMOVED, change.reason),
        ]
    odds = change.entry.match.prices
    return found if found and found[0].odds == odds else [*found, Point(*at, odds)]


def _state(entry: Entry) -> Point:
    """Return the entry's price as a point with an unknown version, at the time of its last change."""
    return Point(0, round(entry.updated * 1000), entry.match.prices, is_state=True)


def _earliest(lines: Iterable[Line]) -> int:
    return min(line.points[0].at_ms for line in lines)


def _prices(shown: Snapshot, name: BookmakerId) -> Prices | None:
    state = shown.fixtures
    roster = state.terms.roster if isinstance(state, FixtureState) else {}
    return roster[name].prices if name in roster else None


def _consensus(shown: Snapshot, fixture: Fixture, asked: Asked) -> FairPoint:
    """Return the current consensus, by the same definition as for the past."""
    roster = fixtures_of(shown).terms.roster
    links = [Link(of.key.source, of.key.source_match_id, of.rule, of.certainty) for of in fixture.members]
    odds = {
        f"{name}_{entry.id.partition(' ')[0].partition('_')[2]}": entry.match.prices
        for name, entry in fixture.entries.items()
    }
    by = bookmakers_of([(name, info.source, info.prices) for name, info in roster.items()])
    in_play_ms = 0 if fixture.has_begun else None
    terms = Terms(asked.market, asked.method, in_play_ms)
    return consensus_of(terms, counted(odds, links, by), asked.now_ms)
