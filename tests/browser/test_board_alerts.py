"""Alerts on the board: a rule about a match as TOML."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from actors.service.settings import load
from tests.support.builders.configurations import VALID
from tests.support.systems.two_sources import Two, two_sources

pytestmark = pytest.mark.browser

LOW = {"pinnacle": (2.1, 3.4, 3.6), "williamhill": (2.0, 3.5, 3.5)}
RECEIVER = '[receivers.phone]\nkind = "exec"\ncommand = ["true"]\n'
TOML = """async (rules) => {
    const { tomlOf } = await import("/static/toml.js");
    const { marketOf } = await import("/static/markets.js");
    return rules.map(({ key, ...match }) =>
        tomlOf({ ...match, key: "fx1", market: marketOf(key) }, match)).join("\\n");
}"""


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    """Run a service with both sources for the tests of this file."""
    with two_sources(tmp_path_factory.mktemp("two")) as two:
        two.offer(LOW)
        yield two


def test_every_form_of_a_rule_as_toml_is_taken(two: Two, page: Page, tmp_path: Path) -> None:
    """Of each market; without a league that is too long; named by the match if the team has no letters."""
    page.goto(two.service.base)
    match = {
        "home": "\u05e9\u05dc",
        "away": "Away",
        "leagueId": f":{'x' * 128}",
        "bookmaker": "",
        "least": 2,
    }
    rules = [
        {**match, "key": "1x2", "outcome": "2"},
        {**match, "key": "over_under:2.5", "outcome": "over"},
        {**match, "key": "asian_handicap:-0.75", "outcome": "", "least": 0.011, "bookmaker": "bet365"},
        {**match, "key": "btts", "outcome": "yes", "leagueId": "eng.1", "least": 1.001},
    ]

    config = tmp_path / "mine.toml"
    config.write_text(VALID + RECEIVER + page.evaluate(TOML, rules), "utf-8")

    found = load(config).alert
    assert ["away-2-2", "fx1-over-2", "fx1-surebet-bet365-0-011", "fx1-yes-1-001"] == [
        rule.name for rule in found
    ]
    teams = [getattr(rule, "team", None) for rule in found]
    leagues = [getattr(rule, "league", None) for rule in found]
    assert (["Away", *["\u05e9\u05dc"] * 3], [None, None, None, "eng.1"]) == (teams, leagues)
