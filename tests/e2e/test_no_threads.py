"""A system that allows the process no further thread: a tight limit of processes, or of memory."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.support.systems.process import ROOT, program
from tests.support.time.waiting import DEADLINE_S

NO_THREADS = """
import _thread


def refuse(*arguments):
    raise RuntimeError("can't start new thread")


_thread.start_new_thread = refuse
"""


@pytest.mark.parametrize("command", ["serve", "record"])
def test_a_service_without_threads_starts_and_ends(
    tmp_path: Path, command: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """It serves, says that nothing watches its loop, and ends in order."""
    (tmp_path / "sitecustomize.py").write_text(NO_THREADS, "utf-8")
    config = ROOT / "config" / "default.toml"
    environment = {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    out = str(tmp_path / "out")
    ends = ("--bind", "127.0.0.1:0") if command == "serve" else ("--out", out, "--for", "1s")
    with program(command, "--config", str(config), *ends, environment=environment) as running:
        if command == "serve":
            assert 200 == running.get("/health/live").status_code
            running.process.send_signal(signal.SIGTERM)
        code = running.process.wait(DEADLINE_S)

    assert (0, "", 1) == (code, capfd.readouterr().err, len(running.events("loop.unwatched")))
