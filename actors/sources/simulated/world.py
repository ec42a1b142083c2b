"""The simulated world: leagues, teams, matches with their goals, and the true probabilities at any time.

Everything follows from the seed and the time alone, so that sources which start at different moments,
or in different processes, see the same world. Times are whole milliseconds (Unix). Nothing here looks
at a clock, or knows about bookmakers. The leagues bear real names; no team exists.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from itertools import count, cycle, islice
from random import Random

from msgspec import Struct

from actors.sources.simulated.prices import Triple, result_probabilities

MATCH_MS = 115 * 60_000
"""From kick-off to the end: 47 and 53 minutes of play with an interval of 15."""

_FIRST_HALF_MS = 47 * 60_000
_INTERVAL_MS = 15 * 60_000
_PLAY_MS = MATCH_MS - _INTERVAL_MS
_GOAL_PAUSE_MS = 40_000
_DAY_MS = 86_400_000
_HOUR_MS = 3_600_000

_TEAMS_OF_A_SLOT = 3
_SLOTS_OF_A_LEAGUE = 7
_SHARE_IN_PLAY = 0.08
_UPDATES_IN_PLAY = 0.5
_MIN_UPDATE_MS = 100
_LONGEST_CYCLE_H = 144.0
_PEAK = 0.6  # how strongly kick-offs gather around the hour of their league, below 1
_QUARTER_HOUR_SHARE = 0.85
_HOME_GOALS, _AWAY_GOALS = 1.5, 1.15
_DECIDED = 0.99

# How far the logarithm of a goal rate is off at most, and how soon that changes: it drifts from one value
# to the next, takes another at news, and another at each update.
_NOISE = 1021  # a prime, so that steps of other lengths do not fall in with it
_DRIFT, _DRIFT_MS = 0.15, 3 * _HOUR_MS
_NEWS, _NEWS_MS = 0.1, 6 * _HOUR_MS
_JITTER = 0.012

# Starts and ends of place names ("_" is a space) and what clubs are called, by style.
_NAMES = {
    "English": "Ark Brin Cor Dray Elver Fen Gorse Harl Kest Oxen Pen Stel Wex/combe garth holt marsh mere"
    " wold/{} Albion,{} Athletic,{} Rovers,{} Town,{} United,{} Wanderers",
    "Latin": "Alme Bra Cala Dora Esta Fuen Gua Luce Mira Olma Pera Sarra Torre/dora lida mora nera rosa"
    " salva vares zuela/Atlético {},CD {},Deportivo {},Real {},Unión {},{} FC",
    "Italian": "Cora Dolce Fia Gala Lira Mela Ora Piave Sera Tiva Vela/gliano mare nza rello sco tina vento"
    "/AC {},Pro {},US {},Virtus {},{} Calcio",
    "German": "Ardels Brunels Dornels Eschels Falkels Grünels Haldels Lindels Rüdels/bach brück feld"
    " furt horst moor tal/FC {},SV {},TSV {},VfL {},{} 09",
    "French": "Aube Bel Chante Fleur Grand Mont Pierre Roche Val/bois champ lac mer pré rive val"
    "/AS {},FC {},Olympique {},Racing {},Stade {}",
    "Dutch": "Aal Brem Dool Hoeve Klaver Meer Polder Wilden/dam dijk loo stede veen zand/FC {},VV {},{}",
    "Nordic": "Bjørk Fjell Grans Hav Lind Myr Ørn Skog Tind/bukt dal heim nes sund vik ås/{} BK,{} IF",
    "American": "Cedar_ Copper_ Granite_ Harbor_ Juniper_ Maple_ Timber_/Bay Falls Point Ridge Springs"
    "/{} City,{} FC,{} SC",
    "Asian": "Haru Kiri Mina Natsu Sora Tsuki Umi Yume/gata hata iwa mori nami shima tani/{} Blaze,{} FC",
}

# Leagues with the style of their names, and the hour (UTC) around which they kick off.
_EUROPE, _AMERICAS, _ASIA = 16, 22, 9
_LEAGUES = (
    (_EUROPE, "English", "Premier League,Championship,League One,Scottish Premiership"),
    (_EUROPE, "Latin", "La Liga,Segunda División,Primeira Liga"),
    (_EUROPE, "Italian", "Serie A,Serie B"),
    (_EUROPE, "German", "Bundesliga,2. Bundesliga,Austrian Bundesliga,Swiss Super League"),
    (_EUROPE, "French", "Ligue 1,Ligue 2,Belgian Pro League"),
    (_EUROPE, "Dutch", "Eredivisie,Eerste Divisie"),
    (_EUROPE, "Nordic", "Allsvenskan,Danish Superliga,Eliteserien"),
    (_AMERICAS, "American", "MLS,USL Championship"),
    (_AMERICAS, "Latin", "Liga MX,Liga Profesional Argentina,Primera División de Chile"),
    (_AMERICAS, "Latin", "Categoría Primera A,Brasileirão Série A,Brasileirão Série B"),
    (_ASIA, "Asian", "J1 League,J2 League,K League 1,Chinese Super League,Thai League 1"),
    (_ASIA, "English", "A-League Men,NPL Victoria"),
)


class Team(Struct, frozen=True, gc=False):
    """A team; `strength` is the logarithm of how it multiplies its own goals and divides the other's.

    `number` is unique in the world.
    """

    number: int
    name: str
    strength: float


class Slot(Struct, frozen=True, eq=False, gc=False):
    """One place in the world's list, with teams of its own that play each other for ever.

    It shows one match at a time: the next one is listed when the last one has ended. `cycle_ms` is the
    average time between two kick-offs, `phase` shifts its cycles and updates (0 to 1).
    """

    number: int
    league: str
    peak_hour: int
    teams: tuple[Team, ...]
    cycle_ms: int
    phase: float


class Fixture(Struct, frozen=True, eq=False, gc=False):
    """One match, with the goals that will fall. It is listed from `listed_at` to `end`.

    `home_rate` and `away_rate` are the goals expected of a whole match, `home_goals` and `away_goals`
    the times of those that fall, in order. `events` are the times at which more changes than a price,
    in order: from its listing over kick-off and goals, with the pauses after them, to its end.
    """

    slot: Slot
    number: int
    home: Team
    away: Team
    kickoff: int
    home_rate: float
    away_rate: float
    home_goals: tuple[int, ...]
    away_goals: tuple[int, ...]
    events: tuple[int, ...]

    @property
    def listed_at(self) -> int:
        """When it is listed first."""
        return self.events[0]

    @property
    def end(self) -> int:
        """When it is over."""
        return self.kickoff + MATCH_MS

    def share_left(self, at: int) -> float:
        """Return the share of the playing time that is still to come: 1 before kick-off, 0 at the end."""
        since = max(at - self.kickoff, 0)
        played = min(since, _FIRST_HALF_MS) + max(since - _FIRST_HALF_MS - _INTERVAL_MS, 0)
        return max(0.0, 1.0 - played / _PLAY_MS)

    def lead(self, at: int) -> int:
        """Return home goals less away goals."""
        return bisect_right(self.home_goals, at) - bisect_right(self.away_goals, at)

    def is_paused(self, at: int) -> bool:
        """Return whether a goal fell less than 40 s ago."""
        return any(goal <= at < goal + _GOAL_PAUSE_MS for goal in self.home_goals + self.away_goals)


class World:
    """The first `slots` places of the world of `seed`; how many are asked for does not change them.

    `updates_per_s` is how many prices move in a second in all, about half of them in play.
    """

    def __init__(self, seed: int, slots: int, updates_per_s: float) -> None:
        self._seed = seed
        draw = Random(f"{seed}/noise")
        self._noise = tuple(draw.uniform(-1.0, 1.0) for _ in range(_NOISE))
        self._slots = tuple(islice(_slots(Random(f"{seed}/world")), slots))
        in_play_ms = 1000 * slots * _SHARE_IN_PLAY / (updates_per_s * _UPDATES_IN_PLAY)
        upcoming_ms = 1000 * slots * (1 - _SHARE_IN_PLAY) / (updates_per_s * (1 - _UPDATES_IN_PLAY))
        self._in_play_ms = max(_MIN_UPDATE_MS, round(in_play_ms))
        self._upcoming_ms = max(_MIN_UPDATE_MS, round(upcoming_ms))

    def fixture(self, slot: int, at: int) -> Fixture:
        """Return the match that a slot shows at a time."""
        place = self._slots[slot]
        number = at // place.cycle_ms - 2
        while self._kickoff(place, number) + MATCH_MS <= at:
            number += 1
        return self._draw(place, number)

    def successor(self, fixture: Fixture) -> Fixture:
        """Return the match that takes the place of one that is over."""
        return self._draw(fixture.slot, fixture.number + 1)

    def next_moment(self, fixture: Fixture, at: int) -> int:
        """Return when a match changes next: its price moves, or what `Fixture.events` says."""
        every = self._in_play_ms if at >= fixture.kickoff else self._upcoming_ms
        updated = at - (at - int(fixture.slot.phase * every)) % every
        return min(updated + every, fixture.events[bisect_right(fixture.events, at)])

    def last_moment(self, fixture: Fixture, at: int) -> int:
        """Return when a match changed last, at `at` or before."""
        every = self._in_play_ms if at >= fixture.kickoff else self._upcoming_ms
        updated = at - (at - int(fixture.slot.phase * every)) % every
        return max(updated, fixture.events[bisect_right(fixture.events, at) - 1])

    def probabilities(self, fixture: Fixture, at: int) -> Triple | None:
        """Return those of home win, draw and away win; None while nobody would take a bet."""
        home_rate, away_rate, lead = fixture.home_rate, fixture.away_rate, 0
        if at >= fixture.kickoff:
            if fixture.is_paused(at):
                return None
            left, lead = fixture.share_left(at), fixture.lead(at)
            home_rate, away_rate = home_rate * left, away_rate * left
        own = 74 * fixture.slot.number + 101 * fixture.number
        home_rate *= math.exp(self._offset(own, at))
        away_rate *= math.exp(self._offset(own + 37, at))
        found = result_probabilities(home_rate, away_rate, lead)
        return None if max(found) > _DECIDED else found

    def _offset(self, own: int, at: int) -> float:
        """Return the logarithm by which a goal rate is off its average; `own` tells rates apart."""
        noise = self._noise
        step, rest = divmod(at, _DRIFT_MS)
        before, after = noise[(own + step) % _NOISE], noise[(own + step + 1) % _NOISE]
        period, passed = divmod(at, _NEWS_MS)
        if 2 * passed < (1.0 + noise[(own + 7 * period) % _NOISE]) * _NEWS_MS:
            period -= 1  # the news of this period is yet to come
        return (
            _DRIFT * (before + (after - before) * rest / _DRIFT_MS)
            + _NEWS * noise[(own + 11 * period) % _NOISE]
            + _JITTER * noise[(own + at) % _NOISE]
        )

    def _kickoff(self, slot: Slot, number: int) -> int:
        """Return the kick-off of the match of that number: mostly at full quarters, around the peak hour.

        The sine slows the clock near the peak, so that more matches fall there; never do two change places.
        """
        even = (number + slot.phase) * slot.cycle_ms
        turn = 2 * math.pi * (even / _DAY_MS - slot.peak_hour / 24)
        around = even - _PEAK * _DAY_MS / (2 * math.pi) * math.sin(turn)
        is_quarter = self._noise[(13 * slot.number + number) % _NOISE] < 2 * _QUARTER_HOUR_SHARE - 1
        grid = 900_000 if is_quarter else 300_000
        return math.floor(around / grid) * grid

    def _draw(self, slot: Slot, number: int) -> Fixture:
        draw = Random(f"{self._seed}/{slot.number}/{number}")
        kickoff = self._kickoff(slot, number)
        home, away = draw.sample(slot.teams, 2)
        home_rate = _HOME_GOALS * math.exp(home.strength - away.strength)
        away_rate = _AWAY_GOALS * math.exp(away.strength - home.strength)
        home_goals, away_goals = _goals(draw, kickoff, home_rate), _goals(draw, kickoff, away_rate)
        listed_at, end = self._kickoff(slot, number - 1) + MATCH_MS, kickoff + MATCH_MS
        pauses = [moment for goal in home_goals + away_goals for moment in (goal, goal + _GOAL_PAUSE_MS)]
        return Fixture(
            slot=slot,
            number=number,
            home=home,
            away=away,
            kickoff=kickoff,
            home_rate=home_rate,
            away_rate=away_rate,
            home_goals=home_goals,
            away_goals=away_goals,
            events=(listed_at, kickoff, *sorted(one for one in pauses if one < end), end),
        )


def _goals(draw: Random, kickoff: int, rate: float) -> tuple[int, ...]:
    goals: list[int] = []
    played = draw.expovariate(rate / _PLAY_MS)
    while played < _PLAY_MS:
        goals.append(kickoff + int(played) + (_INTERVAL_MS if played > _FIRST_HALF_MS else 0))
        played += draw.expovariate(rate / _PLAY_MS)
    return tuple(goals)


def _slots(draw: Random) -> Iterator[Slot]:
    """Go through the slots of ever more divisions, one slot of each league after the other."""
    clubs = {style: cycle(_club_names(style, draw)) for style in _NAMES}
    team_numbers, slot_numbers = count(), count()
    for division in count(1):
        suffix = "" if division == 1 else f", Division {division}"
        leagues: list[tuple[str, int, list[Team]]] = []
        for peak_hour, style, names in _LEAGUES:
            for name in names.split(","):
                chosen = islice(clubs[style], _SLOTS_OF_A_LEAGUE * _TEAMS_OF_A_SLOT)
                teams = [Team(next(team_numbers), club, draw.triangular(-0.5, 0.5)) for club in chosen]
                leagues.append((name + suffix, peak_hour, teams))
        for _ in range(_SLOTS_OF_A_LEAGUE):
            for name, peak_hour, teams in leagues:
                own = tuple(teams.pop() for _ in range(_TEAMS_OF_A_SLOT))
                cycle_h = _LONGEST_CYCLE_H / (1 + 10 * draw.random())  # 24 h in the mean of 1 / cycle_h
                yield Slot(next(slot_numbers), name, peak_hour, own, int(cycle_h * _HOUR_MS), draw.random())


def _club_names(style: str, random: Random) -> list[str]:
    starts, ends, forms = _NAMES[style].split("/")
    places = [(start + end).replace("_", " ") for start in starts.split() for end in ends.split()]
    clubs = [form.format(place) for place in places for form in forms.split(",")]
    random.shuffle(clubs)
    return clubs
