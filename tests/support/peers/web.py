"""A bookmaker's web site in memory, for virtual time: the test scripts each HTTP answer.

    web = Web(serving(b"..."))
    web.answers["/some"] = hanging

The transport above it is the real one, without sockets.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

import anyio
import httpx2

from actors.core.clock import Clock
from actors.service.settings import SourceSettings
from actors.source_api.kinds import PolledKind
from actors.source_api.options import PolledOptions
from actors.transports.polling import FetchLimits, PollingTransport
from tests.support.peers.plain_http import NO_TLS

DATE = "Thu, 28 May 2026 20:20:00 GMT"
"""The clock of every site stands still, at the time of the site's prices, so that no price is late."""

Answer = Callable[[httpx2.Request], Awaitable[httpx2.Response]]


async def missing(request: httpx2.Request) -> httpx2.Response:
    """Answer 404."""
    del request
    return _whole(404, b"", {})


class Web(httpx2.AsyncBaseTransport):
    """One site: `answers` by path, `answer` for all others; `requests` came at the times `asked`."""

    def __init__(self, answer: Answer = missing) -> None:
        self.answer = answer
        self.answers: dict[str, Answer] = {}
        self.asked: list[float] = []
        self.requests: list[httpx2.Request] = []
        self._reached: list[anyio.Event] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer by the script."""
        self.asked.append(anyio.current_time())
        self.requests.append(request)
        while self._reached:
            self._reached.pop().set()
        return await self.answers.get(request.url.path, self.answer)(request)

    async def reached(self) -> None:
        """Wait for the next request."""
        self._reached.append(anyio.Event())
        await self._reached[-1].wait()

    @asynccontextmanager
    async def connect(self, source: SourceSettings, clock: Clock) -> AsyncIterator[PollingTransport]:
        """Open the real transport of a polled source to this site."""
        async with _Transport(self, source, clock) as transport:
            yield transport


class _Transport(PollingTransport):
    def __init__(self, web: Web, source: SourceSettings, clock: Clock) -> None:  # the base's opens sockets
        kind, options = source.kind, source.options
        assert isinstance(kind, PolledKind)
        assert isinstance(options, PolledOptions)
        self._timeout_s = options.timeout_s
        self._limits = FetchLimits(options.timeout_s, options.max_payload_bytes, options.max_inflated_bytes)
        self._clock = clock
        self._kept = sorted({"date", "etag", "last-modified", *kind.headers})
        sent = {} if kind.sent_headers is None else kind.sent_headers(options)
        self._client = httpx2.AsyncClient(
            transport=web, timeout=None, trust_env=False, verify=NO_TLS, headers=dict(sent)
        )


class Dripping(httpx2.AsyncByteStream):
    """A body of which one byte comes each second."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the bytes, for ever."""
        while True:
            await anyio.sleep(1.0)
            yield b"x"


def serving(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """Return a function that answers with a status and a body."""

    async def answer(request: httpx2.Request) -> httpx2.Response:
        del request
        return _whole(status, body, headers or {})

    return answer


def conditional(body: bytes, etag: str, headers: Mapping[str, str] | None = None) -> Answer:
    """Return a function that answers with a body, ETag and headers, or 304 if the request has this ETag."""

    async def answer(request: httpx2.Request) -> httpx2.Response:
        known = request.headers.get("if-none-match") == etag
        return _whole(304 if known else 200, b"" if known else body, {"ETag": etag, **(headers or {})})

    return answer


def is_conditional(request: httpx2.Request) -> bool:
    """Return whether the request has validators."""
    return not {"if-none-match", "if-modified-since"}.isdisjoint(request.headers)


async def refusing(request: httpx2.Request) -> httpx2.Response:
    """Refuse the connection."""
    raise httpx2.ConnectError("connection refused", request=request)


async def dropping(request: httpx2.Request) -> httpx2.Response:
    """Take the request and close the connection."""
    raise httpx2.RemoteProtocolError("closed without an answer", request=request)


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
