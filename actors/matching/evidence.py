"""What speaks for and against one match, and how alike two names are by words and tables."""

from __future__ import annotations

import re
from enum import IntEnum, StrEnum
from functools import lru_cache

from msgspec import Struct

from actors.matching.clubs import clubs_of, country_of, is_spelling
from actors.matching.names import of_words, similarity
from actors.matching.rarity import is_common
from actors.matching.tables import country_codes
from actors.matching.words import Name, set_of

NEAR_FROM = 0.8
ALIKE_FROM = 0.5
PAIRS = 1 << 15  # pairs of names whose likeness is kept


class Likeness(IntEnum):
    """How alike two names of teams are."""

    OTHER = -1  # two clubs
    WEAK = 0
    ALIKE = 1
    NEAR = 2
    SAME = 3


class How(StrEnum):
    """Why two names are as alike as they are."""

    EQUAL = "equal"
    TABLE = "table"  # spellings of one club, or of two
    GIVEN = "given"  # an alias of the operator
    SIMILAR = "similar"


class LeagueEvidence(StrEnum):
    """What two leagues' labels say."""

    SAME = "same"
    UNKNOWN = "unknown"
    DIFFERENT = "different"


class NameEvidence(Struct, frozen=True, gc=False):
    """Two names of one side; `similarity` is 0 to 1."""

    likeness: Likeness
    similarity: float
    how: How


class Evidence(Struct, frozen=True, gc=False):
    """All evidence about two events, a and b.

    `kickoff_delta_s` is b's kick-off less a's, None if one is unknown; `country` 1 if both leagues are of
    one country, -1 if of two, else 0; `price_gap` the largest difference of the three probabilities.
    """

    home: NameEvidence
    away: NameEvidence
    kickoff_delta_s: int | None
    league: LeagueEvidence
    country: int
    price_gap: float | None


EQUAL = NameEvidence(Likeness.SAME, 1.0, How.EQUAL)
_is_state = re.compile(r"a[clmp]|ba|ce|df|es|go|m[agst]|p[abeir]|r[jnors]|s[cep]|to").fullmatch  # of Brazil
_OF_TABLE = NameEvidence(Likeness.SAME, 1.0, How.TABLE)


@lru_cache(maxsize=1 << 12)
def basis_of(
    home: NameEvidence, away: NameEvidence, delta_s: int | None, league: LeagueEvidence, country: int
) -> Evidence:
    """Return evidence without prices, the same object for equal ones: most links have a few in common."""
    return Evidence(home, away, delta_s, league, country, None)


@lru_cache(maxsize=PAIRS)
def likeness(a: Name, b: Name, country: str | None) -> NameEvidence:
    """Return how alike two names are, in leagues of that country if it is known."""
    if a.text == b.text:
        return EQUAL
    clubs, others = _of(country, a), _of(country, b)
    alike = similarity(a, b)
    if (ours := country_of(a)) and (theirs := country_of(b)):  # Ireland is not Iceland
        return _OF_TABLE if ours == theirs else NameEvidence(Likeness.OTHER, alike, How.TABLE)
    if len(clubs) == len(others) == 1:
        return _by_table(alike, is_same=clubs == others)
    if alike >= 1 and a.joined == b.joined:  # by the same words in another order it would not be found
        return EQUAL
    level = (
        Likeness.NEAR if alike >= NEAR_FROM else Likeness.ALIKE if alike >= ALIKE_FROM else Likeness.WEAK
    )
    return NameEvidence(level, alike, How.SIMILAR)


def _by_table(alike: float, *, is_same: bool) -> NameEvidence:
    if is_same:
        return _OF_TABLE
    if alike < 1:
        return NameEvidence(Likeness.OTHER, alike, How.TABLE)
    return NameEvidence(Likeness.ALIKE, NEAR_FROM, How.TABLE)  # Paris and Paris FC: one is short for two


def _of(country: str | None, name: Name) -> frozenset[tuple[str, str]]:
    clubs = clubs_of(name)
    return clubs if country is None else frozenset(club for club in clubs if club[0] == country)


def shared_words(home: Name, away: Name, country: str | None) -> frozenset[str]:
    """Return the uncommon words that both teams of an event have: perhaps an unknown mark of class.

    A spelling of the tables has none: in "Lyn Oslo" against "Skeid Oslo" it is the town. Nor is the code of
    a country a mark, or that of a state where the league is of Brazil: "Gama DF" against "Brasiliense DF".
    """
    shared = {*home.words} & {*away.words}
    if not shared or is_spelling(home) or is_spelling(away):
        return set_of(())
    if country == "brazil":
        shared = {word for word in shared if not _is_state(word)}
    return set_of(word for word in shared if not is_common(word) and word not in country_codes())


def is_unmatched(shared: frozenset[str], home: Name, away: Name) -> bool:
    """Return whether one of these words resembles nothing in the other event's names."""
    return any(
        all(of_words(word, other) < 0.6 for other in (*home.words, *away.words))  # noqa: PLR2004
        for word in shared
    )
