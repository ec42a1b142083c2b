"""The list of movers, in place of the list of matches, in Chromium."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.browsing import Complaints
from tests.support.systems.feed import Fixture, Offered

pytestmark = pytest.mark.browser

DERBY = Fixture("Home Town", "Away United", bet365=(2.0, 3.4, 3.9), bwin=(2.1, 3.3, 3.9))
OTHER = Fixture("Early Birds", "Night Owls", bet365=(1.5, 4.2, 6.5))
FAIR = {"before": {"1": 0.4, "X": 0.3, "2": 0.3}, "now": {"1": 0.5, "X": 0.25, "2": 0.25}}
EMPTY = """async ([statuses, markets]) => {
    const { marketOf } = await import("/static/markets.js");
    const { movesOf } = await import("/static/moves.js");
    const { moversKey } = await import("/static/movers.js");
    const of = (market, movers, key) => {
        const choice = { movers: 900, market };
        const answered = { key: key ?? moversKey(choice), ...movers };
        return movesOf(answered, choice, [], { market: marketOf(market) }).empty[0];
    };
    return [
        ...statuses.map((status) => of("1x2", { status, answer: null })),
        of("1x2", { status: "none", answer: null }, "3600 1x2"),
        ...markets.map((market) => of(market, { status: "none", answer: null })),
    ];
}"""


def _moved(route: Route, fixture: str) -> None:
    """Answer that the fixture's home win has moved, and who was first."""
    entries = [
        {"bookmaker": name.casefold(), "name": name, "compared": name != "None", **followed}
        for name, followed in (
            ("Bet365", {"first": True, "followed_at": 4_070_000_700.0}),
            ("bwin", {"first": False, "followed_at": None}),
            ("None", {"first": False, "followed_at": 4_070_000_800.0}),
        )
    ]
    move = {"outcome": "1", "move": 0.1, "fair_before": FAIR["before"], "fair_now": FAIR["now"]}
    times = {"from_time": 4_070_000_000.0, "to_time": 4_070_000_900.0}
    moved = {"id": fixture, **move, "since_time": times["from_time"], "bookmakers": entries}
    gone = {**moved, "id": "fxaaaaaaaaaaaaa"}
    route.fulfill(json={**times, "fixtures": [gone, moved]})


def test_movers_stand_in_place_of_the_list(site: Offered, page: Page) -> None:
    """A match of the board with its fair price, who was first, and how many compared entries followed."""
    site.offer(DERBY, OTHER)
    base = site.start().base
    page.goto(base)
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="Home Town"))
    expect(row).to_be_visible()
    listed = page.request.get(f"{base}/api/v2/fixtures").json()["fixtures"]
    (derby,) = [fixture["id"] for fixture in listed if fixture["home"] == DERBY.home]
    page.route("**/api/v2/movers?*", lambda route: _moved(route, derby))

    page.get_by_role("button", name="Movers").click()

    cells = page.locator("#movers-table tbody td > span:first-child")
    expect(cells).to_have_text(["▲ home win", "2.50 → 2.00", "+10.0 points", "Bet365", "1 of 2"])
    expect(page.locator("odds-board")).to_be_hidden()
    page.get_by_label("What moved most in the last").select_option("hour")
    expect(page).to_have_url(re.compile(r"\?movers=3600$"))
    page.reload()
    page.get_by_role("button", name="Home Town").click()
    expect(page.locator("#details-title")).to_have_text("Home Town \N{EN DASH} Away United")
    page.get_by_role("button", name="Surebets").click()
    expect(page.locator("#movers")).to_be_hidden()


def test_a_service_without_an_archive_knows_no_moves(
    site: Offered, page: Page, complaints: Complaints
) -> None:
    """And the page says so."""
    complaints.expected = ("404",)
    site.offer(DERBY)
    page.goto(f"{site.start().base}/?movers=900")

    expect(page.locator("#empty h2")).to_have_text("Moves are not known")
    expect(page.locator("#empty p")).to_contain_text("keeps no archive")


def test_each_lack_of_moves_is_told_apart(site: Offered, page: Page) -> None:
    """No answer is not the same as no move, nor is an answer of another choice."""
    site.offer(DERBY)
    page.goto(site.start().base)

    told = page.evaluate(EMPTY, [["unknown", "failed", "none"], ["over_under:main", "over_under:2.5"]])

    reading, none = "Reading", "Moves are not known"
    assert [reading, "Moves cannot be read now", none, reading, "Choose a line", none] == told
