"""Modules of the pages, called in Chromium without their pages: what they return for given values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Page

from actors.markets.market import parsed
from actors.markets.stakes import Stakes, stakes
from tests.support.browsing import OWN_STREAM
from tests.support.oracles.stake_cases import StakeCase, stake_cases
from tests.support.systems.feed import Fixture, Offered

pytestmark = pytest.mark.browser

MINUS = "\N{MINUS SIGN}"
IN_ORDER = """async (leagues) => {
    const { arranged } = await import("/static/arrange.js");
    const { leaguesOf } = await import("/static/leagues.js");
    const matches = leagues.map((league, at) => {
        const key = `fx${at}`;
        return { key, home: key, league, leagueId: `:${league}`, country: null, start: 4e9 + (at >> 1) };
    });
    const preferences = { leagues: [], matches: [] };
    const rows = arranged(matches, { by: "league", leagues: leaguesOf(matches, 0), preferences });
    return rows.flatMap(({ match }) => match?.league ?? []);
}"""
BY_PROFIT = """async (profits) => {
    const { arranged } = await import("/static/arrange.js");
    const matches = profits.map((profit) => ({ key: `fx${profit}`, home: "Home", start: null, profit }));
    const preferences = { leagues: [], matches: ["fx1"] };
    const surebetOf = ({ profit }) => ({ profit });
    const rows = arranged(matches, { by: "profit", leagues: new Map(), preferences, surebetOf });
    return rows.flatMap(({ match }) => match?.profit ?? []);
}"""
LEAGUES = """async (ids) => {
    const { byLeague, leaguesOf } = await import("/static/leagues.js");
    const matches = ids.map((id, at) => ({ leagueId: id, league: id, country: null, start: 4e9 + at }));
    const leagues = [...leaguesOf(matches, 0).values()].sort(byLeague(["tha.1"]));
    return leagues.map(({ id }) => id);
}"""
TITLES = """async (matches) => {
    const { leaguesOf } = await import("/static/leagues.js");
    const of = (league, country) => leaguesOf([{ leagueId: "any", league, country, start: null }], 0);
    return matches.map(([label, country]) => of(label, country).get("any").title);
}"""
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
FOUND = """async ([teams, leagues, texts]) => {
    const { finder, sought } = await import("/static/search.js");
    return texts.filter((text) => finder(text)(sought(teams, leagues)));
}"""
JOINED = """async (cases) => {
    const { columnsOf } = await import("/static/columns.js");
    const { offerOf } = await import("/static/best.js");
    return cases.map(([bookmakers, superseded]) => {
        const listed = bookmakers.map(({ id }) => [id, { id, isSuperseded: superseded.includes(id) }]);
        const match = { offers: new Map(listed) };
        return columnsOf(bookmakers).map((column) => [column.name, offerOf(match, column).id]);
    });
}"""
WRITTEN = """async ([odds, prices]) => {
    const { priceIn } = await import("/static/odds.js");
    return prices.map(priceIn(odds));
}"""
LAYOUTS = """async (cases) => {
    const { layoutOf } = await import("/static/layout.js");
    return cases.map(([width, columns]) => layoutOf(width, Array(columns).fill({})).name);
}"""
MARKETS = """async (keys) => {
    const { marketOf } = await import("/static/markets.js");
    return keys.map(marketOf).map((market) =>
        market && [market.title, market.outcomes.map(({ mark, spoken }) => [mark, spoken])]);
}"""
CHOICES = """async (cases) => {
    const { choicesOf, marketOf } = await import("/static/markets.js");
    return cases.map(([markets, key]) => {
        const { kinds, lines } = choicesOf(markets, marketOf(key));
        return [kinds.map(({ value }) => value), lines.map(({ value, title }) => [value, title])];
    });
}"""
BOARD = """async (lists) => {
    const { Board } = await import("/static/board.js");
    const { bestOf } = await import("/static/best.js");
    const board = new Board();
    const column = { of: [{ id: "a" }] };
    return lists.map((list) => {
        board.replace(list);
        const [match] = board.seen.matches;
        const { moves } = match.offers.get("a");
        return [moves.filter(Boolean).length, bestOf(match, [column]).map(({ price }) => price)];
    });
}"""
EMPTY = """async ([statuses, markets]) => {
    const { marketOf } = await import("/static/markets.js");
    const { movesOf } = await import("/static/moves.js");
    const { moversKey } = await import("/static/movers.js");
    const of = (market, movers, key) => {
        const choice = { movers: 900, market };
        const answered = { key: key ?? moversKey(choice), ...movers };
        return movesOf(answered, choice, [], { market: marketOf(market) }).empty[0];
    };
    return [
        ...statuses.map((status) => of("1x2", { status, answer: null })),
        of("1x2", { status: "none", answer: null }, "3600 1x2"),
        ...markets.map((market) => of(market, { status: "none", answer: null })),
    ];
}"""
TRIES = f"""async (answers) => {{
    {OWN_STREAM}
    let opened = 0;
    window.EventSource = class {{
        constructor() {{
            window.source = this;
            opened += 1;
        }}
        addEventListener() {{}}
        close() {{}}
    }};
    const {{ Stream }} = await import("/static/stream.js");
    const stream = new Stream({{ onState() {{}} }});
    stream.start(null, null);
    return answers.map((answer) => {{
        source.onerror?.();
        const before = opened;
        stream.served(answer);
        return opened - before;
    }});
}}"""
GAINS = """async (totals) => {
    const { advised } = await import("/static/advice.js");
    const leg = { commission: 0, max_stake: 30 };
    const legs = [2.1, 3.9, 3.9].map((odds, at) => ({ ...leg, id: `${at}_m1`, odds }));
    return totals.map((total) => advised(legs, { total, step: 0.01 }));
}"""
TABLE = """async (cases) => {
    const { rounded, stakes } = await import("/static/stakes.js");
    return cases.map(({ legs, total, step }) =>
        step === 1 ? stakes(legs, total) : rounded(legs, total, step));
}"""

SOUGHT = [
    *("serie a", "bologna", "roma bologna", "as roma", "italy", "serie bologna", "bologna italy", "b"),
]
GROUP = [
    {"id": "ours", "name": "Ours", "company": "Group"},
    {"id": "other", "name": "Other", "company": "other"},
    {"id": "ours-2", "name": "Ours elsewhere", "company": "Group"},
]
LISTED = [
    {"market": key, "kind": key.partition(":")[0], "fixtures_count": at}
    for at, key in enumerate(("1x2", "asian_handicap:0.25", "asian_handicap:-1", "corners:9.5"))
]
LABELS = [("La Liga", "spain"), ("La Liga - Spain", "spain"), ("England: Premier League", "england")]


def _fixture(market: str, home: float, **more: object) -> list[dict[str, object]]:
    """Return a list of one fixture with one entry."""
    entry = {"id": "a_1", "bookmaker": "A", "odds": {"home": home, "away": 1.9}, "updated": 1}
    entry |= {"prices": "live", "rule": "first", "link": "sure"}
    names = {"home": "H", "away": "A", "league": "L", "league_id": "l", "country": None}
    about = {"id": "fx1", "start_time": 1, "entries": [entry], "surebet": None, "market": market}
    return [{**names, **about, **more}]


CASES: dict[str, tuple[str, Any, Any]] = {
    "a league stands in one piece, also where the order of names takes two for equal": (
        *(IN_ORDER, ["Liga 1", "Liga 01"] * 3),
        ["Liga 01"] * 3 + ["Liga 1"] * 3,
    ),
    "surebets stand by profit, whatever is pinned": (BY_PROFIT, [1, 3, 2], [3, 2, 1]),
    "large leagues come after those of the reader, before those that begin earlier": (
        *(LEAGUES, ["usa.2", "tha.1", "ger.1", "any", "eng.1"]),
        ["tha.1", "eng.1", "ger.1", "usa.2", "any"],
    ),
    "a heading begins with the country wherever the label has it": (
        *(TITLES, [*LABELS, ("Austrian Bundesliga", "austria"), ("Bundesliga", None)]),
        [*["Spain · La Liga"] * 2, "England · Premier League", "Austrian Bundesliga", "Bundesliga"],
    ),
    "what is being played is known by source or kick-off, also of yesterday": (
        *(PLAYED, [[-33], [-33, False], [30, True], [30], [-200], [24 * 60]]),
        {
            "played": [0, 2],
            "now": [0, 2],
            "today": [0, 2, 3],
            "tabs": ["All", "In play 2", "Today", "Tomorrow"],
        },
    ),
    "words of a search are found in one sort of name": (
        FOUND,
        [
            ["Roma", "Bologna", "AS Roma"],
            ["Serie A", "italy"],
            [*SOUGHT, "serie b", "nottingham", "roma serie b"],
        ],
        SOUGHT,
    ),
    "bookmakers of one company share a column, with the price that was confirmed last": (
        *(JOINED, [(GROUP, ["ours"]), (GROUP[:1], ["ours"])]),
        [[["Group", "ours-2"], ["Other", "other"]], [["Ours", "ours"]]],
    ),
    "a fraction is the price, or is marked": (
        *(WRITTEN, ["fractional", [1.5, 1.53, 2.0, 2.5, 6.4, 6.75, 51, 1.978, 1.9784]]),
        ["1/2", "53/100", "1/1", "6/4", "27/5", "23/4", "50/1", "489/500", "≈489/500"],
    ),
    "halves of American odds are rounded up": (
        *(WRITTEN, ["american", [1.32, 1.5, 2.0, 3.4, 1.01, 101]]),
        [f"{MINUS}313", f"{MINUS}200", "+100", "+240", f"{MINUS}10000", "+10000"],
    ),
    "columns are narrow from eight bookmakers on, and cards on a phone": (
        *(LAYOUTS, [[1280, 7], [1280, 8], [640, 40], [639, 3], [639, 40]]),
        ["wide", "compact", "compact", "stacked", "stacked"],
    ),
    "markets are written with their lines; others are none": (
        MARKETS,
        [
            *("asian_handicap:-0.75", "asian_handicap:0", "over_under:2.5", "over_under:main"),
            *("over_under", "btts:1", "corners:9.5"),
        ],
        [
            [
                f"Handicap {MINUS}0.75 / +0.75",
                [[f"1 {MINUS}0.75", f"home {MINUS}0.75"], ["2 +0.75", "away +0.75"]],
            ],
            ["Handicap 0", [["1 0", "home 0"], ["2 0", "away 0"]]],
            ["Over/under 2.5", [["O 2.5", "over 2.5"], ["U 2.5", "under 2.5"]]],
            ["Over/under", [["Over", "over"], ["Under", "under"]]],
            *[None] * 3,
        ],
    ),
    "the chooser has what the service has and the page knows, and what is chosen": (
        *(CHOICES, [([], "1x2"), ([], "btts"), (LISTED, "1x2"), (LISTED, "asian_handicap:0.5")]),
        [
            [[], []],
            [["1x2", "btts"], []],
            [["1x2", "asian_handicap:main"], []],
            [
                ["1x2", "asian_handicap:main"],
                [
                    ["asian_handicap:main", "Main lines"],
                    ["asian_handicap:-1", f"{MINUS}1 / +1 (2)"],
                    ["asian_handicap:0.25", f"+0.25 / {MINUS}0.25 (1)"],
                    ["asian_handicap:0.5", f"+0.5 / {MINUS}0.5 (0)"],
                ],
            ],
        ],
    ),
    "a price on another line has not moved, and goals from now on have no best": (
        BOARD,
        [
            _fixture("asian_handicap:-0.5", 2.0),
            *(_fixture("asian_handicap:-0.75", home) for home in (2.1, 2.2)),
            _fixture("asian_handicap:-0.75", 2.2, in_play_rule="from_now"),
        ],
        [[0, [2.0, 1.9]], [0, [2.1, 1.9]], [1, [2.2, 1.9]], [1, []]],
    ),
    "no answer is not the same as no move, nor is an answer of another choice": (
        *(EMPTY, [["unknown", "failed", "none"], ["over_under:main", "over_under:2.5"]]),
        [
            *("Reading", "Moves cannot be read now", "Moves are not known"),
            *("Reading", "Choose a line", "Moves are not known"),
        ],
    ),
    "a service that is back, or has another epoch, is asked at once": (
        *(TRIES, [{"epoch": "a"}, {"epoch": "a"}, None, {"epoch": "a"}, {"epoch": "b"}]),
        [1, 0, 0, 1, 1],
    ),
}


@pytest.fixture(scope="module")
def page(browser: Browser, site: Offered) -> Iterator[Page]:
    """Open a page of the service that has no module of its own."""
    site.offer(Fixture("Roma", "Bologna", bet365=(2.0, 3.4, 3.9), bwin=(2.1, 3.3, 3.8)))
    page = browser.new_page(locale="en-GB")
    page.goto(f"{site.start().base}/docs")
    yield page
    page.close()


@pytest.mark.parametrize("case", CASES)
def test_a_module_returns_what_is_expected(page: Page, case: str) -> None:
    """The name of each case is its rule."""
    script, given, expected = CASES[case]

    assert expected == page.evaluate(script, given)


def test_fractions_of_two_prices_differ(page: Page) -> None:
    """Neighbouring prices differ as fractions, too: a reader of fractions sees which price is better."""
    prices = [round(1 + cents / 100, 2) for cents in range(1, 2000)]

    assert len(prices) == len(set(page.evaluate(WRITTEN, ["fractional", prices])))


def test_a_stake_above_what_its_price_is_good_for_is_said(page: Page) -> None:
    """The list says it in place of the gain; the details say it behind the stakes."""
    small, large = page.evaluate(GAINS, [40, 100])

    assert small["gain"].endswith(" for 40.00")
    assert "above a limit" == large["gain"]
    assert "above the known limit of its price" in large["text"]


@pytest.mark.parametrize(
    ("market", "count"),
    [
        ("1x2", None),
        *((f"over_under:{line}", 40) for line in ("2.25", "2.5", "3")),
        *((market, 40) for market in ("asian_handicap:-0.75", "btts", "double_chance")),
    ],
)
def test_the_stakes_are_those_of_the_api(page: Page, market: str, count: int | None) -> None:
    """Stakes agree to the cent and in larger steps, also if bets are half won or returned, or two win."""
    of_market = [
        case if market != "double_chance" else _doubled(case)
        for case in stake_cases(len(parsed(market).outcomes))
        if market == "1x2" or len({leg.bookmaker for leg in case.legs}) == len(case.legs)
    ]
    asked, expected = _divided(market, of_market[:count])

    assert expected == page.evaluate(TABLE, asked)
    assert any(expected)


def _divided(market: str, cases: Iterable[StakeCase]) -> tuple[list[Any], list[Any]]:
    """Return what each case asks the page, to the cent and in larger steps, and the right answers."""
    steps = (5, 10, 50, 100, 500, 1_000)
    every = [(case, step) for case in cases for step in (1, steps[case.total % len(steps)])]
    asked = [
        {
            "total": case.total / 100,
            "step": step,
            "legs": [
                {
                    "id": leg.bookmaker,
                    "odds": leg.odds,
                    "commission": leg.commission,
                    "fee_rate": leg.fee_rate,
                    "market": market,
                }
                for leg in case.legs
            ],
        }
        for case, step in every
    ]
    found = [stakes(case.legs, case.total, step, parsed(market)) for case, step in every]
    owed = [
        {"amounts": [*some.amounts], "returned": some.returned} if isinstance(some, Stakes) else None
        for some in found
    ]
    return asked, owed


def _doubled(case: StakeCase) -> StakeCase:
    """Return a case of double chance: each outcome is won unless its leg in the given case is won."""
    chances = [1 / leg.odds for leg in case.legs]
    odds = [round(1.03 / (1 - chance / sum(chances)), 2) for chance in chances]
    legs = [replace(leg, odds=max(price, 1.02)) for leg, price in zip(case.legs, odds, strict=True)]
    return StakeCase(tuple(legs), case.total)
