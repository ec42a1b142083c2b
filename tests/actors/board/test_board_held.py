"""Which lists are held: those whose listed matches are all on the board or over."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from actors.board.board import Board
from actors.board.chunks import entries_of
from actors.board.diff import Verdict
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.cooperative import run_now
from actors.core.messages import Batch, ListId, Scope
from tests.support.builders.boards import START
from tests.support.builders.messages import BOOKMAKER, SCOPE, batch, match
from tests.support.systems.committing import Committing
from tests.support.time.virtual import WALL_0, ManualClock

RULES = BoardRules(expire_after_kickoff_s=10_800.0)
EMPTY = Snapshot.empty(1000, (BOOKMAKER,))
SOON, LATER = match("soon", start_time=int(WALL_0) + 3600), match("later")
TWO_DAYS_S = 172_800.0


class Stage:
    """A published board, and a clock that the test sets."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.published = Committing(EMPTY, RULES, self.clock)

    def take(self, *batches: Batch) -> list[Verdict]:
        """Commit these batches."""
        base = self.published.current()
        board = Board(base, RULES)
        verdicts = [run_now(board.apply(change, self.clock.now())).verdict for change in batches]
        self.published.publish(run_now(board.finish(START)))
        return verdicts

    def shown(self) -> list[str]:
        """Return the ids that a reader sees."""
        return [
            entry.source_match_id for entry in entries_of(self.published.current().books[BOOKMAKER].chunks)
        ]

    def holds(self, list_id: str = "list-1", scope: Scope = SCOPE) -> bool:
        """Return whether the board holds that list."""
        return self.published.holds(BOOKMAKER, scope, ListId(list_id))


def test_list_is_not_held_after_a_wrong_clock_removed_a_match() -> None:
    """A list that a clock ahead shortened is held until the clock is right; then it must be sent again."""
    stage = Stage()
    stage.take(batch([SOON, LATER]))
    stage.clock.wall += TWO_DAYS_S
    ahead = stage.shown(), stage.holds()
    stage.clock.wall -= TWO_DAYS_S
    right = stage.shown(), stage.holds()
    stage.take(batch([SOON, LATER], list_id="list-1", received_mono=1.0))

    assert (([], True), ([], False)) == (ahead, right)
    assert (["later", "soon"], True) == (stage.shown(), stage.holds())


def test_list_stays_held_when_a_match_ends() -> None:
    """A list whose matches end in time stays held, also if the clock goes back by less than that."""
    stage = Stage()
    stage.take(batch([SOON, LATER], stale_after_s=1e6))
    stage.clock.pass_(20_000.0)
    over = stage.shown(), stage.holds()
    stage.clock.pass_(500.0)
    stage.clock.wall -= 400.0

    assert ((["later"], True), True) == (over, stage.holds())


LISTED = [match(f"m{at}", start_time=int(WALL_0) + 3600 * at) for at in range(-6, 3)]
CLOCKS = st.one_of(st.sampled_from((0.0, 3600.0, -3600.0, TWO_DAYS_S)), st.floats(-20_000, 20_000))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("clock"), CLOCKS),
        st.tuples(st.just("change"), st.sampled_from(LISTED)),
        st.tuples(st.sampled_from(("read", "poll")), st.none()),
    ),
    max_size=12,
)


def _poll(stage: Stage) -> None:
    """Apply the list as a source does: as a whole while it is not held, otherwise as a confirmation."""
    matches = [] if stage.holds() else LISTED
    stage.take(batch(matches, complete=bool(matches), received_mono=stage.clock.mono))


@pytest.mark.long
@example(
    steps=[
        *(("clock", 10_000.0), ("read", None)),  # m-2 and m-1 leave
        *(("clock", 0.0), ("change", LISTED[4])),  # m-2 is back
        *(("clock", 5000.0), ("read", None)),  # m-2 leaves in time, m-1 is still missing
    ],
    ahead_s=0.0,
)
@given(steps=STEPS, ahead_s=CLOCKS)
@settings(derandomize=True, deadline=None, max_examples=500)
def test_next_poll_repairs_the_list_after_any_clock_changes(
    steps: list[tuple[str, Any]], ahead_s: float
) -> None:
    """After any changes of the wall clock, one poll shows exactly the matches listed and not over."""
    stage = Stage()
    stage.clock.wall += ahead_s
    _poll(stage)
    for what, value in steps:
        stage.clock.pass_(1.0)
        if what == "clock":
            stage.clock.wall = WALL_0 + stage.clock.mono + value
        elif what == "read":
            stage.shown()
        elif what == "poll":
            _poll(stage)
        else:
            stage.take(batch([value], complete=False, received_mono=stage.clock.mono))
    _poll(stage)

    over = stage.clock.wall - RULES.expire_after_kickoff_s
    expected = [listed.source_match_id for listed in LISTED if (listed.start_time or 0) > over]
    assert sorted(expected) == stage.shown()
