"""The mutants of scripts/mutants fit the code; whether they are found is shown by running it."""

from __future__ import annotations

import pytest

from scripts.mutant_tests import Mutant, applied, mutants
from tests.support.source_code import ROOT


@pytest.mark.parametrize("mutant", mutants(), ids=lambda one: one.name)
def test_a_mutant_fits(mutant: Mutant) -> None:
    """Its text occurs once in its file, the result is other Python, and its tests exist."""
    mutated = applied((ROOT / mutant.file).read_text("utf-8"), mutant)

    assert mutated is not None
    compile(mutated, mutant.file, "exec")
    assert mutant.old != mutant.new
    assert [] == [one for one in mutant.tests.split() if "/" in one and not (ROOT / one).exists()]


def test_there_are_enough_mutants() -> None:
    """Each has a name of its own."""
    names = [one.name for one in mutants()]

    assert 30 <= len(names) == len(set(names))
