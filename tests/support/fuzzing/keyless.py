"""Targets of the sources that need no key: lists of offers, the prices that follow them, and programs."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.core.messages import Payload, SourceMatchId
from actors.markets.market import Kind
from actors.markets.market import market_of as market_of_line
from actors.source_api.groups import Group, preface_of
from actors.source_api.kinds import PolledKind
from actors.sources.azuro import kind as azuro
from actors.sources.azuro import prices as of_azuro
from actors.sources.azuro.options import CONDITIONS, GAMES, AzuroOptions
from actors.sources.azuro.prices import listed_match, result_of
from actors.sources.azuro.wire import Condition
from actors.sources.polymarket import kind as polymarket
from actors.sources.polymarket.lines import MARKET_TYPES, completed, read_lines
from actors.sources.polymarket.listing import League, ListedMatch, Question, read_listing
from actors.sources.polymarket.options import SPORTS_SCOPE, PolymarketOptions, markets_scope
from actors.sources.program.lists import Lists
from tests.support.builders.polymarket import (
    ROLES,
    SOME,
    book_of,
    event_of,
    league_row,
    market_of,
    token_of,
)
from tests.support.builders.polymarket_lines import BTTS, line_book, line_market, tokens_of
from tests.support.builders.polymarket_lines import condition_of as condition_of_line
from tests.support.builders.programs import MARKETS, WITH_MARKETS, item, line, listed, upsert
from tests.support.fuzzing.polled import payload_of
from tests.support.fuzzing.prices import admitted
from tests.support.fuzzing.target import Target
from tests.support.peers.azuro import condition_of, game_of

EPL = League("epl", "Premier League", "82", is_home_first=True)
EVENT = event_of("7", "Home", "Away", 1_780_003_600)
SHARES = PolymarketOptions(kind="polymarket")
POOL = AzuroOptions(kind="azuro")
OF_SHARES = ListedMatch(
    SourceMatchId("7"),
    *("Home", "Away", "Premier League", 1_780_003_600),
    tokens=(token_of("7", "home"), token_of("7", "draw"), token_of("7", "away")),
    conditions=("0x70", "0x71", "0x72"),
    fee=0.03,
)
LINES = PolymarketOptions(kind="polymarket", markets=tuple(Kind))
OTHERS = {
    "markets": [
        line_market(EVENT, "totals", 2.5),
        line_market(EVENT, "spreads", -1.5, "home"),
        line_market(EVENT, "spreads", -1.5, "away"),
        line_market(EVENT, BTTS),
    ]
}
RESULTS = payload_of(
    json.dumps({"markets": [market_of(EVENT, role) for role in ROLES]}).encode(), markets_scope("epl")
)
OF_LINES = ListedMatch(
    SourceMatchId("7 over_under"),
    *("Home", "Away", "Premier League", 1_780_003_600, (), (), 0.0),
    questions=(
        Question(
            market_of_line(Kind.OVER_UNDER, 2.5),
            (tokens_of("7", "totals", 2.5)[0], tokens_of("7", "totals", 2.5)[1]),
            condition_of_line("7", "totals", 2.5),
            0.03,
        ),
    ),
)
SPOKEN = (
    listed(item("1"), item("2", "0.9")),
    line("begin", id="2"),
    line("match", id="2", **item("3")),
    line("end", id="2", count=1),
    upsert("3", "2.20"),
    line("remove", match="4"),
    line("alive"),
    upsert("5", markets=MARKETS),
    upsert("5", odds={"one": "2,2"}, markets={"btts": MARKETS["btts"], "over_under:2.50": {}}),
)
GAME = game_of("7", "Home", "Away", 1_780_003_600)
RESULT = msgspec.json.decode(msgspec.json.encode(condition_of("7")), type=Condition)
OF_POOL = of_azuro.ListedMatch(
    SourceMatchId("7"), "Home", "Away", "Premier League", 1_780_003_600, is_live=False, result=RESULT
)


def targets() -> tuple[Target, ...]:
    """Return the targets."""
    markets = {"markets": [market_of(EVENT, role) for role in ROLES], "next_cursor": "x"}
    books = [book_of("7", role, SOME[role], 1_780_000_000.0) for role in ROLES]
    games = {"games": [GAME], "page": 1, "perPage": 100, "total": 1, "totalPages": 1}
    conditions = {"conditions": [condition_of("7")]}
    bare = {"conditions": [{**condition_of("7"), "game": {"gameId": "7"}}]}
    words = (
        b"home",
        b"draw",
        b"away",
        b"Yes",
        b"No",
        b"moneyline",
        b"0x70",
        b"700",
        b"0.5",
        b".48",
        b"1e-3",
    )
    line_books = [line_book(token, (("0.52", "9000"),)) for token in tokens_of("7", "totals", 2.5)]
    line_words = (
        b"totals",
        b"spreads",
        b"Over",
        b"Under",
        b"-1.5",
        b"2.5",
        b"O/U 2.5",
        b"pt5",
        b"Home",
        b"Away",
    )
    states = (b"Active", b"Stopped", b"Live", b"Prematch", b"29", b"30", b"31", b"3006729", b"1.81", b"7")
    return (
        Target("polymarket_sports", _sports, (_json([league_row(), {"sport": "nba"}]),), (b"100350",)),
        Target("polymarket_markets", _markets, (_json(markets), b"[" * 3000), words),
        Target("polymarket_books", _books, (_json(books), _json(books[:1])), words),
        Target("polymarket_lines", _lines, (_json(OTHERS), b"[" * 3000), line_words),
        Target(
            "polymarket_line_books", _line_books, (_json(line_books), _json(line_books[:1])), line_words
        ),
        Target("azuro_games", _games, (_json(games), b'{"games":' * 800), states),
        Target("azuro_conditions", _conditions, (_json(conditions),), states),
        Target("azuro_odds", _odds, (_json(bare), _json(conditions)), states),
        Target(
            "program_lines",
            _program,
            (b"".join(SPOKEN), SPOKEN[0], b"".join((SPOKEN[0], *SPOKEN[-2:]))),
            (b"upsert", b"remove", b"withdraw", b"markets", b"over_under:3", b"asian_handicap:-0", b"over"),
        ),
    )


def _json(content: Any) -> bytes:
    return json.dumps(content).encode()


def _decoded(kind: PolledKind, payload: Payload, options: object) -> Any:
    try:
        return run_now(kind.decode(payload, options))
    except PayloadError:
        return None


def _priced(kind: PolledKind, body: bytes, options: object) -> int:
    content = _decoded(kind, payload_of(body, "group"), options)
    return 0 if content is None else admitted(run_now(kind.extract(content, kind.name, options)))


def _sports(body: bytes) -> int:
    read = _decoded(polymarket.KIND, payload_of(body, SPORTS_SCOPE), SHARES)
    if read is not None and not all(league.tag.isdigit() for league in read.leagues):
        raise AssertionError(f"no tag: {read.leagues}")
    return 0


def _markets(body: bytes) -> int:
    read = _decoded(polymarket.KIND, payload_of(body, markets_scope("epl")), SHARES)
    for match in read_listing(read.markets, EPL).values() if read is not None else ():
        if isinstance(match, ListedMatch) and len({*match.tokens, match.home, match.away, ""}) < 6:
            raise AssertionError(f"roles are not told apart: {match}")
    return 0


def _books(body: bytes) -> int:
    group = Group((OF_SHARES,))
    return _priced(polymarket.KIND, preface_of(group) + body, SHARES)


def _lines(body: bytes) -> int:
    """Read a page of other markets, and complete each match by its result."""
    read = _decoded(polymarket.KIND, payload_of(body, markets_scope("epl", "total")), LINES)
    main = next(iter(read_listing(_decoded(polymarket.KIND, RESULTS, LINES).markets, EPL).values()))
    for row in MARKET_TYPES.values() if read is not None else ():
        for match in read_lines(read.markets, row, EPL).matches.values():
            found = completed(match, main) if isinstance(match, ListedMatch) else match
            questions = found.questions if isinstance(found, ListedMatch) else ()
            names = {str(question.market) for question in questions}
            if len(names) < len(questions) or not all(name.startswith(row.kind) for name in names):
                raise AssertionError(f"lines are not told apart: {found}")
    return 0


def _line_books(body: bytes) -> int:
    return _priced(polymarket.KIND, preface_of(Group((OF_LINES,))) + body, LINES)


def _games(body: bytes) -> int:
    read = _decoded(azuro.KIND, payload_of(body, GAMES), POOL)
    for match in map(listed_match, read.games) if read is not None else ():
        if isinstance(match, of_azuro.ListedMatch) and len({match.home, match.away, ""}) < 3:
            raise AssertionError(f"teams are not told apart: {match}")
    return 0


def _conditions(body: bytes) -> int:
    read = _decoded(azuro.KIND, payload_of(body, CONDITIONS), POOL)
    if read is not None:
        result_of(read.conditions)
    return 0


def _program(body: bytes) -> int:
    lists, now = Lists(WITH_MARKETS), Instant(0.0, 1_780_000_000.0)
    lists.begin()
    for said in body.splitlines(keepends=True):
        try:
            run_now(lists.receive(said, now))
        except PayloadError:
            break
    return admitted(*(image.extract for image in lists.images()))


def _odds(body: bytes) -> int:
    group = of_azuro.Group((OF_POOL,))
    return _priced(azuro.KIND, preface_of(group) + body, POOL)
