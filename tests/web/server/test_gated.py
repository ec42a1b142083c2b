"""HTTP/1.1 behind the gate, compared with h11 on the same bytes and applications."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import Any

import anyio
import h11
import pytest
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.asyncio.task_group import TaskGroup
from hypercorn.asyncio.worker_context import WorkerContext
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol import ProtocolWrapper
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.typing import ConnectionState

from tests.support.systems.site import open_site
from web.server.gated import GatedProtocol

pytestmark = pytest.mark.anyio

GET = b"GET /whole?a=1 HTTP/1.1\r\nHost: x\r\nX-A: b\r\n\r\n"
LAST = GET.replace(b"X-A: b", b"Connection: close")
SENT: dict[str, list[bytes]] = {
    "a request": [GET],
    "a head": [GET.replace(b"GET", b"HEAD")],
    "options": [GET.replace(b"GET", b"OPTIONS")],
    "one after another": [GET, GET],
    "pipelined": [3 * GET],
    "pipelined, then the last": [GET + LAST],
    "a stream": [GET.replace(b"whole", b"stream")],
    "pipelined streams": [2 * GET.replace(b"whole", b"stream")],
    "a stream of an old client": [GET.replace(b"whole", b"stream").replace(b"/1.1", b"/1.0")],
    "another method between": [GET + GET.replace(b"GET", b"POST") + GET],
    "an old version": [GET, GET.replace(b"/1.1", b"/1.0")],
    "not modified": [2 * GET.replace(b"whole", b"304")],
    "an error": [2 * GET.replace(b"whole", b"503")],
    "failed before its first byte": [GET.replace(b"whole", b"fail")],
    "failed after its first byte": [GET.replace(b"whole", b"fail-late")],
    "ended before its end": [GET.replace(b"whole", b"half")],
    "a header with LF": [GET.replace(b"whole", b"lf")],
    "an answer that closes": [GET.replace(b"whole", b"close")],
}
WITH_LENGTH = [(b"content-length", b"5"), (b"x-id", b"1")]


def _answer(status: int, headers: list[tuple[bytes, bytes]], *pieces: bytes) -> list[dict[str, Any]]:
    """Return the events of an answer; without pieces the answer has a head only."""
    start = {"type": "http.response.start", "status": status, "headers": headers}
    bodies = [
        {"type": "http.response.body", "body": body, "more_body": number < len(pieces)}
        for number, body in enumerate(pieces, 1)
    ]
    return [start, *bodies]


ANSWERS: dict[str, list[dict[str, Any]]] = {
    "/whole": _answer(200, WITH_LENGTH, b"hello"),
    "/stream": _answer(200, [(b"x-id", b"1")], b"one", b"two", b""),
    "/304": _answer(304, [(b"etag", b'"1"')], b""),
    "/503": _answer(503, WITH_LENGTH, b"sorry"),
    "/fail": [{}],
    "/fail-late": [*_answer(200, [(b"x-id", b"1")], b"one", b"two")[:2], {}],
    "/half": _answer(200, []),
    "/lf": _answer(200, [(b"x-id", b"1\nx-other: 2"), *WITH_LENGTH], b"hello"),
    "/close": _answer(200, [(b"connection", b"close"), *WITH_LENGTH], b"hello"),
    "/long": _answer(200, WITH_LENGTH, b"hello, world"),
    "/short": _answer(200, WITH_LENGTH, b"hell", b""),
    "/late": [*_answer(200, WITH_LENGTH), {}],
    "/many": _answer(200, [], *40 * [b"piece"]),
    "/wait": [],
}
"""The events that the application sends, by path; at an empty event it fails."""


async def _app(scope: Any, receive: Any, send: Any) -> None:
    assert {"type": "http.request", "body": b"", "more_body": False} == await receive()
    if not ANSWERS[scope["path"]]:
        assert {"type": "http.disconnect"} == await receive()
    for event in ANSWERS[scope["path"]]:
        if not event:
            raise RuntimeError("hunter2")
        await send(event)
        await asyncio.sleep(0)


class _Line:
    """A connection without a socket, which keeps all bytes that the protocol sends until it closes."""

    def __init__(self) -> None:
        self.sent, self.scopes = b"", list[Any]()
        self.is_closed, self.is_idle = False, True
        self.error: OSError | None = None
        self.is_lost = False
        """Whether nothing can be sent any more: then each piece reports the loss, as in Hypercorn."""

    async def run(self, kind: type[H11Protocol], *given: bytes, is_half_closed: bool = False) -> bytes:
        """Feed each piece of a client's bytes after all earlier pieces are answered; return the answers."""
        config = Config()
        config.include_server_header = False
        config.errorlog = logging.getLogger("hypercorn.error")

        async def noted(scope: Any, receive: Any, send: Any) -> None:
            self.scopes.append(scope)
            await _app(scope, receive, send)

        async with TaskGroup(asyncio.get_running_loop()) as tasks:
            self._protocol = protocol = kind(
                ASGIWrapper(noted),
                config,
                WorkerContext(None),
                tasks,
                ConnectionState({}),
                False,  # noqa: FBT003 - Hypercorn calls it so, too
                ("127.0.0.1", 1),
                ("127.0.0.1", 2),
                self._take,
            )
            for piece in given:
                await protocol.handle(RawData(piece))
                for _ in range(0 if is_half_closed else 50):
                    await asyncio.sleep(0)
            await protocol.handle(Closed())
        return re.sub(rb"date: [^\r]*", b"date: now", self.sent)

    async def _take(self, event: Event) -> None:
        if isinstance(event, RawData) and self.error is not None:
            raise self.error
        if isinstance(event, RawData) and self.is_lost:
            await self._protocol.handle(Closed())
        elif isinstance(event, RawData) and not self.is_closed:
            self.sent += event.data
        elif isinstance(event, Updated):
            self.is_idle = event.idle
        elif isinstance(event, Closed):
            self.is_closed = True


@pytest.mark.parametrize("is_half_closed", [False, True])
@pytest.mark.parametrize("case", SENT)
async def test_it_answers_as_h11_does(case: str, *, is_half_closed: bool) -> None:
    """Bytes and scopes are equal, and both protocols keep or close the connection alike."""
    ours, theirs = _Line(), _Line()
    by_h11 = await theirs.run(H11Protocol, *SENT[case], is_half_closed=is_half_closed)
    by_us = await ours.run(GatedProtocol, *SENT[case], is_half_closed=is_half_closed)

    assert by_h11 == by_us
    assert theirs.scopes == ours.scopes
    assert is_half_closed or (theirs.is_closed, theirs.is_idle) == (ours.is_closed, ours.is_idle)


@pytest.mark.parametrize("path", [b"long", b"short", b"late", b"fail-late", b"half", b"lf", b"close"])
async def test_an_answer_that_goes_wrong_is_the_last(path: bytes) -> None:
    """The next request has no answer, and a client can see that the failed answer is not complete."""
    line = _Line()
    sent = await line.run(GatedProtocol, GET.replace(b"whole", path) + GET)
    client = h11.Connection(h11.CLIENT)
    client.send(h11.Request(method="GET", target="/", headers=[("Host", "x")]))
    client.send(h11.EndOfMessage())
    client.receive_data(sent)
    client.receive_data(b"")
    response = client.next_event()
    is_cut = False
    try:
        while not isinstance(client.next_event(), h11.EndOfMessage):
            pass
    except h11.RemoteProtocolError:
        is_cut = True

    assert isinstance(response, h11.Response)
    assert is_cut is (response.status_code == 200 and path != b"close")
    assert line.is_closed
    assert 1 == len(line.scopes)


async def test_the_application_is_told_that_the_client_has_left() -> None:
    """The application's answer is then dropped without an error, because nobody would get it."""
    assert b"" == await _Line().run(GatedProtocol, GET.replace(b"whole", b"wait"))


async def test_a_lost_connection_is_told_once_however_many_pieces_follow() -> None:
    """Otherwise the application's queue of events would be full, and its task would wait for ever."""
    line = _Line()
    line.is_lost = True
    with anyio.fail_after(10):
        await line.run(GatedProtocol, GET.replace(b"whole", b"many"))

    assert 1 == len(line.scopes)


async def test_what_could_not_be_sent_ends_the_connection() -> None:
    """After any error of sending, the requests behind the failed answer are not answered."""
    line = _Line()
    line.error = TimeoutError()
    await line.run(GatedProtocol, 3 * GET)

    assert (1, True) == (len(line.scopes), line.is_closed)


async def test_hypercorn_takes_our_protocol() -> None:
    """Otherwise h11 would answer everything, at a third of the rate."""
    async with open_site() as site, TaskGroup(asyncio.get_running_loop()) as tasks:
        await site.get("/health/live")
        wrapper = ProtocolWrapper(
            ASGIWrapper(_app),
            Config(),
            WorkerContext(None),
            tasks,
            ConnectionState({}),
            False,  # noqa: FBT003 - Hypercorn calls it so, too
            None,
            None,
            _Line()._take,
        )

    assert GatedProtocol is type(wrapper.protocol)
