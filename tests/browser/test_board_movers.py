"""The list of movers, in place of the list of matches, in Chromium."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.browsing import DERBY, OTHER, Complaints, row_of
from tests.support.systems.feed import Offered

pytestmark = pytest.mark.browser

FAIR = {"before": {"1": 0.4, "X": 0.3, "2": 0.3}, "now": {"1": 0.5, "X": 0.25, "2": 0.25}}


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
    """Each row has a match, its fair price, who was first, and how many compared entries followed."""
    site.offer(DERBY, OTHER)
    base = site.start().base
    page.goto(base)
    row = row_of(page, "Home Town")
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
    """The page says that moves are not known."""
    complaints.expected = ("404",)
    site.offer(DERBY)
    page.goto(f"{site.start().base}/?movers=900")

    expect(page.locator("#empty h2")).to_have_text("Moves are not known")
    expect(page.locator("#empty p")).to_contain_text("keeps no archive")
