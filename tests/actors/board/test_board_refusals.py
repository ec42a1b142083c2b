"""The batches that the board refuses: late, outdated and unfounded batches change nothing."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan

import pytest

from actors.board.board import Board
from actors.board.chunks import entries_of
from actors.board.diff import Verdict
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import Batch
from tests.support.builders.boards import START
from tests.support.builders.messages import BOOKMAKER, SCOPE, batch, match
from tests.support.time.virtual import WALL_0

RULES = BoardRules()
EMPTY = Snapshot.empty(1000, (BOOKMAKER,))


def _at(mono: float) -> Instant:
    return Instant(mono, WALL_0 + mono)


def _applied(base: Snapshot, batches: Sequence[Batch], now: Instant) -> tuple[list[Verdict], Snapshot]:
    board = Board(base, RULES)
    return [run_now(board.apply(change, now)).verdict for change in batches], run_now(board.finish(START))


def _after(base: Snapshot, *batches: Batch, mono: float = 0.0) -> Snapshot:
    return _applied(base, batches, _at(mono))[1]


def _verdict(base: Snapshot, change: Batch, mono: float = 0.0) -> Verdict:
    return _applied(base, [change], _at(mono))[0][0]


def _ids(snapshot: Snapshot) -> set[str]:
    return {entry.source_match_id for entry in entries_of(snapshot.books[BOOKMAKER].chunks)}


LISTED = _after(EMPTY, batch([match("a"), match("b")], received_mono=5.0), mono=5.0)


def test_stale_news_ends_a_list_that_would_hold_longer() -> None:
    """A newer list that arrives stale ends the older list, even if that list claimed to hold longer."""
    for mono, left in [(4.0, {"a", "b"}), (6.0, set())]:
        news = batch([match("b")], received_mono=mono, stale_after_s=2.0)
        verdicts, snapshot = _applied(LISTED, [news], _at(8.0))

        assert ([Verdict.LATE], left) == (verdicts, _ids(snapshot))


@pytest.mark.parametrize("matches", [0, 1])
def test_change_without_its_list_is_refused(matches: int) -> None:
    """Confirmations and deltas are unfounded if the board has no list, or another list, in that scope."""
    changes = batch([match("c")][:matches], complete=False, list_id="other", received_mono=6.0)

    assert [Verdict.UNFOUNDED, Verdict.UNFOUNDED] == [_verdict(EMPTY, changes), _verdict(LISTED, changes)]


@pytest.mark.parametrize("is_stale", [True, False])
@pytest.mark.parametrize("matches", [0, 1])
def test_change_of_a_withdrawn_list_is_refused(matches: int, *, is_stale: bool) -> None:
    """A withdrawn list comes back with a complete list only, never with a heartbeat or a delta."""
    board, now = Board(LISTED, RULES), _at(35.0 if is_stale else 6.0)
    run_now(board.expire(now) if is_stale else board.withdraw(BOOKMAKER, SCOPE))
    base = run_now(board.finish(START))
    change = batch([match("c")][:matches], complete=False, received_mono=now.mono)

    verdicts, snapshot = _applied(base, [change], now)

    assert ([Verdict.UNFOUNDED], set()) == (verdicts, _ids(snapshot))
    assert base is snapshot
    assert {"a"} == _ids(_after(base, batch([match("a")], received_mono=now.mono), mono=now.mono))


NUMBERLESS = [
    batch([match("c")], received_mono=6.0, stale_after_s=nan),
    batch([match("c")], received_mono=nan, received_at=WALL_0),
    batch(complete=False, received_mono=6.0, stale_after_s=nan),
    batch(complete=False, received_mono=nan, received_at=WALL_0),
]


@pytest.mark.parametrize("numberless", NUMBERLESS)
@pytest.mark.parametrize("base", [EMPTY, LISTED])
def test_nan_deadline_is_refused(base: Snapshot, numberless: Batch) -> None:
    """NaN is neither before nor after any moment, so nothing on the board would go stale in time."""
    verdicts, snapshot = _applied(base, [numberless], _at(6.0))

    assert ([Verdict.LATE], base.valid_until) == (verdicts, snapshot.valid_until)
    assert base is snapshot


@pytest.mark.parametrize("stale_after_s", [0.0, -1.0, -inf])
def test_list_with_no_lifetime_is_refused(stale_after_s: float) -> None:
    """A list with a `stale_after_s` of zero is stale on arrival and is refused."""
    assert Verdict.LATE is _verdict(EMPTY, batch([match("a")], stale_after_s=stale_after_s))


def test_infinite_lifetime_is_accepted() -> None:
    """A list with an infinite `stale_after_s` never goes stale."""
    verdicts, snapshot = _applied(EMPTY, [batch([match("a")], stale_after_s=inf)], _at(0.0))

    assert ([Verdict.ACCEPTED], inf) == (verdicts, snapshot.valid_until)
