"""Processes with one board over a real server: they send the same bytes, and no price without a source."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders.clusters import MARKETS, two_sources
from tests.support.systems.harm import BOTH, COLLECTOR, REPLICA, tried
from tests.support.systems.machines import OK
from tests.support.systems.process import Service, service
from tests.support.systems.shared_server import ENGINES, SharedServer, shared_server
from tests.support.time.waiting import eventually

PATHS = (
    "/api/odds",
    "/api/v2/odds",
    "/api/v2/odds?bookmaker=birch",
    "/api/v2/fixtures",
    "/api/v2/fixtures?bookmaker=birch",
    "/api/v2/surebets",
    "/api/v2/surebets?market=any",
    "/api/v2/fixtures?market=over_under:2.5",
    "/api/v2/fixtures?market=btts&bookmaker=birch",
    "/api/v2/fixtures?market=main",
    "/api/v2/fixtures?market=1x2,asian_handicap:-0.5,double_chance",
    "/api/v2/markets",
)
VIEWS = (
    "",
    "&bookmaker=birch",
    "&view=fixtures",
    "&view=surebets",
    "&view=fixtures&market=main",
    "&view=fixtures&market=over_under:2.5",
    "&view=surebets&market=any",
)
UNAVAILABLE = 503
HARMED_S = {False: 60.0, True: 3600.0}
"""Seconds of faults, without and with --whole."""


@pytest.fixture(params=sorted(ENGINES))
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SharedServer]:
    """Return a server that runs."""
    with shared_server(request.param, tmp_path) as running:
        yield running


def _config(server: SharedServer, folder: Path, roles: str) -> Path:
    file = folder / f"{len(list(folder.glob('*.toml')))}.toml"
    file.write_text(two_sources(server.url, roles, 100, 10.0, MARKETS), "utf-8")
    return file


def _cluster(running: Service) -> dict[str, Any]:
    found: dict[str, Any] = running.get("/health").json()["cluster"]
    return found


def _wait_linked(*every: Service) -> None:
    for running in every:
        running.wait_ready()
        eventually(partial(_is_linked, running), "all is listed and linked")


def _is_linked(running: Service) -> bool:
    health = running.get("/health").json()
    listed = {check["state"] for check in health["checks"].values()}
    answer = running.get("/api/v2/fixtures")
    fixtures = answer.json()["fixtures"] if answer.status_code != UNAVAILABLE else []
    return listed == {"live"} and any(len(fixture["entries"]) > 1 for fixture in fixtures)


def test_all_machines_show_the_same_bytes(server: SharedServer, tmp_path: Path) -> None:
    """Answers with one tag are equal, also from a machine that joined later, by a checkpoint or the log."""
    bodies: dict[tuple[str, str, str], bytes] = {}
    shared = differing = 0
    with service(_config(server, tmp_path, BOTH)) as first:
        _wait_linked(first)
        with service(_config(server, tmp_path, REPLICA)) as second:
            _wait_linked(second)
            for _ in range(25):
                for running in (first, second):
                    for path in PATHS:
                        for coding in ("identity", "gzip"):
                            answer = running.get(path, {"Accept-Encoding": coding})
                            raw = (path, coding, answer.headers["etag"])
                            shared += raw in bodies
                            differing += bodies.setdefault(raw, answer.content) != answer.content

    assert shared
    assert 0 == differing


def test_changes_are_the_same_everywhere(server: SharedServer, tmp_path: Path) -> None:
    """Changes since a version are equal on both machines, for lists and fixtures; none is refused."""
    shared = differing = 0
    with (
        service(_config(server, tmp_path, BOTH)) as first,
        service(_config(server, tmp_path, REPLICA)) as second,
    ):
        _wait_linked(first, second)
        for _ in range(20):
            since = first.get("/api/v2/odds").headers["odds-cursor"]
            bodies: dict[tuple[str, int], bytes] = {}
            for _ in range(4):
                for running in (first, second):
                    for view in VIEWS:
                        answer = running.get(f"/api/v2/changes?since={since}{view}")
                        assert OK == answer.status_code, answer.text
                        found = (view, answer.json()["version"])
                        shared += found in bodies
                        differing += bodies.setdefault(found, answer.content) != answer.content

    assert shared
    assert 0 == differing


def test_a_replica_shows_nothing_that_nobody_vouches_for(server: SharedServer, tmp_path: Path) -> None:
    """Without a collector no version can say that the lists are gone; then the replica answers 503."""
    with (
        service(_config(server, tmp_path, COLLECTOR)) as collector,
        service(_config(server, tmp_path, REPLICA)) as replica,
    ):
        _wait_linked(replica)
        of_collector = [collector.get(path) for path in ("/api/v2/odds", "/monitor/abstentions/5")]
        name = _cluster(collector)["collector"]
        collector.stop(signal.SIGKILL)
        eventually(lambda: replica.get("/api/v2/odds").status_code == UNAVAILABLE, "it is 503")
        problem = replica.get("/api/v2/odds").json()
        eventually(lambda: name in str(_cluster(replica)["last_error"]), "it says who is silent")

    assert [404, OK] == [answer.status_code for answer in of_collector]
    assert of_collector[1].json()["linking"], "the linker is there"
    assert "commit_late" == problem["code"]


@pytest.mark.timeout(4000)
def test_clients_of_any_machine_are_answered_alike(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """One tag has one body, no view is more than 5 s behind what anybody saw, no version is used twice.

    A client that asks another machine for changes each time has the list that is served, and no older list.
    The archive of one process has the same lists, whatever became of its process and of the server.
    """
    seed = request.config.getoption("randomly_seed", 1)
    history, archived = tried(tmp_path, seed, HARMED_S[request.config.getoption("--whole")])

    assert [] == history.violations
    assert history.compared > 0
    assert history.followed > 0
    assert history.matched > 0
    assert 0 < min(history.fired.values()), history.fired
    assert 0 < archived[OK]
