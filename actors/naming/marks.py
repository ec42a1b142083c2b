"""Unknown class marks: additions to both teams' names in one list that another list lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product

from actors.naming.names import FORMS, Name, before_form, without_form
from actors.naming.similarity import of_words
from actors.naming.tables import are_spelled, is_known

MOST_LETTERS = 4  # the longest mark
_SIZES = range(1, MOST_LETTERS + 1)
_GLUED = [(slice(size, None), slice(size)) for size in _SIZES]  # (plain name, mark)
_GLUED += [(slice(-size), slice(-size, None)) for size in _SIZES]


def have_marks(home: Name, away: Name, other_home: Name, other_away: Name) -> bool:
    """Return whether both teams of an event have an addition that the other event's teams lack.

    An addition is a word, a digit, a letter or a bracket, also one glued to a name. It is an unknown mark
    of class. A form that every list may leave out does not count. A word that belongs to one team, such as
    KV in KV Mechelen, does not explain a mark of both teams.
    """
    if _more(home, other_home) & _more(away, other_away):
        return True
    if _share_an_end(_unexplained(home, other_home), _unexplained(away, other_away)):
        return True
    if not (home.in_brackets <= {*other_home.core} or away.in_brackets <= {*other_away.core}):
        return True
    return (
        _are_glued(home, other_home, away, other_away)
        or _are_glued(away, other_away, home, other_home)
        or any(
            are_spelled(home.exact[part], away.exact[part]) and not are_spelled(home.exact, away.exact)
            for part, mark in _GLUED
            if home.exact[mark] == away.exact[mark]
        )
    )


def _more(name: Name, plain: Name) -> Counter[str]:
    """Return the words that `name` has more often than `plain`."""
    return Counter(name.core) - Counter(plain.core)


def _unexplained(name: Name, plain: Name) -> list[str]:
    """Return the words of `name` that no table contains and that resemble no word of `plain`."""
    return [
        word
        for word in name.core
        if not is_known(word) and not any(of_words(word, other) for other in plain.core)
    ]


def _share_an_end(words: list[str], others: list[str]) -> bool:
    """Return whether two words begin or end alike.

    One list may write a mark as a part of a town's name ("NBK" of "NBKHäcken"), and another list omit it.
    """
    return any(a[0] == b[0] or a[-1] == b[-1] for a, b in product(words, others))


def _are_glued(name: Name, plain: Name, opponent: Name, plain_opponent: Name) -> bool:
    """Return whether the same letters are glued to a plain name and to its opponent's."""
    has_more = bool(Counter(opponent.text.split()) - Counter(plain_opponent.text.split()))
    return any(
        _is_between(opponent, *added) and (has_more or not _is_between(plain_opponent, *added))
        for added in _added(name, plain)
    )


def _is_between(name: Name, front: str, behind: str) -> bool:
    """Return whether a name, as written or as compared, begins and ends with these letters: PoAe, PoA."""
    return any(
        letters.startswith(front) and letters.endswith(behind)
        for letters in (name.exact, name.text.replace(" ", ""))
    )


def _added(name: Name, plain: Name) -> Iterator[tuple[str, str]]:
    """Yield the letters in front and behind that may be glued to a plain name or to a word of it."""
    words = {*plain.core, *plain.text.split()}
    long_words = {*name.core, *name.text.split()} - words
    for long, short in ((name.exact, plain.exact), *product(sorted(long_words), sorted(words))):
        if len(short) > 1 and short in long:
            front, _, behind = long.partition(short)
            if (front or behind) and not {front, behind} <= {"", *FORMS}:
                yield before_form(front), without_form(behind)
    for word in (name.core[0], name.core[-1]):  # a mark that is a word here, and glued to the opponent
        if word in long_words and len(word) <= MOST_LETTERS and word not in FORMS:
            yield ("", word) if word == name.core[-1] else (before_form(word), "")
