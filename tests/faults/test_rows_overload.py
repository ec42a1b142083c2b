"""Rows G of docs/faults.md: too many clients, and slow ones, in processes beside a real service."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from tests.support.systems.attacked import attack, attacked, crowd, descriptors, probed, rss_mib
from tests.support.systems.process import Service
from tests.support.time.waiting import eventually, let_pass

pytestmark = [pytest.mark.long, pytest.mark.timeout(120)]

Figure = Callable[[str], None]
LIST = "/api/v2/odds"
BEHIND_A_PROXY = '[limits]\ntrusted_proxies = ["127.0.0.1"]'
ONE, OTHER = "X-Forwarded-For: 198.51.100.1\r\n", "X-Forwarded-For: 198.51.100.2\r\n"
ALMOST_ALL = 0.95
"""Share of the requests of a normal client that are answered on a machine that is busy with other tests."""
MAX_CONNECTIONS = 1_000
"""What a configuration without `max_connections` allows."""
SPARE = 3
"""Descriptors that may be open beside those at the beginning: of requests that just come."""


def test_g1_slow_heads_are_cut(tmp_path: Path, figure: Figure) -> None:
    """1,000 clients send a byte of their head each half second; a normal one is served throughout."""
    with attacked(tmp_path) as running, crowd(running, "probe", path=LIST) as normal:
        found = attack(running, "slow_heads", clients=1_000, seconds=15)
        served = normal.result()

    figure(
        f"{found['cut']:,} of {found['connected']:,} cut, the last after {found['longest_s']} s;"
        f" a normal client: {probed(served)}"
    )
    assert 1_000 == found["connected"] == found["cut"]
    assert found["longest_s"] < 12
    assert served["answered"] >= ALMOST_ALL * served["asked"]


def test_g3_clients_that_hardly_read_are_cut(tmp_path: Path, figure: Figure) -> None:
    """200 that read nothing of a long list, then 200 that read 512 bytes each half second."""
    said = []
    with attacked(tmp_path, matches=3_000) as running:
        before = descriptors(running)
        attack(running, "saturate", seconds=1)  # so that what any client costs is there
        eventually(lambda: descriptors(running) <= before + SPARE, "its connections are closed")
        base, rss = descriptors(running), rss_mib(running)
        for take in (0, 512):
            with crowd(running, "not_reading", clients=200, seconds=40, take=take):
                took_s, most = _until_free(running, base)
            grown = most - rss
            said.append(f"{take} B: cut after {took_s:.1f} s, memory +{grown:.0f} MiB")
            assert took_s < 30
            assert grown < 128

    figure("200 clients that read so much each half second, " + "; ".join(said))


@pytest.mark.parametrize(
    "path",
    ["/api/v2/changes?since=OLD", "/api/v2/fixtures?from={}", "/api/v2/fixtures?doubted={}&fair=alder"],
)
def test_g3_what_is_made_for_clients_that_do_not_read_is_bounded(
    tmp_path: Path, figure: Figure, path: str
) -> None:
    """190 that read nothing of a long answer that each has made for itself."""
    with attacked(tmp_path, matches=3_000, updates_per_s=1_000) as running:
        since = running.get("/api/v2/odds").json()["version"]
        let_pass(5)
        base, rss = descriptors(running), rss_mib(running)
        asked = path.replace("OLD", str(since))
        with crowd(running, "not_reading", clients=190, seconds=40, path=asked):
            took_s, most = _until_free(running, base)

    figure(f"{path}: cut after {took_s:.1f} s, memory +{most - rss:.0f} MiB")
    assert most - rss < 128


def _until_free(running: Service, base: int) -> tuple[float, float]:
    """Return the seconds until descriptors were taken and are free again, and the most memory meanwhile."""
    eventually(lambda: descriptors(running) > base + 150, "the clients are connected")
    began, most = time.monotonic(), 0.0

    def is_free() -> bool:
        nonlocal most
        most = max(most, rss_mib(running))
        return descriptors(running) <= base + SPARE

    eventually(is_free, "their descriptors are free", 35)
    return time.monotonic() - began, most


def test_g4_idle_connections_are_bounded(tmp_path: Path, figure: Figure) -> None:
    """5,000 clients connect and send nothing; a normal one is served."""
    with attacked(tmp_path) as running:
        base, most = descriptors(running), 0
        with crowd(running, "probe", path=LIST) as normal:
            with crowd(running, "idle", clients=5_000, seconds=20) as idle:
                while idle.process.poll() is None:
                    most = max(most, descriptors(running))
                    let_pass(0.05)
                found = idle.result()
            served = normal.result()
        eventually(lambda: descriptors(running) <= base + SPARE, "their descriptors are free")

    figure(
        f"{found['connected']:,} connected, at most {most - base:,} at a time; {found['cut']:,} closed,"
        f" the last after {found['longest_s']} s; a normal client: {probed(served)}"
    )
    assert found["connected"] >= 4_500  # the rest waited for the kernel, on a busy machine
    # A connection that only the kernel has accepted is open for its client, and nobody can close it.
    assert found["cut"] >= MAX_CONNECTIONS
    assert most - base <= 2_600  # 1,000, 500 for streams, and those about to be closed
    assert served["answered"] >= ALMOST_ALL * served["asked"]


def test_g6_three_times_the_load_leaves_what_can_be_served(tmp_path: Path, figure: Figure) -> None:
    """Requests come at three times the rate measured just before, each on a connection of its own."""
    with attacked(tmp_path) as running:
        attack(running, "saturate", seconds=1)
        peak = attack(running, "saturate", seconds=3)["goodput"]
        found = attack(running, "flood", per_s=3 * peak, seconds=6)
    seen, good = found["seen"], found["goodput"]

    figure(
        f"{peak}/s at most; of {found['per_s']}/s {good}/s answered, {good / peak:.0%} of that,"
        f" the middle one after {found['p50']} ms; of {found['sent']:,} {seen.get('503', 0):,} are 503 and"
        f" {seen.get('late', 0):,} later than 2 s; normal after {found['recovered_s']} s"
    )
    assert good > 0.1 * peak  # as the machine is busy with other tests
    assert found["recovered_s"] is not None


def test_g7_one_client_at_1000_a_second_is_refused(tmp_path: Path, figure: Figure) -> None:
    """It gets 429 with when to come again; another client at 20 a second notices nothing."""
    with attacked(tmp_path, server=BEHIND_A_PROXY) as running:
        with crowd(running, "probe", path=LIST, every_s=0.05, lines=OTHER) as other:
            let_pass(2)
            before = other.result()
        with (
            crowd(running, "probe", path=LIST, every_s=0.05, lines=OTHER) as other,
            crowd(running, "hammering", per_s=1_000, seconds=5, lines=ONE) as clients,
        ):
            refused = eventually(lambda: _refused(running), "a request is refused")  # one in 20 is not
            found, during = clients.result(), other.result()
    seen = found["seen"]

    figure(
        f"{found['sent']:,} requests in 5 s: {seen['200']} answers, {seen['429']:,} times 429;"
        f" another client: {probed(during)}, {before['p99']:g} ms before"
    )
    assert {"retry-after", "ratelimit", "ratelimit-policy"} <= refused.headers.keys()
    assert {"200", "429"} == seen.keys()
    assert seen["200"] < 200 + 50 * 10
    assert during["answered"] >= ALMOST_ALL * during["asked"]


def _refused(running: Service) -> httpx2.Response | None:
    """Ask as the client that asks too often; return the answer if it is 429."""
    name, value = ONE.strip().split(": ")
    answer = running.get(LIST, headers={name: value})
    return answer if answer.status_code == 429 else None


def test_g8_probes_are_answered_during_all_of_these(tmp_path: Path, figure: Figure) -> None:
    """Slow heads, clients that do not read, idle ones and a flood, all at once."""
    with attacked(tmp_path, matches=1_000) as running, crowd(running, "probe") as probe:
        with contextlib.ExitStack() as attacks:
            attacks.enter_context(crowd(running, "slow_heads", clients=500, seconds=8))
            attacks.enter_context(crowd(running, "not_reading", clients=200, seconds=12))
            attacks.enter_context(crowd(running, "idle", clients=1_000, seconds=8))
            attack(running, "flood", per_s=1_000, seconds=8)
        found = probe.result()

    figure(probed(found))
    assert found["answered"] >= ALMOST_ALL * found["asked"]
