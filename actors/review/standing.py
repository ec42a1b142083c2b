"""Tracks links that are only likely, because a name differs, and how long their prices have agreed.

The linker checks them once a minute. A restart of the process forgets all durations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.matches.entries import chances_by_source, event_of
from actors.matches.model import Fixture, FixtureState
from actors.matching.event import Event, EventKey
from actors.matching.evidence import Likeness, likeness
from actors.matching.rules import AGREE, Certainty, Member, Rule, price_gap
from actors.naming.names import Name, parse
from actors.naming.tables import clubs_of

LOOK_S = 60.0  # seconds between two checks; on a large board a check takes some 0.1 s, in slices
LONG_S = 3600.0  # a link that stood for this time is suggested for a review


class Standing(Struct, frozen=True):
    """A link whose prices agreed at every check since `since`, at most `price_gap` apart."""

    a: EventKey
    b: EventKey
    rule: Rule
    names: tuple[tuple[str, str], ...]
    since: Instant
    price_gap: float


class StandingLinks:
    """The present standing links, by the later event. Mutable, with one owner."""

    def __init__(self) -> None:
        self._links: dict[EventKey, Standing] = {}
        self._due_mono = 0.0

    def look(self, state: FixtureState, now: Instant) -> Sliced[None]:
        """Check all links, if a minute has passed; drop those whose prices no longer agree."""
        if now.mono < self._due_mono:
            return
        self._due_mono = now.mono + LOOK_S
        found: dict[EventKey, Standing] = {}
        for chunk in state.chunks:
            for fixture in chunk.entries:
                for link in _likely(fixture, state, now) if len(fixture.members) > 1 else ():
                    before = self._links.get(link.a)
                    found[link.a] = link if before is None else _continued(before, link)
            yield
        self._links = found

    def long(self, now: Instant) -> list[Standing]:
        """Return the links that stood for an hour or longer, the oldest first."""
        some = [link for link in self._links.values() if now.mono - link.since.mono >= LONG_S]
        return sorted(some, key=lambda link: (link.since.mono, link.a))


def spellings(a: Event, b: Event) -> Iterator[tuple[str, str]]:
    """Yield the pairs of different names in two linked events that are likely spellings of one team.

    Names of different classes, or of two clubs in the table, are no spellings of one team.
    """
    sides = [(parse(a.home), parse(b.home)), (parse(a.away), parse(b.away))]
    if _extra(sides) or _extra([(b, a) for a, b in sides]):
        return
    for (ours, theirs), names in zip(sides, ((a.home, b.home), (a.away, b.away)), strict=True):
        if _may_be_spellings(ours, theirs):
            yield min(names), max(names)


def _extra(sides: Iterable[tuple[Name, Name]]) -> set[str]:
    """Return the words that only the first event has, in both teams; they may mark a class."""
    home, away = ({*ours.text.split()} - {*theirs.text.split()} for ours, theirs in sides)
    return home & away


def _may_be_spellings(a: Name, b: Name) -> bool:
    ours, theirs = clubs_of(a), clubs_of(b)
    are_two = bool(ours and theirs) and ours.isdisjoint(theirs)
    found = likeness(a, b, None).likeness if a.text <= b.text else likeness(b, a, None).likeness
    return a.team == b.team and not are_two and Likeness.ALIKE <= found < Likeness.SAME


def _likely(fixture: Fixture, state: FixtureState, now: Instant) -> Iterator[Standing]:
    """Yield a fixture's links that are only likely because of a name, and whose prices agree."""
    links = [member for member in fixture.members if _is_by_name(member)]
    chances = chances_by_source(fixture, state.terms.roster) if links else {}
    for member in links:
        if member.to is None:
            continue
        gap = price_gap(chances.get(member.key.source), chances.get(member.to.source))
        if gap is not None and gap <= AGREE:
            events = [event_of(fixture, key, state.terms.roster) for key in (member.key, member.to)]
            names = tuple([(event.home, event.away) for event in events])
            yield Standing(member.key, member.to, member.rule, names, now, gap)


def _is_by_name(member: Member) -> bool:
    evidence = member.evidence
    if evidence is None or member.rule is Rule.MUST or member.certainty is not Certainty.LIKELY:
        return False
    return min(evidence.home.likeness, evidence.away.likeness) < Likeness.SAME


def _continued(before: Standing, link: Standing) -> Standing:
    """Return a link with the start of `before`, unless its events or names have changed."""
    if (before.b, before.names) != (link.b, link.names):
        return link
    gap = max(before.price_gap, link.price_gap)
    return Standing(link.a, link.b, link.rule, link.names, before.since, gap)
