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

import structlog
from hypercorn.typing import ASGIFramework, ASGIReceiveCallable, ASGISendCallable, HTTPScope, Scope

from actors.clock import elapsed_s
from web.prepared import Asked, Handler, Prepared
from web.problems import Problem
from web.requests import HttpCounters

log = structlog.get_logger()

_BEYOND = frozenset({b"access-control-request-method"})
"""Headers that change an answer in a way that Quart knows."""


class Layer:
    """An ASGI application around another one; `handlers` by path."""

    def __init__(self, app: ASGIFramework, handlers: Mapping[str, Handler], counters: HttpCounters) -> None:
        self._app = app
        self._handlers = {path.encode(): handler for path, handler in handlers.items()}
        self._counters = counters
        self._id_prefix = token_hex(8)  # random once: asking the system for each request costs a call
        self._id_numbers = count()
        self._log = log.bind()  # once: finding out how logging is set up costs more than the answer

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Give the prepared answer, or hand the request on."""
        if scope["type"] == "http" and scope["method"] in {"GET", "HEAD"}:
            began = elapsed_s()
            handler = self._handlers.get(scope["raw_path"])
            if handler is not None and (answer := await _prepared(handler, scope)) is not None:
                await self._give(answer, scope, send, began)
                return
        await self._app(scope, receive, send)

    async def _give(self, answer: Prepared, scope: HTTPScope, send: ASGISendCallable, began: float) -> None:
        request_id = f"{self._id_prefix}{next(self._id_numbers):016x}"
        parts = answer.parts if scope["method"] == "GET" else ()
        headers = [*answer.headers, (b"x-request-id", request_id.encode())]
        body_bytes = answer.body_bytes if parts else 0
        self._counters.count(scope["path"], answer.status, body_bytes)
        if self._log.is_enabled_for(logging.DEBUG):
            self._log.debug(
                "request.served",
                request_id=request_id,
                method=scope["method"],
                path=scope["path"],
                status=answer.status,
                body_bytes=body_bytes,
                took_ms=round((elapsed_s() - began) * 1e3, 3),
            )
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        for part in parts[:-1]:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        last = parts[-1] if parts else b""
        await send({"type": "http.response.body", "body": last, "more_body": False})


async def _prepared(handler: Handler, scope: HTTPScope) -> Prepared | None:
    tags: list[bytes] = []
    codings: list[bytes] = []
    for name, value in scope["headers"]:
        if name == b"if-none-match":
            tags.append(value)
        elif name == b"accept-encoding":
            codings.append(value)
        elif name in _BEYOND:
            return None
    try:
        return await handler(Asked(scope["query_string"], _joined(tags), _joined(codings)))
    except Problem:
        return None
    except Exception:  # noqa: BLE001 - whatever it is, Quart meets it as well, and answers for it
        return None


def _joined(lines: list[bytes]) -> str | None:
    return b", ".join(lines).decode("latin-1") if lines else None
