"""The file of links by hand: aliases of teams and leagues, events that must, or must not, be linked.

Raw sample:

    [[team]]
    name = "Odense Boldklub"
    also = ["OB"]
    country = "Denmark"                                   # in English; may be left out

    [[league]]
    same = ["football_data:Premier League", "the_odds_api:soccer_epl"]

    [[must]]
    events = ["football_data:E0-2026-08-15-Leeds-Hull", "the_odds_api:0a1b2c"]
    reason = "Hull is spelled Kingston there"

    [[must_not]]
    events = ["feed:17", "the_odds_api:0a1b2c"]
    reason = "the reserves"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from actors.core.errors import ConfigError
from actors.core.messages import SourceMatchId, SourceName
from actors.core.toml_file import read_text, tables_of
from actors.core.validation import clean_name
from actors.matching.event import EventKey
from actors.matching.leagues import country_named
from actors.matching.names import parse as parse_name
from actors.matching.overrides import Overrides, Pair, TeamAlias, joined

MAX_NAMES = 100  # of one team: each is compared with each
_SHOWN = 200  # characters of a table in an error

S = TypeVar("S", bound=Struct)
T = TypeVar("T")

_EVENT = re.compile(r"([a-z0-9_-]{1,32}):([A-Za-z0-9._~-]{1,128})").fullmatch
_Name = Annotated[str, Meta(min_length=1)]


class _Team(Struct, frozen=True, forbid_unknown_fields=True):
    name: _Name
    also: Annotated[tuple[_Name, ...], Meta(min_length=1, max_length=MAX_NAMES)]
    country: _Name | None = None


class _League(Struct, frozen=True, forbid_unknown_fields=True):
    same: Annotated[tuple[_Name, ...], Meta(min_length=2)]


class _Events(Struct, frozen=True, forbid_unknown_fields=True):
    events: tuple[str, str]
    reason: _Name


def read(path: Path) -> Overrides:
    """Read and check the file, for a second perhaps. Raises: ConfigError naming file, table and value."""
    if path.exists() and not path.is_file():
        raise ConfigError(f"{path}: cannot be read: it is no file")  # a pipe would be waited for
    text = read_text(path)
    try:
        return parse(text)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def parse(text: str) -> Overrides:
    """Return what the file says. Raises: ConfigError naming table and value."""
    tables = tables_of(text)
    try:
        return _overrides(tables)
    except (ValueError, RecursionError) as error:  # also numbers too long, or tables too deep, to be shown
        raise ConfigError(f"is not TOML that can be read: {error}") from error


def _overrides(tables: dict[str, Any]) -> Overrides:
    if unknown := sorted(tables.keys() - {"team", "league", "must", "must_not"}):
        raise ConfigError(f"{unknown[0]} is no table of it, must be team, league, must or must_not")
    overrides = Overrides(
        _each(tables, "team", _Team, _alias),
        _each(tables, "league", _League, lambda league: _distinct(league.same)),
        _each(tables, "must", _Events, _pair),
        _each(tables, "must_not", _Events, _pair),
    )
    _check_teams(overrides.teams)
    _check_pairs(overrides)
    return overrides


def _each(tables: dict[str, Any], name: str, kind: type[S], made: Callable[[S], T]) -> tuple[T, ...]:
    """Return what `made` makes of each table of that name; errors have the table's number."""
    found = tables.get(name, [])
    if not isinstance(found, list):
        raise ConfigError(f"{name} was {repr(found)[:_SHOWN]}, must be tables [[{name}]]")
    values = []
    for number, table in enumerate(found, 1):
        try:
            values.append(made(msgspec.convert(table, kind)))
        except (msgspec.ValidationError, ValueError) as error:
            raise ConfigError(f"[[{name}]] {number}: {error}; it was {str(table)[:_SHOWN]}") from error
    return tuple(values)


def _alias(team: _Team) -> TeamAlias:
    names = _distinct((team.name, *team.also))
    classes = {parse_name(name).team for name in names}  # names are kept: the linker need not parse them
    if len(classes) > 1:
        raise ValueError(
            "some names are marked as women, youth or reserves and some are not, must be all or none;"
            " two such events can be linked by [[must]]"
        )
    country = None if team.country is None else country_named(team.country)
    if team.country is not None and country is None:
        raise ValueError(f"no league is known to be of the country {team.country!r}")
    return TeamAlias(names, country)


def _pair(pair: _Events) -> Pair:
    a, b = map(_key, pair.events)
    if a.source == b.source:
        raise ValueError("both events are of one source, must be of two")
    return Pair(a, b, pair.reason)


def _key(text: str) -> EventKey:
    if (found := _EVENT(text)) is None:
        raise ValueError(f"{text!r} must be SOURCE:ID, the id as its source has it")
    return EventKey(SourceName(found[1]), SourceMatchId(found[2]))


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    seen: set[str] = set()
    for name in names:
        if clean_name(name) != name:
            raise ValueError(f"{name!r} must be 1 to 128 visible characters, single-spaced, in NFC")
        if name in seen:
            raise ValueError(f"{name!r} is there twice")
        seen.add(name)
    return tuple(names)


def _check_teams(teams: Sequence[TeamAlias]) -> None:
    taken: dict[tuple[str, str | None], int] = {}
    for number, team in enumerate(teams, 1):
        for name in team.names:
            first = taken.setdefault((name, team.country), number)
            if first != number:
                raise ConfigError(f"[[team]] {number}: {name!r} is in [[team]] {first} as well")


def _check_pairs(overrides: Overrides) -> None:
    wanted = {frozenset((pair.a, pair.b)): number for number, pair in enumerate(overrides.must, 1)}
    same = joined((pair.a, pair.b) for pair in overrides.must)
    for number, pair in enumerate(overrides.must_not, 1):
        if (other := wanted.get(frozenset((pair.a, pair.b)))) is not None:
            raise ConfigError(f"[[must_not]] {number}: its events are in [[must]] {other} as well")
        if pair.a in same and same[pair.a] is same.get(pair.b):
            raise ConfigError(f"[[must_not]] {number}: its events are one match by several [[must]]")
