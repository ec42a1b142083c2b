"""A network without sockets between a client and an ASGI application; it fails as the test says."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from random import Random
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from hypercorn.typing import ASGIFramework

from tests.support.systems.front_end import asgi_scope

PASSING = ("refused", "503", "404", "html", "silent", "slow", "old")
"""Moods of the network that last until they are ended."""
NEVER_CACHED = ("/api/v2/stream", "/api/v2/changes")
CUTS = ("reset", "ended", "torn")
"""The ways in which all open answers may be cut."""
PAGE = b"<!doctype html><title>Gateway</title>"


class FaultyNetwork(httpx2.AsyncBaseTransport):
    """Passes requests on to `app` (None: nothing listens), in its `mood`; answers pass without a buffer.

    In the mood `old` it repeats earlier answers, where it can, as a careless cache does.
    """

    def __init__(self, tasks: TaskGroup, random: Random) -> None:
        self.app: ASGIFramework | None = None
        self.mood = "fine"
        self.requests = 0
        self.random = random
        self._tasks = tasks
        self._open: set[_Body] = set()
        self._old: dict[str, list[tuple[int, Any, bytes]]] = {}

    def cut(self, how: str) -> None:
        """Cut all open answers."""
        for body in [*self._open]:
            body.cut(how)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request of the client. Raises: httpx2.ConnectError, httpx2.ReadTimeout."""
        self.requests += 1
        path, read_s = request.url.path, request.extensions["timeout"]["read"]
        if self.app is None or self.mood == "refused":
            raise httpx2.ConnectError("connection refused", request=request)
        if self.mood in {"503", "404", "html"}:
            status = 200 if self.mood == "html" else int(self.mood)
            return httpx2.Response(
                status, headers={"content-type": "text/html", "retry-after": "2"}, content=PAGE
            )
        if self.mood == "old" and (kept := self._old.get(path)):
            status, headers, content = self.random.choice(kept)
            return httpx2.Response(status, headers=headers, content=content)
        if self.mood == "silent":
            await anyio.sleep(read_s)
            raise httpx2.ReadTimeout("nothing came", request=request)
        body, is_begun = _Body(self, read_s), False
        self._tasks.start_soon(body.run, self.app, request)
        try:
            with anyio.move_on_after(read_s):
                status, headers = await body.head()
                keep = [] if path in NEVER_CACHED else self._old.setdefault(path, [])
                body.on_end = lambda whole: keep.append((status, headers, whole))
                is_begun = True
                return httpx2.Response(status, headers=headers, stream=body)
        finally:
            if not is_begun:
                await body.aclose()
        raise httpx2.ReadTimeout("no head came", request=request)


class _Body(httpx2.AsyncByteStream):
    def __init__(self, network: FaultyNetwork, read_s: float) -> None:
        self._network, self._read_s = network, read_s
        self._send: MemoryObjectSendStream[Any]
        self._receive: MemoryObjectReceiveStream[Any]
        self._send, self._receive = anyio.create_memory_object_stream[Any](0)
        self._scope = anyio.CancelScope()
        self._cut = ""
        self._is_asked = False
        self.on_end: Callable[[bytes], None] = lambda _: None

    async def run(self, app: ASGIFramework, request: httpx2.Request) -> None:
        """Let the application answer, until it ends or the client leaves."""
        self._network._open.add(self)
        headers = [(name.lower(), value) for name, value in request.headers.raw]
        scope = asgi_scope(request.url.path, request.url.query.decode(), headers)
        with self._scope, self._send:
            await app(scope, self._asked, self._sent)  # type: ignore[arg-type]
        self._network._open.discard(self)

    def cut(self, how: str) -> None:
        """End the answer: by a reset, by an end that looks regular, or in the middle of the next bytes."""
        self._cut = how
        if how != "torn":
            self._scope.cancel()

    async def head(self) -> tuple[int, Any]:
        """Return status and headers. Raises: httpx2.ReadError."""
        try:
            start = await self._receive.receive()
        except anyio.EndOfStream:
            raise httpx2.ReadError("reset before the answer") from None
        return start["status"], start["headers"]

    async def __aiter__(self) -> AsyncIterator[bytes]:
        whole = []
        with self._receive:
            while (message := await self._next()) is not None:
                data = message.get("body", b"")
                if self._cut == "torn" and data:
                    yield data[: self._network.random.randrange(len(data))]
                    raise httpx2.RemoteProtocolError("peer closed connection within the body")
                async for piece in self._pieces(data):
                    yield piece
                whole.append(data)
                if not message.get("more_body", False):
                    self.on_end(b"".join(whole))
                    return

    async def _next(self) -> Any:
        """Return the next message of the application; None at an end that looks regular."""
        with anyio.move_on_after(self._read_s):
            while self._network.mood == "silent":  # noqa: ASYNC110 - no event exists for an attribute
                await anyio.sleep(0.5)
            try:
                return await self._receive.receive()
            except anyio.EndOfStream:
                if self._cut == "ended":
                    return None
                raise httpx2.ReadError("connection reset by peer") from None
        raise httpx2.ReadTimeout("nothing came")

    async def _pieces(self, data: bytes) -> AsyncIterator[bytes]:
        random = self._network.random
        while data and self._network.mood == "slow":
            size = random.randrange(1, 400)
            yield data[:size]
            data = data[size:]
            await anyio.sleep(random.uniform(0.0, 2.0))
        if data:
            yield data

    async def aclose(self) -> None:
        """End the answer, as a client that leaves."""
        self._scope.cancel()
        self._receive.close()

    async def _sent(self, message: Any) -> None:
        try:
            await self._send.send(message)
        except anyio.BrokenResourceError:  # the client has left
            self._scope.cancel()
            await anyio.lowlevel.checkpoint()

    async def _asked(self) -> Any:
        if self._is_asked:
            await anyio.sleep_forever()
        self._is_asked = True
        return {"type": "http.request", "body": b"", "more_body": False}
