"""The index of descriptions finds all that a rule could link, so within a piece nobody needs to ask it."""

from __future__ import annotations

from random import Random

import pytest

from actors.matching.blocking import Index
from actors.matching.comparison import Comparator, Description, described
from actors.matching.data import rows
from actors.matching.names import Name, parse
from actors.matching.overrides import Overrides, TeamAlias
from actors.matching.tables import spellings
from tests.support.builders.events import SATURDAY, event

STARTS = [0, 60, 240, 301, 600, 900, 901, 7200, 10_800, 86_400, 100_000, 172_800, 345_600, 345_601]
MARKS = ["", "", "", " II", " (W)", " U21", " FC", " 1907"]
NATIONS = [["", "Ivory Coast", "Côte d'Ivoire"], ["", "United States", "USA"]]
LEAGUES = ["Premier League", "England - Premier League", "Division 1", None]


def _spelled(random: Random, club: list[str]) -> Name:
    """Return a club's name as some source may have it: in another spelling, shorter, or with a mark."""
    text = random.choice(spellings(club))
    if random.random() < 0.2:
        text = random.choice(text.split())
    return parse(text + random.choice(MARKS))


def _descriptions(random: Random, comparator: Comparator, clubs: list[list[str]]) -> set[Description]:
    made: dict[tuple[object, ...], Description] = {}
    for _ in range(250):
        home, away = (_spelled(random, club) for club in random.sample(clubs, 2))
        league = comparator.league(event(random.choice("abc"), league=random.choice(LEAGUES)))
        start = SATURDAY + random.choice(STARTS)
        made.setdefault((home, away, league, start), described(home, away, league, start))
    return {*made.values()}


@pytest.mark.parametrize("seed", range(6))
def test_all_that_a_rule_could_link_are_near(seed: int) -> None:
    """Whatever the spellings, kick-offs and leagues, and with the operator's names for a team.

    What none could link, but has a relation, is found as well.
    """
    random = Random(seed)
    every = [*rows("clubs.tsv")]
    at = random.randrange(len(every) - 6)
    clubs = [*every[at : at + 6], *NATIONS]  # the clubs of one country
    alias = TeamAlias((clubs[0][1], clubs[1][1]))
    comparator = Comparator(Overrides(teams=(alias,)) if seed % 2 else Overrides())
    descriptions, candidates = _descriptions(random, comparator, clubs), Index(comparator)
    for description in descriptions:
        candidates.add(description)
    linkable = 0
    for description in descriptions:
        near, found = candidates.near(description), candidates.find(description)
        for other in descriptions:
            relation = comparator.relation(description, other)
            assert relation is None or other in found, (description, other)
            if relation is not None and relation.conditions:
                linkable += 1
                assert other in near, (description, other)

    assert linkable > len(descriptions), "nothing but each with itself"
