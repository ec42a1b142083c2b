"""What the operator says about teams, leagues and events that are not on the board: perhaps misspelled."""

from __future__ import annotations

from actors.core.cooperative import SLICE, Sliced
from actors.matches.model import FixtureState
from actors.matching.overrides import Overrides
from actors.matching.words import parse


def absent(overrides: Overrides, state: FixtureState) -> Sliced[tuple[str, ...]]:
    """Return a line for each that is not there, in the order of the file."""
    lines = [
        f"[[{table}]] {number}: {key} is not on the board"
        for table, pairs in (("must", overrides.must), ("must_not", overrides.must_not))
        for number, pair in enumerate(pairs, 1)
        for key in (pair.a, pair.b)
        if state.of_event(key) is None
    ]
    if not (overrides.teams or overrides.leagues):
        return tuple(lines)
    names, labels = yield from _on_board(state)
    of_teams = [
        f"[[team]] {number}: no team on the board is called {name!r}"
        for number, team in enumerate(overrides.teams, 1)
        for name in team.names
        if parse(name).text not in names
    ]
    of_leagues = [
        f"[[league]] {number}: no league on the board is called {label!r}"
        for number, same in enumerate(overrides.leagues, 1)
        for label in same
        if label not in labels
    ]
    return *of_teams, *of_leagues, *lines


def _on_board(state: FixtureState) -> Sliced[tuple[set[str], set[str]]]:
    """Return all names of teams, as they are compared, and all labels that leagues can be given by."""
    spelled: set[str] = set()
    labels: set[str] = set()
    for chunk in state.chunks:
        for fixture in chunk.fixtures.values():
            for bookmaker, entry in fixture.entries.items():
                match, source = entry.match, state.terms.roster[bookmaker].source
                spelled |= {match.home, match.away}
                labels |= {
                    label for one in (match.league or "", entry.scope) for label in (one, f"{source}:{one}")
                }
        yield
    names: set[str] = set()
    for count, name in enumerate(spelled, 1):
        names.add(parse(name).text)
        if count % SLICE == 0:
            yield
    return names, labels
