"""Suggests lines for the file of links that would link similar events, the largest gain first.

Pure. A person has to decide: no suggestion is known to be one match.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from actors.core.cooperative import SLICE, Sliced
from actors.matching.event import Event, EventKey
from actors.matching.evidence import Likeness
from actors.matching.leagues import is_telling
from actors.matching.overrides import Overrides, joined
from actors.matching.rules import Objection, Rule
from actors.review.doubts import countries_of_labels
from actors.review.explanation import Abstention, Explanation
from actors.review.standing import Standing, spellings

EventOf: TypeAlias = Callable[[EventKey], Event | None]

NO_LINE = frozenset({Objection.SWAPPED, Objection.MUST_NOT, Objection.CLASS})
"""Reasons for which no line is suggested: a women's team is not the men's."""
DOUBTFUL = frozenset({Objection.CLASS, Objection.MEMBER, Objection.PRICES})
"""Reasons that are mostly right: the events are of other teams or matches."""


class Suggestion(Struct, frozen=True):
    """A text that would settle `gain` abstentions (empty if no text would), and the first abstention."""

    text: str
    gain: int
    abstention: Abstention


class SpellingSuggestion(Struct, frozen=True):
    """A line for two names of one team, which `gain` likely links share; `link` is the first link."""

    text: str
    gain: int
    link: Standing


def spelling_suggestions(
    links: Iterable[Standing],
    event_of: EventOf,
    overrides: Overrides,
    before: Iterable[Suggestion],
    most: int,
) -> Sliced[list[SpellingSuggestion]]:
    """Return lines for names in standing links, names of most links first; the lines fit those `before`."""
    by_names: dict[tuple[str, str], list[Standing]] = {}
    for number, link in enumerate(links):
        if number % SLICE == 0:
            yield
        a, b = event_of(link.a), event_of(link.b)
        for names in spellings(a, b) if a is not None and b is not None else ():
            by_names.setdefault(names, []).append(link)
    taken = _taken(overrides)
    for suggestion in before:
        taken.update(_names_of(tomllib.loads(suggestion.text).get("team", [])))
    made = sorted(by_names.items(), key=lambda item: (-len(item[1]), item[0]))[:most]
    return [
        SpellingSuggestion(_fitting(_team_text(*names), list(names), taken), len(many), many[0])
        for names, many in made
    ]


def suggestions(
    found: Iterable[Abstention],
    event_of: EventOf,
    overrides: Overrides = Overrides(),  # noqa: B008 - a frozen value
    most: int | None = None,
) -> Sliced[list[Suggestion]]:
    """Return at most `most` suggestions, likely gain first; abstentions whose events have gone have none.

    All lines together can be added to the file of `overrides`. Comments stand in place of lines for which
    the file would be refused (a name in two tables), or which would join leagues of two countries.
    """
    by_text: dict[str, list[Abstention]] = {}
    for number, pair in enumerate(found):
        if number % SLICE == 0:
            yield
        a, b = event_of(pair.a), event_of(pair.b)
        if pair.reason is not Objection.MUST_NOT and a is not None and b is not None:
            text = text_for(pair, a, b)
            by_text.setdefault(text or f"{pair.a!r}{pair.b!r}", []).append(pair)
    made = [
        Suggestion("" if many[0].reason in NO_LINE else text, len(many), many[0])
        for text, many in by_text.items()
    ]
    taken = _taken(overrides)
    leagues = [*overrides.leagues]
    fitting = []
    for suggestion in sorted(made, key=_order)[:most]:
        tables = tomllib.loads(suggestion.text)
        if "league" in tables:
            fitting.append(_of_one_country(suggestion, tuple(tables["league"][0]["same"]), leagues))
        else:
            text = _fitting(suggestion.text, _names_of(tables.get("team", [])), taken)
            fitting.append(replace(suggestion, text=text))
        yield
    return fitting


def _of_one_country(
    suggestion: Suggestion, labels: tuple[str, ...], leagues: list[tuple[str, ...]]
) -> Suggestion:
    """Add `labels` to `leagues`; if that would join two countries, return a comment in place of it."""
    every = joined([*leagues, labels])[labels[0]]
    if len(countries := sorted(countries_of_labels(every))) > 1:
        line = (
            f"# {' and '.join(labels)}: with other tables, leagues of {' and '.join(countries)} are one\n"
        )
        return replace(suggestion, text=line)
    leagues.append(labels)
    return suggestion


def _taken(overrides: Overrides) -> set[str]:
    return {name for team in overrides.teams if team.country is None for name in team.names}


def _names_of(teams: list[dict[str, Any]]) -> list[str]:
    return [name for team in teams for name in (team["name"], *team["also"])]


def _fitting(text: str, names: list[str], taken: set[str]) -> str:
    """Return `text`, or a comment if a name is `taken` by another table; add the names to `taken`."""
    known = [name for name in names if name in taken]
    taken.update(names)
    if not known:
        return text
    other = next((name for name in names if name not in known), names[-1])
    return f"# if they are one team: add {_quoted(other)} to the [[team]] that has {_quoted(known[0])}\n"


def _team_text(name: str, also: str) -> str:
    return f"[[team]]\nname = {_quoted(name)}\nalso = [{_quoted(also)}]\n"


def text_for(pair: Abstention, a: Event, b: Event) -> str:
    """Return a line that makes the two events one match: a spelling, a league, or just these two events.

    A league is suggested only if both labels identify it: a line for a source's "Premier League" would hold
    for the Premier Leagues of all countries.
    """
    if pair.reason in NO_LINE:
        return ""
    if pair.evidence.country < 0:
        keys = " ".join(map(str, sorted((a.key, b.key))))
        return f"# leagues of two countries; if it is one match: `oddsboard links explain {keys}`\n"
    if pair.reason is Objection.LEAGUE and all(
        is_telling(event.league or "", event.scope) for event in (a, b)
    ):
        labels = sorted(f"{event.source}:{event.league or event.scope}" for event in (a, b))
        return f"[[league]]\nsame = [{', '.join(map(_quoted, labels))}]\n"
    if pair.reason is Objection.NAME:
        # Sorted, so that the order of the events does not matter.
        home, away = sorted((a.home, b.home)), sorted((a.away, b.away))
        likeness, (name, also) = min(
            (pair.evidence.home.likeness, home), (pair.evidence.away.likeness, away)
        )
        if likeness is not Likeness.SAME:
            return _team_text(name, also)
    return text_of_pair("must", a, b, str(pair.reason))


def text_of_pair(table: str, a: Event, b: Event, reason: str) -> str:
    """Return a `[[must]]` or `[[must_not]]` of two events, with names and day if both have a kick-off."""
    first, second = sorted((a, b), key=lambda event: event.key)
    lines = [f"events = [{_quoted(str(first.key))}, {_quoted(str(second.key))}]"]
    if first.start_time is not None and second.start_time is not None:
        for key, ours, theirs in (
            ("home", _quoted(first.home), _quoted(second.home)),
            ("away", _quoted(first.away), _quoted(second.away)),
            ("day", day_of(first.start_time), day_of(second.start_time)),
        ):
            lines.append(f"{key} = {ours if ours == theirs else f'[{ours}, {theirs}]'}")
    return "\n".join((f"[[{table}]]", *lines, f"reason = {_quoted(reason)}", ""))


def text_of_decision(found: Explanation, a: Event, b: Event) -> str:
    """Return a table that separates two linked events, links two others, or completes a `[[must]]`."""
    if found.rule is Rule.MUST:
        return text_of_pair("must", a, b, "one match")
    if found.is_linked:
        return text_of_pair("must_not", a, b, "two matches")
    return "" if found.reason in NO_LINE else text_of_pair("must", a, b, str(found.reason or "one match"))


def day_of(start: int) -> str:
    """Return the UTC day of a time (Unix seconds), in the format of the file of links."""
    return f"{datetime.fromtimestamp(start, UTC):%Y-%m-%d}"


def _order(suggestion: Suggestion) -> tuple[bool, bool, bool, int, float, str]:
    found, gain = suggestion.abstention, suggestion.gain
    is_abroad = found.evidence.country < 0
    return found.reason in NO_LINE, is_abroad, found.reason in DOUBTFUL, -gain, -found.rank, suggestion.text


def _quoted(text: str) -> str:
    """Return a TOML string. JSON's strings are valid TOML, except for DEL, which no name has."""
    return json.dumps(text, ensure_ascii=False)
