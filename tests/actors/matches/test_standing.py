"""Surebets over time: when they appear, how long they stand, and that none outlives a leg."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import msgspec
import pytest

from actors.board.validity import is_due
from actors.core.clock import Instant
from actors.core.cooperative import SLICE
from actors.core.messages import Removal, SourceMatchId
from actors.markets.odds import Odds
from actors.matches.candidates import EVERY_S, Candidate, Candidates, Evaluation
from actors.matches.draft import FixtureUpdate
from actors.matches.model import (
    OF_EVERY_MARKET,
    FixtureSettings,
    FixtureState,
    FixtureView,
    ViewKind,
    roster_of,
)
from actors.matches.standing import Surebets
from actors.matches.surebets import Doubt, Surebet, SurebetRules
from actors.matches.update import FixtureUpdater
from actors.matching.event import Event, FixtureId
from actors.matching.rules import Certainty
from tests.support.builders.fixtures import ALDER, BIRCH, CEDAR, RULES, TERMS, EqualNames, LinkedBoard
from tests.support.builders.messages import batch, match
from tests.support.time.virtual import WALL_0

ONE, OTHER = (2.2, 3.9, 3.0), (2.0, 3.0, 4.2)  # the best prices of these two: 1/2.2 + 1/3.9 + 1/4.2 = 0.949
NEAR = (2.3, 4.0, 3.2), (2.3, 3.3, 3.9)  # the best prices of these two: 0.941
SUREBETS = FixtureView(ViewKind.SUREBETS)


class EqualTeams(EqualNames):
    """A linker that ignores the kick-off of an event."""

    def match_of(self, event: Event) -> object:
        """Return only the names of the teams."""
        return event.home, event.away


class Market(LinkedBoard):
    """A board on which two sources list one match at the time 0, with prices that make a surebet."""

    def __init__(
        self,
        first_s: float = 30.0,
        second_s: float = 30.0,
        certainty: Certainty = Certainty.SURE,
        prices: tuple[Odds, Odds] = (ONE, OTHER),
    ) -> None:
        super().__init__(linker=EqualTeams())
        self.advancing = FixtureUpdater(TERMS)  # a test may change its rules
        self.linker.certainty = certainty
        self.lasts = {ALDER: first_s, BIRCH: second_s}
        self.list("alder", prices[0])
        self.list("birch", prices[1])

    def list(self, bookmaker: str, prices: Odds, begins: float = 86_400) -> None:
        """List and link the match at these prices; it begins `begins` seconds after the time 0."""
        listed = match(bookmaker, prices=prices, start_time=int(WALL_0 + begins))
        lasts = self.lasts[ALDER if bookmaker == ALDER else BIRCH]
        self.apply(batch([listed], bookmaker=bookmaker, received_mono=self.now.mono, stale_after_s=lasts))
        self.link()

    def list_again(self, bookmaker: str, prices: Odds) -> None:
        """List alder's match at these prices for a bookmaker of alder's source."""
        listed = match("alder", prices=prices, start_time=int(WALL_0 + 86_400))
        mono, lasts = self.now.mono, self.lasts[ALDER]
        self.apply(batch([listed], bookmaker=bookmaker, received_mono=mono, stale_after_s=lasts))

    def confirm(self, *bookmakers: str) -> None:
        """Confirm the lists of these bookmakers."""
        lasts = self.lasts
        self.apply(
            *(
                batch(
                    complete=False,
                    bookmaker=name,
                    received_mono=self.now.mono,
                    stale_after_s=lasts[ALDER if name == ALDER else BIRCH],
                )
                for name in bookmakers
            )
        )

    def pass_to(self, second: float) -> None:
        """Let the time pass, with a commit whenever the board changes by itself, or candidates are due."""
        while (due := min(self.snapshot.valid_until, self.state.candidates.due)) <= second:
            self.now = Instant(due, WALL_0 + due)
            self.expire()
            assert self.snapshot.valid_until > due, "a read would wait for ever"
            assert self.state.candidates.due > due
        self.now = Instant(second, WALL_0 + second)

    def surebet(self) -> Surebet | None:
        """Return the surebet of the only fixture."""
        (fixture,) = self.fixtures()
        return fixture.surebet


def _last_reason(market: Market) -> str:
    return market.changes[-1].changes[0].surebet_reason


def test_shares_that_are_shown_lose_nothing_whatever_wins() -> None:
    """This holds also for a gain of a millionth, and for a price so high that its stake is small."""
    market = Market(prices=((1.51, 3.5, 14.82), (1.45, 3.7, 14.0)))
    market.pass_to(2.0)
    shown = market.surebet()

    assert shown is not None
    assert all(Fraction(str(leg.stake)) * Fraction(str(leg.odds)) > 1 for leg in shown.legs)
    assert abs(1 - sum(leg.stake for leg in shown.legs)) < 1e-9


def test_surebet_appears_after_two_seconds_in_a_version_of_its_own() -> None:
    """A surebet that stands for two seconds is shown from then on; `since` is when it began."""
    market = Market()
    before = market.snapshot.version
    market.pass_to(1.9)
    early = market.surebet()
    market.pass_to(2.0)
    found = market.surebet()

    assert early is None
    assert found is not None
    assert (WALL_0, before + 1) == (found.since, market.snapshot.version)
    assert pytest.approx(1 / (1 / 2.2 + 1 / 3.9 + 1 / 4.2) - 1, abs=1e-6) == found.profit
    assert market.snapshot.version == market.state.version(SUREBETS)
    assert 1000 < market.snapshot.books[ALDER].v2_version < market.snapshot.version


@pytest.mark.parametrize(
    ("alder", "birch", "cedar"),
    [
        ((2.5, 3.3, 2.9), (2.9, 3.35, 2.5), (2.5, 3.3, 2.85)),  # birch exchanged home and away: 1.2 %
        ((2.5, 3.3, 2.9), (2.9, 3.35, 2.5), None),  # alder or birch exchanged home and away: 1.2 %
        ((2.1, 3.5, 3.3), (3.1, 3.4, 2.15), None),  # 7 %
        ((3.05, 3.1, 2.55), (2.35, 3.1, 3.6), None),  # two other matches under the same names: 7.7 %
        ((1.7, 3.5, 4.8), (2.2, 3.5, 2.95), None),  # the prices disagree without an exchange: 5 %
        ((2.3, 3.4, 3.3), (2.3, 3.4, 4.4), (2.35, 3.4, 3.3)),  # one price is wrong: 6 %
    ],
)
def test_surebet_needs_prices_that_agree_with_the_other_bookmakers(
    alder: Odds, birch: Odds, cedar: Odds | None
) -> None:
    """This holds for any names and league; prices are also compared with home and away exchanged."""
    market = Market(prices=(alder, birch))
    if cedar is not None:
        market.list_again(CEDAR, cedar)
    market.pass_to(3)
    (fixture,) = market.fixtures()

    seen = market.state.candidates.by_fixture[fixture.id].seen

    assert seen is not None
    found = seen.found(market.state.terms.surebets)
    assert found is not None
    assert (None, (Doubt.PRICE,)) == (fixture.surebet, found.doubts)


def test_surebet_of_the_others_is_shown_beside_a_price_that_disagrees() -> None:
    """All prices of the bookmaker with the wrong price are passed over."""
    market = Market(prices=((2.3, 3.8, 3.2), (2.3, 3.3, 3.7)))
    market.list_again(CEDAR, (3.2, 3.85, 3.4))
    market.pass_to(3)
    found = market.surebet()

    assert found is not None
    assert [ALDER, ALDER, BIRCH] == [leg.bookmaker for leg in found.legs]


def test_leg_of_a_doubted_list_does_not_count() -> None:
    """The newest payload may have taken the price back, so the commit that doubts it ends the surebet."""
    market, many = Market(), [match(f"{number}", home=f"Home {number}") for number in range(50)]
    of_birch = match("birch", prices=OTHER, start_time=int(WALL_0 + 86_400))
    market.apply(batch([of_birch, *many], bookmaker=BIRCH, received_mono=0.0))
    market.pass_to(2)
    before = [fixture.surebet for fixture in market.fixtures() if fixture.surebet]
    market.apply(batch(many[:1], bookmaker=BIRCH, received_mono=2.0))
    version = market.snapshot.version
    doubted = [fixture.surebet for fixture in market.fixtures() if fixture.surebet]
    market.apply(batch([of_birch, *many], bookmaker=BIRCH, received_mono=3.0))
    market.pass_to(6)

    assert (1, 0) == (len(before), len(doubted))
    assert version == market.state.version(SUREBETS) - 1
    assert 1 == len([fixture for fixture in market.fixtures() if fixture.surebet])


def test_leg_counts_only_while_the_newest_attempt_on_its_list_succeeded() -> None:
    """The commit that hears of a failure ends the surebet, unless the list succeeded after the failure."""
    market = Market()
    market.pass_to(2)
    market.fail(BIRCH, at_mono=-1.0)
    stays = market.surebet()
    market.fail(BIRCH, at_mono=2.0)
    version, ended = market.snapshot.version, market.surebet()
    market.fail(BIRCH, at_mono=2.5)
    again = market.snapshot.version
    market.apply(batch([], bookmaker=BIRCH, complete=False, received_mono=3.0))
    market.pass_to(6)

    assert stays is not None
    assert (None, version) == (ended, market.state.version(SUREBETS) - 1)
    assert version == again
    assert market.surebet() is not None


def test_view_that_shows_no_surebet_before_or_after_keeps_its_version() -> None:
    """A bookmaker that joins the fixture in the commit that ends the surebet never had the surebet."""
    market = Market()
    market.pass_to(2)
    worse = batch([match("birch", prices=(2.0, 3.0, 3.4))], bookmaker=BIRCH, received_mono=2.0)
    market.apply(worse, batch([match("alder", prices=(2.0, 3.0, 3.4))], bookmaker=CEDAR, received_mono=2.0))
    versions = [market.state.version(FixtureView(ViewKind.SUREBETS, name)) for name in (None, CEDAR)]

    assert [market.snapshot.version, 1000] == versions
    assert market.snapshot.version == market.state.version(FixtureView(ViewKind.FIXTURES, CEDAR))


def test_better_price_that_is_confirmed_again_is_shown_within_a_second() -> None:
    """While that price was too old, another surebet without it was shown, and rightly so."""
    market = Market(first_s=30.0, second_s=1000.0)
    market.list_again("cedar", (2.0, 3.0, 4.1))
    market.pass_to(20)
    for name, prices in (("alder", ONE), ("cedar", (2.0, 3.0, 4.1))):
        market.list_again(name, prices)
    market.pass_to(31)
    without = market.surebet()
    market.confirm("birch")
    market.pass_to(32)
    again = market.surebet()

    assert [4.1, 4.2] == [surebet.legs[2].odds for surebet in (without, again) if surebet is not None]


def test_confirmation_brings_a_surebet_back() -> None:
    """A surebet that ended by age must stand for two seconds again; `since` is the time of its return."""
    market = Market(first_s=1000.0, second_s=50.0)
    shown: dict[float, float] = {}
    for second in range(1, 300):
        market.pass_to(second)
        if second % 5 == 0:
            market.confirm("birch")
        if second % 60 == 0:
            market.list("alder", ONE)
        if (surebet := market.surebet()) is not None:
            shown[second] = surebet.since - WALL_0
    began = {second: since for second, since in shown.items() if second - 1 not in shown}

    assert {2: 0, 63: 61, 123: 121, 183: 181, 243: 241} == began


def test_surebet_appears_once_a_price_that_made_it_too_good_is_too_old() -> None:
    """At that moment nothing is confirmed, and only the time changes."""
    market = _doubted()
    market.pass_to(45)
    market.confirm("birch")
    doubted = market.surebet()
    market.pass_to(51.9)
    early = market.surebet()
    market.pass_to(52)
    found = market.surebet()

    assert (None, None) == (doubted, early)
    assert found is not None
    assert [ALDER, ALDER, CEDAR] == [leg.bookmaker for leg in found.legs]


def test_surebet_goes_when_a_confirmation_makes_a_better_one_too_good() -> None:
    """The price that was left out as too old counts again, so within a second the surebet is doubted."""
    market = _doubted()
    market.pass_to(45)
    market.confirm("birch")
    market.pass_to(52)
    shown = market.surebet()
    market.list("alder", NEAR[0])
    market.list_again(CEDAR, NEAR[1])
    market.pass_to(53)

    assert shown is not None
    assert market.surebet() is None


def test_surebet_whose_price_is_too_old_comes_back_although_a_suspect_price_makes_another() -> None:
    """Before that, the suspect price makes the other surebet doubted; the confirmation counts anyway."""
    market = Market(first_s=1000.0, second_s=50.0, prices=((2.3, 3.8, 3.2), (2.3, 3.3, 3.7)))
    market.list_again(CEDAR, (3.2, 3.5, 3.4))
    market.pass_to(2)
    shown = market.surebet()
    for second in (40, 50):
        market.pass_to(second)
        market.confirm("birch")
    gone = market.surebet()
    market.pass_to(60)
    market.list("alder", (2.3, 3.8, 3.2))
    market.pass_to(61.9)
    early = market.surebet()
    market.pass_to(63)

    assert (True, None, None) == (shown is not None, gone, early)
    assert market.surebet() is not None


def test_surebet_ends_once_a_source_says_that_the_match_is_in_play() -> None:
    """The surebet ends in a version of its own whatever the kick-off, although no price changed."""
    market = Market()
    market.pass_to(2)
    shown, version = market.surebet(), market.snapshot.version
    of_birch = match("birch", prices=OTHER, in_play=True)
    market.apply(batch([of_birch], bookmaker=BIRCH, received_mono=2.0))

    assert shown is not None
    assert (None, version + 1) == (market.surebet(), market.snapshot.version)
    assert version > market.snapshot.books[BIRCH].v2_version


def test_surebet_says_when_it_ends_and_how_old_its_legs_are() -> None:
    """A version says the earliest end: when a leg will be too old, or the kick-off."""
    market, begins_first = Market(first_s=30.0, second_s=50.0), Market()
    market.now = Instant(1.0, WALL_0 + 1)
    market.confirm(BIRCH)
    begins_first.list("birch", OTHER, begins=20)
    for book in (market, begins_first):
        book.pass_to(2)
    found, other = market.surebet(), begins_first.surebet()

    assert found is not None
    assert other is not None
    assert (WALL_0 + 30, WALL_0 + 20) == (found.until, other.until)
    assert [2.0, 2.0, 1.0] == [leg.age_s for leg in found.legs]
    assert round(1 / 2.2 + 1 / 3.9 + 1 / 4.2, 6) == found.book_sum


def test_confirmation_alone_changes_no_surebet() -> None:
    """The shown end may pass; the age since the last confirmation decides whether the surebet stays."""
    market = Market()
    market.pass_to(2)
    shown, version = market.surebet(), market.snapshot.version
    for second in range(5, 60, 5):
        market.pass_to(second)
        market.confirm(ALDER, BIRCH)
    market.pass_to(60)

    assert shown is not None
    assert (shown, version) == (market.surebet(), market.snapshot.version)
    assert shown.until < market.now.wall
    assert 85 == market.snapshot.valid_until


def test_each_version_of_a_fixture_says_anew_when_its_surebet_ends() -> None:
    """Any change of the fixture makes a new version with a new end."""
    market = Market()
    market.pass_to(20)
    market.confirm(ALDER, BIRCH)
    before = market.surebet()
    market.list_again(CEDAR, (2.0, 3.0, 3.6))
    after = market.surebet()

    assert before is not None
    assert after is not None
    assert (WALL_0 + 30, WALL_0 + 50) == (before.until, after.until)
    assert before.bets == after.bets


def test_doubts_are_those_of_the_version() -> None:
    """A confirmation changes no doubt: everything that a version shows stays as it is."""
    market = Market(certainty=Certainty.LIKELY)
    (fixture,) = market.fixtures()
    rules = market.state.terms.surebets

    def seen() -> Evaluation | None:
        return market.state.candidates.by_fixture[fixture.id].seen

    before = seen()
    market.pass_to(20)
    market.confirm(ALDER, BIRCH)
    market.pass_to(25)
    later = seen()
    market.advancing.rule(SurebetRules(max_price_ratio=2.0))
    market.expire()
    ruled = seen()
    market.pass_to(26)
    market.list("alder", (2.21, 3.9, 3.0))
    after = seen()

    assert before is not None
    assert before is later
    seconds = [None if evaluation is None else evaluation.at.mono for evaluation in (before, ruled, after)]
    assert [0.0, 25.0, 26.0] == seconds
    found = before.found(rules)
    assert found is not None
    assert (Doubt.LINK,) == found.doubts


def test_other_rules_hold_with_the_next_commit() -> None:
    """The rules hold for all views and all doubts; a surebet that is believed again must stand anew."""
    market = Market()
    market.pass_to(2.0)
    before, version = market.surebet(), market.snapshot.version
    market.advancing.rule(SurebetRules(max_profit=0.01))
    market.expire()
    strict, views = market.surebet(), market.changes[-1].views
    (candidate,) = market.state.candidates.by_fixture.values()
    market.expire()
    as_strict = market.snapshot.version
    market.advancing.rule(SurebetRules())
    market.expire()
    at_once = market.surebet()
    market.pass_to(4.0)

    assert before is not None
    assert (None, version + 1) == (strict, as_strict)
    assert {FixtureView(kind, name) for kind in OF_EVERY_MARKET for name in (None, ALDER, BIRCH)} == {
        *views
    }
    assert candidate.seen is not None
    assert (2.0, inf) == (candidate.seen.at.mono, candidate.appears)
    assert at_once is None
    assert market.surebet() is not None


@pytest.mark.parametrize(("min_life_s", "until"), [(10.0, 10.0), (0.5, 1.0)])
def test_surebet_has_to_stand_as_long_as_the_newest_rules_say(min_life_s: float, until: float) -> None:
    """The time since when the surebet stands does not change."""
    market = Market()
    market.pass_to(1.0)
    market.advancing.rule(SurebetRules(min_life_s=min_life_s))
    market.expire()
    if until > 1.0:
        market.pass_to(until - 0.1)
        assert market.surebet() is None
        market.pass_to(until)
    found = market.surebet()

    assert found is not None
    assert WALL_0 == found.since


def test_rules_of_a_board_without_a_fixture_change_no_version() -> None:
    """The new rules hold for later fixtures."""
    board = LinkedBoard(TERMS)
    board.advancing, version = FixtureUpdater(TERMS), board.snapshot.version
    board.advancing.rule(SurebetRules(max_profit=0.01))
    board.expire()

    assert (version, 0.01) == (board.snapshot.version, board.state.terms.surebets.max_profit)


def test_candidates_are_evaluated_once_a_second() -> None:
    """Confirmations between two evaluations cause no evaluation and no version."""
    market = Market()
    market.pass_to(5)
    version, found = market.snapshot.version, []
    for tenth in range(1, 31):
        market.now = Instant(5 + tenth / 10, WALL_0 + 5 + tenth / 10)
        market.confirm("alder", "birch")
        found.append(round(market.state.candidates.due - EVERY_S, 1))

    assert [*[5] * 9, *[6] * 10, *[7] * 10, 8] == found
    assert version == market.snapshot.version


@pytest.mark.parametrize("how", ["for a shorter time", "before"])
def test_surebet_goes_within_a_second_when_a_leg_turns_out_too_old(how: str) -> None:
    """The list may hold shorter from now on, or its source may have vouched for the price earlier."""
    market = Market(first_s=1000.0, second_s=50.0)
    market.pass_to(30)
    shown = market.surebet()
    listed = match("birch", prices=OTHER, start_time=int(WALL_0 + 86_400))
    listed = msgspec.structs.replace(listed, source_time=WALL_0 - 25)
    again = batch([listed], bookmaker=BIRCH, received_mono=30.0, stale_after_s=50.0)
    if how == "before":
        again = msgspec.structs.replace(again, answered_at=WALL_0 + 30)
    else:
        again = msgspec.structs.replace(again, stale_after_s=20.0)
    market.apply(again)
    market.pass_to(31)

    assert shown is not None
    assert market.surebet() is None
    assert "age" == _last_reason(market)


def _doubted() -> Market:
    """Return a market whose best prices gain 15 %, and without birch's prices 6 %."""
    market = Market(first_s=1000.0, second_s=50.0, prices=(NEAR[0], (2.75, 3.3, 3.2)))
    market.list_again(CEDAR, NEAR[1])
    return market


def test_surebet_goes_at_the_kick_off() -> None:
    """The earliest kick-off of a live source counts; when that kick-off moves, the surebet comes back."""
    market = Market(first_s=1000.0, second_s=1000.0)
    market.pass_to(2)
    market.list("birch", OTHER, begins=60)
    market.pass_to(59.9)
    before, shown, until = market.snapshot.version, market.surebet(), market.snapshot.valid_until
    market.pass_to(60)
    gone, after, reason = market.surebet(), market.snapshot.version, _last_reason(market)
    market.list("birch", (2.0, 3.0, 4.3), begins=60)
    still_gone = market.surebet()
    market.list("birch", OTHER, begins=86_400)
    market.pass_to(62)

    assert (True, 60.0) == (shown is not None, until)
    assert (None, None, before + 1, "gone") == (gone, still_gone, after, reason)
    assert market.surebet() is not None


def test_surebet_goes_at_the_kick_off_by_the_clock_as_it_was_set() -> None:
    """Reads after the wall clock was set forward, past the kick-off, show no surebet."""
    market = Market(first_s=1000.0, second_s=1000.0)
    market.pass_to(2)
    shown, version = market.surebet(), market.snapshot.version
    overdue = []
    for moved in (86_390, 86_400):
        market.now = Instant(3.0, WALL_0 + moved)
        overdue.append(is_due(market.snapshot.deadlines, RULES, market.now))
        market.expire()
    gone = market.surebet()

    assert (True, None) == (shown is not None, gone)
    assert ([False, True], version + 1) == (overdue, market.snapshot.version)
    assert not is_due(market.snapshot.deadlines, RULES, market.now), "a read would wait for ever"


def test_surebet_comes_back_when_the_clock_is_set_right() -> None:
    """A wall clock that was wrong for a moment hides the surebet for two seconds; no price changes."""
    market = Market(first_s=1000.0, second_s=1000.0)
    market.pass_to(2)
    market.now = Instant(3.0, WALL_0 + 90_000)
    market.expire()
    gone = market.surebet()
    market.now = Instant(4.0, WALL_0 + 4)
    market.confirm("alder")
    market.pass_to(6)

    assert gone is None
    assert market.surebet() is not None


@pytest.mark.parametrize("how", ["withdrawn", "suspended", "stale", "price", "renamed"])
def test_surebet_goes_in_the_version_in_which_a_leg_goes(how: str) -> None:
    """The leg's list is withdrawn or stale, or its match is suspended, has a new price or a new name."""
    market = Market()
    market.pass_to(2)
    assert market.surebet() is not None
    mono = market.now.mono
    match how:
        case "withdrawn":
            market.apply(batch([], bookmaker=BIRCH, received_mono=mono))
        case "suspended":
            gone = [Removal(SourceMatchId("birch"), "suspended")]
            market.apply(batch(removals=gone, bookmaker=BIRCH, complete=False, received_mono=mono))
        case "stale":
            market.pass_to(25)
            market.confirm("alder")
            market.pass_to(30)
        case "price":
            market.list("birch", (2.0, 3.0, 3.4))
        case _:
            market.apply(
                batch([match("birch", home="B", prices=OTHER)], bookmaker=BIRCH, received_mono=mono)
            )

    assert [None] * len(market.fixtures()) == [fixture.surebet for fixture in market.fixtures()]
    assert market.snapshot.version == market.state.version(SUREBETS)


def test_surebet_of_a_match_that_is_listed_otherwise_comes_back_once_it_is_linked_again() -> None:
    """Before the new link nobody has compared the two events, and the id may mean another match now."""
    market = Market()
    market.pass_to(2)
    start, mono = int(WALL_0 + 86_400), market.now.mono
    listed = match("birch", league="Another", prices=OTHER, start_time=start)
    market.apply(batch([listed], bookmaker=BIRCH, received_mono=mono, stale_after_s=30))
    early = market.surebet()
    market.link()
    market.pass_to(4)

    assert (True, False) == (early is None, market.surebet() is None)


def test_many_candidates_are_evaluated_in_slices() -> None:
    """The slices are the same if none of the candidates' fixtures exists any more."""
    terms = FixtureSettings(roster_of({}))
    many = {FixtureId(f"fx{number}"): Candidate() for number in range(9 * SLICE)}
    state = FixtureState(1, terms, candidates=Candidates(many, due=0.0))
    draft = FixtureUpdate(state, terms.roster, 2, {})

    steps = [*Surebets(terms).settle(draft, {}, {}, Instant(1.0, WALL_0))]

    assert len(steps) == 9
    assert ({}, inf) == (draft.candidates.by_fixture, draft.candidates.due)
