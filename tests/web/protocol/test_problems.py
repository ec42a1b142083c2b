"""Errors of the application and of the framework as problem documents (RFC 9457)."""

from __future__ import annotations

import json
from typing import Any

import pytest
import structlog
from quart import Quart, Response, abort
from structlog.testing import capture_logs

from web.protocol import quart_setup
from web.protocol.problems import Problem
from web.protocol.responses import HttpCounters

pytestmark = pytest.mark.anyio

FIELDS = ["type", "title", "status", "detail", "instance", "code", "request_id"]
SECRET = "hunter2 at /srv/oddsboard/secret.py"  # noqa: S105 - what must not get out


def _app() -> Quart:
    app = Quart("oddsboard", static_folder=None)
    quart_setup.install(app, HttpCounters(dict))

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
    """Errors of the service and of the framework have the same seven members, status included."""
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


async def test_a_problem_brings_its_own_headers_and_is_not_cached() -> None:
    """The problem's own headers, such as Retry-After, are sent, and no cache may keep an error."""
    response, problem = await _problem("/ours")

    assert ("7", "no-store") == (response.headers["Retry-After"], response.headers["Cache-Control"])
    assert "come back later" == problem["detail"]


@pytest.mark.parametrize("path", ["/ours", "/crash", "/nowhere"])
async def test_the_request_id_is_the_one_in_the_header(path: str) -> None:
    """The problem has the id of its X-Request-Id header."""
    response, problem = await _problem(path)

    assert problem["request_id"] == response.headers["X-Request-Id"]


async def test_each_request_has_its_own_id() -> None:
    """Ids are made by the service, one for each request."""
    _, first = await _problem("/ours")
    _, second = await _problem("/ours")

    assert first["request_id"] != second["request_id"]


async def test_404_refers_to_the_capabilities() -> None:
    """The problem names the path of the capabilities."""
    _, problem = await _problem("/nowhere")

    assert "/api/capabilities" in problem["detail"]


async def test_405_names_the_allowed_methods() -> None:
    """The Allow header is required (RFC 9110, 15.5.6)."""
    response, problem = await _problem("/ours", "DELETE")

    assert {"GET", "HEAD", "OPTIONS"} == set(response.headers["Allow"].split(", "))
    assert response.headers["Allow"] in problem["detail"]


async def test_500_shows_no_internals() -> None:
    """No message, type or file of the exception is in the body or in a header."""
    response, _ = await _problem("/crash")

    sent = await response.get_data(as_text=True) + str(response.headers)
    assert not [word for word in ("hunter2", "RuntimeError", ".py", "Traceback") if word in sent]


async def test_the_stack_of_a_500_is_logged_with_the_request_id() -> None:
    """One error line has the exception and the request id, so that a client's report can be found."""
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logs:
        _, problem = await _problem("/crash")

    failed = [line for line in logs if line["event"] == "request.failed"]
    assert [("error", "/crash", SECRET)] == [
        (line["log_level"], line["path"], str(line["exc_info"])) for line in failed
    ]
    assert [problem["request_id"]] == [line.get("request_id") for line in failed]
