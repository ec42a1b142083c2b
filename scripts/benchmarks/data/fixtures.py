"""What many sources list: the same matches, each in its own spelling, or each those of its own world."""

from __future__ import annotations

from random import Random

from actors.core.messages import Match, SourceMatchId
from actors.matching.event import Chances
from actors.matching.tables import rows, spellings
from scripts.benchmarks.data.boards import NOW, matches

HOUR = 3600
KICK_OFFS = (12, 15, 15, 15, 17, 19, 20)  # o'clock
LEAGUE = 16  # clubs of a country, at least
RESPELLED = 0.1  # the share of names in no table
EARLY = 0.02  # the share of kick-offs that are a minute off
MARGIN = 1.05


def one_world(sources: int, count: int) -> list[list[Match]]:
    """Return by source what it lists of the same `count` matches of one week."""
    random, monday = Random(0), int(NOW.wall) // (24 * HOUR) * 24 * HOUR + 24 * HOUR
    by_country: dict[str, list[list[str]]] = {}
    for row in rows("clubs.tsv"):
        by_country.setdefault(row[0], []).append(spellings(row))
    countries = [country for country, clubs in by_country.items() if len(clubs) >= LEAGUE]
    listed: list[tuple[str, list[str], list[str], int, Chances]] = []
    free: dict[tuple[str, int], list[list[str]]] = {}  # no club plays twice on a day
    met: set[tuple[str, str]] = set()  # nor twice against the same
    while len(listed) < count:
        number, country, day = len(listed), random.choice(countries), random.randrange(7)
        clubs = free.setdefault(
            (country, day), random.sample(by_country[country], len(by_country[country]))
        )
        if len(clubs) < len("ab"):
            continue
        home, away = clubs.pop(), clubs.pop()
        if {(home[0], away[0]), (away[0], home[0])} & met:
            continue
        met.add((home[0], away[0]))
        start = monday + day * 24 * HOUR + random.choice(KICK_OFFS) * HOUR
        chances = _near((random.uniform(0.2, 0.6), 0.27, 0.27), random, 0.0)
        listed.append((f"{country} League {number % 4}", home, away, start, chances))
    return [
        [
            Match(
                SourceMatchId(f"{source}.{number}"),
                _spelled(home, source, random),
                _spelled(away, source, random),
                league,
                *_prices(_near(chances, random, 0.015)),
                start - 60 * (random.random() < EARLY),
            )
            for number, (league, home, away, start, chances) in enumerate(listed)
        ]
        for source in range(sources)
    ]


def worlds(sources: int, count: int) -> list[list[Match]]:
    """Return by source the matches of a simulated world of its own; names are of the same few thousand."""
    return [
        [one for one in matches(count, source) if one.home and one.away] for source in range(1, sources + 1)
    ]


def _spelled(names: list[str], source: int, random: Random) -> str:
    name = names[source % len(names)]
    return f"{name} FC" if random.random() < RESPELLED else name


def _prices(chances: Chances) -> Chances:
    home, draw, away = chances
    return 1 / home / MARGIN, 1 / draw / MARGIN, 1 / away / MARGIN


def _near(chances: Chances, random: Random, width: float) -> Chances:
    moved = [one + random.uniform(-width, width) for one in chances]
    return moved[0] / sum(moved), moved[1] / sum(moved), moved[2] / sum(moved)
