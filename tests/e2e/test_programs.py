"""A program as a source of the real service: it is shown, and ends with the service, however that ends."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from tests.support.systems.process import service
from tests.support.systems.program_stage import PRELUDE, processes_with
from tests.support.time.waiting import eventually

CONFIG = """
[server]
drain_s = 0.0
[sources.own]
kind = "program"
command = ["{python}", "-S", "{script}"]
[bookmakers.mine]
name = "Mine"
source = "own"
key = "program"
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_program_ends_with_the_service(tmp_path: Path, number: signal.Signals) -> None:
    """Also when the service has no time to end it."""
    script, config = tmp_path / "program.py", tmp_path / "own.toml"
    script.write_text(f"{PRELUDE}\nlisted(item())\ntime.sleep(1000)", "utf-8")
    config.write_text(CONFIG.format(python=sys.executable, script=script), "utf-8")
    with service(config) as running:
        running.wait_ready()
        shown = running.get("/api/v2/odds").json()["matches"]
        assert processes_with(str(script))
        running.stop(number)
        eventually(lambda: not processes_with(str(script)), "no process is left")

    assert ["mine_1"] == [match["id"] for match in shown]
