"""Snapshots of two bookmakers, and the result of a commit on them."""

from __future__ import annotations

from actors.board.board import Board
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import Batch, BookmakerId
from tests.support.builders.messages import BOOKMAKER
from tests.support.time.virtual import WALL_0

RULES = BoardRules()
ALDER, BIRCH = BOOKMAKER, BookmakerId("birch")
EMPTY = Snapshot.empty(1000, (ALDER, BIRCH))
START = Instant(0.0, WALL_0)


def after(base: Snapshot, *batches: Batch, now: Instant = START) -> Snapshot:
    """Apply batches and commit once."""
    board = Board(base, RULES)
    for batch in batches:
        run_now(board.apply(batch, now))
    return run_now(board.finish(START))


def arrived(base: Snapshot, *batches: Batch) -> Snapshot:
    """Apply batches, each when it was received, and commit once."""
    board = Board(base, RULES)
    for batch in batches:
        run_now(board.apply(batch, Instant(batch.received_mono, WALL_0 + batch.received_mono)))
    return run_now(board.finish(START))


def versions(snapshot: Snapshot, bookmaker: BookmakerId = ALDER) -> tuple[int, int, int]:
    """Return the version of the snapshot, and of one bookmaker's v1 and v2 view."""
    book = snapshot.books[bookmaker]
    return snapshot.version, book.v1_version, book.v2_version
