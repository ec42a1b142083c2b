"""Rows E9 to E12 of docs/faults.md: lives that end at any point, with a full disk or with damaged days."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.archive.chosen import CALLS, DAMAGES, FAULTS, run, run_calls
from tests.support.archive.disk_faults import library


@pytest.mark.timeout(600)
def test_what_the_archive_has_is_what_was_served(tmp_path: Path, *, is_long: bool) -> None:
    """After lives that were killed at each boundary, no version has two bodies; differences are exact.

    In 150 lives each damage to a sealed day occurs as well. Lists that hold are restored with all their
    markets, and no life begins below a version of any board.
    """
    chosen = run(tmp_path / "archive", *((4, 150) if is_long else (3, 30)))

    assert [] == chosen.wrong
    assert set() == {*FAULTS, *(DAMAGES if is_long else ())} - chosen.fired.keys()
    assert chosen.counts["bodies"] > 100
    assert chosen.counts["differences"] > 20
    assert chosen.counts["restored"] > 0
    assert chosen.counts["restored markets"] > 0


@pytest.mark.skipif(library() is None, reason="needs a C compiler (cc)")
@pytest.mark.timeout(600)
def test_no_system_call_that_fails_or_is_the_last_loses_anything(tmp_path: Path, *, is_long: bool) -> None:
    """Below SQLite, lives are killed at any change or in half a write, and reads or other calls fail.

    Kills around midnight are included. No file is set aside, no gap is of a loss, and all can be read.
    """
    chosen = run_calls(tmp_path / "archive", *((6, 350) if is_long else (5, 35)))

    assert [] == chosen.wrong
    assert set() == {*CALLS} - chosen.fired.keys()
    assert chosen.counts["bodies"] > 100
