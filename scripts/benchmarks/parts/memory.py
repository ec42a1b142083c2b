"""Memory: the cost of a match without the bodies and of each body, and growth over a million commits."""

from __future__ import annotations

import gc
import subprocess
import sys
import tracemalloc

import anyio
import msgspec
from msgspec import Struct

from actors.board.board import Board
from actors.board.snapshot import Snapshot
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Match
from scripts.benchmarks.data.boards import NOW, RULES, batch, matches
from scripts.benchmarks.figures import short
from scripts.benchmarks.list_bodies import ListBodies
from scripts.benchmarks.processes import ROOT, SERVER_CORE, pinned
from scripts.benchmarks.report import Report
from web.encoding.segments import Api

MATCHES = 100_000
BOOKMAKERS = tuple(BookmakerId(name) for name in ("alder", "birch", "cedar"))
COMMITS = 1_000_000


class Checkpoint(Struct, frozen=True):
    """The memory that `memory_growth.py` uses after that many commits."""

    commits: int
    rss_bytes: int
    blocks: int
    traced_bytes: int | None
    per_commit_us: float


def run(report: Report) -> None:
    """Print the cost of a match, and the growth."""
    anyio.run(_each_match, report)
    _growth(report)


async def _each_match(report: Report) -> None:
    """Measure a board of newly decoded matches, then its bodies one by one."""
    lists = {
        one: msgspec.json.encode(matches(MATCHES // 3, seed)) for seed, one in enumerate(BOOKMAKERS, 1)
    }
    gc.collect()
    tracemalloc.start()
    bodies = ListBodies(_board(lists), {one: one.title() for one in BOOKMAKERS})
    count = sum(book.count for book in bodies.snapshot.books.values())
    rows = [_row("the board", count, 0)]
    body_bytes = 0
    for api in (Api.V2, Api.V1):
        for coding in (None, "gzip"):
            body_bytes += await bodies.prepare(coding, api)
            rows.append(_row(f"and the {coding or 'plain'} body of {api}", count, body_bytes))
    tracemalloc.stop()
    header = ["what there is", "held, MB", "of it bodies, MB", "kB a match over the bodies"]
    report.table(f"{count:,} matches, traced", header, rows)


def _board(lists: dict[BookmakerId, bytes]) -> Snapshot:
    board = Board(Snapshot.empty(1, BOOKMAKERS), RULES)
    for bookmaker, encoded in lists.items():
        each = msgspec.json.decode(encoded, type=tuple[Match, ...])
        run_now(board.apply(batch(bookmaker, each, complete=True), NOW))
    return run_now(board.finish(NOW))


def _row(what: str, count: int, body_bytes: int) -> list[str]:
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    return [
        what,
        f"{held / 1e6:.1f}",
        f"{body_bytes / 1e6:.1f}",
        f"{(held - body_bytes) / count / 1e3:.2f}",
    ]


def _growth(report: Report) -> None:
    """Run one process without tracing for the resident memory, and a shorter one with tracing."""
    commits = report.size(COMMITS, COMMITS // 25)
    rows = [
        _shown(one, is_traced) for is_traced in (False, True) for one in _checkpoints(commits, is_traced)
    ]
    header = ["commits", "resident, MB", "live blocks", "traced, MB", "µs a commit"]
    report.table(f"Growth over {commits:,} commits", header, rows)
    report.paragraph(
        "1,200 matches; each commit moves a price, each tenth lists a match that was never there for one"
        " that goes; each thousandth makes the bodies. The first line follows a warm-up of a tenth. Tracing"
        " slows a process, so it has one of its own, with a tenth of the commits."
    )


def _checkpoints(commits: int, is_traced: bool) -> list[Checkpoint]:  # noqa: FBT001 - what it is about
    arguments = [str(commits // 10 if is_traced else commits), *(["--traced"] if is_traced else [])]
    command = pinned(
        SERVER_CORE, [sys.executable, "-m", "scripts.benchmarks.parts.memory_growth", *arguments]
    )
    done = subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE)
    return [msgspec.json.decode(line, type=Checkpoint) for line in done.stdout.splitlines()]


def _shown(one: Checkpoint, is_traced: bool) -> list[str]:  # noqa: FBT001 - what it is about
    traced = "" if one.traced_bytes is None else f"{one.traced_bytes / 1e6:.2f}"
    resident = "" if is_traced else f"{one.rss_bytes / 1e6:.1f}"
    return [f"{one.commits:,}", resident, f"{one.blocks:,}", traced, short(one.per_commit_us)]
