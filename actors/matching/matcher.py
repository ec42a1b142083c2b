"""Groups events by match: the groups are a pure function of the events and the overrides.

An added, removed or changed event has its component grouped again, and all components that it connects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from msgspec import Struct

from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import SourceName
from actors.matching.blocking import Index
from actors.matching.clustering import Component, Node, clustered
from actors.matching.comparison import Comparator, Description, described, teams_of
from actors.matching.event import Chances, Event, EventKey
from actors.matching.leagues import League, stated
from actors.matching.overrides import Overridden, Overrides
from actors.matching.rules import Group, Member, price_gap, rules_of
from actors.naming.names import Name

ENOUGH, NEARLY_ALL = 4, 0.9  # matches that prove a label's country; the least share that must agree

__all__ = ["Group", "GroupChanges", "Matcher", "Member"]


class GroupChanges(Struct, frozen=True):
    """The result of an update: new or different groups, and events that are in no group any more."""

    groups: tuple[Group, ...] = ()
    alone: tuple[EventKey, ...] = ()


class PlainLabels:
    """The countries of labels that name none, concluded from all matches of a source under the label.

    Nearly all of the matches must be of one country by the table of clubs, and none of another. A single
    match proves nothing, because the table may lack clubs of the same names in another country.
    """

    def __init__(self) -> None:
        self._countries: dict[tuple[str, ...], dict[EventKey, str | None]] = {}
        self._known_countries: dict[tuple[str, ...], str | None] = {}
        self._changed: dict[tuple[str, ...], None] = {}

    def add(self, event: Event, league: League) -> None:
        """Add a match whose label has no country, with the country of its clubs."""
        if event.league and (league.is_concluded or not league.is_known):
            label = _label_of(event)
            self._countries.setdefault(label, {})[event.key] = league.country
            self._changed[label] = None

    def remove(self, event: Event) -> None:
        """Remove a match, if it was added."""
        label = _label_of(event)
        if (there := self._countries.get(label)) is not None and event.key in there:
            del there[event.key]
            self._changed[label] = None

    def shifted(self) -> list[EventKey]:
        """Return the matches of labels whose country changed since the last call."""
        found: list[EventKey] = []
        for label in self._changed:
            there = self._countries[label]
            if self._known_countries.get(label) != (country := _country_of_all(there)):
                self._known_countries[label] = country
                found += there
            if not there:
                del self._countries[label]
                self._known_countries.pop(label, None)
        self._changed.clear()
        return found

    def league(self, event: Event, league: League) -> League:
        """Return the league of a match; proven if its label names the country of the match's clubs."""
        is_proven = league.is_concluded and self._known_countries.get(_label_of(event)) == league.country
        return stated(league) if is_proven else league


class Matcher:
    """The groups of its events. Mutable, with one owner."""

    def __init__(self, overrides: Overrides) -> None:
        self.comparator = Comparator(overrides)
        self.overridden = Overridden.by(overrides)
        self.index = Index(self.comparator)
        self._nodes: dict[EventKey, Node] = {}
        self._descriptions: dict[tuple[Name, Name, League, int | None], Description] = {}
        self._labels = PlainLabels()
        self._sources: Counter[SourceName] = Counter()  # counts of events
        self._dirty: dict[Component, None] = {}  # to be grouped again
        self._open: dict[EventKey, None] = {}  # events whose groups may depend on prices

    def update(self, changed: Iterable[Event], gone: Iterable[EventKey] = ()) -> Sliced[GroupChanges]:
        """Add or replace events, remove others, and return the changes of groups.

        No event may be in both arguments, or occur twice. Run the generator to its end before the next
        call.
        """
        alone: list[EventKey] = []
        for key in gone:
            if (node := self._remove(key)) is not None:
                self._labels.remove(node.event)
                if node.group is not None:
                    alone.append(key)
            yield
        arriving = {event.key: event for event in changed if not self._has(event)}
        for event in arriving.values():
            self._relabel(event)
            yield
        for key in self._labels.shifted():
            arriving[key] = arriving.get(key) or self._nodes[key].event
        for event in arriving.values():
            old = self._remove(event.key)
            yield from self._add(event, None if old is None else old.group)
            yield
        groups: list[Group] = []
        while self._dirty:
            component, _ = self._dirty.popitem()
            yield from self._settle(component, groups, alone)
        return GroupChanges(tuple(groups), tuple(alone))

    def _has(self, event: Event) -> bool:
        node = self._nodes.get(event.key)
        return node is not None and node.event == event

    def _relabel(self, event: Event) -> None:
        """Replace an event's evidence about its label's country."""
        if (node := self._nodes.get(event.key)) is not None:
            self._labels.remove(node.event)
        self._labels.add(event, self.comparator.league(event))

    def node(self, key: EventKey) -> Node | None:
        """Return the node of an event; None if it is not here."""
        return self._nodes.get(key)

    def chances(self, key: EventKey) -> Chances | None:
        """Return the chances in the last state of an event, None if it is not here."""
        node = self._nodes.get(key)
        return None if node is None else node.event.chances

    def others(self, description: Description, source: SourceName) -> Iterator[Node]:
        """Yield the events with a description, except the events of this source."""
        for name, keys in description.keys.items():
            if name != source:
                yield from map(self._nodes.__getitem__, keys)

    def lists(self, event: Event) -> bool:
        """Return whether it has an event, equal except for prices."""
        node = self._nodes.get(event.key)
        return node is not None and node.event.is_listed_as(event)

    def group(self, key: EventKey) -> Group | None:
        """Return the last returned group of an event."""
        node = self._nodes.get(key)
        return None if node is None else node.group

    def keys(self) -> Iterator[EventKey]:
        """Iterate over all its events; they may change meanwhile."""
        return iter([*self._nodes])

    def open(self, most: int) -> list[EventKey]:
        """Return `most` events at most whose groups may depend on prices; the next call returns others."""
        keys = [*islice(self._open, most)]
        for key in keys:
            self._open[key] = self._open.pop(key)
        return keys

    def _remove(self, key: EventKey) -> Node | None:
        """Remove an event if it is here, and its description after its last event."""
        node = self._nodes.pop(key, None)
        if node is None:
            return None
        self._open.pop(key, None)
        self._sources -= Counter([key.source])  # removes zero counts
        self.overridden.remove(node.event)
        description, component = node.description, node.component
        del description.keys[key.source][key]
        if not description.keys[key.source]:
            del description.keys[key.source]
        if not description.keys:
            self.index.remove(description)
            del self._descriptions[description.parts]
        component.keys.remove(key)
        if component.keys:
            self._dirty[component] = None
        else:
            self._dirty.pop(component, None)
        return node

    def _add(self, event: Event, group: Group | None) -> Sliced[None]:
        """Add a new event, and connect it; `group` is the last group returned for it."""
        key = event.key
        node = Node(event, self._described(event), Component({key}), group)
        self._nodes[key] = node
        self._sources[event.source] += 1
        self.overridden.add(event)
        there = yield from self._connected(node)
        for by_hand in self.overridden.must.of(key):
            there[self._nodes[by_hand].component] = None
        self._connect([*there])

    def _connected(self, node: Node) -> Sliced[dict[Component, None]]:
        """Return the components that rules connect with an event; mark pairs parted by prices as open."""
        event, description, there = node.event, node.description, {node.component: None}
        if all(source == event.source for source in self._sources):
            return there
        apart: list[Node] = []
        for count, other in enumerate(self.index.near(description), 1):
            if count % (SLICE // 8) == 0:  # before `continue`: a set's order must not matter
                yield
            if other.keys.keys() == {event.source}:
                continue  # a source may list thousands of equal descriptions
            if (relation := self.comparator.relation(description, other)) is None:
                continue
            for known in self.others(other, event.source) if relation.conditions else ():
                if known.component in there:
                    continue  # usual, so that few prices are compared
                if relation.condition(price_gap(event.chances, known.event.chances)) is not None:
                    there[known.component] = None
                else:
                    apart.append(known)
        if others := sorted([known.event.key for known in apart if known.component not in there]):
            self._open |= dict.fromkeys([event.key, *others])
        return there

    def _described(self, event: Event) -> Description:
        """Return the description of an event, shared by all events that are listed alike."""
        league = self._labels.league(event, self.comparator.league(event))
        parts = *teams_of(event.home, event.away, league), league, event.start_time
        if (description := self._descriptions.get(parts)) is None:
            description = self._descriptions[parts] = described(*parts)
            self.index.add(description)
        description.keys.setdefault(event.source, {})[event.key] = None
        return description

    def _connect(self, components: list[Component]) -> None:
        """Merge components into one, to be grouped again."""
        largest = max(components, key=lambda component: len(component.keys))
        for component in components:
            self._dirty.pop(component, None)
            if component is not largest:
                for key in component.keys:
                    self._nodes[key].component = largest
                largest.keys |= component.keys
        self._dirty[largest] = None

    def _settle(self, component: Component, groups: list[Group], alone: list[EventKey]) -> Sliced[None]:
        """Group a component again, and record the changes."""
        nodes = [self._nodes[key] for key in sorted(component.keys)]
        steps = clustered(nodes, self.comparator, self.overridden, self.index.find)
        parts, found, is_open = yield from steps
        if is_open:
            self._open |= dict.fromkeys([node.event.key for node in nodes])
        for part in parts:
            own = Component({node.event.key for node in part})
            for node in part:
                node.component = own
        home = {member.key: group for group in found for member in group}
        for node in nodes:
            key, old = node.event.key, node.group
            node.group = home.get(key)
            if node.group is None:
                if old is not None:
                    alone.append(key)
            elif node.group[0].key == key and (old is None or rules_of(old) != rules_of(node.group)):
                groups.append(node.group)
        yield


def _label_of(event: Event) -> tuple[str, ...]:
    return event.source, event.scope, event.league or ""


def _country_of_all(countries: Mapping[EventKey, str | None]) -> str | None:
    """Return the country of nearly all matches of a label, if there are enough, and none is of another."""
    known = {country for country in countries.values() if country is not None}
    count = sum(country is not None for country in countries.values())
    is_proven = len(known) == 1 and count >= ENOUGH and count >= NEARLY_ALL * len(countries)
    return known.pop() if is_proven else None
