"""No surebet could lose, over random lives with hostile lists, by an oracle that knows the true matches."""

from __future__ import annotations

import pytest

from tests.support.surebet_lives import lives


def test_no_surebet_of_some_lives_could_lose() -> None:
    """Lists fail, are suspect, late, moved, crossed; others look like them; companies list twice."""
    told = lives("sample", 150)

    assert [] == told.losing
    assert told.shown > 0 < told.true


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_no_surebet_of_two_thousand_lives_could_lose() -> None:
    """The same of more; most true ones are shown. `scripts/links --lives 10000` has five times as many."""
    told = lives("0", 2000)

    assert [] == told.losing
    assert told.withheld.total() < 0.4 * told.true
