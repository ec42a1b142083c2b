"""The whole service in virtual time, under random faults of sections A to D of docs/faults.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from tests.support.simulation.run import Lived, simulate

BLOCK = 5
SEEDS = 10
DAY_H, QUARTER_H = 24, 6


def _report(lived: Lived) -> str:
    return "\n".join((f"seed {lived.seed}: {lived.error}", *lived.lines))


@pytest.mark.timeout(300)
def test_equal_seeds_give_equal_logs(*, is_long: bool) -> None:
    """A run can be repeated: its log has every commit, read and fault, with times and checksums."""
    hours = 1.0 if is_long else 0.25
    lived, again, other = (simulate(seed, hours) for seed in (7, 7, 8))

    assert lived == again
    assert lived.digest != other.digest
    assert [None, None] == [lived.error, other.error]


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("first", range(0, SEEDS, BLOCK))
def test_nothing_wrong_is_shown_whatever_fails(
    first: int, figure: Callable[[str], None], *, is_whole: bool
) -> None:
    """For a day and four quarters of a day, with `--whole` five days, all rules hold; each event occurs."""
    others_h = DAY_H if is_whole else QUARTER_H
    seen: Counter[str] = Counter()
    for seed in range(first, first + BLOCK):
        lived = simulate(seed, DAY_H if seed == first else others_h)
        assert lived.error is None, _report(lived)
        seen.update(lived.seen)

    hours = DAY_H + (BLOCK - 1) * others_h
    figure(f"{hours} hours: {seen['actor.crashed']} crashes, {seen['commits']} versions, no rule broken")
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
