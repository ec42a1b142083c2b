"""For operators: where the price of an entry comes from, or why there is none.

It shows the board and the records as they are, even if entries are overdue or a commit hangs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import anyio

from actors.archive.past import Past
from actors.board.history import Change, ListHistory
from actors.board.snapshot import Entry, Readable
from actors.core.clock import Clock
from actors.core.messages import BookmakerId
from actors.monitoring.status import BookmakerStatus, ServiceStatus
from actors.review.review import Review
from actors.review.trace import (
    Left,
    Traced,
    TracedMarket,
    is_named,
    left_of_board,
    nearest,
    remembered,
    searched,
    split,
    traced,
    traced_markets,
    unknown,
)
from web.encoding import entry_schemas as schemas
from web.endpoints.operators import entry_views as views
from web.feeds.own_bodies import OwnBodies
from web.feeds.past_lists import MarketRows, last_of, last_of_markets, named_then
from web.feeds.subscribers import Audience
from web.protocol.contract import CLOSED, Answer, Operation
from web.protocol.query import Parameter
from web.protocol.responses import Asked, Handler, Prepared, prepared_json

TRACE = "/monitor/entries/{id}"
MAX_STEPS, MAX_NAMED = 10, 20
PATIENCE_S = 3.0
"""Seconds to wait for the archive and for the linker; the answer is complete except for their parts."""

_ID = "The id of an entry, `BOOKMAKER_ID`; a market behind it is left out."
ENTRY = Parameter("id", _ID, is_required=True, place="path")
OPERATIONS = {
    TRACE: Operation(
        "Where the price of an entry comes from, or why there is none",
        "For an id without an entry: why, since when, which ids are similar, and which have left.",
        (Answer(200, "The entry's state and history.", schemas.EntryTrace, headers=("Cache-Control",)),),
        (ENTRY,),
        CLOSED,
    ),
}


class Remembering(Readable, Protocol):
    """A board that keeps the changes of its entries."""

    @property
    def history(self) -> ListHistory:
        """The newest changes: the last change of each entry."""
        ...


def handlers(
    board: Readable,
    status: ServiceStatus,
    clock: Clock,
    audience: Audience,
    own: OwnBodies,
    *,
    review: Review | None,
    past: Past | None,
    beside: tuple[Remembering, ...] = (),
) -> dict[str, Handler]:
    """Return the handlers by path; the search for an entry counts as work in `own`.

    `beside` are the boards of kinds of market other than 1X2.
    """
    parts = (board, status, clock, audience.history, review or Review(), past, own, beside)
    return {TRACE: _Entries(*parts).trace}


@dataclass(frozen=True, slots=True)
class _Entries:
    board: Readable
    status: ServiceStatus
    clock: Clock
    history: ListHistory
    review: Review
    past: Past | None
    own: OwnBodies
    markets: tuple[Remembering, ...]

    async def trace(self, request: Asked) -> Prepared:
        given, _ = split(request.path.rpartition("/")[2])
        record = self.status.bookmakers.get(BookmakerId(given.partition("_")[0]))
        if record is None:
            found = unknown(given, self.status.bookmakers)
            near, left = await self._named(given, request.client)
            return await self._answer(found, None, [], client=request.client, near=near, left=left)
        change = await self.own.run(self.history.last(record.id, given), request.client)
        now, oldest = self.clock.now(), self.history.oldest(record.id)
        found = traced(self.board.newest, record, given, change=change, oldest=oldest, now=now)
        rows = None
        with anyio.move_on_after(PATIENCE_S):
            rows = await last_of(request.client, self.past, self.own, given, MAX_STEPS)
        is_read = None if self.past is None else rows is not None
        if rows and (reason := rows[0].past.reason) is not None:
            before = next((row.past.entry for row in rows if row.past.entry is not None), None)
            found = remembered(found, reason, rows[0].at_ms / 1000, before)
        steps, near = views.steps_view(found, rows or [], schemas.step), list[Entry]()
        if found.entry is None:
            near = await self.own.run(nearest(self.board.newest, given), request.client)
        return await self._answer(found, record, steps, client=request.client, archived=is_read, near=near)

    async def _named(self, given: str, client: str | None) -> tuple[list[Entry], list[Left]]:
        """Return the entries most similar to `given`, and entries with these teams that left the board."""
        named = partial(is_named, given.casefold())
        near, found = await self.own.run(searched(self.board.newest, self.history, given), client)
        with anyio.move_on_after(PATIENCE_S):
            archived = await named_then(client, self.past, self.own, named, MAX_NAMED)
            found += [left for rows in archived if (left := views.left_of(rows)) is not None]
        return near, left_of_board(self.board.newest, found)

    async def _answer(
        self,
        found: Traced,
        record: BookmakerStatus | None,
        steps: list[schemas.EntryStep],
        *,
        client: str | None,
        near: Sequence[Entry],
        archived: bool | None = None,
        left: Sequence[Left] = (),
    ) -> Prepared:
        snapshot, now = self.board.newest, self.clock.now()
        fixture, markets, rows = None, list[TracedMarket](), MarketRows()
        if record is not None:
            fixture = await views.fixture_view(self.review, snapshot, record, found, PATIENCE_S)
            rows, markets = await self._markets(record, found.id, client)
        before = [row.past.entry for some in rows.values() for row in some]
        known = next(filter(None, [found.known, *(of.known.known for of in markets), *before]), None)
        content = schemas.EntryTrace(
            version=snapshot.version,
            epoch=snapshot.epoch,
            now=round(now.wall, 3),
            id=found.id,
            absent=views.absent_view(found),
            match=None if known is None else schemas.traced_match(known.match),
            steps=tuple(steps[:MAX_STEPS]),
            archived=archived,
            list=None if record is None else views.list_view(found, record, snapshot, now),
            rejected=views.rejected_view(found),
            bookmaker=None if record is None else views.bookmaker_view(record, snapshot, now),
            source=None if record is None else views.entry_source(record.source, self.status.cluster),
            fixture=fixture,
            near=tuple(map(schemas.near_entry, near)),
            left=tuple(map(schemas.left_entry, left)),
            markets=() if record is None else views.market_views(markets, record, now, rows, MAX_STEPS),
        )
        return prepared_json(content)

    async def _markets(
        self, record: BookmakerStatus, given: str, client: str | None
    ) -> tuple[MarketRows, list[TracedMarket]]:
        """Return a match's other markets, from the archive and from the board."""
        changes, begin = list[Change](), f"{given} "
        for board in self.markets:
            changes += await self.own.run(board.history.beginning_with(record.id, begin), client)
        rows: MarketRows | None = None
        with anyio.move_on_after(PATIENCE_S):
            rows = await last_of_markets(client, self.past, self.own, given, MAX_STEPS)
        newest, rows = [board.newest for board in self.markets], rows or {}
        return rows, traced_markets(newest, record, given, changes, rows)
