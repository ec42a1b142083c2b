"""Rows of docs/faults.md that need a real process: too many clients, slow ones, and time."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.systems.attacked import attack, attacked, crowd, descriptors, probed, rss_mib, tasks
from tests.support.systems.process import Service
from tests.support.time.waiting import eventually, let_pass

pytestmark = [pytest.mark.long, pytest.mark.timeout(120), pytest.mark.real_time]

Figure = Callable[[str], None]
LIST = "/api/v2/odds"
ALMOST_ALL = 0.95
"""Share of the requests of a normal client that are answered on a machine that is busy with other tests."""
SPARE = 3
"""Descriptors that may be open besides the first ones, for requests that have just come."""


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
    """200 clients read nothing of a long list, then 200 clients read 512 bytes each half second."""
    said = []
    with attacked(tmp_path, matches=3_000) as running:
        before = descriptors(running)
        attack(running, "saturate", seconds=1)  # memory that any client costs is taken before
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
    assert good > 0.1 * peak  # a low limit, because other tests use the machine
    assert found["recovered_s"] is not None


@pytest.mark.timeout(3_600)
def test_e1_readers_of_a_process_see_the_same(tmp_path: Path, figure: Figure, *, is_whole: bool) -> None:
    """Over sockets, beside a source that never rests: 8,000 reads, with `--whole` a million."""
    reads = 1_000_000 if is_whole else 8_000
    with (
        attacked(tmp_path, updates_per_s=500) as running,
        crowd(running, "polling", reads=reads) as clients,
    ):
        found = clients.result(3_500)

    figure(f"over sockets: {found['text']}")
    assert 0 == found["wrong"]
    assert "200" in found["statuses"]
    assert {"200", "503"} >= {*found["statuses"]}


def _sampled(running: Service, seconds: float, every_s: float) -> list[tuple[float, float]]:
    """Return samples of memory in MiB and their times, at this interval."""
    samples, began = [], time.monotonic()
    while (passed := time.monotonic() - began) < seconds:
        samples.append((passed, rss_mib(running)))
        let_pass(every_s)
    return samples


def _slope(samples: list[tuple[float, float]]) -> float:
    """Return the growth of memory in MiB an hour, by least squares."""
    times, sizes = zip(*samples, strict=True)
    mean_t, mean_s = sum(times) / len(times), sum(sizes) / len(sizes)
    up = sum((at - mean_t) * (size - mean_s) for at, size in samples)
    return float(3600 * up / sum((at - mean_t) ** 2 for at in times))


@pytest.mark.timeout(3 * 3600)
def test_j1_memory_tasks_and_descriptors_stay_flat(
    tmp_path: Path, figure: Figure, *, is_whole: bool
) -> None:
    """For half a minute, with `--whole` two hours, twelve times the usual changes are read and followed."""
    seconds = 7_200.0 if is_whole else 30.0
    with attacked(tmp_path, matches=240, updates_per_s=240) as running:
        attack(running, "saturate", seconds=1)
        with (
            crowd(running, "polling", reads=10**9, readers=20, every_s=0.5),
            crowd(running, "following", clients=20, seconds=seconds + 60),
        ):
            let_pass(seconds / 6)
            held = tasks(running), descriptors(running)
            samples = _sampled(running, seconds * 5 / 6, 0.5)
            grown = tasks(running) - held[0], descriptors(running) - held[1]
            assert 0 == running.stop()
    later = [sample for sample in samples if sample[0] > 2_400] or samples
    slope, sizes = _slope(later), [size for _, size in later]

    text = f"{slope:+.1f} MiB/h after the first hour" if is_whole else f"{sizes[-1] - sizes[0]:+.1f} MiB"
    figure(
        f"{seconds:,.0f} s at 240 changes/s, 40 clients: {sizes[0]:.0f} to {sizes[-1]:.0f} MiB ({text}),"
        f" tasks {held[0]} ({grown[0]:+d}), descriptors {held[1]} ({grown[1]:+d})"
    )
    assert max(grown) <= 40  # an open request has one or two tasks
    assert slope <= 1 if is_whole else sizes[-1] - sizes[0] < 24
