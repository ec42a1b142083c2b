"""Errors as RFC 9457 `application/problem+json`: what is raised, and the document that clients get."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

import msgspec
import structlog

log = structlog.get_logger()

MEDIA_TYPE = "application/problem+json"


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


def problem_of(error: Exception, path: str, request_id: str) -> Problem:
    """Return the problem that answers `error`.

    An unexpected error becomes a 500 that says nothing of the inside: its stack goes to the log, under
    the `request_id` that the client gets.
    """
    if isinstance(error, Problem):
        return error
    log.error("request.failed", request_id=request_id, path=path, exc_info=error)
    return Problem(500, "internal_error", "the server failed to answer; please try again")


def document(problem: Problem, instance: str, request_id: str) -> bytes:
    """Return the body of a problem; `instance` is the requested path."""
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
