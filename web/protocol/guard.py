"""What stands in front of Quart: refuses what is no request for us before the framework stumbles on it.

Pure ASGI. WebSockets are closed; a target that is no path gets 400; the Host header, which nothing
here needs, is replaced, because the framework cannot read every one that Hypercorn lets through.
"""

from __future__ import annotations

from uuid import uuid4

import structlog
from hypercorn.typing import ASGIFramework, ASGIReceiveCallable, ASGISendCallable, HTTPScope, Scope

from web.protocol.problems import MEDIA_TYPE, Problem, document
from web.protocol.responses import CORS

log = structlog.get_logger()

_HOST = (b"host", b"oddsboard")


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIFramework) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Hand on what is a request for a path, refuse the rest."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1002, "reason": None})
        elif scope["type"] == "http" and not scope["path"].startswith("/"):
            await _refuse(scope, send)
        elif scope["type"] == "http":
            headers = [_HOST, *(pair for pair in scope["headers"] if pair[0] != b"host")]
            await self._app({**scope, "headers": headers}, receive, send)
        else:
            await self._app(scope, receive, send)


async def _refuse(scope: HTTPScope, send: ASGISendCallable) -> None:
    request_id = uuid4().hex
    problem = Problem(400, "bad_request", "the request target must be a path that begins with '/'")
    log.debug("request.refused", request_id=request_id, path=scope["path"])
    headers = {"Content-Type": MEDIA_TYPE, "Connection": "close", "X-Request-Id": request_id, **CORS}
    headers["Cache-Control"] = "no-store"
    encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    body = b"" if scope["method"] == "HEAD" else document(problem, scope["path"], request_id)
    await send({"type": "http.response.start", "status": problem.status, "headers": encoded})
    await send({"type": "http.response.body", "body": body, "more_body": False})
