"""Pairs of two matches that look like one, made of the shipped tables of clubs, leagues and marks.

A case has a match of one source, another match of a second source that looks like the first, and perhaps a
true partner of the first, from the second or a third source. Kick-offs are possible for two such matches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from actors.core.cooperative import run_now
from actors.matching.event import Chances, Event
from actors.matching.matcher import Matcher
from actors.matching.overrides import Overrides
from actors.matching.rules import Certainty
from actors.naming.data import rows
from actors.naming.names import parse
from actors.naming.tables import clubs_by_country, clubs_in, country_of
from actors.naming.team_class import FIRST, of_league
from tests.support.builders.events import SATURDAY, event
from tests.support.labelled import SPELLINGS
from tests.support.lookalikes import Lookalike, lookalike

HOUR, DAY = 3600, 86_400
FEWEST_CLUBS = 4
_MOMENTS = (0, 0, 0, 60, -300, 300, 900, -900, HOUR, -2 * HOUR, DAY, -DAY)

Clubs = dict[str, list[list[str]]]


class Game(Struct, frozen=True):
    """A match: the spellings of both teams, and the label of its league without the country.

    `mark` is formatted with each name; `is_told_by_league` if only the label distinguishes the match.
    """

    country: str
    home: list[str]
    away: list[str]
    league: str
    start: int = SATURDAY
    chances: Chances = (0.4, 0.3, 0.3)
    mark: str = "{}"
    is_told_by_league: bool = False

    def listed(self, random: Random, source: str, match_id: str, *, says_country: bool = False) -> Event:
        """Return the match as a source may list it: in any spelling; with a long, a short or no label.

        With `says_country` the label has the country.
        """
        country = self.country.replace("-", " ").title()
        labels = [f"{country} - {self.league}" if country else self.league, self.league]
        if not self.is_told_by_league:
            labels.append("")
        home, away = (self.mark.format(random.choice(team)) for team in (self.home, self.away))
        label = (labels[0] if says_country else random.choice(labels)) or None
        moved = random.choice((0.0, 0.0, 0.01, -0.01))
        chances = self.chances[0] + moved, self.chances[1], self.chances[2] - moved
        return event(source, home, away, label, match_id=match_id, start=self.start, chances=chances)


class Case(Struct, frozen=True):
    """The events of a case; the event of source b with the id `other` is another match than the others."""

    kind: str
    events: tuple[Event, ...]


class Judged(Struct, frozen=True):
    """The result of a linker for a case.

    `is_wrong` if it linked the other match, `is_sure` if a surebet may rest on this link; `is_found` if it
    linked the true partner, None if the true partner is not listed.
    """

    case: Case
    is_found: bool | None
    is_wrong: bool
    is_sure: bool

    def __str__(self) -> str:
        """Return a line for a report."""
        listed = [
            f"{shown.source} {shown.home} v {shown.away}, {shown.league}, {shown.start_time}"
            for shown in self.case.events
        ]
        return f"{self.case.kind}, {'sure' if self.is_sure else 'likely'}: {' | '.join(listed)}"


def judged(case: Case) -> Judged:
    """Return the result of a linker for a case."""
    groups = run_now(Matcher(Overrides()).update(case.events)).groups
    certain = {str(member.key): member.certainty for group in groups for member in group}
    partner = [str(shown.key) for shown in case.events[2:]]
    return Judged(
        case,
        partner[0] in certain if partner else None,
        "b:other" in certain,
        certain.get("b:other", Certainty.LIKELY) is not Certainty.LIKELY,
    )


def pair_of(random: Random) -> tuple[str, Game, Game]:
    """Return a kind, a match, and another that looks like it; all chances are equal."""
    kind = random.choice([*KINDS])
    game, other = KINDS[kind](random)
    shift = random.uniform(-0.2, 0.2)
    chances = 0.4 + shift, 0.28, 0.32 - shift
    return kind, replace(game, chances=chances), replace(other, chances=chances)


def games_of(pair: Lookalike) -> tuple[Game, Game]:
    """Return the matches of a lookalike; each match has one spelling and one label."""
    first, other = (
        Game(
            "",
            [shown.home],
            [shown.away],
            shown.label or "",
            SATURDAY + shown.late_s,
            is_told_by_league=True,
        )
        for shown in (pair.first, pair.other)
    )
    return first, other


def _lookalikes(random: Random) -> tuple[Game, Game]:
    """Other marks, namesakes, friendlies, other markets: all are made independently of the linker."""
    pair = lookalike(random)
    return _lookalikes(random) if pair.may_be_linked else games_of(pair)


def case_of(random: Random) -> Case:
    """Return a random case of any kind."""
    kind, game, other = pair_of(random)
    events = [game.listed(random, "a", "match"), other.listed(random, "b", "other")]
    if (partner := random.choice(("", "b", "c"))) != "":
        events.append(game.listed(random, partner, "match"))
    return Case(kind, tuple(events))


@lru_cache(maxsize=1)
def _texts() -> dict[str, list[str]]:
    """Return names and labels written by hand, without a look at the tables."""
    lines = (SPELLINGS / "adversary.tsv").read_text("utf-8").splitlines()[1:]
    return {kind: texts.split("|") for kind, _, texts in (line.partition("\t") for line in lines)}


@lru_cache(maxsize=1)
def _clubs() -> Clubs:
    """Return the spellings of each club by country, without spellings that name several clubs there."""
    found: Clubs = {}
    for country, clubs in clubs_by_country().items():
        named = [
            sorted(
                name.text.title()
                for name in names
                if len(clubs_in(country, name)) == 1 and parse(name.text).team == FIRST
            )
            for names in clubs.values()
        ]
        if len(kept := [names for names in named if names]) >= FEWEST_CLUBS:
            found[country] = kept
    return found


@lru_cache(maxsize=1)
def _leagues() -> dict[str, list[str]]:
    """Return the names of competitions of first teams by country, one name of each competition."""
    found: dict[str, list[str]] = defaultdict(list)
    for _, country, *labels, others in rows("leagues_seed.tsv"):
        names = [name.lstrip("=") for name in (labels[0], *others.split("|")) if name]
        if country and names and of_league(names[0].lower(), country) == FIRST:
            found[country].append(names[0])
    return found


def _game(random: Random) -> Game:
    country = random.choice([*_clubs()])
    home, away = random.sample(_clubs()[country], 2)
    league = random.choice(_leagues().get(country) or ["Premier League"])
    return Game(country, home, away, league)


@lru_cache(maxsize=1)
def _by_word() -> dict[str, dict[str, list[list[str]]]]:
    """Return the clubs by country and word of a spelling."""
    found: dict[str, dict[str, list[list[str]]]] = {}
    for country, clubs in _clubs().items():
        words: dict[str, list[list[str]]] = defaultdict(list)
        for club in clubs:
            for word in {word for name in club for word in parse(name).words}:
                words[word].append(club)
        found[country] = words
    return found


def _like(random: Random, country: str, *clubs: list[str]) -> list[str]:
    """Return another club of a country, if possible with a word of the first of `clubs`."""
    words = sorted({word for name in clubs[0] for word in parse(name).words})
    alike = [club for word in words for club in _by_word()[country].get(word, []) if club not in clubs]
    return random.choice(alike or [club for club in _clubs()[country] if club not in clubs])


def _crossed(random: Random) -> tuple[Game, Game]:
    """Home and away are the other way round, mostly in derbies, whose names resemble each other."""
    game = _game(random)
    game = replace(game, away=_like(random, game.country, game.home))
    late = random.choice((0, 0, 0, 300, DAY, 3 * DAY))
    return game, replace(game, home=game.away, away=game.home, start=SATURDAY + late)


def _neighbours(random: Random) -> tuple[Game, Game]:
    """Two matches of one league at one minute, whose teams have words in common."""
    game = _game(random)
    home = _like(random, game.country, game.home, game.away)
    away = _like(random, game.country, game.away, game.home, home)
    return game, replace(game, home=home, away=away)


@lru_cache(maxsize=1)
def _marks() -> list[tuple[str, str, str]]:
    """Return the marks of class: where they stand, the mark as it may be written, its country."""
    return [
        (place, mark.replace("*", "").replace("_", " ").replace("#", "5"), country)
        for _, place, marks, country, _ in rows("marks.tsv")
        for mark in marks.split("|")
        if place != "own"
    ]


_IN_NAMES = {"name": "{{}} {}", "last": "{{}} {}", "brackets": "{{}} ({})"}
_BY_HAND = ("{} U19", "{} U-21", "{} Under 23", "{} Sub 20", "Jong {}", "{}-2", "{} (Kodak) Esports")


def _other_class(random: Random) -> tuple[Game, Game]:
    """Women, youth, reserves, simulated, other markets: names or only the label have a mark."""
    game = _game(random)
    start = SATURDAY + random.choice(_MOMENTS)
    chance = random.random()
    if chance < 0.1:
        return game, replace(game, mark=random.choice(_BY_HAND), start=start)
    if chance < 0.2:  # one team alone has a mark, as in cups with reserve teams
        mark = random.choice(_BY_HAND)
        return game, replace(game, home=[mark.format(name) for name in game.home], start=start)
    if chance < 0.5:
        league = random.choice(_texts()["another class"])
        return game, replace(game, league=league, start=start, is_told_by_league=True)
    place, mark, country = random.choice([mark for mark in _marks() if mark[2] in {"", game.country}])
    if place != "label":
        return game, replace(game, mark=_IN_NAMES[place].format(mark), start=start)
    league = mark if country or random.random() < 0.5 else f"{game.league} {mark}"
    return game, replace(game, league=league.title(), start=start, is_told_by_league=True)


@lru_cache(maxsize=1)
def _namesakes() -> list[tuple[tuple[str, str], list[str]]]:
    """Return two countries, and the names that clubs of both countries have."""
    of: dict[str, set[str]] = defaultdict(set)
    for country, clubs in _clubs().items():
        for club in clubs:
            for name in club:
                of[name].add(country)
    pairs: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, countries in of.items():
        for a in countries:
            for b in countries:
                if a < b:
                    pairs[a, b].append(name)
    return [(pair, names) for pair, names in pairs.items() if len(names) > 1]


def _of_two_countries(random: Random) -> tuple[Game, Game]:
    """Both teams, or the home team alone, have namesakes abroad; away teams then have a word in common."""
    countries, names = random.choice(_namesakes())
    home, away = random.sample(names, 2)
    a, b = random.sample(countries, 2)
    game, other = (
        Game(country, [home], [away], random.choice(_leagues().get(country) or ["Premier League"]))
        for country in (a, b)
    )
    if random.random() < 0.5:
        return game, other
    club = next(club for club in _clubs()[a] if away in club)
    return replace(game, away=club), replace(other, away=_like(random, b, club))


_CUPS = ("Cup", "FA Cup", "League Cup", "Super Cup", "Copa", "Coupe Nationale", "Pokal", "Play-Offs")


def _two_competitions(random: Random) -> tuple[Game, Game]:
    """The same teams meet again days later in a cup, or on one day in friendlies."""
    game = _game(random)
    if random.random() < 0.2:
        game = replace(game, league="Club Friendlies", is_told_by_league=True)
        return game, replace(game, start=SATURDAY + random.choice((45 * 60, HOUR, 3 * HOUR)))
    late = random.choice((-1, 1)) * random.choice((44 * HOUR, 2 * DAY, 3 * DAY, 4 * DAY))
    cup = random.choice(_CUPS)
    return game, replace(game, league=cup, start=SATURDAY + late)


def _placeholders(random: Random) -> tuple[Game, Game]:
    """The names of the teams are not known yet: a placeholder may be this team, or another team."""
    game = _game(random)
    third = random.choice(random.choice(_clubs()[game.country]))

    def unknown() -> str:
        return random.choice(_texts()["placeholder"]).format(random.choice(game.away), third)

    home = random.choice((game.home, game.home, [unknown()]))
    return game, replace(game, home=home, away=[unknown()])


def _two_placeholders(random: Random) -> tuple[Game, Game]:
    """No team of either match is known; the matches are in cups of two countries."""
    home, away = random.choice(_texts()["two placeholders"]).split(" v ")
    a, b = random.sample([*_clubs()], 2)
    cup = random.choice(_CUPS)
    return Game(a, [home], [away], cup), Game(b, [home], [away], cup)


def _boosted(random: Random) -> tuple[Game, Game]:
    """The match again with a price for small stakes."""
    game = _game(random)
    league = random.choice(_texts()["boosted"]).format(game.league)
    return game, replace(game, league=league, is_told_by_league=True)


def _nations(random: Random) -> tuple[Game, Game]:
    """Matches of nations: of other countries, with home and away crossed, or of another class."""
    names = sorted({country.replace("-", " ").title() for country, *_ in rows("countries.tsv")})
    home, away = random.sample([name for name in names if country_of(parse(name))], 2)
    game = Game("", [home], [away], random.choice(("World Cup", "Friendlies", "Nations League")))
    if random.random() < 0.5:
        return game, replace(game, home=[away], away=[home])
    return game, replace(game, mark=random.choice((*_BY_HAND, "{} W", "{} Women", "{} (W)", "{} B")))


KINDS: dict[str, Callable[[Random], tuple[Game, Game]]] = {
    "crossed": _crossed,
    "neighbours": _neighbours,
    "another class": _other_class,
    "two countries": _of_two_countries,
    "two competitions": _two_competitions,
    "placeholders": _placeholders,
    "two placeholders": _two_placeholders,
    "boosted": _boosted,
    "nations": _nations,
    "lookalike": _lookalikes,
}
