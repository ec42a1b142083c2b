"""A replica that archives, over a real server: it has what any machine served, whatever became of it."""

from __future__ import annotations

import signal
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.builders.clusters import two_sources
from tests.support.systems.process import Service, service
from tests.support.systems.shared_server import shared_server
from tests.support.time.waiting import eventually, let_pass

LISTS = ("/api/v2/odds", "/api/v2/odds?bookmaker=birch")
BOTH, REPLICA = '["collector", "replica"]', '["replica"]'
OK, MISSING = 200, 410

Answers = list[tuple[str, httpx2.Response]]


def _served(running: Service) -> Answers:
    """Return the lists that a machine serves over a while."""
    found = list[tuple[str, httpx2.Response]]()
    for _ in range(6):
        found += [(path, running.get(path)) for path in LISTS]
        let_pass(0.1)
    return [(path, answer) for path, answer in found if answer.status_code == OK]


def _past(running: Service, path: str, version: int) -> httpx2.Response:
    return running.get(f"{path}{'&' if '?' in path else '?'}at={version}")


def _is_live(running: Service) -> bool:
    return {check["state"] for check in running.get("/health").json()["checks"].values()} == {"live"}


def _wait_written(running: Service, version: int) -> Any:
    def is_written() -> bool:
        written: int = running.get("/health").json()["archive"]["written_version"]
        return written >= version

    eventually(is_written, "it is written")
    return running.get("/api/v2/archive").json()


def _differing(running: Service, served: Answers) -> list[tuple[str, int]]:
    """Return the lists of which the archive has other bytes."""
    versions = [(path, answer.json()["version"], answer.content) for path, answer in served]
    return [
        (path, version)
        for path, version, content in versions
        if (past := _past(running, path, version)).content != content or past.status_code != OK
    ]


@pytest.mark.long
def test_an_archive_has_what_any_machine_served(tmp_path: Path) -> None:
    """Also while its process was killed, and of an epoch that is over; between two epochs is a gap."""
    files = {roles: tmp_path / f"{len(roles)}.toml" for roles in (BOTH, REPLICA)}
    with shared_server("valkey", tmp_path) as server:
        for roles, file in files.items():
            archive = f"[archive]\npath = {str(tmp_path / 'archive')!r}\n" if roles == REPLICA else ""
            file.write_text(archive + two_sources(server.url, roles, 100, 10.0), "utf-8")
        with service(files[BOTH]) as collector:
            with service(files[REPLICA]) as replica:
                eventually(partial(_is_live, replica), "all is listed")
                served = _served(collector) + _served(replica)
                replica.stop(signal.SIGKILL)
            served += _served(collector)
            with service(files[REPLICA]) as replica:
                eventually(partial(_is_live, replica), "all is listed")
                first = served[0][1]
                filled = _wait_written(replica, served[-1][1].json()["version"])
                changes = replica.get(f"/api/v2/changes?since={first.headers['odds-cursor']}")
                differing = _differing(replica, served)
                records = [running.get("/api/v2/value/record") for running in (collector, replica)]
                server.ask("FLUSHALL")
                eventually(lambda: replica.get("/health").json()["cluster"]["resets"] == 1, "another epoch")
                eventually(partial(_is_live, replica), "all is listed again")
                anew = _served(replica)
                gaps = _wait_written(replica, anew[-1][1].json()["version"])["gaps"]
                differing += _differing(replica, served + anew)
                between = _past(replica, LISTS[0], gaps[0]["after_version"] + 1)
                after = replica.get(f"/api/v2/changes?since={first.headers['odds-cursor']}")

    assert [] == differing
    assert ([], OK) == (filled["gaps"], changes.status_code)
    assert ("no_archive", 0) == (records[0].json()["code"], records[1].json()["all"]["flags"])
    assert ["began_anew"] == [gap["reason"] for gap in gaps]
    assert (MISSING, "began_anew") == (between.status_code, between.json()["reason"])
    assert (MISSING, "version_not_available") == (after.status_code, after.json()["code"])
