"""/api/v2/lines: the movements of an entry's prices, or of a fixture's prices and their consensus."""

from __future__ import annotations

from functools import partial
from typing import Final, assert_never

from actors.archive.lines.moved import Asked as AskedLines
from actors.archive.lines.moved import Nowhere, read_lines
from actors.archive.past import Days, Past, Unknown
from actors.core.clock import Clock
from actors.lines.links import Bookmakers, of_today
from actors.lines.told import Lines
from actors.matches.fair import Method
from actors.matches.model import FixtureState
from web.endpoints.past.bodies import Body, answered, encoded, tabled
from web.endpoints.past.line_schemas import Form, LineList, csv_of, shown
from web.endpoints.past.lines_in_memory import lines_in_memory
from web.feeds.past_lists import not_archived, not_yet, read_for
from web.feeds.subscribers import Live
from web.protocol.contract import ACCEPT_ENCODING, CACHED, COUNTED, CSV, IF_NONE_MATCH, Answer, Operation
from web.protocol.negotiation import Coding, Format, acceptable
from web.protocol.problems import Problem
from web.protocol.query import FORMAT
from web.protocol.responses import Asked, Handler, Prepared
from web.protocol.span import FROM, ID, MARKET, POINTS, TO, SpanQuery

PATH = "/api/v2/lines"
OPERATIONS = {
    PATH: Operation(
        "How prices moved",
        "For an entry, or for a fixture with all its bookmakers and their consensus: each price with its"
        " version and time, and each absence with its reason.",
        (
            Answer(200, "The lines.", LineList, headers=(*CACHED, "Vary", "Content-Encoding"), also=CSV),
            Answer(304, "The client has this already.", headers=(*CACHED, "Vary")),
        ),
        (ID, MARKET, FROM, TO, POINTS, FORMAT, IF_NONE_MATCH, ACCEPT_ENCODING),
        (
            *(f"invalid_{parameter.name}" for parameter in (ID, MARKET, FROM, TO, POINTS, FORMAT)),
            *("not_found", "not_acceptable", "version_not_yet", "version_not_archived"),
            *COUNTED,
        ),
    )
}
WEEK_MS: Final = 7 * 86_400_000
"""The length of the span if the request has no begin."""
FRESH_MS: Final = 5_000


def handlers(live: Live, clock: Clock, past: Past | None) -> dict[str, Handler]:
    """Return the handler by path."""

    async def lines(request: Asked) -> Prepared:
        query, now_ms = SpanQuery(request.query), round(clock.now().wall * 1000)
        span = query.span(now_ms, WEEK_MS)
        bookmakers, method = terms_of(live)
        asked = AskedLines(
            *(query.id(), query.market(), span.from_ms, span.until_ms, now_ms, bookmakers, method),
            query.points(),
        )
        coding = acceptable(request.header(b"accept-encoding"))
        if span.from_ms > now_ms:
            raise not_yet("that time has not come")
        form = Form(live.names, method, "memory" if past is None else "archive", query.format())
        if past is None:
            found = await lines_in_memory(live, asked, request.client)
            made: Body | Unknown | Nowhere = (
                found if isinstance(found, Nowhere) else _encoded(found, form, coding)
            )
        else:
            if span.until_ms > now_ms - FRESH_MS:
                await past.written(live.board.newest.version)
            what = partial(_made, asked=asked, form=form, coding=coding)
            made = await read_for(request.client, past, live.answers.own, what)
        return answered(_body(made, asked), coding, request, live)

    return {PATH: lines}


def terms_of(live: Live) -> tuple[Bookmakers, Method]:
    """Return the current bookmakers and the current method of fair odds."""
    state = live.board.newest.fixtures
    if isinstance(state, FixtureState):
        return of_today(state.terms.roster), state.terms.method
    return {}, Method.POWER


def _made(days: Days, asked: AskedLines, form: Form, coding: Coding) -> Body | Unknown | Nowhere:
    """Read lines and encode them; runs in a thread."""
    found = read_lines(days, asked)
    if isinstance(found, Unknown | Nowhere):
        return found
    return _encoded(found, form, coding)


def _encoded(found: Lines, form: Form, coding: Coding) -> Body:
    if form.format is Format.CSV:
        return tabled(csv_of(found, form), coding, is_over=found.is_over)
    return encoded(shown(found, form), coding, is_over=found.is_over)


def _body(made: Body | Unknown | Nowhere, asked: AskedLines) -> Body:
    """Return the body. Raises: Problem 404 or 410 if there is none."""
    match made:
        case Body():
            return made
        case Unknown():
            raise not_archived(made)
        case Nowhere(first, last):
            where = f"between the versions {first} and {last}"
            raise Problem(404, "not_found", f"there was no {asked.id!r} with {asked.market} {where}")
    assert_never(made)
