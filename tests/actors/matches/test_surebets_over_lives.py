"""An oracle that knows the true matches finds no losing surebet in random lives with hostile lists."""

from __future__ import annotations

import pytest

from tests.support.surebet_lives import lives


@pytest.mark.timeout(1800)
def test_no_surebet_of_random_lives_could_lose(*, is_long: bool, is_whole: bool) -> None:
    """Lists fail, are suspect, late, moved or crossed; others look like them; companies list twice.

    Prices are exchanged under the right names, or are far too high.

    Most true surebets are shown. `scripts/links --lives 10000` has ten times as many lives as `--long`.
    """
    told = lives("0", 2000 if is_whole else 1000 if is_long else 150)

    assert [] == told.losing
    assert told.shown > 0 < told.true
    assert told.withheld.total() < 0.4 * told.true
