"""Runs wrk, a load generator in C; a generator in Python would mostly measure itself."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping

from scripts.benchmarks.processes import CLIENT_CORE, pinned

CONNECTIONS = 16


def is_there() -> bool:
    """Return whether wrk is installed."""
    return shutil.which("wrk") is not None


def rate(url: str, headers: Mapping[str, str], seconds: int, connections: int = CONNECTIONS) -> float:
    """Return requests a second. Raises: RuntimeError for answers other than 2xx and 3xx."""
    sent = [part for name, value in headers.items() for part in ("-H", f"{name}: {value}")]
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "60s", *sent, url]
    done = subprocess.run(pinned(CLIENT_CORE, command), check=True, capture_output=True, text=True)
    found = re.search(r"Requests/sec:\s+([0-9.]+)", done.stdout)
    if found is None or "Non-2xx" in done.stdout or "Socket errors" in done.stdout:
        raise RuntimeError(f"wrk on {url} printed: {done.stdout}")
    return float(found[1])
