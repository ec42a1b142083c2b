"""The `updated` time of an entry: when its content changed, by the source's clock or by ours."""

from __future__ import annotations

from actors.board.board import Board
from actors.board.chunks import entries_of
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import Batch
from tests.support.builders.boards import START
from tests.support.builders.messages import BOOKMAKER, batch, match
from tests.support.time.virtual import WALL_0

EMPTY = Snapshot.empty(1000, (BOOKMAKER,))


def _after(base: Snapshot, *batches: Batch) -> Snapshot:
    board = Board(base, BoardRules())
    for change in batches:
        run_now(board.apply(change, Instant(0.0, 0.0)))
    return run_now(board.finish(START))


def _updated(snapshot: Snapshot) -> float:
    (entry,) = entries_of(snapshot.books[BOOKMAKER].chunks)
    return entry.updated


def test_updated_is_the_source_time_up_to_the_receive_time() -> None:
    """`updated` is the source's time if there is one, at most the receive time, to the millisecond."""
    for source_time, received_at, expected in [
        (None, 1000.0, 1000.0),
        (None, 1000.1234, 1000.123),
        (900.0, 1000.0, 900.0),
        (900.98765, 1000.0, 900.988),
        (1000.0, 1000.0, 1000.0),
        (4600.0, 1000.0, 1000.0),  # the source's clock is an hour ahead
        (-2600.0, 1000.0, -2600.0),
    ]:
        snapshot = _after(EMPTY, batch([match(source_time=source_time)], received_at=received_at))

        assert expected == _updated(snapshot), (source_time, received_at)


def test_updated_stays_while_the_content_is_equal() -> None:
    """Only a change of content changes `updated`, whatever the source's refresh time."""
    for again, expected in [
        (match(), 0.0),
        (match(source_time=WALL_0 + 5), 0.0),  # only the refresh time is new
        (match(home="Other"), 9.0),
        (match(home="Other", source_time=WALL_0 + 5), 5.0),
        (match(home="Other", source_time=WALL_0 + 50), 9.0),
        (match(home="Other", source_time=WALL_0 - 50), -50.0),
    ]:
        base = _after(EMPTY, batch([match()]))

        assert WALL_0 + expected == _updated(_after(base, batch([again], received_mono=9.0))), again


def test_restored_content_has_a_new_updated() -> None:
    """A price that changes and changes back is two updates, each with its own time."""
    base = _after(EMPTY, batch([match()]))
    moved = _after(base, batch([match(prices=(2.1, 3.5, 4.0))], received_mono=1.0))
    back = _after(moved, batch([match()], received_mono=2.0))

    assert [WALL_0, WALL_0 + 1, WALL_0 + 2] == [_updated(snapshot) for snapshot in (base, moved, back)]


def test_restored_entry_has_a_new_updated() -> None:
    """An entry that was missing from a published version comes back with a new `updated`."""
    base = _after(EMPTY, batch([match()]))
    gone = _after(base, batch([], received_mono=1.0))

    assert WALL_0 + 2 == _updated(_after(gone, batch([match()], received_mono=2.0)))
