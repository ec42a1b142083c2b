"""Reads the file of links: aliases of teams and leagues, and events that must, or must not, be linked.

A file that has no tables on purpose says `none = true`, because an empty file may be a half-written one.

Raw sample:

    [[team]]
    name = "Odense Boldklub"
    also = ["OB"]
    country = "Denmark"                                   # in English; may be left out

    [[league]]
    same = ["football_data:Premier League", "the_odds_api:soccer_epl"]

    [[must]]
    events = ["football_data:E0-2026-08-15-Leeds-Hull", "the_odds_api:0a1b2c"]
    home = "Leeds"                                        # at both sources
    away = ["Hull", "Kingston"]                           # at the first source, at the second
    day = 2026-08-15                                      # of the kick-off, UTC
    reason = "Hull is spelled Kingston there"

    [[must_not]]
    events = ["feed:17", "the_odds_api:0a1b2c"]
    reason = "the reserves"
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import fields

from actors.configuration.allowed import refusals
from actors.configuration.toml_file import read_text, tables_of
from actors.core.errors import ConfigError, in_lines
from actors.core.messages import SourceMatchId, SourceName
from actors.core.nearest import did_you_mean
from actors.core.validation import clean_name
from actors.matching.event import EventKey
from actors.matching.leagues import country_named
from actors.matching.overrides import Listing, Overrides, Pair, TeamAlias, joined
from actors.naming.names import parse as parse_name

MAX_NAMES = 100  # names of a team; every two of them are compared
MAX_FAULTS = 80  # faults in an error
_SHOWN = 200  # shown characters of a table in an error

S = TypeVar("S", bound=Struct)
T = TypeVar("T")

_EVENT = re.compile(r"([a-z0-9_-]{1,32}):([A-Za-z0-9._~-]{1,128})").fullmatch
_LISTED = ("home", "away", "day")
_Name = Annotated[str, Meta(min_length=1)]
_Day = Annotated[date, Meta(title="a day like 2026-08-15")]


class _Team(Struct, frozen=True, forbid_unknown_fields=True):
    name: _Name
    also: Annotated[tuple[_Name, ...], Meta(min_length=1, max_length=MAX_NAMES)]
    country: _Name | None = None


class _League(Struct, frozen=True, forbid_unknown_fields=True):
    same: Annotated[tuple[_Name, ...], Meta(min_length=2)]


class _Events(Struct, frozen=True, forbid_unknown_fields=True):
    events: tuple[str, str]
    reason: _Name
    home: str | tuple[str, str] | None = None  # no _Name: msgspec 0.22 crashes on that beside a tuple
    away: str | tuple[str, str] | None = None
    day: _Day | tuple[_Day, _Day] | None = None


def read(path: Path) -> Overrides:
    """Read and check the file, which may take a second.

    Raises: ConfigError naming file, table and value of each fault.
    """
    if path.exists() and not path.is_file():
        raise ConfigError(f"{path}: cannot be read: it is no file")  # reading a pipe would block
    text = read_text(path)
    try:
        return parse(text)
    except ConfigError as error:
        raise ConfigError(in_lines(f"{path}: {line}" for line in str(error).splitlines())) from error


def parse(text: str) -> Overrides:
    """Return the file's decisions. Raises: ConfigError naming table and value of each fault."""
    tables = tables_of(text)
    try:
        return _overrides(tables)
    except (
        ValueError,
        RecursionError,
    ) as error:  # huge numbers and deep tables cannot be shown in an error
        raise ConfigError(f"is not TOML that can be read: {error}") from error


def _overrides(tables: dict[str, Any]) -> Overrides:
    names = ("team", "league", "must", "must_not")
    faults = [
        f"{name} is no table here, must be team, league, must or must_not{did_you_mean(name, names)}"
        for name in tables
        if name not in {*names, "none"}
    ]
    faults += _faults_of_none(tables)
    teams, of_teams = _each(tables, "team", _Team, _alias)
    leagues, of_leagues = _each(tables, "league", _League, _labels)
    must, of_must = _each(tables, "must", _Events, _pair, reason="none")
    must_not, of_must_not = _each(tables, "must_not", _Events, _pair, reason="none")
    faults += [*of_teams, *of_leagues, *of_must, *of_must_not]
    faults += [*_faults_of_teams(teams), *_faults_of_pairs(must, must_not)]
    if faults:
        raise ConfigError(in_lines(faults, MAX_FAULTS))
    found = (*teams.values(),), (*leagues.values(),), (*must.values(),), (*must_not.values(),)
    return Overrides(*found, none="none" in tables)


def _each(
    tables: dict[str, Any], name: str, kind: type[S], made: Callable[[S, list[str]], T], **absent: str
) -> tuple[dict[int, T], list[str]]:
    """Return the results of `made` for the tables of a name, by number, and all faults in these tables.

    In a table with a wrong key the other keys are still checked; `absent` has values for missing keys.
    """
    found = tables.get(name, [])
    if not isinstance(found, list):
        return {}, [f"{name} was {repr(found)[:_SHOWN]}, must be tables [[{name}]]"]
    values: dict[int, T] = {}
    faults = []
    for number, table in enumerate(found, 1):
        at = f"[[{name}]] {number}"
        wrong = refusals(table, table, kind, at)
        faults += [fault for of_key in wrong.values() for fault in of_key]
        if not wrong.keys().isdisjoint(_LISTED):
            wrong |= {key: [] for key in _LISTED}  # these keys belong together
        right = absent | {key: table[key] for key in table if key not in wrong} if "" not in wrong else {}
        if {field.name for field in fields(kind) if field.required} <= right.keys():
            inside: list[str] = []
            values[number] = made(msgspec.convert(right, kind), inside)
            faults += [f"{at}: {fault}; it was {str(table)[:_SHOWN]}" for fault in inside]
    return values, faults


def _alias(team: _Team, faults: list[str]) -> TeamAlias:
    names = _distinct((team.name, *team.also), faults)
    classes = {parse_name(name).team for name in names}  # cached for the linker
    if len(classes) > 1 and names == (*map(clean_name, names),):
        faults.append(
            "some names are marked as women, youth or reserves and some are not, must be all or none;"
            " two such events can be linked by [[must]]"
        )
    country = None if team.country is None else country_named(team.country)
    if team.country is not None and country is None:
        faults.append(f"no known league belongs to the country {team.country!r}")
    return TeamAlias(names, country)


def _labels(league: _League, faults: list[str]) -> tuple[str, ...]:
    return _distinct(league.same, faults)


def _pair(pair: _Events, faults: list[str]) -> Pair:
    a, b = (_key(text, faults) for text in pair.events)
    if a.source == b.source:
        faults.append("both events are of one source, must be of two")
    return Pair(a, b, pair.reason, _listed(pair, faults))


def _listed(pair: _Events, faults: list[str]) -> tuple[Listing, Listing] | None:
    """Return the names and day of each event, None if the pair has neither."""
    home, away, day = _of_both(pair.home), _of_both(pair.away), _of_both(pair.day)
    missing = [key for key, given in zip(_LISTED, (home, away, day), strict=True) if given is None]
    if 0 < len(missing) < len(_LISTED):
        faults.append(f"home, away and day belong together, must have {' and '.join(missing)} as well")
    if home is None or away is None or day is None:
        return None
    faults += [
        f"{name!r} must be 1 to 128 visible characters, single-spaced, in NFC"
        for name in dict.fromkeys((*home, *away))
        if not name or clean_name(name) != name
    ]
    starts = [int(datetime.combine(at, time(), UTC).timestamp()) for at in day]
    return Listing(home[0], away[0], starts[0]), Listing(home[1], away[1], starts[1])


def _of_both(given: T | tuple[T, T] | None) -> tuple[T, T] | None:
    return given if given is None or isinstance(given, tuple) else (given, given)


def _key(text: str, faults: list[str]) -> EventKey:
    if (found := _EVENT(text)) is None:
        faults.append(f"{text!r} must be SOURCE:ID, the id as its source has it")
        return EventKey(SourceName(text), SourceMatchId(""))
    return EventKey(SourceName(found[1]), SourceMatchId(found[2]))


def _distinct(names: Sequence[str], faults: list[str]) -> tuple[str, ...]:
    counts = Counter(names)
    for name, count in counts.items():
        if clean_name(name) != name:
            faults.append(f"{name!r} must be 1 to 128 visible characters, single-spaced, in NFC")
        if count > 1:
            faults.append(f"{name!r} is there twice")
    return tuple(counts)


def _faults_of_teams(teams: Mapping[int, TeamAlias]) -> Iterator[str]:
    taken: dict[tuple[str, str | None], int] = {}
    for number, team in teams.items():
        for name in team.names:
            first = taken.setdefault((name, team.country), number)
            if first != number:
                yield f"[[team]] {number}: {name!r} is in [[team]] {first} as well"


def _faults_of_pairs(must: Mapping[int, Pair], must_not: Mapping[int, Pair]) -> Iterator[str]:
    wanted = {frozenset(pair.sides): number for number, pair in must.items()}
    same = joined(pair.sides for pair in must.values())
    for number, pair in must_not.items():
        first, second = pair.sides
        if (other := wanted.get(frozenset(pair.sides))) is not None:
            yield f"[[must_not]] {number}: its events are in [[must]] {other} as well"
        elif first in same and same[first] is same.get(second):
            yield f"[[must_not]] {number}: its events are one match by several [[must]]"


def _faults_of_none(tables: dict[str, Any]) -> Iterator[str]:
    """Yield faults of `none`, which must be true and must not stand beside tables."""
    if "none" not in tables:
        return
    if tables["none"] is not True:
        yield f"none was {repr(tables['none'])[:_SHOWN]}, must be true, or left out"
    elif len(tables) > 1:
        yield "none = true says that the file has no tables on purpose, must be left out where it has some"
