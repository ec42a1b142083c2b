"""Processes with one board over a real server: same bytes, take-over, no price that nobody vouches for."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders.certificates import Authority
from tests.support.builders.clusters import MARKETS, two_sources
from tests.support.peers.http import http_peer
from tests.support.systems.machines import Proxy
from tests.support.systems.process import Service, service
from tests.support.systems.shared_server import ENGINES, SharedServer, shared_server
from tests.support.systems.two_sources import Two, configured
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
OK, UNAVAILABLE = 200, 503
SURE = {"pinnacle": (2.6, 3.5, 2.9), "williamhill": (2.3, 3.9, 2.9), "marathonbet": (2.3, 3.5, 3.3)}
FAIR = dict.fromkeys(SURE, (2.3, 3.5, 2.9))
BOTH, COLLECTOR, REPLICA = '["collector", "replica"]', '["collector"]', '["replica"]'


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


def _leases(running: Service) -> dict[str, str]:
    leases: dict[str, str] = _cluster(running)["leases"]
    return leases


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
    """Whenever they show the same tag, also a machine that joined later, from a checkpoint or the log."""
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
    """From a version of one machine to a version of both, of lists and of fixtures; none is refused."""
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


def test_a_surebet_is_the_same_on_all_machines(server: SharedServer, tmp_path: Path) -> None:
    """It comes and goes with its prices, and a tag has the same bytes everywhere; so do values."""
    cluster = f'[cluster]\nurl = "{server.url}"\n'
    seen: dict[str, set[bytes]] = {}
    with http_peer() as peer:
        config = configured(tmp_path, peer, cluster)
        with service(config) as first, service(config) as second:
            for prices, count in ((SURE, 1), (FAIR, 0), (SURE, 1)):
                Two(peer, first).offer(prices)
                for running in (first, second, first):
                    eventually(partial(_has_surebets, running, count, seen), f"it has {count}", 20.0)
            values = [_values(running) for running in (first, second)]
            records = [running.get("/api/v2/value/record") for running in (first, second)]

    assert [1] * len(seen) == [len(bodies) for bodies in seen.values()]
    assert len(seen) > 2
    assert values[0]
    assert values[0] == values[1]
    assert ["no_archive"] * 2 == [record.json()["code"] for record in records]


def _has_surebets(running: Service, count: int, seen: dict[str, set[bytes]]) -> bool:
    answer = running.get("/api/v2/surebets")
    if answer.status_code != OK:
        return False
    seen.setdefault(answer.headers["etag"], set()).add(answer.content)
    return len(answer.json()["fixtures"]) == count


def _values(running: Service) -> list[dict[str, Any]]:
    """Return the values by a bookmaker's prices, without times of confirmation, which are bounds."""
    found = running.get("/api/v2/value?reference=williamhill&doubted=1").json()["values"]
    return [{key: said for key, said in value.items() if key != "confirmed"} for value in found]


def test_another_collector_takes_over(server: SharedServer, tmp_path: Path) -> None:
    """Its sources run there within 10 s, and a client goes on at the other machine from where it was."""
    with (
        service(_config(server, tmp_path, BOTH)) as first,
        service(_config(server, tmp_path, BOTH)) as second,
    ):
        _wait_linked(first, second)
        own = second.get("/health").json()["cluster"]["collector"]
        before = first.get("/api/v2/odds")
        first.stop(signal.SIGKILL)
        eventually(lambda: set(_leases(second).values()) == {own}, "it has all leases", 10.0)
        _wait_linked(second)
        changes = second.get(f"/api/v2/changes?since={before.headers['odds-cursor']}")

    assert 200 == changes.status_code
    assert changes.json()["version"] > before.json()["version"]


def test_a_replica_shows_nothing_that_nobody_vouches_for(server: SharedServer, tmp_path: Path) -> None:
    """Without any other collector, no version says that the lists are gone: then it is 503."""
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


def test_the_board_begins_anew_with_the_server(server: SharedServer, tmp_path: Path) -> None:
    """A restart with all data is enough: another epoch, higher versions, and all lists again at once."""
    with service(_config(server, tmp_path, BOTH)) as running:
        _wait_linked(running)
        before = running.get("/api/v2/odds")
        server.kill()
        server.start()
        eventually(lambda: running.get("/health").json()["cluster"]["resets"] == 1, "it begins anew")
        _wait_linked(running)
        after = running.get("/api/v2/odds")
        changes = running.get(f"/api/v2/changes?since={before.headers['odds-cursor']}")

    assert after.json()["version"] > before.json()["version"]
    assert 410 == changes.status_code


def test_a_cluster_works_over_tls(server: SharedServer, tmp_path: Path) -> None:
    """A process that trusts the certificate of the server shows the board, another says why it has none."""
    authority = Authority(tmp_path)
    trusting = {"SSL_CERT_FILE": str(authority.itself.certificate)}
    with closing(Proxy(server.port, authority.signed("server").server_context())) as proxy:
        config = tmp_path / "tls.toml"
        url = f"rediss://127.0.0.1:{proxy.port}/0"
        config.write_text(two_sources(url, BOTH, 300, 10.0), "utf-8")
        with service(config, trusting) as first, service(config, trusting) as second:
            _wait_linked(first, second)
            with service(config) as other:
                eventually(lambda: other.events("cluster.lost"), "it says why")
                errors = [line["error"] for line in other.events("cluster.lost")]
                ready = other.get("/health/ready")

    assert all("CERTIFICATE_VERIFY_FAILED" in error for error in errors)
    assert UNAVAILABLE == ready.status_code
