"""The prices of matches that have kicked off: when they are too old, and how they come back."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from actors.board.board import Board
from actors.board.chunks import entries_of
from actors.board.snapshot import RemovalReason, Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import Batch, Match
from tests.support.builders.boards import ALDER, EMPTY, START
from tests.support.builders.messages import SCOPE, batch, match
from tests.support.time.virtual import WALL_0

RULES = BoardRules()
KICK_OFF = int(WALL_0) - 900
IN_PLAY, LATER = match("in-play", start_time=KICK_OFF), match("later")
BOTH, LEFT = ["in-play", "later"], ["later"]


def _vouched(age_s: float, kick_off: int = KICK_OFF, now: Instant = START) -> Match:
    """Return a match in play whose source vouched for its price `age_s` ago."""
    return match("in-play", start_time=kick_off, source_time=now.wall - age_s)


def _list(*matches: Match, now: Instant = START, **fields: Any) -> Batch:
    """Return a list that is received at `now`, by the source's clock as well, and holds for hours."""
    made = batch(matches, received_mono=now.mono, received_at=now.wall, stale_after_s=10_000.0)
    return msgspec.structs.replace(made, **{"answered_at": now.wall, **fields})


def _confirmation(now: Instant) -> Batch:
    return _list(now=now, complete=False)


def _later(by_s: float) -> Instant:
    return Instant(by_s, WALL_0 + by_s)


def _after(base: Snapshot, change: Batch | None, now: Instant) -> Snapshot:
    """Return the board after a turn at `now`."""
    board = Board(base, RULES)
    run_now(board.expire(now))
    if change is not None:
        run_now(board.apply(change, now))
    return run_now(board.finish(START))


def _shown(snapshot: Snapshot) -> list[str]:
    return [entry.source_match_id for entry in entries_of(snapshot.books[ALDER].chunks)]


def test_price_in_play_leaves_as_stale_at_its_age() -> None:
    """An entry in play leaves 60 s after its last confirmation; a match that has not begun stays."""
    base = _after(EMPTY, _list(IN_PLAY, LATER), START)

    at_last = _after(base, None, _later(59.999))
    gone = _after(at_last, None, _later(60.0))

    assert (BOTH, LEFT) == (_shown(at_last), _shown(gone))
    assert {"in-play": RemovalReason.STALE} == gone.differences[ALDER].reasons
    assert (60.0, base.version + 1) == (base.valid_until, gone.version)


def test_price_in_play_that_arrives_old_is_not_shown() -> None:
    """By the source's time the price is 12 minutes old when it arrives, so no reader ever sees it."""
    snapshot = _after(EMPTY, _list(_vouched(720.0), LATER), START)

    assert (LEFT, EMPTY.version + 1) == (_shown(snapshot), snapshot.version)


@pytest.mark.parametrize(("age_s", "after_s"), [(0.0, 60.0), (50.0, 10.0), (-30.0, 60.0)])
def test_own_time_of_the_source_counts_where_it_is_earlier(age_s: float, after_s: float) -> None:
    """The age begins at the source's own time, or at the receipt if that is earlier."""
    base = _after(EMPTY, _list(_vouched(age_s), LATER), START)

    before, gone = (_shown(_after(base, None, _later(after_s + by))) for by in (-0.001, 0.001))

    assert (BOTH, LEFT) == (before, gone)


def test_list_whose_own_prices_are_old_is_held() -> None:
    """Receiving the list again would not show the match, either, so a conditional poll is as good."""
    base = _after(EMPTY, _list(_vouched(720.0), LATER), START)

    held = [base.holds(ALDER, SCOPE, batch().list_id, wall, 10) for wall in (WALL_0, WALL_0 - 3600.0)]

    assert [True, False] == held, "with the clock set back it may be a match to come"


def test_newer_list_with_an_older_time_takes_the_price_off() -> None:
    """A newer list can say that the source refreshed nothing: the price counts as that old and leaves."""
    base = _after(EMPTY, _list(_vouched(5.0), LATER), START)
    now = _later(57.0)

    snapshot = _after(base, _list(_vouched(62.0, now=now), LATER, now=now), now)

    assert (BOTH, LEFT) == (_shown(base), _shown(snapshot))


def test_change_of_a_price_is_as_old_as_its_receipt() -> None:
    """A delta brings a new price, so the age that the list gave the old price does not count."""
    base = _after(EMPTY, _list(_vouched(50.0), LATER), START)
    change = _list(
        match("in-play", start_time=KICK_OFF, prices=(2.1, 3.5, 4.0)),
        now=_later(5.0),
        complete=False,
        answered_at=None,
    )
    changed = _after(base, change, _later(5.0))

    assert [BOTH, LEFT] == [_shown(_after(changed, None, _later(at))) for at in (64.9, 65.0)]


def test_delay_of_the_source_is_added_to_the_age() -> None:
    """If a source says that it holds prices back for 20 s, they are 20 s older than their confirmation."""
    base = _after(EMPTY, _list(IN_PLAY, LATER, delay_s=20.0), START)

    assert [BOTH, LEFT] == [_shown(_after(base, None, _later(at))) for at in (39.9, 40.0)]


def test_delay_counts_for_staleness() -> None:
    """A list gets stale earlier by its delay; a list that is too old by its delay is refused."""
    base = _after(EMPTY, _list(LATER, delay_s=20.0, stale_after_s=30.0), START)
    refused = _after(EMPTY, _list(LATER, delay_s=30.0, stale_after_s=30.0), START)

    assert [LEFT, []] == [_shown(_after(base, None, _later(at))) for at in (9.9, 10.0)]
    assert [] == _shown(refused)


def test_longer_delay_makes_all_prices_of_the_list_older() -> None:
    """A confirmation with a longer delay removes the prices that are too old by that delay."""
    base = _after(EMPTY, _list(IN_PLAY, LATER), START)
    confirmation = msgspec.structs.replace(_confirmation(_later(1.0)), delay_s=180.0)

    assert LEFT == _shown(_after(base, confirmation, _later(1.0)))
