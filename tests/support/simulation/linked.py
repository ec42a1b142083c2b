"""The rules of fixtures: every snapshot is checked by its entries, its links and the last snapshot.

Nothing here is taken from the code that makes the fixtures, except the form of their JSON and what a
surebet is, which have oracles of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import NamedTuple, TypeAlias

import msgspec

from actors.board.chunks import entries_of
from actors.board.snapshot import Entry, Snapshot
from actors.core.clock import Clock, Instant
from actors.core.messages import BookmakerId, Prices
from actors.markets.odds import Odds
from actors.matches import surebets
from actors.matches.candidates import EVERY_S
from actors.matches.fair import MIN_BOOKMAKERS, fair
from actors.matches.model import (
    OF_EVERY_MARKET,
    Fixture,
    FixtureChanges,
    FixtureRemoval,
    FixtureSettings,
    FixtureState,
    FixtureView,
    Highest,
    Place,
    Roster,
    fixtures_of,
)
from actors.matching.event import Chances, EventKey, FixtureId
from actors.matching.rules import Certainty
from tests.support.oracles.disagreeing import crossed_of, median_of, overpriced_of
from web.encoding.fixture_schemas import fixture_v2

CLOCK_MOVES_S = 7200.0
"""Seconds by which the wall clock is set at most."""

Listed = dict[EventKey, dict[BookmakerId, Entry]]

_encode = msgspec.json.encode


Seen: TypeAlias = dict[FixtureView, dict[FixtureId, tuple[bytes, object]]]


class _Known(NamedTuple):
    """A fixture, its JSON and the views that show it, which are made once."""

    fixture: Fixture
    json: bytes
    views: Sequence[FixtureView]


class FixtureRules:
    """Checks each snapshot that is published; `broken` is the first rule that a snapshot broke."""

    def __init__(self, first: Snapshot, names: Mapping[BookmakerId, str], clock: Clock) -> None:
        self.broken: str | None = None
        self.surebets = 0
        self.evaluations = 0
        self.merged = 0
        self._names = dict(names)
        self._clock = clock
        self._last = first
        self._views = [FixtureView(kind, name) for kind in OF_EVERY_MARKET for name in (None, *names)]
        self._known: dict[FixtureId, _Known] = {}
        self._all_seen: Seen = {}
        self._checked: dict[FixtureId, Fixture] = {}

    def take(self, new: Snapshot) -> None:
        """Check a snapshot and note errors: an exception here would crash the actor that publishes it."""
        if self.broken is None:
            try:
                check_entries(new, self._checked)
                self._check_changes(fixtures_of(self._last), new)
                self._check_surebets(new)
            except (AssertionError, LookupError, TypeError, StopIteration) as error:
                self.broken = f"version {new.version}: {type(error).__name__}: {error}"
        self._last = new

    def shown(self, view: FixtureView, state: FixtureState) -> dict[str, bytes]:
        """Return the JSON of the fixtures that a view shows, by id, in order."""
        return {fixture.id: self._of(fixture, state).json for fixture in state if view.shows(fixture)}

    def _of(self, fixture: Fixture, state: FixtureState) -> _Known:
        known = self._known.get(fixture.id)
        if known is None or known.fixture is not fixture:
            made = _encode(fixture_v2(fixture, self._names, state.terms, *_judged(fixture, state.terms)))
            views = [view for view in self._views if view.shows(fixture)]
            known = self._known[fixture.id] = _Known(fixture, made, views)
        return known

    def _check_surebets(self, new: Snapshot) -> None:
        now, due = self._clock.now(), fixtures_of(new).candidates.due
        is_exact = fixtures_of(self._last).candidates.due != due == now.mono + EVERY_S
        self.evaluations += is_exact
        check_surebets(new, now, is_exact=is_exact)

    def _check_changes(self, old: FixtureState, new: Snapshot) -> None:
        state, changes = fixtures_of(new), new.fixture_changes
        noted = changes.changes if isinstance(changes, FixtureChanges) else ()
        all_before = self._all_seen or self._seen(old)
        all_after = self._all_seen = self._seen(state)
        before, after = all_before[self._views[0]], all_after[self._views[0]]
        differ = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        assert differ == {change.id for change in noted}, "changes are not what changed"
        members = {member.key for fixture in state for member in fixture.members}
        for change in noted:
            if change.before is None or change.after is not None:
                continue
            left = members & {member.key for member in change.before.members}
            is_merged = change.reason is FixtureRemoval.MERGED
            assert is_merged == bool(left), f"{change.id} went as {change.reason}, and {left} are there"
            assert is_merged == (change.into is not None), f"{change.id} went into {change.into}"
            assert change.into is None or state.get(change.into) is not None, f"{change.into} is not there"
            self.merged += is_merged
        for view in self._views:
            versions, is_same = (
                (old.version(view), state.version(view)),
                all_before[view] == all_after[view],
            )
            is_same = is_same and old.pending_in(view) == state.pending_in(view)
            if is_same and [*all_before[view]] == [*all_after[view]]:
                assert versions[0] == versions[1], f"{view} is another version of the same"
            else:
                assert versions[1] == new.version > versions[0], (
                    f"{view} changed: {versions} at {new.version}"
                )
        self.surebets += sum(fixture.surebet is not None for fixture in state)

    def _seen(self, state: FixtureState) -> Seen:
        """Return the fixtures that each view shows, by id, in order."""
        seen: Seen = {view: {} for view in self._views}
        for fixture in state:
            known = self._of(fixture, state)
            shown = known.json, fixture.members
            for view in known.views:
                seen[view][fixture.id] = shown
        return seen


def check_entries(snapshot: Snapshot, checked: dict[FixtureId, Fixture] | None = None) -> None:
    """Check that each named entry is in one fixture, the fixture of its event.

    A fixture that is the very object in `checked` is compared with the board alone: nothing else can have
    changed.

    Raises: AssertionError.
    """
    state, roster = fixtures_of(snapshot), fixtures_of(snapshot).terms.roster
    listed: Listed = {}
    for name, book in snapshot.books.items():
        for entry in entries_of(book.chunks):
            if entry.is_named:
                listed.setdefault(EventKey(roster[name].source, entry.source_match_id), {})[name] = entry
    fixtures: list[Fixture] = [*state]
    members = [member.key for fixture in fixtures for member in fixture.members]
    assert sorted(members) == sorted(state.by_event), "events are not those of the fixtures"
    assert {*members} == listed.keys(), "events are not those of the board"
    assert sorted(state.places) == sorted(fixture.id for fixture in fixtures)
    assert [fixture.place for fixture in fixtures] == sorted(fixture.place for fixture in fixtures), (
        "not in order"
    )
    for chunk in state.chunks:
        assert [*chunk.keys] == [fixture.place for fixture in chunk.entries]
    known = {} if checked is None else checked
    for fixture in fixtures:
        entries = {name: entry for member in fixture.members for name, entry in listed[member.key].items()}
        assert state.get(fixture.id) is fixture
        assert all(state.by_event.get(member.key) == fixture.id for member in fixture.members)
        assert entries == fixture.entries, f"{fixture.id} has other entries than the board"
        if known.get(fixture.id) is not fixture:
            _check_fixture(fixture, roster)
    known.clear()
    known.update((fixture.id, fixture) for fixture in fixtures)


def _check_fixture(fixture: Fixture, roster: Roster) -> None:
    """Check the values that follow from the entries and the members of a fixture."""
    entries, keys = fixture.entries, [member.key for member in fixture.members]
    assert len({key.source for key in keys}) == len(keys), f"{keys}: two of a source"
    assert all(
        linked.to is None or (linked.to in keys and linked.to != linked.key) for linked in fixture.members
    )
    assert 1 == sum(linked.to is None for linked in fixture.members), f"{fixture.members}: not one first"
    assert keys[1:] == sorted(keys[1:])
    assert [name for name in roster if name in entries] == [*fixture.bookmakers]
    sources = list(dict.fromkeys(info.source for info in roster.values()))
    first = min(sources.index(roster[name].source) for name in entries)
    lead = next(name for name in fixture.bookmakers if roster[name].source == sources[first])
    start = entries[lead].match.start_time
    assert (lead, Place(inf if start is None else start, fixture.id)) == (fixture.lead, fixture.place)
    live = [
        shown_entry.match for name, shown_entry in entries.items() if roster[name].prices is Prices.LIVE
    ]
    prices = [match.prices for match in live] or [(1.0, 1.0, 1.0)]
    assert Highest(tuple(map(max, zip(*prices, strict=True)))) == fixture.highest


def check_surebets(snapshot: Snapshot, now: Instant, *, is_exact: bool = False) -> None:
    """Check that surebets have prices that are there and fresh. Raises: AssertionError.

    The highest prices of each fixture must be checked already. With `is_exact`, because all candidates were
    evaluated just now, also that the surebets are the best, and all.
    """
    state = fixtures_of(snapshot)
    if now.mono >= snapshot.valid_until or now.wall >= state.kick_off:
        return  # nobody reads this view
    candidates, left = state.candidates, {*state.candidates.by_fixture}
    for fixture in state:
        candidate, found = candidates.by_fixture.get(fixture.id), None
        assert (candidate is not None) == (sum(1 / price for price in fixture.highest.prices) < 1)
        left.discard(fixture.id)
        for name, entry in zip(fixture.bookmakers, fixture.listed, strict=True):
            assert not snapshot.books[name].lists[entry.scope].withdrawn
        legs: list[surebets.PricedLeg] = []
        if candidate is not None and (is_exact or fixture.surebet is not None):
            legs = [*_legs(fixture, snapshot)]
        if candidate is not None and is_exact:
            found = surebets.surebet(legs, now.mono, state.terms.surebets)
        if fixture.surebet is not None:
            assert now.wall < min(_live_starts(fixture, state), default=inf)
            assert candidate is not None
            assert candidate.appears <= now.mono < candidate.until, f"{fixture.id}: {candidate}"
            _check_legs(fixture, legs, now.mono)
        starts = [entry.match.start_time for entry in fixture.listed]
        if any(start is not None and start <= now.wall + CLOCK_MOVES_S for start in starts):
            continue  # perhaps in play, by a wall clock that was set later
        if is_exact:
            is_good = found is not None and not found.doubts
            assert is_good == (candidate is not None and candidate.appears < inf), f"{found} {candidate}"
            is_due = candidate is not None and candidate.appears <= now.mono
            assert is_due == (fixture.surebet is not None), f"{candidate}, {fixture.surebet}"
            if fixture.surebet is not None and found is not None:
                assert round(found.profit, 6) == fixture.surebet.profit, f"{fixture.id}: {found}"
    assert not left, f"{left} are not there"


def _check_legs(fixture: Fixture, legs: Sequence[surebets.PricedLeg], now: float) -> None:
    """Check each leg of a surebet alone, and that all legs together gain."""
    assert fixture.surebet is not None
    ours = [
        next(
            leg
            for leg in legs
            if (leg.bookmaker, "1X2"[leg.outcome], leg.price)
            == (surebet_leg.bookmaker, surebet_leg.outcome, surebet_leg.odds)
        )
        for surebet_leg in fixture.surebet.legs
    ]
    assert [0, 1, 2] == [leg.outcome for leg in ours]
    assert all(leg.prices is Prices.LIVE and leg.is_sure for leg in ours)
    oldest, limit = min(leg.vouched_mono for leg in ours), min(leg.holds_s for leg in ours)
    assert now < oldest + limit, f"{fixture.id}: a leg is {now - oldest:.1f} s old"
    assert sum(1 / leg.price for leg in ours) < 1 < 1 + fixture.surebet.profit


def _live_starts(fixture: Fixture, state: FixtureState) -> list[int]:
    listed = zip(fixture.bookmakers, fixture.listed, strict=True)
    live = [entry.match for name, entry in listed if state.terms.roster[name].prices is Prices.LIVE]
    return [match.start_time for match in live if match.start_time is not None]


def _judged(fixture: Fixture, terms: FixtureSettings) -> tuple[Chances | None, set[BookmakerId]]:
    """Return the consensus of a fixture, and the bookmakers whose prices are doubted."""
    prices, counted = _prices(fixture, terms.roster)
    home = draw = away = 0.0
    if is_any := len(counted) >= MIN_BOOKMAKERS:
        home, draw, away = median_of([prices[name] for name in counted], terms.method)
    ratio = terms.surebets.max_price_ratio
    doubted = overpriced_of(prices, counted, terms.method, ratio, MIN_BOOKMAKERS)
    return (home, draw, away) if is_any else None, doubted


def _prices(fixture: Fixture, roster: Roster) -> tuple[dict[BookmakerId, Odds], list[BookmakerId]]:
    """Return the prices of all bookmakers of a fixture, and the bookmakers whose prices are compared."""
    prices = {name: entry.match.prices for name, entry in fixture.entries.items()}
    live = [name for name in prices if roster[name].prices is Prices.LIVE]
    return prices, [name for name in live if fixture.outdone.get(name) not in prices]


def _wrong(fixture: Fixture, terms: FixtureSettings) -> set[BookmakerId]:
    """Return the bookmakers on whose prices no surebet rests."""
    prices, counted = _prices(fixture, terms.roster)
    ratio, fewest = terms.surebets.max_price_ratio, MIN_BOOKMAKERS - 1
    overpriced = overpriced_of(prices, counted, terms.method, ratio, fewest)
    return overpriced | crossed_of(prices, counted, terms.method)


def _legs(fixture: Fixture, snapshot: Snapshot) -> Iterator[surebets.PricedLeg]:
    terms = fixtures_of(snapshot).terms
    roster, wrong = terms.roster, _wrong(fixture, terms)
    sure = {member.key.source for member in fixture.members if member.certainty is Certainty.SURE}
    for name, entry in fixture.entries.items():
        state, listed, match = snapshot.books[name].lists[entry.scope], roster[name], entry.match
        if state.doubted or state.failed_mono >= state.confirmed_mono:
            continue
        prices = match.home_price, match.draw_price, match.away_price
        for outcome, price in enumerate(prices):
            yield surebets.PricedLeg(
                name,
                outcome,
                price,
                listed.commission,
                state.vouched.get(entry.source_match_id, state.confirmed_mono),
                state.stale_after_s,
                listed.prices,
                listed.source in sure,
                fair(terms.method, prices),
                name in wrong,
            )
