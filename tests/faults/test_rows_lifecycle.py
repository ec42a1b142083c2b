"""Rows I, J and K of docs/faults.md: life cycle, resources, and what others write."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from structlog.testing import capture_logs

from actors.board.board import Board
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId
from actors.core.validation import Bounds, admit
from tests.support.builders.boards import START
from tests.support.builders.messages import batch, match
from tests.support.peers.http import http_peer, respond
from tests.support.peers.plain_http import NO_TLS
from tests.support.systems.attacked import attack, attacked, crowd, descriptors, rss_mib, tasks
from tests.support.systems.every_answer import ANSWERS, Broken
from tests.support.systems.feed import configured
from tests.support.systems.process import ROOT, Service, logging_to, service, small_pipe
from tests.support.systems.site import open_site
from tests.support.time.virtual import ManualClock
from tests.support.time.waiting import DEADLINE_S, eventually, let_pass

pytestmark = [pytest.mark.anyio, pytest.mark.real_time]

Figure = Callable[[str], None]
FORGED = '"}\n{"event": "forged"}\r\n\x1b[31m\u2028\u202e'
NAME = FORGED.encode().replace(b"\n", b" ").replace(b"\r", b" ").replace(b'"', b'""')
FORGED_TYPE = 'text/html; charset="forged\x85"'
PATHS = ("/%0a%7B%22event%22:%22forged%22%7D%0d%0a", "/x%1b%5b31m", "/%e2%80%ae%ff", "/api/odds?x=%0d%0a")
INSIDE = ("hunter2", "RuntimeError", "secret", ".py", "Traceback", "quart")


@pytest.mark.long
def test_i3_a_signal_during_the_start_ends_cleanly(tmp_path: Path, figure: Figure) -> None:
    """SIGTERM at seven moments from the first to the end of the start."""
    config = tmp_path / "valid.toml"
    config.write_text((ROOT / "config/default.toml").read_text("utf-8"), "utf-8")
    command = (sys.executable, "-m", "web", "serve", "--config", str(config), "--bind", "127.0.0.1:0")
    with service(config):
        began = time.monotonic()
    with service(config):
        start_s = time.monotonic() - began
    codes, worst_s = set(), 0.0
    for number in range(7):
        with subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as process:
            let_pass(start_s * number / 6)
            process.send_signal(signal.SIGTERM)
            began = time.monotonic()
            errors = process.communicate(timeout=DEADLINE_S)[1]
            worst_s = max(worst_s, time.monotonic() - began)
        codes.add(process.returncode)
        assert "" == errors

    figure(
        f"7 of 7 moments: ended within {worst_s:.1f} s, nothing on standard error, codes {sorted(codes)}"
    )
    assert codes <= {0, -signal.SIGTERM}
    assert worst_s < 5


def _sampled(running: Service, seconds: float, every_s: float) -> list[tuple[float, float]]:
    """Return memory in MiB, and when, so often."""
    samples, began = [], time.monotonic()
    while (passed := time.monotonic() - began) < seconds:
        samples.append((passed, rss_mib(running)))
        let_pass(every_s)
    return samples


def _slope(samples: list[tuple[float, float]]) -> float:
    """Return MiB an hour, by least squares."""
    times, sizes = zip(*samples, strict=True)
    mean_t, mean_s = sum(times) / len(times), sum(sizes) / len(sizes)
    up = sum((at - mean_t) * (size - mean_s) for at, size in samples)
    return float(3600 * up / sum((at - mean_t) ** 2 for at in times))


@pytest.mark.long
@pytest.mark.timeout(3 * 3600)
def test_j1_memory_tasks_and_descriptors_stay_flat(
    tmp_path: Path, figure: Figure, *, is_whole: bool
) -> None:
    """Twelve times the usual rate, read and followed: half a minute, with `--whole` two hours."""
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
    assert max(grown) <= 40  # a request that is just being answered has a task or two
    assert slope <= 1 if is_whole else sizes[-1] - sizes[0] < 24


def _invented(lists: int) -> tuple[int, int, int, float]:
    """Take lists of 20,000 new ids; return how many are on the board, counted, invented, and MiB more."""
    name, clock, rules = BookmakerId("alder"), ManualClock(), BoardRules()
    snapshot, too_many, invented, before = Snapshot.empty(1, (name,)), 0, 0, _own_mib()
    for number in range(lists):
        matches = [match(f"m{number}-{count}") for count in range(20_000)]
        offered = batch(matches, complete=number == 0, received_mono=clock.mono)
        board = Board(snapshot, rules)
        too_many += run_now(board.apply(run_now(admit(offered, Bounds())).batch, clock.now())).too_many
        snapshot = run_now(board.finish(START))
        invented += len(matches)
        clock.pass_(1)
    return snapshot.books[name].count, too_many, invented, _own_mib() - before


def _own_mib() -> float:
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


@pytest.mark.parametrize("lists", [2, pytest.param(50, marks=pytest.mark.long)])
def test_j2_invented_ids_are_capped(lists: int, figure: Figure) -> None:
    """On the board are 20,000, and the rest is counted; memory grows with the board alone."""
    count, too_many, invented, grown = _invented(lists)

    figure(f"{invented:,} ids: {count:,} on the board, {too_many:,} counted, memory +{grown:.0f} MiB")
    assert (20_000, invented - 20_000) == (count, too_many)
    assert grown < 100


@contextlib.contextmanager
def _logging_to(folder: Path, where: str) -> Iterator[Service]:
    """Run the service at level debug with a standard output that nobody reads, or that takes nothing."""
    with contextlib.ExitStack() as stack:
        output = subprocess.DEVNULL
        if where == "unread":
            _, output = stack.enter_context(small_pipe())
        redirection = {"closed": ">&-", "full": ">/dev/full"}.get(where, "")
        yield stack.enter_context(logging_to(folder, output, redirection=redirection))


@pytest.mark.long
def test_j4_a_log_that_cannot_be_written_delays_nobody(tmp_path: Path, figure: Figure) -> None:
    """Each request is logged: to what takes all, to an unread pipe, to nothing, to a full disk."""
    took = {}
    for where in ("taken", "unread", "closed", "full"):
        with _logging_to(tmp_path, where) as running:
            with crowd(running, "probe", every_s=0.004) as probe:
                let_pass(2.5)
                found = probe.result()
            running.process.send_signal(signal.SIGTERM)
            code, errors = running.process.wait(DEADLINE_S), running.process.communicate()[1]
        assert (0, "", found["asked"]) == (code, errors, found["answered"])
        took[where] = found

    asked = sum(entry["asked"] for entry in took.values())
    figure(
        f"{asked:,} requests answered, p99 in ms: "
        + ", ".join(f"{at} {entry['p99']:g}" for at, entry in took.items())
    )


@pytest.mark.long
def test_k1_no_line_of_the_log_is_forged(tmp_path: Path, figure: Figure) -> None:
    """By names and errors of a source, by paths, and by headers, at level debug."""
    head = b"Div,Date,Time,HomeTeam,AwayTeam,B365H,B365D,B365A\n"
    with http_peer() as peer:
        peer.answers |= {
            "/good.csv": respond(head + b'E0,02/05/2099,15:00,"%b",B,2.5,3.3,2.9\n' % NAME),
            "/bad.csv": respond(FORGED.encode() * 9, headers={"Content-Type": FORGED_TYPE}),
        }
        config = configured(tmp_path, peer, ["good", "bad"])
        text = config.read_text("utf-8").replace("[server]", '[server]\nlog_level = "debug"')
        config.write_text(text, "utf-8")
        log = _logged(config, tmp_path / "log")
    lines = [json.loads(line) for line in log.removesuffix("\n").split("\n")]

    events = [line["event"] for line in lines]
    figure(f"{len(lines)} lines, all one object each, {events.count('forged')} forged")
    assert all({"timestamp", "level", "event"} <= line.keys() for line in lines)
    assert {"source.down", "service.stopped"} <= set(events)
    assert (1, "service.stopped") == (events.count("service.started"), events[-1])
    assert (len(PATHS) * 25, 0) == (events.count("request.served"), events.count("forged"))
    assert not [name for name in log if name < " " and name != "\n"]


def _logged(config: Path, log: Path) -> str:
    """Run the service, ask it for forged paths with forged headers, and return its log."""
    command = (sys.executable, "-m", "web", "serve", "--config", str(config), "--bind", "127.0.0.1:0")
    forged = {"User-Agent": '"}\t{"event": "forged"}', "X-Request-Id": "forged"}
    with log.open("wb") as output, subprocess.Popen(command, cwd=ROOT, stdout=output) as process:
        try:
            eventually(lambda: b"source.down" in log.read_bytes(), "it has started, and a source is down")
            (started,) = [line for line in log.read_bytes().splitlines() if b'"service.started"' in line]
            base = json.loads(started)["url"]
            with httpx2.Client(base_url=base, headers=forged, trust_env=False, verify=NO_TLS) as client:
                for path in PATHS * 25:
                    client.get(path)
            process.terminate()
            process.wait(DEADLINE_S)
        finally:
            process.kill()
    return log.read_text("utf-8")


async def test_k4_an_exception_in_a_handler_shows_its_id_only(figure: Figure) -> None:
    """On each path, whichever layer answers: 500, and one line with the stack under the same id."""
    asked = right = 0
    of_quart = ("/api/v2/fixtures/x", "/monitor/links/x", "/monitor/links/x/y", "/monitor/fixtures/x")
    async with open_site(Broken()) as site:
        with capture_logs() as logs:
            answers = [await site.raw("GET", path) for path in (*ANSWERS, *of_quart)]
    failed = {line["request_id"] for line in logs if line["event"] == "request.failed"}
    for answer in answers:
        if answer.status != 500:
            continue
        sent = f"{answer.body.decode()} {answer.headers}"
        asked += 1
        right += (
            json.loads(answer.body)["request_id"] in failed
            and answer.headers["content-type"] == "application/problem+json"
            and not any(word in sent for word in INSIDE)
        )

    figure(f"{right} of {asked} show the id that the log has, and nothing of the inside")
    assert asked == right > 10
