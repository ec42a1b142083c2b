"""A service with an archive: stopped in order or killed, its clients go on at the next start."""

from __future__ import annotations

import signal
from errno import EIO
from pathlib import Path

import httpx2
import pytest

from tests.support.archive.disk_faults import READ, controlled, environment, library
from tests.support.systems.process import Service, service, simulated
from tests.support.time.waiting import eventually

LIST = "/api/v2/odds"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Return a configuration of simulated odds with an archive."""
    file = simulated(tmp_path, matches=40, updates_per_s=50.0)
    archive = f"[archive]\npath = {str(tmp_path / 'archive')!r}\n"
    file.write_text(file.read_text("utf-8") + archive, "utf-8")
    return file


def _served(running: Service) -> httpx2.Response:
    """Return a list that was served, once the archive has written it."""
    answer = running.get(LIST)
    version = answer.json()["version"]
    eventually(
        lambda: running.get("/health").json()["archive"]["written_version"] >= version, "it is written"
    )
    return answer


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_clients_go_on_after_a_restart(config: Path, end: signal.Signals) -> None:
    """The epoch stays, `since` gives the difference, and the previous list is there byte for byte.

    After an orderly end lists are there immediately, within the time that they hold: of all that was shown,
    only matches in play leave as stale.
    """
    with service(config) as running:
        running.wait_ready()
        before = _served(running)
        running.stop(end)
    cursor, version = before.headers["odds-cursor"], before.json()["version"]
    with service(config) as running:
        at_once = running.get(f"/api/v2/changes?since={cursor}")
        running.wait_ready()
        changes = running.get(f"/api/v2/changes?since={cursor}").json()
        past = running.get(f"{LIST}?at={version}")
        (gap,) = running.get("/api/v2/archive").json()["gaps"]
        after = running.get(LIST).json()

    assert cursor.partition("-")[2] == changes["cursor"].partition("-")[2]
    assert (200, before.content) == (past.status_code, past.content)
    listed = {entry["id"]: entry for entry in before.json()["matches"]}
    assert {entry["id"] for entry in changes["removed"]} <= listed.keys()
    assert after["version"] >= changes["version"] > version
    if end is signal.SIGTERM:
        stale = [entry["id"] for entry in at_once.json()["removed"] if entry["reason"] == "stale"]
        assert len(stale) < len(listed) / 2
    assert ("stopped" if end is signal.SIGTERM else "killed") == gap["reason"]


@pytest.mark.skipif(library() is None, reason="needs a C compiler (cc)")
def test_a_disk_that_cannot_be_read_for_a_while_costs_nothing(config: Path, tmp_path: Path) -> None:
    """The disk fails at the start after a kill, and later: the previous list comes back byte for byte."""
    control, folder = controlled(tmp_path / "control"), tmp_path / "archive"
    env = environment(tmp_path / "control", folder)
    with service(config, env) as running:
        running.wait_ready()
        before = _served(running)
        running.stop(signal.SIGKILL)
    asked = f"{LIST}?at={before.json()['version']}"
    control.fail(READ, EIO)
    with service(config, env) as running:
        running.wait_ready()
        at_the_start, health = running.get(asked), running.get("/health").json()["archive"]
        control.clear()
        eventually(lambda: running.get("/health").json()["archive"]["status"] == "pass", "it is written")
        past = running.get(asked)
        control.fail(READ, EIO)
        while_it_runs = running.get(asked)
        control.clear()
        again = running.get(asked)

    assert [503, 503] == [answer.status_code for answer in (at_the_start, while_it_runs)]
    assert ("5", "warn") == (at_the_start.headers["retry-after"], health["status"])
    assert [(200, before.content)] * 2 == [(answer.status_code, answer.content) for answer in (past, again)]
    assert [] == [*folder.glob("*.bad*")]
