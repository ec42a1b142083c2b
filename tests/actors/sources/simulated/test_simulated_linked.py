"""The matches of the simulated world are linked, whatever the spelling of the sources that list them."""

from __future__ import annotations

import pytest

from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import Match
from actors.matching.event import Event
from actors.sources.simulated.kind import KIND, SimulatedOptions
from actors.sources.simulated.names import Spelling
from tests.support.builders.events import event, groups

WALL = 1_763_820_000.0  # a Saturday, 14:00 UTC
KEYS = {Spelling.PLAIN: "sharp", Spelling.FORMAL: "standard", Spelling.SHORT: "wide"}


def _listed(spelling: Spelling, seed: int) -> list[Event]:
    """Return the matches that a source lists, in the order of the world."""
    options = SimulatedOptions(kind="simulated", seed=seed, matches=240, spelling=spelling)
    machine = KIND.start(options, (KEYS[spelling],), Instant(0.0, WALL))
    run_now(machine.advance(Instant(0.0, WALL)))
    return [_event(spelling, match) for match in machine.image()[KEYS[spelling]].matches]


def _event(spelling: Spelling, match: Match) -> Event:
    home, draw, away = 1 / match.home_price, 1 / match.draw_price, 1 / match.away_price
    total = home + draw + away
    return event(
        spelling.value,
        match.home,
        match.away,
        match.league,
        match_id=match.source_match_id,
        start=match.start_time,
        chances=(home / total, draw / total, away / total),
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_each_match_of_the_demo_is_one_fixture(seed: int) -> None:
    """The three sources of the default configuration have a spelling each; some names are missing."""
    every = [_listed(spelling, seed) for spelling in KEYS]
    named = [
        together
        for together in zip(*every, strict=True)
        if all(listed.home and listed.away for listed in together)
    ]
    found = groups(*(listed for together in named for listed in together))

    assert {frozenset(listed.key for listed in together) for together in named} == {
        frozenset(member.key for member in group) for group in found
    }
