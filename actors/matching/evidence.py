"""The evidence for and against one match, and the similarity of two names by words and tables."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from functools import lru_cache

from msgspec import Struct

from actors.naming.names import Name, are_equal
from actors.naming.similarity import LITTLE, similarity
from actors.naming.tables import clubs_in, countries_of, countries_of_several, country_of, is_spelling

NEAR_FROM = 0.8
ALIKE_FROM = 0.5
REDUCED = 0.95  # the highest similarity of names that are not equal
PAIRS = 1 << 15  # pairs of names whose likeness is cached


class Likeness(IntEnum):
    """Levels of similarity of two team names."""

    OTHER = -1  # names of different clubs
    WEAK = 0
    ALIKE = 1
    NEAR = 2
    SAME = 3


class How(StrEnum):
    """The source of a level of similarity."""

    EQUAL = "equal"
    TABLE = "table"  # spellings of one club, or of two clubs
    GIVEN = "given"  # an alias by the operator
    SIMILAR = "similar"


class LeagueEvidence(StrEnum):
    """The evidence from two leagues' labels."""

    SAME = "same"
    CONCLUDED = "concluded"  # the same league, if the names mean these clubs, which is no proof
    UNKNOWN = "unknown"  # a source gives no label, or a label without a country
    UNCLEAR = "unclear"  # different labels, which may mean two competitions or classes of teams
    DIFFERENT = "different"


class NameEvidence(Struct, frozen=True, gc=False):
    """The comparison of two names; `similarity` is 0 to 1."""

    likeness: Likeness
    similarity: float
    how: How


class Evidence(Struct, frozen=True, gc=False):
    """All evidence about two events, a and b.

    `kickoff_delta_s` is b's kick-off minus a's, None if one is unknown. `country` is 1 if both leagues are
    of one country, -1 if they are of two, otherwise 0. `price_gap` is the largest difference of the three
    probabilities.
    """

    home: NameEvidence
    away: NameEvidence
    kickoff_delta_s: int | None
    league: LeagueEvidence
    country: int
    price_gap: float | None


EQUAL = NameEvidence(Likeness.SAME, 1.0, How.EQUAL)
_MAYBE_ANOTHER = NameEvidence(Likeness.WEAK, LITTLE, How.SIMILAR)
_SAME_BY_TABLE = NameEvidence(Likeness.SAME, 1.0, How.TABLE)


@lru_cache(maxsize=PAIRS)
def likeness(a: Name, b: Name, country: str | None) -> NameEvidence:
    """Return the similarity of two names, in leagues of that country if it is known."""
    if _are_two(a) != _are_two(b):
        return _MAYBE_ANOTHER
    if a.text == b.text:
        return EQUAL
    clubs, others = clubs_in(country, a), clubs_in(country, b)
    alike = similarity(a, b)
    if (ours := country_of(a)) and (theirs := country_of(b)):  # Ireland is not Iceland
        return _SAME_BY_TABLE if ours == theirs else NameEvidence(Likeness.OTHER, alike, How.TABLE)
    if len(clubs) == len(others) == 1:
        return _SAME_BY_TABLE if clubs == others else _different_clubs(a, b, alike)
    return _by_words(a, b, alike)


def _different_clubs(a: Name, b: Name, alike: float) -> NameEvidence:
    words, others = {*a.text.split()}, {*b.text.split()}
    is_left_out = (words <= others or others <= words) and not any(map(str.isdigit, words ^ others))
    if a.joined == b.joined and is_left_out:  # Paris and Paris FC: one name may be short for the other
        return NameEvidence(Likeness.ALIKE, NEAR_FROM, How.TABLE)
    return NameEvidence(Likeness.OTHER, alike, How.TABLE)


def _are_two(name: Name) -> bool:
    """Return whether a name offers two clubs, one of which will play; Bodo/Glimt is one club."""
    return bool(name.either) and all(map(is_spelling, name.either))


def likeness_by_words(a: Name, b: Name) -> NameEvidence:
    """Return the similarity of two names without the tables."""
    return EQUAL if a.text == b.text else _by_words(a, b, similarity(a, b))


def _by_words(a: Name, b: Name, alike: float) -> NameEvidence:
    if are_equal(a, b):
        return EQUAL
    alike = min(alike, REDUCED)
    level = (
        Likeness.NEAR if alike >= NEAR_FROM else Likeness.ALIKE if alike >= ALIKE_FROM else Likeness.WEAK
    )
    return NameEvidence(level, alike, How.SIMILAR)


def are_of_several_countries(home: Name, away: Name) -> bool:
    """Return whether clubs of several countries have both names, so that a label decides: AEK v Aris."""
    return len(countries_of(home) & countries_of(away)) > 1


def are_of_several(home: Name, away: Name, country: str | None) -> bool:
    """Return whether two pairs of one country's clubs may have these names: San Martín v Estudiantes.

    Several clubs there have one of the names, and the other is at least short for several. `country` is the
    league's, if known.
    """
    there = countries_of_several(home) & countries_of_several(away, is_short=True)
    there |= countries_of_several(home, is_short=True) & countries_of_several(away)
    return bool(there) and (country is None or country in there)


def may_be_of_several(home: Name, away: Name, country: str | None) -> bool:
    """Return whether each of two names is the name, or a short form, of several clubs of one country.

    Each name may mostly mean the best known of these clubs. `country` is the league's, if known.
    """
    there = countries_of_several(home, is_short=True) & countries_of_several(away, is_short=True)
    return bool(there) and (country is None or country in there)
