"""For operators: where the price of an entry comes from, or why there is none.

It reads what the board and the records have at this moment, also where something is overdue or stuck.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import anyio
import msgspec

from actors.archive.past import Days, Past
from actors.archive.reading import Row
from actors.board.history import ListHistory
from actors.board.snapshot import Entry, Readable, Snapshot
from actors.core.clock import Clock, Instant
from actors.core.messages import BookmakerId, Prices, SourceMatchId
from actors.matches.model import fixtures_of
from actors.matching.event import EventKey
from actors.monitoring.status import BookmakerStatus, ServiceStatus, SourceStatus
from actors.review.review import Review
from actors.review.trace import Traced, nearest, remembered, traced, unknown
from actors.runtime.membership import ClusterStatus
from web.encoding import entry_schemas as schemas
from web.endpoints.monitor import source_view, time_view
from web.endpoints.operators.links import shown_event
from web.feeds.own_bodies import OwnBodies
from web.feeds.past_lists import read_for
from web.feeds.subscribers import Audience
from web.protocol.contract import Answer, Operation
from web.protocol.problems import Problem
from web.protocol.query import Parameter
from web.protocol.responses import Asked, Handler, Prepared, prepared_json

TRACE = "/monitor/entries/{id}"
MAX_STEPS = 10
PATIENCE_S = 3.0
"""Seconds for the archive and the linker: the rest of the answer does not need them."""

ENTRY = Parameter("id", "The id of an entry, `BOOKMAKER_ID`.", is_required=True, place="path")
OPERATIONS = {
    TRACE: Operation(
        "Where the price of an entry comes from, or why there is none",
        "Of any id: without such an entry it says why, since when, and which ids are near.",
        (Answer(200, "What is known of it.", schemas.EntryTrace, headers=("Cache-Control",)),),
        (ENTRY,),
    ),
}


def handlers(
    board: Readable,
    status: ServiceStatus,
    clock: Clock,
    audience: Audience,
    own: OwnBodies,
    *,
    review: Review | None,
    past: Past | None,
) -> dict[str, Handler]:
    """Return the handlers by path; looking for an entry, also in the archive, counts as work of `own`."""
    return {TRACE: _Entries(board, status, clock, audience.history, review or Review(), past, own).trace}


@dataclass(frozen=True, slots=True)
class _Entries:
    board: Readable
    status: ServiceStatus
    clock: Clock
    history: ListHistory
    review: Review
    past: Past | None
    own: OwnBodies

    async def trace(self, request: Asked) -> Prepared:
        given = request.path.rpartition("/")[2]
        record = self.status.bookmakers.get(BookmakerId(given.partition("_")[0]))
        if record is None:
            return await self._answer(request, unknown(given, self.status.bookmakers), None, [])
        change = await self.own.run(self.history.last(record.id, given), request.client)
        now, oldest = self.clock.now(), self.history.oldest(record.id)
        found = traced(self.board.newest, record, given, change=change, oldest=oldest, now=now)
        rows = await self._archived(request, given)
        is_read = None if self.past is None else rows is not None
        if rows and (reason := rows[0].past.reason) is not None:
            before = next((row.past.entry for row in rows if row.past.entry is not None), None)
            found = remembered(found, reason, rows[0].at_ms / 1000, before)
        return await self._answer(request, found, record, _steps(found, rows or []), archived=is_read)

    async def _archived(self, request: Asked, given: str) -> list[Row] | None:
        """Return the last changes in the archive; None if there is none, or it does not answer in time."""
        if self.past is None:
            return None
        what = partial(Days.last_of, entry_id=given, most=MAX_STEPS)
        with anyio.move_on_after(PATIENCE_S):
            try:
                return await read_for(request.client, self.past, self.own, what)
            except Problem as problem:
                if problem.code != "overloaded":
                    raise
        return None

    async def _answer(
        self,
        request: Asked,
        found: Traced,
        record: BookmakerStatus | None,
        steps: list[schemas.EntryStep],
        *,
        archived: bool | None = None,
    ) -> Prepared:
        snapshot, now = self.board.newest, self.clock.now()
        near = list[Entry]()
        if found.entry is None:
            near = await self.own.run(nearest(snapshot, found.id), request.client)
        content = schemas.EntryTrace(
            version=snapshot.version,
            epoch=snapshot.epoch,
            now=round(now.wall, 3),
            id=found.id,
            absent=_absent(found),
            match=None if found.known is None else schemas.traced_match(found.known.match),
            steps=tuple(steps[:MAX_STEPS]),
            archived=archived,
            list=None if record is None else _list(found, record, snapshot, now),
            rejected=_rejected(found),
            bookmaker=None if record is None else _bookmaker(record, snapshot, now),
            source=None if record is None else _source(record.source, self.status.cluster),
            fixture=None if record is None else await self._fixture(snapshot, record, found),
            near=tuple(map(schemas.near_entry, near)),
        )
        return prepared_json(content)

    async def _fixture(
        self, snapshot: Snapshot, record: BookmakerStatus, found: Traced
    ) -> schemas.EntryFixture | None:
        state = fixtures_of(snapshot)
        key = EventKey(record.source.name, SourceMatchId(found.id.partition("_")[2]))
        fixture = None if found.entry is None else state.of_event(key)
        if fixture is None:
            return None
        links, near = [], None
        for member in fixture.members:
            if (event := shown_event(state, member.key)) is not None:
                to = None if member.to is None else str(member.to)
                links.append(schemas.EntryLink(event, member.rule, to))
        with anyio.move_on_after(PATIENCE_S):
            for pair in await self.review.nearest(state, (key,)) if len(links) == 1 else ():
                if (event := shown_event(state, pair.b)) is not None:
                    near = schemas.EntryCandidate(event, pair.reason)
        return schemas.EntryFixture(fixture.id, self.review.matcher is not None, tuple(links), near)


def _steps(found: Traced, rows: list[Row]) -> list[schemas.EntryStep]:
    """Return what was shown, the newest first: the last change, and those before it in the archive."""
    change, entry, steps = found.change, found.entry, list[schemas.EntryStep]()
    if change is not None:
        reason = change.reason if change.entry is None else None
        steps.append(schemas.step(change.entry, change.version, change.at, reason))
        rows = [row for row in rows if row.past.version < change.version]
    elif entry is not None and not (
        rows and rows[0].past.entry and rows[0].past.entry.updated == entry.updated
    ):
        steps.append(schemas.step(entry))
    for row in rows:
        past, at = row.past, row.at_ms / 1000
        version, committed_at = (None, None) if row.is_state else (past.version, at)
        steps.append(schemas.step(past.entry, version, committed_at, past.reason))
    if not rows and change is not None and change.before is not None:
        steps.append(schemas.step(change.before))
    return steps


def _list(
    found: Traced, record: BookmakerStatus, snapshot: Snapshot, now: Instant
) -> schemas.EntryList | None:
    state, known = found.state, found.known
    if state is None or known is None:
        return None
    is_vouched = record.source.prices is Prices.LIVE and found.entry is not None
    confirmed = state.vouched_at(known.source_match_id) if is_vouched else state.confirmed_mono
    confirmed, wall_less_mono = confirmed - snapshot.books[record.id].ahead_s, now.wall - now.mono
    stale_at = None if state.withdrawn else time_view(wall_less_mono + state.deadline)
    return schemas.EntryList(
        known.scope,
        time_view(wall_less_mono + confirmed),
        stale_at,
        state.withdrawn,
        state.doubted,
    )


def _absent(found: Traced) -> schemas.AbsentEntry | None:
    if (absent := found.absent) is None:
        return None
    return schemas.AbsentEntry(absent.reason, absent.why, time_view(absent.since))


def _rejected(found: Traced) -> schemas.EntryRejected | None:
    if found.rejected is None:
        return None
    if found.refused is None:
        return schemas.EntryRejected(found.rejected, None, None)
    match = found.refused.match
    prices = match.home_price, match.draw_price, match.away_price
    return schemas.EntryRejected(found.rejected, time_view(found.refused.at), prices)


def _bookmaker(record: BookmakerStatus, snapshot: Snapshot, now: Instant) -> schemas.EntryBookmaker:
    book = snapshot.books[record.id]
    state = record.observe(book, now)
    return schemas.EntryBookmaker(
        record.id, record.name, state, time_view(record.since), book.count, record.last_error(book)
    )


def _source(record: SourceStatus, cluster: ClusterStatus | None) -> schemas.EntrySource:
    return msgspec.convert(source_view(record, cluster), schemas.EntrySource)
