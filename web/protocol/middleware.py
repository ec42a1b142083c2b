"""What happens to every request: its id, the headers that every answer has, one log line, counters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import structlog.contextvars
from quart import Quart, Response, g, request
from werkzeug.exceptions import NotFound

from actors.core.clock import elapsed_s
from web.protocol.responses import CORS

log = structlog.get_logger()

_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
    "Access-Control-Allow-Headers": "Accept, Content-Type, If-None-Match, Last-Event-ID",
    "Access-Control-Max-Age": "86400",
}


class HttpCounters:
    """Answers since the start: by route and status, and the bytes of their bodies.

    `streams` tells how many clients follow or wait for changes at the moment.
    """

    def __init__(self, streams: Callable[[], int]) -> None:
        self._streams = streams
        self._answers: defaultdict[tuple[str, int], int] = defaultdict(int)
        self._body_bytes = 0

    def count(self, route: str, status: int, body_bytes: int) -> None:
        """Count one answer; `route` is a route's path, never the client's."""
        self._answers[route, status] += 1
        self._body_bytes += body_bytes

    def view(self) -> dict[str, Any]:
        """Return the counters as plain values."""
        by_route: dict[str, dict[str, int]] = {}
        for (route, status), count in sorted(self._answers.items()):
            by_route.setdefault(route, {})[str(status)] = count
        return {
            "answers": by_route,
            "answers_total": sum(self._answers.values()),
            "body_bytes": self._body_bytes,
            "streams": self._streams(),
        }


def install(app: Quart, counters: HttpCounters) -> None:
    """Return every request an id and every answer its common headers; log and count it."""

    @app.before_request
    async def begin() -> None:  # asynchronous, or it would run in a thread, and in a context of its own
        g.request_id = uuid4().hex
        g.began = elapsed_s()
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=g.request_id)
        raw_path = request.scope["raw_path"].lower()
        if raw_path.startswith(b"//") or b"%2f" in raw_path:
            raise NotFound  # paths are exact, but the router reads these as one of ours

    @app.after_request
    async def end(response: Response) -> Response:
        response.headers["X-Request-Id"] = g.request_id
        response.headers.update(CORS)
        if not response.content_length:
            response.headers.pop("Content-Type", None)  # Quart's default, of a body that is not there
        if "Access-Control-Request-Method" in request.headers:
            response.headers.update(_PREFLIGHT)
        body_bytes = 0 if request.method == "HEAD" else response.content_length or 0
        route = str(request.url_rule) if request.url_rule else "other"
        counters.count(route, response.status_code, body_bytes)
        log.debug(
            "request.served",
            method=request.method,
            path=request.path,
            status=response.status_code,
            body_bytes=body_bytes,
            took_ms=round((elapsed_s() - g.began) * 1e3, 3),
        )
        return response
