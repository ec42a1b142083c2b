"""A board of 1,500 matches with moving prices, and the stream read by the browser itself."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support.systems.process import Service, service

pytestmark = pytest.mark.browser

log = logging.getLogger(__name__)

CONFIG = """
[server]
drain_s = 0

[sources.simulated]
kind = "simulated"
matches = 1500
updates_per_s = 300

[bookmakers.alder]
name = "Alder"
source = "simulated"
key = "sharp"

[bookmakers.birch]
name = "Birch"
source = "simulated"
key = "standard"

[bookmakers.cedar]
name = "Cedar"
source = "simulated"
key = "wide"
"""
ROWS = 60
"""More rows than fit on any screen, and far fewer than exist."""

FRAMES = """async ({ seconds, speed }) => {
    const board = document.querySelector("odds-board");
    const times = [];
    let [rows, last] = [0, performance.now()];
    for (const end = last + seconds * 1000; last < end; ) {
        await new Promise(requestAnimationFrame);
        const now = performance.now();
        times.push(now - last);
        last = now;
        board.scrollTop += speed;
        rows = Math.max(rows, board.querySelectorAll(".body [role=row]").length);
    }
    times.sort((one, other) => one - other);
    const at = (part) => Math.round(times[Math.floor(part * (times.length - 1))] * 10) / 10;
    return { rows, frames: times.length, median: at(0.5), p95: at(0.95), p99: at(0.99), longest: at(1) };
}"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Run a large simulated board for the tests of this file."""
    config = tmp_path_factory.mktemp("scale") / "scale.toml"
    config.write_text(CONFIG, "utf-8")
    with service(config) as service_process:
        yield service_process


def _open(page: Page, running: Service) -> None:
    page.goto(running.base)
    expect(page.locator("#connection")).to_contain_text("Live")
    expect(page.locator(".match").first).to_be_visible()


@pytest.mark.parametrize("speed", [0, 40, 1500])
def test_only_visible_rows_are_in_the_document(running: Service, page: Page, speed: int) -> None:
    """This holds while scrolling fast through 1,500 matches; `--log-cli-level=info` shows the frames."""
    _open(page, running)
    expect(page.locator("[data-moved]")).not_to_have_count(0)

    frames = page.evaluate(FRAMES, {"seconds": 1, "speed": speed})

    log.info("%d px a frame, milliseconds a frame: %s", speed, frames)
    rows = int(page.get_by_role("grid").get_attribute("aria-rowcount") or 0)
    assert rows > 1500 > ROWS >= frames["rows"] > 10


def test_the_last_row_can_be_reached(running: Service, page: Page) -> None:
    """The key End goes to the last row, whose index is right."""
    _open(page, running)

    page.get_by_role("grid").focus()
    page.keyboard.press("End")

    grid, last = page.get_by_role("grid"), page.locator(".active")
    expect(last).to_be_in_viewport(ratio=1)
    assert grid.get_attribute("aria-rowcount") == last.get_attribute("aria-rowindex")


def test_simulated_prices_always_have_a_notice(running: Service, page: Page) -> None:
    """The page waits for /health before it shows prices, and keeps the notice when /health fails later."""
    page.route("**/health", lambda _: None)  # the page gets no answer
    with page.expect_response("**/api/v2/fixtures"):
        page.goto(running.base)
    expect(page.locator("#empty")).to_contain_text("Connecting")
    expect(page.locator(".match")).to_have_count(0)
    page.unroute("**/health")
    expect(page.locator(".match").first).to_be_visible()

    expect(page.locator("#simulated")).to_contain_text("not real offers")
    page.route("**/health", lambda route: route.fulfill(status=200, body="<html>"))
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("#bookmakers .state")).to_have_text(["unknown"] * 3)
    expect(page.locator("#simulated")).to_be_visible()
