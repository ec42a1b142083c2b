"""Rows of docs/faults.md in virtual time, one test a row, with the figure that each found."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite, nan
from random import Random

import pytest

from actors.board.board import Board, BoardRules
from actors.board.snapshot import Snapshot
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Scope
from actors.core.validation import Bounds, admit
from tests.support.builders.messages import batch, match
from tests.support.simulation.site import POLL_S, SPOILED
from tests.support.simulation.world import ALDER, World, pass_to, running
from tests.support.time.virtual import ManualClock

pytestmark = pytest.mark.anyio

Figure = Callable[[str], None]
READS = 100_000
LIST = Scope("a")


@pytest.mark.parametrize("mood", SPOILED)
async def test_b_a_damaged_body_changes_nothing(mood: str, figure: Figure) -> None:
    """HTML, nothing, a cut body, bad UTF-8, deep nesting, an array: the list and its version stay."""
    world = World(2)
    async with running(world):
        await pass_to(2.5 * POLL_S)
        version, crashes = world.snapshot.books[ALDER].v1_version, world.seen["kills"]
        world.site.moods = dict.fromkeys(world.site.moods, mood)
        await pass_to(4.5 * POLL_S)
        world.check()

        figure(f"{mood}: version unchanged")
        assert (version, crashes) == (world.snapshot.books[ALDER].v1_version, world.seen["kills"])
        assert world.snapshot.books[ALDER].count > 40


@pytest.mark.long
async def test_b3_no_impossible_price_passes(figure: Figure) -> None:
    """Of a million matches with prices from a hostile pool, none is admitted with an impossible one."""
    random, passed, tried = Random(3), 0, 0
    pool = (nan, inf, -inf, 1e308, 0.0, -0.0, 1.0, 0.99, -2.0, 1.0 + 1e-16, 1.5, 2.0, 3.4, 4.2, 1.01)
    for number in range(2_000):
        offered = [match(f"m{one}", prices=random.choices(pool, k=3)) for one in range(500)]
        admitted = run_now(admit(batch(offered, list_id=str(number)), Bounds())).batch.matches
        tried += len(offered)
        passed += len(admitted)
        for one in admitted:
            prices = (one.home_price, one.draw_price, one.away_price)
            assert all(isfinite(price) and price > 1.0 for price in prices)

    figure(f"{tried:,} matches, {passed:,} admitted, none with an impossible price")
    assert passed > 0


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
