"""/api/v2/value: prices above what the other bookmakers, or one reference bookmaker, call fair."""

from __future__ import annotations

from hashlib import blake2b

from msgspec.structs import replace

from actors.core.messages import BookmakerId
from actors.matches.model import FixtureView, ViewKind, fixtures_of
from web.encoding.value_schemas import ValueList
from web.endpoints.past.bodies import Body, answered
from web.feeds.lists import UNCACHED
from web.feeds.subscribers import Live
from web.feeds.value.asked import AskedValues
from web.feeds.value.lists import Values
from web.protocol.contract import ACCEPT_ENCODING, CACHED, COUNTED, CSV, IF_NONE_MATCH, Answer, Operation
from web.protocol.negotiation import acceptable
from web.protocol.query import FORMAT, LEAGUE, MARKET
from web.protocol.responses import Asked, Handler, Prepared
from web.protocol.value_query import DOUBTED, JUDGED, MIN_EV, REFERENCE, ValueQuery

PATH = "/api/v2/value"
_FILTERS = (MIN_EV, REFERENCE, JUDGED, LEAGUE, MARKET, DOUBTED, FORMAT)
_HEADERS = (*CACHED, "Vary", "X-Accel-Expires")
OPERATIONS = {
    PATH: Operation(
        "Prices above the fair price",
        "Judged at the request, because values also end as time passes. No advice: an expected value is an"
        " estimate.",
        (
            Answer(200, "The values.", ValueList, headers=(*_HEADERS, "Content-Encoding"), also=CSV),
            Answer(304, "The client has this already.", headers=_HEADERS),
        ),
        (*_FILTERS, IF_NONE_MATCH, ACCEPT_ENCODING),
        (
            *(f"invalid_{parameter.name}" for parameter in _FILTERS),
            *("invalid_at", "not_acceptable", "no_bookmaker_serving", "commit_late", "linking", *COUNTED),
        ),
    )
}


def handlers(live: Live, values: Values) -> dict[str, Handler]:
    """Return the handler by path; none if the board does not link events."""
    if live.fixtures is None:
        return {}

    async def value(request: Asked) -> Prepared:
        asked, coding = _asked(request, live), acceptable(request.header(b"accept-encoding"))
        parts = await values.made(asked, coding, request.client)
        # The tag is a hash of the body, because the list also changes without a commit.
        tag = f'"{blake2b(b"".join(parts), digest_size=12).hexdigest()}"'
        body = Body(parts, tag, is_over=False, format=asked.format)
        found = answered(body, coding, request, live)
        return replace(found, headers=(*found.headers, UNCACHED))

    return {PATH: value}


async def followed_values(query: ValueQuery, live: Live, client: str | None) -> AskedValues:
    """Return the values that a client follows, with the id of the requested league.

    Raises: Problem 400 for a forbidden parameter, and the errors of `Live.resolved`.
    """
    bookmaker = query.bookmaker(live.names)
    asked = _chosen(query, live, () if bookmaker is None else (bookmaker,))
    view = await live.resolved(FixtureView(ViewKind.SUREBETS, league=query.league()), client)
    return replace(asked, league=view.league if isinstance(view, FixtureView) else None)


def _asked(request: Asked, live: Live) -> AskedValues:
    """Return the requested values. Raises: Problem 400 for a forbidden parameter."""
    query = ValueQuery(request.query)
    query.refuse_at("is of /api/v2/odds")
    asked = _chosen(query, live, query.bookmakers(live.names))
    return replace(asked, league=query.league(), format=query.format())


def _chosen(query: ValueQuery, live: Live, bookmakers: tuple[BookmakerId, ...]) -> AskedValues:
    roster = fixtures_of(live.board.newest).terms.roster
    asked = AskedValues(
        query.of_markets(FixtureView(ViewKind.SUREBETS)),
        query.bookmaker([name for name in live.names if name in roster.live], REFERENCE),
        bookmakers,
        query.min_ev(),
        query.doubted(),
    )
    live.of(asked.view)
    return asked
