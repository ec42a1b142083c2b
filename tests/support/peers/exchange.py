"""The exchange in memory, for virtual time: its stream, line by line, and its web site."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Self

import anyio
from anyio import EndOfStream
from anyio.abc import ByteStream

from actors.core.errors import TransportError
from actors.transports.lines import LineConnection
from tests.support.builders.betfair import SUCCESS, Json, failure, heartbeat, image, line, market

REFUSED = TransportError("refused", reason="connection")


class Wire(ByteStream):
    """One connection: it answers requests as the exchange's script says, and sends a test's messages."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
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
        self._exchange.requests.append(request)
        await self._exchange.taking.wait()
        self.say(*self._exchange.answer(request))

    async def send_eof(self) -> None:
        """Do nothing."""

    async def aclose(self) -> None:
        """Do nothing."""


class Exchange:
    """The script. `requests` came by the stream, `asked` by the web, with their times; `opened` has times.

    `answer(request)` returns the stream's answer to a request; `web(url)` the web's answer, or raises.
    While `is_refused` no connection succeeds; until `taking` is set, no line from us is accepted.
    """

    def __init__(self) -> None:
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

    @property
    def wire(self) -> Wire:
        """The newest connection."""
        return self.wires[-1]

    def say(self, *messages: Json | bytes) -> None:
        """Send messages to the newest subscription; bytes are sent unchanged."""
        number = self.subscriptions()[-1]["id"]
        self.wire.say(
            *(message if isinstance(message, bytes) else {**message, "id": number} for message in messages)
        )

    def subscriptions(self) -> list[Json]:
        """Return the subscription requests."""
        return [request for request in self.requests if request["op"] == "marketSubscription"]

    def requested(self, ending: str) -> list[Mapping[str, str]]:
        """Return the headers of the requests to the web whose address ends with `ending`."""
        return [headers for _, url, headers, _ in self.asked if url.endswith(ending)]

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

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[LineConnection]:
        """Open a connection of the stream."""
        self.opened.append(anyio.current_time())
        if self.is_refused:
            raise REFUSED
        self.wires.append(Wire(self))
        yield LineConnection(self.wire, 2**20)

    @asynccontextmanager
    async def open_web(self) -> AsyncIterator[Self]:
        """Return the way to the web, which is this object."""
        yield self


def granted(request: Json, *markets: Json) -> list[Json]:
    """Grant everything, and begin with an image of these markets, or of a single market."""
    return granted_with(request, image(*(markets or (market(),))))


def granted_with(request: Json, *messages: Json) -> list[Json]:
    """Grant everything, and begin a subscription with these messages."""
    success = {**SUCCESS, "id": request["id"]}
    if request["op"] != "marketSubscription":
        return [success]
    return [success, *({**message, "id": request["id"]} for message in messages)]


def refused(request: Json, code: str) -> list[Json]:
    """Refuse a request; only a subscription that is too large leaves the connection open."""
    return [failure(code, closed=code != "SUBSCRIPTION_LIMIT_EXCEEDED", id=request["id"])]
