"""The actor of a stream in virtual time, with a scripted server, a scripted web and a recording inbox."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import anyio
import msgspec
from anyio import EndOfStream
from anyio.abc import ByteStream

from actors.board.board import BoardRules
from actors.board.snapshot import Snapshot
from actors.core.cooperative import run_now
from actors.core.errors import TransportError
from actors.core.messages import Batch, BookmakerId, Document, Scope
from actors.pipeline.context import SourceContext
from actors.pipeline.stream_source import StreamSourceActor
from actors.runtime.conflation import merged_deliveries
from actors.runtime.mailbox import Mailbox
from actors.runtime.supervisor import ChildSpec
from actors.source_api.stream import StreamOptions
from actors.sources.betfair.kind import KIND
from actors.transports.lines import LineConnection
from tests.support.builders.betfair import OPTIONS, SUCCESS, Json, heartbeat, image, line, market
from tests.support.systems.committing import Committing
from tests.support.systems.scopes import Longest
from tests.support.systems.supervision import source_record, supervised
from tests.support.time.virtual import VirtualClock, settle

EXCHANGE = BookmakerId("exchange")
REFUSED = TransportError("refused", reason="connection")


class Inbox(Mailbox[Scope, Document | Batch]):
    """An inbox that records each item, and applies it to the board at once while `is_shown`."""

    def __init__(self, published: Committing, clock: VirtualClock) -> None:
        super().__init__(lambda delivery: delivery.scope, merged_deliveries)
        self.batches: list[Batch] = []
        self.is_shown = True
        self._published = published
        self._clock = clock

    def put_nowait(self, item: Document | Batch) -> None:
        """Record the item and show it."""
        assert isinstance(item, Batch)
        self.batches.append(item)
        if self.is_shown:
            self._published.current()
            board = self._published.board()
            run_now(board.apply(item, self._clock.now()))
            self._published.commit(board)


class Wire(ByteStream):
    """One connection: it answers requests as the stage says, and sends what a test wants."""

    def __init__(self, stage: StreamStage) -> None:
        self._stage = stage
        self._incoming: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.say({"op": "connection", "connectionId": "1"})

    def say(self, *messages: Json | bytes) -> None:
        """Send messages; bytes are sent unchanged."""
        for message in messages:
            raw = message if isinstance(message, bytes) else line(message) + b"\r\n"
            self._incoming.put_nowait(raw)

    def close(self) -> None:
        """End the connection without notice."""
        self._incoming.put_nowait(None)

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """Wait for the next bytes."""
        del max_bytes
        raw = await self._incoming.get()
        if raw is None:
            raise EndOfStream
        return raw

    async def send(self, item: bytes) -> None:
        """Answer a request."""
        request = json.loads(item)
        self._stage.requests.append(request)
        await self._stage.taking.wait()
        self.say(*self._stage.answer(request))

    async def send_eof(self) -> None:
        """Do nothing."""

    async def aclose(self) -> None:
        """Do nothing."""


class StreamStage:
    """A stream's actor and everything around it. `asked` are the requests to the web, with their times.

    `answer(request)` returns the server's answer to a request; `web(url)` that of the web, or raises.
    While `is_refused` no connection succeeds; until `taking` is set no line of ours is accepted.
    """

    def __init__(self, random: Random | None = None, max_matches: int = 100, **options: Any) -> None:
        self.clock = VirtualClock()
        self.opened: list[float] = []
        self.wires: list[Wire] = []
        self.requests: list[Json] = []
        self.asked: list[tuple[float, str, Mapping[str, str], bytes]] = []
        self.is_refused = False
        self.answer: Callable[[Json], list[Json]] = granted
        self.web: Callable[[str], bytes] = lambda _: b'{"result":[]}'
        self.web_delay_s = 0.0
        self.taking = anyio.Event()
        self.taking.set()
        self.published = published = Committing(
            Snapshot.empty(1, (EXCHANGE,)), BoardRules(max_matches=max_matches), self.clock
        )
        self.inbox = Inbox(published, self.clock)
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
    def wire(self) -> Wire:
        """The newest connection."""
        return self.wires[-1]

    @property
    def version(self) -> int:
        """The version that a reader gets."""
        return self.published.current().version

    def subscriptions(self) -> list[Json]:
        """Return the subscription requests."""
        return [one for one in self.requests if one["op"] == "marketSubscription"]

    def shown(self) -> int:
        """Return the number of matches that a reader sees."""
        return self.published.current().books[EXCHANGE].count

    def withdraw(self) -> None:
        """Withdraw everything from the board, as the aggregator does with a list that it rejects."""
        scopes = self.published.current().books[EXCHANGE].lists
        board = self.published.board()
        for scope in scopes:
            run_now(board.withdraw(EXCHANGE, scope))
        self.published.commit(board)

    def times(self, ending: str) -> list[float]:
        """Return the times of the requests whose address has that ending."""
        return [at for at, url, _, _ in self.asked if url.endswith(ending)]

    async def beat(self) -> None:
        """Send a heartbeat every five seconds, forever."""
        while True:
            await anyio.sleep(5.0)
            if self.wires:
                self.wire.say(heartbeat(id=None))

    async def ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> bytes:
        """Answer a request to the web."""
        del method
        self.asked.append((anyio.current_time(), url, headers, body))
        await anyio.sleep(self.web_delay_s)
        return self.web(url)

    def _start(self) -> StreamSourceActor:
        return StreamSourceActor(KIND, self.context, self._connected, self._rest)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[LineConnection]:
        self.opened.append(anyio.current_time())
        if self.is_refused:
            raise REFUSED
        self.wires.append(Wire(self))
        yield LineConnection(self.wire, 2**20)

    @asynccontextmanager
    async def _rest(self) -> AsyncIterator[StreamStage]:
        yield self


def granted(request: Json, *markets: Json) -> list[Json]:
    """Grant everything, and begin with an image of these markets, or of one."""
    success = {**SUCCESS, "id": request["id"]}
    if request["op"] != "marketSubscription":
        return [success]
    return [success, image(*(markets or (market(),)), id=request["id"])]


@asynccontextmanager
async def running(stage: StreamStage, *, beats: bool = True) -> AsyncIterator[None]:
    """Run the actor within the block, with or without heartbeats of the server."""
    async with supervised(stage.child), anyio.create_task_group() as tasks:
        if beats:
            tasks.start_soon(stage.beat)
        await settle()
        yield
        tasks.cancel_scope.cancel()
