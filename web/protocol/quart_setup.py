"""Sets up Quart, and the layer in front of it that answers refused requests."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

import structlog.contextvars
from hypercorn.typing import ASGIFramework, ASGIReceiveCallable, ASGISendCallable, Scope
from quart import Quart, Response, g, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from web.protocol.problems import Problem
from web.protocol.request_head import REFUSALS, Refusal
from web.protocol.responses import (
    COMMON,
    PREFLIGHT,
    HttpCounters,
    Prepared,
    asked,
    exact_path,
    prepared_error,
)
from web.protocol.sending import send_problem

_CODES = {400: "bad_request", 404: "not_found", 405: "method_not_allowed", 500: "internal_error"}


@dataclass(frozen=True, slots=True)
class Guard:
    """ASGI middleware: answers requests that the gate has refused, and targets that are no path.

    The gate replaces a refused request by a request below the path `refusals`. The Host header is replaced,
    because the framework cannot read every well-formed host, and nothing here needs it.
    """

    app: ASGIFramework
    refusals: str
    counters: HttpCounters

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Pass on requests for a path; refuse all others."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif (refusal := self._refusal(scope["path"])) is not None:
            is_of_gate = scope["path"].startswith("/")
            refused = asked({**scope, "path": ""} if is_of_gate else scope, uuid4().hex)
            headers = {"Connection": "close", **refusal.headers}
            problem = Problem(refusal.status, refusal.code, refusal.detail, headers)
            await send_problem(problem, refused, "refused", self.counters, send)
        else:
            headers_for_app = [
                (b"host", b"oddsboard"),
                *(header for header in scope["headers"] if header[0] != b"host"),
            ]
            await self.app({**scope, "headers": headers_for_app}, receive, send)

    def _refusal(self, path: str) -> Refusal | None:
        if not path.startswith("/"):
            return Refusal(400, "bad_request", "the request target must be a path that begins with '/'")
        return REFUSALS.get(path.removeprefix(self.refusals)) if path.startswith(self.refusals) else None


def bare() -> Quart:
    """Return an application without routes."""
    app = Quart("oddsboard", static_folder=None)
    app.config["RESPONSE_TIMEOUT"] = None  # no time limit: each body is ready before its answer begins
    app.url_map.merge_slashes = False  # no redirect to a similar path
    return app


def install(app: Quart, counters: HttpCounters) -> None:
    """Set up `g.asked`, the common headers, the log and count of answers, and error answers."""

    @app.before_request
    async def begin() -> None:  # asynchronous: a plain function would run in a thread, with another context
        g.asked = asked(request.scope, uuid4().hex)  # type: ignore[arg-type]  # never of a WebSocket
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=g.asked.id)
        if exact_path(request.scope) is None:  # type: ignore[arg-type]  # as above
            raise NotFound

    @app.after_request
    async def end(response: Response) -> Response:
        response.headers["X-Request-Id"] = g.asked.id
        response.headers.update(COMMON)
        if not response.content_length:
            response.headers.pop("Content-Type", None)  # Quart sets it even without a body
        if "Access-Control-Request-Method" in request.headers:
            response.headers.update(PREFLIGHT)
        route = str(request.url_rule) if request.url_rule else "other"
        counters.count(g.asked, route, response.status_code, response.content_length or 0)
        return response

    @app.errorhandler(Exception)
    async def answer_error(error: Exception) -> Response:
        request.routing_exception = None  # the exception refers back to the request, which makes a cycle
        known = _from_framework(error) if isinstance(error, HTTPException) else error
        return _response(prepared_error(known, g.asked))


def _response(answer: Prepared) -> Response:
    headers = {name.decode(): value.decode() for name, value in answer.headers}
    return Response(b"".join(answer.parts) or None, answer.status, headers)


def _from_framework(error: HTTPException) -> Problem:
    status, detail, headers = error.code or 500, error.description or error.name, dict[str, str]()
    if isinstance(error, NotFound):
        detail = "there is nothing at this path; GET /api/capabilities lists the supported endpoints"
    if isinstance(error, MethodNotAllowed):
        headers["Allow"] = ", ".join(sorted(error.valid_methods or ()))
        detail = f"{request.method} is not allowed here; allowed: {headers['Allow']}"
    return Problem(status, _CODES.get(status, f"http_{status}"), detail, headers)
