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
"""The id for no league; ids that are only a label begin with it."""
UNKNOWN = "Unknown"
"""The label for no league in lists."""


class FixtureLeague(Struct, frozen=True, gc=False):
    """A league, independent of its labels: its id, and its country as the shipped tables name it.

    The id is the competition's in the tables; otherwise country and label (`international` for several
    countries); otherwise the key of The Odds API; otherwise `:` and the label alone, because two sources
    may mean different leagues by such a label.
    """

    id: str
    country: str | None


def league_of_fixture(fixture: Fixture) -> FixtureLeague:
    """Return the league from the sources' labels: a competition wins, then a label with a country.

    Among equals the label of the match that names the fixture wins.
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
    """Return the current league ids for a text: an id, a label of any source, or "Unknown".

    A competition of the tables has its id even without a match. Any other label means the leagues of the
    fixtures with that label; ids that are only a label count if there is no other.
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
