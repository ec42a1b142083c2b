"""Intake: from the bytes of a CSV file to the commit, next to `csv.reader` alone on the same bytes."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from boards import KEYS, NOW, RULES, SCOPE, csv_body
from tables import seconds, spread, table

from actors.board import Board
from actors.integrity import Bounds, admit
from actors.messages import BookmakerId, Document, ListId, Payload, SourceName
from actors.offers import complete_batch
from actors.slices import finish
from actors.snapshot import Snapshot
from actors.sources.football_data import KIND, FootballDataOptions

ROWS = 20_000
RUNS = 7
OPTIONS = FootballDataOptions(kind="football_data", url="http://127.0.0.1/fixtures.csv")


def run() -> None:
    """Print rows per second."""
    first, second = csv_body(ROWS), csv_body(ROWS, shift=1)
    reader = seconds(lambda: list(csv.reader(io.StringIO(first.decode(), newline=""))), RUNS)
    rows = [_row("csv.reader alone", reader, reader)]
    for keys in (KEYS[:1], KEYS):
        base = take_in(Snapshot.empty(1, tuple(map(BookmakerId, keys))), first, keys)
        for what, body in (("all prices changed", second), ("new bytes, nothing changed", first)):
            times = seconds(lambda body=body, keys=keys, base=base: take_in(base, body, keys), RUNS)  # type: ignore[misc]
            rows.append(_row(f"payload to commit, {len(keys)} bookmaker(s), {what}", times, reader))
    title = f"Intake: {ROWS:,} rows of 114 columns, {len(first) / 2**20:.1f} MiB"
    table(title, ["path", "ms: median (min to max)", "rows/s", "speed against csv.reader"], rows)


def take_in(base: Snapshot, body: bytes, keys: Sequence[str]) -> Snapshot:
    """Take a payload the whole way: decode once, extract, admit and apply per bookmaker, commit."""
    payload = Payload(SourceName("bench"), SCOPE, ListId("list"), body, NOW.wall, NOW.mono, NOW.wall)
    content = finish(KIND.decode(payload, OPTIONS))
    document = Document(SCOPE, payload.list_id, content, NOW.wall, NOW.mono, 3600.0)
    board = Board(base, RULES)
    for key in keys:
        extract = finish(KIND.extract(content, key, OPTIONS))
        admission = finish(admit(complete_batch(BookmakerId(key), document, extract), Bounds()))
        finish(board.apply(admission.batch, NOW))
    return board.commit()


def _row(what: str, times: Sequence[float], peer: Sequence[float]) -> list[str]:
    median, peer_median = times[len(times) // 2], peer[len(peer) // 2]
    ratio = f"{peer_median / median:.2f}"
    return [what, spread([one * 1e3 for one in times]), f"{ROWS / median:,.0f}", ratio]
