"""What of the board is shown, in which order and how it is written: days, leagues, search, settings."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browsing import OWN_STREAM, OpenContext
from tests.support.systems.feed import Fixture, Offered

pytestmark = pytest.mark.browser

ROME = Fixture("Roma", "Bologna", bet365=(2.0, 3.4, 3.9), bwin=(2.1, 3.3, 3.8), league="I1")
SECOND = Fixture("Bari", "Pisa", bet365=(2.4, 3.1, 3.2), league="I2", time="12:30")
DERBY = Fixture("Arsenal", "Chelsea", bet365=(1.9, 3.6, 4.2), bwin=(1.95, 3.5, 4.0), time="17:30")
FOUND = """async ([teams, leagues, texts]) => {
    const { finder, sought } = await import("/static/search.js");
    return texts.filter((text) => finder(text)(sought(teams, leagues)));
}"""
TITLES = """async (matches) => {
    const { leaguesOf } = await import("/static/leagues.js");
    const of = (league, country) => leaguesOf([{ leagueId: "any", league, country, start: null }], 0);
    return matches.map(([label, country]) => of(label, country).get("any").title);
}"""
LAYER = """(element, part) => {
    const { zIndex, borderTopWidth } = getComputedStyle(element, part);
    return { layer: zIndex, border: borderTopWidth };
}"""
FRAME_AND_CELL = ((".active", "::after"), (".active .who", None))
OVERFLOWING = """() => [...document.querySelectorAll(".price, .top-figure")]
    .filter((cell) => cell.scrollWidth > cell.clientWidth)
    .map((cell) => cell.textContent)"""
JOINED = """async ([bookmakers, superseded]) => {
    const { columnsOf } = await import("/static/columns.js");
    const { offerOf } = await import("/static/best.js");
    const listed = bookmakers.map(({ id }) => [id, { id, isSuperseded: superseded.includes(id) }]);
    const match = { offers: new Map(listed) };
    return columnsOf(bookmakers).map((column) => [column.name, offerOf(match, column).id]);
}"""
WRITTEN = """async ([odds, prices]) => {
    const { priceIn } = await import("/static/odds.js");
    return prices.map(priceIn(odds));
}"""


def _homes(page: Page) -> Locator:
    return page.locator(".match .team:first-child")


def _opened(site: Offered, page: Page, *fixtures: Fixture, query: str = "") -> None:
    site.offer(*fixtures)
    page.goto(f"{site.start().base}/{query}")
    expect(_homes(page)).not_to_have_count(0)


def test_words_of_a_search_are_found_in_one_sort_of_name(site: Offered, page: Page) -> None:
    """A single letter is a word of a league's name, and never the beginning of another team's."""
    _opened(site, page, ROME)
    finding = [
        "serie a",
        "bologna",
        "roma bologna",
        "as roma",
        "italy",
        "serie bologna",
        "bologna italy",
        "b",
    ]
    missing = ["serie b", "nottingham", "roma serie b"]

    found = page.evaluate(FOUND, [["Roma", "Bologna", "AS Roma"], ["Serie A", "italy"], finding + missing])

    assert finding == found


def test_a_league_has_its_country_and_its_id_in_the_address(site: Offered, page: Page) -> None:
    """A label that leagues of several countries have is that of the clubs' country."""
    _opened(site, page, ROME, DERBY)
    expect(page.locator(".body .league-title")).to_have_text(
        ["England · Premier League (1)", "Italy · Serie A (1)"]
    )

    page.get_by_role("combobox", name="League", exact=True).select_option("England · Premier League")

    expect(_homes(page)).to_have_text(["Arsenal"])
    assert {"league": ["eng.1"]} == parse_qs(urlsplit(page.url).query)


def test_heading_begins_with_the_country_wherever_the_label_has_it(site: Offered, page: Page) -> None:
    """Sources write it before the league, after it, as its adjective or not at all."""
    _opened(site, page, ROME)
    labels = [("La Liga", "spain"), ("La Liga - Spain", "spain"), ("England: Premier League", "england")]
    more = [("Austrian Bundesliga", "austria"), ("Bundesliga", None)]

    titles = page.evaluate(TITLES, [*labels, *more])

    assert ["Spain · La Liga"] * 2 + [
        "England · Premier League",
        "Austrian Bundesliga",
        "Bundesliga",
    ] == titles


def test_pinned_leagues_and_matches_stand_on_top(site: Offered, page: Page) -> None:
    """They are remembered, and are not in the address."""
    _opened(site, page, ROME, SECOND, DERBY)
    expect(_homes(page)).to_have_text(["Arsenal", "Roma", "Bari"])

    page.get_by_role("button", name="Pin Italy · Serie B").click()
    page.get_by_role("button", name="Pin Roma").click()
    page.reload()

    expect(page.locator(".body .league-title")).to_have_text(
        ["Pinned (1)", "Italy · Serie B (1)", "England · Premier League (1)"]
    )
    expect(_homes(page)).to_have_text(["Roma", "Bari", "Arsenal"])
    assert "" == urlsplit(page.url).query


def test_a_match_is_pinned_with_the_keyboard(site: Offered, page: Page) -> None:
    """The key P pins the row that the arrows have come to, and unpins it."""
    _opened(site, page, ROME, DERBY)
    page.get_by_role("grid").focus()
    page.keyboard.press("End")

    page.keyboard.press("p")
    expect(page.locator(".body .league-title").first).to_have_text("Pinned (1)")
    expect(_homes(page)).to_have_text(["Roma", "Arsenal"])
    page.keyboard.press("p")
    expect(_homes(page)).to_have_text(["Arsenal", "Roma"])


def test_the_row_of_the_keyboard_has_a_frame_all_around(site: Offered, page: Page) -> None:
    """Also over the cells that stay in view when the others scroll."""
    site.offer(Fixture("Home Town", "Away United", bet365=(2.0, 3.4, 3.9), bwin=(2.1, 3.3, 3.9)))
    page.goto(site.start().base)
    expect(page.locator(".match")).to_have_count(1)
    page.get_by_role("grid").focus()
    page.keyboard.press("End")

    frame, cell = (page.locator(name).evaluate(LAYER, arg=part) for name, part in FRAME_AND_CELL)
    assert frame["border"] == "2px"
    assert int(frame["layer"]) > int(cell["layer"])


def test_matches_of_a_day_are_sorted_by_time(site: Offered, page: Page) -> None:
    """The day is in the address, the order is remembered; without a match of the day the page says so."""
    _opened(site, page, ROME, SECOND, DERBY)

    page.get_by_role("combobox", name="Sort").select_option("By time")
    page.get_by_role("button", name="2 May 2099").click()
    page.reload()

    expect(_homes(page)).to_have_text(["Bari", "Roma", "Arsenal"])
    expect(page.locator(".body .league-title")).to_have_text(["2 May 2099 (3)"])
    page.get_by_role("button", name="Today").click()
    expect(page.locator("#empty")).to_contain_text("No match fits the filter")
    assert {"day": ["today"], "by": ["time"]} == parse_qs(urlsplit(page.url).query)


def test_a_match_that_has_begun_says_so_where_leagues_are_mixed(site: Offered, page: Page) -> None:
    """With its league; below "In play" the league is enough."""
    page.add_init_script(OWN_STREAM)  # a worker would keep the real time
    page.clock.install(time="2099-05-02T14:30:00Z")
    _opened(site, page, ROME)

    expect(page.locator(".match .day")).to_have_text("Serie A")
    page.get_by_role("button", name="Pin Roma").click()
    expect(page.locator(".match .day")).to_have_text("started · Serie A")


def test_bookmakers_of_one_company_share_a_column(site: Offered, page: Page) -> None:
    """It shows the price that was confirmed last, and stands where the first of them does."""
    _opened(site, page, ROME)
    bookmakers = [
        {"id": "ours", "name": "Ours", "company": "Group"},
        {"id": "other", "name": "Other", "company": "other"},
        {"id": "ours-2", "name": "Ours elsewhere", "company": "Group"},
    ]

    assert [["Group", "ours-2"], ["Other", "other"]] == page.evaluate(JOINED, [bookmakers, ["ours"]])
    assert [["Ours", "ours"]] == page.evaluate(JOINED, [bookmakers[:1], ["ours"]])


def test_a_few_of_many_bookmakers_are_chosen_quickly(site: Offered, page: Page) -> None:
    """All are hidden at once, and moved to the top at once; with none shown the page says so."""
    _opened(site, page, ROME)
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("button", name="Move bwin to the top").click()
    page.get_by_role("button", name="Hide all").click()
    expect(page.locator("#overall")).to_have_text("No bookmaker is shown.")

    page.get_by_label("Bet365", exact=True).check()
    page.get_by_label("bwin", exact=True).check()

    expect(page.locator(".offer-title")).to_have_text(["bwin", "Bet365"])


def test_hidden_bookmakers_are_not_reckoned_with(site: Offered, page: Page) -> None:
    """Best prices are those of the others, in the reader's order; they are in the address to be shared."""
    _opened(site, page, ROME)
    expect(page.locator(".top-figure")).to_have_text(["2.10", "3.40", "3.90"])
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("button", name="Move bwin up").click()
    page.keyboard.press("Escape")
    expect(page.locator(".offer-title")).to_have_text(["bwin", "Bet365"])

    page.get_by_role("button", name="Settings").click()
    page.get_by_label("bwin", exact=True).uncheck()
    page.keyboard.press("Escape")
    page.reload()

    expect(page.locator(".offer-title")).to_have_text(["Bet365"])
    expect(page.locator("#bookmakers .name")).to_have_text(["Bet365"])
    expect(page.locator(".best")).to_have_count(0)
    assert "" == urlsplit(page.url).query
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("button", name="Put them into the address").click()
    assert {"bookmaker": ["bet365"]} == parse_qs(urlsplit(page.url).query)


@pytest.mark.parametrize(
    ("odds", "prices", "texts"),
    [
        (
            "fractional",
            [1.5, 1.53, 2.0, 2.5, 6.4, 6.75, 51, 1.978, 1.9784],
            "1/2 53/100 1/1 6/4 27/5 23/4 50/1 489/500 ≈489/500",
        ),
        ("american", [1.32, 1.5, 2.0, 3.4, 1.01, 101], "-313 -200 +100 +240 -10000 +10000"),
    ],
)
def test_odds_are_written_as_the_reader_wants(
    site: Offered, page: Page, odds: str, prices: list[float], texts: str
) -> None:
    """A fraction is the price, and is marked where it is only near it; halves are rounded up."""
    _opened(site, page, ROME)

    assert texts.replace("-", "\N{MINUS SIGN}").split() == page.evaluate(WRITTEN, [odds, prices])


def test_fractions_of_two_prices_differ(site: Offered, page: Page) -> None:
    """Also of such as are next to each other: whoever compares fractions sees which is better."""
    _opened(site, page, ROME)

    prices = [round(1 + cents / 100, 2) for cents in range(1, 2000)]
    assert len(prices) == len(set(page.evaluate(WRITTEN, ["fractional", prices])))


@pytest.mark.parametrize("width", [360, 1280])
def test_fractions_fit_into_their_cells(site: Offered, context: OpenContext, width: int) -> None:
    """Also the longest, beside each other, and among the best prices."""
    fixture = Fixture("Roma", "Bologna", bet365=(3.12, 3.11, 2.61), bwin=(1.001, 1001, 1000), league="I1")
    page = context(viewport={"width": width, "height": 740}).new_page()
    page.add_init_script(
        "localStorage.setItem('oddsboard.preferences', JSON.stringify({odds: 'fractional'}))"
    )
    _opened(site, page, fixture)

    assert [] == page.evaluate(OVERFLOWING)


def test_odds_and_times_are_written_as_set(site: Offered, page: Page) -> None:
    """Everywhere: in rows, best prices and details; the setting is remembered."""
    _opened(site, page, ROME)
    expect(_homes(page)).to_have_count(1, timeout=30_000)  # what was offered before has left
    expect(page.locator(".hour")).to_have_text("16:00")
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("combobox", name="Odds", exact=True).select_option("Fractional")
    page.get_by_role("combobox", name="Times in").select_option("Asia/Tokyo")
    page.keyboard.press("Escape")
    page.reload()

    expect(page.locator(".number").first).to_have_text("1/1")
    expect(page.locator(".top-figure").first).to_have_text("11/10")
    expect(page.locator(".hour")).to_have_text("23:00")
    page.locator(".match").click()
    expect(page.locator("#details-best td.figure").first).to_have_text("11/10")
    expect(page.locator("#zone")).to_contain_text("Asia/Tokyo")
