"""Errors of the application and of the framework as problem documents (RFC 9457)."""

from __future__ import annotations

import json
from typing import Any

import pytest
import structlog
from quart import Quart, Response, abort
from structlog.testing import capture_logs

from actors.monitoring.metrics import Metrics
from web.protocol import quart_setup
from web.protocol.problems import Problem
from web.protocol.responses import HttpCounters

pytestmark = pytest.mark.anyio

FIELDS = ["type", "title", "status", "detail", "instance", "code", "request_id"]
SECRET = "hunter2 at /srv/oddsboard/secret.py"  # noqa: S105 - a text that no answer may have


def _app() -> Quart:
    app = Quart("oddsboard", static_folder=None)
    quart_setup.install(app, HttpCounters(Metrics()))

    @app.get("/ours")
    async def ours() -> Response:
        raise Problem(503, "not_now", "come back later", {"Retry-After": "7"})

    @app.get("/crash")
    async def crash() -> Response:
        raise RuntimeError(SECRET)

    @app.get("/abort/<int:status>")
    async def framework(status: int) -> Response:
        abort(status)

    return app


async def _problem(path: str, method: str = "GET") -> tuple[Response, dict[str, Any]]:
    client = _app().test_client()
    response: Response = await client.open(path, method=method)  # type: ignore[call-arg]  # its protocol lacks the default of json
    return response, json.loads(await response.get_data())


@pytest.mark.parametrize(
    ("path", "method", "status", "code", "title"),
    [
        ("/ours", "GET", 503, "not_now", "Service Unavailable"),
        ("/nowhere", "GET", 404, "not_found", "Not Found"),
        ("/ours", "PUT", 405, "method_not_allowed", "Method Not Allowed"),
        ("/crash", "GET", 500, "internal_error", "Internal Server Error"),
        ("/abort/400", "GET", 400, "bad_request", "Bad Request"),
        ("/abort/413", "GET", 413, "http_413", None),
        ("/abort/500", "GET", 500, "internal_error", "Internal Server Error"),
    ],
)
async def test_every_error_is_a_problem_document(
    path: str, method: str, status: int, code: str, title: str | None
) -> None:
    """Errors of the service and of the framework have the same seven members, `status` included."""
    response, problem = await _problem(path, method)

    assert FIELDS == list(problem)
    assert "application/problem+json" == response.content_type
    assert (status, status, code, path) == (
        response.status_code,
        problem["status"],
        problem["code"],
        problem["instance"],
    )
    assert title in {None, problem["title"]}


async def test_the_stack_of_a_500_is_logged_with_the_request_id() -> None:
    """One error line has the exception and the request id, by which a client's report can be matched."""
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logs:
        _, problem = await _problem("/crash")

    failed = [line for line in logs if line["event"] == "request.failed"]
    assert [("error", "/crash", SECRET)] == [
        (line["log_level"], line["path"], str(line["exc_info"])) for line in failed
    ]
    assert [problem["request_id"]] == [line.get("request_id") for line in failed]
