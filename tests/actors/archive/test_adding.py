"""One thread adds commits while another writes: no gap without a loss, at any instruction of both."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.archive import writer
from tests.support.archive.interleaved import interleaved
from tests.support.archive.kept import ALDER, Kept, kept
from tests.support.builders.messages import match
from tests.support.time.virtual import ManualClock


def _commit(life: Kept, *, is_lost: bool = False) -> int:
    """Commit a list that differs from the one before, without room if it is lost; return its version."""
    life.clock.pass_(0.01)
    life.archive.writer.max_waiting = 0 if is_lost else 1000
    life.board.put(ALDER, match("m1", prices=(2.0 + life.version % 7 / 10, 3.5, 4.0)), stale_after_s=1e6)
    life.archive.writer.max_waiting = 1000
    return life.version


def _hidden(life: Kept) -> list[int]:
    """Return the versions that are in gaps of this life."""
    gaps = [gap for gap in life.days.gaps(life.days.held()) if gap.reason == "lost"]
    return [version for gap in gaps for version in range(gap.after + 1, gap.until)]


def test_a_commit_is_in_the_queue_before_it_can_be_seen(tmp_path: Path) -> None:
    """The thread that writes takes a step at any instruction of an addition: nothing is lost for it."""
    with kept(tmp_path, ManualClock()) as life:
        tried, step = 0, life.archive.writer.step
        while interleaved(lambda: _commit(life), writer, tried, step):
            tried += 1
            step()  # so that nothing else waits

        assert ([], 0) == (_hidden(life), life.archive.status.gaps)
        assert tried > 20


def test_a_commit_at_any_moment_of_a_step_is_not_lost(tmp_path: Path) -> None:
    """Whether something else waits or not, and after a step with nothing to write."""
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
    """A commit finds no room at any instruction of a step: nothing else is lost."""
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
