"""/api/v2/lines: the movements of an entry's prices, or of a fixture's prices and their consensus."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from hashlib import blake2b
from typing import Final, assert_never

import msgspec
from msgspec import Struct

from actors.archive.lines.moved import Asked as AskedLines
from actors.archive.lines.moved import Nowhere, read_lines
from actors.archive.past import Days, Past, Unknown
from actors.core.clock import Clock
from actors.core.cooperative import run_now
from actors.lines.links import Bookmakers, of_today
from actors.matches.fair import Method
from actors.matches.model import FixtureState
from web.encoding.segments import gzipped
from web.endpoints.past.line_schemas import Form, LineList, shown
from web.endpoints.past.lines_in_memory import lines_in_memory
from web.feeds.past_lists import not_archived, not_yet, read_for
from web.feeds.subscribers import Live
from web.protocol.contract import ACCEPT_ENCODING, CACHED, COUNTED, IF_NONE_MATCH, Answer, Operation
from web.protocol.negotiation import Coding, acceptable, has_already
from web.protocol.problems import Problem
from web.protocol.responses import Asked, Handler, Prepared, prepared
from web.protocol.span import FROM, ID, MARKET, POINTS, TO, SpanQuery

PATH = "/api/v2/lines"
OPERATIONS = {
    PATH: Operation(
        "How prices moved",
        "For an entry, or for a fixture with all its bookmakers and their consensus: each price with its"
        " version and time, and each absence with its reason.",
        (
            Answer(200, "The lines.", LineList, headers=(*CACHED, "Vary", "Content-Encoding")),
            Answer(304, "The client has this already.", headers=(*CACHED, "Vary")),
        ),
        (ID, MARKET, FROM, TO, POINTS, IF_NONE_MATCH, ACCEPT_ENCODING),
        (
            *(f"invalid_{parameter.name}" for parameter in (ID, MARKET, FROM, TO, POINTS)),
            *("not_found", "not_acceptable", "version_not_yet", "version_not_archived"),
            *COUNTED,
        ),
    )
}
WEEK_MS: Final = 7 * 86_400_000
"""The length of the span if the request has no begin."""
FRESH_MS: Final = 5_000
_DAY = "public, max-age=86400"


class Body(Struct, frozen=True):
    """Encoded lines; `is_over` if the fixture is over."""

    parts: tuple[bytes, ...]
    tag: str
    is_over: bool


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
        form = Form(live.names, method, "memory" if past is None else "archive")
        if past is None:
            found = await lines_in_memory(live, asked, request.client)
            made: Body | Unknown | Nowhere = (
                found if isinstance(found, Nowhere) else encoded(shown(found, form), coding)
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
    return encoded(shown(found, form), coding, is_over=found.is_over)


def encoded(content: object, coding: Coding, *, is_over: bool = False) -> Body:
    """Return a body whose tag is a hash of its content."""
    body = msgspec.json.encode(content)
    suffix = "" if coding is Coding.IDENTITY else f"-{coding}"
    tag = f'"{blake2b(body, digest_size=12).hexdigest()}{suffix}"'
    parts = (body,) if coding is Coding.IDENTITY else tuple(run_now(gzipped([body])))
    return Body(parts, tag, is_over)


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


def answered(made: Body, coding: Coding, request: Asked, live: Live) -> Prepared:
    """Return the answer: the body, or 304 if the client has it."""
    headers: Mapping[str, str] = {
        "ETag": made.tag,
        "Vary": "Accept-Encoding",
        "Cache-Control": _DAY if made.is_over else "no-cache",
    }
    if has_already(request.header(b"if-none-match") or "", made.tag):
        return prepared(304, headers, None)
    of_coding = {} if coding is Coding.IDENTITY else {"Content-Encoding": str(coding)}
    held = live.answers.own.hold(made.parts)
    return prepared(
        200, {**headers, **of_coding, "Content-Type": "application/json"}, held.parts, holds=held
    )
