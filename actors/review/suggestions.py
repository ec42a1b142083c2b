"""What a line in the file of links would gain: abstentions as text for it, those with most to gain first.

Pure. A person has to decide: nothing here is known to be one match.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TypeAlias

from msgspec import Struct

from actors.matching.event import Event, EventKey
from actors.matching.evidence import Likeness
from actors.matching.leagues import is_telling
from actors.matching.rules import Objection
from actors.review.explanation import Abstention

EventOf: TypeAlias = Callable[[EventKey], Event | None]

NO_LINE = frozenset({Objection.SWAPPED, Objection.MUST_NOT})
DOUBTFUL = frozenset({Objection.CLASS, Objection.MEMBER, Objection.PRICES})
"""Reasons that are mostly right: another team, or another match."""


class Suggestion(Struct, frozen=True):
    """Abstentions that one text would settle, empty if none would; `gain` is how many."""

    text: str
    gain: int
    abstention: Abstention


def suggestions(found: Iterable[Abstention], event_of: EventOf) -> list[Suggestion]:
    """Return what may be said of abstentions, likely gain first; not of those whose events have gone."""
    by_text: dict[str, list[Abstention]] = {}
    for one in found:
        a, b = event_of(one.a), event_of(one.b)
        if one.reason is not Objection.MUST_NOT and a is not None and b is not None:
            text = text_for(one, a, b)
            by_text.setdefault(text or f"{one.a!r}{one.b!r}", []).append(one)
    some = [
        Suggestion("" if many[0].reason in NO_LINE else text, len(many), many[0])
        for text, many in by_text.items()
    ]
    return sorted(some, key=_order)


def text_for(one: Abstention, a: Event, b: Event) -> str:
    """Return what makes the two one match: another spelling, a league, or just these two events.

    Of a league only if both labels say which: a line for a source's "Premier League" is for those of all
    countries.
    """
    if one.reason in NO_LINE:
        return ""
    if one.reason is Objection.LEAGUE and all(
        is_telling(event.league or "", event.scope) for event in (a, b)
    ):
        labels = sorted(f"{event.source}:{event.league or event.scope}" for event in (a, b))
        return f"[[league]]\nsame = [{', '.join(map(_quoted, labels))}]\n"
    if one.reason is Objection.NAME:
        # One text, whichever event is the first.
        home, away = sorted((a.home, b.home)), sorted((a.away, b.away))
        likeness, (name, also) = min((one.evidence.home.likeness, home), (one.evidence.away.likeness, away))
        if likeness is not Likeness.SAME:
            return f"[[team]]\nname = {_quoted(name)}\nalso = [{_quoted(also)}]\n"
    keys = ", ".join(_quoted(str(key)) for key in sorted((a.key, b.key)))
    return f'[[must]]\nevents = [{keys}]\nreason = "{one.reason}"\n'


def _order(one: Suggestion) -> tuple[bool, bool, int, float, str]:
    reason, rank = one.abstention.reason, one.abstention.rank
    return reason in NO_LINE, reason in DOUBTFUL, -one.gain, -rank, one.text


def _quoted(text: str) -> str:
    """Return a TOML string: JSON's is one, but for the delete character, which no name has."""
    return json.dumps(text, ensure_ascii=False)
