"""A plug-in that blocks the event loop of the real process, and a suspended process (faults.md, D8)."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.support.peers.http import http_peer, respond
from tests.support.systems.plugin import installed
from tests.support.systems.process import program, service
from tests.support.time.waiting import eventually, let_pass

BLOCKER = """
import time
from pathlib import Path
from actors.core.messages import Extract, Scope
from actors.source_api.kinds import PolledKind
from actors.source_api.options import PolledOptions
from actors.source_api.plan import Target, every


class Options(PolledOptions, frozen=True, kw_only=True):
    until: str


def decode(payload, options):
    yield
    while not Path(options.until).exists():
        time.sleep(0.01)


def extract(content, key, options):
    yield
    return Extract(())


plan = every(lambda options: (Target(Scope("all"), options.url),))
KIND = PolledKind("blocker", Options, lambda key: None, plan, decode, extract)
"""
CONFIG = """
[server]
drain_s = 0
[sources.blocker]
kind = "blocker"
url = "{url}"
poll_interval_s = 0.2
until = "{until}"
[bookmakers.blocker]
name = "Blocker"
source = "blocker"
key = "x"
"""


@pytest.mark.parametrize("command", ["serve", "record"])
def test_a_blocking_plug_in_is_named_in_the_log(tmp_path: Path, command: str) -> None:
    """The log has its line and its actor before the block has ended, the counters its length."""
    config, until = tmp_path / "blocker.toml", tmp_path / "until"
    ends = ("--bind", "127.0.0.1:0") if command == "serve" else ("--out", str(tmp_path / "out"))
    with http_peer() as peer:
        peer.answers["/odds"] = respond(b"odds")
        config.write_text(CONFIG.format(url=peer.url("/odds"), until=until), "utf-8")
        environment = installed(tmp_path, "blocker", BLOCKER)
        with program(command, "--config", str(config), *ends, environment=environment) as running:
            (lagged,) = eventually(lambda: running.events("loop.lagged"), "it is noticed")
            during = running.events("loop.recovered")
            until.touch()
            eventually(lambda: running.events("loop.recovered"), "it is over")
            stats = {} if command == "record" else running.get("/api/stats").json()
            code = running.stop(signal.SIGTERM)

    assert "source:blocker" == lagged["task"]
    assert re.search(
        rf"^{re.escape(str(tmp_path))}/blocker\.py:[0-9]+ decode$", lagged["stack"], re.MULTILINE
    )
    assert ([], 0) == (during, code)
    if stats:
        (recovered,) = running.events("loop.recovered")
        assert {"stalls": 1, "longest_s": recovered["lagged_for_s"]} == stats["data"]["loop"]


@pytest.mark.long
def test_a_suspension_is_not_reported_as_lag() -> None:
    """While the process is suspended so is the watch, and afterwards the loop answers at once."""
    config = Path(__file__).parents[2] / "config" / "default.toml"
    with service(config) as running:
        for _ in range(3):
            running.process.send_signal(signal.SIGSTOP)
            let_pass(1.5)
            running.process.send_signal(signal.SIGCONT)
            stats = running.get("/api/stats").json()

    assert {"stalls": 0, "longest_s": None} == stats["data"]["loop"]
    assert [] == running.events("loop.lagged")
