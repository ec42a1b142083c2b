"""The event loop: the length of its steps while full lists arrive and their bodies are read."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from scripts.benchmarks.data.boards import csv_body
from scripts.benchmarks.data.odds_api import KEYS as API_KEYS
from scripts.benchmarks.data.odds_api import SCOPE, odds_body
from scripts.benchmarks.data.polled_site import site
from scripts.benchmarks.figures import quantile, short
from scripts.benchmarks.processes import (
    CLIENT_CORE,
    ROOT,
    SERVER_CORE,
    SERVICE_ROOT,
    Served,
    client_command,
    get,
    on_core,
    server,
    wait_until_ready,
)
from scripts.benchmarks.report import Report

MATCHES = 20_000
CSV_KEYS = ("B365", "BW", "BFE", "PS", "WH")
BODIES = 3
WARM_UP_S = 1.0
SETTLED_S = 20.0  # after the first lists of 50 bookmakers
SCALE = Path(__file__).resolve().parents[1] / "scale.toml"
PATH, STREAM = "/api/v2/odds", "/api/v2/stream"
LIMIT_S = 0.005
SHOWN = 6
INSTRUMENTED_SERVICE = str(Path(__file__).with_name("instrumented_service.py"))
"""Run as a file, so that it imports the packages of the clone in whose folder it runs."""


class Polled(Struct, frozen=True):
    """A source of full lists: its table, its answers by path, and its bookmakers' keys."""

    table: str
    bodies: Mapping[str, Sequence[bytes]]
    keys: Sequence[str]


def run(report: Report) -> None:
    """Print the longest steps, for lists in CSV and in JSON."""
    rows, longest = [], []
    for name, source in _sources().items():
        found, polls, size = _measured_polls(source, report.size(16.0, 8.0))
        if not found["steps"]:
            report.paragraph("Not measured: the service runs on another loop than asyncio's own.")
            return
        rows.append([name, f"{size:,.1f}", str(polls), *_figures(found)])
        longest += [[name, *one] for one in _longest_steps(found["steps"])]
    name = f"`{SCALE.relative_to(ROOT)}`"
    try:
        found, _ = _measured(SCALE, report.size(30.0, 8.0), SETTLED_S)
    except TimeoutError:
        report.paragraph(f"Not measured: with {name} not every bookmaker was serving after two minutes.")
    else:
        rows.append([name, "none", "none", *_figures(found)])
        longest += [[name, *one] for one in _longest_steps(found["steps"])]
    header = [
        "lists of",
        "MiB a poll",
        "polls",
        "longest step, ms",
        "without collections, ms",
        "a timer late: p99.9, ms",
        "longest, ms",
        "collections",
        "longest, ms",
    ]
    matches = f"{MATCHES:,} matches by each of {len(CSV_KEYS)} bookmakers"
    reading = "two clients read all bodies and one follows the stream"
    title = f"Polls of {matches}, all prices changed, and 10,000 changes a second of 50 x 5,000 matches"
    report.table(f"{title}, while {reading}", header, rows)
    header = ["lists of", "where", "times above 1 ms", "above 5 ms", "longest, ms", "of it processor, ms"]
    report.table("Steps of the loop that took longest, without collections", header, longest)
    report.paragraph(
        "*Where*: the functions that the task is in when a step ends. The rest was other programs'."
    )
    if not report.has_peers:
        return
    seconds = report.size(32, 8)
    gaps = _gaps_of_the_machine(seconds)
    short_ones, long_ones = (sum(one > limit for one in gaps) for limit in (LIMIT_S / 5, LIMIT_S))
    report.paragraph(
        "The machine by itself: a program that only reads the clock, alone on the same core, was"
        f" interrupted for more than 1 ms {short_ones} times in {seconds} s, for more than 5 ms {long_ones}"
        f" times; at most {short(max(gaps) * 1e3)} ms."
    )


def _gaps_of_the_machine(seconds: int) -> list[float]:
    """Read the clock repeatedly. Return every gap of more than 0.1 ms between two readings."""
    gaps = [0.0]
    with on_core(SERVER_CORE):
        last = time.perf_counter()
        end = last + seconds
        while last < end:
            now = time.perf_counter()
            if now - last > LIMIT_S / 50:
                gaps.append(now - last)
            last = now
    return gaps


def _sources() -> dict[str, Polled]:
    limits = "max_payload_bytes = 100_000_000\nmax_inflated_bytes = 100_000_000\nstale_after_s = 600\n"
    csv = [csv_body(MATCHES, shift, CSV_KEYS) for shift in range(BODIES)]
    json_ = [odds_body(MATCHES, shift, len(CSV_KEYS)) for shift in range(BODIES)]
    return {
        "football_data (CSV)": Polled(
            f'kind = "football_data"\nurl = "%s/fixtures.csv"\npoll_interval_s = 3\n{limits}',
            {"/fixtures.csv": csv},
            CSV_KEYS,
        ),
        "the_odds_api (JSON)": Polled(
            f'kind = "the_odds_api"\nurl = "%s"\napi_key = "key"\nsports = ["{SCOPE}"]\n'
            f"poll_interval_s = 3\n{limits}",
            {f"/v4/sports/{SCOPE}/odds": json_},
            API_KEYS[: len(CSV_KEYS)],
        ),
    }


def _measured_polls(source: Polled, seconds: float) -> tuple[dict[str, Any], int, float]:
    """Run the service on that source. Return measurements after the start, number of polls, MiB of each."""
    with tempfile.TemporaryDirectory() as folder, site(source.bodies) as url:
        config = Path(folder) / "bench.toml"
        bookmakers = (
            f'[bookmakers.b{at}]\nname = "Bookmaker {at}"\nsource = "polled"\nkey = "{key}"\n'
            for at, key in enumerate(source.keys)
        )
        text = f"[board]\nmax_matches = {MATCHES}\n[sources.polled]\n{source.table % url}"
        config.write_text(text + "".join(bookmakers), encoding="utf-8")
        found, stats = _measured(config, seconds, WARM_UP_S)
    return found, _polls(stats), len(next(iter(source.bodies.values()))[0]) / 2**20


def _measured(config: Path, seconds: float, warm_up_s: float) -> tuple[dict[str, Any], list[Any]]:
    """Run the service. Return what was measured after its start, and its counters before and after."""
    with tempfile.TemporaryDirectory() as folder, on_core(CLIENT_CORE):
        seen = Path(folder) / "seen.json"
        command = [INSTRUMENTED_SERVICE, str(seen), "serve", "--config", str(config)]
        with server(command, SERVICE_ROOT) as served:
            wait_until_ready(served.url)
            time.sleep(warm_up_s)
            with _readers(served):
                began, before = time.monotonic(), _stats(served)
                time.sleep(seconds)
                ended, after = time.monotonic(), _stats(served)
        found = json.loads(seen.read_bytes())
    kept = {name: [one for one in each if began <= one[0] <= ended] for name, each in found.items()}
    return kept, [before, after]


@contextlib.contextmanager
def _readers(served: Served) -> Iterator[None]:
    """Run clients: one polls the gzip body, one the plain body, and one follows the stream."""
    url = served.url + PATH
    commands = [
        ["constant_rate", url, "5", "1000000", "2", "gzip"],
        ["constant_rate", url, "1", "1000000", "1", "identity"],
        ["stream_reader", served.url + STREAM],
    ]
    with contextlib.ExitStack() as running:
        for module, *arguments in commands:
            command = client_command(module, *arguments)
            process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, start_new_session=True)
            running.callback(process.wait)
            running.callback(process.kill)
        yield


def _stats(served: Served) -> Any:
    return json.loads(get(served.url, "/api/stats", {})[2])["data"]


def _polls(stats: list[Any]) -> int:
    before, after = (one["sources"]["polled"]["payloads"] for one in stats)
    return int(after - before)


def _figures(found: dict[str, Any]) -> list[str]:
    steps, lags, pauses = ([one[1] for one in found[name]] for name in ("steps", "lags", "pauses"))
    ours = [max(took - gc_s, 0.0) for _, took, _, gc_s, _ in found["steps"]]
    figures = (max(steps), max(ours), quantile(lags, 0.999), max(lags))
    longest_pause = short(max(pauses) * 1e3) if pauses else "none"
    return [*(short(figure * 1e3) for figure in figures), f"{len(pauses):,}", longest_pause]


def _longest_steps(steps: Sequence[tuple[float, float, float, float, str]]) -> list[list[str]]:
    """Return the functions with the longest steps, without the time of garbage collections."""
    by_place: dict[str, list[tuple[float, float]]] = {}
    for _, took, cpu, gc_s, place in steps:
        by_place.setdefault(place, []).append((max(took - gc_s, 0.0), max(cpu - gc_s, 0.0)))
    worst = sorted(by_place.items(), key=lambda one: -max(took for took, _ in one[1]))[:SHOWN]
    return [
        [
            place,
            str(sum(took > LIMIT_S / 5 for took, _ in each)),
            str(sum(took > LIMIT_S for took, _ in each)),
            *(short(max(one[at] for one in each) * 1e3) for at in (0, 1)),
        ]
        for place, each in worst
    ]
