"""Publishing: one changed match of many, from its batch to the commit and on to the ready bodies."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import time

import msgspec
from boards import NOW, RULES, batch, match, snapshot
from tables import seconds, spread, table

from actors.board import Board
from actors.messages import BookmakerId
from actors.slices import finish
from actors.snapshot import Snapshot
from web.answers import Answers, View
from web.schemas import match_v2
from web.segments import Api

RUNS = 30
WHOLE_RUNS = 3
BOOKMAKERS = tuple(BookmakerId(name) for name in ("alder", "birch", "cedar"))
NAMES = {bookmaker: bookmaker.title() for bookmaker in BOOKMAKERS}


def run() -> None:
    """Print the cost of one change at three sizes of the board."""
    rows = [_row(size) for size in (1_200, 10_000, 100_000)]
    header = [
        "matches",
        "batch to commit, ms",
        "to the body, ms",
        "to the gzip body, ms",
        "whole, ms",
        "ratio",
    ]
    table("Publishing one changed match (whole: encode and gzip everything)", header, rows)


def _row(size: int) -> list[str]:
    base = snapshot(size, BOOKMAKERS)
    plain, zipped = _Reader(base), _Reader(base)
    view = View(Api.V2)
    _ms(plain, view, base, None)
    _ms(zipped, view, base, "gzip")
    commits, bodies, gzips = [], [], []
    prices = itertools.cycle((2.1, 2.2, 2.3))
    for at in range(RUNS):
        began = time.perf_counter()
        base = _change(base, at, next(prices))
        commits.append((time.perf_counter() - began) * 1e3)
        bodies.append(_ms(plain, view, base, None))
        gzips.append(_ms(zipped, view, base, "gzip"))
    whole = [one * 1e3 for one in seconds(lambda: _whole(base), WHOLE_RUNS)]
    cost = sorted(commits)[RUNS // 2] + sorted(gzips)[RUNS // 2]
    ratio = f"1/{whole[WHOLE_RUNS // 2] / cost:.0f}"
    return [f"{size:,}", spread(commits), spread(bodies), spread(gzips), spread(whole), ratio]


def _change(base: Snapshot, at: int, price: float) -> Snapshot:
    board = Board(base, RULES)
    finish(board.apply(batch(BOOKMAKERS[1], [match(at * 11, price)], complete=False), NOW))
    return board.commit()


class _Reader:
    """Answers from a snapshot that is laid before it, on a loop of its own."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.answers = Answers(self, NAMES)
        self.loop = asyncio.new_event_loop()

    def read(self) -> Snapshot:
        return self.snapshot

    def is_valid(self, snapshot: Snapshot) -> bool:
        return snapshot is self.snapshot


def _ms(reader: _Reader, view: View, base: Snapshot, accept: str | None) -> float:
    reader.snapshot = base
    began = time.perf_counter()
    reader.loop.run_until_complete(reader.answers.answer(view, None, accept))
    return (time.perf_counter() - began) * 1e3


def _whole(base: Snapshot) -> bytes:
    matches = [
        match_v2(entry, NAMES[bookmaker])
        for bookmaker, book in base.books.items()
        for chunk in book.chunks
        for entry in chunk.entries
    ]
    body = {"version": base.version, "matches": matches, "matches_count": len(matches)}
    return gzip.compress(msgspec.json.encode(body), 6)
