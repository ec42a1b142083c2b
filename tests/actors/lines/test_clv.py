"""The closing line value: its arithmetic, checked with fractions, and the fixture that a bet is on."""

from __future__ import annotations

from fractions import Fraction
from math import isclose, sqrt
from random import Random

import pytest
from msgspec.structs import replace

from actors.core.messages import BookmakerId
from actors.lines.closing import NoClose
from actors.lines.clv import AtClose, Bet, EntryAtClose, Finder, Mean, Verdict, clv_of, judged, mean_of
from actors.markets.market import ONE_X_TWO, parsed
from actors.matching.comparison import Comparator
from actors.matching.overrides import Overrides

HOUR, DAY = 3_600, 86_400
KICK_OFF = 1_780_000_000
AHEAD_MS = 14 * DAY * 1000
FAIR = {"1": 0.5, "X": 0.3, "2": 0.2}
BET = Bet(2, (KICK_OFF - DAY) * 1000, "Arsenal", "Chelsea", ONE_X_TWO, "1", 2.1)
ALDER = EntryAtClose({"1": 1.9, "X": 3.2, "2": 4.8}, float(KICK_OFF), on_offer=True)
FIXTURE = AtClose(
    "fx1", "Arsenal", "Chelsea", "England - Premier League", KICK_OFF, fair=FAIR, entries={"alder": ALDER}
)


@pytest.fixture(scope="module")
def comparator() -> Comparator:
    """Return a comparator, made once because it reads tables."""
    return Comparator(Overrides())


def _judged(comparator: Comparator, bet: Bet, *fixtures: AtClose) -> Verdict:
    (found,) = judged([bet], fixtures, Finder([bet], comparator, AHEAD_MS))
    return found


def test_values_are_those_of_fractions() -> None:
    """The value is the fair probability times the odds, less 1."""
    random = Random(7)
    for _ in range(1_000):
        fair, odds = random.random(), 1 + 20 * random.random()
        assert isclose(clv_of(fair, odds), Fraction(fair) * Fraction(odds) - 1, abs_tol=1e-12)


def test_the_mean_has_the_error_of_a_sample() -> None:
    """The error equals one from sums of squares of fractions, another way to compute the variance."""
    random = Random(8)
    for count in range(2, 60):
        values = [random.gauss(0.02, 0.1) for _ in range(count)]
        exact = [Fraction(value) for value in values]
        mean = sum(exact) / count
        variance = (sum(value * value for value in exact) - count * mean * mean) / (count - 1)
        found = mean_of(values)
        assert found.mean is not None
        assert found.standard_error is not None
        assert isclose(found.mean, mean, rel_tol=1e-9)
        assert isclose(found.standard_error, sqrt(variance / count), rel_tol=1e-9)


def test_few_values_have_no_error() -> None:
    """One value has no standard error, and an empty list has no mean."""
    assert Mean(0, None, None) == mean_of([])
    assert Mean(1, 0.25, None) == mean_of([0.25])


def test_a_bet_has_its_value_and_the_close_of_its_bookmaker(comparator: Comparator) -> None:
    """Without a stated kick-off the link is only likely, not sure."""
    found = _judged(
        comparator, replace(BET, bookmaker=BookmakerId("alder"), league=FIXTURE.league), FIXTURE
    )

    assert found.clv is not None
    assert isclose(0.05, found.clv)
    assert (ALDER, None, None) == (found.entry, found.entry_reason, found.reason)
    assert found.fit is not None
    assert ("fx1", "likely", "same") == (found.fit.fixture.id, found.fit.certainty, found.fit.rule)


def test_a_link_is_sure_with_league_and_kick_off(comparator: Comparator) -> None:
    """As on the board, a sure link needs the same names, the same league and the same minute."""
    known = replace(BET, league="England - Premier League", kick_off=KICK_OFF)
    of_league = _judged(comparator, known, FIXTURE)
    without = _judged(comparator, replace(BET, kick_off=KICK_OFF), FIXTURE)

    assert of_league.fit is not None
    assert without.fit is not None
    assert ("sure", "likely") == (of_league.fit.certainty, without.fit.certainty)
    assert "same_names" == without.fit.rule


def test_what_fits_two_fixtures_is_on_neither(comparator: Comparator) -> None:
    """A league or a kick-off in the bet's row may decide; nearness in time to the bet does not."""
    cup = replace(FIXTURE, id="fx2", league="England - FA Cup", kick_off=KICK_OFF + 5 * DAY)
    found = _judged(comparator, BET, FIXTURE, cup)
    by_league = _judged(comparator, replace(BET, league="England - FA Cup"), FIXTURE, cup)
    by_time = _judged(comparator, replace(BET, kick_off=KICK_OFF), FIXTURE, cup)

    assert ("ambiguous", None, None) == (found.reason, found.clv, found.fit)
    assert "fx1 Arsenal - Chelsea" in found.detail
    assert "fx2 Arsenal - Chelsea" in found.detail
    assert by_league.fit is not None
    assert "fx2" == by_league.fit.fixture.id
    assert by_time.fit is not None
    assert "fx1" == by_time.fit.fixture.id


def test_a_fixture_that_was_merged_is_no_second_match(comparator: Comparator) -> None:
    """The other fixture has the entries of the merged fixture; a merged fixture alone fits no bet."""
    merged = replace(FIXTURE, id="fx0", is_merged=True)

    assert (found := _judged(comparator, BET, merged, FIXTURE).fit) is not None
    assert "fx1" == found.fixture.id
    assert "no_fixture" == _judged(comparator, BET, merged).reason


def test_a_part_of_a_fixture_is_no_second_match(comparator: Comparator) -> None:
    """A part has the same kick-off, and no member that the other lacks; equal fixtures are still two."""
    both = replace(FIXTURE, members=frozenset([("a", "1"), ("b", "1")]))
    part, none, other, twin = (
        replace(FIXTURE, id=name, members=frozenset(members))
        for name, members in (
            ("fx2", [("a", "1")]),
            ("fx3", []),
            ("fx4", [("a", "1"), ("c", "1")]),
            ("fx5", [("a", "1"), ("b", "1")]),
        )
    )

    assert (found := _judged(comparator, BET, none, both, part).fit) is not None
    assert "fx1" == found.fixture.id
    for second in (other, twin, replace(part, kick_off=KICK_OFF + DAY)):
        assert "ambiguous" == _judged(comparator, BET, both, second).reason


def test_a_bet_in_play_may_be_on_a_later_match(comparator: Comparator) -> None:
    """Two matches with the same names are ambiguous, also if one of them has begun."""
    later = replace(FIXTURE, id="fx2", kick_off=KICK_OFF + 5 * DAY)
    found = _judged(comparator, replace(BET, at_ms=(KICK_OFF + HOUR) * 1000), FIXTURE, later)

    assert "ambiguous" == found.reason


@pytest.mark.parametrize("late_ms", [0, 1, HOUR * 1000])
def test_a_bet_from_the_kick_off_on_is_not_judged(comparator: Comparator, late_ms: int) -> None:
    """The closing price was before the bet."""
    found = _judged(comparator, replace(BET, at_ms=KICK_OFF * 1000 + late_ms), FIXTURE)

    assert ("after_kick_off", None) == (found.reason, found.clv)


def test_home_and_away_are_not_exchanged(comparator: Comparator) -> None:
    """With home and away exchanged, the fixture does not fit the bet, and the answer says why."""
    found = _judged(comparator, BET, replace(FIXTURE, home="Chelsea", away="Arsenal"))

    assert "no_fixture" == found.reason


def test_a_match_of_women_is_another(comparator: Comparator) -> None:
    """The names are similar, but the matcher objects, and the answer has its objection."""
    found = _judged(comparator, BET, replace(FIXTURE, home="Arsenal Women", away="Chelsea Women"))

    assert "no_fixture" == found.reason
    assert "not linked because of: class" in found.detail


def test_a_kick_off_outside_the_days_is_none(comparator: Comparator) -> None:
    """The same teams at a time outside the allowed days play another match."""
    for far in (-HOUR * 5, 15 * DAY):
        moved = replace(FIXTURE, kick_off=BET.at_ms // 1000 + far)
        assert "no_fixture" == _judged(comparator, BET, moved).reason


def test_what_has_not_started_has_no_close(comparator: Comparator) -> None:
    """A match that has not started, perhaps because it was postponed, has no closing price."""
    found = _judged(comparator, BET, replace(FIXTURE, is_started=False, fair=None, entries={}))

    assert "not_started" == found.reason


def test_a_line_without_a_close_says_so(comparator: Comparator) -> None:
    """The reason is given if only the bet's bookmaker has no close, and if no bookmaker has one."""
    line = parsed("over_under:2.5")
    bet = replace(BET, market=line, outcome="over", bookmaker=BookmakerId("birch"))
    entry = EntryAtClose({"over": 1.9, "under": 1.9}, float(KICK_OFF), on_offer=True)
    of_others = replace(FIXTURE, fair={"over": 0.5, "under": 0.5}, entries={"alder": entry})
    of_none = replace(FIXTURE, fair=None, fair_reason="too_few", entries={})
    offered, none = (_judged(comparator, bet, fixture) for fixture in (of_others, of_none))

    assert ("no_close_on_this_line", None) == (offered.entry_reason, offered.reason)
    assert offered.clv is not None
    assert isclose(0.05, offered.clv)
    assert ("no_close_on_this_line", "no_close_on_this_line") == (none.entry_reason, none.reason)


def test_a_missing_close_says_why(comparator: Comparator) -> None:
    """Bookmaker and consensus have a reason each; a reason that all bookmakers share is given for both."""
    bet = replace(BET, bookmaker=BookmakerId("alder"))
    old = EntryAtClose(reason=NoClose.TOO_OLD)
    judged_still = _judged(comparator, bet, replace(FIXTURE, entries={"alder": old}))
    few = replace(FIXTURE, fair=None, fair_reason="too_few", entries={"alder": old, "birch": ALDER})
    gap = replace(few, entries={"alder": EntryAtClose(reason=NoClose.GAP)})

    assert ("too_old", None) == (judged_still.entry_reason, judged_still.reason)
    assert judged_still.clv is not None
    assert ("too_few", "too_old") == ((found := _judged(comparator, bet, few)).reason, found.entry_reason)
    assert ("gap", None) == ((found := _judged(comparator, bet, gap)).reason, found.clv)
    assert (
        "no_entry" == _judged(comparator, replace(bet, bookmaker=BookmakerId("elm")), FIXTURE).entry_reason
    )
