"""The paths of fixtures (a match with its entries at all bookmakers): lists, surebets, one fixture."""

from __future__ import annotations

from collections.abc import Awaitable

from msgspec.structs import replace

from actors.market_fixtures.views import SeveralView
from actors.matches.forms import Form
from actors.matches.model import FixtureView, ViewKind, fixtures_of
from actors.matching.event import FixtureId
from web.encoding.fixture_schemas import FixtureList, OneFixture
from web.encoding.segments import UnencodableError
from web.feeds import several_markets
from web.feeds.fixture_lists import EVERYTHING, Choice, FixturesOf
from web.feeds.subscribers import Live
from web.protocol.contract import (
    ACCEPT_ENCODING,
    CACHED,
    COUNTED,
    CSV,
    IF_NONE_MATCH,
    Answer,
    NextRequest,
    Operation,
)
from web.protocol.problems import Problem
from web.protocol.query import BOOKMAKERS, CHOICES, FAIR, FORMAT, MARKET, OF_LISTS, Parameter, Query
from web.protocol.responses import Asked, Handler, Prepared, prepared

SUREBETS = "/api/v2/surebets"
PATHS = {"/api/v2/fixtures": ViewKind.FIXTURES, SUREBETS: ViewKind.SUREBETS}
ONE = "/api/v2/fixtures/{id}"
ID = Parameter("id", "The id of a fixture.", is_required=True, place="path")

_REFUSED = ("invalid_at", "not_acceptable", "no_bookmaker_serving", "commit_late", "linking")
_OF_ONE = (*CACHED, "Vary")
_HEADERS = (*_OF_ONE, "X-Accel-Expires")
OPERATIONS = {
    **{
        path: Operation(
            summary,
            "Sorted by kick-off and id.",
            (
                Answer(
                    200,
                    "The fixtures.",
                    FixtureList,
                    headers=(*_HEADERS, "Content-Encoding"),
                    also=CSV,
                    links=(
                        NextRequest("/api/v2/changes", {"since": "$response.body#/cursor", "view": kind}),
                    ),
                ),
                Answer(304, "The client has this version already.", headers=_HEADERS),
            ),
            (*filters, IF_NONE_MATCH, ACCEPT_ENCODING),
            (*(f"invalid_{parameter.name}" for parameter in filters), *_REFUSED, *COUNTED),
        )
        for path, kind, summary, filters in (
            (
                "/api/v2/fixtures",
                ViewKind.FIXTURES,
                "The same match across bookmakers",
                (BOOKMAKERS, MARKET, *CHOICES, FAIR, FORMAT),
            ),
            (
                "/api/v2/surebets",
                ViewKind.SUREBETS,
                "Fixtures whose best prices win with every result",
                (BOOKMAKERS, MARKET, *OF_LISTS, FORMAT),
            ),
        )
    },
    ONE: Operation(
        "One fixture, and why its events are one match",
        "The evidence is from the time of linking, except `price_gap`, which is from the current prices.",
        (
            Answer(200, "The fixture.", OneFixture, headers=(*_OF_ONE, "Content-Encoding")),
            Answer(303, "Its match is in this fixture now.", headers=("Location", "Cache-Control")),
            Answer(304, "The client has this version already.", headers=_OF_ONE),
        ),
        (ID, FAIR, IF_NONE_MATCH, ACCEPT_ENCODING),
        ("not_found", "invalid_fair", *_REFUSED, *COUNTED),
    ),
}


def handlers(live: Live) -> dict[str, Handler]:
    """Return the handlers of the lists by path; none if the board does not link events."""
    paths = {} if live.fixtures is None else PATHS
    return {path: _handler(live, kind) for path, kind in paths.items()}


def handlers_of_fixture(live: Live) -> dict[str, Handler]:
    """Return the handler for one fixture; none if the board does not link events."""
    if live.fixtures is None:
        return {}
    answers, names, board = live.answers, live.names, live.board

    async def fixture(request: Asked) -> Prepared:
        fixture_id = FixtureId(request.path.rpartition("/")[2])
        query = Query(request.query)
        _refuse_past(query)
        form = Form(query.bookmaker(names, FAIR))
        await live.read_boards(request.header(b"if-none-match"))
        try:
            if (others := several_markets.other_markets(live, fixture_id, form)) is not None:
                return await several_markets.one(live, fixture_id, others, form, request)
        except UnencodableError as error:
            await answers.reject(error)
            return await fixture(request)
        tags, codings = request.header(b"if-none-match"), request.header(b"accept-encoding")
        found = await answers.fixture(fixture_id, tags, codings, form)
        if found is not None:
            return found
        holder = fixtures_of(board.newest).holder(fixture_id)
        if holder is None:
            raise Problem(404, "not_found", "there is no such fixture; /api/v2/fixtures lists them")
        asked = f"?{request.query.decode('latin-1')}" if request.query else ""
        return prepared(303, {"Location": f"{holder.id}{asked}", "Cache-Control": "no-store"}, ())

    return {ONE: fixture}


def _handler(live: Live, kind: ViewKind) -> Handler:
    names = live.names
    plain = {f"bookmaker={name}".encode(): FixturesOf(FixtureView(kind, name)) for name in names}
    plain[b""] = FixturesOf(FixtureView(kind))

    def answer(request: Asked) -> Awaitable[Prepared]:
        choice, view = EVERYTHING, plain.get(request.query)
        if view is None:
            query = Query(request.query)
            _refuse_past(query)
            asked, fair = query.bookmakers(names), query.bookmaker(names, FAIR)
            only, several = (asked[0], ()) if len(asked) == 1 else (None, asked)
            form, format_ = Form(fair, bookmakers=several), query.format()
            if kind is ViewKind.SUREBETS:
                total, step = query.division()
                form = replace(form, doubted=query.doubted(), total=total, step=step)
            if (chosen := Choice(*query.choice())) != EVERYTHING:
                choice = chosen
            asked_view = query.of_markets(FixtureView(kind, only))
            if isinstance(asked_view, SeveralView):
                live.of(asked_view)
                return several_markets.answer(live, asked_view, form, choice, request, format_=format_)
            view = FixturesOf(asked_view, form, format_)
        tags, codings = request.header(b"if-none-match"), request.header(b"accept-encoding")
        return live.of(view.view).answers.answer(view, tags, codings, choice, request.client)

    return answer


def _refuse_past(query: Query) -> None:
    """Raise Problem 400 if `at` is given, so that no current answer is taken for the past."""
    query.refuse_at("is of /api/v2/odds")
