"""The rules that watch a fixture, found by its names, so that a rule costs what it watches. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from actors.alerts.rules.rule import KickoffRule, MatchRule, is_about
from actors.markets.market import ONE_X_TWO, Kind
from actors.matches.entries import is_other_event
from actors.matches.leagues import league_of_fixture
from actors.matches.model import Fixture
from actors.matching.leagues import league_stated
from actors.naming.names import parse


class Index:
    """Rules about matches, by kind of market and by team."""

    def __init__(self, rules: Iterable[MatchRule]) -> None:
        self._of_all: dict[Kind, list[MatchRule]] = {}
        self._of_team: dict[Kind, dict[Hashable, list[MatchRule]]] = {}
        self._place: dict[str, int] = {}
        for place, rule in enumerate(rules):
            self._place[rule.name] = place
            kind = Kind.ONE_X_TWO if isinstance(rule, KickoffRule) else rule.kind
            if rule.team is None:
                self._of_all.setdefault(kind, []).append(rule)
            else:
                of_kind = self._of_team.setdefault(kind, {})
                of_kind.setdefault(_team(rule.team), []).append(rule)
        self.kinds = frozenset({*self._of_all, *self._of_team})

    def watching(self, fixture: Fixture) -> tuple[MatchRule, ...]:
        """Return the rules that watch a fixture, in their order."""
        kind = fixture.market.kind
        found = [*self._of_all.get(kind, ())]
        if of_team := self._of_team.get(kind):
            teams = {_team(name) for name in _names(fixture)}
            found += [rule for team in teams & of_team.keys() for rule in of_team[team]]
        if not found:
            return ()
        found = [rule for rule in found if _is_of_market(rule, fixture) and _is_of_league(rule, fixture)]
        return tuple(sorted(found, key=lambda rule: self._place[rule.name]))


def is_named_alike(old: Fixture, new: Fixture) -> bool:
    """Return whether two states of a fixture have the same names and leagues."""
    if (old.lead, old.bookmakers) != (new.lead, new.bookmakers):
        return False
    if old.head is not new.head and old.head != new.head:
        return False
    listed = zip(old.listed, new.listed, strict=True)
    return not any(before is not after and is_other_event(before, after) for before, after in listed)


def _names(fixture: Fixture) -> set[str]:
    matches = [fixture.match, *[entry.match for entry in fixture.listed]]
    return {name for match in matches for name in (match.home, match.away)}


def _team(name: str) -> Hashable:
    """Return a key that is common to all spellings of a team that differ in filler, such as FC, alone."""
    parsed = parse(name)
    return parsed.exact, parsed.team


def _is_of_market(rule: MatchRule, fixture: Fixture) -> bool:
    if isinstance(rule, KickoffRule):
        return fixture.market is ONE_X_TWO
    return is_about(rule, fixture.market)


def _is_of_league(rule: MatchRule, fixture: Fixture) -> bool:
    if rule.league is None:
        return True
    stated = league_stated(rule.league)
    if stated is not None:
        return league_of_fixture(fixture).id == stated
    return any(entry.match.league == rule.league for entry in fixture.listed)
