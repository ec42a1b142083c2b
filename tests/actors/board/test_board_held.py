"""Which lists are held: those of which nothing is missing that was listed and is not over."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from actors.board.board import Board, BoardRules
from actors.board.chunks import entries_of
from actors.board.diff import Verdict
from actors.board.published import Published
from actors.board.snapshot import Snapshot
from actors.core.cooperative import run_now
from actors.core.messages import Batch, ListId, Removal, Scope, SourceMatchId
from tests.support.builders.messages import BOOKMAKER, SCOPE, batch, match
from tests.support.time.virtual import WALL_0, ManualClock

RULES = BoardRules(expire_after_kickoff_s=10_800.0)
EMPTY = Snapshot.empty(1000, (BOOKMAKER,))
SOON, LATER = match("soon", start_time=int(WALL_0) + 3600), match("later")
TWO_DAYS_S = 172_800.0
OTHER = Scope("other")


class Stage:
    """A published board, and a clock that is put by hand."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.published = Published(EMPTY, RULES, self.clock)

    def take(self, *batches: Batch) -> list[Verdict]:
        """Commit these."""
        base = run_now(self.published.current())
        board = Board(base, RULES)
        verdicts = [run_now(board.apply(one, self.clock.now())).verdict for one in batches]
        assert self.published.replace(base, board.commit())
        return verdicts

    def shown(self) -> list[str]:
        """Return the ids of what a reader sees."""
        return [
            one.source_match_id
            for one in entries_of(run_now(self.published.current()).books[BOOKMAKER].chunks)
        ]

    def holds(self, list_id: str = "list-1", scope: Scope = SCOPE) -> bool:
        """Return whether that list is held."""
        return self.published.holds(BOOKMAKER, scope, ListId(list_id))


def test_what_a_wrong_clock_took_off_makes_its_list_incomplete() -> None:
    """While the clock is ahead the list is held; once it is right again the next poll must bring it."""
    stage = Stage()
    stage.take(batch([SOON, LATER]))
    stage.clock.wall += TWO_DAYS_S
    ahead = stage.shown(), stage.holds()
    stage.clock.wall -= TWO_DAYS_S
    right = stage.shown(), stage.holds()
    stage.take(batch([SOON, LATER], list_id="list-1", received_mono=1.0))

    assert (([], True), ([], False)) == (ahead, right)
    assert (["later", "soon"], True) == (stage.shown(), stage.holds())


@pytest.mark.parametrize("is_complete", [True, False])
def test_what_a_wrong_clock_kept_off_makes_its_list_incomplete(*, is_complete: bool) -> None:
    """The same for what comes while the clock is ahead, in a list or in a change of one."""
    stage = Stage()
    stage.take(batch([LATER]))
    stage.clock.wall += 20_000.0
    stage.take(batch([SOON], complete=is_complete))
    ahead = stage.holds()
    stage.clock.wall -= 20_000.0

    assert (True, False) == (ahead, stage.holds())


def test_vouching_for_a_list_does_not_complete_it() -> None:
    """Neither a confirmation nor a change of something else brings back what is missing."""
    stage = Stage()
    stage.take(batch([SOON, LATER]))
    stage.clock.wall += 20_000.0
    stage.shown()
    stage.take(
        batch(complete=False, received_mono=1.0),
        batch([match("third")], complete=False, received_mono=2.0),
    )
    stage.clock.wall -= 20_000.0

    assert not stage.holds()


def test_what_is_over_in_time_leaves_its_list_held() -> None:
    """On a clock that goes on nothing is asked for again; nor when it goes back by less than is due."""
    stage = Stage()
    stage.take(batch([SOON, LATER], stale_after_s=1e6))
    stage.clock.pass_(20_000.0)
    over = stage.shown(), stage.holds()
    stage.clock.pass_(500.0)
    stage.clock.wall -= 400.0

    assert ((["later"], True), True) == (over, stage.holds())


def test_expiry_in_one_scope_says_nothing_of_another() -> None:
    """Only the list that a match went from is incomplete."""
    stage = Stage()
    stage.take(batch([SOON]), batch([LATER], scope=OTHER))
    stage.clock.wall += 20_000.0
    stage.shown()
    stage.clock.wall -= 20_000.0

    assert (False, True) == (stage.holds(), stage.holds(scope=OTHER))


@pytest.mark.parametrize("is_complete", [True, False])
def test_a_list_that_another_scope_took_a_match_from_is_not_held(*, is_complete: bool) -> None:
    """When the other drops the match, only the list that still names it can bring it back."""
    stage = Stage()
    stage.take(batch([SOON, LATER]), batch([], scope=OTHER, list_id="other-1"))
    before = stage.holds()
    stage.take(batch([SOON], scope=OTHER, list_id="other-1", complete=is_complete, received_mono=1.0))
    moved = stage.holds(), stage.holds("other-1", OTHER), stage.shown()
    stage.take(batch([], scope=OTHER, list_id="other-2", received_mono=2.0))
    dropped = stage.holds(), stage.shown()
    stage.take(batch([SOON, LATER], received_mono=3.0))

    assert (True, (False, True, ["later", "soon"])) == (before, moved)
    assert ((False, ["later"]), (True, ["later", "soon"])) == (dropped, (stage.holds(), stage.shown()))


def test_a_match_that_another_scope_found_over_is_missing_from_its_list() -> None:
    """Two scopes that disagree on its kick-off: the one that still lists it must be asked again."""
    stage = Stage()
    stage.take(batch([LATER]), batch([match("later", start_time=int(WALL_0) - 20_000)], scope=OTHER))

    assert ([], False) == (stage.shown(), stage.holds())


def test_a_change_that_removes_what_another_scope_has_takes_nothing() -> None:
    """A removal counts within its own scope only."""
    stage = Stage()
    stage.take(batch([LATER]), batch([], scope=OTHER))
    gone = [Removal(SourceMatchId("later"), "withdrawn")]
    stage.take(batch(removals=gone, scope=OTHER, complete=False))

    assert (["later"], True) == (stage.shown(), stage.holds())


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
    """Bring the list as a source does: whole while it is not held, else vouched for."""
    matches = [] if stage.holds() else LISTED
    stage.take(batch(matches, complete=bool(matches), received_mono=stage.clock.mono))


@example(
    steps=[
        *(("clock", 10_000.0), ("read", None)),  # m-2 and m-1 go
        *(("clock", 0.0), ("change", LISTED[4])),  # m-2 is back
        *(("clock", 5000.0), ("read", None)),  # and goes in time, m-1 is still missing
    ],
    ahead_s=0.0,
)
@given(steps=STEPS, ahead_s=CLOCKS)
@settings(derandomize=True, deadline=None, max_examples=500)
def test_one_poll_makes_good_whatever_the_clock_did(steps: list[tuple[str, Any]], ahead_s: float) -> None:
    """After any moves of the wall clock the next poll shows exactly what is listed and not over by it."""
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
    expected = [one.source_match_id for one in LISTED if (one.start_time or 0) > over]
    assert sorted(expected) == stage.shown()
