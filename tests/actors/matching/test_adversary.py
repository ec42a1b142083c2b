"""Pairs of matches that look like one, made from the shipped tables: no surebet can rest on such a pair."""

from __future__ import annotations

from random import Random

import pytest

from tests.support.adversary import KINDS, case_of, judged


@pytest.mark.timeout(600)
def test_pairs_of_an_adversary_are_not_linked(*, is_long: bool, is_whole: bool) -> None:
    """Crossed derbies, other classes, namesakes, cups, places in a draw, boosted prices: no link is sure.

    At most 1 of 10,000 pairs is linked as likely. `scripts/links` has ten times as many pairs.
    """
    random, pairs = Random("0" if is_long else "sample"), 20_000 if is_whole else 10_000
    found = [judged(case_of(random)) for _ in range(pairs if is_long else 600)]
    wrong = [case for case in found if case.is_wrong]

    assert {*KINDS} == {case.case.kind for case in found}
    assert [] == [str(case) for case in wrong if case.is_sure]
    assert len(wrong) <= (pairs // 10_000 if is_long else 0), [str(case) for case in wrong]
