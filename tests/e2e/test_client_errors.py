"""Clients that the system disconnects leave a counter behind, and one line of the log."""

from __future__ import annotations

import contextlib
import signal
import socket
from pathlib import Path

import httpx2
import pytest

from tests.support.systems.process import service
from tests.support.time.waiting import eventually

DEFAULT = Path(__file__).parents[2] / "config" / "default.toml"
CLIENTS = 20


@pytest.mark.long
def test_clients_that_do_not_read_are_counted() -> None:
    """Each of them once; the log says it once a minute, without a stack."""
    with service(DEFAULT) as running, contextlib.ExitStack() as connections:

        def get(path: str) -> httpx2.Response:
            return running.get(path)

        def counted() -> dict[str, int]:
            errors: dict[str, int] = get("/api/stats").json()["http"]["client_errors"]
            return errors

        eventually(lambda: len(get("/api/v2/odds").content) > 100_000, "a list that is not small")
        for _ in range(CLIENTS):
            client = connections.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(running.address)
            client.sendall(b"GET /api/v2/odds HTTP/1.1\r\nHost: board\r\n\r\n" * 20)
        eventually(lambda: counted().get("timed_out", 0) >= CLIENTS, "all are disconnected", within_s=40)
        errors, code = counted(), running.stop(signal.SIGTERM)

    (line,) = running.events("http.client_errors")
    assert ({"timed_out": CLIENTS}, 0) == (errors, code)
    assert ("timed_out", 1) == (line["kind"], line["errors"])
    assert {"info", "warning"} == {entry["level"] for entry in running.log}
