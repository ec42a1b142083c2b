"""What a commit has replaced is let go of in slices, and then is gone."""

from __future__ import annotations

import gc
import weakref

from actors.board.board import Board, BoardRules
from actors.board.reclaim import Remains
from actors.board.snapshot import Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import CHUNKS, SLICE, run_now
from actors.core.messages import BookmakerId
from tests.support.builders.messages import batch, match
from tests.support.time.virtual import WALL_0

CEDAR, ALDER = BookmakerId("cedar"), BookmakerId("alder")
COUNT = 2_000
FIRST = batch([match(f"{at:04}") for at in range(COUNT)], bookmaker="cedar")
SECOND = batch(
    [match(f"{at:04}", prices=(3, 3, 3)) for at in range(COUNT)], bookmaker="cedar", list_id="list-2"
)


def _after(base: Snapshot, *batches: object) -> Snapshot:
    board = Board(base, BoardRules())
    for one in batches:
        run_now(board.apply(one, Instant(0.0, WALL_0)))  # type: ignore[arg-type]
    return board.commit()


def test_what_was_replaced_is_gone_after_many_small_steps() -> None:
    """Chunks, entries and matches, a few at a time, and nothing of them is left."""
    base = _after(Snapshot.empty(1, (CEDAR, ALDER)), FIRST)
    after = _after(base, SECOND)
    chunk = weakref.ref(base.books[CEDAR].chunks[0])
    chunks = len(base.books[CEDAR].chunks)

    remains = Remains.of(base, after, [SECOND])
    del base
    steps = sum(1 for _ in remains.let_go())
    gc.collect()

    assert chunk() is None
    assert steps >= chunks / CHUNKS + 2 * COUNT / SLICE
    assert Remains([], [], []) == remains


def test_what_stays_is_not_touched() -> None:
    """Books that did not change are not even looked at, and what is shown is whole."""
    base = _after(
        Snapshot.empty(1, (CEDAR, ALDER)), FIRST, batch([match("a")], bookmaker="alder", list_id="other")
    )
    after = _after(base, SECOND)

    remains = Remains.of(base, after, [SECOND])
    kept = set(map(id, base.books[ALDER].chunks))
    held = {id(chunk) for chunks in remains.books for chunk in chunks}
    run_now(remains.let_go())

    assert kept.isdisjoint(held)
    assert COUNT == sum(len(chunk.entries) for chunk in after.books[CEDAR].chunks)
