"""What a commit makes of the fixtures: of very many new events at once, and of prices that fall."""

from __future__ import annotations

from actors.core.messages import Removal, SourceMatchId
from actors.matches.model import Highest
from actors.matches.update import PORTION, PORTIONS
from tests.support.builders.fixtures import ALDER, BIRCH, CEDAR, LinkedBoard
from tests.support.builders.messages import batch, match

MOST = PORTION * PORTIONS
NAMES = [f"{number:05}" for number in range(MOST + 10)]


def full_board() -> LinkedBoard:
    """Return a board that has more new matches than fixtures are begun in one commit."""
    board = LinkedBoard()
    board.apply(batch([match(one) for one in NAMES], bookmaker=ALDER))
    return board


def test_a_commit_begins_some_fixtures_and_the_next_ones_begin_the_rest() -> None:
    """So prices never wait for a crowd of new matches."""
    board = full_board()
    begun, was_behind = len(board.fixtures()), board.snapshot.is_behind
    board.apply()

    assert (MOST, True) == (begun, was_behind)
    assert (len(NAMES), False) == (len(board.fixtures()), board.snapshot.is_behind)
    assert board.snapshot.version > 1001


def test_what_changes_while_it_waits_is_in_the_fixture_that_is_begun() -> None:
    """A new price, another bookmaker of the source, and a match that has gone."""
    board = full_board()
    changed, doubled, gone = NAMES[-3:]
    removals = [Removal(SourceMatchId(gone), "gone")]
    board.apply(
        batch([match(changed, prices=(9.0, 4.0, 1.3))], removals=removals, bookmaker=ALDER, complete=False),
        batch([match(doubled)], bookmaker=CEDAR),
        batch([match(doubled)], bookmaker=BIRCH),
    )
    board.apply()
    shown = {one.match.source_match_id: one for one in board.fixtures() if BIRCH not in one.entries}

    assert 9.0 == shown[SourceMatchId(changed)].match.home_price
    assert [ALDER, CEDAR] == [*shown[SourceMatchId(doubled)].entries]
    assert SourceMatchId(gone) not in shown
    assert len(NAMES) - 1 == len(shown)


def test_what_waited_is_linked_once_it_has_a_fixture() -> None:
    """The linker hears of each event when it is begun."""
    board = full_board()
    board.apply(batch([match(NAMES[-1], home="Lions")], bookmaker=BIRCH))
    board.apply(batch([match(NAMES[-1], home="Lions")], bookmaker=ALDER, complete=False))
    board.link()

    linked = [[*one.entries] for one in board.fixtures() if len(one.members) > 1]
    assert [[ALDER, BIRCH]] == linked


def test_the_highest_prices_of_a_fixture_fall_with_the_only_one_that_has_them() -> None:
    """After it falls the highest is what any bookmaker lists by now; another may have had the same."""
    board = LinkedBoard()
    for name, prices in ((ALDER, (2.2, 3.4, 3.5)), (BIRCH, (2.1, 3.6, 3.5)), (CEDAR, (2.0, 3.0, 3.4))):
        board.apply(batch([match("1", prices=prices)], bookmaker=name))
    board.link()
    (before,) = board.fixtures()
    board.apply(batch([match("1", prices=(1.9, 3.5, 3.3))], bookmaker=ALDER))
    (lower,) = board.fixtures()
    board.apply(batch([match("1", prices=(1.8, 3.2, 3.2))], bookmaker=BIRCH))
    (lowest,) = board.fixtures()

    assert 3 == len(before.entries)
    assert [Highest(2.2, 3.6, 3.5), Highest(2.1, 3.6, 3.5), Highest(2.0, 3.5, 3.4)] == [
        one.highest for one in (before, lower, lowest)
    ]
