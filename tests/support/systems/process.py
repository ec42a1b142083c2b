"""The real program in a separate process, as an operator starts it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
START_S = 20.0


@dataclass
class Service:
    """A running service: its base URL, if it serves, and the decoded lines of its log so far."""

    process: subprocess.Popen[str]
    log: list[dict[str, Any]] = field(default_factory=list)
    base: str = ""
    _started: threading.Event = field(default_factory=threading.Event)

    def events(self, name: str) -> list[dict[str, Any]]:
        """Return the logged events of that name."""
        return [line for line in list(self.log) if line.get("event") == name]

    def stop(self, number: signal.Signals = signal.SIGTERM, within_s: float = 20.0) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(within_s)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with contextlib.suppress(json.JSONDecodeError):
                self.log.append(json.loads(line))
                if self.log[-1].get("event") == "service.started":
                    self.base = self.log[-1].get("url", "")
                    self._started.set()
        self._started.set()


@contextlib.contextmanager
def service(config: Path, environment: Mapping[str, str] | None = None) -> Iterator[Service]:
    """Run `serve --config CONFIG` on a free port within the block."""
    with program("serve", "--config", str(config), "--bind", "127.0.0.1:0", environment=environment) as one:
        yield one


@contextlib.contextmanager
def program(*arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[Service]:
    """Run a command that logs when it has started, within the block."""
    with started([sys.executable, "-m", "web", *arguments], ROOT, environment) as one:
        yield one


@contextlib.contextmanager
def started(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
) -> Iterator[Service]:
    """Run a command line in `folder` that logs when it has started, within the block."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        text=True,
    )
    running = Service(process)
    reader = threading.Thread(target=running._read, daemon=True)
    reader.start()
    try:
        assert running._started.wait(START_S), "the service did not start"
        yield running
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait(10)
        reader.join(5)
        if process.stdout is not None:
            process.stdout.close()
