"""The example page of the stream, `oddsboard init pages/odds.html`, in a browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browsing import Complaints
from tests.support.systems.feed import Fixture, Offered
from web.cli.examples import EXAMPLES

pytestmark = pytest.mark.browser

LOW, HIGH = (2.0, 3.5, 4.0), (2.5, 3.2, 3.1)


def _expect(rows: Locator, *shown: tuple[str, str, tuple[float, float, float]]) -> None:
    """Expect these rows, in any order: match, bookmaker, prices."""
    for home, bookmaker, odds in shown:
        cells = (f"{home} v Away", bookmaker, *(f"{price:g}" for price in odds))
        text = r"\s*".join(map(re.escape, cells))
        expect(rows.filter(has_text=re.compile(rf"^\s*{text}\s*$"))).to_have_count(1)
    expect(rows).to_have_count(len(shown))


def test_the_page_shows_the_board_over_changes_removals_and_a_restart(
    site: Offered, page: Page, complaints: Complaints
) -> None:
    """While the page is not connected, it says so; a name is shown as text, whatever it contains."""
    complaints.expected = ("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "503")
    rows, state = page.locator("tbody tr"), page.locator("p")
    site.offer(Fixture("<b>A</b>", "Away", bet365=LOW, bwin=LOW), Fixture("B", "Away", bet365=LOW))
    service = site.start()
    page.goto(f"{EXAMPLES['pages/odds.html'].as_uri()}?{service.base}")
    _expect(rows, ("<b>A</b>", "Bet365", LOW), ("<b>A</b>", "bwin", LOW), ("B", "Bet365", LOW))
    expect(state).to_have_text("these are the prices of now")

    site.offer(Fixture("<b>A</b>", "Away", bet365=HIGH), Fixture("B", "Away", bet365=LOW))
    _expect(rows, ("<b>A</b>", "Bet365", HIGH), ("B", "Bet365", LOW))

    service.stop()
    expect(state).to_have_text("not connected: these prices are old")
    site.offer(Fixture("C", "Away", bet365=LOW, bwin=HIGH))
    site.start()
    _expect(rows, ("C", "Bet365", LOW), ("C", "bwin", HIGH))
    expect(state).to_have_text("these are the prices of now")
