"""/api/v2/movers: the fixtures whose consensus moved most, and when each bookmaker was seen to follow."""

from __future__ import annotations

from functools import partial
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from actors.archive.lines.movers import AskedMovers, read_movers
from actors.archive.past import Days, NotYet, Past
from actors.board.snapshot import Snapshot
from actors.core.clock import Clock
from actors.lines.line import Moment
from actors.matches.leagues import league_of_fixture
from actors.matches.model import fixtures_of
from web.endpoints.past.bodies import Body, answered, encoded, tabled
from web.endpoints.past.lines import terms_of
from web.endpoints.past.mover_schemas import MoverList, Names, csv_of, shown
from web.feeds.fixture_lists import league_meant
from web.feeds.past_lists import not_now, read_for
from web.feeds.subscribers import Live
from web.protocol.contract import ACCEPT_ENCODING, CACHED, COUNTED, CSV, IF_NONE_MATCH, Answer, Operation
from web.protocol.negotiation import Coding, Format, acceptable
from web.protocol.query import FORMAT, LEAGUE
from web.protocol.responses import Asked, Handler, Prepared
from web.protocol.span import LEAST, MARKET, WINDOW, SpanQuery

PATH = "/api/v2/movers"
_NO_LEAGUE: Final = ""
"""An id that no league has, for a requested league that no match has."""


OPERATIONS = {
    PATH: Operation(
        "What moved most",
        "The fixtures whose consensus of fair odds moved most in a time, at most 100, and when each"
        " bookmaker was seen to follow.",
        (
            Answer(200, "The moves.", MoverList, headers=(*CACHED, "Vary", "Content-Encoding"), also=CSV),
            Answer(304, "The client has this already.", headers=(*CACHED, "Vary")),
        ),
        (WINDOW, LEAST, MARKET, LEAGUE, FORMAT, IF_NONE_MATCH, ACCEPT_ENCODING),
        (
            *(f"invalid_{parameter.name}" for parameter in (WINDOW, LEAST, MARKET, LEAGUE, FORMAT)),
            *("not_acceptable", "commit_late", "linking", *COUNTED),
        ),
    )
}


class _Form(Struct, frozen=True):
    """A request for moves, with the board; the league is an id."""

    board: Snapshot
    names: Names
    window_s: int
    league_id: str | None
    coding: Coding
    format: Format


def handlers(live: Live, clock: Clock, past: Past | None) -> dict[str, Handler]:
    """Return the handler by path; none without an archive, or if the board does not link events."""
    if past is None or live.fixtures is None:
        return {}

    async def movers(request: Asked) -> Prepared:
        query = SpanQuery(request.query)
        window_s, least, market, league = query.window_s(), query.least(), query.market(), query.league()
        coding, format_ = acceptable(request.header(b"accept-encoding")), query.format()
        await live.read_boards(None)
        main, now_ms = live.board.newest, round(clock.now().wall * 1000)
        of_kind = live.markets.get(market.kind)
        board = main if of_kind is None else of_kind.board.newest
        newest = max(main, board, key=lambda of: of.version)
        if league is not None:
            found = league_meant(league, fixtures_of(main))
            league = await live.answers.own.charged(found, request.client) or _NO_LEAGUE
        if not await past.written(newest.version):
            raise not_now("what is shown now is not written yet; try again later")
        last = Moment(newest.version, min(round(newest.made_at * 1000) or now_ms, now_ms))
        span = now_ms - window_s * 1000, now_ms, last
        asked = AskedMovers(*span, least, market, *terms_of(live), ())
        what = partial(_made, asked=asked, form=_Form(board, live.names, window_s, league, coding, format_))
        made = await read_for(request.client, past, live.answers.own, what)
        if isinstance(made, NotYet):
            raise not_now(f"the newest version in the archive is {made.newest}; try again later")
        return answered(made, coding, request, live)

    return {PATH: movers}


def _made(days: Days, asked: AskedMovers, form: _Form) -> Body | NotYet:
    """Read moves and encode them; runs in a thread."""
    fixtures = [
        of
        for of in fixtures_of(form.board)
        if of.market == asked.market and form.league_id in {None, league_of_fixture(of).id}
    ]
    found = read_movers(days, replace(asked, fixtures=fixtures))
    if isinstance(found, NotYet):
        return found
    if form.format is Format.CSV:
        return tabled(csv_of(found, asked.market, form.names), form.coding)
    return encoded(shown(found, asked, form.window_s, form.names), form.coding)
