"""Finds the listings that may be of the same match: by names within days, by parts of names within minutes.

All lists are ordered by kick-off, so that what is near is a slice of them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable
from functools import lru_cache
from operator import attrgetter

from actors.matching.clubs import clubs_of, country_of
from actors.matching.comparison import Judge, Listing
from actors.matching.leagues import League
from actors.matching.names import stems
from actors.matching.rules import LONGEST, LONGEST_ALIKE, LONGEST_FUZZY, ON_TIME
from actors.matching.words import Name

KEPT = 1 << 12  # sides with a name whose keys are kept: those of the matches of some hours

_start = attrgetter("start")
_HOME, _AWAY = "h", "a"  # the first letter of a key


class Candidates:
    """An index of listings. Each is added once and removed once; those without a kick-off are not found."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._by_key: dict[str, list[Listing]] = {}  # of a team, or of a part of a name

    def add(self, listing: Listing) -> None:
        """Add a listing."""
        for key in self._keys(listing):
            there = self._by_key.setdefault(key, [])
            if listing.start is None:
                there.append(listing)
            else:
                insort(there, listing, key=_start)

    def remove(self, listing: Listing) -> None:
        """Remove a listing that was added."""
        for key in self._keys(listing):
            there = self._by_key[key]
            at = 0 if listing.start is None else bisect_left(there, listing.start, key=_start)
            while there[at] is not listing:
                at += 1
            del there[at]
            if not there:
                del self._by_key[key]

    def listing(self, home: Name, away: Name, league: League, start: int | None) -> Listing | None:
        """Return the listing with these."""
        keys = f"{_HOME}={home.joined}", f"{_AWAY}={away.joined}"
        if start is None:
            found = [self._by_key.get(f"?{key}", []) for key in keys]
        else:
            found = [self._within(key, start, start) for key in keys]
        for one in min(found, key=len):
            if one.home is home and one.away is away and one.league is league:
                return one
        return None

    def near(self, listing: Listing) -> set[Listing]:
        """Return all listings that a rule could link with this one, and some more; it is among them.

        Each finds the other, whichever is asked for.
        """
        if (start := listing.start) is None:
            return set()
        is_same_league = _same_league(listing.league)
        found: set[Listing] = set()
        both = []
        for keys in (self._teams(_HOME, listing.home), self._teams(_AWAY, listing.away)):
            days: set[Listing] = set()
            for key in keys:
                there = self._by_key.get(key, [])
                first = bisect_left(there, start - LONGEST, key=_start)
                alike = bisect_left(there, start - LONGEST_ALIKE, first, key=_start)
                on_time = bisect_left(there, start - ON_TIME, alike, key=_start)
                late = bisect_right(there, start + ON_TIME, on_time, key=_start)
                unlike = bisect_right(there, start + LONGEST_ALIKE, late, key=_start)
                days.update(there[first : bisect_right(there, start + LONGEST, unlike, key=_start)])
                found.update(there[on_time:late])
                found.update([one for one in there[alike:on_time] if is_same_league(one.league)])
                found.update([one for one in there[late:unlike] if is_same_league(one.league)])
            both.append(days)
        found |= both[0] & both[1]
        home = self._by_parts(_HOME, start, listing.home)
        away = self._by_parts(_AWAY, start, listing.away)
        found |= home & away
        country = listing.league.country
        for one in home ^ away:
            if (country is not None and one.league.country == country) or is_same_league(one.league):
                found.add(one)
        return found

    def find(self, listing: Listing) -> set[Listing]:
        """Return all listings that resemble this one, and some more; it is among them."""
        if (start := listing.start) is None:
            return set()
        found: set[Listing] = set()
        for side, name in ((_HOME, listing.home), (_AWAY, listing.away)):
            for key in self._teams(side, name):
                found.update(self._within(key, start - LONGEST, start + LONGEST))
            found |= self._by_parts(side, start, name)
        return found

    def _by_parts(self, side: str, start: int, name: Name) -> set[Listing]:
        """Return those of about the same minute that have a part of that name on that side."""
        found: set[Listing] = set()
        first = (start // LONGEST_FUZZY - 1) * LONGEST_FUZZY
        for key in _parts(side, name):
            found.update(self._within(key, first, first + 3 * LONGEST_FUZZY - 1))
        return found

    def _within(self, key: str, first: int, last: int) -> list[Listing]:
        there = self._by_key.get(key)
        if there is None:
            return []
        at = bisect_left(there, first, key=_start)
        return there[at : bisect_right(there, last, at, key=_start)]

    def _keys(self, listing: Listing) -> set[str]:
        sides = (_HOME, listing.home), (_AWAY, listing.away)
        keys = {key for side, name in sides for key in self._teams(side, name)}
        if listing.start is None:
            return {f"?{key}" for key in keys}
        return keys.union(*(_parts(side, name) for side, name in sides))

    def _teams(self, side: str, name: Name) -> Iterable[str]:
        """Return the keys of a team, also under the operator's other names."""
        if not (aliases := self._judge.aliases(name)):
            return _team(side, name)
        return {key for one in (name, *aliases) for key in _team(side, one)}


def _same_league(league: League) -> Callable[[League], bool]:
    """Return a function that says whether another league may be the same one as this."""
    own, known = league.own, dict[League, bool]()

    def is_same(other: League) -> bool:
        if (found := known.get(other)) is None:
            found = known[other] = other.key == league.key or (own is not None and other.own == own)
        return found

    return is_same


@lru_cache(maxsize=KEPT)
def _team(side: str, name: Name) -> tuple[str, ...]:
    """Return the keys of a team under one name."""
    teams = [f"{country}/{club}" for country, club in clubs_of(name)]
    if (nation := country_of(name)) is not None:
        teams.append(nation)
    return f"{side}={name.joined}", *(f"{side}/{team}" for team in teams)


@lru_cache(maxsize=KEPT)
def _parts(side: str, name: Name) -> tuple[str, ...]:
    """Return the keys of the stems of a name."""
    return tuple([side + stem for stem in stems(name)])
