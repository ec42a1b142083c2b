"""A plug-in that tries to end the process: only its own actor crashes (faults.md, D1)."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.support.peers.http import http_peer, respond
from tests.support.systems.plugin import installed
from tests.support.systems.process import service
from tests.support.time.waiting import eventually

LEAVER = """
import builtins
from actors.core.messages import Scope
from actors.source_api.kinds import PolledKind
from actors.source_api.options import PolledOptions
from actors.source_api.plan import Plan, Target


class Options(PolledOptions, frozen=True, kw_only=True):
    where: str
    what: str


def leave(options, where):
    if options.where == where:
        raise getattr(builtins, options.what)(0)


class LeavingPlan(Plan):
    def on_answered(self, target, headers, now):
        leave(self._options, "plan")


def plan(options, keys):
    return LeavingPlan(options, (Target(Scope("all"), options.url),))


def decode(payload, options):
    leave(options, "decode")
    yield


def extract(content, key, options):
    yield
    leave(options, "extract")


KIND = PolledKind("leaver", Options, lambda key: None, plan, decode, extract)
"""
CONFIG = """
[server]
drain_s = 0
[sources.leaver]
kind = "leaver"
url = "{url}"
poll_interval_s = 0.2
where = "{where}"
what = "{what}"
[bookmakers.leaver]
name = "Leaver"
source = "leaver"
key = "x"
[sources.simulated]
kind = "simulated"
[bookmakers.alder]
name = "Alder"
source = "simulated"
key = "sharp"
"""


@pytest.mark.parametrize(
    ("where", "what", "actor"),
    [
        ("decode", "SystemExit", "source:leaver"),
        ("extract", "SystemExit", "bookmaker:leaver"),
        pytest.param("plan", "KeyboardInterrupt", "source:leaver", marks=pytest.mark.long),
        pytest.param("extract", "GeneratorExit", "bookmaker:leaver", marks=pytest.mark.long),
    ],
)
def test_a_plug_in_cannot_end_the_process(tmp_path: Path, where: str, what: str, actor: str) -> None:
    """The log names its actor, other prices go on changing, and only a signal ends the process, with 0."""
    config = tmp_path / "leaver.toml"
    with http_peer() as peer:
        peer.answers["/odds"] = respond(b"odds")
        config.write_text(CONFIG.format(url=peer.url("/odds"), where=where, what=what), "utf-8")
        with service(config, installed(tmp_path, "leaver", LEAVER)) as running:

            def version() -> int:
                answer = running.get("/api/v2/odds?bookmaker=alder").json()
                return int(answer.get("version", 0)) if answer.get("matches") else 0

            eventually(lambda: len(running.events("actor.crashed")) >= 2, "it has crashed twice")
            before = version()
            eventually(lambda: version() > before, "the other's prices go on")
            crashed = {line["actor"] for line in running.events("actor.crashed")}
            found = [what in line["exception"] for line in running.events("actor.crashed")]
            code = running.stop(signal.SIGTERM)

    assert ({actor}, True, 0) == (crashed, all(found), code)
