"""Answers that are ready to be sent, and the layer in front of Quart that sends them without it.

Pure ASGI. The layer answers GET and HEAD of the paths that have a handler; Quart routes the other
methods and spellings of these paths to the same handlers (`quart_setup.py`). A Quart route costs some
150 us, this layer some 10.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from hashlib import blake2b
from itertools import count
from secrets import token_hex
from typing import Any

import anyio.lowlevel
import msgspec
import structlog
from hypercorn.typing import ASGIFramework, ASGIReceiveCallable, ASGISendCallable, HTTPScope, Scope
from msgspec import Struct

from actors.core.clock import elapsed_s
from web.protocol.negotiation import has_already
from web.protocol.problems import MEDIA_TYPE, Problem, document, problem_of

log = structlog.get_logger()

CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag, Retry-After, X-Request-Id",
}
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
    "Access-Control-Allow-Headers": "Accept, Content-Type, If-None-Match, Last-Event-ID",
    "Access-Control-Max-Age": "86400",
}

Headers = tuple[tuple[bytes, bytes], ...]

_encode = msgspec.json.Encoder(enc_hook=str).encode
"""Accepts what a plug-in may have left in a record."""


class Asked(Struct, frozen=True):
    """What a request asked for: its query as sent, and its headers by lower-case name, lines joined."""

    query: bytes
    headers: Mapping[bytes, bytes]

    def header(self, name: bytes) -> str | None:
        """Return a header; None if it is absent."""
        value = self.headers.get(name)
        return None if value is None else value.decode("latin-1")


class Prepared(Struct, frozen=True):
    """Status, all headers but X-Request-Id, and the body in parts; without parts there is no body."""

    status: int
    headers: Headers
    parts: tuple[bytes, ...]
    body_bytes: int


Handler = Callable[[Asked], Awaitable[Prepared]]
"""Makes the answer to a GET. Raises: Problem for an error."""


def asked(scope: HTTPScope) -> Asked:
    """Return what the request of `scope` asked for."""
    headers: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        headers[name] = b"%b, %b" % (headers[name], value) if name in headers else value
    return Asked(scope["query_string"], headers)


def encoded(headers: Mapping[str, str]) -> Headers:
    """Return headers as ASGI wants them."""
    return tuple((name.lower().encode(), value.encode()) for name, value in headers.items())


def prepared(status: int, headers: Mapping[str, str], parts: tuple[bytes, ...] | None) -> Prepared:
    """Prepare an answer; without `parts` it has no body at all, as 304."""
    length = sum(map(len, parts or ()))
    of_body = {} if parts is None else {"Content-Length": str(length)}
    return Prepared(status, encoded({**headers, **of_body, **CORS}), parts or (), length)


def prepared_json(content: object, *, ok: bool = True, **headers: str) -> Prepared:
    """Prepare an answer that holds for this moment only, 200 or 503."""
    headers |= {"Content-Type": "application/json", "Cache-Control": "no-store"}
    try:
        body = _encode(content)
    except UnicodeEncodeError:  # a text with half a character, such as an error's
        body = json.dumps(content, default=str).encode()
    return prepared(200 if ok else 503, headers, (body,))


def prepared_problem(problem: Problem, path: str, request_id: str) -> Prepared:
    """Prepare the answer that is an error."""
    headers = {"Content-Type": MEDIA_TYPE, "Cache-Control": "no-store", **problem.headers}
    return prepared(problem.status, headers, (document(problem, path, request_id),))


def constant(body: bytes, content_type: str, headers: Mapping[str, str]) -> Handler:
    """Return the handler of a body that never changes; a client that has it already gets 304."""
    etag = f'"{blake2b(body, digest_size=8).hexdigest()}"'
    not_modified = prepared(304, {"ETag": etag, **headers}, None)
    whole = prepared(200, {"ETag": etag, **headers, "Content-Type": content_type}, (body,))

    async def answer(request: Asked) -> Prepared:
        return not_modified if has_already(request.header(b"if-none-match") or "", etag) else whole

    return answer


class HttpCounters:
    """Answers since the start: by route and status, and the bytes of their bodies.

    `streams` returns how many clients follow or wait for changes at the moment.
    """

    def __init__(self, streams: Callable[[], int]) -> None:
        self._streams = streams
        self._answers: defaultdict[tuple[str, int], int] = defaultdict(int)
        self._body_bytes = 0
        self._is_logged = log.bind().is_enabled_for(logging.DEBUG)  # logging is set up before

    def count(
        self, scope: HTTPScope, route: str, request_id: str, *, status: int, body_bytes: int, began: float
    ) -> None:
        """Count an answer and log it; `route` is a route's path, never the client's.

        `began` is when the request came, by `elapsed_s`. An answer to HEAD counts no bytes.
        """
        if scope["method"] == "HEAD":
            body_bytes = 0
        self._answers[route, status] += 1
        self._body_bytes += body_bytes
        if self._is_logged:
            log.debug(
                "request.served",
                request_id=request_id,
                method=scope["method"],
                path=scope["path"],
                status=status,
                body_bytes=body_bytes,
                took_ms=round((elapsed_s() - began) * 1e3, 3),
            )

    def view(self) -> dict[str, Any]:
        """Return the counters as plain values."""
        by_route: dict[str, dict[str, int]] = {}
        for (route, status), answers in sorted(self._answers.items()):
            by_route.setdefault(route, {})[str(status)] = answers
        return {
            "answers": by_route,
            "answers_total": sum(self._answers.values()),
            "body_bytes": self._body_bytes,
            "streams": self._streams(),
        }


class FastPath:
    """An ASGI application around another one: answers GET and HEAD of the paths in `handlers` itself."""

    def __init__(self, app: ASGIFramework, handlers: Mapping[str, Handler], counters: HttpCounters) -> None:
        self._app = app
        self._handlers = {path.encode(): handler for path, handler in handlers.items()}
        self._counters = counters
        self._id_prefix = token_hex(8)  # random once: a random id for each request costs a system call
        self._id_numbers = count()

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Answer the request, or pass it on."""
        if scope["type"] == "http" and scope["method"] in {"GET", "HEAD"}:
            handler = self._handlers.get(scope["raw_path"])
            if handler is not None:
                request_id = f"{self._id_prefix}{next(self._id_numbers):016x}"
                await send_prepared(await self._answer(handler, scope, request_id), scope, send, request_id)
                return
        await self._app(scope, receive, send)

    async def _answer(self, handler: Handler, scope: HTTPScope, request_id: str) -> Prepared:
        began, path = elapsed_s(), scope["path"]
        try:
            answer = await handler(asked(scope))
        except Exception as error:  # noqa: BLE001 - an error handler of the web: everything is answered
            answer = prepared_problem(problem_of(error, path, request_id), path, request_id)
        self._counters.count(
            scope, path, request_id, status=answer.status, body_bytes=answer.body_bytes, began=began
        )
        return answer


async def send_prepared(
    answer: Prepared, scope: HTTPScope, send: ASGISendCallable, request_id: str
) -> None:
    """Send an answer, of a HEAD its headers only."""
    headers = [*answer.headers, (b"x-request-id", request_id.encode())]
    if b"access-control-request-method" in dict(scope["headers"]):
        headers += encoded(PREFLIGHT)
    status, parts = answer.status, [] if scope["method"] == "HEAD" else [*reversed(answer.parts)]
    del answer  # so that a slow client holds of an old body only what is still to be sent
    await send({"type": "http.response.start", "status": status, "headers": headers})
    while len(parts) > 1:
        await send({"type": "http.response.body", "body": parts.pop(), "more_body": True})
        await anyio.lowlevel.checkpoint()  # the system takes up to four milliseconds for a megabyte
    last = parts.pop() if parts else b""
    await send({"type": "http.response.body", "body": last, "more_body": False})
