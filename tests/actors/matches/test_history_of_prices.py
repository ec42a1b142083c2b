"""The board alone decides which events are one match, whatever the prices were before."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest

from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Match, SourceName
from actors.matches.linking import Linking
from actors.matches.model import BookmakerInfo, FixtureSettings, roster_of
from actors.matching.matcher import Matcher
from actors.matching.overrides import Overrides
from tests.support.builders.events import SATURDAY, any_event
from tests.support.builders.fixtures import LinkedBoard
from tests.support.builders.messages import batch, match
from tests.support.time.virtual import WALL_0

NAMES = [f"s{number}" for number in range(5)]
TERMS = FixtureSettings(roster_of({BookmakerId(name): BookmakerInfo(SourceName(name)) for name in NAMES}))
Listed = dict[str, dict[str, Match]]


class Board(LinkedBoard):
    """A board of five sources that the real matcher links."""

    def __init__(self) -> None:
        super().__init__(TERMS)
        self.linking = Linking(Matcher(Overrides()), TERMS.roster)

    def show(self, listed: Listed) -> None:
        """List these matches, and no other matches."""
        some = [batch(of.values(), bookmaker=name, is_image=True) for name, of in listed.items()]
        self.apply(*some)
        self.link()

    def look_again(self) -> None:
        """Look again for links that other prices may allow, and for links that follow from these."""
        for _ in range(5):
            self.links = run_now(self.linking.update(self.state, (), look_again=True))
            while self.links:
                self.publish_links()
            self.link()

    def grouped(self) -> set[frozenset[str]]:
        """Return the events of each fixture."""
        return {frozenset(str(member.key) for member in fixture.members) for fixture in self.state}


def _listed(random: Random) -> Listed:
    listed: Listed = {name: {} for name in NAMES}
    for event in (any_event(random) for _ in range(25)):
        chances = event.chances or (0.3, 0.3, 0.4)
        listed[event.source][event.source_match_id] = match(
            event.source_match_id,
            home=event.home,
            away=event.away,
            league=event.league,
            start_time=None
            if event.start_time is None
            else int(event.start_time - SATURDAY + WALL_0 + 86_400),
            prices=(1 / chances[0], 1 / chances[1], 1 / chances[2]),
        )
    return listed


def _with_other_prices(random: Random, listed: Listed) -> Listed:
    """Return the same matches, some with the prices of other matches."""
    every = [shown_match for of in listed.values() for shown_match in of.values()]
    found: Listed = {}
    for name, of in listed.items():
        found[name] = dict(of)
        for match_id in random.sample(sorted(of), len(of) // 2):
            given = random.choice(every)
            found[name][match_id] = msgspec.structs.replace(
                of[match_id],
                home_price=given.home_price,
                draw_price=given.draw_price,
                away_price=given.away_price,
            )
    return found


@pytest.mark.parametrize("seed", [*range(30), 373, 557])
def test_fixtures_are_those_of_a_board_that_began_with_the_prices_of_now(seed: int) -> None:
    """Prices that agree now make links; prices that part, or that let a rival event in, end links."""
    random = Random(seed)
    listed = _listed(random)
    board = Board()
    board.show(listed)
    for _ in range(4):
        listed = _with_other_prices(random, listed)
        board.show(listed)
    board.look_again()
    fresh = Board()
    fresh.show(listed)

    assert fresh.grouped() == board.grouped()


@pytest.mark.parametrize(
    ("other", "parted"),
    [
        # Leagues that are known to differ, at one minute: linked while the prices are not off.
        ({"home": "Bromley", "away": "Wimbledon", "league": "League Two"}, (2.75, 3.3, 2.5)),
        # Only one name is alike, the leagues are unknown: linked while the prices agree.
        ({"home": "Bromley", "away": "Wimbledon FC Town", "league": None}, (2.6, 3.3, 2.6)),
    ],
)
def test_link_ends_in_the_version_in_which_prices_part_beyond_the_condition_that_holds(
    other: dict[str, Any], parted: tuple[float, float, float]
) -> None:
    """The link ends there already, not only at the widest gap that any condition of its rule allows."""
    start = int(WALL_0 + 86_400)
    first = match("1", home="Bromley", away="Wimbledon", league="EFL Cup", start_time=start)
    second = match("1", start_time=start, **other)
    board = Board()
    board.show({"s0": {"1": first}, "s1": {"1": second}})
    linked = board.grouped()
    home, draw, away = parted
    moved = msgspec.structs.replace(second, home_price=home, draw_price=draw, away_price=away)
    board.apply(batch([moved], bookmaker="s1", is_image=True))

    assert ({frozenset({"s0:1", "s1:1"})}, 2) == (linked, len(board.grouped()))
