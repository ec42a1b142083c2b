"""Alerts on the board: rules of this browser, and a rule as TOML."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from actors.service.settings import load
from tests.support.builders.configurations import VALID
from tests.support.oracles.rule_transitions import Frame, Json, transitions
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
LIVES = """async (text) => {
    const { noteChanges, Transitions } = await import("/static/transitions.js");
    return JSON.parse(text).map(([rule, frames]) => {
        const [states, changed, fired] = [new Transitions(rule), new Map(), []];
        states.begin(frames[0] ?? undefined, 0);
        for (let at = 1; at < frames.length; at += 1) {
            const [before, after] = [frames[at - 1] ?? undefined, frames[at] ?? undefined];
            if (after) noteChanges(changed, before, after, at);
            const found = states.take(before, after, changed, at);
            fired.push(...found.map(({ subject }) => [subject.split(" ")[0], at]));
        }
        return fired;
    });
}"""


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    """Run a service with both sources for the tests of this file."""
    with two_sources(tmp_path_factory.mktemp("two")) as two:
        two.offer(LOW)
        yield two


def test_rules_fire_as_those_of_the_service(two: Two, page: Page) -> None:
    """Over random commits, in which matches, entries, links, prices and surebets come and go."""
    page.goto(two.service.base)
    generator = random.Random(4)
    lives = [_life(generator) for _ in range(200)]

    fired = [sorted(found) for found in page.evaluate(LIVES, json.dumps(lives))]

    expected = [_expected(*life) for life in lives]
    assert sum(map(len, expected)) > 100
    assert expected == fired


def _life(generator: random.Random) -> tuple[Json, list[Json | None]]:
    """Return a rule, and what is on the board of its match after each commit."""
    is_price = generator.random() < 0.5
    rule = {"outcome": "1" if is_price else "", "least": 2.2 if is_price else 0.01}
    rule["bookmaker"] = generator.choice(["", "a"])
    prices = [generator.choice([2.0, 2.19, 2.2]) for _ in "abc"]
    names, link, profit = ["a", "b", "c"], "sure", 0.0095
    frames: list[Json | None] = []
    for _ in range(25):
        if generator.random() < 0.7:
            prices[generator.randrange(3)] = generator.choice([2.0, 2.178, 2.18, 2.19, 2.2, 2.3])
        if generator.random() < 0.1:
            names = generator.choice([["a", "b", "c"], ["a", "b"], ["b", "c"]])
        if generator.random() < 0.05:
            link = generator.choice(["sure", "likely"])
        profit = generator.choice([profit, 0.005, 0.0091, 0.01, 0.02, None])
        odds = dict(zip("abc", prices, strict=True))
        frames.append(None if generator.random() < 0.04 else _fixture(names, odds, link, profit))
    return rule, frames


def _fixture(names: list[str], odds: dict[str, float], link: str, profit: float | None) -> Json:
    entries = [
        {"id": f"{name}_m1", "bookmaker": name, "odds": {"1": odds[name], "X": 3.4}, "link": link}
        for name in names
    ]
    legs = [{"id": f"{names[0]}_m1", "bookmaker": names[0], "outcome": "1", "odds": odds[names[0]]}]
    surebet = None if profit is None else {"profit": profit, "legs": legs}
    return {"id": "fx1", "start_time": None, "entries": entries, "surebet": surebet}


def _expected(rule: Json, frames: list[Json | None]) -> list[list[Any]]:
    seen = [
        Frame(at, float(at), {} if fixture is None else {"fx1": fixture})
        for at, fixture in enumerate(frames)
    ]
    asked: Json = {"name": "mine", "when": "price", "outcome": "1", "above": rule["least"]}
    if not rule["outcome"]:
        asked = {"name": "mine", "when": "surebet", "min_profit": rule["least"]}
    if rule["bookmaker"]:
        asked["bookmaker"] = rule["bookmaker"]
    told = transitions(seen, asked, float(len(frames)))
    return sorted([subject.split()[0], at] for _, subject, state, at in told if state == "firing")


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
