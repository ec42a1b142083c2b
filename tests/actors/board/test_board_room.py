"""The limit of matches per bookmaker: matches on the board stay, new ones fill the remaining room."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.board.board import Applied, Board
from actors.board.chunks import entries_of
from actors.board.diff import Verdict
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.cooperative import run_now
from actors.core.messages import Batch, Removal, SourceMatchId
from tests.support.builders.boards import ALDER, EMPTY, START
from tests.support.builders.messages import SCOPE, batch, match

RULES = BoardRules(max_matches=3)


def _applied(base: Snapshot, *batches: Batch) -> tuple[Snapshot, list[Applied]]:
    board = Board(base, RULES)
    applied = [run_now(board.apply(change, START)) for change in batches]
    return run_now(board.finish(START)), applied


def _ids(snapshot: Snapshot) -> list[str]:
    return [entry.source_match_id for entry in entries_of(snapshot.books[ALDER].chunks)]


def _listed(*ids: str, scope: str = SCOPE) -> Batch:
    return batch([match(match_id) for match_id in ids], scope=scope)


def test_long_list_is_accepted_up_to_the_limit() -> None:
    """The first matches of the list are added, in its order; the other matches are counted."""
    snapshot, (applied,) = _applied(EMPTY, _listed("d", "a", "c", "b", "e"))

    assert ["a", "c", "d"] == _ids(snapshot)
    assert Applied(Verdict.ACCEPTED, upserted=3, too_many=2) == applied


@pytest.mark.parametrize("is_complete", [True, False])
def test_cut_list_is_held_until_there_is_room(*, is_complete: bool) -> None:
    """When there is room, a confirmation is not enough: matches that had no room would never appear."""
    held = []
    board = EMPTY
    steps = [
        [_listed("a", "b", "c", scope="other"), _listed(), batch([match("d")], complete=is_complete)],
        [batch([match("c")], complete=False)],  # c moves from the other list to this cut list
        [_listed("a", scope="other")],
        [_listed("c", "d")],
    ]
    for step in steps:
        board, _ = _applied(board, *step)
        list_id = board.books[ALDER].lists[SCOPE].list_id
        held.append(board.holds(ALDER, SCOPE, list_id, START.wall, RULES.max_matches))

    assert ([True, True, False, True], ["a", "c", "d"]) == (held, _ids(board))


BATCHES = st.builds(
    lambda ids, gone, complete, scope: batch(
        [match(match_id) for match_id in ids],
        removals=[Removal(SourceMatchId(name), "withdrawn") for name in gone if name not in ids],
        complete=complete,
        scope=scope,
    ),
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.booleans(),
    st.sampled_from(["one", "two"]),
)


@given(st.lists(BATCHES, max_size=12))
def test_limit_is_never_exceeded(batches: list[Batch]) -> None:
    """For any batches, listed matches on the board stay and each new match is added while there is room."""
    snapshot = EMPTY
    for change in batches:
        before = set(_ids(snapshot))
        snapshot, (applied,) = _applied(snapshot, change)
        after, listed = set(_ids(snapshot)), {match_.source_match_id for match_ in change.matches}

        assert len(after) <= 3
        if applied.verdict is Verdict.ACCEPTED:
            assert before & listed <= after
            assert len(listed - after) == applied.too_many
            assert 3 == len(after) or not applied.too_many
