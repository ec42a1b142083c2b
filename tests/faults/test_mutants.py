"""The mutants of scripts/mutants fit the code; only a run of that script shows that tests find them."""

from __future__ import annotations

from scripts.mutant_tests import mutants
from tests.support.source_code import ROOT


def test_every_mutant_fits() -> None:
    """The text of each occurs once in its file, the result is other Python, and its test exists."""
    listed = mutants()

    assert len(listed) == len({mutant.name for mutant in listed})
    for mutant in listed:
        mutated = mutant.applied(ROOT)
        assert mutated is not None, mutant.name
        assert mutated != (ROOT / mutant.file).read_text("utf-8"), mutant.name
        compile(mutated, mutant.file, "exec")
        file, _, test = mutant.test.partition("::")
        assert f"def {test}(" in (ROOT / file).read_text("utf-8"), mutant.name
