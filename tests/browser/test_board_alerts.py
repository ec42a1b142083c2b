"""Alerts on the board: the bell and its list, rules of this browser, and a rule as TOML."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from actors.alerts.rules.rule import PriceRule
from actors.service.settings import load
from tests.support.browsing import NO_STREAM, Complaints, OpenContext
from tests.support.builders.configurations import VALID
from tests.support.oracles.rule_transitions import Frame, Json, transitions
from tests.support.systems.two_sources import Two
from tests.support.time.waiting import eventually
from web.__main__ import main

pytestmark = pytest.mark.browser

LOW = {"pinnacle": (2.1, 3.4, 3.6), "williamhill": (2.0, 3.5, 3.5)}
NOTED = """
window.noted = [];
window.Notification = class {
    static requestPermission = async () => window.answer ?? "granted";
    constructor(title, { body }) {
        window.noted.push(`${title}: ${body}`);
    }
};
"""
EVERY_SOURCE = """
delete window.SharedWorker;
window.sources = [];
window.EventSource = class extends EventSource {
    constructor(...given) {
        super(...given);
        window.sources.push(this);
    }
};
"""
RECEIVER = '[receivers.phone]\nkind = "exec"\ncommand = ["true"]\n'
HOSTILE = 'FC "x"\\ ${HOME} $$ [[alert]] #\n\x00\x1b\x85\u202e\u2028\u200d\u05e9\u05dc \U0001f600\U000e0041'
TOML = """async (rules) => {
    const { tomlOf } = await import("/static/toml.js");
    const { marketOf } = await import("/static/markets.js");
    return rules.map(({ key, ...match }) =>
        tomlOf({ ...match, key: "fx1", market: marketOf(key) }, match)).join("\\n");
}"""
ALERT: Json = {
    "id": "long f1 7",
    "rule": "long",
    "when": "price",
    "state": "firing",
    "version": 7,
    "at": 1795956913.9,
    "subject": "pinnacle_m1 1",
    "title": "<b>A</b> - B: 1 at Pinnacle is 2.6, was 2.4",
    "details": {"home": "<b>A</b>", "away": "B", "market": "1x2"},
}
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


def _details(two: Two, page: Page) -> Locator:
    """Open the page, whose notifications the test notes, and "Alert me" of the match with live prices."""
    two.offer(LOW)
    page.add_init_script(NOTED)
    page.goto(two.service.base)
    page.locator(".match").filter(has_text="16:00").click()
    page.locator("#alert-me summary").click()
    return page.locator("#details")


def _offer(two: Two, page: Page, home: float) -> None:
    """Change Pinnacle's price of the home win, and wait until the page shows it."""
    two.offer({**LOW, "pinnacle": (home, 3.4, 3.6)})
    row = page.locator("#details-prices tr").filter(has_text="Pinnacle")
    expect(row.locator("td").first).to_have_text(f"{home:.2f}")


def _add(page: Page, least: str) -> None:
    """Add a rule about Pinnacle's price of the home win, and wait until it is watched."""
    page.locator("#alert-bookmaker").select_option("Pinnacle")
    page.get_by_label("Price from").fill(least)
    page.get_by_role("button", name="Notify me here").click()
    expect(page.locator("#alert-said")).to_contain_text("Added")
    _expect_watched(page)


def _expect_watched(page: Page) -> None:
    page.locator("#bell").click()
    page.locator("#alerts-here-title").click()
    expect(page.locator("#alerts-rules li")).to_have_count(1)
    expect(page.get_by_text("Not watched now")).to_have_count(0)
    page.locator("#alerts-here-title").click()
    page.get_by_role("button", name="Close the alerts").click()


def test_a_price_notifies_once_when_it_is_reached(two: Two, page: Page) -> None:
    """The next notice needs a fall below the hysteresis; the bell counts, and its list opens the match."""
    _details(two, page)
    _add(page, "2.2")
    expect(page.locator("#bell")).to_be_focused()
    for home in (2.25, 2.19, 2.22, 2.15, 2.3):
        _offer(two, page, home)

    told = "Manchester United \N{EN DASH} Fulham: home win is {} at Pinnacle"
    page.wait_for_function("noted.length > 1")
    assert [told.format("2.25"), told.format("2.30")] == page.evaluate("noted")
    expect(page.locator("#bell-count")).to_have_text("2")
    page.get_by_role("button", name="Close the details").click()
    page.get_by_role("button", name="Alerts: 2 new").click()
    expect(page.locator("#alerts-list li")).to_have_count(2)
    page.locator("#alerts-list a").first.click()
    expect(page.locator("#details-title")).to_have_text("Manchester United \N{EN DASH} Fulham")
    expect(page.locator("#details")).to_be_focused()
    expect(page.locator("#bell-count")).to_have_text("")


def test_a_lost_connection_notifies_of_nothing(
    two: Two, context: OpenContext, complaints: Complaints
) -> None:
    """A price reached without a connection is only noted; it counts the next time that it is reached."""
    complaints.expected = ("api/v2/stream",)
    page = context().new_page()
    page.add_init_script(EVERY_SOURCE)
    _details(two, page)
    _add(page, "2.2")
    page.route("**/api/v2/stream*", lambda route: route.abort())
    page.evaluate("sources.forEach((source) => source.onerror())")
    page.locator("#bell").click()
    page.locator("#alerts-here-title").click()
    expect(page.get_by_text("Not watched now")).to_be_visible()
    page.keyboard.press("Escape")
    two.offer({**LOW, "pinnacle": (2.25, 3.4, 3.6)})
    eventually(lambda: '"1":2.25' in two.service.get("/api/v2/odds?bookmaker=pinnacle").text, "it has 2.25")

    page.unroute("**/api/v2/stream*")
    _offer(two, page, 2.25)
    page.locator("#bell").click()
    expect(page.get_by_text("Not watched now")).to_have_count(0)
    page.keyboard.press("Escape")
    _offer(two, page, 2.15)
    assert [] == page.evaluate("noted")
    _offer(two, page, 2.3)

    page.wait_for_function("noted.length > 0")
    assert ["2.30"] == [said.split()[-3] for said in page.evaluate("noted")]


def test_rules_fire_as_those_of_the_service(two: Two, page: Page) -> None:
    """Page and service fire alike over random changes of matches, entries, links, prices and surebets."""
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
    names, link = ["a", "b", "c"], "sure"
    profit: float | None = 0.0095
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


def test_rules_stay_until_they_are_removed(two: Two, page: Page) -> None:
    """Rules survive a reload; without any rule the bell goes, because the service sends no alerts."""
    details = _details(two, page)
    expect(page.locator("#bell")).to_be_hidden()
    page.evaluate("answer = 'denied'")
    details.get_by_role("button", name="Notify me here").click()
    expect(page.locator("#alert-said")).to_contain_text("does not allow")
    expect(page.locator("#bell")).to_be_hidden()
    page.evaluate("answer = 'granted'")
    details.get_by_label("About").select_option("surebet")
    details.get_by_label("Profit from").fill("1.1")
    details.get_by_role("button", name="Notify me here").click()
    page.reload()

    page.locator("#bell").click()
    page.locator("#alerts-here-title").click()
    expect(page.locator("#alerts-rules li")).to_contain_text("surebet of 1.10 % or more")
    page.get_by_role("button", name="Remove the rule").click()
    expect(page.locator("#alerts-rules li")).to_have_count(0)
    expect(page.locator("#alerts-close")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#bell")).to_be_hidden()
    assert [] == page.evaluate("JSON.parse(localStorage['oddsboard.preferences']).rules")


def test_the_bell_lists_the_alerts_of_the_service(two: Two, page: Page, complaints: Complaints) -> None:
    """Alerts link to the match, show if it has ended, and have names as mere text; later ones are read."""
    complaints.expected = ("api/v2/alerts",)
    fixture = two.service.get("/api/v2/fixtures").json()["fixtures"][0]["id"]
    first = {**ALERT, "details": {**ALERT["details"], "fixture": fixture}}
    over = {**first, "id": "long f1 8 resolved", "state": "resolved", "at": ALERT["at"] + 60}
    trouble = {**ALERT, "id": "t", "rule": "trouble", "title": "source api: status was 500", "details": {}}
    answers = {"": ("2-ab", [first, over]), "2-ab": ("3-ab", [trouble])}

    def answer(route: Route) -> None:
        since = route.request.url.partition("since=")[2]
        if since in answers:
            cursor, alerts = answers[since]
            route.fulfill(json={"cursor": cursor, "complete": True, "alerts": alerts})
        else:
            route.abort()

    def with_alerts(route: Route) -> None:
        told = route.fetch()
        route.fulfill(json={**told.json(), "alerts": {"status": "pass"}}, status=told.status)

    page.route("**/api/v2/alerts*", answer)
    page.route("**/health", with_alerts)
    page.goto(two.service.base)
    page.get_by_role("button", name="Alerts: 1 new").click()

    items = page.locator("#alerts-list li")
    expect(items.first).to_contain_text("long · ended")
    expect(items.last).to_contain_text("<b>A</b> \N{EN DASH} B: 1 at Pinnacle is 2.6, was 2.4")
    expect(items.last.get_by_role("link")).to_have_attribute("href", f"?fixture={fixture}")
    expect(items).to_have_count(3)
    expect(items.filter(has_text="source api").get_by_role("link")).to_have_count(0)
    expect(page.locator("#alerts-none")).to_contain_text("does not answer")
    expect(page.locator("#alerts-here")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Alerts", exact=True)).to_be_focused()


def test_a_rule_as_toml_has_the_exact_names(
    two: Two, page: Page, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """check-config accepts the rule, and its team is the one on the page, whatever the name contains."""

    def renamed(route: Route) -> None:
        told = route.fetch()
        answer = told.json()
        for fixture in answer["fixtures"]:
            fixture |= {"home": HOSTILE}
        route.fulfill(json=answer, headers={"ETag": '"1"'})

    page.add_init_script(NO_STREAM)
    page.route("**/api/v2/fixtures", renamed)
    _details(two, page)
    page.locator("#alert-bookmaker").select_option("Pinnacle")
    page.get_by_label("Price from").fill("2.75")
    page.get_by_role("button", name="As TOML").click()
    text = page.locator("#alert-text").input_value()
    config = tmp_path / "mine.toml"
    config.write_text(VALID.replace("bet365", "pinnacle") + RECEIVER + text, "utf-8")

    with pytest.raises(SystemExit) as ended:
        main(["check-config", "--config", str(config)])

    said = capsys.readouterr()
    assert (0, "") == (ended.value.code, said.err)
    (rule,) = load(config).alert
    assert isinstance(rule, PriceRule)
    found = (rule.name, rule.team, rule.outcome, rule.bookmaker, rule.above, rule.to)
    assert ("fc-x-home-alert-1-pinnacle-2-75", HOSTILE, "1", "pinnacle", 2.75, ("phone",)) == found
    assert set("\u05e9\u05dc\U0001f600") == {sign for sign in text if not sign.isascii()}


def test_every_form_of_a_rule_as_toml_is_taken(two: Two, page: Page, tmp_path: Path) -> None:
    """A league that is too long is left out; if the team has no letters, the match names the rule."""
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
