"""One thread adds commits while another writes them: a gap never hides a commit that was not lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.archive import writer
from tests.support.archive.interleaved import interleaved
from tests.support.archive.kept import ALDER, Kept, kept
from tests.support.builders.messages import match
from tests.support.time.virtual import ManualClock


def _commit(life: Kept, *, is_lost: bool = False) -> int:
    """Commit a list with a changed price, with no room in the queue if `is_lost`; return its version."""
    life.clock.pass_(0.01)
    life.archive.writer.max_waiting = 0 if is_lost else 1000
    life.board.put(ALDER, match("m1", prices=(2.0 + life.version % 7 / 10, 3.5, 4.0)), stale_after_s=1e6)
    life.archive.writer.max_waiting = 1000
    return life.version


def _hidden(life: Kept) -> list[int]:
    """Return the versions of this life that lie in a gap for lost commits."""
    gaps = [gap for gap in life.days.gaps(life.days.held()) if gap.reason == "lost"]
    return [version for gap in gaps for version in range(gap.after + 1, gap.until)]


def test_a_commit_is_in_the_queue_before_it_can_be_seen(tmp_path: Path) -> None:
    """Whichever instruction of an addition the step of the writing thread interrupts, no commit is lost."""
    with kept(tmp_path, ManualClock()) as life:
        tried, step = 0, life.archive.writer.step
        while interleaved(lambda: _commit(life), writer, tried, step):
            tried += 1
            step()  # empty the queue before the next try

        assert ([], 0) == (_hidden(life), life.archive.status.gaps)
        assert tried > 20


def test_a_commit_at_any_moment_of_a_step_is_not_lost(tmp_path: Path) -> None:
    """No commit is lost, whether other commits wait or not, and also after a step with nothing to write."""
    with kept(tmp_path, ManualClock()) as life:
        tried, step = 0, life.archive.writer.step
        while interleaved(step, writer, tried, lambda: _commit(life)):
            tried += 1
        step()

        assert ([], 0) == (_hidden(life), life.archive.status.gaps)
        assert life.archive.writer.is_complete
        assert tried > 100


@pytest.mark.parametrize("is_one_behind", [False, True], ids=["alone", "with one behind that has room"])
def test_a_gap_hides_what_was_lost_alone(tmp_path: Path, *, is_one_behind: bool) -> None:
    """A commit that finds no room, at any instruction of a step, is the only commit that a gap hides."""
    with kept(tmp_path, ManualClock()) as life:
        tried, lost = 0, list[int]()

        def lose() -> None:
            lost.append(_commit(life, is_lost=True))
            if is_one_behind:
                _commit(life)

        def run() -> None:
            _commit(life)
            life.archive.writer.step()

        while interleaved(run, writer, tried, lose):
            tried += 1
        life.write(3)

        assert {*_hidden(life)} <= {*lost}
        assert life.archive.status.gaps == len([*life.days.gaps(life.days.held())]) <= len(lost)
