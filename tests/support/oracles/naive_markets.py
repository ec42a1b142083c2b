"""The expected boards of other markets, by simple code, from their entries and the 1X2 fixtures.

The 1X2 fixtures are not checked here: they have oracles of their own. Events without 1X2 prices must be
in the match where the linker that compares names would put them, once this linker has run.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import TypeAlias

from actors.board.chunks import entries_of
from actors.board.snapshot import Entry, Snapshot
from actors.core.messages import BookmakerId
from actors.market_fixtures.main_line import MainLines
from actors.market_fixtures.model import MarketState, markets_of
from actors.markets.market import FORMS, Kind
from actors.matches.draft import bonds
from actors.matches.model import (
    Fixture,
    FixtureChanges,
    FixtureRemoval,
    FixtureState,
    FixtureView,
    Roster,
    ViewKind,
)
from actors.matching.event import EventKey, FixtureId

Homes: TypeAlias = dict[EventKey, FixtureId]
Facts: TypeAlias = tuple[object, ...]


def entries_by_event(snapshot: Snapshot, roster: Roster) -> dict[EventKey, list[tuple[BookmakerId, Entry]]]:
    """Return the named entries of a board by their events."""
    found: dict[EventKey, list[tuple[BookmakerId, Entry]]] = {}
    for name, book in snapshot.books.items():
        for entry in entries_of(book.chunks):
            if entry.is_named:
                key = EventKey(roster[name].source, entry.match.event_id)
                found.setdefault(key, []).append((name, entry))
    return found


def homes_of(main: FixtureState, boards: Mapping[Kind, Snapshot], roster: Roster) -> Homes:
    """Return the match of each event of other markets; all kinds must have the event in the same match.

    Raises: AssertionError.
    """
    homes: Homes = {}
    for kind, board in boards.items():
        state, listed = markets_of(board), entries_by_event(board, roster)
        shown: dict[tuple[EventKey, str], set[FixtureId]] = {}
        for fixture in state:
            for name, entry in fixture.entries.items():
                key = EventKey(roster[name].source, entry.match.event_id)
                shown.setdefault((key, str(entry.match.market)), set()).add(fixture.match_id)
                assert homes.setdefault(key, fixture.match_id) == fixture.match_id, (
                    f"{key} is in two matches"
                )
                assert (name, entry) in listed[key], f"{entry.id} is not on the board of {kind}"
        wanted = {(key, str(entry.match.market)) for key, some in listed.items() for _, entry in some}
        assert wanted == shown.keys(), f"{kind}: other markets than on the board"
        assert sum(map(len, listed.values())) == sum(len(fixture.listed) for fixture in state)
    for key, home in homes.items():
        assert main.by_event.get(key, home) == home, f"{key} is not where its 1X2 prices are"
    return homes


def check_fixtures(kind: Kind, board: Snapshot, main: FixtureState, homes: Homes, roster: Roster) -> None:
    """Check the values that follow for the fixtures of a kind. Raises: AssertionError."""
    state = markets_of(board)
    _check_order(state)
    by_match: dict[FixtureId, set[FixtureId]] = {}
    for fixture in state:
        by_match.setdefault(fixture.match_id, set()).add(fixture.id)
        market, match_of = fixture.market, main.get(fixture.match_id)
        assert (kind, f"{fixture.match_id} {market}") == (market.kind, fixture.id)
        assert {str(market)} == {str(entry.match.market) for entry in fixture.listed}
        keys = {EventKey(roster[it].source, entry.match.event_id) for it, entry in fixture.entries.items()}
        assert all(homes[key] == fixture.match_id for key in keys)
        linked = set() if match_of is None else {member.key for member in match_of.members}
        members = [member.key for member in fixture.members]
        assert linked | keys == {*members}
        assert len({key.source for key in members}) == len(members), f"{members}: two of a source"
        assert members[1:] == sorted(members[1:])
        assert [name for name in roster if name in fixture.entries] == [*fixture.bookmakers]
        if match_of is not None:
            assert match_of.match.listing == fixture.match.listing
            assert match_of.place.start == fixture.place.start
            assert fixture.head is not None
            starts = [it.match.start_time for it in match_of.listed if it.match.start_time is not None]
            assert min(starts, default=float("inf")) == fixture.head.kick_off
    for match_id in by_match if FORMS[kind].lines else ():
        lines = state.of_match(match_id)
        best = MainLines().of(match_id, lines, roster)  # a new object, which remembers nothing
        assert [line.is_main for line in lines] == [line is best for line in lines]
    assert {home: tuple(sorted(some)) for home, some in by_match.items()} == {
        home: tuple(sorted(some)) for home, some in state.markets.items()
    }


def _check_order(state: MarketState) -> None:
    fixtures = [*state]
    assert [it.place for it in fixtures] == sorted(it.place for it in fixtures), "not in order"
    assert sorted(state.places) == sorted(it.id for it in fixtures)
    assert all(state.get(it.id) is it for it in fixtures)
    assert {*state.by_event.values()} == {it.id for it in fixtures}, "an event is in no fixture"


def facts_of(fixture: Fixture) -> Facts:
    """Return all fields of a fixture that readers see."""
    entries = [
        (it.id, it.match.prices, it.match.listing, it.updated, it.match.in_play) for it in fixture.listed
    ]
    bound = tuple(map(str, bonds(fixture.members)))
    about = fixture.head, fixture.place, fixture.surebet, fixture.is_main, fixture.has_begun
    return fixture.bookmakers, tuple(entries), bound, *about


def check_changes(old: Snapshot, new: Snapshot, homes: Homes, main: FixtureState) -> None:
    """Check that a commit's changes are the true differences, with true reasons, and its views' versions.

    `homes` are the matches of all events of other markets after the commit. Raises: AssertionError.
    """
    before, after = markets_of(old), markets_of(new)
    going_on = {*main.places, *(home for key, home in homes.items() if key not in main.by_event)}
    was = {it.id: it for it in before}
    now = {it.id: it for it in after}
    differ = {
        name
        for name in was.keys() | now.keys()
        if name not in was
        or name not in now
        or (facts_of(was[name]), was[name].weak) != (facts_of(now[name]), now[name].weak)
    }
    changes = new.fixture_changes if new is not old else None
    noted = changes.changes if isinstance(changes, FixtureChanges) else ()
    assert differ == {change.id for change in noted}, "changes are not what changed"
    for change in noted:
        assert change.before is was.get(change.id)
        assert change.after is now.get(change.id)
        if change.before is not None:
            expected = _reason(change.before, change.after, after, going_on)
            assert expected in {None, change.reason}, f"{change.id} left as {change.reason}, not {expected}"
            assert change.into is None or change.into in now, f"{change.into} is not there"
    for kind, name in product(ViewKind, (None, *after.terms.roster)):
        view = FixtureView(kind, name)
        shown = [
            {it.id: (facts_of(it), view.surebet_of(it)) for it in state if view.shows(it)}
            for state in (before, after)
        ]
        if kind is ViewKind.WEAK:  # other markets have no such view
            shown = [{name: it for name, it in some.items() if ":" in name} for some in shown]
        versions = before.version(view), after.version(view)
        if shown[0] == shown[1] and before.pending_in(view) == after.pending_in(view):
            assert versions[0] == versions[1], f"{view} is another version of the same"
        else:
            assert versions[0] < versions[1] == new.version, f"{view} changed without a new version"


def _reason(
    before: Fixture, after: Fixture | None, state: MarketState, going_on: set[FixtureId]
) -> FixtureRemoval | None:
    """Return why a fixture left, or bookmakers left it; None if none left; `going_on` are matches."""
    roster, stay = state.terms.roster, () if after is None else after.bookmakers
    left = {name: it for name, it in before.entries.items() if name not in stay}
    if not left:
        return None
    keys = [EventKey(roster[name].source, entry.source_match_id) for name, entry in left.items()]
    goes_on = before.match_id in going_on
    if {state.by_event.get(key) for key in keys} - {None, before.id}:
        return FixtureRemoval.SPLIT if goes_on or after is not None else FixtureRemoval.MERGED
    return FixtureRemoval.NO_MARKET if goes_on else FixtureRemoval.ENDED


def check_sides(homes: Homes, main: FixtureState, boards: Mapping[Kind, Snapshot], roster: Roster) -> int:
    """Check the events without 1X2 prices, once the linker that compares names has seen all events.

    Returns how many of these events are in a match with other events. Raises: AssertionError.
    """
    listings = _listings(homes, main, boards, roster)
    groups: dict[tuple[object, ...], list[EventKey]] = {}
    for key in sorted(listings):
        group = groups.setdefault(listings[key], [])
        if key.source not in {other.source for other in group}:
            group.append(key)
    joined = 0
    for key in homes.keys() - main.by_event.keys():
        group = groups[listings[key]] if key in groups[listings[key]] else [key]
        fixtures = {main.by_event[other] for other in group if other in main.by_event}
        there = {other for other in homes if homes[other] == homes[key]} - {key}
        taken = {other.source for other, fixture_id in main.by_event.items() if fixture_id in fixtures}
        if len(fixtures) == 1 and key.source not in taken:
            assert {homes[key]} == fixtures, f"{key} is not in its match"
            joined += 1
            continue
        others = {other for other in group if other in homes} - {key}
        wanted = set[EventKey]() if fixtures else others
        assert there == wanted, f"{key} is with {there}, not {wanted}"
        assert homes[key] not in main.places
        joined += bool(there)
    return joined


def _listings(
    homes: Homes, main: FixtureState, boards: Mapping[Kind, Snapshot], roster: Roster
) -> dict[EventKey, tuple[object, ...]]:
    """Return the values that are equal for events of one match, by the first bookmaker of each source."""
    found: dict[EventKey, tuple[object, ...]] = {}
    for fixture in main:
        for name, entry in reversed(fixture.entries.items()):
            found[EventKey(roster[name].source, entry.source_match_id)] = _match_of(entry)
    every = [entries_by_event(board, roster) for board in boards.values()]
    for key in {*homes} - {*found}:
        some = [pair for listed in every for pair in listed.get(key, ())]
        found[key] = _match_of(min(some, key=lambda pair: roster[pair[0]].place)[1])
    return found


def _match_of(entry: Entry) -> tuple[object, ...]:
    return entry.match.home, entry.match.away, entry.match.start_time
