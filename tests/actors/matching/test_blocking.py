"""The index of listings finds all that a rule could link, so within a piece nobody needs to ask it."""

from __future__ import annotations

from random import Random

import pytest

from actors.matching.blocking import Candidates
from actors.matching.comparison import Judge, Listing, listing_of
from actors.matching.overrides import Overrides, TeamAlias
from actors.matching.tables import rows, spellings
from actors.matching.words import Name, parse
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


def _listings(random: Random, judge: Judge, clubs: list[list[str]]) -> set[Listing]:
    made: dict[tuple[object, ...], Listing] = {}
    for _ in range(250):
        home, away = (_spelled(random, club) for club in random.sample(clubs, 2))
        league = judge.league(event(random.choice("abc"), league=random.choice(LEAGUES)))
        start = SATURDAY + random.choice(STARTS)
        made.setdefault((home, away, league, start), listing_of(home, away, league, start))
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
    judge = Judge(Overrides(teams=(alias,)) if seed % 2 else Overrides())
    listings, candidates = _listings(random, judge, clubs), Candidates(judge)
    for listing in listings:
        candidates.add(listing)
    linkable = 0
    for listing in listings:
        near, found = candidates.near(listing), candidates.find(listing)
        for other in listings:
            relation = judge.relation(listing, other)
            assert relation is None or other in found, (listing, other)
            if relation is not None and relation.ways:
                linkable += 1
                assert other in near, (listing, other)

    assert linkable > len(listings), "nothing but each with itself"
