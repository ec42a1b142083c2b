"""Intake: from the bytes of a CSV file to the commit, next to `csv.reader` alone on the same bytes."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from functools import partial

from boards import KEYS, SCOPE, csv_body
from tables import seconds, spread, table
from taking_in import Source, take_in

from actors.messages import BookmakerId
from actors.snapshot import Snapshot
from actors.sources.football_data import KIND, FootballDataOptions

ROWS = 20_000
RUNS = 7
SOURCE = Source(KIND, FootballDataOptions(kind="football_data", url="http://127.0.0.1/fixtures.csv"))


def run() -> None:
    """Print rows per second."""
    first, second = csv_body(ROWS), csv_body(ROWS, shift=1)
    reader = seconds(lambda: list(csv.reader(io.StringIO(first.decode(), newline=""))), RUNS)
    rows = [_row("csv.reader alone", reader, reader)]
    for keys in (KEYS[:1], KEYS):
        base = take_in(SOURCE, Snapshot.empty(1, tuple(map(BookmakerId, keys))), SCOPE, first, keys)
        for what, body in (("all prices changed", second), ("new bytes, nothing changed", first)):
            times = seconds(partial(take_in, SOURCE, base, SCOPE, body, keys), RUNS)
            rows.append(_row(f"payload to commit, {len(keys)} bookmaker(s), {what}", times, reader))
    title = f"Intake: {ROWS:,} rows of 114 columns, {len(first) / 2**20:.1f} MiB"
    table(title, ["path", "ms: median (min to max)", "rows/s", "speed against csv.reader"], rows)


def _row(what: str, times: Sequence[float], peer: Sequence[float]) -> list[str]:
    median, peer_median = times[len(times) // 2], peer[len(peer) // 2]
    ratio = f"{peer_median / median:.2f}"
    return [what, spread([one * 1e3 for one in times]), f"{ROWS / median:,.0f}", ratio]
