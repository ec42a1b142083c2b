"""Rows of docs/faults.md in virtual time, one test a row, with the figure that each found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from actors.board.board import Board, BoardRules
from actors.board.snapshot import Snapshot
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Scope
from tests.support.builders.messages import batch, match
from tests.support.time.virtual import ManualClock

pytestmark = pytest.mark.anyio

Figure = Callable[[str], None]
READS = 100_000
LIST = Scope("a")


async def test_c14_finished_matches_that_stay_listed_leave_the_board(figure: Figure) -> None:
    """For thirty days a source lists ten new matches every six hours and removes none."""
    name, clock, rules = BookmakerId("alder"), ManualClock(), BoardRules()
    snapshot = Snapshot.empty(1, (name,))
    listed, sizes = [], list[int]()
    for step in range(30 * 4):
        start = int(clock.wall) + 3600
        listed += [match(f"m{step}-{number}", start_time=start) for number in range(10)]
        board = Board(snapshot, rules)
        run_now(board.expire(clock.now()))
        run_now(board.apply(batch(listed, list_id=str(step), received_mono=clock.mono), clock.now()))
        snapshot = board.commit()
        sizes.append(snapshot.books[name].count)
        clock.pass_(6 * 3600)

    figure(f"{len(listed)} matches listed, at most {max(sizes)} on the board, {sizes[-1]} at the end")
    assert {10} == set(sizes)
