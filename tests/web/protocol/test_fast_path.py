"""The layers in front of Quart, which answer every request."""

from __future__ import annotations

import logging
import os
import socket
import struct
import sys
import weakref
from typing import Any

import anyio
import anyio.lowlevel
import pytest
import structlog.testing
from quart import Quart

from actors.monitoring.metrics import Metrics
from tests.support.builders.messages import match
from tests.support.systems.front_end import asgi_scope
from tests.support.systems.site import Site, open_site
from tests.support.systems.supervision import service_record
from web.protocol.problems import Problem
from web.protocol.responses import Asked, HttpCounters, Prepared, prepared
from web.protocol.sending import (
    FEW,
    LONG_PIECE_BYTES,
    PIECE_BYTES,
    SENT_WHOLE,
    FastPath,
    WaitingPath,
)

pytestmark = pytest.mark.anyio

PREPARED = [
    *("/", "/static/main.js", "/docs", "/openapi.json", "/api/capabilities", "/api/stats", "/monitor"),
    *("/api/odds", "/api/v2/odds", "/api/v2/fixtures", "/api/v2/surebets"),
    *("/health", "/health/live", "/health/ready"),
]
SPELLED = {
    "/api/%6fdds": "/api/odds",
    "/%61pi/v2/surebet%73": "/api/v2/surebets",
    "/openapi%2ejson": "/openapi.json",
}


async def test_quart_is_not_asked(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """All requests are answered in front of Quart, in any spelling: its own 404 takes 600 us."""
    monkeypatch.setattr(Quart, "handle_request", _unreachable)
    waiting = ("/api/v2/changes", "/api/v2/stream", "/api/v2/fixtures/x", "/monitor/links/x/y")
    for path in (*PREPARED, *SPELLED):
        for method in ("GET", "HEAD"):
            assert 200 == (await site.raw(method, path)).status, path
    for path in (*PREPARED, *SPELLED, *waiting):
        assert [200, 405] == [(await site.raw(method, path)).status for method in ("OPTIONS", "PUT")], path
    for path in ("/nothing", "/api/v2/fixtures/x/y", "/monitor/links//y"):
        for method in ("GET", "HEAD", "OPTIONS", "POST"):
            assert 404 == (await site.raw(method, path)).status, path


@pytest.mark.parametrize(("spelled", "path"), SPELLED.items())
async def test_an_escaped_letter_is_that_letter(site: Site, spelled: str, path: str) -> None:
    """The answer equals the answer of the unescaped path."""
    assert (await site.raw("GET", path)).body == (await site.raw("GET", spelled)).body


@pytest.mark.parametrize(("path", "status"), [("/api/odds", 200), ("/api/v2/changes?since=5000", 200)])
async def test_each_answer_is_logged_at_debug(
    path: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Each answer has one log line with method, path, status, bytes and time, whichever layer gives it."""
    caplog.set_level(logging.DEBUG)
    with structlog.testing.capture_logs() as lines:
        async with open_site() as site:
            site.publish("alder", match())
            answered = await site.get(path)

    (line,) = (line for line in lines if line["event"] == "request.served")
    assert ("GET", path.partition("?")[0], status) == (line["method"], line["path"], line["status"])
    assert (len(answered.content), True) == (line["body_bytes"], line["took_ms"] >= 0)


async def test_a_disconnect_within_a_large_body_causes_no_error(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    """Parts that the client does not read are dropped without an error; the next request is served."""
    site.publish("alder", *(match(f"{number:05}") for number in range(20_000)))
    await site.get("/api/v2/odds")
    port = int(site.base.rpartition(":")[2])
    for _ in range(10):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.sendall(b"GET /api/v2/odds HTTP/1.1\r\nHost: board\r\n\r\n")
        await anyio.wait_readable(connection)
        connection.close()

    whole = await site.json("/api/v2/odds")

    assert 20_002 == whole["matches_count"]
    assert [] == [record for record in caplog.records if record.levelno >= logging.ERROR]


class _Client:
    """A client of this layer; its handler returns `parts`. It notes sent sizes and the kept references."""

    def __init__(self, *parts: bytes) -> None:
        self.sent: list[int] = []
        self.body = b""
        self.references: list[int] = []
        self._parts = parts

    async def get(self, method: str = "GET") -> None:
        answer = prepared(200, {}, self._parts)
        first, self._parts = self._parts[0], ()

        async def given() -> Prepared:
            nonlocal answer
            mine, answer = answer, None  # type: ignore[assignment]  # this function keeps no reference
            return mine

        async def send(event: Any) -> None:
            if "body" in event:
                self.sent.append(len(event["body"]))
                self.body += event["body"]
                self.references.append(sys.getrefcount(first))

        layer = FastPath(
            _unreachable, {"/list": lambda _: given()}, HttpCounters(Metrics()), service_record()
        )
        scope = {**asgi_scope("/list", "", []), "method": method, "raw_path": b"/list"}
        await layer(scope, _unreachable, send)  # type: ignore[arg-type]  # as a server calls it


async def _unreachable(*_: object) -> Any:
    raise NotImplementedError


@pytest.mark.parametrize("size", [0, 1, SENT_WHOLE, SENT_WHOLE + 1, 1_000_000])
async def test_a_long_part_is_sent_in_pieces(size: int) -> None:
    """At most one piece waits in memory; a short part is one call, without a copy. HEAD has no body."""
    client, head = _Client(bytes(size)), _Client(bytes(size), bytes(10))
    await client.get()
    await head.get("HEAD")

    whole, rest = divmod(size, LONG_PIECE_BYTES)
    assert ([LONG_PIECE_BYTES] * whole + [rest] if size > SENT_WHOLE else [size]) == client.sent
    assert [0] == head.sent


async def test_pieces_are_shorter_once_many_clients_are_being_answered() -> None:
    """Shorter pieces bound the memory for clients that do not read."""
    sent: list[int] = []

    async def given(_: Asked) -> Prepared:
        return prepared(200, {}, (bytes(1_000_000),))

    async def send(event: Any) -> None:
        if "body" in event:
            sent.append(len(event["body"]))
            await anyio.sleep_forever()

    layer = FastPath(_unreachable, {"/list": given}, HttpCounters(Metrics()), service_record())
    async with anyio.create_task_group() as tasks:
        for _ in range(FEW + 2):
            tasks.start_soon(layer, asgi_scope("/list", "", []), _unreachable, send)  # type: ignore[arg-type]
        while len(sent) < FEW + 2:
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()

    assert [LONG_PIECE_BYTES] * FEW + [PIECE_BYTES] * 2 == sent


async def test_other_tasks_run_while_a_long_body_is_sent() -> None:
    """A part is freed when it is sent."""
    parts = [os.urandom(size) for size in (1_500_000, 10, 1_000_000)]
    client, whole, turns = _Client(*parts), b"".join(parts), 0
    parts.clear()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.get)
        while len(client.body) < len(whole):
            await anyio.lowlevel.checkpoint()
            turns += 1

    of_first = -(-1_500_000 // LONG_PIECE_BYTES)
    assert (whole, 10) == (client.body, client.sent[of_first])
    assert turns >= 2
    assert client.references[of_first - 1] > client.references[of_first] == client.references[-1]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    ("error", "status"), [(Problem(503, "not_now", "later"), 503), (RuntimeError("hunter2"), 500)]
)
async def test_an_error_is_computed_once(method: str, error: Exception, status: int) -> None:
    """The handler is called once; the error is sent, counted and logged without Quart, as for a GET."""
    asked, sent, counters = [], [], HttpCounters(Metrics())

    async def handler(request: Asked) -> Prepared:
        asked.append(request)
        raise error

    async def send(event: Any) -> None:
        sent.append(event)

    layer = FastPath(_unreachable, {"/list": handler}, counters, service_record())
    scope = {**asgi_scope("/list", "", []), "method": method}
    with structlog.testing.capture_logs() as lines:
        await layer(scope, _unreachable, send)  # type: ignore[arg-type]  # as a server calls it

    start, body = sent
    headers = dict(start["headers"])
    counted = len(body["body"])
    logged = [line["event"] for line in lines if line["log_level"] == "error"]
    assert (1, status, {"/list": {str(status): 1}}) == (
        len(asked),
        start["status"],
        counters.by_route(),
    )
    assert (b"application/problem+json", method == "GET") == (headers[b"content-type"], counted > 0)
    assert counted == counters.metrics.counts["oddsboard_http_response_body_bytes_total"].number
    assert int(headers[b"content-length"]) > 0
    assert (["request.failed"] if status == 500 else []) == logged


async def test_what_a_body_is_of_is_kept_until_it_is_sent() -> None:
    """A body made for a single client counts against the limit until it is sent."""
    body = anyio.Event()  # any object that can be referred to weakly
    gone, seen = weakref.ref(body), list[bool]()
    answers = [prepared(200, {}, (bytes(SENT_WHOLE + 1),), body)]
    del body

    async def given(_: Asked) -> Prepared:
        return answers.pop()

    async def send(_: Any) -> None:
        seen.append(gone() is not None)

    layer = FastPath(_unreachable, {"/list": given}, HttpCounters(Metrics()), service_record())
    await layer(asgi_scope("/list", "", []), _unreachable, send)  # type: ignore[arg-type]

    assert ([True] * 2, None) == (seen, gone())


async def test_only_an_answer_that_waits_is_watched_for_the_end_of_its_client() -> None:
    """Only a waiting answer asks whether its client has left, and the client's end ends this answer."""
    asked, waited = list[str](), list[str]()

    async def answer(request: Asked) -> Prepared:
        if request.path == "/wait":
            waited.append("begun")
            await anyio.sleep_forever()
        return prepared(200, {}, (b"x",))

    async def receive() -> Any:
        asked.append("receive")
        return {"type": "http.disconnect"}

    async def send(event: Any) -> None:
        waited.append(event["type"])

    layer = WaitingPath(_unreachable, {"/now": answer, "/wait": answer}, HttpCounters(Metrics()))
    await layer(asgi_scope("/now", "", []), receive, send)  # type: ignore[arg-type]  # as a server calls it
    at_once = [*asked], [*waited]
    await layer(asgi_scope("/wait", "", []), receive, send)  # type: ignore[arg-type]  # as a server does

    assert ([], ["http.response.start", "http.response.body"]) == at_once
    assert (["receive"], ["begun"]) == (asked, waited[2:])
