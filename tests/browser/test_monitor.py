"""/monitor in Chromium: states, rates, latencies and errors, refreshed by itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.browsing import DERBY, Complaints, OpenContext
from tests.support.peers.http import respond
from tests.support.systems.feed import PATH, Offered

pytestmark = pytest.mark.browser

NONE = "\N{EN DASH}"


def _row(page: Page, table: str, name: str) -> Locator:
    header = page.get_by_role("rowheader", name=name, exact=True)
    return page.locator(f"#{table} tbody tr").filter(has=header)


def _altered(page: Page, alter: Callable[[Any], None]) -> None:
    """Alter what the page gets of `/monitor`."""

    def answer(route: Route) -> None:
        response = route.fetch()
        if "json" not in response.headers["content-type"]:
            route.fulfill(response=response)
            return
        monitor = response.json()
        alter(monitor)
        route.fulfill(response=response, json=monitor)

    page.route("**/monitor", answer)


LONG_ERROR = "its list cannot be read: " + ", ".join(f"row {row} has no price" for row in range(40))


def _down(monitor: Any) -> None:
    """Make every bookmaker stale, with a long error, as /health/ready and /health say it too."""
    monitor["ready"] = {"status": "fail", "reason": "no bookmaker is serving"}
    monitor["health"]["status"] = "fail"
    for record in (*monitor["bookmakers"], *monitor["health"]["checks"].values()):
        record |= {"state": "stale", "last_error": LONG_ERROR}
    for check in monitor["health"]["checks"].values():
        check["status"] = "fail"


def _without_latency(monitor: Any) -> None:
    for bookmaker in monitor["bookmakers"]:
        bookmaker["latency_ms"] = {"count": 0, "p50": None, "p95": None, "p99": None}


def _busy(monitor: Any) -> None:
    monitor["http"]["answers"] = {"/api/odds": {"200": 7, "304": 5, "400": 2, "404": 1, "500": 1, "503": 2}}
    monitor["http"]["client_errors"] = {"timed_out": 3}


def _rejecting(monitor: Any) -> None:
    match = {"scope": "E0", "match_id": "m7", "home": "Home <i>", "away": "Away", "reason": "book_sum"}
    for at, prices in enumerate(([9.0, 9.0, 10.0], [None, 3.0, 4.0])):
        found = {**match, "at": monitor["now"] + at, "prices": prices, "match_id": f"m{at}"}
        monitor["bookmakers"][at]["rejected_newest"] = [found]
    now = {"price": {"count": 3, "match_ids": ["m1", "torn"]}}
    monitor["bookmakers"][1]["rejected_now"] = now


def _surveyed(monitor: Any) -> None:
    found = {"links": {"same": 3, "one_alike": 1}, "abstentions": {"two candidates": 2}}
    counts = {"fixtures": 9, "linked": 4, "surebets": 1, "surveyed_version": 77, "absent": ["Nowhere FC"]}
    monitor["fixtures"] |= found | counts


def _clustered(monitor: Any) -> None:
    monitor["health"]["cluster"] = {
        "status": "pass",
        "roles": ["collector", "replica"],
        "collector": "a1",
        "leases": {"@links": "a1", "file": "a1", "other": "b2"},
        "lag_versions": 3,
        "lag_s": 0.25,
        "resets": 1,
        "silent": [],
        "last_error": None,
    }


def _unsurveyed(monitor: Any) -> None:
    monitor["fixtures"] |= {"abstentions": None, "surveyed_version": None, "absent": None}


def test_the_monitor_shows_the_tree_the_sources_and_the_bookmakers(site: Offered, page: Page) -> None:
    """Each actor has its state, each bookmaker its rates and the quantiles of its latency."""
    site.offer(DERBY)
    page.goto(f"{site.start().base}/monitor")

    expect(page.locator("#actors tbody th")).to_have_text(
        ["aggregator", "linker", "bookmaker:bet365", "bookmaker:bwin", "source:file"]
    )
    expect(_row(page, "actors", "aggregator").locator(".state")).to_have_text("running")
    expect(_row(page, "sources", "file").locator(".state")).to_have_text("up")
    bet365 = _row(page, "bookmakers", "Bet365")
    expect(bet365.locator(".state")).to_have_text("live")
    expect(bet365.locator(".trend .value").first).to_have_text(re.compile(r"^[0-9.]+ /s$"))
    expect(bet365.locator(".quantiles .label")).to_have_text(["p50", "p95", "p99"])
    expect(bet365.locator(".quantiles .value").first).to_have_text(re.compile(r"^[0-9.]+ ms$"))
    expect(page.locator("#connection")).to_have_text(re.compile("^[0-9] s old$"))


def test_the_monitor_refreshes_itself(site: Offered, page: Page) -> None:
    """A source that fails turns red with its reason, and the rows stay the same elements."""
    site.offer(DERBY)
    page.goto(f"{site.start().base}/monitor")
    source = _row(page, "sources", "file")
    expect(source.locator(".state")).to_have_text("up")
    source.evaluate("(row) => row.dataset.seen = 'before'")

    site.peer.answers[PATH] = respond(b"<html>", 500)

    expect(source.locator(".state")).to_have_text("down")
    expect(page.locator("#sources .note")).to_contain_text("500")
    expect(source).to_have_attribute("data-seen", "before")


def test_the_monitor_shows_when_the_service_does_not_answer(
    site: Offered, page: Page, complaints: Complaints
) -> None:
    """Old values look old until the service answers again."""
    complaints.expected = ("ERR_CONNECTION_REFUSED", "no answer")
    site.offer(DERBY)
    service = site.start()
    page.clock.install()
    page.goto(f"{service.base}/monitor")
    expect(_row(page, "sources", "file")).to_be_visible()

    service.stop()
    page.clock.fast_forward(12_000)
    expect(page.locator("#condition")).to_have_text("The service does not answer.")
    expect(page.locator("#reason")).to_have_text("The values below are old.")
    expect(page.locator("main")).to_have_class("late")
    site.start()
    page.clock.fast_forward(2000)

    expect(page.locator("#condition")).to_have_text("All is well: all 2 bookmakers are up.")
    expect(page.locator("#reason")).to_be_hidden()
    expect(page.locator("main")).not_to_have_class("late")


@pytest.mark.parametrize("width", [390, 820, 1280, 1440, 2560])
def test_when_all_is_down_the_first_line_says_so(site: Offered, context: OpenContext, width: int) -> None:
    """Nothing says that all is well, and each error is to be read without scrolling, in low rows."""
    site.offer(DERBY)
    service = site.start()
    page = context(viewport={"width": width, "height": 900}).new_page()
    _altered(page, _down)
    page.goto(f"{service.base}/monitor")

    expect(page.locator("#condition")).to_contain_text("No bookmaker has been up since")
    expect(page.locator("#condition")).to_have_attribute("data-level", "fail")
    expect(page.locator("#service")).to_contain_text("no: no bookmaker is serving")
    expect(page.locator("#connection")).to_have_attribute("data-trust", "none")
    row, error = _row(page, "bookmakers", "bwin"), page.locator("#bookmakers .note p").last
    expect(error).to_have_text(LONG_ERROR)
    box, of_row = error.bounding_box(), row.bounding_box()
    assert box is not None
    assert of_row is not None
    assert (True, True) == (0 <= box["x"], box["x"] + box["width"] <= width)
    assert of_row["height"] <= 70


def test_a_bookmaker_that_fails_from_the_start_is_marked_as_down(site: Offered, page: Page) -> None:
    """The first line says so as well; a bookmaker without an error only has not answered yet."""

    def starting(monitor: Any) -> None:
        for record, error in zip(monitor["bookmakers"], ("refused", None), strict=True):
            record |= {"state": "starting", "last_error": error}

    site.offer(DERBY)
    service = site.start()
    _altered(page, starting)
    page.goto(f"{service.base}/monitor")

    states = page.locator("#bookmakers .state")
    expect(states).to_have_text(["starting, failing", "starting"])
    expect(states.first).to_have_attribute("data-state", "down")
    expect(states.last).to_have_attribute("data-state", "starting")


TOLD: dict[str, tuple[Callable[[Any], None], dict[str, str | re.Pattern[str] | list[str]]]] = {
    "nothing was measured": (
        _without_latency,
        {"#bookmakers tbody tr:first-child .quantiles .value": ["not measured"] * 3},
    ),
    "clients": (
        _busy,
        {"#paths tbody td": ["18", "5", "3", "3"], "#clients": re.compile("timed_out 3")},
    ),
    "fixtures, links by rule, and what is not linked by reason": (
        _surveyed,
        {
            "#fixtures dd": ["9", "4", "1"],
            "#links div": ["same3", "one_alike1"],
            "#abstentions div": ["two candidates2"],
            "#surveyed": "As of version 77.",
            "#absent": re.compile("not on the board: Nowhere FC"),
        },
    ),
    "no survey yet, which is not the same as nothing": (
        _unsurveyed,
        {
            "#surveyed": re.compile("Not counted yet"),
            "#fixtures dd": ["1", "0", "0"],
            "#links div": ["All rules0"],
            "#abstentions div": [],
            "#absent:visible": [],
        },
    ),
    "a cluster": (
        _clustered,
        {
            "#cluster dd": [
                *("collector, replica", "a1", "@links, file", "other: b2"),
                *("3 versions, 0.25 s", "1 time"),
            ]
        },
    ),
}


@pytest.mark.parametrize("case", TOLD)
def test_the_monitor_shows_what_it_is_told(site: Offered, page: Page, case: str) -> None:
    """Values are shown in words: null is not zero, and without a cluster nothing about one is shown."""
    site.offer(DERBY)
    base = site.start().base
    alter, shown = TOLD[case]
    page.goto(f"{base}/monitor")
    expect(page.locator("#connection")).to_have_text(re.compile("^[0-9] s old$"))
    expect(page.locator("#in-cluster")).to_be_hidden()
    _altered(page, alter)
    page.reload()

    for place, text in shown.items():
        expect(page.locator(place)).to_have_text(text)


def _journal(route: Route) -> None:
    """Answer with at most the newest 500 of a journal's 600 events, one event for each second."""
    asked = parse_qs(urlsplit(route.request.url).query)
    subject = asked.get("subject", ["file"])[0]
    fields = {"source": subject, "error": "<b>refused</b>"}
    event = {
        "level": "warning",
        "event": "source.down",
        "subject": subject,
        "bookmakers": [],
        "fields": fields,
    }
    until = min(int(asked.get("to", ["1600"])[0]), 1600)
    events = [{**event, "at": at} for at in range(until - 1, 999, -1)][:500]
    route.fulfill(json={"kept": "archive", "since": 1000, "subjects": ["file", "linker"], "events": events})


def test_the_monitor_shows_events(site: Offered, page: Page) -> None:
    """The newest event is first, and fields are text; older events, or one subject's, come on request."""
    site.offer(DERBY)
    page.route("**/monitor/events*", _journal)
    page.goto(f"{site.start().base}/monitor")

    expect(page.locator("#events tbody tr")).to_have_count(500)
    expect(page.locator("#events .details").nth(1)).to_have_text("error: <b>refused</b>")
    expect(page.locator("#kept")).to_contain_text("Kept for two weeks")
    page.get_by_role("button", name="Older events").click()
    expect(page.locator("#events tbody tr")).to_have_count(600)
    expect(page.locator("#older")).to_be_hidden()
    page.get_by_label("About").select_option("linker")
    expect(page.locator("#events tbody tr")).to_have_count(500)
    expect(page.locator("#events tbody tr").first).to_contain_text("linker")


def test_the_monitor_says_where_events_are_kept(site: Offered, page: Page, complaints: Complaints) -> None:
    """Without an archive they are only in memory; a journal that cannot be read is not shown as empty."""
    complaints.expected = ("503", "no events")
    site.offer(DERBY)
    service = site.start()
    page.goto(f"{service.base}/monitor")
    expect(page.locator("#kept")).to_contain_text("There is no archive")
    expect(page.locator("#events tbody tr").last).to_contain_text("service.configured")

    page.route("**/monitor/events*", lambda route: route.fulfill(status=503))
    page.reload()

    expect(page.locator("#kept")).to_have_text("The events cannot be read now. This is tried again.")
    expect(page.locator("#no-events")).to_be_hidden()


def test_the_monitor_shows_rejected_matches_with_their_prices(site: Offered, page: Page) -> None:
    """Matches of all bookmakers are shown, the newest first, with the book sum where there is one."""
    site.offer(DERBY)
    service = site.start()
    page.goto(f"{service.base}/monitor")
    expect(page.locator("#no-rejected")).to_be_visible()
    expect(page.locator("#rejected")).to_be_hidden()

    _altered(page, _rejecting)
    first, second = page.locator("#rejected tbody tr").first, page.locator("#rejected tbody tr").nth(1)
    cells = ["bwin", "book_sum", NONE, "3", "4", NONE]
    expect(first.locator("td")).to_have_text([*cells, re.compile(":"), "m1", "E0"])
    expect(second.locator("td").nth(5)).to_have_text("0.322")
    expect(second.locator("th")).to_have_text(f"Home <i> {NONE} Away")
    expect(page.locator("#no-rejected")).to_be_hidden()
    expect(page.locator("#rejected td:nth-child(9)")).to_have_text(["m1", "m0", "torn"])
    expect(_row(page, "bookmakers", "bwin")).to_contain_text("price 3")


def test_board_and_monitor_link_to_each_other(site: Offered, page: Page) -> None:
    """The board has a link to the monitor, and the monitor has a link back."""
    site.offer(DERBY)
    page.goto(site.start().base)

    page.get_by_role("link", name="Monitor").click()
    expect(page.locator("#actors")).to_contain_text("aggregator")
    page.get_by_role("link", name="Board").click()
    expect(page.locator(".number").first).to_have_text("2.00")


def test_a_long_name_leaves_room_for_what_is_said_of_it(site: Offered, context: OpenContext) -> None:
    """On a phone the state of the bookmaker is in view beside the name."""
    site.offer(DERBY)
    page = context(viewport={"width": 390, "height": 844}).new_page()

    def name(monitor: Any) -> None:
        monitor["bookmakers"][0]["name"] = "The Very Long Name of a Bookmaker That Has Been Merged Twice"

    _altered(page, name)
    page.goto(f"{site.start().base}/monitor")

    expect(page.locator("#bookmakers tbody .state").first).to_be_in_viewport(ratio=1)
