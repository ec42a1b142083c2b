"""Rows E9 to E12 of docs/faults.md: lives that end anywhere, with a full disk, with damaged days."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.archive.chosen import DAMAGES, FAULTS, run


def test_what_the_archive_has_is_what_was_served(tmp_path: Path) -> None:
    """After lives that were killed at each boundary: no version with two bodies, differences are exact."""
    chosen = run(tmp_path / "archive", 3, 30)

    assert [] == chosen.wrong
    assert set() == {*FAULTS} - chosen.fired.keys()
    assert chosen.counts["bodies"] > 30
    assert chosen.counts["differences"] > 10


@pytest.mark.long
@pytest.mark.timeout(600)
def test_every_fault_fires_and_breaks_nothing(tmp_path: Path) -> None:
    """In 150 lives every boundary, a full disk, lost commits and each damage occur."""
    chosen = run(tmp_path / "archive", 4, 150)

    assert [] == chosen.wrong
    assert set() == {*FAULTS, *DAMAGES} - chosen.fired.keys()
