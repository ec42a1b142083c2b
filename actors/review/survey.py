"""Surveys all events: counts, pairs not linked, and overrides that apply to nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from msgspec import Struct

from actors.core.cooperative import SLICE, Sliced
from actors.matches.model import FixtureState
from actors.matching.overrides import Overrides
from actors.matching.rules import Objection, Rule
from actors.naming.names import parse
from actors.review.explanation import Abstention, in_order
from actors.review.suggestions import day_of

_Starts: TypeAlias = dict[tuple[str, str, str], set[int | None]]


class Survey(Struct, frozen=True):
    """The findings about all events at a version: nearest candidates, absent and doubtful decisions."""

    version: int
    abstentions: tuple[Abstention, ...]
    reasons: Mapping[Objection, int]
    absent: tuple[str, ...]
    doubtful: tuple[str, ...] = ()


class Counts(Struct, frozen=True):
    """Counts of fixtures; `linked` fixtures have two or more events, whose links are counted by rule."""

    fixtures: int
    linked: int
    surebets: int
    links: dict[Rule, int]


def survey_of(
    version: int, found: Iterable[Abstention], missing: tuple[str, ...], doubtful: tuple[str, ...] = ()
) -> Survey:
    """Return a survey with these abstentions, each pair once."""
    every = in_order(found)
    return Survey(version, every, Counter(pair.reason for pair in every), missing, doubtful)


def counts(state: FixtureState) -> Sliced[Counts]:
    """Return the numbers of fixtures, linked fixtures, surebets, and links by rule."""
    fixtures = linked = surebets = 0
    links: Counter[Rule] = Counter()
    for chunk in state.chunks:
        fixtures += len(chunk.entries)
        for fixture in chunk.entries:
            surebets += fixture.surebet is not None
            if len(fixture.members) > 1:
                linked += 1
                links.update([member.rule for member in fixture.members if member.to is not None])
        yield
    return Counts(fixtures, linked, surebets, {rule: links[rule] for rule in Rule if links[rule]})


def absent(overrides: Overrides, state: FixtureState) -> Sliced[tuple[str, ...]]:
    """Return a line for each team, league and event in the overrides that is not on the board."""
    pairs = [
        (f"[[{table}]] {number}", pair)
        for table, some in (("must", overrides.must), ("must_not", overrides.must_not))
        for number, pair in enumerate(some, 1)
    ]
    lines = [
        f"{at}: {key} is not on the board"
        for at, pair in pairs
        for key in (pair.a, pair.b)
        if pair.listed is None and state.of_event(key) is None
    ]
    listings = [
        (at, key.source, listing)
        for at, pair in pairs
        for key, listing in zip((pair.a, pair.b), pair.listed or (), strict=False)
    ]
    if not (overrides.teams or overrides.leagues or listings):
        return tuple(lines)
    names, labels, starts = yield from _on_board(state)
    lines += [
        f"{at}: {source} lists no {listing.home} v {listing.away} near {day_of(listing.day)}"
        for at, source, listing in listings
        if not any(map(listing.is_near, starts.get((source, listing.home, listing.away), ())))
    ]
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


def _on_board(state: FixtureState) -> Sliced[tuple[set[str], set[str], _Starts]]:
    """Return all names of teams in compared form, all labels of leagues, and all kick-offs."""
    spelled: set[str] = set()
    labels: set[str] = set()
    starts: _Starts = {}
    for chunk in state.chunks:
        for fixture in chunk.entries:
            for bookmaker, entry in fixture.entries.items():
                match, source = entry.match, state.terms.roster[bookmaker].source
                spelled |= {match.home, match.away}
                starts.setdefault((source, match.home, match.away), set()).add(match.start_time)
                labels |= {
                    label
                    for plain in (match.league or "", entry.scope)
                    for label in (plain, f"{source}:{plain}")
                }
        yield
    names: set[str] = set()
    for count, name in enumerate(spelled, 1):
        names.add(parse(name).text)
        if count % SLICE == 0:
            yield
    return names, labels, starts
