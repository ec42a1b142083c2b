"""Candidates of surebets: when they are due, whatever candidates were added and removed before."""

from __future__ import annotations

from math import inf
from random import Random

import pytest

from actors.core.clock import Instant
from actors.matches.candidates import Candidate, Candidates
from actors.matching.event import FixtureId

TIMES = (1.0, 2.0, 3.0, 4.0, inf)


def _made(random: Random) -> Candidate | None:
    """Return the next state of a fixture: no candidate, or a candidate with any times, often equal."""
    if random.random() < 0.3:
        return None
    return Candidate(0.0, 0.0, random.choice(TIMES), random.choice(TIMES))


@pytest.mark.parametrize("seed", range(20))
def test_first_end_is_that_of_all(seed: int) -> None:
    """The first end of the candidates is right after any changes; without candidates nothing is due."""
    random = Random(seed)
    candidates, known = Candidates(), dict[FixtureId, Candidate]()
    for _ in range(200):
        names = random.sample([FixtureId(f"fx{number}") for number in range(12)], random.randint(1, 12))
        changes = {name: _made(random) for name in names}
        candidates = candidates.changed(changes, 7.0)
        known = {**known, **{name: new for name, new in changes.items() if new is not None}}
        known = {name: old for name, old in known.items() if changes.get(name, old) is not None}

        assert known == candidates.by_fixture
        assert (7.0 if known else inf) == candidates.due
        assert min([candidate.until for candidate in known.values()], default=inf) == candidates.until
        assert min([candidate.kick_off for candidate in known.values()], default=inf) == candidates.kick_off


@pytest.mark.parametrize(
    ("mono", "wall", "is_due"),
    [(9.9, 99.0, False), (10.0, 99.0, True), (9.9, 100.0, True), (12.0, 0.0, True)],
)
@pytest.mark.parametrize(("due", "until"), [(10.0, inf), (12.0, 10.0)])
def test_all_are_due_after_a_second_or_at_an_end(
    mono: float, wall: float, due: float, until: float, *, is_due: bool
) -> None:
    """A surebet that is shown ends when one of its prices is too old, or when the match begins."""
    candidate = Candidate(0.0, 0.0, until, 100.0)
    candidates = Candidates().changed({FixtureId("fx1"): candidate}, due)

    assert is_due == candidates.is_due(Instant(mono, wall))
