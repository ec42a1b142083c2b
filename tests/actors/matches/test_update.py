"""The highest prices of a fixture after commits in which prices fall."""

from __future__ import annotations

from actors.matches.model import Highest
from tests.support.builders.fixtures import ALDER, BIRCH, CEDAR, LinkedBoard
from tests.support.builders.messages import batch, match


def test_the_highest_prices_of_a_fixture_fall_with_the_only_one_that_has_them() -> None:
    """After the fall another price is the highest; another bookmaker may have had an equal price."""
    board = LinkedBoard()
    for name, prices in ((ALDER, (2.2, 3.4, 3.5)), (BIRCH, (2.1, 3.6, 3.5)), (CEDAR, (2.0, 3.0, 3.4))):
        board.apply(batch([match("1", prices=prices)], bookmaker=name))
    board.link()
    (before,) = board.fixtures()
    board.apply(batch([match("1", prices=(1.9, 3.5, 3.3))], bookmaker=ALDER))
    (lower,) = board.fixtures()
    board.apply(batch([match("1", prices=(1.8, 3.2, 3.2))], bookmaker=BIRCH))
    (lowest,) = board.fixtures()

    assert 3 == len(before.entries)
    assert [Highest((2.2, 3.6, 3.5)), Highest((2.1, 3.6, 3.5)), Highest((2.0, 3.5, 3.4))] == [
        fixture.highest for fixture in (before, lower, lowest)
    ]
