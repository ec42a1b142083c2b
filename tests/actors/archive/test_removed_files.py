"""Open files are removed: nothing is written to a file that nobody finds, or by two processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.archive.folder import Folder
from tests.support.archive.kept import ALDER, kept
from tests.support.builders.messages import match
from tests.support.time.virtual import ManualClock


@pytest.mark.parametrize("is_replaced", [False, True], ids=["removed", "replaced"])
def test_a_log_that_is_removed_costs_nothing(tmp_path: Path, *, is_replaced: bool) -> None:
    """The next step notices that the log is gone; its content is in the day then: a kill loses nothing."""
    with kept(tmp_path, ManualClock(), is_orderly=False) as life:
        first = life.put("m1")
        log = tmp_path / "2026-05-28.db-wal"
        log.unlink()
        if is_replaced:
            log.write_bytes(b"")
        life.put("m2")
        stalled = life.archive.status.error
        (saved := tmp_path / "copy").mkdir()
        (saved / "2026-05-28.db").write_bytes((tmp_path / "2026-05-28.db").read_bytes())
        second = life.put("m3")

        assert (["alder_m1"], ["alder_m3"]) == (life.ids(first), life.ids(second))
        assert (None, 0) == (life.archive.status.error, life.archive.status.gaps)
        assert [] == life.days.gaps(life.days.held())
    with kept(saved, ManualClock()) as copied:
        assert ["alder_m1"] == copied.ids(first)
    assert "2026-05-28.db-wal" in str(stalled)


def test_a_day_that_is_removed_is_missing_and_not_lost(tmp_path: Path) -> None:
    """If there is an older day, the archive goes on in that day's file, from the whole state."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        first = life.put("m1")
        clock.pass_(86_400)
        life.put("m2")  # the last version in the previous day's file
        life.put("m2", "m3")
        for path in tmp_path.glob("2026-05-29.db*"):
            path.unlink()
        life.put("m3")
        last = life.put("m4")
        life.archive.writer.step()

        assert (["alder_m1"], ["alder_m4"]) == (life.ids(first), life.ids(last))
        assert ["missing"] == life.gaps()
        assert 1 == life.archive.status.gaps


def test_a_day_that_is_removed_while_it_is_written_is_a_gap(tmp_path: Path) -> None:
    """Nothing is written to a file that nobody finds: a new file begins, and `/health` warns."""
    with kept(tmp_path, ManualClock()) as life:
        life.put("m1")
        for path in tmp_path.glob("*.db*"):
            path.unlink()
        life.put("m2")
        failed = life.archive.status.error
        version = life.put("m3")

        assert ["alder_m3"] == life.ids(version)
        assert (None, 1) == (life.archive.status.error, life.archive.status.gaps)
    assert failed is not None
    assert "2026-05-28.db" in failed


@pytest.mark.parametrize("is_taken", [False, True], ids=["removed", "taken by another"])
def test_without_its_lock_nothing_more_is_written(tmp_path: Path, *, is_taken: bool) -> None:
    """Another process may use the folder, so no file in it is changed, and the error stays."""
    with kept(tmp_path, ManualClock()) as life:
        written = life.put("m1")
        (tmp_path / "lock").unlink()
        other = Folder.hold(tmp_path) if is_taken else None
        life.put("m2")  # the writer closes the day's file
        before = {path: path.read_bytes() for path in tmp_path.iterdir()}
        life.clock.pass_(100)
        life.put("m3")
        life.board.put(ALDER, match("m4"))
        error = life.archive.status.error
    if other is not None:
        other.release()

    assert written == life.archive.writer.written
    assert before == {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert "lock" in str(error)
