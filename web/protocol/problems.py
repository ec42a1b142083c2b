"""Every error that reaches the application, as RFC 9457 `application/problem+json`.

The framework's own errors included. A 500 says nothing of the inside: the stack goes to the log,
under the `request_id` that the client was given.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

import msgspec
import structlog
from quart import Quart, Response, g, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

log = structlog.get_logger()

MEDIA_TYPE = "application/problem+json"

_CODES = {400: "bad_request", 404: "not_found", 405: "method_not_allowed", 500: "internal_error"}


class Problem(Exception):
    """An answer that is an error: its status, a stable `code`, a `detail` for people, extra headers.

    `extra` are further members of the document.
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, int | str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = dict(headers or {})
        self.extra = dict(extra or {})


def install(app: Quart) -> None:
    """Make `app` answer every error as a problem document."""
    app.register_error_handler(Problem, _answer)
    app.register_error_handler(HTTPException, _from_framework)
    app.register_error_handler(Exception, _unexpected)


def document(problem: Problem, instance: str, request_id: str) -> bytes:
    """Return the body of a problem; `instance` is the path that was asked for."""
    return msgspec.json.encode(
        {
            "type": "about:blank",
            "title": HTTPStatus(problem.status).phrase,
            "status": problem.status,
            "detail": problem.detail,
            "instance": instance,
            "code": problem.code,
            "request_id": request_id,
            **problem.extra,
        }
    )


async def _answer(problem: Problem) -> Response:
    body = document(problem, request.scope["path"], g.request_id)
    headers = {"Cache-Control": "no-store", **problem.headers}
    return Response(body, problem.status, headers, content_type=MEDIA_TYPE)


async def _from_framework(error: HTTPException) -> Response:
    status = error.code or 500
    problem = Problem(status, _CODES.get(status, f"http_{status}"), error.description or error.name)
    if isinstance(error, NotFound):
        problem.detail = (
            "there is nothing at this path; GET /api/capabilities lists the supported endpoints"
        )
    if isinstance(error, MethodNotAllowed):
        problem.headers["Allow"] = ", ".join(sorted(error.valid_methods or ()))
        problem.detail = f"{request.method} is not allowed here; allowed: {problem.headers['Allow']}"
    return await _answer(problem)


async def _unexpected(error: Exception) -> Response:
    log.error("request.failed", path=request.path, exc_info=error)
    return await _answer(Problem(500, "internal_error", "the server failed to answer; please try again"))
