"""Programs under measurement: started, pinned to a core of their own where there are two, and ended."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent


def pinned(core: int, command: list[str]) -> list[str]:
    """Give the command line that runs `command` on that core."""
    if (os.cpu_count() or 1) > 1 and shutil.which("taskset"):
        return ["taskset", "-c", str(core), *command]
    return command


@contextlib.contextmanager
def server(arguments: list[str]) -> Iterator[str]:
    """Run a Python program that logs a `service.started` line with its url; give that url."""
    process = subprocess.Popen(
        pinned(0, [sys.executable, *arguments, "--bind", "127.0.0.1:0"]),
        cwd=HERE.parents[1],
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        started = next(line for line in process.stdout if "service.started" in line)
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield json.loads(started)["url"]
    finally:
        process.terminate()
        process.wait(10)
