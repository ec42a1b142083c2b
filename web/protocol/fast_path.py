"""The layer in front of Quart: gives the answers that are prepared, without the framework.

Pure ASGI. It answers plain GET and HEAD requests of the paths that it is handed; everything else, and
every error, is Quart's, which answers the same paths in the same way. So it saves time and decides
nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from itertools import count
from secrets import token_hex

import anyio.lowlevel
import structlog
from hypercorn.typing import (
    ASGIFramework,
    ASGIReceiveCallable,
    ASGISendCallable,
    HTTPResponseStartEvent,
    HTTPScope,
    Scope,
)

from actors.core.clock import elapsed_s
from web.protocol.middleware import HttpCounters
from web.protocol.responses import Asked, Handler, Prepared

log = structlog.get_logger()

_BEYOND = frozenset({b"access-control-request-method"})
"""Headers that change an answer in a way that Quart knows."""


class Layer:
    """An ASGI application around another one; `handlers` by path."""

    def __init__(self, app: ASGIFramework, handlers: Mapping[str, Handler], counters: HttpCounters) -> None:
        self._app = app
        self._handlers = {path.encode(): handler for path, handler in handlers.items()}
        self._counters = counters
        self._id_prefix = token_hex(8).encode()  # random once: asking for each request costs a system call
        self._id_numbers = count()
        self._is_logged = log.bind().is_enabled_for(logging.DEBUG)  # logging is set up before

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Return the prepared answer, or hand the request on."""
        if (
            scope["type"] != "http"
            or (handler := self._handlers.get(scope["raw_path"])) is None
            or (asked := _asked(scope)) is None
            or (answering := handler(asked)) is None
        ):
            await self._app(scope, receive, send)
            return
        began = elapsed_s()
        try:
            answer = await answering
        except Exception:  # noqa: BLE001 - a problem or a fault: Quart meets it as well, and answers for it
            await self._app(scope, receive, send)
            return
        start = self._begin(answer, scope, began)
        parts = [*reversed(answer.parts)] if scope["method"] == "GET" else []
        del answer  # so that a slow client holds of an old body only what it has yet to get
        await send(start)
        while len(parts) > 1:
            await send({"type": "http.response.body", "body": parts.pop(), "more_body": True})
            await anyio.lowlevel.checkpoint()  # the system takes up to four milliseconds for a megabyte
        last = parts.pop() if parts else b""
        await send({"type": "http.response.body", "body": last, "more_body": False})

    def _begin(self, answer: Prepared, scope: HTTPScope, began: float) -> HTTPResponseStartEvent:
        """Count and log the answer; give its first event."""
        request_id = b"%b%016x" % (self._id_prefix, next(self._id_numbers))
        body_bytes = answer.body_bytes if scope["method"] == "GET" else 0
        self._counters.count(scope["path"], answer.status, body_bytes)
        if self._is_logged:
            log.debug(
                "request.served",
                request_id=request_id.decode(),
                method=scope["method"],
                path=scope["path"],
                status=answer.status,
                body_bytes=body_bytes,
                took_ms=round((elapsed_s() - began) * 1e3, 3),
            )
        headers = [*answer.headers, (b"x-request-id", request_id)]
        return {"type": "http.response.start", "status": answer.status, "headers": headers}


def _asked(scope: HTTPScope) -> Asked | None:
    """Read what matters in a request; None for one that Quart has to answer."""
    if scope["method"] not in {"GET", "HEAD"}:
        return None
    tags = codings = None
    for name, value in scope["headers"]:
        if name == b"if-none-match":
            tags = value if tags is None else b"%b, %b" % (tags, value)
        elif name == b"accept-encoding":
            codings = value if codings is None else b"%b, %b" % (codings, value)
        elif name in _BEYOND:
            return None
    return Asked(
        scope["query_string"],
        None if tags is None else tags.decode("latin-1"),
        None if codings is None else codings.decode("latin-1"),
    )
