"""The simulated world: teams, matches with their goals, and the true probabilities at any time.

Everything depends only on the seed and the time, so that sources which start at different moments see the
same world. Times are whole milliseconds (Unix). Nothing here reads a clock.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import count, cycle, islice
from operator import mul
from random import Random
from typing import TypeAlias

from msgspec import Struct

from actors.sources.simulated.names import CLUBS, LEAGUES, club_names

Triple: TypeAlias = tuple[float, float, float]
"""A number for each outcome, in the order home win, draw, away win."""

_HOUR_MS, _DAY_MS = 3_600_000, 86_400_000
MATCH_MS = 115 * 60_000  # from kick-off to the end: 47 and 53 minutes of play with an interval of 15
_FIRST_HALF_MS, _INTERVAL_MS, _PLAY_MS = 47 * 60_000, 15 * 60_000, 100 * 60_000
_GOAL_PAUSE_MS = 40_000
_TEAMS_OF_A_SLOT, _SLOTS_OF_A_LEAGUE = 3, 7
_SHARE_IN_PLAY = 0.08
_MIN_UPDATE_MS = 100
_PEAK = 0.6  # how strongly kick-offs cluster around their league's hour, below 1
_QUARTER_HOURS = 0.7  # kick-offs with noise below this (range -1 to 1), 85 %, are at full quarters
_HOME_GOALS, _AWAY_GOALS = 1.5, 1.15
MAX_GOALS, _RATE_STEP = 10, 0.002
_DECIDED = 0.99

# The logarithm of a goal rate deviates by a slow drift, by news, and by noise of each update.
_NOISE = 1021  # a prime, so that it is no multiple of other steps
_DRIFT, _DRIFT_MS = 0.15, 3 * _HOUR_MS
_NEWS, _NEWS_MS = 0.07, 6 * _HOUR_MS
_JITTER = 0.01


class Team(Struct, frozen=True, gc=False):
    """A team; `strength` is the log of the factor for its own goals, and the divisor of the opponent's."""

    number: int
    name: str
    strength: float


class Slot(Struct, frozen=True, eq=False, gc=False):
    """A place in the list, with its own teams; its next match is listed when the last match ends."""

    number: int
    league: str
    peak_hour: int
    teams: tuple[Team, ...]
    cycle_ms: int  # the average time between two kick-offs
    phase: float  # shifts its cycles and updates, 0 to 1


class SimulatedMatch(Struct, frozen=True, eq=False, gc=False):
    """A match, with its future goals."""

    slot: Slot
    number: int
    home: Team
    away: Team
    listed_at: int
    kickoff: int
    end: int
    rates: tuple[float, float]  # expected goals of home and away in a whole match
    goals: tuple[tuple[int, int], ...]  # in order: time, and 1 (home) or -1 (away)
    events: tuple[int, ...]  # in order: listing, kick-off, goals, ends of the pauses after goals, end

    def lead(self, at: int) -> int | None:
        """Return home goals minus away goals; None for 40 s after a goal."""
        lead = 0
        for goal, side in self.goals:
            if at < goal:
                break
            if at < goal + _GOAL_PAUSE_MS:
                return None
            lead += side
        return lead

    def score(self, at: int) -> tuple[int, int]:
        """Return the goals of home and away so far."""
        sides = [side for goal, side in self.goals if goal <= at]
        return sides.count(1), sides.count(-1)


class World:
    """The first `slots` places of the world of `seed`; half of the updates concern matches in play."""

    def __init__(self, seed: int, slots: int, updates_per_s: float) -> None:
        self._seed = seed
        draw = Random(f"{seed}/noise")
        self._noise = tuple(draw.uniform(-1.0, 1.0) for _ in range(_NOISE))
        self._slots = tuple(islice(_slots(Random(f"{seed}/world")), slots))
        half_ms = 2 * 1000 * slots / updates_per_s  # time for half of the updates to reach every match
        self._in_play_ms = max(_MIN_UPDATE_MS, round(half_ms * _SHARE_IN_PLAY))
        self._upcoming_ms = max(_MIN_UPDATE_MS, round(half_ms * (1 - _SHARE_IN_PLAY)))

    def fixture(self, slot: int, at: int) -> SimulatedMatch:
        """Return the match that a slot shows at a time."""
        place = self._slots[slot]
        number = at // place.cycle_ms - 2
        while (end := self._kickoff(place, number) + MATCH_MS) <= at:
            number += 1
        kickoff, listed_at = end - MATCH_MS, self._kickoff(place, number - 1) + MATCH_MS
        draw = Random(f"{self._seed}/{slot}/{number}")
        home, away = draw.sample(place.teams, 2)
        advantage = math.exp(home.strength - away.strength)
        rates = _HOME_GOALS * advantage, _AWAY_GOALS / advantage
        goals = [(goal, 1) for goal in _goal_times(draw, kickoff, rates[0])]
        goals += [(goal, -1) for goal in _goal_times(draw, kickoff, rates[1])]
        moments = {kickoff, end, *(goal + pause for goal, _ in goals for pause in (0, _GOAL_PAUSE_MS))}
        events = listed_at, *sorted(moment for moment in moments if moment <= end)
        timed = tuple(sorted(goals))
        return SimulatedMatch(place, number, home, away, listed_at, kickoff, end, rates, timed, events)

    def moments(self, fixture: SimulatedMatch, at: int) -> tuple[int, int]:
        """Return the last change of a match up to `at`, and the next change of its price or state."""
        every = self._in_play_ms if at >= fixture.kickoff else self._upcoming_ms
        updated = at - (at - int(fixture.slot.phase * every)) % every
        following = bisect_right(fixture.events, at)
        return max(updated, fixture.events[following - 1]), min(updated + every, fixture.events[following])

    def probabilities(self, fixture: SimulatedMatch, at: int) -> Triple | None:
        """Return P(home win), P(draw), P(away win); None while no bookmaker would take a bet."""
        lead = fixture.lead(at)
        if lead is None:
            return None
        found = result_probabilities(*self.rates(fixture, at), lead)
        return None if max(found) > _DECIDED else found

    def rates(self, fixture: SimulatedMatch, at: int) -> tuple[float, float]:
        """Return how many more goals home and away are expected to score after `at`."""
        (home_rate, away_rate), left = fixture.rates, share_left(fixture, at)
        own = 74 * fixture.slot.number + 101 * fixture.number
        home_rate *= left * math.exp(self._offset(own, at))
        away_rate *= left * math.exp(self._offset(own + 37, at))
        return home_rate, away_rate

    def _offset(self, own: int, at: int) -> float:
        """Return the log of a goal rate's deviation from its average; `own` identifies the rate."""
        noise = self._noise
        step, rest = divmod(at, _DRIFT_MS)
        before, after = noise[(own + step) % _NOISE], noise[(own + step + 1) % _NOISE]
        period, passed = divmod(at, _NEWS_MS)
        if 2 * passed < (1.0 + noise[(own + 7 * period) % _NOISE]) * _NEWS_MS:
            period -= 1  # before the news of this period
        return (
            _DRIFT * (before + (after - before) * rest / _DRIFT_MS)
            + _NEWS * noise[(own + 11 * period) % _NOISE]
            + _JITTER * noise[(own + at) % _NOISE]
        )

    def _kickoff(self, slot: Slot, number: int) -> int:
        """Return the kick-off of match `number` of a slot, mostly at full quarters near the peak hour."""
        even = (number + slot.phase) * slot.cycle_ms
        # The sine slows the clock near the peak, so that more matches fall there, in the same order.
        turn = 2 * math.pi * (even / _DAY_MS - slot.peak_hour / 24)
        around = even - _PEAK * _DAY_MS / (2 * math.pi) * math.sin(turn)
        is_quarter = self._noise[(13 * slot.number + number) % _NOISE] < _QUARTER_HOURS
        grid = 900_000 if is_quarter else 300_000
        return math.floor(around / grid) * grid


def share_left(fixture: SimulatedMatch, at: int) -> float:
    """Return the remaining share of a match's playing time: 1 before its kick-off, 0 at its end."""
    since = max(at - fixture.kickoff, 0)
    played = min(since, _FIRST_HALF_MS) + max(since - _FIRST_HALF_MS - _INTERVAL_MS, 0)
    return max(0.0, 1.0 - played / _PLAY_MS)


def seen_rate(rate: float, steps: int) -> float:
    """Return a rate, rounded to a multiple of `steps` * 0.002 goals."""
    return round(rate / _RATE_STEP / steps) * steps * _RATE_STEP


def goal_probabilities(rate: float) -> tuple[float, ...]:
    """Return P(goals = n) for n = 0..10 from the expected goals."""
    return _goals(round(rate / _RATE_STEP))[0]


def result_probabilities(home_rate: float, away_rate: float, lead: int) -> Triple:
    """Return P(home win), P(draw), P(away win) from the expected further goals and the lead.

    Goals are independent Poisson variables, each cut off at ten (M. J. Maher, "Modelling association
    football scores", Statistica Neerlandica 36, 1982).
    """
    home_goals, _ = _goals(round(home_rate / _RATE_STEP))
    away_goals, away_fewer = _goals(round(away_rate / _RATE_STEP))
    behind, ahead = max(-lead, 0), min(max(lead, 0), MAX_GOALS + 1)
    home_win = sum(map(mul, home_goals[behind:], away_fewer[ahead:]))
    draw = sum(map(mul, home_goals[behind:], away_goals[ahead:]))
    return home_win, draw, max(0.0, 1.0 - home_win - draw)


@lru_cache(maxsize=4096)
def _goals(steps: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return P(goals = n) for n = 0..10 and P(goals < n) for n = 0..21, for a rate in steps."""
    rate = steps * _RATE_STEP
    weights = [rate**goals / math.factorial(goals) for goals in range(MAX_GOALS + 1)]
    total = sum(weights)
    exactly = tuple(weight / total for weight in weights)
    return exactly, tuple(sum(exactly[:goals]) for goals in range(2 * MAX_GOALS + 2))


def _goal_times(draw: Random, kickoff: int, rate: float) -> Iterator[int]:
    played = draw.expovariate(rate / _PLAY_MS)
    while played < _PLAY_MS:
        yield kickoff + int(played) + (_INTERVAL_MS if played > _FIRST_HALF_MS else 0)
        played += draw.expovariate(rate / _PLAY_MS)


def _slots(draw: Random) -> Iterator[Slot]:
    """Yield slots without end, in each round one slot of every league."""
    clubs = {style: cycle(club_names(style, draw)) for style in CLUBS}
    team_numbers, slot_numbers = count(), count()
    for division in count(1):
        suffix = "" if division == 1 else f", Division {division}"
        leagues: list[tuple[str, int, list[Team]]] = []
        for peak_hour, style, names in LEAGUES:
            for name in names.split(","):
                chosen = islice(clubs[style], _SLOTS_OF_A_LEAGUE * _TEAMS_OF_A_SLOT)
                teams = [Team(next(team_numbers), club, draw.triangular(-0.5, 0.5)) for club in chosen]
                leagues.append((name + suffix, peak_hour, teams))
        for _ in range(_SLOTS_OF_A_LEAGUE):
            for name, peak_hour, teams in leagues:
                own = tuple(teams.pop() for _ in range(_TEAMS_OF_A_SLOT))
                cycle_h = 144.0 / (1 + 10 * draw.random())  # 24 h in the mean of 1 / cycle_h
                yield Slot(next(slot_numbers), name, peak_hour, own, int(cycle_h * _HOUR_MS), draw.random())
