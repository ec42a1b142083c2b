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

from tests.support.peers.plain_http import NO_TLS
from tests.support.systems.process import ROOT
from tests.support.time.waiting import eventually

CONFIG = """
[server]
drain_s = {drain_s}
log_level = "debug"
[sources.simulated]
kind = "simulated"
matches = 20
[bookmakers.alder]
name = "Alder"
source = "simulated"
key = "sharp"
"""
PIPE_BYTES = 4096


@contextlib.contextmanager
def serving(
    folder: Path, output: Any, *, redirection: str = "", drain_s: float = 0.0
) -> Iterator[tuple[subprocess.Popen[str], httpx2.Client]]:
    """Run the service with that standard output, and return it with a client, once it is ready."""
    config = folder / "simulated.toml"
    config.write_text(CONFIG.format(drain_s=drain_s), "utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        bind = f"127.0.0.1:{free.getsockname()[1]}"
    command = f'exec "$@" {redirection}'
    arguments = [sys.executable, "-m", "web", "serve", "--config", str(config), "--bind", bind]
    with (
        subprocess.Popen(
            ["/bin/sh", "-c", command, "sh", *arguments],
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
        httpx2.Client(base_url=f"http://{bind}", trust_env=False, verify=NO_TLS) as client,
    ):
        try:
            eventually(lambda: _is_ready(client), "it is ready")
            yield process, client
        finally:
            process.kill()


def _is_ready(client: httpx2.Client) -> bool:
    with contextlib.suppress(httpx2.TransportError):
        return client.get("/health/ready").status_code == 200
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
