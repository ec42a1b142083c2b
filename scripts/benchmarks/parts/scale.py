"""Scale of one process: scale.toml on one core, while a client polls a filtered view."""

from __future__ import annotations

import http
import http.client
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from scripts.benchmarks.figures import median, milliseconds, quantile, short
from scripts.benchmarks.processes import CLIENT_CORE, ROOT, Served, configured_service, get, on_core
from scripts.benchmarks.report import Report

CONFIG = Path(__file__).resolve().parents[1] / "scale.toml"
EVERY_S = 0.1
WARM_UP_S = 5.0


def run(report: Report) -> None:
    """Print the memory and processor time of the process, and its throughput."""
    seconds = report.size(30.0, 8.0)
    with configured_service(CONFIG) as served, on_core(CLIENT_CORE):
        path = f"/api/v2/odds?bookmaker={_bookmakers(served)[0]}"
        while get(served.url, path, {})[0] != http.HTTPStatus.OK:  # the first lists of all take seconds
            time.sleep(EVERY_S)
        _read(served, path, WARM_UP_S)
        before, cpu_s, began = _stats(served), served.cpu_s(), time.perf_counter()
        times = _read(served, path, seconds)
        took = time.perf_counter() - began
        share, after = (served.cpu_s() - cpu_s) / took, _stats(served)
        resident = served.rss_bytes()
    rates = {name: (after[name] - before[name]) / took for name in ("commits", "matches_upserted")}
    counts = [
        ["matches on the board", f"{after['matches']:,}"],
        ["bookmakers", f"{len(after['bookmakers'])}"],
        ["commits a second", short(rates["commits"])],
        ["changed matches a second", f"{rates['matches_upserted']:,.0f}"],
        ["batches conflated", f"{after['batches_conflated'] - before['batches_conflated']:,}"],
    ]
    title = f"`{CONFIG.relative_to(ROOT)}` for {took:.0f} s"
    report.table(title, ["what", "figure"], counts)
    costs = [
        ["share of one core", f"{share:.1%}"],
        ["resident memory", f"{resident / 1e6:,.0f} MB"],
        *_latencies(after),
        *_times(f"GET {path}: new body", times[200]),
        *_times("the same: 304", times[304]),
        *_times("the same: 503, its list was withdrawn", times[503]),
    ]
    report.table(f"What it costs, {title}", ["what", "cost"], costs)
    report.paragraph(
        f"The view is polled every {EVERY_S * 1e3:.0f} ms with the ETag of the last answer, uncompressed."
    )


def _bookmakers(served: Served) -> list[str]:
    capabilities = msgspec.json.decode(get(served.url, "/api/capabilities", {})[2])
    return list(capabilities["supported_bookmakers"])


def _stats(served: Served) -> dict[str, Any]:
    data: dict[str, Any] = msgspec.json.decode(get(served.url, "/api/stats", {})[2])["data"]
    return data


def _latencies(data: dict[str, Any]) -> list[list[str]]:
    """Return a row for each figure of latency that the service itself shows."""
    return [
        [f"{key} of `{name}` in /api/stats", str(value)]
        for name, figures in data.items()
        if isinstance(figures, dict) and ("latency" in name or name.endswith(("_ms", "_s")))
        for key, value in figures.items()
    ]


def _read(served: Served, path: str, seconds: float) -> dict[int, list[float]]:
    """Poll for `seconds`. Return the seconds of each answer, by status."""
    at = urlsplit(served.url)
    connection = http.client.HTTPConnection(at.hostname or "", at.port, timeout=30)
    times: dict[int, list[float]] = {200: [], 304: [], 503: []}
    etag = ""
    due = time.perf_counter()
    end = due + seconds
    while due < end:
        time.sleep(max(due - time.perf_counter(), 0.0))
        connection.request("GET", path, headers={"If-None-Match": etag})
        response = connection.getresponse()
        etag = response.headers.get("ETag", "")
        response.read()
        times[response.status].append(time.perf_counter() - due)
        due += EVERY_S
    connection.close()
    return times


def _times(what: str, times: Sequence[float]) -> list[list[str]]:
    if not times:
        return [[what, "none"]]
    each = milliseconds(times)
    return [
        [f"{what}, median of {len(each):,}", f"{short(median(each))} ms"],
        [f"{what}, p99", f"{short(quantile(each, 0.99))} ms"],
    ]
