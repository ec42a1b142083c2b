"""Prices in doubt in Chromium: grey, with the reason in words, and never a best price."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support.browsing import row_of
from tests.support.peers.http import http_peer
from tests.support.systems.process import service
from tests.support.systems.two_sources import Two, configured

pytestmark = pytest.mark.browser

FOURTH = """
[bookmakers.betway]
name = "Betway"
source = "api"
key = "betway"
"""
IN_PLAY = {"pinnacle": (1.9, 2.7, 6.0), "williamhill": (1.95, 2.6, 5.8), "marathonbet": (1.92, 2.65, 6.2)}
BEFORE_A_GOAL = (1.22, 5.4, 14.0)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    """Run a service with four bookmakers of live prices, and one of collected prices."""
    folder = tmp_path_factory.mktemp("two")
    with http_peer() as peer, service(configured(folder, peer, FOURTH)) as running:
        yield Two(peer, running)


@pytest.mark.parametrize("width", [1500, 390])
def test_price_in_doubt_is_grey_says_why_and_is_no_best_price(two: Two, page: Page, width: int) -> None:
    """The row, screen readers and the details show the doubt, on a desktop and on a phone."""
    two.offer({**IN_PLAY, "betway": BEFORE_A_GOAL})
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{two.service.base}/")
    row = row_of(page, "Manchester United")

    expect(row.locator(".top-figure")).to_have_text(["1.95", "2.70", "6.20"])
    row.locator(".who").click()
    betway = page.locator("#details-prices tbody tr").filter(has_text="Betway")
    reason = page.locator("#details-prices tbody tr.note").filter(has_text="far above those of the other")
    expect(betway).to_contain_text("5.40")
    expect(reason.first).to_be_visible()
    expect(page.locator("#details-best tbody")).not_to_contain_text("Betway")
    page.locator("#close").click()
    if width < 600:
        row.locator(".more").click()
    doubted = row.locator(".offer.doubted").filter(has=page.get_by_label("Betway, draw: 5.40, in doubt"))
    expect(doubted.locator(".best")).to_have_count(0)
    expect(doubted).to_have_attribute("title", re.compile("in doubt"))


def test_price_in_doubt_that_is_alone_has_no_best_price(two: Two, page: Page) -> None:
    """If only its bookmaker is chosen, no price is called best, and the price in doubt is shown."""
    two.offer({**IN_PLAY, "betway": BEFORE_A_GOAL})
    page.goto(f"{two.service.base}/?bookmaker=betway")
    row = row_of(page, "Manchester United")

    expect(row.locator(".offer.doubted .number")).to_have_text(["1.22", "5.40", "14.00"])
    expect(row.locator(".top-figure")).to_have_text(["", "", ""])
