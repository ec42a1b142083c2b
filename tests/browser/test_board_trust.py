"""The board when something is wrong: prices that are not live never look live."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.browsing import CATCH_THE_SOURCE, DERBY, LATER, OWN_STREAM, Complaints, OpenContext
from tests.support.peers.http import hang, respond
from tests.support.systems.feed import PATH, Fixture, Offered, offered
from tests.support.systems.moved_clock import MovedClocks

pytestmark = pytest.mark.browser

SHOWN = ["2.00", "3.40", "3.90", "2.10", "3.30", "3.90"]
NONE = "\N{EN DASH}"
UNAVAILABLE = "status of 503"
LIST = "**/api/v2/fixtures"

UNREADABLE = (
    'event: snapshot\ndata: {"version": 1, "fixtures": [\n\n',
    "event: snapshot\ndata: null\n\n",
    'event: snapshot\ndata: {"version": 1, "fixtures": [{"id": "fx1", "entries": [{}]}]}\n\n',
    'event: changes\ndata: {"version": 2, "since": 1, "fixtures": [], "removed": []}\n\n',
    'event: heartbeat\ndata: {"version": 2}\n\n',
    "event: nonsense\ndata: x\n\n",
)
GAP = (
    'event: snapshot\ndata: {"version": 1, "fixtures": [], "fixtures_count": 0}\n\n'
    'event: changes\ndata: {"version": 9, "since": 8, "fixtures": [], "removed": []}\n\n'
)
HEAR_AFTER_A_MINUTE = """() => {
    const now = Date.now();
    Date.now = () => now + 61_000;
    const data = JSON.stringify({ version: Number.MAX_SAFE_INTEGER });
    source.dispatchEvent(new MessageEvent("heartbeat", { data }));
    return document.getElementById("connection").textContent;
}"""
HEAR_OF_ANOTHER_BOARD = """() => {
    const data = JSON.stringify({ version: Number.MAX_SAFE_INTEGER });
    source.dispatchEvent(new MessageEvent("heartbeat", { data }));
}"""
GO_AND_COME_BACK = """async (odds) => {
    const { version, fixtures } = await (await fetch("/api/v2/fixtures")).json();
    const send = (change) => {
        const data = JSON.stringify({ version, since: version, fixtures: [], removed: [], ...change });
        source.dispatchEvent(new MessageEvent("changes", { data }));
    };
    send({ removed: fixtures.map(({ id }) => ({ id, reason: "ended", version })) });
    fixtures[0].entries.forEach((entry) => Object.assign(entry, { odds }));
    send({ fixtures });
}"""


@pytest.fixture
def forgetful(tmp_path: Path) -> Iterator[Offered]:
    """Return a site whose prices count for 1.5 s at most."""
    with offered(tmp_path) as site:
        site.stale_after_s = 1.5
        yield site


@pytest.fixture
def page(context: OpenContext) -> Page:
    """Open a page whose stream and clock a test can reach."""
    page = context().new_page()
    page.add_init_script(OWN_STREAM)
    return page


def _comparing(route: Route) -> None:
    route.fulfill(status=503, json={"code": "linking"})


def test_no_price_is_shown_before_the_first_links(
    page: Page, site: Offered, complaints: Complaints
) -> None:
    """The page says that prices are being compared, also if it showed prices before a restart."""
    complaints.expected = (UNAVAILABLE,)
    site.offer(DERBY)
    page.add_init_script(CATCH_THE_SOURCE)
    page.goto(site.start().base)
    expect(page.locator(".number")).to_have_text(SHOWN)
    page.route(LIST, _comparing)
    page.route("**/api/v2/changes*", _comparing)
    page.evaluate(HEAR_OF_ANOTHER_BOARD)
    expect(page.locator("#connection")).to_have_text("Comparing")
    expect(page.locator(".number")).to_have_count(0)

    page.unroute(LIST)
    page.unroute("**/api/v2/changes*")
    page.evaluate(HEAR_OF_ANOTHER_BOARD)
    expect(page.locator(".number")).to_have_text(SHOWN)


def _opened(page: Page, base: str) -> None:
    page.clock.install()
    page.goto(base)
    expect(page.locator(".number")).to_have_text(SHOWN)
    expect(page.locator("#connection")).to_have_text(re.compile("^Live"))


def _restart(site: Offered, page: Page) -> None:
    """Start the service again, while the page's time stands still; then the page tries immediately."""
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 1)
    site.start()
    page.clock.fast_forward(20_000)
    page.clock.resume()


def test_a_bookmaker_that_goes_stale_leaves_and_comes_back(
    forgetful: Offered, page: Page, complaints: Complaints
) -> None:
    """The bookmaker's prices go, the page shows since when it is down, and later all come back."""
    complaints.expected = (UNAVAILABLE,)  # the status of /health while no bookmaker is serving
    forgetful.offer(DERBY)
    over = threading.Event()
    service = forgetful.start()
    _opened(page, service.base)
    button = page.locator("#bookmakers [data-bookmaker=bwin]")
    expect(button.locator(".state")).to_have_text("collected")

    forgetful.peer.answers[PATH] = hang(over)
    expect(page.locator("#empty")).to_contain_text("No bookmaker is live")
    expect(page.locator(".number:visible")).to_have_count(0)
    expect(button.locator(".state")).to_have_text(re.compile("^(down|stale) since [0-9]{2}:[0-9]{2}$"))
    expect(page.locator("#faults .name")).to_have_text(["Bet365", "bwin"])
    expect(page.locator("#overall")).to_contain_text("No bookmaker has been up since")
    expect(page.locator("#connection")).to_have_text(re.compile("^Connected"))
    expect(page.locator("#collected")).to_be_hidden()
    over.set()
    forgetful.offer(LATER)

    expect(page.locator(".number")).to_have_text(["2.20", "3.40", "3.50", "2.30", "3.30", "3.50"])
    page.clock.fast_forward(5000)
    expect(button.locator(".state")).to_have_text("collected")
    expect(page.locator("#overall")).to_have_text("All is well: all 2 bookmakers are up.")
    expect(page.locator("#faults")).to_be_hidden()


def _checked(page: Page, **check: object) -> None:
    """Alter the report of `/health` on bwin."""

    def answer(route: Route) -> None:
        response = route.fetch()
        body = response.json()
        body["checks"]["bwin"] |= check
        route.fulfill(response=response, json=body)

    page.route("**/health", answer)


EXCHANGE = {"offered_by": "exchange", "fees": "not included", "terms": "For you alone."}
FEES = "Exchange. Fees are not included in its prices. For you alone."


@pytest.mark.parametrize(
    ("check", "said", "attribute"),
    [
        (EXCHANGE, "exchange, collected", ("title", FEES)),
        (
            {"status": "fail", "state": "starting", "last_error": None},
            "starting",
            ("data-status", "starting"),
        ),
        ({"prices": "live", "delayed_s": 3.0}, "live, up to 3 s late", ("title", "Bookmaker.")),
    ],
    ids=["no bookmaker", "no failed attempt yet", "late prices"],
)
def test_the_state_of_a_bookmaker_is_in_words(
    site: Offered, page: Page, check: dict[str, object], said: str, attribute: tuple[str, str]
) -> None:
    """The words name an exchange, its fees and a delay; without a failed attempt no bookmaker is down."""
    site.offer(DERBY)
    _checked(page, **check)
    page.goto(site.start().base)
    bwin = page.locator("#bookmakers [data-bookmaker=bwin]")

    expect(bwin.locator(".state")).to_have_text(said)
    expect(bwin).to_have_attribute(*attribute)
    expect(page.locator("#bookmakers [data-bookmaker=bet365]")).to_have_attribute("title", "Bookmaker.")


def test_prices_before_fees_say_so(site: Offered, page: Page) -> None:
    """The note is above the prices, with the best prices, with the margin, and in each card on a phone."""
    site.offer(DERBY)
    _checked(page, **EXCHANGE)
    _opened(page, site.start().base)

    expect(page.locator(".top-title")).to_have_text("Best, before fees")
    expect(page.locator(".offer-title")).to_have_text(["Bet365", "bwin, before fees"])
    at_both = "Bet365 (collected), bwin (before fees) (collected)"
    for cell, names in enumerate(["bwin (before fees) (collected)", "Bet365 (collected)", at_both]):
        expect(page.locator(".top-price").nth(cell)).to_have_attribute("title", names)
    page.locator(".match").click()
    expect(page.locator("#details-margin")).to_contain_text("Margin of the best prices before fees: ")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".more")).to_have_text("2 bookmakers, before fees")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.locator("#which").click()
    page.get_by_role("button", name="Bet365").click()
    expect(page.locator(".offer-title")).to_have_text(["Bet365"])
    expect(page.locator(".top-title")).to_have_text("Best")


def test_no_notice_is_of_a_bookmaker_without_prices(site: Offered, page: Page) -> None:
    """A bookmaker that is down has no prices on the board, so the notice does not name it."""
    site.offer(DERBY)
    _checked(page, status="fail", state="stale", last_error="no answer")
    page.goto(site.start().base)

    notice = "The prices of Bet365 were collected earlier. They may have changed since."
    expect(page.locator("#collected")).to_have_text(notice)


def test_one_of_two_bookmakers_goes_stale(site: Offered, page: Page) -> None:
    """Half of each row is then empty, and the single offer is not marked as best."""
    site.offer(DERBY)
    service = site.start()
    _opened(page, service.base)
    expect(page.locator(".best")).not_to_have_count(0)

    site.offer(Fixture("Home Town", "Away United", bet365=(2.0, 3.4, 3.9)))

    expect(page.locator(".number")).to_have_text(["2.00", "3.40", "3.90", "", "", ""])
    expect(page.locator(".best")).to_have_count(0)


def test_a_restart_shows_no_price_as_live_and_recovers(
    site: Offered, page: Page, complaints: Complaints
) -> None:
    """Prices are marked immediately, removed after half a minute, and replaced by new prices."""
    complaints.expected = ("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", UNAVAILABLE)
    site.offer(DERBY)
    service = site.start()
    _opened(page, service.base)
    service.stop()

    expect(page.locator("odds-board")).to_have_attribute("data-trust", "doubtful")
    expect(page.locator("#warning")).to_have_text("The connection is lost. These prices are not live.")
    expect(page.locator("#connection")).to_have_text(re.compile("^Not live"))
    expect(page.locator(".number").first).to_have_css("text-decoration-line", "line-through")
    expect(page.get_by_role("gridcell", name="not live")).to_have_count(9)
    expect(page.locator(".best")).to_have_count(0)

    page.clock.fast_forward(31_000)
    expect(page.locator(".number")).to_have_text([NONE] * 6)
    expect(page.locator(".top-price")).to_have_text([re.compile(f"^Best of [a-z ]+: {NONE}$")] * 3)
    expect(page.locator("#warning")).to_contain_text("Prices are hidden")

    site.offer(LATER)
    _restart(site, page)
    expect(page.locator("#connection")).to_have_text(re.compile("^Live"))
    expect(page.locator(".number")).to_have_text(["2.20", "3.40", "3.50", "2.30", "3.30", "3.50"])
    expect(page.locator("#warning")).to_be_hidden()
    expect(page.locator("#announcement")).to_have_text("Live again.")


def test_the_same_version_of_another_epoch_reloads_the_list(
    page: Page, complaints: Complaints, tmp_path: Path
) -> None:
    """With the clock set back, versions repeat, so the page sends its epoch and gets a new list."""
    complaints.expected = ("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", UNAVAILABLE)
    clocks, asked = MovedClocks(tmp_path / "clocks"), list[str]()
    clocks.hold_wall(1.8e9)
    page.on("request", lambda request: asked.append(request.url) if "/stream" in request.url else None)
    with offered(tmp_path, clocks.environment) as site:
        site.offer(DERBY)
        service = site.start()
        _opened(page, service.base)
        service.stop()
        expect(page.locator("odds-board")).to_have_attribute("data-trust", "doubtful")

        site.offer(LATER)
        _restart(site, page)

        expect(page.locator("#connection")).to_have_text(re.compile("^Live"))
        expect(page.locator(".number")).to_have_text(["2.20", "3.40", "3.50", "2.30", "3.30", "3.50"])
        page.close()
    assert re.search(r"/api/v2/stream\?view=fixtures&since=1800000000[0-9]{3}-[0-9a-f]{8}$", asked[-1])


def test_a_silent_connection_is_not_live(site: Offered, page: Page, complaints: Complaints) -> None:
    """After 15 s without a heartbeat an open connection counts as lost."""
    complaints.expected = (UNAVAILABLE,)  # after a long standstill the prices of the service are too old
    site.offer(DERBY)
    service = site.start()
    _opened(page, service.base)
    service.process.send_signal(signal.SIGSTOP)
    page.clock.fast_forward(14_000)
    expect(page.locator("odds-board")).to_have_attribute("data-trust", "live")

    page.clock.fast_forward(2_000)

    expect(page.locator("odds-board")).to_have_attribute("data-trust", "doubtful")
    service.process.send_signal(signal.SIGCONT)
    page.clock.fast_forward(20_000)
    expect(page.locator("odds-board")).to_have_attribute("data-trust", "live")
    expect(page.locator(".number")).to_have_text(SHOWN)


def test_events_buffered_during_sleep_are_not_live(site: Offered, page: Page) -> None:
    """After a pause longer than the heartbeat's, the first event received may be old."""
    site.offer(DERBY)
    service = site.start()
    page.add_init_script(CATCH_THE_SOURCE)
    page.goto(service.base)
    expect(page.locator("#connection")).to_have_text(re.compile("^Live"))

    assert "No connection for 61 s" == page.evaluate(HEAR_AFTER_A_MINUTE)


def test_a_match_that_comes_back_at_once_has_its_new_prices(site: Offered, page: Page) -> None:
    """If the match goes and comes back between two frames, its row never keeps the old prices as live."""
    site.offer(DERBY)
    service = site.start()
    page.add_init_script(CATCH_THE_SOURCE)
    page.goto(service.base)
    expect(page.locator(".number")).to_have_text(SHOWN)

    page.evaluate(GO_AND_COME_BACK, {"1": 1.5, "X": 4.4, "2": 6.6})

    expect(page.locator(".number")).to_have_text(["1.50", "4.40", "6.60"] * 2)


@pytest.mark.parametrize(
    ("lost", "title"),
    [
        ("**/api/v2/stream*", "The stream cannot be read"),
        (re.compile("/api/v2/stream|/health$"), "The service cannot be reached"),
    ],
)
def test_a_page_without_a_stream_shows_that(
    site: Offered, page: Page, complaints: Complaints, lost: str | re.Pattern[str], title: str
) -> None:
    """The page does not call the board empty, and goes on trying."""
    complaints.expected = ("net::ERR",)
    site.offer(DERBY)
    service = site.start()
    page.route(LIST, lambda route: route.abort())
    page.route(lost, lambda route: route.abort())
    page.goto(service.base)

    expect(page.locator("#empty")).to_contain_text(title)
    expect(page.locator("#connection")).to_have_text("No connection")
    page.unroute(lost)
    expect(page.locator(".number")).to_have_text(SHOWN)


def test_a_first_failed_poll_is_not_final(forgetful: Offered, page: Page, complaints: Complaints) -> None:
    """A service without prices lists its bookmakers, and the page fills when prices arrive."""
    complaints.expected = (UNAVAILABLE,)
    forgetful.offer(DERBY)
    service = forgetful.start()
    forgetful.peer.answers[PATH] = respond(b"<html>", 500)
    page.goto(service.base)
    expect(page.locator("#empty")).to_contain_text("No bookmaker is live")
    expect(page.locator("#bookmakers .name")).to_have_text(["Bet365", "bwin"])
    expect(page.locator("#league option")).to_have_text(["All leagues"])
    expect(page.locator("#collected")).to_be_hidden()
    expect(page.locator("#overall")).to_contain_text("No bookmaker has been up since")

    forgetful.offer(DERBY)

    expect(page.locator(".number")).to_have_text(SHOWN)


@pytest.mark.parametrize(
    ("frames", "said"),
    [*((frames, "The stream cannot be read") for frames in UNREADABLE), (GAP, "Not connected")],
)
def test_invalid_events_are_not_shown(
    site: Offered, page: Page, complaints: Complaints, frames: str, said: str
) -> None:
    """After cut, foreign or unordered events, or a gap, the page has no prices and asks for the list."""
    complaints.expected = ("cannot be used", "net::ERR")
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(body=frames, content_type="text/event-stream")

    site.offer(DERBY)
    service = site.start()
    page.route(LIST, lambda route: route.abort())
    page.route("**/api/v2/stream*", answer)
    page.goto(service.base)

    expect(page.locator("#empty")).to_contain_text(said)
    expect(page.locator(".number")).to_have_count(0)
    page.unroute("**/api/v2/stream*")
    expect(page.locator(".number")).to_have_text(SHOWN)
    assert {f"{service.base}/api/v2/stream?view=fixtures"} == set(asked)
