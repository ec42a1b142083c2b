"""The index finds all descriptions that a rule could link, so no code asks it again within a piece."""

from __future__ import annotations

from random import Random

import pytest

from actors.matching.blocking import MANY, Index
from actors.matching.comparison import Comparator, Description, described
from actors.matching.overrides import Overrides, TeamAlias
from actors.naming.data import rows
from actors.naming.names import Name, parse
from actors.naming.tables import spellings
from tests.support.builders.events import SATURDAY, event

STARTS = [0, 60, 240, 301, 600, 900, 901, 7200, 10_800, 86_400, 100_000, 172_800, 345_600, 345_601]
MARKS = ["", "", "", " II", " (W)", " U21", " FC", " 1907"]
NATIONS = [["", "Ivory Coast", "Côte d'Ivoire"], ["", "United States", "USA"]]
LEAGUES = ["Premier League", "England - Premier League", "Division 1", None]


def _spelled(random: Random, club: list[str]) -> Name:
    """Return a club's name as a source may write it: in another spelling, shorter, or with a mark."""
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
    """This holds for any spellings, kick-offs and leagues, and with the operator's names for a team.

    Descriptions that no rule could link, but that have a relation, are found as well.
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


@pytest.mark.parametrize("label", [None, "England - Premier League"])
def test_all_that_a_rule_could_link_are_near_also_in_a_crowd(label: str | None) -> None:
    """Hundreds of matches at one minute whose names begin alike are compared together, by words first."""
    random, comparator = Random(1), Comparator(Overrides())
    ends = ["ville", "vile", "hampton", "hamptn", "borough", "bro", "ton", "tn", "", " City", " C.", " Utd"]
    names = [f"Wol{letter}{end}" for letter in ("fer", "ver", "den", "sing", "ker") for end in ends]
    made: dict[tuple[Name, Name], Description] = {}
    league = comparator.league(event("a", "Qwerty", "Asdf", league=label))
    for _ in range(3 * MANY):
        home, away = (parse(name) for name in random.sample(names, 2))
        made.setdefault((home, away), described(home, away, league, SATURDAY))
    candidates, linkable = Index(comparator), 0
    for description in made.values():
        candidates.add(description)
    for description in made.values():
        near = candidates.near(description)
        for other in made.values():
            relation = comparator.relation(description, other)
            if relation is not None and relation.conditions:
                linkable += 1
                assert other in near, (description, other)

    assert MANY < len(made) < linkable


def test_a_crowd_is_not_compared_pair_by_pair() -> None:
    """Of 300 matches whose names share only their stem, each is near few other matches."""
    random, comparator = Random(1), Comparator(Overrides())
    candidates = Index(comparator)
    league = comparator.league(event("a", "Qwerty", "Asdf", league=None))
    letters = ["".join(random.sample("abcdefghijklmnopqrstuvwxyz", 9)) for _ in range(600)]
    names = [parse(f"zyx{end}") for end in letters]
    made = [
        described(home, away, league, SATURDAY) for home, away in zip(names[::2], names[1::2], strict=True)
    ]
    for description in made:
        candidates.add(description)

    assert max(len(candidates.near(description)) for description in made) < MANY // 10
