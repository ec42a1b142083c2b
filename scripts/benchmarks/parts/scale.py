"""The scale that one process is built for: scale.toml with new events, and the delays that a client sees.

With markets, each match has six: 1X2, three lines of over/under, both teams to score, double chance. As
many prices change as without. Lists stay valid for longer, because all of them must be read first.

The service polls one list more, of which each body has a new match and a new price. A client waits for the
changes of that list; the time from a price's body to its answer is measured by the client's own clock. The
service runs in a process that times each step of its event loop.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scripts.benchmarks.data.feed import CONFIG, POLL_S, Feed
from scripts.benchmarks.data.polled_site import site
from scripts.benchmarks.figures import median, milliseconds, quantile, short
from scripts.benchmarks.processes import CLIENT_CORE, SERVICE_ROOT, Served, get, on_core, server
from scripts.benchmarks.report import Report

FOLDER = Path(__file__).resolve().parents[1]
FILE, INSTRUMENTED = FOLDER / "scale.toml", FOLDER / "instrumented_service.py"
MARKETS = (
    "updates_per_s = 28.0",
    'updates_per_s = 4.7, stale_after_s = 180, markets = ["1x2", "over_under", "btts", "double_chance"]',
)
FEWER = ("matches = 1_000", "matches = 100")
STABLE_S, EVERY_S, WITHIN_S = 6.0, 0.25, 900.0
AIM_STEP_S, AIM_STEP, SHOWN = 0.025, "25 ms", 8
FEW = 20  # matches that come and go in the meantime
Step = tuple[float, float, float, str]


def run(report: Report) -> None:
    """Print the cost of the scale, and how long links take from the start, also for a tenth of it."""
    _report(report, (report.scale_file or FILE).read_text(encoding="utf-8"), "50 ms")


def run_markets(report: Report) -> None:
    """Print the same table with six markets per entry."""
    _report(report, FILE.read_text(encoding="utf-8").replace(*MARKETS), "60 ms")


def _report(report: Report, text: str, aim: str) -> None:
    with _run(text) as (feed, served, began, steps):
        answers = time.monotonic()
        linked_s = _linked(served, began)
        rows = _costs(served, feed, report.size(60.0, 12.0), aim)
        at = time.monotonic()
    entries = rows[0][1]
    if FEWER[0] in text:
        with _run(text.replace(*FEWER)) as (_, served, again, _):
            took_s = _linked(served, again)
            rows.append([f"of {_matches(served):,} entries linked after", f"{took_s:.1f} s", "5 s"])
    rows.append([f"of {entries} entries linked after", f"{linked_s:.1f} s", "60 s"])
    found = [step for step in steps if step[0] < at]
    for when, first, end, aim_step in (
        ("before it answers", began, answers, ""),
        ("then, until all is linked", answers, began + linked_s, AIM_STEP),
        ("then", began + linked_s, at, AIM_STEP),
    ):
        longest = max((cpu_s for began_at, _, cpu_s, _ in found if first <= began_at < end), default=0.0)
        rows.append([f"longest step of the loop, {when}", f"{longest * 1e3:.1f} ms", aim_step])
    report.table("The scale of one process", ["what", "cost", "aim"], rows)
    report.table(
        "The longest steps of the loop", ["where", "times above 25 ms", "longest, ms"], _places(found)
    )
    report.paragraph(
        "A step is measured by the processor's time, so that other programs do not count; the collector of"
        " Python does. The answer to a price is one of `/api/v2/changes` with `wait`."
    )


@contextlib.contextmanager
def _run(text: str) -> Iterator[tuple[Feed, Served, float, list[Step]]]:
    """Run the service; the list of steps is filled when it has ended."""
    feed, steps = Feed(), list[Step]()
    with tempfile.TemporaryDirectory() as folder, on_core(CLIENT_CORE):
        config, result = Path(folder) / "scale.toml", Path(folder) / "steps.json"
        with site({"/feed.csv": feed.bodies()}) as url:
            config.write_text(text + CONFIG.format(url=url, every=POLL_S), encoding="utf-8")
            began = time.monotonic()
            arguments = [str(INSTRUMENTED), str(result), "serve", "--config", str(config)]
            with server(arguments, SERVICE_ROOT) as served:
                yield feed, served, began, steps
        steps += [
            (step[0], step[1], step[2], step[3]) for step in json.loads(result.read_text(encoding="utf-8"))
        ]


def _linked(served: Served, began: float) -> float:
    """Return the seconds from `began` until the fixtures stay as many. Raises: TimeoutError."""
    before, since = 0, time.monotonic()
    while (now := time.monotonic()) - since < STABLE_S:
        if now - began > WITHIN_S:
            raise TimeoutError(f"not all was linked within {WITHIN_S:.0f} s")
        monitor = json.loads(get(served.url, "/monitor", {})[2])
        matches = {bookmaker["id"]: bookmaker["matches"] for bookmaker in monitor["bookmakers"]}
        # The feed's matches are from another world; about 2 % of the others have no kick-off, so no link.
        count = monitor["fixtures"]["fixtures"] - matches.pop("feed")
        is_linked = all(matches.values()) and count < 0.06 * sum(matches.values())
        if not is_linked or abs(count - before) > max(before * 0.02, FEW):
            before, since = count, now
        time.sleep(EVERY_S)
    return since - began


def _costs(served: Served, feed: Feed, seconds: float, aim: str) -> list[list[str]]:
    """Return rows with the cost of running for `seconds`."""
    waits: list[float] = []
    end = time.monotonic() + seconds
    client = threading.Thread(target=_follow, args=(served, feed, waits, end))
    before, cpu_s = _stats(served), served.cpu_s()
    client.start()
    client.join()
    after = _stats(served)
    took = after["uptime_s"] - before["uptime_s"]
    each = milliseconds(waits)
    return [
        ["entries", f"{after['matches']:,}", ""],
        [
            "changed entries a second",
            f"{(after['matches_upserted'] - before['matches_upserted']) / took:,.0f}",
            "",
        ],
        ["new events a second", f"{1 / POLL_S:.0f} at most", ""],
        ["commits a second", short((after["commits"] - before["commits"]) / took), ""],
        [f"a price from its body to its answer, median of {len(each):,}", f"{short(median(each))} ms", ""],
        ["the same, p99", f"{short(quantile(each, 0.99))} ms", aim],
        *(
            [f"a commit, {name} of `commit_ms`", f"{after['commit_ms'][name]} ms", ""]
            for name in ("p50", "p99")
        ),
        ["share of one core", f"{(served.cpu_s() - cpu_s) / took:.0%}", ""],
        ["resident memory", f"{served.rss_bytes() / 1e6:,.0f} MB", ""],
    ]


def _follow(served: Served, feed: Feed, waits: list[float], end: float) -> None:
    """Follow the feed's changes; add to `waits` the seconds from each new price's sending to its answer."""
    connection = http.client.HTTPConnection(served.url.removeprefix("http://"), timeout=30)
    since = get(served.url, "/api/v2/odds?bookmaker=feed", {})[1]["etag"].strip('"')
    epoch = since.partition("-")[2]
    seen = set(feed.sent)
    while time.monotonic() < end:
        connection.request("GET", f"/api/v2/changes?bookmaker=feed&wait=5&since={since}")
        body = connection.getresponse().read()
        now, answer = time.perf_counter(), json.loads(body)
        for price in {match["odds"]["1"] for match in answer["matches"]} & (feed.sent.keys() - seen):
            seen.add(price)
            waits.append(now - feed.sent[price])
        since = f"{answer['version']}-{epoch}"
    connection.close()


def _stats(served: Served) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(get(served.url, "/api/stats", {})[2])["data"]
    return data


def _matches(served: Served) -> int:
    return int(_stats(served)["matches"])


def _places(steps: Sequence[Step]) -> list[list[str]]:
    """Return rows of the places with the longest steps."""
    places: dict[str, list[float]] = {}
    for _, _, cpu_s, place in steps:
        places.setdefault(place, []).append(cpu_s)
    first = sorted(places, key=lambda place: -max(places[place]))[:SHOWN]
    return [
        [place, str(sum(cpu_s > AIM_STEP_S for cpu_s in places[place])), f"{max(places[place]) * 1e3:.1f}"]
        for place in first
    ]
