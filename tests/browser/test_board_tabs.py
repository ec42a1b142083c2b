"""Several boards in one browser: they follow one shared stream, and a hidden board follows no stream."""

from __future__ import annotations

import re

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.support.browsing import DERBY, LATER, OWN_STREAM, OpenContext
from tests.support.peers.plain_http import NO_TLS
from tests.support.systems.feed import Offered
from tests.support.time.waiting import eventually

pytestmark = pytest.mark.browser

SHOWN = ["2.00", "3.40", "3.90", "2.10", "3.30", "3.90"]
THEN = ["2.20", "3.40", "3.50", "2.30", "3.30", "3.50"]
TABS = 7
"""The number of boards: one more than a browser's connections to a host over HTTP/1.1."""
SET_HIDDEN = """(isHidden) => {
    Object.defineProperty(document, "hidden", { get: () => isHidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""


def _streams(base: str) -> int:
    stats = httpx2.get(f"{base}/api/stats", verify=NO_TLS, trust_env=False).json()
    return int(stats["http"]["streams"])


def _hide(page: Page) -> None:
    page.evaluate(SET_HIDDEN, arg=True)
    page.clock.fast_forward(10_000)


def test_seven_boards_share_a_stream(site: Offered, context: OpenContext) -> None:
    """All boards show prices, states and links, and follow the changes; the monitor answers as well."""
    site.offer(DERBY)
    base, browser = site.start().base, context()
    pages = [browser.new_page() for _ in range(TABS)]
    for page in pages:
        page.goto(base)
        expect(page.locator(".number")).to_have_text(SHOWN)
        expect(page.locator("#bookmakers .state")).to_have_text(["collected", "collected"])
        page.locator(".match").click()
        expect(page.locator("#details-links li")).to_have_count(1)
    assert 1 == _streams(base)

    site.offer(LATER)

    for page in pages:
        expect(page.locator(".number")).to_have_text(THEN)
    monitor = browser.new_page()
    monitor.goto(f"{base}/monitor")
    following = monitor.locator("#clients div").filter(has_text="Following now").locator("dd")
    expect(following).to_have_text("1")
    with monitor.expect_response("**/monitor"):  # the monitor asks the service again
        pass
    expect(monitor.locator("#condition")).to_have_text("All is well: all 2 bookmakers are up.")
    expect(monitor.locator("#connection")).to_have_text(re.compile("^[0-9] s old$"))


@pytest.mark.parametrize("script", ["", OWN_STREAM])
def test_a_hidden_board_follows_no_stream(site: Offered, context: OpenContext, script: str) -> None:
    """The board leaves the stream after a moment; when it is shown again, it gets what it missed."""
    site.offer(DERBY)
    base, page = site.start().base, context().new_page()
    page.add_init_script(script)
    page.clock.install()
    page.goto(base)
    expect(page.locator(".number")).to_have_text(SHOWN)
    eventually(lambda: _streams(base) == 1, "the page follows the stream")

    _hide(page)
    eventually(lambda: _streams(base) == 0, "it follows no stream")
    site.offer(LATER)
    page.evaluate(SET_HIDDEN, arg=False)

    expect(page.locator(".number")).to_have_text(THEN)
    expect(page.locator("odds-board")).to_have_attribute("data-trust", "live")


def test_a_board_that_was_hidden_catches_up_with_the_others(site: Offered, context: OpenContext) -> None:
    """The shared stream went on meanwhile; later changes are shown on both boards."""
    site.offer(DERBY)
    base, browser = site.start().base, context()
    hidden, shown = browser.new_page(), browser.new_page()
    for page in (hidden, shown):
        page.clock.install()
        page.goto(base)
        expect(page.locator(".number")).to_have_text(SHOWN)
    _hide(hidden)
    site.offer(LATER)
    expect(shown.locator(".number")).to_have_text(THEN)

    hidden.evaluate(SET_HIDDEN, arg=False)
    expect(hidden.locator(".number")).to_have_text(THEN)
    site.offer(DERBY)

    for page in (hidden, shown):
        expect(page.locator(".number")).to_have_text(SHOWN)
    assert 1 == _streams(base)
