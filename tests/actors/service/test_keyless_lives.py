"""Random lives of the venues without a key: the board shows what an independent reading of them confirms.

`scripts/keyless-lives` runs 10,000 lives of each venue.
"""

from __future__ import annotations

import pytest

from tests.support.simulation.venue_machine import MACHINES, live


@pytest.mark.parametrize("name", MACHINES)
def test_the_board_is_what_the_venue_vouches_for(name: str) -> None:
    """The board stays right through random changes and failures."""
    live(name, 10)


@pytest.mark.long
@pytest.mark.parametrize("name", MACHINES)
def test_the_board_is_what_the_venue_vouches_for_in_many_lives(name: str, *, is_whole: bool) -> None:
    """The board stays right in more lives than in the test above."""
    live(name, 100 if is_whole else 50)
