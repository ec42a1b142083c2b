"""How old the prices of a fixture are; bodies of fixtures have no ages, which change without a new version.

Nothing here may be cached.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isfinite

from actors.board.snapshot import Entry, Readable, Snapshot
from actors.core.clock import Clock, Instant
from actors.core.messages import BookmakerId, Prices
from actors.matches.model import fixtures_of
from actors.matching.event import FixtureId
from web.encoding import link_schemas as schemas
from web.protocol.contract import CLOSED, COUNTED, Answer, Operation
from web.protocol.problems import Problem
from web.protocol.query import Parameter
from web.protocol.responses import Asked, Handler, Prepared, prepared_json

AGES, FORMER = "/api/v2/fixtures/{id}/ages", "/monitor/fixtures/{id}"
FIXTURE = Parameter("id", "The id of a fixture.", is_required=True, place="path")
OPERATIONS: Mapping[str, Operation] = {
    path: Operation(
        "How old the prices of a fixture are",
        "Bodies of fixtures have no ages: these change without a new version.",
        (Answer(200, "The times.", schemas.FixtureAges, headers=("Cache-Control",)),),
        (FIXTURE,),
        ("not_found", *refusals),
    )
    for path, refusals in ((AGES, COUNTED), (FORMER, CLOSED))
}


def handlers(board: Readable, clock: Clock) -> dict[str, Handler]:
    """Return the handlers by path, of the former path as well."""

    async def ages(request: Asked) -> Prepared:
        snapshot = await board.read()
        state = fixtures_of(snapshot)
        fixture = state.get(FixtureId(request.path.removesuffix("/ages").rpartition("/")[2]))
        if fixture is None:
            raise Problem(404, "not_found", "there is no such fixture; /api/v2/fixtures lists them")
        now, roster = clock.now(), state.terms.roster
        times = {
            name: _confirmed_at(snapshot, name, entry, now) if roster[name].prices is Prices.LIVE else None
            for name, entry in fixture.entries.items()
        }
        entries = {
            entry.id: schemas.EntryAge(times[name], entry.updated)
            for name, entry in fixture.entries.items()
        }
        return prepared_json(schemas.FixtureAges(snapshot.version, round(now.wall, 3), fixture.id, entries))

    return {AGES: ages, FORMER: ages}


def _confirmed_at(snapshot: Snapshot, bookmaker: BookmakerId, entry: Entry, now: Instant) -> float | None:
    book = snapshot.books[bookmaker]
    age_s = now.mono - book.vouched_mono(entry) if entry.scope in book.lists else inf
    return round(now.wall - age_s, 3) if isfinite(age_s) else None  # of another process: not known yet
