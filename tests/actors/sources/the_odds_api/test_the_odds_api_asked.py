"""The Odds API: the markets that a call asks for, their cost, and the markets left out after a refusal."""

from __future__ import annotations

import itertools
from urllib.parse import parse_qs, urlsplit

import pytest

from actors.core.errors import TransportError
from actors.source_api.plan import Target
from actors.sources.the_odds_api.answers import OddsAnswer
from actors.sources.the_odds_api.asked import MarketsAsked
from actors.sources.the_odds_api.plan import LAST, TheOddsApiPlan
from tests.support.builders.the_odds_api import ALL_MARKETS, DAY_S, MIDNIGHT, MORNING, at, plan

NAMED = "the answer was an error: invalid_market: Markets not supported by this endpoint: totals"
UNNAMED = "the answer was an error: invalid_market: bad market"


def markets_of(target: Target) -> str:
    """Return the markets that a request is for."""
    (markets,) = parse_qs(urlsplit(target.url).query)["markets"]
    return markets


def refuse(of: TheOddsApiPlan, target: Target, said: str = NAMED) -> float:
    """Ask, and have the API refuse a market; return the seconds until a retry."""
    of.on_asked(target, at(MORNING))
    error = TransportError(f"status was 422, must be 200: {said}", reason="invalid_market", status=422)
    return of.on_failed(target, error, at(MORNING))


def test_all_markets_are_asked_for_in_one_call() -> None:
    """The markets are in a fixed order, each once; without the option the address asks for h2h alone."""
    assert ["h2h,totals,spreads"] * 3 == [
        markets_of(target) for target in plan(markets=("spreads", "h2h", "totals", "h2h")).targets()
    ]
    assert {"h2h"} == {markets_of(target) for target in plan().targets()}


@pytest.mark.parametrize(
    ("markets", "bookmakers", "regions", "cost"),
    [
        (("h2h",), 10, (), 1),
        (ALL_MARKETS, 10, (), 3),
        (ALL_MARKETS, 11, (), 6),
        (("h2h", "totals"), 25, ("eu", "uk"), 4),
        (("totals",), 1, (), 1),
    ],
)
def test_call_costs_credits_for_each_market_and_region(
    markets: tuple[str, ...], bookmakers: int, regions: tuple[str, ...], cost: int
) -> None:
    """Ten bookmakers cost as much as a region, in the budget, the facts of the log, and the probes."""
    keys = tuple(f"book{number}" for number in range(bookmakers))
    made = plan(keys, markets=markets, regions=regions, credits_per_day=100.0)
    made.on_asked(made.targets()[0], at(MIDNIGHT))

    assert cost == made.facts()["credits_a_call"] == made.quota()["credits_a_call"]
    assert 100.0 - cost == made.quota()["credits_left_today"]


def test_budget_pays_for_fewer_calls_of_more_markets() -> None:
    """The interval grows with the markets, and a budget below one call is refused."""
    far = [plan(credits_per_day=96.0, markets=ALL_MARKETS[:count]) for count in (1, 2, 3)]

    assert pytest.approx([1.0, 2.0, 3.0]) == [
        each.interval_s(each.targets()[0], at(MIDNIGHT + DAY_S)) * 96.0 / 3 / DAY_S for each in far
    ]
    with pytest.raises(
        ValueError, match=r"credits_per_day was 2, must be at least the 3 that one call costs"
    ):
        plan(credits_per_day=2.0, markets=ALL_MARKETS)


def test_description_names_the_markets_and_what_each_costs() -> None:
    """Without the option the description names no markets."""
    asks = [
        next(
            line for line in plan(("some", "other"), markets=markets, **given).describe() if "asks" in line
        )
        for markets, given in ((("h2h",), {}), (ALL_MARKETS, {}), (ALL_MARKETS, {"regions": ("eu", "uk")}))
    ]

    assert ("h2h,totals,spreads", None) == (
        plan(markets=ALL_MARKETS).facts()["markets"],
        plan().facts().get("markets"),
    )
    assert [
        "asks by bookmakers some,other: credits a call 1",
        "asks by bookmakers some,other for h2h,totals,spreads: credits a call 3; 1 a market",
        "asks by bookmakers some,other for h2h,totals,spreads: credits a call 3, by regions 6; 1 a market",
    ] == asks


def test_refused_market_is_left_out_of_the_next_call() -> None:
    """The other markets are asked for immediately, for fewer credits; a refusal is free, reported once."""
    made = plan(markets=ALL_MARKETS, credits_per_day=96.0)
    target, other, *_ = made.targets()
    made.on_asked(other, at(MORNING))
    made.on_answered(other, {LAST: "3"}, at(MORNING))
    left = made.quota()["credits_left_today"]
    delay_s = refuse(made, target)

    assert (0.0, True) == (delay_s, made.asks_otherwise(target))
    assert {"h2h,spreads"} == {markets_of(each) for each in made.targets()}
    assert 2.0 == made.quota()["credits_a_call"]
    assert left == made.quota()["credits_left_today"]
    assert [f"not asked for any more: totals: status was 422, must be 200: {NAMED}"] == [
        *made.take_refusals()
    ]
    assert () == made.take_refusals()


def test_refusal_of_an_older_call_says_nothing_new() -> None:
    """A refused call from before the refusal is no failure and removes no market; a later error counts."""
    made = plan(markets=ALL_MARKETS)
    first, second, *_ = made.targets()
    made.on_asked(second, at(MORNING))
    refuse(made, first)
    made.take_refusals()
    error = TransportError(NAMED, reason="invalid_market", status=422)
    made.on_failed(second, error, at(MORNING))

    assert (True, ()) == (made.asks_otherwise(second), made.take_refusals())
    assert {"h2h,spreads"} == {markets_of(each) for each in made.targets()}
    made.on_asked(made.targets()[0], at(MORNING))
    made.on_failed(made.targets()[0], TransportError("status was 500", status=500), at(MORNING))
    assert not made.asks_otherwise(first)


def test_refusal_of_all_that_is_asked_for_is_a_failure() -> None:
    """No other market is left to ask for."""
    made = plan()
    target, *_ = made.targets()
    refuse(made, target, "invalid_market: h2h")

    assert (False, ()) == (made.asks_otherwise(target), made.take_refusals())
    assert {"h2h"} == {markets_of(each) for each in made.targets()}


@pytest.mark.parametrize(
    "bad", [bad for count in range(3) for bad in itertools.combinations(ALL_MARKETS, count)], ids=str
)
@pytest.mark.parametrize("words", ["Markets not supported by this endpoint: {}", "bad market"])
def test_markets_that_are_not_refused_go_on(words: str, bad: tuple[str, ...]) -> None:
    """Whatever is refused, after a few calls the other markets remain; each refusal is found once."""
    asked, given_up = MarketsAsked(ALL_MARKETS), list[str]()
    for _ in range(6):
        now = asked.now
        if refused := [market for market in now if market in bad]:
            given_up += asked.refused(now, words.format(", ".join(refused)))
        else:
            asked.answered(now)

    assert [market for market in ALL_MARKETS if market not in bad] == [*asked.now]
    assert sorted(bad) == sorted(given_up)


@pytest.mark.parametrize("said", [NAMED, UNNAMED, "Markets not supported: h2h, totals, spreads"])
def test_last_market_is_never_given_up(said: str) -> None:
    """If all markets are refused, one stays; similar names in a message are not names of our markets."""
    asked, given_up = MarketsAsked(ALL_MARKETS), list[str]()
    for _ in range(10):
        given_up += asked.refused(asked.now, said)

    assert 1 == len(asked.now)
    assert len(given_up) == 2
    assert {*asked.now, *given_up} == {*ALL_MARKETS}
    two = MarketsAsked(("h2h", "totals"))
    assert () == two.refused(two.now, "Markets not supported by this endpoint: totals_h1, h2h_3_way")
    assert ("h2h",) == two.now


def test_answer_of_a_sport_continues_the_search() -> None:
    """If the message names no market, the markets are asked for one after another."""
    made = plan(markets=ALL_MARKETS)
    target, *_ = made.targets()
    seen = []
    for _ in range(5):
        now = markets_of(made.targets()[0])
        seen.append(now)
        if "totals" in now:
            refuse(made, target, UNNAMED)
        else:
            made.on_asked(target, at(MORNING))
            made.on_learnt(target, OddsAnswer({}, (), None), at(MORNING))

    assert ["h2h,totals,spreads", "h2h", "h2h,totals", "h2h,spreads", "h2h,spreads"] == seen
    assert 1 == len(made.take_refusals())
