"""Events of sources, for linking."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from actors.core.cooperative import run_now
from actors.core.messages import Scope, SourceMatchId, SourceName
from actors.matching.event import Chances, Event, EventKey
from actors.matching.matcher import Group, Matcher
from actors.matching.overrides import Overrides
from actors.matching.rules import rules_of

SATURDAY = 1_772_895_600  # 2026-03-07T15:00:00Z
EVEN: Chances = (0.4, 0.3, 0.3)


def event(
    source: str,
    home: str = "Arsenal",
    away: str = "Everton",
    league: str | None = "England - Premier League",
    *,
    match_id: str = "1",
    start: int | None = SATURDAY,
    chances: Chances | None = EVEN,
) -> Event:
    """Return an event of a source."""
    key = EventKey(SourceName(source), SourceMatchId(match_id))
    return Event(key, home, away, league, Scope("all"), start, chances)


def linker(*events: Event, overrides: Overrides | None = None) -> Matcher:
    """Return a linker with these events."""
    made = Matcher(overrides or Overrides())
    run_now(made.update(events))
    return made


def groups(*events: Event, overrides: Overrides | None = None) -> tuple[Group, ...]:
    """Return the groups of these events, linked by a new linker."""
    return run_now(Matcher(overrides or Overrides()).update(events)).groups


def keys(group: Group) -> tuple[EventKey, ...]:
    """Return the events of a group."""
    return tuple(member.key for member in group)


class Followed:
    """A linker, and the groups of a reader who only gets the linker's reports of changes."""

    def __init__(self, overrides: Overrides | None = None) -> None:
        self.linker = Matcher(overrides or Overrides())
        self.of: dict[EventKey, Group] = {}

    def update(self, changed: Iterable[Event], gone: Iterable[EventKey] = ()) -> None:
        """Add, replace and remove events."""
        changes = run_now(self.linker.update(changed, gone))
        for key in changes.alone:
            self.of.pop(key, None)
        for group in changes.groups:
            for member in group:
                self.of[member.key] = group

    def groups(self) -> set[Group]:
        """Return the groups of the linker. The reader has the same members, by the same rules."""
        every = map(self.linker.group, self.linker.keys())
        found = {group for group in every if group is not None}
        assert {frozenset(rules_of(group)) for group in found} == {
            frozenset(rules_of(group)) for group in self.of.values()
        }
        return found


_TEAMS = (
    *("Arsenal", "Arsenal FC", "Man United", "Manchester Utd", "Man City", "Manchester City"),
    *("Inter", "Inter Milan"),
    *("AC Milan", "Milan", "CSKA Sofia", "CSKA 1948", "Paris FC", "Paris", "Paris SG", "AaB"),
    *("Aalborg", "Qwerty"),
    *("Qwertz", "Racing Club", "Racing", "River Plate", "Ajax", "Jong Ajax", "Ajax W"),
)
_LEAGUES = ("Premier League", "England Premier League", "League X", "Italy Serie A", "Friendlies", None)


def any_event(random: Random, sources: int = 5, matches: int = 4) -> Event:
    """Return one of few events: names that resemble each other, few kick-offs, prices that agree or not."""
    home, away = random.choice(_TEAMS), random.choice(_TEAMS)
    if random.random() < 0.7:  # in most cases the same match
        home, away = random.choice(_TEAMS[:6]), random.choice(_TEAMS[6:10])
    start = SATURDAY + random.choice((0, 0, 0, 0, 60, -600, 7200, 86_400, 300_000))
    chances = random.choice((EVEN, EVEN, (0.42, 0.3, 0.28), (0.5, 0.25, 0.25), (0.7, 0.2, 0.1), None))
    return event(
        f"s{random.randrange(sources)}",
        home,
        away,
        random.choice(_LEAGUES),
        match_id=str(random.randrange(matches)),
        start=random.choice((start, start, start, start, start, None)) if random.random() < 0.1 else start,
        chances=chances,
    )
