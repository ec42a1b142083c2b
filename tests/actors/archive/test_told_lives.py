"""Lines, closes, members and moves, compared with a naive reading of the same archive."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from actors.archive.lines.closings import AskedClosings, Closings, FixtureClose
from actors.archive.past import Days
from actors.lines.links import of_today
from actors.markets.market import ONE_X_TWO
from actors.matches.fair import Method
from tests.support.archive.moving import Moving
from tests.support.archive.told import lived

ACTS = 90
UNLINKED = 23_193
"""A life in which an entry of the first consensus went to another fixture at the same price."""
HAPPENED = {
    *(f"absent: gap {reason}" for reason in ("killed", "lost", "stopped")),
    *(f"absent: removed {reason}" for reason in ("stale", "unknown", "withdrawn")),
    "absent: suspended suspended",
    *(f"close: {how}" for how in ("collected", "gap", "on offer", "stale", "too_old", "withdrawn")),
    *("close of a line", "consensus", "ends", "merged", "moves", "unknown"),
}


@pytest.mark.timeout(40_000)
def test_nothing_told_of_random_lives_differs_from_a_naive_reading(
    *, is_long: bool, is_whole: bool
) -> None:
    """Each price, absence, reason, first sight, close, member, consensus and move equals the naive one.

    The test runs 25 lives of one market each (`--long`: 500, `--whole`: 10,000) and one that failed once.
    """
    seen, wrong = Counter[str](), list[str]()
    for seed in (*range(10_000 if is_whole else 500 if is_long else 25), UNLINKED):
        compared, differences = lived(seed)
        seen += compared
        wrong += [f"life {seed}: {each}" for each in differences]

    assert [] == wrong
    assert not HAPPENED - seen.keys()


def test_closes_go_on_from_where_an_answer_ended(tmp_path: Path) -> None:
    """Several short answers together have the same fixtures as one long answer, each fixture once."""
    moving = Moving(tmp_path / "archive", 0)
    for _ in range(ACTS):
        moving.act()
    moving.end(is_orderly=True)
    days = Days(moving.archive.folder, lambda: None)
    now_ms, about = round(moving.clock.wall * 1000), (of_today(moving.terms.roster), Method.POWER)
    whole = Closings(days, AskedClosings(0, 2**50, now_ms, ONE_X_TWO, *about)).read().fixtures
    found, begin = list[FixtureClose](), 0
    while True:
        part = Closings(days, AskedClosings(begin, 2**50, now_ms, ONE_X_TWO, *about)).read(most=2)
        found += part.fixtures
        if part.next_from is None:
            break
        begin = part.next_from * 1000

    assert len(whole) > 4
    assert [*whole] == found
