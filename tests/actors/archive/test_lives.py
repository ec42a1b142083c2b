"""Rows E9 to E12 of docs/faults.md: lives that end anywhere, with a full disk, with damaged days."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.archive.chosen import DAMAGES, FAULTS, run


@pytest.mark.timeout(600)
def test_what_the_archive_has_is_what_was_served(tmp_path: Path, *, is_long: bool) -> None:
    """After lives that were killed at each boundary: no version with two bodies, differences are exact.

    In 150 lives each damage to a sealed day occurs as well.
    """
    chosen = run(tmp_path / "archive", *((4, 150) if is_long else (3, 30)))

    assert [] == chosen.wrong
    assert set() == {*FAULTS, *(DAMAGES if is_long else ())} - chosen.fired.keys()
    assert chosen.counts["bodies"] > 100
    assert chosen.counts["differences"] > 20
