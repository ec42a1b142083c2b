"""Surebets of a cluster: the matcher's ticks are the time, and collectors say when lists were confirmed."""

from __future__ import annotations

import pytest

from actors.board.validity import HOLDS_S
from actors.cluster.liveness import MatcherClock
from actors.cluster.replay import empty, kept, restored, shown
from actors.cluster.store import Restored
from actors.cluster.wire.records import Record
from actors.core.cooperative import run_now
from actors.core.messages import SourceName
from actors.matches.forms import Form
from actors.matches.forms import shown as form_of
from actors.matches.model import (
    BookmakerInfo,
    FixtureSettings,
    FixtureView,
    ViewKind,
    fixtures_of,
    roster_of,
)
from actors.matches.surebets import Doubt, Surebet, SurebetRules
from tests.support.builders.fixtures import ALDER, BIRCH, CEDAR
from tests.support.builders.records import AHEAD_S, FIRST, MATCHER, OTHER, Cluster, replayed
from tests.support.time.virtual import WALL_0

ONE, TWO = (2.2, 3.9, 3.0), (2.0, 3.0, 4.2)  # the best prices of both: a book sum of 0.949
WORSE, BETTER = (2.0, 3.0, 3.4), (2.0, 3.0, 4.4)


def _terms(company: str = "", **rules: float) -> FixtureSettings:
    names = (ALDER, BIRCH, CEDAR) if company else (ALDER, BIRCH)
    roster = {name: BookmakerInfo(SourceName(name), company=company) for name in names}
    roster[ALDER] = BookmakerInfo(SourceName(ALDER))
    return FixtureSettings(roster_of(roster), surebets=SurebetRules(**rules))


class _Market(Cluster):
    """Two bookmakers whose prices make a surebet, listed at the time 0, after the matcher's first tick."""

    def __init__(self, terms: FixtureSettings | None = None) -> None:
        super().__init__(terms or _terms())
        self.tick(0.0)
        self.collectors[ALDER].list(ONE, 0.0)
        self.collectors[BIRCH].list(TWO, 0.0)
        self.link()

    def pass_to(self, second: int) -> None:
        """Let the matcher tick each half second up to `second`."""
        assert self.state.tick is not None
        began = round(2 * (self.state.tick.mono - AHEAD_S))
        for half in range(began + 1, 2 * second + 1):
            self.tick(half / 2)

    @property
    def surebet(self) -> Surebet | None:
        """The surebet of the only fixture."""
        return self.fixture.surebet


def test_a_surebet_appears_with_the_tick_at_which_it_has_stood_for_long_enough() -> None:
    """By the matcher's clocks, a surebet stands from the first tick that finds it."""
    market = _Market()
    market.pass_to(2)
    early = market.surebet
    market.pass_to(3)
    found = market.surebet

    assert early is None
    assert found is not None
    assert WALL_0 + 0.5 <= found.since <= WALL_0 + 1.0
    assert market.state.at.version == fixtures_of(market.state.snapshot).version(_ALL)


_ALL = FixtureView(ViewKind.SUREBETS)


def test_no_surebet_begins_with_a_record_that_is_no_tick() -> None:
    """The last tick may be old: a surebet of prices that just came would count from that old time."""
    market = _Market(_terms(min_life_s=0.0))
    before = market.surebet
    market.tick(1.0)

    assert before is None
    assert market.surebet is not None


def test_a_surebet_ends_in_the_version_that_says_that_an_attempt_failed() -> None:
    """The price may have been withdrawn; after a success the surebet returns a while later."""
    market = _Market()
    market.pass_to(4)
    shown_before, version = market.surebet, market.state.at.version
    market.collectors[BIRCH].fail(4.0)
    failed, after = market.surebet, market.state.at.version
    market.collectors[BIRCH].confirm(4.5)
    market.pass_to(8)

    assert shown_before is not None
    assert (None, version + 1) == (failed, after)
    assert market.surebet is not None


def test_confirmations_that_travel_keep_a_surebet() -> None:
    """The confirmations make no new version of the surebets."""
    market = _Market(_terms(max_age_s=10.0))
    market.pass_to(4)
    version = fixtures_of(market.state.snapshot).version(_ALL)
    for second in range(5, 40, 5):
        market.pass_to(second)
        for name in (ALDER, BIRCH):
            market.collectors[name].confirm(float(second))

    assert market.surebet is not None
    assert version == fixtures_of(market.state.snapshot).version(_ALL)


def test_surebets_end_with_their_matcher() -> None:
    """Surebets end in the version in which the matcher leaves; a new matcher waits for the times again."""
    market = _Market()
    market.pass_to(4)
    market.append(Record(MATCHER, leaves=True), is_seen=True)
    ended = market.surebet
    market.tick(7.0, by=OTHER)
    market.tick(8.0, by=OTHER)
    candidates = fixtures_of(market.state.snapshot).candidates.by_fixture.values()
    without_times = [candidate.since for candidate in candidates]
    for name in (ALDER, BIRCH):
        market.collectors[name].tell()
    for second in range(9, 13):
        market.tick(float(second), by=OTHER)

    assert ended is None
    assert [0.0] == without_times
    assert market.surebet is not None
    assert WALL_0 + 8.0 < market.surebet.since


def test_doubts_of_a_version_outlast_their_matcher() -> None:
    """With or without a matcher a version keeps its bytes; a change without a matcher has no doubts."""
    market = _Market(_terms(max_profit=0.01))
    market.pass_to(4)
    before, version = _doubts(market), _version(market)
    market.append(Record(MATCHER, leaves=True), is_seen=True)
    without = _doubts(market)
    market.tick(7.0, by=OTHER)
    market.tick(8.0, by=OTHER)
    after, same = _doubts(market), _version(market)
    market.append(Record(OTHER, leaves=True), is_seen=True)
    market.collectors[BIRCH].list(BETTER, 9.0)
    changed, new = _doubts(market), _version(market)
    market.tick(10.0)
    market.tick(11.0)

    assert ((Doubt.PROFIT,), version) == (before, same)
    assert [before] * 2 == [without, after]
    assert new > version
    assert [(), ()] == [changed, _doubts(market)]
    assert new == _version(market)


def _doubts(market: _Market) -> tuple[Doubt, ...]:
    """Return the shown doubts about the surebet of the only fixture."""
    found = form_of(market.fixture, Form(doubted=True), fixtures_of(market.state.snapshot))
    return () if found is None else found.doubts


def _version(market: _Market) -> int:
    return fixtures_of(market.state.snapshot).version(FixtureView(ViewKind.FIXTURES))


def test_times_by_the_clock_of_another_are_not_believed() -> None:
    """A record may come after a change of matcher: its prices are no legs until times are sent again."""
    market = _Market()
    market.pass_to(4)
    collector = market.collectors[BIRCH]
    collector.clock.ticked(OTHER, AHEAD_S + 1e6, 4.0, 4.0)
    collector.list(TWO, 4.0)
    market.pass_to(8)

    assert market.surebet is None


def test_a_record_that_shows_nothing_new_ends_no_surebet() -> None:
    """A version keeps its bytes; the next version ends the surebet."""
    market = _Market(_terms(max_age_s=10.0))
    market.pass_to(9)
    shown_before, version = market.surebet, market.state.at.version
    market.tick(10.5, is_seen=False)
    same = market.surebet
    market.tick(10.5)

    assert shown_before is not None
    assert (shown_before, version + 1) == (same, market.state.at.version)
    assert market.surebet is None


def test_of_a_company_the_bookmaker_that_was_confirmed_last_counts() -> None:
    """The matcher's clock decides, although each bookmaker has a collector of its own."""
    market = Cluster(_terms("bet"))
    market.tick(0.0)
    market.collectors[CEDAR].list(TWO, 1.0)
    market.collectors[BIRCH].list(WORSE, 2.0)
    market.collectors[ALDER].list(ONE, 2.0)
    market.link()

    assert {CEDAR: BIRCH} == market.fixture.outdone


def test_of_a_company_it_counts_once_that_is_known() -> None:
    """Lists may come before the first tick; once their times are known, the fixture is checked again."""
    market = Cluster(_terms("bet"))
    market.collectors[CEDAR].list(TWO, 1.0)
    market.collectors[BIRCH].list(WORSE, 2.0)
    market.collectors[CEDAR].confirm(3.0)
    market.link()
    before = market.fixture.outdone
    market.tick(4.0)
    for name in (BIRCH, CEDAR):
        market.collectors[name].tell()

    assert {CEDAR: BIRCH} == before
    assert {BIRCH: CEDAR} == market.fixture.outdone


def test_surebets_hold_as_long_as_the_matcher_ticks() -> None:
    """A surebet holds some seconds after the look of the newest tick, however long the lists hold."""
    market, clock = _Market(), MatcherClock()
    market.pass_to(4)
    clock.ticked(MATCHER, AHEAD_S + 4.0, sent_mono=3.5, received_mono=4.0)
    snapshot = shown(market.state, lambda _: 100.0, clock)
    by_other = shown(market.state, lambda _: 100.0, MatcherClock())

    entry = market.fixture.entries[ALDER]
    assert -0.5 == snapshot.books[ALDER].vouched_mono(entry)  # the earliest time by our clock
    assert 3.5 + HOLDS_S == snapshot.deadlines.stale
    assert (100.0, 100.0) == tuple(snapshot.list_deadlines(name).stale for name in (ALDER, BIRCH))
    assert float("-inf") == by_other.deadlines.stale
    assert float("inf") == snapshot.deadlines.kick_off


@pytest.mark.parametrize("after", range(0, 20, 3))
def test_a_replica_that_begins_with_a_checkpoint_has_the_same_surebets(after: int) -> None:
    """Times, candidates and versions are the same, at whatever record the replica begins."""
    market = _Market()
    for second in (2, 4, 6):
        market.pass_to(second)
        market.collectors[BIRCH].confirm(float(second))
    market.collectors[ALDER].fail(6.0)
    terms = fixtures_of(market.state.snapshot).terms
    middle = replayed(market.log[:after], empty(FIRST, terms, "e"), market.updater)
    found = Restored(FIRST, middle.at, run_now(kept(middle)))
    joined = replayed(market.log[after:], run_now(restored(found, terms, "e")), market.updater)

    assert len(market.log) > after
    assert run_now(kept(market.state)) == run_now(kept(joined))
