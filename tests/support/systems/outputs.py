"""A service whose standard output goes where the test says: an unread pipe, nowhere, a full disk."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2

from tests.support.systems.process import ROOT, Service, simulated
from tests.support.time.waiting import eventually

PIPE_BYTES = 4096


@contextlib.contextmanager
def serving(folder: Path, output: Any, *, redirection: str = "", drain_s: float = 0.0) -> Iterator[Service]:
    """Run the service at level debug with that standard output, until it is ready."""
    config = simulated(folder, drain_s=drain_s, matches=20, server='log_level = "debug"')
    with socket.create_server(("127.0.0.1", 0)) as free:
        bind = f"127.0.0.1:{free.getsockname()[1]}"
    shell = ["/bin/sh", "-c", f'exec "$@" {redirection}', "sh"]
    command = [*shell, sys.executable, "-m", "web", "serve", "--config", str(config), "--bind", bind]
    with subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.PIPE, text=True) as process:
        try:
            running = Service(process, base=f"http://{bind}")
            eventually(lambda: _is_ready(running), "it is ready")
            yield running
        finally:
            process.kill()


def _is_ready(running: Service) -> bool:
    with contextlib.suppress(httpx2.TransportError):
        return running.get("/health/ready").status_code == httpx2.codes.OK
    return False


@contextlib.contextmanager
def small_pipe() -> Iterator[tuple[int, int]]:
    """Return the ends of a pipe that takes little, to read from and to write to."""
    reading, writing = os.pipe()
    try:
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        yield reading, writing
    finally:
        os.close(reading)
        os.close(writing)
