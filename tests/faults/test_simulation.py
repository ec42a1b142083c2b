"""The whole service in virtual time, under random faults of sections A to D of docs/faults.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from tests.support.simulation.run import Lived, simulate

BLOCK = 5
SEEDS = 10


def _report(lived: Lived) -> str:
    return "\n".join((f"seed {lived.seed}: {lived.error}", *lived.lines))


def test_equal_seeds_give_equal_logs() -> None:
    """A run can be repeated: its log has every commit, read and fault, with times and checksums."""
    lived, again, other = simulate(7, 2), simulate(7, 2), simulate(8, 2)

    assert lived == again
    assert lived.digest != other.digest
    assert [None, None] == [lived.error, other.error]


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("first", range(0, SEEDS, BLOCK))
def test_nothing_wrong_is_shown_in_a_day(first: int, figure: Callable[[str], None]) -> None:
    """Whatever fails, every rule of the simulation holds, and in each block of seeds everything happens."""
    seen: Counter[str] = Counter()
    for seed in range(first, first + BLOCK):
        lived = simulate(seed, 24)
        assert lived.error is None, _report(lived)
        seen.update(lived.seen)

    figure(f"{BLOCK} days: {seen['actor.crashed']} crashes, {seen['commits']} versions, no rule broken")
    happened = {
        "actor.crashed",
        "actor.quarantined",
        "batch.dropped",
        "list.doubted",
        "followed",
        "read 503",
        *("merged", "surebets", "links.good", "links.bad", "links.held", "links", "linked anew"),
        *("reset", "changes", "surebets evaluated"),
    }
    assert set() == happened - seen.keys()
