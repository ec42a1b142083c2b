"""The other markets of the simulated source: all come from one model of goals and agree with each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise, product

import msgspec
import pytest

from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Document, Extract, ListId, Match, Scope, event_id_of, kind_of
from actors.core.validation import admit
from actors.markets.market import Kind, Market
from actors.markets.odds import book_sum
from actors.markets.returns import result_of
from actors.pipeline.fanout import batch_of
from actors.source_api.kinds import bounds_of
from actors.sources.simulated.goals import Outlook, lines_of, odds_of, scores_of
from actors.sources.simulated.kind import KIND, SimulatedMachine, SimulatedOptions

WALL = 1_763_820_000.0  # a Saturday, 14:00 UTC
KEYS = ("sharp", "standard", "wide")
EVERY = tuple(Kind)
HOUR = 3600.0
SCORES = tuple(product(range(9), repeat=2))


def _machine(*keys: str, began_s: float = 0.0, **options: object) -> SimulatedMachine:
    named = {"markets": EVERY, "matches": 40, **options}
    chosen = SimulatedOptions(kind="simulated", **named)  # type: ignore[arg-type]  # options by name
    return SimulatedMachine(chosen, keys or KEYS, Instant(began_s, WALL + began_s))


def _advanced(machine: SimulatedMachine, seconds: float) -> dict[str, Extract]:
    return dict(run_now(machine.advance(Instant(seconds, WALL + seconds))))


def _images(machine: SimulatedMachine, *hours: float) -> Iterator[tuple[float, str, Extract]]:
    for hour in hours:
        _advanced(machine, hour * HOUR)
        for key, extract in machine.image().items():
            yield WALL + hour * HOUR, key, extract


def _events(matches: Iterable[Match]) -> list[list[Match]]:
    return [list(several) for _, several in groupby(matches, lambda match: match.event_id)]


def _results_alone(extract: Extract) -> Extract:
    matches = tuple(match for match in extract.matches if not match.odds)
    removals = tuple(it for it in extract.removals if kind_of(it.source_match_id) == Kind.ONE_X_TWO)
    return Extract(matches, removals)


def test_other_markets_leave_1x2_as_it_is() -> None:
    """The seed gives the same 1X2 prices and changes, whatever else is asked for."""
    plain, every = (_machine(markets=kinds, updates_per_s=0.5) for kinds in ((Kind.ONE_X_TWO,), EVERY))

    for minute in range(60):
        expected, found = _advanced(plain, minute * 60.0), _advanced(every, minute * 60.0)
        assert expected == {key: _results_alone(change) for key, change in found.items()}


@pytest.mark.parametrize(
    "asked", [(), ("btts",), ("over_under", "1x2"), ("double_chance", "asian_handicap")]
)
def test_only_what_is_asked_for_is_listed(asked: tuple[str, ...]) -> None:
    """1X2 is always listed, and by default no other market is."""
    given = {"markets": asked} if asked else {}
    options = msgspec.convert({"kind": "simulated", "matches": 40, **given}, SimulatedOptions)
    _advanced(machine := SimulatedMachine(options, ("wide",), Instant(0.0, WALL)), 0.0)

    assert {match.market.kind for match in machine.image()["wide"].matches} == {"1x2", *asked}


@pytest.mark.parametrize("seed", range(3))
def test_the_gate_accepts_every_market(seed: int) -> None:
    """No book sum and no line is refused, before the kick-off and in play."""
    machine = _machine(seed=seed)
    bounds = bounds_of(KIND, "sharp", SimulatedOptions(kind="simulated", markets=EVERY))

    for _, key, image in _images(machine, *range(0, 30, 3)):
        origin = Document(Scope(""), ListId(""), None, 0.0, 0.0, 30.0)
        batch = batch_of(BookmakerId(key), origin, image, complete=True)
        admission = run_now(admit(batch, bounds))
        assert not admission.rejected, admission.refused
        assert image.matches == admission.batch.matches


@pytest.mark.parametrize("key", KEYS)
def test_no_bet_of_a_bookmaker_is_better_than_another_that_always_returns_as_much(key: str) -> None:
    """Before the kick-off the prices of all markets and lines come from one model of goals."""
    compared = 0
    for now, _, image in _images(_machine(key, matches=25), 0.0, 7.0):
        for markets in _events(match for match in image.matches if (match.start_time or 0) > now):
            bets = [
                (price, [result_of(match.market, outcome, *score) for score in SCORES], match, outcome)
                for match in markets
                for outcome, price in zip(match.market.outcomes, match.prices, strict=True)
            ]
            for (price, results, *bet), (other_price, other_results, *other) in product(bets, bets):
                if all(a >= b for a, b in zip(results, other_results, strict=True)):
                    compared += 1
                    assert price <= other_price, (bet, other)

    assert compared > 1000


def test_each_style_has_its_lines_around_the_main_one() -> None:
    """Each kind has three lines: sharp a quarter apart, standard two quarters, wide at half goals only."""
    image = {key: it for _, key, it in _images(_machine(matches=100), 0.0)}
    apart = {
        key: {
            b.market.quarters - a.market.quarters
            for markets in _events(it.matches)
            for a, b in pairwise(markets)
            if a.market.kind is b.market.kind and a.market.quarters is not None and b.market.quarters
        }
        for key, it in image.items()
    }
    lines = {match.market.quarters for match in image["wide"].matches if match.market.quarters is not None}

    assert {"sharp": {1}, "standard": {2}, "wide": {4}} == {key: {min(it)} for key, it in apart.items()}
    assert {2} == {line % 4 for line in lines}
    by_line = [{(m.event_id, m.market) for m in it.matches if m.market.quarters} for it in image.values()]
    assert len(by_line[0] & by_line[1] & by_line[2]) > 50


def test_totals_in_play_count_the_goals_so_far() -> None:
    """After 2:1 the lowest line is above 3 goals; a handicap begins at 0:0 again."""
    before, after = (
        Outlook(*score, 0.8, 0.6, total=4 * sum(score) + 4, handicap=-1) for score in ((0, 0), (2, 1))
    )
    chances = (0.42, 0.31, 0.27)
    nothing, three = scores_of(chances, before, 1), scores_of((0.75, 0.2, 0.05), after, 1)

    assert odds_of(Market(Kind.OVER_UNDER, 10), three)[0] == 1.0
    over_4 = odds_of(Market(Kind.OVER_UNDER, 16), three)
    assert over_4 == pytest.approx(odds_of(Market(Kind.OVER_UNDER, 4), nothing), rel=0.2)
    assert odds_of(Market(Kind.BTTS), three)[0] == pytest.approx(1.0)
    assert odds_of(Market(Kind.ASIAN_HANDICAP, -1), three) == pytest.approx(
        odds_of(Market(Kind.ASIAN_HANDICAP, -1), nothing), rel=0.2
    )


@pytest.mark.parametrize("score", [(0, 0), (1, 0), (0, 2), (1, 1), (3, 2)])
def test_prices_of_scores_add_up_to_those_of_the_results(score: tuple[int, int]) -> None:
    """So the margin of 1X2 is the margin of each market in which no stake is returned."""
    results = (0.41, 0.33, 0.33)
    scores = scores_of(results, Outlook(*score, 1.2, 0.9, total=10, handicap=0), 1)

    for market in (*lines_of(Kind.OVER_UNDER, 4 * sum(score) + 6, 4, halves=True), Market(Kind.ONE_X_TWO)):
        assert book_sum(odds_of(market, scores)) == pytest.approx(sum(results))
    assert book_sum(odds_of(Market(Kind.DOUBLE_CHANCE), scores)) == pytest.approx(2 * sum(results))
    assert odds_of(Market(Kind.ONE_X_TWO), scores) == pytest.approx(tuple(1 / price for price in results))


def test_changes_lead_from_the_first_image_to_the_last() -> None:
    """Each market leaves by itself with its reason, and no change is reported twice."""
    machine = _machine(updates_per_s=0.5)
    _advanced(machine, 0.0)
    shown = {
        key: {it.source_match_id: it for it in image.matches} for key, image in machine.image().items()
    }
    reasons = set[tuple[str, str]]()
    for tick in range(1, 400):
        for key, change in _advanced(machine, tick * 30.0).items():
            for removal in change.removals:
                gone = shown[key].pop(removal.source_match_id, None)
                reasons |= {(kind_of(removal.source_match_id), removal.reason)} if gone else set()
            for match in change.matches:
                assert shown[key].get(match.source_match_id) != match
                shown[key][match.source_match_id] = match

    assert shown == {
        key: {it.source_match_id: it for it in image.matches} for key, image in machine.image().items()
    }
    assert {(kind, "suspended") for kind in EVERY} <= reasons
    assert ("over_under", "withdrawn") in reasons
    assert ("1x2", "withdrawn") not in reasons


def test_no_market_is_listed_without_1x2() -> None:
    """A goal suspends all markets of a match."""
    machine = _machine(updates_per_s=0.5)
    for _, _, image in _images(machine, *(hour / 4 for hour in range(24))):
        listed = {match.source_match_id for match in image.matches}
        assert {event_id_of(match_id) for match_id in listed} <= listed


def test_the_start_of_a_source_changes_no_market() -> None:
    """Prices and lines depend on the time alone."""
    early, late = _machine(), _machine(began_s=2 * HOUR)
    for seconds in (0.0, HOUR, 2 * HOUR - 5.0, 2 * HOUR):
        _advanced(early, seconds)
    _advanced(late, 2 * HOUR)

    assert early.image() == late.image()
