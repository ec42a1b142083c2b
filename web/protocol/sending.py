"""Sends answers in pieces, each when the client has read enough; the fast ASGI layers in front of Quart.

Pure ASGI. A Quart route takes some 150 us, its 404 some 600 us, a layer here some 5 us.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
from hypercorn.typing import ASGIFramework, ASGIReceiveCallable, ASGISendCallable, ASGISendEvent, Scope

from actors.monitoring.status import ServiceStatus
from web.protocol.problems import Problem
from web.protocol.responses import (
    ID_BYTES,
    PREFLIGHT,
    Asked,
    Handler,
    HttpCounters,
    Prepared,
    asked,
    encoded,
    exact_path,
    prepared,
    prepared_error,
)

FEW = 32
"""Simultaneous answers that are sent in long pieces, which takes half the time."""
LONG_PIECE_BYTES = 524_288
PIECE_BYTES = 131_072
"""A long body is sent in pieces, so that little memory waits for a client that does not read.

Long pieces are for the first `FEW` simultaneous answers.
"""
SENT_WHOLE = 327_680
"""A body up to this size is sent as one piece; cutting it would copy its unsent bytes twice."""
SENT_AT_ONCE = 1_048_576
"""Bytes after which other tasks may run: the system takes up to four milliseconds to accept them."""

ALLOWED = "GET, HEAD, OPTIONS"

_PARAMETER = re.compile(r"\{[a-z]+\}")
_OPTIONS = prepared(200, {"Allow": ALLOWED}, ())
_NOTHING = Problem(
    404, "not_found", "there is nothing at this path; GET /api/capabilities lists the supported endpoints"
)


class FastPath:
    """ASGI middleware: answers GET and HEAD of the paths in `handlers` itself.

    `route_of` maps a path to the route of its counter. Once the service drains, every answer ends its
    connection, so that clients leave in time.
    """

    def __init__(
        self,
        app: ASGIFramework,
        handlers: Mapping[str, Handler],
        counters: HttpCounters,
        status: ServiceStatus,
        route_of: Callable[[str], str] = str,
    ) -> None:
        self._app = app
        self._status = status
        self._handlers = {path: (route_of(path), handler) for path, handler in handlers.items()}
        self._counters = counters
        self._ids = random_ids()
        self._sending = 0

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Answer the request, or pass it on."""
        if self._status.is_draining:
            send = _closing(send)
        if scope["type"] == "http" and scope["method"] in {"GET", "HEAD"}:
            found = self._handlers.get(exact_path(scope) or "")
            if found is not None:
                route, handler = found
                request = asked(scope, next(self._ids))
                answer = await _answered(handler, request)
                self._counters.count(request, route, answer.status, answer.body_bytes)
                self._sending += 1
                piece_bytes = LONG_PIECE_BYTES if self._sending <= FEW else PIECE_BYTES
                sending = send_prepared(answer, request, send, piece_bytes)
                del answer  # as in `send_prepared`
                try:
                    await sending
                finally:
                    self._sending -= 1
                return
        await self._app(scope, receive, send)


class WaitingPath:
    """ASGI middleware: answers GET and HEAD of paths whose answers may wait.

    The paths may have parameters, such as `{id}`. A request ends when its client leaves.
    """

    def __init__(self, app: ASGIFramework, handlers: Mapping[str, Handler], counters: HttpCounters) -> None:
        self._app = app
        self._counters = counters
        self._ids = random_ids()
        self._routes = [(_pattern(path), path, handler) for path, handler in handlers.items()]

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Answer the request, or pass it on."""
        if scope["type"] == "http" and scope["method"] in {"GET", "HEAD"}:
            path = exact_path(scope) or ""
            for pattern, route, handler in self._routes:
                if pattern.fullmatch(path):
                    request = asked(scope, next(self._ids))
                    await self._answer(route, handler, request, receive, send)
                    return
        await self._app(scope, receive, send)

    async def _answer(
        self,
        route: str,
        handler: Handler,
        request: Asked,
        receive: ASGIReceiveCallable,
        send: ASGISendCallable,
    ) -> None:
        async with ended_when_gone(receive):
            answer = await _answered(handler, request)
            self._counters.count(request, route, answer.status, answer.body_bytes)
            sending = send_prepared(answer, request, send)
            del answer  # as in `send_prepared`
            await sending


class Unrouted:
    """ASGI middleware: answers requests other than GET and HEAD of `paths`.

    The answer to OPTIONS names the methods; any other method gets 405, any other path 404. The paths may
    have parameters. `route_of` maps a path to the route of its counter for OPTIONS; errors count as
    `other`.
    """

    def __init__(
        self,
        app: ASGIFramework,
        paths: Iterable[str],
        counters: HttpCounters,
        route_of: Callable[[str], str] = str,
    ) -> None:
        self._app = app
        self._counters = counters
        self._ids = random_ids()
        self._routes = {path: route_of(path) for path in paths}
        self._patterns = [(_pattern(path), path) for path in self._routes if "{" in path]

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Answer a request of another method or path; pass on GET and HEAD of `paths`."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = asked(scope, next(self._ids))
        route = self._route(exact_path(scope) or "")
        if route is None:
            await send_problem(_NOTHING, request, "other", self._counters, send)
        elif request.method == "OPTIONS":
            self._counters.count(request, route, _OPTIONS.status, 0)
            await send_prepared(_OPTIONS, request, send)
        else:
            why = f"{request.method} is not allowed here; allowed: {ALLOWED}"
            problem = Problem(405, "method_not_allowed", why, {"Allow": ALLOWED})
            await send_problem(problem, request, "other", self._counters, send)

    def _route(self, path: str) -> str | None:
        found = self._routes.get(path)
        if found is not None:
            return found
        return next((route for pattern, route in self._patterns if pattern.fullmatch(path)), None)


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(_PARAMETER.sub("[^/]+", path))


async def _answered(handler: Handler, request: Asked) -> Prepared:
    try:
        return await handler(request)
    except Exception as error:  # noqa: BLE001 - the web's error handler
        return prepared_error(error, request)


async def send_problem(
    problem: Problem, request: Asked, route: str, counters: HttpCounters, send: ASGISendCallable
) -> None:
    """Answer with a problem document, counted for `route`."""
    answer = prepared_error(problem, request)
    counters.count(request, route, answer.status, answer.body_bytes)
    await send_prepared(answer, request, send)


def _closing(send: ASGISendCallable) -> ASGISendCallable:
    """Return `send`, wrapped to add `Connection: close` to every answer."""

    async def closing(event: ASGISendEvent) -> None:
        if event["type"] == "http.response.start":
            others = [header for header in event["headers"] if header[0].lower() != b"connection"]
            event = {**event, "headers": [*others, (b"connection", b"close")]}
        await send(event)

    return closing


def random_ids() -> Iterator[str]:
    """Yield random ids that cannot be guessed; random bytes are drawn for many ids at once."""
    while True:
        numbers = os.urandom(ID_BYTES * 256).hex()
        yield from (numbers[at : at + 2 * ID_BYTES] for at in range(0, len(numbers), 2 * ID_BYTES))


async def send_prepared(
    answer: Prepared, request: Asked, send: ASGISendCallable, piece_bytes: int = PIECE_BYTES
) -> None:
    """Send an answer; for HEAD only its headers."""
    headers = [*answer.headers, (b"x-request-id", request.id.encode())]
    if b"access-control-request-method" in request.headers:
        headers += encoded(PREFLIGHT)
    status, parts = answer.status, [] if request.method == "HEAD" else [*reversed(answer.parts)]
    holds = answer.holds
    del answer  # so that a slow client keeps only the unsent parts of a body in memory
    await send({"type": "http.response.start", "status": status, "headers": headers})
    sent = 0
    while parts:
        part = parts.pop()
        size = piece_bytes if len(part) > SENT_WHOLE else SENT_WHOLE
        for at in range(0, len(part), size):
            is_last = not parts and at + size >= len(part)
            piece = part[at : at + size]
            await send({"type": "http.response.body", "body": piece, "more_body": not is_last})
            if is_last:
                return
            if (sent := sent + len(piece)) >= SENT_AT_ONCE:
                sent = 0
                await anyio.lowlevel.checkpoint()
    await send({"type": "http.response.body", "body": b"", "more_body": False})
    del holds


@asynccontextmanager
async def ended_when_gone(receive: ASGIReceiveCallable) -> AsyncIterator[None]:
    """Cancel the block when the client leaves.

    The task that watches the client is started only when the block first waits: most blocks never wait, and
    the task takes longer than a small answer.
    """
    watching, is_watching = anyio.CancelScope(), False

    async def watch() -> None:
        with watching:
            while (await receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

    def begin() -> None:
        nonlocal is_watching
        is_watching = True
        tasks.start_soon(watch)

    async with anyio.create_task_group() as tasks:
        first = asyncio.get_running_loop().call_soon(begin)
        try:
            yield
        finally:
            first.cancel()
            if is_watching:  # only then, because a cancel takes as long as the rest of this function
                watching.cancel()
