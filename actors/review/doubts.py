"""Finds doubtful tables in the file of links: outlived decisions, leagues of two countries. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from actors.core.messages import Scope
from actors.matching.leagues import league_of
from actors.matching.matcher import Matcher
from actors.matching.overrides import Overrides, joined

_OF_SOURCE = re.compile(r"^[a-z0-9_-]{1,32}:(?=\S)")


def incomplete(overrides: Overrides) -> Iterator[str]:
    """Yield advice for each decision that names only ids, which another match may get later."""
    for table, pairs in (("must", overrides.must), ("must_not", overrides.must_not)):
        for number, pair in enumerate(pairs, 1):
            if pair.listed is None:
                yield (
                    f"[[{table}]] {number} holds by id alone: for another match if an id is used again,"
                    " and no longer if the match gets another id; add home, away and day, as"
                    f" `oddsboard links explain {pair.a} {pair.b}` prints them"
                )


def mixed(overrides: Overrides) -> Iterator[str]:
    """Yield a warning for each `[[league]]` with labels of several countries."""
    told: set[tuple[str, ...]] = set()
    every = joined(overrides.leagues)
    for number, same in enumerate(overrides.leagues, 1):
        labels = tuple(every[same[0]])
        countries = sorted(countries_of_labels(labels))
        if len(countries) > 1 and labels not in told:
            told.add(labels)
            yield (
                f"[[league]] {number} makes leagues of {' and '.join(countries)} one: two matches"
                " with the same names then count as one, at any prices, and surebets use both"
            )


def countries_of_labels(labels: Iterable[str]) -> set[str]:
    """Return the countries of labels in the shipped table; a label may begin with its source."""
    return {country for label in labels if (country := _country_of(label)) is not None}


def outlived(overrides: Overrides, matcher: Matcher) -> Iterator[str]:
    """Yield a warning for each `[[must]]` whose ids may belong to other matches by now."""
    for number, pair in enumerate(overrides.must):
        for a, b in matcher.overridden.must.here(number):
            first, second = matcher.node(a), matcher.node(b)
            if first is None or second is None:
                continue
            if why := matcher.overridden.must.doubt(first, second):
                listed = "" if pair.listed else "; add home, away and day, or remove it"
                yield f"[[must]] {number + 1}: {a} and {b}: {why}, so no surebet uses this link{listed}"


def _country_of(label: str) -> str | None:
    text = _OF_SOURCE.sub("", label)
    return league_of(Scope(text), text).country
