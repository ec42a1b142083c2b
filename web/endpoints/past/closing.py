"""/api/v2/closing: each bookmaker's closing prices of the fixtures that kicked off in a span of time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import isinf
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.archive.lines.closings import AskedClosings, Closings, FixtureClose, Listed
from actors.archive.past import Days, Past
from actors.core.clock import Clock
from actors.core.messages import BookmakerId, Scope
from actors.matching.leagues import league_of, league_stated
from web.endpoints.past.bodies import Body, answered, encoded, tabled
from web.endpoints.past.closing_schemas import ClosingList, csv_of, fixture_closing
from web.endpoints.past.lines import terms_of
from web.feeds.past_lists import read_for
from web.feeds.subscribers import Live
from web.protocol.contract import ACCEPT_ENCODING, CACHED, COUNTED, CSV, IF_NONE_MATCH, Answer, Operation
from web.protocol.negotiation import Coding, Format, acceptable
from web.protocol.query import BOOKMAKER, FORMAT, FROM, LEAGUE, TO
from web.protocol.responses import Asked, Handler, Prepared
from web.protocol.span import MARKET, SpanQuery

PATH = "/api/v2/closing"
DAY_MS: Final = 86_400_000
"""The length of the span if the request has no begin."""
ENCODED = 10
"""Fixtures encoded in a step: with 50 bookmakers a millisecond, during which no other thread runs."""
_encode = msgspec.json.Encoder().encode


OPERATIONS = {
    PATH: Operation(
        "Closing prices",
        "The last price of each bookmaker before the final kick-off of each fixture, or why there is none.",
        (
            Answer(
                200,
                "The closing prices.",
                ClosingList,
                headers=(*CACHED, "Vary", "Content-Encoding"),
                also=CSV,
            ),
            Answer(304, "The client has this already.", headers=(*CACHED, "Vary")),
        ),
        (FROM, TO, BOOKMAKER, LEAGUE, MARKET, FORMAT, IF_NONE_MATCH, ACCEPT_ENCODING),
        (
            *(f"invalid_{parameter.name}" for parameter in (FROM, TO, BOOKMAKER, LEAGUE, MARKET, FORMAT)),
            *("not_acceptable", *COUNTED),
        ),
    )
}


class _Form(Struct, frozen=True):
    names: Mapping[BookmakerId, str]
    bookmaker: BookmakerId | None
    league: str | None
    coding: Coding
    format: Format
    query: bytes


def handlers(live: Live, clock: Clock, past: Past | None) -> dict[str, Handler]:
    """Return the handler by path; none without an archive, or if the board does not link events."""
    if past is None or live.fixtures is None:
        return {}

    async def closing(request: Asked) -> Prepared:
        query, now_ms = SpanQuery(request.query), round(clock.now().wall * 1000)
        _, from_s, until_s, _ = query.choice()
        until_ms = now_ms + 1 if isinf(until_s) else round(until_s * 1000)
        from_ms = until_ms - DAY_MS if isinf(from_s) else round(from_s * 1000)
        asked = AskedClosings(from_ms, until_ms, now_ms, query.market(), *terms_of(live))
        coding = acceptable(request.header(b"accept-encoding"))
        form = _Form(
            live.names,
            query.bookmaker(live.names),
            query.choice()[0],
            coding,
            query.format(),
            request.query,
        )
        await past.written(live.board.newest.version)
        what = partial(_made, asked=asked, form=form)
        made = await read_for(request.client, past, live.answers.own, what)
        return answered(made, coding, request, live)

    return {PATH: closing}


def _made(days: Days, asked: AskedClosings, form: _Form) -> Body:
    """Read closing prices and encode them; runs in a thread."""
    closed = Closings(days, asked).read(_of_league(form.league))
    if form.format is Format.CSV:
        fixtures = (fixture_closing(of, asked, form.names, form.bookmaker) for of in closed.fixtures)
        body = tabled(csv_of(fixtures, asked.market), form.coding)
        return replace(body, headers=_next(closed.next_from, form.query))
    parts = b",".join(_steps(closed.fixtures, asked, form))
    of_fixtures: Any = msgspec.Raw(b"[" + parts + b"]")
    content = ClosingList(
        str(asked.market), asked.method, of_fixtures, len(closed.fixtures), closed.next_from
    )
    return encoded(content, form.coding)


def _steps(fixtures: Sequence[FixtureClose], asked: AskedClosings, form: _Form) -> Iterator[bytes]:
    for begin in range(0, len(fixtures), ENCODED):
        yield _encode(
            [
                fixture_closing(of, asked, form.names, form.bookmaker)
                for of in fixtures[begin : begin + ENCODED]
            ]
        )[1:-1]


def _next(begin: int | None, query: bytes) -> dict[str, str]:
    """Return the header with the address of the next table, if the table ends before the requested time."""
    if begin is None:
        return {}
    asked = {**dict(parse_qsl(query.decode("latin-1"))), "from": str(begin)}
    return {"Link": f'<{PATH}?{urlencode(asked)}>; rel="next"'}


def _of_league(asked: str | None) -> Callable[[Listed], bool]:
    """Return a test whether a fixture is in the league, given by its label or its id."""
    meant = None if asked is None else (league_stated(asked) or asked)

    def is_wanted(listed: Listed) -> bool:
        if asked is None or listed.league == asked:
            return True
        league = league_of(Scope(""), listed.league, teams=(listed.home, listed.away))
        return league.key == meant

    return is_wanted
