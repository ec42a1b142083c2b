"""Recording and replaying a program: the replay's board equals the service's board."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import anyio
import pytest

from actors.board.chunks import entries_of
from actors.board.snapshot import Snapshot
from actors.core.clock import SystemClock
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId
from actors.recordings.playback import Playback
from actors.recordings.reader import open_sources
from actors.service.recorder import Recorder
from actors.service.registry import kind_named
from actors.service.settings import load
from actors.service.system import System
from tests.support.systems.program_stage import PRELUDE

pytestmark = [pytest.mark.anyio, pytest.mark.real_time]

MINE = BookmakerId("mine")
CONFIG = """
[sources.own]
kind = "program"
command = ["{python}", "-S", "{script}"]
secrets = {{ KEY = "a hidden key" }}
on_exit = "{on_exit}"
[bookmakers.mine]
name = "Mine"
source = "own"
key = "program"
"""
PROGRAM = """
listed(item("1"), item("2"), item("3", "0.5"))
say("upsert", **item("1", "2.20"))
say("remove", match="2")
say("list", "other", id="1", matches=[], note={"key": os.environ["KEY"]})
say("upsert", **item("4"))
say("begin", id="2")
print("broken", flush=True)
time.sleep(1000)
"""


def _shown(snapshot: Snapshot) -> dict[str, float]:
    entries = entries_of(snapshot.books[MINE].chunks)
    return {entry.match.source_match_id: entry.match.home_price for entry in entries}


@pytest.mark.parametrize(("on_exit", "left"), [("keep", {"1": 2.2, "4": 2.1}), ("withdraw", {})])
async def test_a_replay_shows_what_the_service_showed(
    tmp_path: Path, on_exit: str, left: dict[str, float]
) -> None:
    """The recording ends after a line that cannot be read, and has no secrets of the program."""
    script, config, out = tmp_path / "program.py", tmp_path / "own.toml", tmp_path / "out"
    script.write_text(PRELUDE + PROGRAM, "utf-8")
    config.write_text(CONFIG.format(python=sys.executable, script=script, on_exit=on_exit), "utf-8")
    settings, clock = load(config), SystemClock()
    with Recorder.open(out, settings, clock) as recorder:
        system = System(settings, clock, Random(1), recorder.of)
        async with anyio.create_task_group() as tasks:
            await tasks.start(system.supervisor.run)
            while not system.status.sources[settings.bookmakers[MINE].source].failures_total:  # noqa: ASYNC110
                await anyio.sleep(0.01)
            while _shown(system.published.newest) != left:  # noqa: ASYNC110 - a program in another process
                await anyio.sleep(0.01)
            await system.supervisor.stop()
            tasks.cancel_scope.cancel()
    sources = open_sources(out, kind_named)
    bodies = b"".join(record.payload.body for record in sources[0].records())
    playback = Playback(sources)
    states = []
    for moment in playback.moments():
        run_now(playback.play(moment))
        states.append(_shown(playback.snapshot))

    assert {"1": 2.2, "4": 2.1} in states
    assert left in states[-2:]
    assert b'{"key": "***"}' in bodies
    assert b"a hidden key" not in bodies
