"""What is told of moves, compared with a reckoning from all states that were published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors.archive.lines.movers import AskedMovers, Mover, Movers, read_movers
from actors.archive.past import Days
from actors.lines.line import Moment
from actors.lines.links import of_today
from actors.markets.market import ONE_X_TWO
from actors.matches.fair import Method
from actors.matches.model import fixtures_of
from tests.support.archive.moving import Moving
from tests.support.oracles.naive_lines import Naive
from tests.support.oracles.naive_moves import move, states_of, window

ACTS, WINDOWS = 40, 15
pytestmark = pytest.mark.timeout(300)


def told_of(of: Mover) -> dict[str, Any]:
    """Return what is told of a fixture as the reckoning has it."""
    entries = {
        it.id: (
            it.before,
            it.now,
            None if it.followed is None else (it.followed.version, it.followed.at_ms),
            it.is_compared,
            it.is_first,
        )
        for it in of.followers
    }
    begin = of.move.begin.version, of.move.begin.at_ms
    return {
        "begin": begin,
        "outcome": of.move.outcome,
        "before": of.move.before,
        "after": of.move.after,
        "entries": entries,
    }


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 6, 7])
def test_moves_are_what_a_reckoning_from_all_states_has(tmp_path: Path, seed: int) -> None:
    """Over windows of a life with gaps, restarts, midnights, suspensions, links: of each fixture shown."""
    moving = Moving(tmp_path / "archive", seed)
    for _ in range(ACTS):
        moving.starts = [round(moving.clock.wall) + 100_000 for _ in moving.starts]  # else they leave
        moving.act()
    moving.archive.writer.max_waiting = 10**9
    for name in moving.random.choices([*moving.terms.roster], k=20):
        moving.relist(name)
    for _ in range(50):
        moving.archive.writer.step()
    days = Days(moving.archive.folder, lambda: moving.archive.writer.live_day)
    naive = Naive(moving.archive.folder, days.gaps(days.held()))
    states, newest = states_of(naive), moving.board.newest
    assert states[-1].version == newest.version
    now_ms, fixtures = round(moving.clock.wall * 1000), [*fixtures_of(newest)]
    wrong, count = list[Any](), 0
    for _ in range(WINDOWS):
        from_ms = moving.random.choice(states).at_ms + moving.random.choice((-1, 0, 1, 200))
        last = Moment(newest.version, states[-1].at_ms)
        about = ONE_X_TWO, of_today(moving.terms.roster), Method.POWER
        told = read_movers(days, AskedMovers(from_ms, now_ms, last, 1e-9, *about, fixtures))
        assert isinstance(told, Movers)
        found = {of.fixture.id: told_of(of) for of in told.movers}
        since = window(naive, states, from_ms)
        expected = {of.id: it for of in fixtures if (it := move(since, of.id)) is not None}
        sizes = [abs(of.move.change) for of in told.movers]
        assert sorted(sizes, reverse=True) == sizes
        for of in fixtures:
            ours, theirs = found.get(of.id), expected.get(of.id)
            for chances in ("before", "after") if ours and theirs else ():
                assert ours is not None
                assert theirs is not None
                assert ours.pop(chances) == pytest.approx(theirs.pop(chances))
            wrong += [] if ours == theirs else [(from_ms, of.id, ours, theirs)]
        count += len(expected)
    moving.end(is_orderly=True)

    assert [] == wrong
    assert count > 0
