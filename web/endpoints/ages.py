"""Times of a fixture's prices; apart from the fixture, because ages change without a new version.

These answers must not be cached.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isfinite

from msgspec import UNSET

from actors.board.snapshot import Entry, Readable, Snapshot
from actors.core.clock import Clock, Instant
from actors.core.messages import BookmakerId, Prices, event_id_of
from actors.market_fixtures.model import market_fixture_id
from actors.markets.market import ONE_X_TWO, Kind
from actors.matches.model import fixtures_of
from actors.matching.event import FixtureId
from web.encoding import link_schemas as schemas
from web.protocol.contract import CLOSED, COUNTED, Answer, Operation
from web.protocol.problems import Problem
from web.protocol.query import ONE_MARKET, Parameter, Query
from web.protocol.responses import Asked, Handler, Prepared, prepared_json

AGES, FORMER = "/api/v2/fixtures/{id}/ages", "/monitor/fixtures/{id}"
FIXTURE = Parameter("id", "The id of a fixture.", is_required=True, place="path")
OPERATIONS: Mapping[str, Operation] = {
    path: Operation(
        "How old the prices of a fixture are",
        "They are apart from the fixture, because ages change without a new version.",
        (Answer(200, "The times.", schemas.FixtureAges, headers=("Cache-Control",)),),
        (FIXTURE, ONE_MARKET),
        ("not_found", "invalid_market", *refusals),
    )
    for path, refusals in ((AGES, COUNTED), (FORMER, CLOSED))
}


def handlers(board: Readable, clock: Clock, markets: Mapping[Kind, Readable]) -> dict[str, Handler]:
    """Return the handlers by path, also for the former path; `markets` are the boards of other kinds."""

    async def ages(request: Asked) -> Prepared:
        match_id = FixtureId(request.path.removesuffix("/ages").rpartition("/")[2])
        market = Query(request.query).market()
        snapshot = await markets.get(market.kind, board).read()
        state, is_usual = fixtures_of(snapshot), market is ONE_X_TWO
        fixture = state.get(match_id if is_usual else market_fixture_id(match_id, market))
        if fixture is None:
            raise Problem(404, "not_found", "there is no such fixture; /api/v2/fixtures lists them")
        now, roster = clock.now(), state.terms.roster
        times = {
            name: _confirmed_at(snapshot, name, entry, now) if roster[name].prices is Prices.LIVE else None
            for name, entry in fixture.entries.items()
        }
        entries = {
            event_id_of(entry.id): schemas.EntryAge(times[name], entry.updated)
            for name, entry in fixture.entries.items()
        }
        of = UNSET if is_usual else str(market)
        at = round(now.wall, 3)
        return prepared_json(schemas.FixtureAges(snapshot.version, at, match_id, entries, of))

    return {AGES: ages, FORMER: ages}


def _confirmed_at(snapshot: Snapshot, bookmaker: BookmakerId, entry: Entry, now: Instant) -> float | None:
    book = snapshot.books[bookmaker]
    age_s = now.mono - book.vouched_mono(entry) if entry.scope in book.lists else inf
    return round(now.wall - age_s, 3) if isfinite(age_s) else None  # no time from another process yet
