"""/api/v2/markets: the markets on the board, of all matches or of one match."""

from __future__ import annotations

import msgspec

from actors.board.snapshot import Snapshot
from actors.core.cooperative import Sliced
from actors.market_fixtures.model import MarketState
from actors.markets.market import Kind, Market
from actors.matches.model import Fixture, FixtureState, FixtureView, ViewKind, fixtures_of
from actors.matching.event import FixtureId
from web.encoding.market_schemas import Listed, MarketList
from web.encoding.schemas import cursor_of
from web.feeds.own_bodies import Content, Room
from web.feeds.subscribers import Live
from web.protocol.contract import CACHED, COUNTED, IF_NONE_MATCH, Answer, Operation
from web.protocol.negotiation import has_already
from web.protocol.query import FIXTURE, Query
from web.protocol.responses import Asked, Handler, Prepared, prepared

PATH = "/api/v2/markets"
OPERATIONS = {
    PATH: Operation(
        "The markets on the board",
        "Each with the number of its fixtures, the bookmakers that list it, and its newest change.",
        (
            Answer(200, "The markets.", MarketList, headers=CACHED),
            Answer(304, "The client has this version already.", headers=CACHED),
        ),
        (FIXTURE, IF_NONE_MATCH),
        ("invalid_fixture", "commit_late", "linking", *COUNTED),
    )
}
_ALL = FixtureView(ViewKind.FIXTURES)


def handlers(live: Live) -> dict[str, Handler]:
    """Return the handler by path; none if the board does not link events."""

    async def markets(request: Asked) -> Prepared:
        fixture_id = Query(request.query).fixture()
        await live.read_boards(request.header(b"if-none-match"))
        boards = {Kind.ONE_X_TWO: live.board.newest}
        boards |= {kind: of.board.newest for kind, of in live.markets.items()}
        version = max(fixtures_of(board).version(_ALL) for board in boards.values())
        tag = f'"{cursor_of(version, live.board.newest.epoch)}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if has_already(request.header(b"if-none-match") or "", tag):
            return prepared(304, headers, None)

        def make(room: Room) -> Sliced[Content]:
            body = yield from _listed(live, boards, fixture_id, version)
            room(len(body))
            return Content(version, (body,))

        body = await live.answers.own.get((PATH, fixture_id), version, request.client, make)
        parts = () if body is None else body.parts
        return prepared(200, {**headers, "Content-Type": "application/json"}, parts, holds=body)

    return {} if live.fixtures is None else {PATH: markets}


def _of_match(state: FixtureState, match_id: FixtureId) -> list[Fixture]:
    if isinstance(state, MarketState):
        return state.of_match(match_id)
    fixture = state.get(match_id)
    return [] if fixture is None else [fixture]


def _listed(
    live: Live, boards: dict[Kind, Snapshot], match_id: FixtureId | None, version: int
) -> Sliced[bytes]:
    """Return the body with the markets on these boards."""
    found: dict[Market, Listed] = {}
    for board in boards.values():
        state = fixtures_of(board)
        chosen = [chunk.entries for chunk in state.chunks]
        for some in chosen if match_id is None else [_of_match(state, match_id)]:
            for fixture in some:
                found.setdefault(fixture.market, Listed(fixture.market)).add(fixture)
            yield
    kinds = [*Kind]
    ordered = sorted(found, key=lambda market: (kinds.index(market.kind), market.quarters or 0))
    shown = tuple(found[market].shown(live.names) for market in ordered)
    cursor = cursor_of(version, live.board.newest.epoch)
    return msgspec.json.encode(MarketList(version, shown, len(shown), cursor))
