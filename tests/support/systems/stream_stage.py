"""The actor of a stream in virtual time, with a scripted exchange and a recording inbox."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import anyio
import msgspec

from actors.board.chunks import entries_of
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.cooperative import run_now
from actors.core.messages import Batch, BookmakerId, Document, Scope
from actors.pipeline.context import SourceContext
from actors.pipeline.stream_source import StreamSourceActor
from actors.runtime.conflation import merged_deliveries
from actors.runtime.mailbox import Mailbox
from actors.runtime.supervisor import ChildSpec
from actors.source_api.stream import StreamOptions
from actors.sources.betfair.kind import KIND
from tests.support.builders.betfair import OPTIONS
from tests.support.peers.exchange import Exchange
from tests.support.systems.committing import Committing
from tests.support.systems.scopes import Longest
from tests.support.systems.supervision import source_record, supervised
from tests.support.time.virtual import VirtualClock, settle

EXCHANGE = BookmakerId("exchange")


class Inbox(Mailbox[Scope, Document | Batch]):
    """An inbox that records each item, and applies it to the board immediately while `is_shown`."""

    def __init__(self, published: Committing) -> None:
        super().__init__(lambda delivery: delivery.scope, merged_deliveries)
        self.batches: list[Batch] = []
        self.is_shown = True
        self._published = published

    def put_nowait(self, item: Document | Batch) -> None:
        """Record the item and show it."""
        assert isinstance(item, Batch)
        self.batches.append(item)
        if self.is_shown:
            self._published.apply(item)


class StreamStage(Exchange):
    """The exchange, a stream's actor that connects to the exchange, and everything around them."""

    def __init__(self, random: Random | None = None, max_matches: int = 100, **options: Any) -> None:
        super().__init__()
        self.clock = VirtualClock()
        self.published = published = Committing(
            Snapshot.empty(1, (EXCHANGE,)), BoardRules(max_matches=max_matches), self.clock
        )
        self.inbox = Inbox(published)
        self.context: SourceContext[StreamOptions] = SourceContext(
            options=msgspec.structs.replace(OPTIONS, **options),
            keys={EXCHANGE: "exchange"},
            inboxes={EXCHANGE: self.inbox},
            status=source_record("stream"),
            refresh=asyncio.Event(),
            published=published,
            clock=self.clock,
            random=random or Longest(),
        )
        self.child = ChildSpec(self.context.status.actor, self._start)

    @property
    def version(self) -> int:
        """The version that a reader gets."""
        return self.published.current().version

    def shown(self) -> int:
        """Return the number of matches that a reader sees."""
        return self.published.current().books[EXCHANGE].count

    def ids(self) -> list[str]:
        """Return the ids of the matches on the board."""
        book = self.published.current().books[EXCHANGE]
        return [entry.source_match_id for entry in entries_of(book.chunks)]

    def withdraw(self) -> None:
        """Withdraw everything from the board, as the aggregator does with a list that it rejects."""
        scopes = self.published.current().books[EXCHANGE].lists
        board = self.published.board()
        for scope in scopes:
            run_now(board.withdraw(EXCHANGE, scope))
        self.published.commit(board)

    def times(self, ending: str) -> list[float]:
        """Return the times of the requests whose address ends with `ending`."""
        return [at for at, url, _, _ in self.asked if url.endswith(ending)]

    def _start(self) -> StreamSourceActor:
        return StreamSourceActor(KIND, self.context, self.connect, self.open_web)


@asynccontextmanager
async def running(stage: StreamStage, *, beats: bool = True) -> AsyncIterator[None]:
    """Run the actor within the block, with or without heartbeats of the server."""
    async with supervised(stage.child), anyio.create_task_group() as tasks:
        if beats:
            tasks.start_soon(stage.beat)
        await settle()
        yield
        tasks.cancel_scope.cancel()
