"""A bookmaker's web site in memory, for virtual time: the test scripts each answer of HTTP.

    web = Web(clock)
    web.answer = hanging

The transport above it is the real one, without sockets.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

import anyio
import httpx2

from actors.core.clock import Clock
from actors.source_api.options import PolledOptions
from actors.transports.polling import Limits, PollingTransport
from tests.support.peers.plain_http import NO_TLS

DATE = "Thu, 28 May 2026 20:20:00 GMT"
"""The clock of every site stands still, at the time of the prices that it has: none lags."""

Answer = Callable[[httpx2.Request], Awaitable[httpx2.Response]]


class Web(httpx2.AsyncBaseTransport):
    """One site: `answer` makes every answer; `requests` are those that came, `asked` their times."""

    def __init__(self, clock: Clock, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[float] = []
        self.requests: list[httpx2.Request] = []
        self._clock = clock
        self._reached: list[anyio.Event] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer by the script."""
        self.asked.append(self._clock.now().mono)
        self.requests.append(request)
        while self._reached:
            self._reached.pop().set()
        return await self.answer(request)

    async def reached(self) -> None:
        """Wait for the next request."""
        self._reached.append(anyio.Event())
        await self._reached[-1].wait()

    def asked_from(self, mono: float) -> list[float]:
        """Return the times of the requests since that second."""
        return [at for at in self.asked if at >= mono]

    @asynccontextmanager
    async def connect(self, options: PolledOptions) -> AsyncIterator[PollingTransport]:
        """Open the real transport to this site."""
        async with _Transport(self, options, self._clock) as transport:
            yield transport


class _Transport(PollingTransport):
    def __init__(self, web: Web, options: PolledOptions, clock: Clock) -> None:  # the base's opens sockets
        self._timeout_s = options.timeout_s
        self._limits = Limits(options.timeout_s, options.max_payload_bytes, options.max_inflated_bytes)
        self._clock = clock
        self._kept = ["date", "etag", "last-modified"]
        self._client = httpx2.AsyncClient(transport=web, timeout=None, trust_env=False, verify=NO_TLS)


class Dripping(httpx2.AsyncByteStream):
    """A body of which a byte comes every second."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Give the bytes, for ever."""
        while True:
            await anyio.sleep(1.0)
            yield b"x"


def serving(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """Return answers with that status and body."""

    async def answer(request: httpx2.Request) -> httpx2.Response:
        del request
        return _whole(status, body, headers or {})

    return answer


def conditional(body: bytes, etag: str) -> Answer:
    """Return answers with that body and ETag, or 304 where the request has that ETag."""

    async def answer(request: httpx2.Request) -> httpx2.Response:
        known = request.headers.get("if-none-match") == etag
        return _whole(304 if known else 200, b"" if known else body, {"ETag": etag})

    return answer


async def refusing(request: httpx2.Request) -> httpx2.Response:
    """Refuse the connection."""
    raise httpx2.ConnectError("connection refused", request=request)


async def hanging(request: httpx2.Request) -> httpx2.Response:
    """Take the request and answer nothing."""
    await anyio.sleep_forever()
    raise AssertionError(request)


async def dripping(request: httpx2.Request) -> httpx2.Response:
    """Answer with a body that never ends."""
    del request
    return httpx2.Response(200, stream=Dripping(), headers={"Content-Length": "60000"})


def _whole(status: int, body: bytes, headers: Mapping[str, str]) -> httpx2.Response:
    every = {"Content-Length": str(len(body)), "Date": DATE}
    return httpx2.Response(status, stream=httpx2.ByteStream(body), headers={**every, **headers})
