"""A process that may open few files: it takes fewer clients, and says so once."""

from __future__ import annotations

import contextlib
import socket
import sys
import time
from typing import Self

from tests.support.systems.process import ROOT, started

LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
os.execv(sys.argv[1], sys.argv[1:])
"""
SERVE = (sys.executable, "-m", "web", "serve", "--config", "config/default.toml", "--bind", "127.0.0.1:0")
FLOOD_S = 3.0


class _Idle:
    """A client that sends nothing."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._connect()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def come_again(self) -> None:
        """Connect again if the server has closed the connection."""
        with contextlib.suppress(BlockingIOError):
            with contextlib.suppress(ConnectionError):
                self._socket.recv(1)
            self._socket.close()
            self._connect()

    def _connect(self) -> None:
        self._socket = socket.socket()
        self._socket.settimeout(0)
        with contextlib.suppress(BlockingIOError):
            self._socket.connect(("127.0.0.1", self._port))


def test_with_few_descriptors_the_limits_are_lowered_and_nothing_else_is_logged() -> None:
    """600 idle clients come again when they are closed; probes are answered meanwhile."""
    with (
        started([sys.executable, "-c", LIMITED, *SERVE], ROOT) as running,
        contextlib.ExitStack() as clients,
    ):
        port = int(running.base.rpartition(":")[2])
        crowd = [clients.enter_context(_Idle(port)) for _ in range(600)]
        ends, answers = time.monotonic() + FLOOD_S, 0
        while time.monotonic() < ends:
            for each in crowd:
                each.come_again()
            with running.client() as client:
                assert 200 == client.get("/health/live").status_code
                answers += 1
        assert 0 == running.stop()

    assert answers > 0
    (lowered,) = running.events("service.limits_lowered")
    assert 256 == lowered["open_files"]
    assert lowered["max_connections"] + lowered["max_streams"] < 256
    expected = {"service.configured", "service.limits_lowered", "service.started", "source.simulated"}
    found = {line["event"] for line in running.log}
    assert expected == found - {"service.stopping", "service.stopped"}
