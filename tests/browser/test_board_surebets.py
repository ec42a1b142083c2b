"""Surebets on the board: by profit, from a least profit on, stakes for people, notifications."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from actors.markets.market import parsed
from actors.markets.stakes import Stakes, stakes
from tests.support.browsing import OpenContext
from tests.support.oracles.stake_cases import StakeCase, stake_cases
from tests.support.systems.two_sources import Two, two_sources

pytestmark = pytest.mark.browser

PLAIN = {"pinnacle": (2.1, 3.4, 3.6), "williamhill": (2.0, 3.5, 3.5), "marathonbet": (2.05, 3.4, 3.7)}
SURE = {**PLAIN, "williamhill": (2.0, 3.9, 3.5), "marathonbet": (2.05, 3.5, 3.9)}
NOTED = """
window.noted = [];
window.Notification = class {
    static requestPermission = async () => "granted";
    constructor(title) {
        window.noted.push(title);
    }
};
"""
BY_PROFIT = """async (profits) => {
    const { arranged } = await import("/static/arrange.js");
    const matches = profits.map((profit) => ({ key: `fx${profit}`, home: "Home", start: null, profit }));
    const preferences = { leagues: [], matches: ["fx1"] };
    const surebetOf = ({ profit }) => ({ profit });
    const rows = arranged(matches, { by: "profit", leagues: new Map(), preferences, surebetOf });
    return rows.flatMap(({ match }) => match?.profit ?? []);
}"""
STAKE = re.compile(r"^7[0-9]\.[0-9]{2}$")
UNCOVERED = """(badge) => {
    const { left, top, width, height } = badge.getBoundingClientRect();
    const at = (part) => document.elementFromPoint(left + part * width, top + height / 2);
    return [0.1, 0.5, 0.95].map((part) => at(part) === badge);
}"""
STEPS = (5, 10, 50, 100, 500, 1_000)
OF_MARKET = 40
"""Cases of each market that are looked at."""
TABLE = """async (cases) => {
    const { rounded, stakes } = await import("/static/stakes.js");
    return cases.map(({ legs, total, step }) =>
        step === 1 ? stakes(legs, total) : rounded(legs, total, step));
}"""
ADVISED = """async ([legs, total]) => {
    const { advised } = await import("/static/advice.js");
    return advised(legs, { total, step: 0.01 });
}"""
ROUNDED = """async (cases) => {
    const { gainOf, rounded } = await import("/static/stakes.js");
    const found = cases.map(([legs, total, step]) => rounded(legs, total, step));
    return found.map((stakes) => stakes && { ...stakes, gain: gainOf(stakes) });
}"""


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    """Run a service with both sources for the tests of this file."""
    with two_sources(tmp_path_factory.mktemp("two")) as two:
        yield two


def test_surebets_stand_by_profit(two: Two, page: Page) -> None:
    """The best first, whatever is pinned; another order is not to be had."""
    page.goto(f"{two.service.base}/?surebets=1")

    expect(page.get_by_label("Sort")).to_be_disabled()
    assert [3, 2, 1] == page.evaluate(BY_PROFIT, [1, 3, 2])


def test_surebets_below_the_least_profit_are_not_shown(two: Two, page: Page) -> None:
    """The least is remembered, and the filter of surebets alone keeps to it."""
    two.offer(SURE)
    page.goto(f"{two.service.base}/?surebets=1")
    expect(page.locator(".match")).to_have_count(1)

    page.get_by_label("at least").fill("5")
    expect(page.locator("#empty")).to_contain_text("No surebet fits the filter")
    expect(page.locator("#surebet-count")).to_have_text("0")
    page.reload()
    expect(page.get_by_label("at least")).to_have_value("5")
    expect(page.locator("#empty")).to_contain_text("No surebet fits the filter")


def _legs(*prices: float, commission: float = 0) -> list[dict[str, Any]]:
    return [{"id": f"{at}_m1", "odds": odds, "commission": commission} for at, odds in enumerate(prices)]


def test_a_stake_above_what_its_price_is_good_for_is_said(two: Two, page: Page) -> None:
    """In the list in place of the gain, in the details behind the stakes."""
    page.goto(two.service.base)
    legs = [leg | {"max_stake": 30} for leg in _legs(2.1, 3.9, 3.9)]

    small, large = (page.evaluate(ADVISED, [legs, total]) for total in (40, 100))

    assert small["gain"].endswith(" for 40.00")
    assert "above a limit" == large["gain"]
    assert "above the known limit of its price" in large["text"]


def test_stakes_in_steps_never_lose(two: Two, page: Page) -> None:
    """They are whole steps, no more than the total; what is returned at least is that of these stakes."""
    page.goto(two.service.base)
    prices, taken = [(2.1, 3.9, 3.9), (3.3, 3.2, 2.9), (2.02, 2.05)], (0, 0.02)
    totals, steps = (7, 23.5, 100, 1000, 1_000_000), (100, 500, 1000)
    cases: list[tuple[list[dict[str, Any]], float, int]] = [
        (_legs(*odds, commission=part), total, step)
        for odds in prices
        for part in taken
        for total in totals
        for step in steps
    ]

    found = page.evaluate(ROUNDED, cases)

    assert any(found)
    for (legs, total, step), rounded in zip(cases, found, strict=True):
        if rounded is not None:
            amounts = rounded["amounts"]
            net = [1 + (leg["odds"] - 1) * (1 - leg["commission"]) for leg in legs]
            assert all(amount > 0 and amount % step == 0 for amount in amounts)
            assert sum(amounts) <= total * 100
            returned = min(amount * odds for amount, odds in zip(amounts, net, strict=True))
            assert int(returned + 1e-6) == rounded["returned"]
            assert rounded["returned"] - sum(amounts) == rounded["gain"] >= 0


def test_there_are_no_stakes_in_steps_that_would_lose(two: Two, page: Page) -> None:
    """Fives of a total of 7 would be more than the total."""
    page.goto(two.service.base)

    assert [None] == page.evaluate(ROUNDED, [[_legs(2.9, 3.4, 3.2), 7, 500]])


def test_the_stakes_are_those_of_the_api(two: Two, page: Page) -> None:
    """In each of a thousand cases, to the cent and in larger steps."""
    page.goto(two.service.base)
    asked, expected = _divided("1x2", stake_cases())

    assert expected == page.evaluate(TABLE, asked)


@pytest.mark.parametrize(
    "market",
    ["over_under:2.25", "over_under:2.5", "over_under:3", "asian_handicap:-0.75", "btts", "double_chance"],
)
def test_the_stakes_of_other_markets_are_those_of_the_api(two: Two, page: Page, market: str) -> None:
    """Also where bets are half won or returned, or two outcomes are won; each leg at its bookmaker."""
    page.goto(two.service.base)
    of_market = [
        case if market != "double_chance" else _doubled(case)
        for case in stake_cases(len(parsed(market).outcomes))
        if len({leg.bookmaker for leg in case.legs}) == len(case.legs)
    ]
    asked, expected = _divided(market, of_market[:OF_MARKET])

    assert expected == page.evaluate(TABLE, asked)
    assert any(expected)


def _divided(market: str, cases: Iterable[StakeCase]) -> tuple[list[Any], list[Any]]:
    """Return what the page is asked for in each case, to the cent and in larger steps, and what it owes."""
    every = [(case, step) for case in cases for step in (1, STEPS[case.total % len(STEPS)])]
    asked = [
        {
            "total": case.total / 100,
            "step": step,
            "legs": [
                {
                    "id": leg.bookmaker,
                    "odds": leg.odds,
                    "commission": leg.commission,
                    "fee_rate": leg.fee_rate,
                    "market": market,
                }
                for leg in case.legs
            ],
        }
        for case, step in every
    ]
    found = [stakes(case.legs, case.total, step, parsed(market)) for case, step in every]
    owed = [
        {"amounts": [*some.amounts], "returned": some.returned} if isinstance(some, Stakes) else None
        for some in found
    ]
    return asked, owed


def _doubled(case: StakeCase) -> StakeCase:
    """Return a case of double chance: an outcome is won unless that of a leg of the case is."""
    chances = [1 / leg.odds for leg in case.legs]
    odds = [round(1.03 / (1 - chance / sum(chances)), 2) for chance in chances]
    legs = [replace(leg, odds=max(price, 1.02)) for leg, price in zip(case.legs, odds, strict=True)]
    return StakeCase(tuple(legs), case.total)


def test_the_total_and_the_rounding_are_remembered(two: Two, page: Page) -> None:
    """An empty total is asked for, not called too small."""
    two.offer(SURE)
    page.goto(two.service.base)
    page.locator(".match").filter(has=page.locator(".surebet:not(:empty)")).click()
    page.get_by_label("Total").fill("")
    expect(page.locator("#details-returned")).to_contain_text("Enter a total.")
    page.get_by_label("Total").fill("300")
    page.get_by_role("combobox", name="Stakes in").select_option("tens")
    page.reload()

    expect(page.get_by_role("combobox", name="Stakes in")).to_have_value("10")
    expect(page.get_by_label("Total")).to_have_value("300")
    expect(page.locator("#details-returned")).to_have_text(
        "Returns at least 230.52 for 230.00, a gain of 0.52. Rounding costs 1.61."
    )
    page.get_by_label("Total").fill("7")
    expect(page.locator("#details-returned")).to_contain_text("Stakes in these steps may lose.")


def test_the_list_of_surebets_has_legs_stakes_and_ages(two: Two, page: Page) -> None:
    """Stakes are for the reader's total; ages are those of the last confirmations."""
    two.offer(SURE)
    page.goto(f"{two.service.base}/?surebets=1")
    legs = page.locator(".match .leg")
    expect(legs.locator(".odds")).to_have_text(["2.10", "3.90", "3.90"])
    expect(legs.locator(".at")).to_have_text(["Pinnacle", "William Hill", "Marathon (takes 2\xa0%)"])

    page.get_by_role("button", name="Surebets").click()
    expect(page.locator(".match .price").first).to_be_visible()
    page.get_by_role("button", name="Surebets").click()
    page.get_by_label("stakes for").fill("300")

    expect(legs.locator(".stake")).to_have_text([re.compile(r"^1[45][0-9]\.[0-9]{2}$"), *[STAKE] * 2])
    expect(page.locator(".gain")).to_have_text(re.compile(r"^[0-9.]+ for 300\.00$"))
    ages = page.locator(".match .age span")
    expect(ages.first).to_have_text(re.compile("^stands for [0-9]+ "))
    expect(ages.nth(1)).to_have_text(re.compile("^confirmed [0-9]+ s ago$"))
    expect(ages.nth(2)).to_have_text(re.compile("left, or more$|^confirmed again since$"))
    page.locator(".match").click()
    expect(page.get_by_label("Total")).to_have_value("300")


@pytest.mark.parametrize("width", [700, 1280])
def test_nothing_covers_the_badge_of_a_surebet(two: Two, context: OpenContext, width: int) -> None:
    """A click on the gain opens the details, and pins nothing."""
    two.offer(SURE)
    page = context(viewport={"width": width, "height": 700}).new_page()
    page.goto(two.service.base)
    badge = page.locator(".match .surebet:not(:empty)")
    expect(badge).to_be_visible()

    assert [True, True, True] == badge.evaluate(UNCOVERED)


def test_a_new_surebet_is_notified_once(two: Two, page: Page) -> None:
    """Not those that are there when it is switched on, nor what has only changed its prices."""
    two.offer(SURE)
    page.add_init_script(NOTED)
    page.goto(two.service.base)
    expect(page.locator("#surebet-count")).to_have_text("1")
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Notify me").check()
    two.offer(PLAIN)
    expect(page.locator("#surebet-count")).to_have_text("0")

    two.offer(SURE)

    expect(page.locator("#surebet-count")).to_have_text("1")
    assert ["Manchester United \N{EN DASH} Fulham"] == [
        title.partition(" on ")[2] for title in page.evaluate("noted")
    ]
