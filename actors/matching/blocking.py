"""Finds descriptions that may be of one match: by team names within days, by parts of names within minutes.

All lists are sorted by kick-off, so that near descriptions are a slice.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable
from functools import lru_cache
from operator import attrgetter

from actors.matching.comparison import Comparator, Description
from actors.matching.leagues import League
from actors.matching.rules import LONGEST, LONGEST_ALIKE, LONGEST_FUZZY, ON_TIME
from actors.naming.names import Name
from actors.naming.similarity import INITIALS, alike_words, stems
from actors.naming.tables import clubs_of, country_of

MANY = 200  # matches sharing parts of names; above that all whole words are compared first
KEPT = 1 << 12  # sides with a name whose keys are cached: the sides of the matches of some hours

_start, _home_of, _away_of = attrgetter("start"), attrgetter("home"), attrgetter("away")
_HOME, _AWAY = "h", "a"  # the first letter of a key: the side


class Index:
    """Descriptions to search in, each added once and removed once.

    Descriptions without a kick-off find each other by either team.
    """

    def __init__(self, comparator: Comparator) -> None:
        self._comparator = comparator
        self._by_key: dict[str, list[Description]] = {}  # by the key of a team, or of a part of a name
        self._untimed: dict[str, dict[Description, None]] = {}  # by the key of a team

    def add(self, description: Description) -> None:
        """Add a description."""
        if description.start is None:
            for key in self._both_teams(description):
                self._untimed.setdefault(key, {})[description] = None
        else:
            for key in self._keys(description):
                insort(self._by_key.setdefault(key, []), description, key=_start)

    def remove(self, description: Description) -> None:
        """Remove an added description."""
        if description.start is None:
            for key in self._both_teams(description):
                del self._untimed[key][description]
                if not self._untimed[key]:
                    del self._untimed[key]
            return
        for key in self._keys(description):
            there = self._by_key[key]
            at = bisect_left(there, description.start, key=_start)
            while there[at] is not description:
                at += 1
            del there[at]
            if not there:
                del self._by_key[key]

    def near(self, description: Description) -> set[Description]:
        """Return all descriptions that a rule could link with this one, including itself and some others.

        The result is symmetric: two descriptions that a rule could link find each other.
        """
        if (start := description.start) is None:
            return {found for key in self._both_teams(description) for found in self._untimed.get(key, ())}
        is_same_league = _same_league(description.league)
        found: set[Description] = set()
        both = []
        for keys in (self._teams(_HOME, description.home), self._teams(_AWAY, description.away)):
            days: set[Description] = set()
            for key in keys:
                there = self._by_key.get(key, [])
                first = bisect_left(there, start - LONGEST, key=_start)
                alike = bisect_left(there, start - LONGEST_ALIKE, first, key=_start)
                on_time = bisect_left(there, start - ON_TIME, alike, key=_start)
                late = bisect_right(there, start + ON_TIME, on_time, key=_start)
                unlike = bisect_right(there, start + LONGEST_ALIKE, late, key=_start)
                days.update(there[first : bisect_right(there, start + LONGEST, unlike, key=_start)])
                found.update(there[on_time:late])
                found.update([near for near in there[alike:on_time] if is_same_league(near.league)])
                found.update([near for near in there[late:unlike] if is_same_league(near.league)])
            both.append(days)
        found |= both[0] & both[1]
        home = self._by_parts(_HOME, start, description.home)
        away = self._by_parts(_AWAY, start, description.away)
        country = description.league.country
        fuzzy = home & away
        for near in home ^ away:
            if (country is not None and near.league.country == country) or is_same_league(near.league):
                fuzzy.add(near)
        for name_of in (_home_of, _away_of):
            if len(fuzzy) > MANY:
                fuzzy = _resembling(name_of, description, fuzzy)
        return found | fuzzy

    def find(self, description: Description) -> set[Description]:
        """Return all descriptions that resemble this one, including itself and some others."""
        if (start := description.start) is None:
            return {found for key in self._both_teams(description) for found in self._untimed.get(key, ())}
        found: set[Description] = set()
        for side, name in ((_HOME, description.home), (_AWAY, description.away)):
            for key in self._teams(side, name):
                found.update(self._within(key, start - LONGEST, start + LONGEST))
            found |= self._by_parts(side, start, name)
        return found

    def _by_parts(self, side: str, start: int, name: Name) -> set[Description]:
        """Return the descriptions of about the same minute that share a part of the name on this side."""
        found: set[Description] = set()
        first = (start // LONGEST_FUZZY - 1) * LONGEST_FUZZY
        for key in _parts(side, name):
            found.update(self._within(key, first, first + 3 * LONGEST_FUZZY - 1))
        return found

    def _within(self, key: str, first: int, last: int) -> list[Description]:
        there = self._by_key.get(key)
        if there is None:
            return []
        at = bisect_left(there, first, key=_start)
        return there[at : bisect_right(there, last, at, key=_start)]

    def _keys(self, description: Description) -> set[str]:
        sides = (_HOME, description.home), (_AWAY, description.away)
        return self._both_teams(description).union(*(_parts(side, name) for side, name in sides))

    def _both_teams(self, description: Description) -> set[str]:
        sides = (_HOME, description.home), (_AWAY, description.away)
        return {key for side, name in sides for key in self._teams(side, name)}

    def _teams(self, side: str, name: Name) -> Iterable[str]:
        """Return the keys of a team, including its other names by the operator."""
        if not (aliases := self._comparator.aliases(name)):
            return _team(side, name)
        return {key for spelling in (name, *aliases) for key in _team(side, spelling)}


def _resembling(
    name_of: Callable[[Description], Name], description: Description, others: Iterable[Description]
) -> set[Description]:
    """Return the descriptions with a similar word on that side; without one, names are not similar."""
    by_word: dict[str, list[Description]] = {}
    for other in others:
        for word in name_of(other).words:
            by_word.setdefault(word, []).append(other)
    words, every = name_of(description).words, [*by_word]
    similar = {word for own in words for word in alike_words(own, every)}
    if any(len(word) <= INITIALS for word in words):  # possible initials of other words
        similar.update(by_word)
    similar.update(word for word in by_word if len(word) <= INITIALS)
    return {other for word in similar for other in by_word[word]}


def _same_league(league: League) -> Callable[[League], bool]:
    """Return a function that says whether a league may be the same as this one."""
    own, known = league.own, dict[League, bool]()

    def is_same(other: League) -> bool:
        if (found := known.get(other)) is None:
            is_one = other.key == league.key and league.is_labelled
            found = known[other] = is_one or (own is not None and other.own == own)
        return found

    return is_same


@lru_cache(maxsize=KEPT)
def _team(side: str, name: Name) -> tuple[str, ...]:
    """Return the keys of a team under one name."""
    teams = [f"{country}/{club}" for country, club in clubs_of(name)]
    if (nation := country_of(name)) is not None:
        teams.append(nation)
    return f"{side}={name.exact}", *(f"{side}/{team}" for team in teams)


@lru_cache(maxsize=KEPT)
def _parts(side: str, name: Name) -> tuple[str, ...]:
    """Return the keys of the stems of a name."""
    return tuple([side + stem for stem in stems(name)])
