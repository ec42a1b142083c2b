"""Events of many sources that list the same matches, each in its own spelling."""

from __future__ import annotations

from random import Random

from actors.core.messages import Scope, SourceMatchId, SourceName
from actors.fixtures.event import Chances, Event
from actors.fixtures.tables import rows, spellings

MONDAY = 1_800_057_600  # 2027-01-16T00:00:00Z
HOUR = 3600
KICK_OFFS = (12, 15, 15, 15, 17, 19, 20)  # o'clock
LEAGUE = 16  # clubs of a country, at least
RESPELLED = 0.1  # the share of names in no table
EARLY = 0.02  # the share of kick-offs that are a minute off


def events(sources: int, matches: int) -> list[Event]:
    """Return what `sources` sources list of `matches` matches of one week."""
    random = Random(0)
    by_country: dict[str, list[list[str]]] = {}
    for row in rows("clubs.tsv"):
        by_country.setdefault(row[0], []).append(spellings(row))
    countries = [country for country, clubs in by_country.items() if len(clubs) >= LEAGUE]
    listed = []
    for number in range(matches):
        country = random.choice(countries)
        home, away = random.sample(by_country[country], 2)
        start = MONDAY + random.randrange(7) * 24 * HOUR + random.choice(KICK_OFFS) * HOUR
        chances = _near((random.uniform(0.2, 0.6), 0.27, 0.27), random, 0.0)
        listed.append((f"{country} League {number % 4}", home, away, start, chances))
    return [
        Event(
            SourceName(f"source{source}"),
            SourceMatchId(f"{source}.{number}"),
            _spelled(home, source, random),
            _spelled(away, source, random),
            league,
            Scope("all"),
            start - 60 * (random.random() < EARLY),
            _near(chances, random, 0.015),
        )
        for source in range(sources)
        for number, (league, home, away, start, chances) in enumerate(listed)
    ]


def _spelled(names: list[str], source: int, random: Random) -> str:
    name = names[source % len(names)]
    return f"{name} FC" if random.random() < RESPELLED else name


def _near(chances: Chances, random: Random, width: float) -> Chances:
    moved = [one + random.uniform(-width, width) for one in chances]
    return moved[0] / sum(moved), moved[1] / sum(moved), moved[2] / sum(moved)
