"""The league of a fixture: the competition that the labels of its sources name. Pure."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from actors.board.snapshot import Entry
from actors.core.cooperative import Sliced
from actors.core.messages import Scope
from actors.matches.model import Fixture, FixtureState
from actors.matching.leagues import League, league_of, league_stated

NO_LEAGUE = ":"
"""The id of no league; ids that are only a label begin so."""
UNKNOWN = "Unknown"
"""No league, as lists show it."""


class FixtureLeague(Struct, frozen=True, gc=False):
    """One league, whichever labels it has: its id, and its country as the shipped tables name it.

    The id is that of the competition in the tables, else country and label, `international` standing for
    several countries, else the key of The Odds API, else `:` and the label alone: two sources may mean two
    leagues by such a label.
    """

    id: str
    country: str | None


def league_of_fixture(fixture: Fixture) -> FixtureLeague:
    """Return what its sources' labels say: a competition first, then a label of a country, then a label.

    Where several say as much, that of the match that names the fixture counts.
    """
    if (head := fixture.head) is not None:
        return FixtureLeague(head.league, head.country)
    lead = fixture.listed[fixture.bookmakers.index(fixture.lead)]
    best = _league(lead)
    for entry in fixture.listed:
        if best.competition is not None:
            break
        league = _league(entry)
        if _telling(league) > _telling(best):
            best = league
    return FixtureLeague(best.key, best.country)


def leagues_named(text: str, state: FixtureState) -> Sliced[frozenset[str]]:
    """Return the ids of the leagues that a text means now: an id, a label of any source, or "Unknown".

    A competition of the tables has its id also without any match. Another label means the leagues of the
    fixtures that a source labels so; an id that is only a label counts where there is no other.
    """
    if text == UNKNOWN:
        return frozenset({NO_LEAGUE})
    if (stated := league_stated(text)) is not None:
        return frozenset({stated})
    found = set[str]()
    for chunk in state.chunks:
        for fixture in chunk.entries:
            if any(entry.match.league == text for entry in fixture.listed):
                found.add(league_of_fixture(fixture).id)
        yield
    return frozenset({name for name in found if not name.startswith(NO_LEAGUE)} or found)


def _telling(league: League) -> int:
    return 2 if league.competition is not None else 1 if league.own is not None else 0


def _league(entry: Entry) -> League:
    match = entry.match
    return _league_of(entry.scope, match.league, match.home, match.away)


@lru_cache(maxsize=1 << 14)
def _league_of(scope: Scope, label: str | None, home: str, away: str) -> League:
    return league_of(scope, label, teams=(home, away))
