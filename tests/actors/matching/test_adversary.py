"""No surebet can rest on two matches that look like one, made of the shipped tables."""

from __future__ import annotations

from random import Random

import pytest

from tests.support.adversary import KINDS, case_of, judged


def _wrong(seed: str, pairs: int) -> tuple[list[str], list[str]]:
    """Return the pairs that are linked as sure, and as likely."""
    random = Random(seed)
    found = [judged(case_of(random)) for _ in range(pairs)]
    wrong = [case for case in found if case.is_wrong]
    assert {*KINDS} == {case.case.kind for case in found}
    return [str(case) for case in wrong if case.is_sure], [str(case) for case in wrong if not case.is_sure]


def test_pairs_of_an_adversary_are_not_linked() -> None:
    """Derbies crossed, other classes, namesakes, cups, places in a draw, boosted prices: a sample."""
    assert ([], []) == _wrong("sample", 1500)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_many_pairs_of_an_adversary_are_not_linked() -> None:
    """None as sure, at most 2 of 20,000 as likely. `scripts/links` has five times as many."""
    sure, likely = _wrong("0", 20_000)

    assert [] == sure
    assert len(likely) <= 2, likely
