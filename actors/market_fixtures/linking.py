"""Links side events with other events, by a matcher of their own.

Pure, in slices. That matcher has all events of the 1X2 fixtures as well, but its groups without side events
are ignored: no price of another market, and no event that has only such prices, ever changes a 1X2 fixture.
The matcher is made when the first side event appears.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from immutables import Map

from actors.core.cooperative import SLICE, Sliced
from actors.market_fixtures.sides import SideEvent, SideEvents, SideLinks
from actors.matches.entries import event_of, unpriced_event_of
from actors.matches.linking import Partition
from actors.matches.model import FixtureState, Roster
from actors.matching.event import Event, EventKey
from actors.matching.matcher import Group, Member
from actors.matching.rules import Rule


class SideLinking:
    """Groups side events with all others, in a matcher from `start`; returns the missing links."""

    def __init__(self, start: Callable[[], Partition], roster: Roster) -> None:
        self._start, self._roster = start, roster
        self._matcher: Partition | None = None
        self._seen: Map[EventKey, SideEvent] = Map()

    def update(
        self, state: FixtureState, sides: SideEvents, keys: Iterable[EventKey] | None
    ) -> Sliced[SideLinks | None]:
        """Group all side events with the 1X2 events; only changed 1X2 events are passed on, or (None) all.

        Returns the groups whose side events are not linked that way yet, None if there are none.
        """
        if self._matcher is None:
            if not sides.by_event:
                return None
            self._matcher, keys = self._start(), None
        due: dict[EventKey, None] = dict.fromkeys(self._matcher.keys() if keys is None else keys)
        if keys is None:
            due |= dict.fromkeys(state.by_event)
        due |= dict.fromkeys([*self._changed(sides.by_event)])
        changed, gone = list[Event](), list[EventKey]()
        for count, key in enumerate(due, 1):
            event = self._event(state, sides, key, is_priced=True)
            if event is None:
                gone.append(key)
            else:
                changed.append(event)
            if count % (SLICE // 4) == 0:
                yield
        yield from self._matcher.update(changed, gone)
        self._seen = sides.by_event
        return (yield from self._links(self._matcher, state, sides))

    def _changed(self, by_event: Map[EventKey, SideEvent]) -> Iterable[EventKey]:
        """Return the side events that are new, changed, or gone."""
        if by_event is not self._seen:
            for key, side in by_event.items():
                if (known := self._seen.get(key)) is None or known.event != side.event:
                    yield key
            yield from (key for key in self._seen if key not in by_event)

    def _links(
        self, matcher: Partition, state: FixtureState, sides: SideEvents
    ) -> Sliced[SideLinks | None]:
        groups: dict[EventKey, Group] = {}
        events: dict[EventKey, Event] = {}
        for count, (key, side) in enumerate(sides.by_event.items(), 1):
            group = matcher.group(key) or (Member(key, Rule.FIRST),)
            if group[0].key not in groups and not _is_linked(side, group, state):
                some = {
                    member.key: self._event(state, sides, member.key, is_priced=False) for member in group
                }
                found = {name: event for name, event in some.items() if event is not None}
                if len(found) == len(group):  # otherwise some events have gone
                    groups[group[0].key] = group
                    events |= found
            if count % SLICE == 0:
                yield
        return SideLinks(tuple([groups[key] for key in sorted(groups)]), events) if groups else None

    def _event(
        self, state: FixtureState, sides: SideEvents, key: EventKey, *, is_priced: bool
    ) -> Event | None:
        """Return an event as it is listed, None if no bookmaker lists it."""
        if (side := sides.by_event.get(key)) is not None:
            return side.event
        if (fixture := state.of_event(key)) is None:
            return None
        return (event_of if is_priced else unpriced_event_of)(fixture, key, self._roster)


def _is_linked(side: SideEvent, group: Group, state: FixtureState) -> bool:
    """Return whether a side event is linked with its group, and in their match if there is room."""
    member = next(member for member in group if member.key == side.key)
    others = tuple([other.key for other in group if other.key != side.key])
    if not (side.is_judged and side.others == others and side.member == member):
        return False
    homes = {state.by_event[other] for other in others if other in state.by_event}
    fixture = state.get(next(iter(homes))) if len(homes) == 1 and side.home not in homes else None
    return fixture is None or side.key.source in {member.key.source for member in fixture.members}
