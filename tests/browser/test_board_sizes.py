"""The board with twelve bookmakers in windows of every size, and on paper."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support.browsing import OpenContext
from tests.support.systems.process import Service, service

pytestmark = pytest.mark.browser

NAMES = {
    "Bet365": "Bet365",
    "William Hill": "William",
    "Pinnacle": "Pinnacle",
    "Betfair Exchange": "BetfairE",
    "Betfair Sportsbook": "BetfairS",
    "Paddy Power": "Paddy",
    "Ladbrokes": "Ladbrokes",
    "bwin": "bwin",
    "Betway": "Betway",
    "Betano": "Betano",
    "Marathonbet": "Marathonb",
    "Unibet": "Unibet",
}
"""Short names by name."""
KINDS = ("sharp", "standard", "wide")
KEYS = (*KINDS, *(f"{kind}-{n}" for n in (2, 3, 4) for kind in KINDS))
SOURCE = """
[server]
drain_s = 0

[sources.simulated]
kind = "simulated"
matches = 60
updates_per_s = 20
"""
SIZES = [(1280, 720), (820, 1180), (390, 844), (320, 640), (640, 360), (568, 320), (844, 390)]
CUT = """() => {
    const all = [...document.querySelectorAll(".match .top-where")];
    const shown = all.filter((cell) => cell.offsetHeight > 0);
    const isCut = (cell) => cell.firstChild.scrollWidth > cell.firstChild.clientWidth;
    return [shown.length > 10, shown.filter(isCut).map((cell) => cell.textContent)];
}"""
HIDDEN = """(ids) => ids.filter((id) => {
    const { left, right, top, bottom, width } = document.getElementById(id).getBoundingClientRect();
    return width < 48 || left < 0 || top < 0 || right > innerWidth || bottom > innerHeight;
})"""
ROWS = "document.querySelectorAll('odds-board .body [role=row]').length"
PLACED = """() => [...document.querySelectorAll(".match")]
    .slice(0, 5)
    .map((row) => row.getBoundingClientRect().bottom)"""


@pytest.fixture(scope="module")
def twelve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Run a simulated board of twelve bookmakers for the tests of this file."""
    tables = [
        f'[bookmakers.b{at}]\nname = "{name}"\nsource = "simulated"\nkey = "{key}"\n'
        for at, (name, key) in enumerate(zip(NAMES, KEYS, strict=True))
    ]
    config = tmp_path_factory.mktemp("twelve") / "twelve.toml"
    config.write_text(SOURCE + "\n".join(tables), "utf-8")
    with service(config) as running:
        yield running


def _opened(context: OpenContext, twelve: Service, size: tuple[int, int]) -> Page:
    page = context(viewport={"width": size[0], "height": size[1]}).new_page()
    page.goto(twelve.base)
    expect(page.locator(".match").first).to_be_visible()
    return page


@pytest.mark.parametrize("size", SIZES)
def test_choices_and_bookmakers_are_there_in_every_window(
    twelve: Service, context: OpenContext, size: tuple[int, int]
) -> None:
    """Search and choices are wide enough and within the window; no bookmaker of a best price is cut."""
    page = _opened(context, twelve, size)

    assert [] == page.evaluate(HIDDEN, ["text", "league", "surebets", "which", "days"])
    assert [True, []] == page.evaluate(CUT)


def test_many_bookmakers_have_narrow_columns_with_short_names(
    twelve: Service, context: OpenContext
) -> None:
    """All twelve bookmakers are in view on a desktop; screen readers get the full names."""
    page = _opened(context, twelve, (1280, 720))

    expect(page.locator("odds-board")).to_have_attribute("data-layout", "compact")
    expect(page.locator(".titles .offer .short")).to_have_text([*NAMES.values()])
    expect(page.get_by_role("columnheader", name="Betfair Exchange", exact=True)).to_be_attached()
    expect(page.locator(".titles .offer").last).to_be_in_viewport(ratio=1)


def test_all_matches_are_on_paper(twelve: Service, context: OpenContext) -> None:
    """On paper the rows follow each other, without controls; later the screen has only visible rows."""
    page = _opened(context, twelve, (1280, 720))
    some = page.evaluate(ROWS)

    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")

    grid = page.get_by_role("grid")
    assert some < page.evaluate(ROWS) == int(grid.get_attribute("aria-rowcount") or 0) - 1
    for hidden in ("#filters", "#tools", ".pin >> nth=0"):
        expect(page.locator(hidden)).to_be_hidden()
    expect(page.locator("#printed")).to_contain_text("As of ")
    below = page.evaluate(PLACED)
    assert below == sorted(below)
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert some == page.evaluate(ROWS)
