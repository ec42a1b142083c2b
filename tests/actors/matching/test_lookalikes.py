"""Pairs of matches that look like one, made without a look at the linker's tables."""

from __future__ import annotations

import pytest

from tests.support.judged_lookalikes import verdict
from tests.support.lookalikes import KINDS


@pytest.mark.timeout(3600)
def test_no_lookalike_is_sure_and_none_with_a_mark_is_linked(*, is_long: bool, is_whole: bool) -> None:
    """Random marks in eight scripts, namesakes, states, friendlies, other markets: the prices agree."""
    found = verdict("0", 100_000 if is_whole else 20_000 if is_long else 600)

    assert [] == found.wrong
    assert found.pairs.keys() == KINDS.keys()
    assert {"K4 L6", "L5"} == found.linked.keys()
