"""Which club a spelling means, or which country's team, by the shipped tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import TypeAlias

from actors.matching.rarity import weight
from actors.matching.tables import countries, country_codes, is_own_club, rows, spellings
from actors.matching.team_class import FIRST
from actors.matching.words import Name, may_be_one, parse

Club: TypeAlias = tuple[str, str]  # country and name
_NO_CLUBS: frozenset[Club] = frozenset()
_Table: TypeAlias = dict[str, frozenset[Club]]


def load() -> None:
    """Read the tables, so that nothing later waits for it."""
    _tables()
    _countries()
    weight("")


@lru_cache(maxsize=1)
def _tables() -> tuple[_Table, dict[str, list[tuple[Name, Club]]]]:
    """Return the clubs by whole text, and by telling words."""
    by_text: dict[str, set[Club]] = defaultdict(set)
    by_words: dict[str, list[tuple[Name, Club]]] = defaultdict(list)
    for country, clubs in _by_country().items():
        for club, names in clubs.items():
            for name in names:
                by_text[name.text].add((country, club))
                by_words[name.joined].append((name, (country, club)))
    return {text: frozenset(there) for text, there in by_text.items()}, by_words


def _by_country() -> dict[str, dict[str, set[Name]]]:
    """Return first teams' names by country and club; spellings by hand join the club that has one."""
    countries: dict[str, dict[str, set[Name]]] = defaultdict(dict)
    for row in rows("clubs.tsv"):
        countries[row[0]][row[1]] = _first_teams(spellings(row))
    for row in rows("aliases_seed.tsv"):
        written, clubs = spellings(row), countries[row[0]]
        names = _first_teams(written)
        texts = {name.text for name in names}
        of_them = [
            club for club, known in clubs.items() if not texts.isdisjoint(name.text for name in known)
        ]
        if is_own_club(row):  # the larger table has it as a spelling of others
            for club in of_them:
                clubs[club] = {name for name in clubs[club] if name.text not in texts}
            of_them = []
        clubs.setdefault(of_them[0] if len(of_them) == 1 else written[0], set()).update(names)
    return countries


def _first_teams(names: Iterable[str]) -> set[Name]:
    return {name for one in names if (name := parse(one)).team == FIRST}


@lru_cache(maxsize=1 << 16)
def clubs_of(name: Name) -> frozenset[Club]:
    """Return the clubs that a name can mean: those with its text, else those with its telling words.

    Behind what one of its country is called, a code says only which: "Barcelona (Ecu)".
    """
    by_text, by_words = _tables()
    if name.text in by_text:
        return by_text[name.text]
    if (known := by_words.get(name.joined)) is not None:
        return frozenset(club for one, club in known if may_be_one(name, one))
    text, _, code = name.text.rpartition(" ")
    country = country_codes().get(code)
    return frozenset(club for club in by_text.get(text, ()) if club[0] == country) or _NO_CLUBS


def is_spelling(name: Name) -> bool:
    """Return whether the tables have this very text."""
    return name.text in _tables()[0]


def country_of(name: Name) -> str | None:
    """Return the country whose team has that name; None for a club."""
    return _countries().get(name.text)


@lru_cache(maxsize=1)
def _countries() -> dict[str, str]:
    """Return the countries by each of their names."""
    return {parse(name).text: country for country, names, _ in countries() for name in names}
