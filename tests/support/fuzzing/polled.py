"""Targets of the polled sources: a CSV file, the answers of an API, and the data that come with them."""

from __future__ import annotations

import json
import tomllib
from functools import partial
from math import isfinite

import msgspec

from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.errors import PayloadError, TransportError
from actors.core.messages import Extract, ListId, Payload, Scope, SourceName
from actors.source_api.kinds import PolledKind
from actors.sources.football_data import kind as football_data
from actors.sources.table import kind as table
from actors.sources.table.guessing import configuration_of
from actors.sources.table.options import TableOptions
from actors.sources.the_odds_api import kind as the_odds_api
from actors.sources.the_odds_api.options import SPORTS_SCOPE, TheOddsApiOptions
from actors.sources.the_odds_api.plan import HEADERS, TheOddsApiPlan
from tests.support.builders import football_data as files
from tests.support.builders import table as tables
from tests.support.builders.the_odds_api import ALL_MARKETS, API_KEY, event, market, spreads, totals
from tests.support.fuzzing.prices import admitted
from tests.support.fuzzing.target import Target

ROWS = (
    files.ROW,
    files.changed(HomeTeam="Çedar City", B365H="1.85"),
    files.changed(Time="", Date="1/1/27"),
)
LINED = files.csv_bytes(
    (*files.ROW, "1.90", "1.95", "-0.25", "1.88", "2.02", "1.8"),
    (*files.changed(HomeTeam="Cedar City"), "", "", "1.85", "1.88", "2.02", ""),
    header=(*files.COLUMNS, "B365>2.5", "B365<2.5", "AHh", "B365AHH", "B365AHA", "B365C>2.5"),
)
ODD = (
    files.changed(Date="01/01/0001", Time="00:00"),
    files.changed(Date="31/12/9999", Time="23:59"),
    files.changed(HomeTeam="\u202e\0\x1b[31mAlder\u2066", AwayTeam="A\u0300" * 500),
)
API = TheOddsApiOptions(
    kind=the_odds_api.KIND.name,
    api_key=API_KEY,
    sports="football",
    credits_per_day=500,
    markets=ALL_MARKETS,
)
EVENTS = [
    event(
        f"m{number}",
        "Home",
        "Away",
        {
            "some": [market("Home", "Away", (2.1, 3.4, 3.6))],
            "other": [
                market("Home", "Away", (1.9, 3.5, 4.2)),
                market("Home", "Away", (2, 3, 4), key="h2h_lay"),
                totals((2.5, 1.9, 1.95), (3, 2.6, 1.5)),
                spreads("Home", "Away", (-0.25, 1.88, 2.02)),
            ],
        },
    )
    for number in range(2)
]
TABLE_OBJECT = json.dumps(dict(zip(tables.HEADER.split(","), tables.ROW.split(","), strict=True))).encode()
ROWED = tables.options_of(bookmaker="Book", odds_format="american", header=True)
WITH_MARKETS = tables.options_of(markets=tables.MARKETS)
WIDER = f"{tables.HEADER},{tables.MORE}"
SPORTS = [{"key": "soccer_epl", "active": True, "has_outrights": False}, {"key": "tennis"}]
REFUSAL = {"message": "Usage quota has been reached.", "error_code": "OUT_OF_USAGE_CREDITS"}


def targets() -> tuple[Target, ...]:
    """Return the targets."""
    line = files.csv_bytes(ROWS[0])
    answer = json.dumps(EVENTS).encode()
    lines = (b"totals", b"spreads", b"point", b"Over", b"Under", b"-0.25", b"2.5", b"description")
    api_tokens = (
        *lines,
        b"h2h",
        b"h2h_lay",
        b"Draw",
        b"Home",
        b"Away",
        b"soccer_epl",
        b"some",
        b"price",
        b"id",
    )
    deep = (b"[" * 5000, b'{"a":' * 5000, json.dumps(EVENTS).encode("utf-16"))
    csv_tokens = (
        *(name.encode() for name in files.COLUMNS),
        b"FTHG",
        b"Referee",
        b"Country",
        *(b"2.10,3.40,3.60", b"BFDH,BFDD,BFDA", b"AH,AD,AA", b"00/00/0000"),
        *(b"B365>2.5,B365<2.5", b"AHh,B365AHH,B365AHA", b"B365AH", b"AHCh", b"B365CAHH", b"-0.25"),
    )
    quoted = line + b'"a, b",""\r\n'
    return (
        Target(
            "football_data_file",
            _file,
            (line, files.csv_bytes(*ROWS), quoted, files.csv_bytes(*ODD), LINED),
            csv_tokens,
        ),
        Target(
            "football_data_rows",
            _rows,
            (*(",".join(row).encode() for row in ROWS), b"\n".join([",".join(ROWS[0]).encode()] * 4)),
            csv_tokens,
        ),
        Target(
            "table_csv",
            partial(_tables, (tables.options_of(), ROWED, WITH_MARKETS), ("own", "North", "")),
            (
                tables.table(f"{tables.ROW},1.9,1.95,-0.75,2.02,1.88", header=WIDER).encode(),
                tables.table(tables.ROW).encode(),
                tables.table(f"{tables.ROW},North", header=f"{tables.HEADER},Book").encode(),
            ),
            csv_tokens,
        ),
        Target(
            "table_json",
            partial(_tables, (tables.options_of(format="jsonl"),), ("own",)),
            (TABLE_OBJECT, TABLE_OBJECT + b"\n" + TABLE_OBJECT),
            (b"Home", b"Date", b'"1"'),
        ),
        Target("table_guess", _guess, (TABLE_OBJECT, line, tables.table(tables.ROW).encode()), csv_tokens),
        Target(
            "the_odds_api_odds",
            _odds,
            (answer, json.dumps(EVENTS[:1]).encode(), *deep),
            api_tokens,
        ),
        Target("the_odds_api_sports", _sports, (json.dumps(SPORTS).encode(), json.dumps(REFUSAL).encode())),
        Target(
            "the_odds_api_headers",
            _headers,
            (b"200\n499\n1\n1", b"x\n-1\n3.5\n", b"500\n0\n30\n"),
            (b"\n",),
        ),
    )


def payload_of(body: bytes, scope: str) -> Payload:
    """Return a payload with a scope."""
    return Payload(SourceName("s"), Scope(scope), ListId("l"), body, 0.0, 0.0, 1e9, answered_at=1e9)


def _file(body: bytes) -> int:
    return _prices(football_data.KIND, payload_of(body, "f.csv"), files.ALL_MARKETS, ("B365", "BFD", "A"))


def _tables(written: tuple[TableOptions, ...], keys: tuple[str, ...], body: bytes) -> int:
    return sum(_prices(table.KIND, payload_of(body, "odds.csv"), options, keys) for options in written)


def _guess(body: bytes) -> int:
    """Guess a configuration: the guess is TOML, and if no option must be set by hand, it is valid."""
    try:
        text, asked = configuration_of("odds.csv", body)
    except PayloadError:
        return 0
    file = tomllib.loads(text)
    if not asked:
        keys = tuple(bookmaker["key"] for bookmaker in file["bookmakers"].values())
        table.KIND.plan(msgspec.convert(file["sources"]["table"], TableOptions), keys)
    return 0


def _rows(rows: bytes) -> int:
    return _file(files.csv_bytes() + rows + b"\n")


def _odds(body: bytes) -> int:
    return _prices(the_odds_api.KIND, payload_of(body, "soccer_epl"), API, ("some", "other", ""))


def _prices(kind: PolledKind, payload: Payload, options: object, keys: tuple[str, ...]) -> int:
    try:
        content = run_now(kind.decode(payload, options))
    except PayloadError:
        return 0
    checked = 0
    for key in keys:
        try:
            extract: Extract = run_now(kind.extract(content, key, options))
        except PayloadError:
            continue
        if not isfinite(extract.lag_s or 0.0):
            raise AssertionError(f"the lag was {extract.lag_s}")
        checked += admitted(extract)
    return checked


def _sports(body: bytes) -> int:
    the_odds_api.explain(TransportError("refused", body=body))
    try:
        found = run_now(the_odds_api.KIND.decode(payload_of(body, SPORTS_SCOPE), API))
    except PayloadError:
        return 0
    if not all(key.startswith("soccer_") for key in found.keys):
        raise AssertionError(f"no football: {found.keys}")
    return 0


def _headers(text: bytes) -> int:
    """Read the headers that report the credits, first as headers of an answer, then of a refusal."""
    plan, now = TheOddsApiPlan(API, ("some",)), Instant(0.0, 1e9)
    values = text.decode("latin-1").split("\n")
    for at in range(0, len(values), len(HEADERS)):
        headers = dict(zip(HEADERS, values[at:], strict=False))
        for target in plan.targets():
            plan.on_asked(target, now)
            plan.on_answered(target, headers, now)
            delay_s = plan.on_failed(target, TransportError("x", status=429, headers=headers), now)
            if not delay_s >= 0.0:
                raise AssertionError(f"the delay was {delay_s}")
    if not all(isfinite(value or 0.0) for value in (plan.quota() or {}).values()):
        raise AssertionError(f"the budget was {plan.quota()}")
    return 0
