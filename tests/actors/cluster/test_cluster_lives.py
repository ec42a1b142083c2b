"""Lives of a cluster in virtual time: whatever fails, machines agree, and show no price that has left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.simulation.cluster import lived, lived_without

pytestmark = pytest.mark.anyio
SEEDS = 3


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_all_holds_whatever_fails(tmp_path: Path, seed: int) -> None:
    """One tag has one body, no version is used twice, a price that left is gone everywhere after 5 s.

    A surebet is gone as well once one of its legs does not count. All this holds for all markets, and no
    view of 1X2 changes because of another market.
    """
    life = await lived(tmp_path, seed)

    assert [] == life.violations
    assert life.checked > 0
    assert life.archived > 0
    assert life.surebets > life.of_markets > 0
    assert life.followed > life.others > 0
    assert life.sides > 0
    assert all(count > 0 for count in life.fired.values()), life.fired


@pytest.mark.parametrize(
    ("away_s", "is_anew", "filled", "gaps"),
    [(1.0, False, 1, {}), (15.0, False, 0, {"missed": 1}), (1.0, True, 0, {"began_anew": 1})],
    ids=["in the log", "cut", "another epoch"],
)
async def test_an_archive_has_what_it_missed_or_a_gap(
    tmp_path: Path,
    away_s: float,
    is_anew: bool,  # noqa: FBT001 - a parameter of the test
    filled: int,
    gaps: dict[str, int],
) -> None:
    """After a kill the archive fills in the versions that the log still has, exactly as served."""
    life = await lived_without(tmp_path, away_s, is_anew=is_anew)

    assert [] == life.violations
    assert life.archived > 0
    assert (filled, gaps) == (life.filled, dict(life.gaps))


@pytest.mark.long
@pytest.mark.timeout(7200)
async def test_all_holds_in_many_lives(tmp_path: Path, *, is_whole: bool) -> None:
    """No seed breaks a rule; a failure lists each seed that does."""
    seeds = range(SEEDS, 1000 if is_whole else 5)

    assert {} == {seed: found for seed in seeds if (found := (await lived(tmp_path, seed)).violations)}
