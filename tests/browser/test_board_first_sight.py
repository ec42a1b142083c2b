"""What a reader meets first: what is being played, failed files, no scripts, Back, copied links."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.browsing import NO_STREAM, OWN_STREAM, Complaints, OpenContext
from tests.support.systems.feed import Fixture, Offered

pytestmark = pytest.mark.browser

ROME = Fixture("Roma", "Bologna", bet365=(2.0, 3.4, 3.9), bwin=(2.1, 3.3, 3.8), league="I1")
DERBY = Fixture("Arsenal", "Chelsea", bet365=(1.9, 3.6, 4.2), bwin=(1.95, 3.5, 4.0), time="17:30")
PLAYED = """async (given) => {
    const { isPlayed, isOn, daysOf } = await import("/static/days.js");
    const { clockIn } = await import("/static/format.js");
    const [now, clock] = [Date.UTC(2099, 4, 3, 0, 10) / 1000, clockIn("UTC")];
    const matches = given.map(([minutes, inPlay]) => ({ start: now + minutes * 60, inPlay }));
    const numbers = (isMeant) => matches.flatMap((match, at) => (isMeant(match) ? [at] : []));
    return {
        played: numbers((match) => isPlayed(match, now)),
        now: numbers(isOn("now", clock, now)),
        today: numbers(isOn("today", clock, now)),
        tabs: daysOf(matches, clock, now).slice(0, 4).map(({ title }) => title),
    };
}"""
LEAGUES = """async (ids) => {
    const { byLeague, leaguesOf } = await import("/static/leagues.js");
    const matches = ids.map((id, at) => ({ leagueId: id, league: id, country: null, start: 4e9 + at }));
    const leagues = [...leaguesOf(matches, 0).values()].sort(byLeague(["tha.1"]));
    return leagues.map(({ id }) => id);
}"""
AT_ONCE = """() => {
    window.seen = [];
    const label = document.getElementById("connection");
    new MutationObserver(() => {
        const prices = [...document.querySelectorAll(".match .number, .match .top-figure")];
        seen.push([label.textContent, [...new Set(prices.map((price) => price.textContent))]]);
    }).observe(label, { characterData: true, childList: true, subtree: true });
}"""
SIDES = """(title) => [...title.children].map((part) => part.getBoundingClientRect().left)"""


def _homes(page: Page) -> Locator:
    return page.locator(".match .team:first-child")


def _opened(site: Offered, page: Page, *fixtures: Fixture, query: str = "") -> str:
    site.offer(*fixtures)
    base = site.start().base
    page.goto(f"{base}/{query}")
    expect(_homes(page)).to_have_count(len(fixtures))
    return base


def test_what_is_being_played_is_known_by_source_or_kick_off(site: Offered, page: Page) -> None:
    """Today's matches have those that began yesterday and are being played; the tab counts them."""
    _opened(site, page, ROME)
    matches = [(-33, None), (-33, False), (30, True), (30, None), (-200, None), (24 * 60, None)]

    assert {
        "played": [0, 2],
        "now": [0, 2],
        "today": [0, 2, 3],
        "tabs": ["All", "In play 2", "Today", "Tomorrow"],
    } == page.evaluate(PLAYED, [[start, said] if said is not None else [start] for start, said in matches])


def test_what_is_being_played_comes_first(site: Offered, page: Page) -> None:
    """Whatever its league; a tab shows it alone, and is in the address."""
    page.add_init_script(OWN_STREAM)  # a worker would keep the real time
    page.clock.install(time="2099-05-02T14:30:00Z")
    base = _opened(site, page, ROME, DERBY)
    expect(page.locator(".body .league-title")).to_have_text(
        ["In play (1)", "England \N{MIDDLE DOT} Premier League (1)"]
    )
    expect(page.locator(".match .day").first).to_have_text("Serie A")

    page.get_by_role("button", name="In play 1").click()

    expect(_homes(page)).to_have_text(["Roma"])
    assert f"{base}/?day=now" == page.url


def test_large_leagues_come_before_those_that_begin_earlier(site: Offered, page: Page) -> None:
    """After those of the reader."""
    _opened(site, page, ROME)

    ordered = page.evaluate(LEAGUES, ["usa.2", "tha.1", "ger.1", "any", "eng.1"])
    assert ["tha.1", "eng.1", "ger.1", "usa.2", "any"] == ordered


@pytest.mark.parametrize("file", ["main.js", "first.js", "board-page.css"])
def test_a_file_that_cannot_be_loaded_is_said_and_tried_again(
    site: Offered, page: Page, complaints: Complaints, file: str
) -> None:
    """The page is loaded again when the file is there, not before."""
    complaints.expected = ("503", "Failed to load", "dynamically imported", "MIME")
    failing = [True]

    def answer(route: Route) -> None:
        if failing:
            route.fulfill(status=503, json={"code": "overloaded"})
        else:
            route.continue_()

    site.offer(ROME)
    page.route(f"**/static/{file}", answer)
    page.goto(site.start().base)
    said = page.get_by_role("alert")
    expect(said).to_contain_text("could not be loaded")
    with page.expect_response(f"**/static/{file}"):
        page.get_by_role("button", name="Try again").click()
    expect(said).to_be_visible()

    failing.clear()
    page.get_by_role("button", name="Try again").click()

    expect(_homes(page)).to_have_text(["Roma"])
    expect(said).to_have_count(0)


def test_without_scripts_the_page_says_what_there_is(site: Offered, context: OpenContext) -> None:
    """Nothing is there that would not work."""
    site.offer(ROME)
    page = context(java_script_enabled=False).new_page()
    page.goto(site.start().base)

    expect(page.locator("noscript h2")).to_be_visible()
    expect(page.locator("noscript a").first).to_have_attribute("href", "api/v2/fixtures")
    for name in ("#connection", "#text", "#tools", "odds-board"):
        expect(page.locator(name)).to_be_hidden()


def test_a_filter_is_undone_by_back(site: Offered, page: Page) -> None:
    """Each is a step; what is typed in one go is one."""
    base = _opened(site, page, ROME, DERBY)
    page.get_by_role("button", name="Surebets").click()
    expect(page.locator("#empty")).to_contain_text("No surebet")
    page.go_back()
    expect(_homes(page)).to_have_count(2)
    page.get_by_label("Search").press_sequentially("roma", delay=200)
    expect(_homes(page)).to_have_text(["Roma"])

    page.go_back()

    expect(_homes(page)).to_have_count(2)
    expect(page.get_by_label("Search")).to_have_value("")
    assert f"{base}/" == page.url


def test_a_copied_link_shows_the_same_order_and_odds(site: Offered, context: OpenContext) -> None:
    """To a reader whose own settings are others, and stay."""
    page = context().new_page()
    _opened(site, page, ROME, DERBY)
    page.get_by_role("combobox", name="Sort").select_option("By time")
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("combobox", name="Odds", exact=True).select_option("Fractional")
    assert {"by": ["time"], "odds": ["fractional"]} == parse_qs(urlsplit(page.url).query)

    other = context().new_page()
    other.goto(page.url)

    expect(other.locator(".body .league-title")).to_have_text(["2 May 2099 (2)"])
    expect(other.locator(".top-figure").first).to_have_text("11/10")
    other.get_by_role("button", name="Pin Roma").click()
    other.goto(site.start().base)
    expect(other.locator(".top-figure").first).to_have_text("2.10")
    expect(other.get_by_role("combobox", name="Sort")).to_have_value("league")


def test_the_count_stands_behind_the_name_of_a_league(site: Offered, page: Page) -> None:
    """Also behind a name that is written from right to left."""
    _opened(site, page, ROME)

    def answer(route: Route) -> None:
        body = route.fetch().json()
        body["fixtures"][0].update(league="ליגת העל", league_id="isr.1", country=None)
        route.fulfill(json=body)

    page.add_init_script(NO_STREAM)
    page.route("**/api/v2/fixtures", answer)
    page.reload()

    title = page.locator(".body .league-title")
    expect(title).to_have_text("ליגת העל (1)")
    expect(title.locator("bdi")).to_have_text("ליגת העל")
    name, number = title.evaluate(SIDES)
    assert name < number


def test_old_prices_go_in_the_same_frame_in_which_they_are_called_old(
    site: Offered, context: OpenContext
) -> None:
    """As after a sleep: no frame says that there is no connection and shows a price."""
    page = context().new_page()
    page.add_init_script(OWN_STREAM)
    page.clock.install(time="2099-05-02T10:00:00Z")
    _opened(site, page, ROME)
    expect(page.locator("#connection")).to_contain_text("Live")
    page.route("**/*", lambda _: None)  # nothing comes any more
    page.evaluate(AT_ONCE)

    page.clock.fast_forward(40_000)

    expect(page.locator("#connection")).to_contain_text("No connection")
    seen = page.evaluate("seen")
    gone = [prices for label, prices in seen if label.startswith("No connection")]
    assert gone
    assert all(prices == ["\N{EN DASH}"] for prices in gone)
