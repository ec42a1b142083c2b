"""What is watched: its times are those of all that stands, whatever came and went."""

from __future__ import annotations

from math import inf
from random import Random

import pytest

from actors.core.clock import Instant
from actors.core.cooperative import SLICE, run_now
from actors.matches.watchlist import Standing, Watchlist
from actors.matching.event import FixtureId
from tests.support.builders.fixtures import ALDER

TIMES = (1.0, 2.0, 3.0, 4.0, inf)


def made(random: Random) -> Standing | None:
    """Return what one may become: nothing, or any times, of which many are alike."""
    if random.random() < 0.3:
        return None
    is_in_play = random.random() < 0.3
    kick_off = random.choice(TIMES[:-1] if is_in_play else TIMES)
    due = inf if is_in_play else random.choice(TIMES)
    return Standing(due, 0.0, 0.0, 0, frozenset([ALDER] * (random.random() < 0.2)), kick_off, is_in_play)


@pytest.mark.parametrize("seed", range(20))
def test_times_are_those_of_all(seed: int) -> None:
    """After any changes: the earliest time and kick-off, the latest in play, and those that are open."""
    random = Random(seed)
    watched, known = Watchlist(), dict[FixtureId, Standing]()
    for _ in range(200):
        names = random.sample([FixtureId(f"fx{number}") for number in range(12)], random.randint(0, 4))
        changes = {name: made(random) for name in names}
        watched = run_now(watched.changed(changes))
        known |= {name: one for name, one in changes.items() if one is not None}
        known = {name: one for name, one in known.items() if changes.get(name, one) is not None}

        assert known == dict(watched.standing)
        assert {name for name, one in known.items() if one.awaited} == watched.open
        assert min([one.due for one in known.values()], default=inf) == watched.due
        ahead = [one.kick_off for one in known.values() if not one.is_in_play]
        begun = [one.kick_off for one in known.values() if one.is_in_play]
        assert (min(ahead, default=inf), max(begun, default=-inf)) == (watched.kick_off, watched.begun)


@pytest.mark.parametrize(
    ("mono", "wall", "is_due"),
    [(9.9, 60.0, False), (10.0, 60.0, True), (9.9, 100.0, True), (9.9, 49.9, True), (9.9, 50.0, False)],
)
def test_any_is_due(mono: float, wall: float, *, is_due: bool) -> None:
    """Because of a deadline, a kick-off, or a wall clock that was set back before one."""
    ones = {
        FixtureId("fx1"): Standing(10.0, 0.0, 0.0, 0, kick_off=100.0),
        FixtureId("fx2"): Standing(inf, inf, 0.0, 0, kick_off=50.0, is_in_play=True),
    }
    watched = run_now(Watchlist().changed(ones))

    assert is_due == watched.is_due(Instant(mono, wall))


def test_many_change_in_slices() -> None:
    """A source with wrong prices makes a surebet of all that it lists: others run meanwhile."""
    many = {FixtureId(f"fx{number}"): Standing(float(number), 0.0, 0.0, 0) for number in range(9 * SLICE)}
    first = next(iter(many))

    assert len([*Watchlist().changed(many)]) >= 9
    watched = run_now(Watchlist().changed(many))
    assert len([*watched.changed({first: None})]) >= 8, "the earliest of the others is searched"
    assert len([*watched.changed(dict.fromkeys(many))]) >= 9
