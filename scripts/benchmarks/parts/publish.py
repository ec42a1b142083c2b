"""Publishing: one changed match of many, from its batch to the commit and on to the finished bodies.

For comparison the whole list is encoded and compressed without chunks. Two more tables give the reasons
for the size of a chunk and for the codings that are offered.
"""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Awaitable, Callable, Iterator, Sequence

import anyio
import brotli
import msgspec
import zstandard
from msgspec import Struct

from actors.board import chunks
from actors.board.board import Board
from actors.board.chunks import entries_of
from actors.board.snapshot import Snapshot
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Match
from scripts.benchmarks.data.boards import NOW, RULES, batch, snapshot
from scripts.benchmarks.figures import cpu_now_s, median, milliseconds, quantile, seconds, short, spread
from scripts.benchmarks.list_bodies import ListBodies
from scripts.benchmarks.report import Report
from web.encoding.schemas import match_v2

SIZES = (1_200, 10_000, 100_000)
CHUNK_SIZES = (32, 64, 128, 256, 512)
BOOKMAKERS = tuple(BookmakerId(name) for name in ("alder", "birch", "cedar"))
NAMES = {bookmaker: bookmaker.title() for bookmaker in BOOKMAKERS}
LEVEL = 6
MANY = 100


class Costs(Struct, frozen=True):
    """Milliseconds of each run: the commit, and each body after it."""

    commits: list[float]
    plain: list[float]
    packed: list[float]

    @property
    def total(self) -> float:
        """The median of commit and gzip body together."""
        return median([commit + body for commit, body in zip(self.commits, self.packed, strict=True)])


def run(report: Report) -> None:
    """Print the cost of a change for three board sizes, for several chunk sizes, and for other codings."""
    anyio.run(_sizes, report)
    anyio.run(_chunk_sizes, report)
    anyio.run(_codings, report)


async def _sizes(report: Report) -> None:
    runs = report.size(50, 10)
    rows: list[list[str]] = []
    ours: list[tuple[float, float]] = []
    for size in SIZES:
        bodies = ListBodies(snapshot(size, BOOKMAKERS), NAMES)
        costs = await _changes(bodies, runs, 1)
        times = milliseconds(seconds(lambda bodies=bodies: _whole(bodies.snapshot), 3))  # type: ignore[misc]
        ours.append((size, costs.total))
        shown = [spread(taken) for taken in (costs.commits, costs.packed, costs.plain, times)]
        against = [f"1/{median(times) / costs.total:.0f}", f"{costs.total / ours[0][1]:.1f}"]
        count = sum(book.count for book in bodies.snapshot.books.values())
        rows.append([f"{count:,}", *shown, short(costs.total), *against])
    header = [
        "matches",
        "batch to commit, ms",
        "then the gzip body, ms",
        "then the other body, ms",
        "encoding and gzipping the whole, ms",
        "commit and gzip body, ms",
        "against the whole",
        f"against {SIZES[0]:,} matches",
    ]
    report.table("One changed match, until its bodies are ready", header, rows)


async def _chunk_sizes(report: Report) -> None:
    rows = []
    for size in CHUNK_SIZES:
        with _chunks_of(size):
            board = snapshot(SIZES[-1], BOOKMAKERS)
            firsts = []
            for _ in range(report.size(3, 1)):
                bodies = ListBodies(board, NAMES)
                firsts.append(await _ms(lambda bodies=bodies: bodies.prepare("gzip")))  # type: ignore[misc]
            single = await _changes(bodies, report.size(50, 5), 1)
            many = await _changes(bodies, report.size(20, 3), MANY)
            length = await bodies.prepare("gzip")
        worst = quantile([a + b for a, b in zip(single.commits, single.packed, strict=True)], 0.95)
        rows.append(
            [
                str(size),
                short(single.total),
                short(worst),
                short(many.total),
                f"{length / 1e6:.2f}",
                spread(firsts),
            ]
        )
    header = [
        "matches a chunk",
        "one change, ms",
        "its p95, ms",
        f"{MANY} changes at once, ms",
        "gzip body, MB",
        "first gzip body, ms",
    ]
    report.table(f"The size of a chunk, at {SIZES[-1]:,} matches: commit and gzip body", header, rows)
    report.paragraph(f"A chunk has about {chunks.CHUNK_SIZE} matches.")


async def _codings(report: Report) -> None:
    bodies = ListBodies(snapshot(SIZES[0], BOOKMAKERS), NAMES)
    costs = await _changes(bodies, report.size(50, 10), 1)
    body, spliced = await bodies.body(), len(await bodies.body("gzip"))
    runs = report.size(9, 3)
    rows = [["gzip, spliced of deflated chunks", spread(costs.packed), f"{spliced:,}", "1.00"]]
    for name, compress in CODINGS.items():
        times = milliseconds(seconds(lambda compress=compress: compress(body), runs))  # type: ignore[misc]
        length = len(compress(body))
        rows.append([name, spread(times), f"{length:,}", f"{length / spliced:.2f}"])
    header = ["coding", "a changed version, ms", "bytes", "size against spliced"]
    report.table(f"Codings: one changed match of {SIZES[0]:,}, {len(body):,} bytes of JSON", header, rows)


CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip 6, the whole": lambda body: gzip.compress(body, LEVEL),
    "zstd 1, the whole": lambda body: zstandard.ZstdCompressor(level=1).compress(body),
    "zstd 3, the whole": lambda body: zstandard.ZstdCompressor(level=3).compress(body),
    "brotli 1, the whole": lambda body: brotli.compress(body, quality=1),
    "brotli 4, the whole": lambda body: brotli.compress(body, quality=4),
    "brotli 6, the whole": lambda body: brotli.compress(body, quality=6),
}


async def _changes(bodies: ListBodies, runs: int, count: int) -> Costs:
    """Change `count` matches at a time, spread over one bookmaker's list; both bodies existed before."""
    await bodies.prepare()
    await bodies.prepare("gzip")
    costs = Costs([], [], [])
    entries = entries_of(bodies.snapshot.books[BOOKMAKERS[1]].chunks)
    listed = [entry.match for entry in entries if entry.is_named]  # v2 does not show matches without names
    for at in range(runs):
        places = [(at * 11 + each * len(listed) // count) % len(listed) for each in range(count)]
        changes = [_moved(listed[place], at + 1) for place in places]
        began = cpu_now_s()
        bodies.snapshot = _changed(bodies.snapshot, changes)
        costs.commits.append((cpu_now_s() - began) * 1e3)
        costs.packed.append(await _ms(lambda: bodies.prepare("gzip")))  # this includes making the JSON
        costs.plain.append(await _ms(bodies.prepare))
    return costs


def _moved(match: Match, steps: int) -> Match:
    return msgspec.structs.replace(match, home_price=round(match.home_price + steps / 100, 2))


def _changed(base: Snapshot, changes: Sequence[Match]) -> Snapshot:
    board = Board(base, RULES)
    run_now(board.apply(batch(BOOKMAKERS[1], changes, complete=False), NOW))
    return run_now(board.finish(NOW))


async def _ms(work: Callable[[], Awaitable[int]]) -> float:
    began = cpu_now_s()
    await work()
    return (cpu_now_s() - began) * 1e3


def _whole(base: Snapshot) -> bytes:
    matches = [
        match_v2(entry, NAMES[bookmaker])
        for bookmaker, book in base.books.items()
        for chunk in book.chunks
        for entry in chunk.entries
    ]
    body = {"version": base.version, "matches": matches, "matches_count": len(matches)}
    return gzip.compress(msgspec.json.encode(body), LEVEL)


@contextlib.contextmanager
def _chunks_of(size: int) -> Iterator[None]:
    """Let the board use chunks of this size within the block."""
    before = chunks.CHUNK_SIZE, chunks._MAX_SIZE, chunks._MIN_SIZE  # noqa: SLF001 - two depend on the size
    try:
        chunks.CHUNK_SIZE, chunks._MAX_SIZE, chunks._MIN_SIZE = size, size * 3 // 2, size // 4  # noqa: SLF001
        yield
    finally:
        chunks.CHUNK_SIZE, chunks._MAX_SIZE, chunks._MIN_SIZE = before  # noqa: SLF001
