"""Labels of leagues: which competition, country and class of teams they name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from actors.core.messages import Scope, SourceName
from actors.matching.data import rows
from actors.matching.names import plain
from actors.matching.tables import countries
from actors.matching.team_class import SIMULATED, TeamClass, of_league

_FRIENDLY = re.compile(
    "friendl|amistos|amichevol|amical|freundschaft|testspiel|oefen|venskab|vanskap|trening|traning"
    "|tovarishch|towarzysk|prijatelj|pratelsk|baratsag|hazirlik"
).search

_ELECTRONIC = re.compile(r"\b(?:e-(?!$)\w|e[A-Z])").search  # eBundesliga, e-Cup


class League(Struct, frozen=True, eq=False, gc=False):
    """A league as labels name it; `words` is its plain text without the country, in one word.

    `key` is the competition of the shipped table, else `own`, which is country and words, else the source's
    own label.
    """

    key: str
    competition: str | None
    country: str | None
    team: TeamClass
    words: str
    own: str | None
    is_labelled: bool = True
    is_friendly: bool = False  # two teams may meet twice on a day


@lru_cache(maxsize=1 << 14)
def league_of(source: SourceName, scope: Scope, label: str | None, given: str | None = None) -> League:
    """Return the league of an event; the scope may be the source's own key of it.

    `given` is a competition by the operator's word.
    """
    text, country, words = _parts(label or "")
    known = _table().get(scope) or _competition(label or "")
    if known is not None:
        country = _countries()[known]
    country = country or _parts(scope.replace("_", " "))[1]
    own = f"{country}:{words}" if country and words and known is None else None
    team = of_league(text, country)
    if _ELECTRONIC(label or ""):
        team |= SIMULATED
    return _league(
        given or known or own or f"{source}:{scope}:{label or ''}",
        given or known,
        country,
        team,
        words,
        own=own,
        is_labelled=bool(text or known or given),
        is_friendly=bool(_FRIENDLY(text)),
    )


def competitions_of(labels: Iterable[str]) -> set[str]:
    """Return the competitions that the shipped table knows by labels, with or without their source.

    A label without a country, as "Premier League", says less: it counts only if no other is known.
    """
    certain, others = set[str](), set[str]()
    for label in labels:
        for text in (label, label.partition(":")[2]):
            if (found := _competition(text)) is not None:
                is_certain = "_" in text or _parts(text)[1] is not None
                (certain if is_certain else others).add(found)
                break
    return certain or others


def _competition(label: str) -> str | None:
    _, country, words = _parts(label)
    table = _table()
    return table.get(label) or (table.get(f"{country}:{words}") if words else None)


def country_named(text: str) -> str | None:
    """Return the country that a text is a word for, as leagues have it; None for another."""
    return _country_words()[0].get(_text(text))


@lru_cache(maxsize=1 << 14)
def _league(
    key: str,
    competition: str | None,
    country: str | None,
    team: TeamClass,
    words: str,
    *,
    own: str | None,
    is_labelled: bool,
    is_friendly: bool,
) -> League:
    return League(key, competition, country, team, words, own, is_labelled, is_friendly)


def _parts(label: str) -> tuple[str, str | None, str]:
    """Return the plain label, its country, and its other words in one."""
    text = _text(label)
    by_word, pattern = _country_words()
    named = {by_word[word] for word in pattern.findall(text)}
    rest = pattern.sub(" ", text) if named else text
    return text, named.pop() if len(named) == 1 else None, "".join(rest.split())  # of several: of none


def _text(label: str) -> str:
    """Return the plain words of a label."""
    return " ".join(re.findall("[a-z0-9]+", plain(label)))


@lru_cache(maxsize=1)
def _country_words() -> tuple[dict[str, str], re.Pattern[str]]:
    """Return the countries by each word for them, and what finds these words."""
    by_word = {word: country for country, names, adjectives in countries() for word in names + adjectives}
    return by_word, re.compile(rf"\b(?:{'|'.join(sorted(by_word, key=len, reverse=True))})\b")


@lru_cache(maxsize=1)
def _table() -> dict[str, str]:
    """Return the competitions by label, and by country and words."""
    table: dict[str, str] = {}
    for competition, country, *labels, others in rows("leagues_seed.tsv"):
        for label in labels:
            table[label] = competition
        for label in others.split("|"):
            if label.startswith("="):  # of one competition only, also without its country
                table.setdefault(f"None:{_parts(label)[2]}", competition)
        for label in (*labels, *others.split("|")):
            table.setdefault(f"{country or None}:{_parts(label)[2]}", competition)
    table.pop("", None)
    return table


@lru_cache(maxsize=1)
def _countries() -> dict[str, str | None]:
    return {row[0]: row[1] or None for row in rows("leagues_seed.tsv")}
