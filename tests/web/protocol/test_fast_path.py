"""The layer in front of Quart: the same answers as without it, for its own paths only."""

from __future__ import annotations

import logging
import os
import socket
import struct
import sys
from typing import Any

import anyio
import anyio.lowlevel
import pytest
import structlog.testing

from tests.support.builders.messages import match
from tests.support.systems.live_world import asgi_scope
from tests.support.systems.site import EPOCH, Answered, Site, open_site
from tests.support.systems.supervision import service_record
from web.protocol.problems import Problem
from web.protocol.responses import Asked, FastPath, HttpCounters, Prepared, prepared

pytestmark = pytest.mark.anyio

LISTS = [
    f"{path}{query}"
    for path in ("/api/odds", "/api/v2/odds")
    for query in (
        *("", "?", "?bookmaker=cedar", "?bookmaker=alder", "?bookmaker=birch", "?bookmaker=nobody"),
        *("?bookmaker=", "?bookmaker=cedar&bookmaker=cedar", "?bookmaker=ceda%72", "?x=1&bookmaker=cedar"),
    )
]
PROBES = ["/health", "/health/live", "/health/ready", "/monitor"]
OTHERS = ["/api/capabilities", "/nowhere", "/api/odds/", "//api/odds", "/api%2fodds", "/api/%6fdds"]
HEADERS: list[tuple[str, ...]] = [
    (),
    ("Accept-Encoding: gzip",),
    ("Accept-Encoding: br", "Accept-Encoding: gzip;q=0.5, identity;q=0.1"),
    ("Accept-Encoding: identity;q=0",),
    (f'If-None-Match: "5003-{EPOCH}"',),
    ('If-None-Match: "1"', f'If-None-Match: W/"5003-{EPOCH}"'),
    ("If-None-Match: *", "Accept-Encoding: gzip"),
    ("Origin: https://example.org", "Access-Control-Request-Method: GET"),
    ("Accept: text/plain",),
]
OF_THE_MOMENT = {"date", "x-request-id"}


async def _filled(site: Site) -> Site:
    site.clock.pass_(1.5)
    site.publish("alder", match("b-2", home="São Paulo"), match("B-1", league=None, start_time=None))
    site.publish("birch", match("x.1", away=""))
    site.publish("cedar")
    return site


def _comparable(answered: Answered) -> tuple[int, dict[str, str], bytes]:
    headers = {name: value for name, value in answered.headers.items() if name not in OF_THE_MOMENT}
    body = answered.body
    if headers.get("content-type") == "application/problem+json":
        body = body.replace(answered.headers["x-request-id"].encode(), b"id")
    return answered.status, headers, body


@pytest.mark.long
@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("path", [*LISTS, *PROBES, *OTHERS])
async def test_answers_are_the_same_with_and_without_the_layer(method: str, path: str) -> None:
    """Status, headers and body are equal for every kind of query and header."""
    async with open_site() as layered, open_site(is_layered=False) as bare:
        await _filled(layered)
        await _filled(bare)
        for lines in HEADERS:
            with_it, without = [await one.raw(method, path, *lines) for one in (layered, bare)]

            assert _comparable(without) == _comparable(with_it), lines


async def test_both_count_their_answers_alike() -> None:
    """/api/stats counts the same, with the layer and without it."""
    counted: list[Any] = []
    for is_layered in (True, False):
        async with open_site(is_layered=is_layered) as one:
            await _filled(one)
            for path in ("/api/odds", "/api/odds?bookmaker=nobody", "/health", "/api/odds"):
                await one.get(path)
            await one.client.head("/api/odds")
            counted.append((await one.json("/api/stats"))["http"])

    assert counted[0] == counted[1]
    assert {"200": 3, "400": 1} == counted[0]["answers"]["/api/odds"]


@pytest.mark.parametrize("is_layered", [True, False])
async def test_each_answer_is_logged_at_debug(*, is_layered: bool) -> None:
    """Each answer has one log line with method, path, status, bytes and time."""
    with structlog.testing.capture_logs() as lines:
        async with open_site(is_layered=is_layered) as one:
            await _filled(one)
            answered = await one.get("/api/odds")

    line = next(line for line in lines if line["event"] == "request.served")
    assert ("GET", "/api/odds", 200) == (line["method"], line["path"], line["status"])
    assert (len(answered.content), True) == (line["body_bytes"], line["took_ms"] >= 0)


async def test_a_disconnect_within_a_large_body_causes_no_error(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    """The parts that are not read are dropped without an error, and the next request is served."""
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
    """A client of the layer alone, whose handler returns `parts`; notes the sizes sent and the turns."""

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
            mine, answer = answer, None  # type: ignore[assignment]  # no other reference is left
            return mine

        async def send(event: Any) -> None:
            if "body" in event:
                self.sent.append(len(event["body"]))
                self.body += event["body"]
                self.references.append(sys.getrefcount(first))

        layer = FastPath(_unreachable, {"/list": lambda _: given()}, HttpCounters(dict), service_record())
        scope = {**asgi_scope("/list", "", []), "method": method, "raw_path": b"/list"}
        await layer(scope, _unreachable, send)  # type: ignore[arg-type]  # as a server would


async def _unreachable(*_: object) -> Any:
    raise NotImplementedError


@pytest.mark.parametrize("size", [0, 1, 1_000_000])
async def test_a_body_in_one_part_is_one_event(size: int) -> None:
    """The size of the part makes no difference."""
    client = _Client(bytes(size))
    await client.get()

    assert [size] == client.sent


async def test_other_tasks_run_between_two_parts() -> None:
    """No part is kept in memory once it is sent."""
    parts = [os.urandom(size) for size in (1_000_000, 10, 500_000)]
    client, whole, turns = _Client(*parts), b"".join(parts), 0
    parts.clear()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.get)
        while len(client.body) < len(whole):
            await anyio.lowlevel.checkpoint()
            turns += 1

    assert (whole, [1_000_000, 10, 500_000]) == (client.body, client.sent)
    assert turns >= 3
    assert client.references[0] > client.references[1] == client.references[2]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    ("error", "status"), [(Problem(503, "not_now", "later"), 503), (RuntimeError("hunter2"), 500)]
)
async def test_an_error_is_computed_once(method: str, error: Exception, status: int) -> None:
    """The error is sent, counted and logged without calling Quart, with the headers of a GET."""
    asked, sent, counters = [], [], HttpCounters(dict)

    async def handler(request: Asked) -> Prepared:
        asked.append(request)
        raise error

    async def send(event: Any) -> None:
        sent.append(event)

    layer = FastPath(_unreachable, {"/list": handler}, counters, service_record())
    scope = {**asgi_scope("/list", "", []), "method": method}
    with structlog.testing.capture_logs() as lines:
        await layer(scope, _unreachable, send)  # type: ignore[arg-type]  # as a server would

    start, body = sent
    headers = dict(start["headers"])
    counted = len(body["body"])
    logged = [line["event"] for line in lines if line["log_level"] == "error"]
    assert (1, status, {"/list": {str(status): 1}}) == (
        len(asked),
        start["status"],
        counters.view()["answers"],
    )
    assert (b"application/problem+json", method == "GET") == (headers[b"content-type"], counted > 0)
    assert counted == counters.view()["body_bytes"]
    assert int(headers[b"content-length"]) > 0
    assert (["request.failed"] if status == 500 else []) == logged


async def test_head_of_a_long_body_has_no_body() -> None:
    """Only its headers are sent."""
    client = _Client(bytes(1_000_000), bytes(10))
    await client.get("HEAD")

    assert [0] == client.sent
