"""The whole process is stopped and continued, as on a laptop that sleeps (faults.md, C13)."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders.football_data import sheet
from tests.support.peers.http import Asked, HttpPeer, http_peer, respond
from tests.support.systems.feed import configured
from tests.support.systems.process import Service, service
from tests.support.time.waiting import eventually, let_pass

STALE_AFTER_S = 1.0
OLD, NEW = (1.9, 3.4, 4.2), (2.1, 3.2, 3.7)
PATHS = ("/api/v2/odds", "/api/odds", "/api/v2/odds?bookmaker=only", "/health/ready", "/health")


@contextlib.contextmanager
def _suspended(feed: Service) -> Iterator[None]:
    """Stop the process until the block ends, for longer than its lists stay fresh."""
    feed.process.send_signal(signal.SIGSTOP)
    try:
        yield
        let_pass(1.5 * STALE_AFTER_S)
    finally:
        feed.process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def _live_feed(folder: Path, peer: HttpPeer, timeout_s: float) -> Iterator[Service]:
    peer.answers["/only.csv"] = respond(sheet("B365", OLD))
    config = configured(folder, peer, ["only"], stale_after_s=STALE_AFTER_S, timeout_s=timeout_s)
    with service(config) as feed:
        eventually(lambda: feed.has("live", "only"), "it is live")
        yield feed


class Held:
    """An answer that is kept back until it is released."""

    def __init__(self, body: bytes) -> None:
        self.asked, self.released, self.sent = (threading.Event() for _ in range(3))
        self._respond = respond(body)

    def __call__(self, connection: socket.socket, asked: Asked) -> None:
        """Answer when released."""
        self.asked.set()
        self.released.wait(60)
        self._respond(connection, asked)
        self.sent.set()


def _asking(feed: Service, path: str) -> socket.socket:
    """Open a connection, check that it works, and return it open."""
    connection = socket.create_connection(feed.address, 10)
    assert 200 == _answer(connection, "/health/live")[0]
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    return connection


def _answer(connection: socket.socket, path: str | None = None) -> tuple[int, Any]:
    """Return status and body of the next answer on a connection, after a request if there is a path."""
    if path is not None:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    with connection.makefile("rb") as lines:
        status = int(lines.readline().split()[1])
        length = 0
        while (line := lines.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        return status, json.loads(lines.read(length))


def _prices(status: int, body: Any) -> list[tuple[float, ...]]:
    if status != 200:
        return []
    return [tuple(match["odds"].values()) for match in body["matches"]]


def test_the_first_answers_after_a_suspension_have_no_stale_list(tmp_path: Path) -> None:
    """Requests that waited meanwhile are answered 503, on kept connections and on new ones."""
    silence = Held(sheet("B365", NEW))
    with http_peer() as peer, contextlib.ExitStack() as cleanup:
        feed = cleanup.enter_context(_live_feed(tmp_path, peer, timeout_s=30))
        cleanup.callback(silence.released.set)
        peer.answers["/only.csv"] = silence
        assert silence.asked.wait(10)
        kept = [cleanup.enter_context(_asking(feed, "/health/live")) for _ in PATHS * 2]
        before = [_answer(sock)[0] for sock in kept]
        with _suspended(feed):
            for connection, path in zip(kept, PATHS * 2, strict=True):
                connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        answers = [_answer(connection) for connection in kept]
        later = [feed.get(path) for path in PATHS]
        eventually(lambda: feed.events("bookmaker.withdrawn"), "the log says so")
        peer.answers["/only.csv"] = respond(sheet("B365", NEW))
        silence.released.set()
        eventually(lambda: feed.has("live", "only"), "it is back", 30)
        back = feed.get("/api/v2/odds").json()

        assert {200} == set(before)
        assert {503} == {status for status, _ in answers} | {response.status_code for response in later}
        assert all("Retry-After" in response.headers for response in later[:3])
        assert 1 == len(feed.events("bookmaker.withdrawn"))
        assert [NEW] == _prices(200, back)


def test_a_working_source_brings_fresh_prices_after_a_suspension(tmp_path: Path) -> None:
    """No answer after the suspension shows a price that was fetched before it."""
    with http_peer() as peer, contextlib.ExitStack() as cleanup:
        feed = cleanup.enter_context(_live_feed(tmp_path, peer, timeout_s=0.5))
        kept = [cleanup.enter_context(_asking(feed, "/health/live")) for _ in range(8)]
        before = [_answer(sock)[0] for sock in kept]
        with _suspended(feed):
            peer.answers["/only.csv"] = respond(sheet("B365", NEW))
            for connection in kept:
                connection.sendall(b"GET /api/v2/odds HTTP/1.1\r\nHost: x\r\n\r\n")
        shown = [price for connection in kept for price in _prices(*_answer(connection))]
        eventually(lambda: feed.has("live", "only"), "it is back", 30)
        back = feed.get("/api/v2/odds").json()

    assert {200} == set(before)
    assert {NEW} >= set(shown)
    assert [NEW] == _prices(200, back)


@pytest.mark.parametrize("timeout_s", [0.5, 30.0])
def test_an_answer_received_during_a_suspension_is_not_fresh(tmp_path: Path, timeout_s: float) -> None:
    """It waited in the kernel for longer than a list stays fresh, so it confirms nothing."""
    held = Held(sheet("B365", OLD))
    with http_peer() as peer, contextlib.ExitStack() as cleanup:
        feed = cleanup.enter_context(_live_feed(tmp_path, peer, timeout_s))
        cleanup.callback(held.released.set)
        peer.answers["/only.csv"] = held
        assert held.asked.wait(10)
        connection = cleanup.enter_context(_asking(feed, "/health/live"))
        before = _answer(connection)[0]
        with _suspended(feed):
            peer.answers["/only.csv"] = respond(sheet("B365", NEW))
            held.released.set()
            assert held.sent.wait(10)
        shown = [price for _ in range(50) for price in _prices(*_answer(connection, "/api/v2/odds"))]
        eventually(lambda: feed.has("live", "only"), "it is live again", 30)

    assert 200 == before
    assert {NEW} >= set(shown)
