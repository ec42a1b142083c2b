"""The world of the simulated source: leagues, fictional teams, fixtures and their goals.

Below `simulated.py`, of which it is a part. It draws fixtures when asked to, all from one seed; it
does not know what is listed at a moment, nor prices. The leagues bear real names so that a board
looks like one; no team exists.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain, cycle, islice
from random import Random

from msgspec import Struct

MATCH_S = 115 * 60.0
"""From kick-off to the end: 47 and 53 minutes of play with an interval of 15."""

_FIRST_HALF_S = 47 * 60.0
_INTERVAL_S = 15 * 60.0
_PLAY_S = MATCH_S - _INTERVAL_S
_GOAL_PAUSE_S = 40.0

_TEAMS = 20
_ROUND = 240  # matches to 36 leagues: 480 of 720 teams, so that a third is always free
_LEAD_S = 22 * 3600.0  # 115 min in play after 22 h upcoming: a share of 8 %
_PRIME_HOURS = range(11, 21)
_OFF_HOURS_SHARE = 0.4
_QUARTER_HOUR_SHARE = 0.85
_HOME_GOALS, _AWAY_GOALS = 1.5, 1.15

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

# Leagues with the style of their names, and the hours of the day (UTC) at which they kick off.
_EUROPE, _AMERICAS, _ASIA = range(10, 22), range(15, 28), range(3, 14)
_LEAGUES = (
    (_EUROPE, "English", "Premier League,Championship,League One,Scottish Premiership"),
    (_EUROPE, "Latin", "La Liga,Segunda División,Primeira Liga"),
    (_EUROPE, "Italian", "Serie A,Serie B"),
    (_EUROPE, "German", "Bundesliga,2. Bundesliga,Austrian Bundesliga,Swiss Super League"),
    (_EUROPE, "French", "Ligue 1,Ligue 2,Belgian Pro League"),
    (_EUROPE, "Dutch", "Eredivisie,Eerste Divisie"),
    (_EUROPE, "Nordic", "Allsvenskan,Danish Superliga,Eliteserien"),
    (_AMERICAS, "American", "MLS,USL Championship"),
    (
        _AMERICAS,
        "Latin",
        "Liga MX,Liga Profesional Argentina,Primera División de Chile,Categoría Primera A",
    ),
    (_AMERICAS, "Latin", "Brasileirão Série A,Brasileirão Série B"),
    (_ASIA, "Asian", "J1 League,J2 League,K League 1,Chinese Super League,Thai League 1"),
    (_ASIA, "English", "A-League Men,NPL Victoria"),
)


class Team(Struct, frozen=True, gc=False):
    """A team; `strength` is the logarithm of how it multiplies its own goals and divides the other's."""

    name: str
    strength: float


class League(Struct, frozen=True, eq=False, gc=False):
    """A league; `free` holds the teams that no fixture of today has taken, and changes."""

    name: str
    free: list[Team]


class Fixture(Struct, frozen=True, eq=False, gc=False):
    """One match, goals included, from the day that it is drawn. All times are Unix seconds.

    `home_rate` and `away_rate` are the goals expected of a whole match, `home_goals` and
    `away_goals` the times of those that fall, in order.
    """

    slot: int
    league: League
    home: Team
    away: Team
    kickoff: int
    home_rate: float
    away_rate: float
    home_goals: tuple[float, ...]
    away_goals: tuple[float, ...]

    @property
    def end(self) -> float:
        """When it is over."""
        return self.kickoff + MATCH_S

    def left(self, at: float) -> float:
        """Return the share of the playing time that is still to come: 1 before kick-off, 0 at the end."""
        since = at - self.kickoff
        played = min(max(since, 0.0), _FIRST_HALF_S) + max(since - _FIRST_HALF_S - _INTERVAL_S, 0.0)
        return max(0.0, 1.0 - played / _PLAY_S)

    def lead(self, at: float) -> int:
        """Return home goals less away goals."""
        return bisect_right(self.home_goals, at) - bisect_right(self.away_goals, at)

    def is_paused(self, at: float) -> bool:
        """Return whether a goal fell less than 40 s ago."""
        return any(goal <= at < goal + _GOAL_PAUSE_S for goal in self.home_goals + self.away_goals)

    def next_moment(self, at: float) -> float:
        """Return the next time at which it changes by itself: its kick-off, a goal, 40 s later, its end."""
        goals = self.home_goals + self.away_goals
        resumed = (min(goal + _GOAL_PAUSE_S, self.end) for goal in goals)
        return min(moment for moment in (self.kickoff, *goals, *resumed, self.end) if moment > at)


class World:
    """All leagues with their teams, and the fixtures between them; `slots` fixtures at a time.

    A fixture takes two teams, `release` gives them back: no team is listed twice.
    """

    def __init__(self, seed: int, slots: int) -> None:
        self._random = Random(f"{seed}/world")
        self._leagues: list[League] = []
        self._at_hour: list[list[League]] = [[] for _ in range(24)]
        self._found_leagues(math.ceil(slots / _ROUND))

    def draw_in_play(self, slot: int, now: float) -> Fixture:
        """Draw a fixture that is in play at `now`."""
        grid = self._grid()
        since = self._random.uniform(0.0, MATCH_S - grid)
        return self._draw(slot, math.floor((now - since) / grid) * grid)

    def draw_upcoming(self, slot: int, now: float) -> Fixture:
        """Draw a fixture that kicks off after `now`: 22 hours later on the average, mostly by day (UTC)."""
        while True:
            grid = self._grid()
            kickoff = math.floor((now + self._random.expovariate(1 / _LEAD_S)) / grid + 1) * grid
            share = 1.0 if kickoff // 3600 % 24 in _PRIME_HOURS else _OFF_HOURS_SHARE
            if self._random.random() < share:
                return self._draw(slot, kickoff)

    def release(self, fixture: Fixture) -> None:
        """Take back the teams of a fixture that is over."""
        fixture.league.free.extend((fixture.home, fixture.away))

    def _found_leagues(self, divisions: int) -> None:
        names = {style: cycle(_club_names(style, self._random)) for style in _NAMES}
        for division in range(1, divisions + 1):
            suffix = "" if division == 1 else f", Division {division}"
            for hours, style, leagues in _LEAGUES:
                for name in leagues.split(","):
                    self._found_league(name + suffix, hours, names[style])

    def _found_league(self, name: str, hours: range, clubs: Iterator[str]) -> None:
        teams = [Team(club, self._random.triangular(-0.5, 0.5)) for club in islice(clubs, _TEAMS)]
        league = League(name, teams)
        self._leagues.append(league)
        for hour in hours:
            self._at_hour[hour % 24].append(league)

    def _grid(self) -> int:
        return 900 if self._random.random() < _QUARTER_HOUR_SHARE else 300

    def _draw(self, slot: int, kickoff: int) -> Fixture:
        league = self._league_with_teams(kickoff // 3600 % 24)
        home, away = self._take(league.free), self._take(league.free)
        home_rate = _HOME_GOALS * math.exp(home.strength - away.strength)
        away_rate = _AWAY_GOALS * math.exp(away.strength - home.strength)
        home_goals, away_goals = self._goals(kickoff, home_rate), self._goals(kickoff, away_rate)
        return Fixture(slot, league, home, away, kickoff, home_rate, away_rate, home_goals, away_goals)

    def _league_with_teams(self, hour: int) -> League:
        # A few tries at the hour, then anywhere: the third of the teams that is free lies somewhere.
        at_hour = self._at_hour[hour]
        tries = (self._random.choice(at_hour) for _ in range(12))
        first = self._random.randrange(len(self._leagues))
        anywhere = chain(islice(self._leagues, first, None), islice(self._leagues, first))
        return next(league for league in chain(tries, anywhere) if len(league.free) > 1)

    def _take(self, free: list[Team]) -> Team:
        place = self._random.randrange(len(free))
        free[place], free[-1] = free[-1], free[place]
        return free.pop()

    def _goals(self, kickoff: int, rate: float) -> tuple[float, ...]:
        goals: list[float] = []
        played = self._random.expovariate(rate / _PLAY_S)
        while played < _PLAY_S:
            goals.append(kickoff + played + (_INTERVAL_S if played > _FIRST_HALF_S else 0.0))
            played += self._random.expovariate(rate / _PLAY_S)
        return tuple(goals)


def _club_names(style: str, random: Random) -> list[str]:
    starts, ends, forms = _NAMES[style].split("/")
    places = [(start + end).replace("_", " ") for start in starts.split() for end in ends.split()]
    clubs = [form.format(place) for place in places for form in forms.split(",")]
    random.shuffle(clubs)
    return clubs
