"""A service with an archive: stopped in order or killed, its clients go on at the next start."""

from __future__ import annotations

import signal
import socket
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
    """Return a list that was served, once it is written."""
    answer = running.get(LIST)
    version = answer.json()["version"]
    eventually(
        lambda: running.get("/health").json()["archive"]["written_version"] >= version, "it is written"
    )
    return answer


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_clients_go_on_after_a_restart(config: Path, end: signal.Signals) -> None:
    """The epoch stays, `since` gives the difference, and the list of before is there byte for byte."""
    with service(config) as running:
        running.wait_ready()
        before = _served(running)
        running.stop(end)
    cursor, version = before.headers["odds-cursor"], before.json()["version"]
    with service(config) as running:
        running.wait_ready()
        changes = running.get(f"/api/v2/changes?since={cursor}").json()
        past = running.get(f"{LIST}?at={version}")
        (gap,) = running.get("/api/v2/archive").json()["gaps"]
        after = running.get(LIST).json()

    assert cursor.partition("-")[2] == changes["cursor"].partition("-")[2]
    assert (200, before.content) == (past.status_code, past.content)
    assert ("stopped" if end is signal.SIGTERM else "killed") == gap["reason"]
    listed = {entry["id"]: entry for entry in before.json()["matches"]}
    gone = {entry["id"] for entry in changes["removed"]}
    assert changes["version"] > version
    assert gone <= listed.keys()
    assert after["version"] >= changes["version"]


def test_lists_are_there_at_once_after_an_orderly_end(config: Path) -> None:
    """Within the time that they hold: nothing that was shown leaves as stale but what is in play."""
    with service(config) as running:
        running.wait_ready()
        before = _served(running)
        assert 0 == running.stop()
    with service(config) as running:
        changes = running.get(f"/api/v2/changes?since={before.headers['odds-cursor']}")

    assert 200 == changes.status_code, changes.text
    stale = [entry["id"] for entry in changes.json()["removed"] if entry["reason"] == "stale"]
    assert len(stale) < before.json()["matches_count"] / 2


@pytest.mark.long
def test_a_client_that_does_not_read_hinders_no_orderly_end(tmp_path: Path) -> None:
    """The server waits for it until the process has to end: by then the archive is closed."""
    config = simulated(tmp_path, matches=6_000, updates_per_s=1.0)
    archive = f"[archive]\npath = {str(tmp_path / 'archive')!r}\n"
    config.write_text(config.read_text("utf-8") + archive, "utf-8")
    with service(config) as running, socket.socket() as slow:
        running.wait_ready()
        _served(running)
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(running.address)
        slow.sendall(b"GET /api/v2/odds HTTP/1.1\r\nHost: x\r\n\r\n")
        slow.recv(1)
        code = running.stop(within_s=30)
    with service(config) as running:
        (gap,) = running.get("/api/v2/archive").json()["gaps"]

    assert (0, "stopped") == (code, gap["reason"])


@pytest.mark.skipif(library() is None, reason="needs a C compiler (cc)")
def test_a_disk_that_cannot_be_read_for_a_while_costs_nothing(config: Path, tmp_path: Path) -> None:
    """At the start after a kill, and while it runs: the list of before comes back byte for byte."""
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
