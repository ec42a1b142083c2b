"""The mutants of scripts/mutants fit the code; whether their tests find them is shown by running it."""

from __future__ import annotations

from scripts.mutant_tests import mutants
from tests.support.source_code import ROOT


def test_every_mutant_fits() -> None:
    """Its text occurs once in its file, the result is other Python, and its test exists."""
    listed = mutants()

    assert len(listed) == len({one.name for one in listed})
    for one in listed:
        mutated = one.applied(ROOT)
        assert mutated is not None, one.name
        assert mutated != (ROOT / one.file).read_text("utf-8"), one.name
        compile(mutated, one.file, "exec")
        file, _, test = one.test.partition("::")
        assert f"def {test}(" in (ROOT / file).read_text("utf-8"), one.name
