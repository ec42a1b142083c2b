"""How a simulated bookmaker sees the world and prices it.

A bookmaker sees each match some seconds late, moves only when the probabilities have moved enough, lays its
margin on unevenly, by opinions of teams that it never changes, and rounds to a ladder of its own. All
of it follows from the seed and its key. A price never exceeds the fair one as the bookmaker sees it, so
that prices of several bookmakers are a certain profit only while one of them lags behind.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from random import Random

from msgspec import Struct

from actors.sources.simulated.prices import FINE, FRACTIONAL, TIERED, Ladder, Triple
from actors.sources.simulated.world import Fixture

LAG_STEP_MS = 100
"""Lags are multiples of this."""

MAX_LAG = 150
"""No bookmaker sees a match later than so many steps."""

_KEY = re.compile(r"(sharp|standard|wide)(-[0-9]{1,3})?")
_DRAWS = 1021


class Style(Struct, frozen=True):
    """What bookmakers of one style have in common.

    `margin` is the book sum less 1 before rounding, `opinion` how unevenly it is spread (0 to 1), `lag`
    the shortest and longest delay of a match in steps. It moves a price when the probability has moved
    by one of `steps` equal parts of 1.
    """

    margin: float
    opinion: float
    lag: tuple[int, int]
    steps: int
    ladder: Ladder


_STYLES = {
    "sharp": Style(0.0245, 0.15, (2, 15), 2048, FINE),
    "standard": Style(0.052, 0.96, (20, 60), 512, TIERED),
    "wide": Style(0.069, 0.995, (50, MAX_LAG), 512, FRACTIONAL),
}


class Bookmaker:
    """The bookmaker of one key in the world of `seed`.

    Raises: ValueError, saying what was found and what is allowed, for a key of another form.
    """

    def __init__(self, key: str, seed: int) -> None:
        found = _KEY.fullmatch(key)
        if found is None:
            raise ValueError(
                f"key was {key!r}, must be sharp, standard or wide, "
                "optionally with a hyphen and a number of one to three digits (standard-2)"
            )
        self.key = key
        self._style = _STYLES[found[1]]
        draw = Random(f"{seed}/{key}")
        self._draws = tuple(draw.random() for _ in range(_DRAWS))
        shortest, longest = self._style.lag
        self._lags = tuple(round(shortest + one * (longest - shortest)) for one in self._draws)

    def lag(self, slot: int) -> int:
        """Return the steps after which it sees what happens to the matches of a slot."""
        return self._lags[slot % _DRAWS]

    def covers(self, fixture: Fixture, share: float) -> bool:
        """Return whether the match is in the `share` (0 to 1) of matches that it lists."""
        return self._draws[(17 * fixture.slot.number + 5 * fixture.number) % _DRAWS] < share

    def opinion(self, fixture: Fixture) -> Triple:
        """Return the weights by which its margin is spread over the outcomes, each above 0."""
        home, away = self._weight(7 * fixture.home.number), self._weight(7 * fixture.away.number + 3)
        return home, self._weight(3 * fixture.slot.number + 11 * fixture.number), away

    def estimate(self, fair: Triple) -> Triple:
        """Return the fair probabilities as it sees them: in whole steps, at least half of one."""
        steps = self._style.steps
        return round(fair[0] * steps) or 0.5, round(fair[1] * steps) or 0.5, round(fair[2] * steps) or 0.5

    def quote(self, estimate: Triple, opinion: Triple) -> Triple:
        """Return its decimal prices, each from 1.01 to 201, for such an estimate."""
        home, draw, away = estimate
        home_weight, draw_weight, away_weight = opinion
        total, ladder = home + draw + away, self._style.ladder
        margin = self._style.margin * total / (home * home_weight + draw * draw_weight + away * away_weight)
        home_price = total / (home * (1.0 + margin * home_weight))
        draw_price = total / (draw * (1.0 + margin * draw_weight))
        away_price = total / (away * (1.0 + margin * away_weight))
        return (  # rounded down to the ladder; its lowest price is the least
            ladder[bisect_right(ladder, home_price, 1) - 1],
            ladder[bisect_right(ladder, draw_price, 1) - 1],
            ladder[bisect_right(ladder, away_price, 1) - 1],
        )

    def _weight(self, number: int) -> float:
        leaning = 2.0 * self._draws[number % _DRAWS] - 1.0  # it has an opinion of nearly everything
        return 1.0 + self._style.opinion * math.copysign(0.8 + 0.2 * abs(leaning), leaning)
