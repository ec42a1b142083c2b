"""A board that links: two sources, one of them with two bookmakers, and a linker that compares names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from actors.board.board import Board
from actors.board.history import HistoryLimits
from actors.board.validity import BoardRules
from actors.core.clock import Instant
from actors.core.cooperative import Sliced, run_now
from actors.core.messages import Batch, BookmakerId, SourceName
from actors.matches.history import FixtureHistory
from actors.matches.linking import Linking, Links
from actors.matches.model import (
    BookmakerInfo,
    Fixture,
    FixtureChanges,
    FixtureSettings,
    FixtureState,
    first_snapshot,
    fixtures_of,
    roster_of,
)
from actors.matches.update import FixtureUpdater
from actors.matching.event import Chances, Event, EventKey
from actors.matching.evidence import Evidence, How, LeagueEvidence, Likeness, NameEvidence
from actors.matching.matcher import Group, GroupChanges, Member
from actors.matching.rules import FAR, Certainty, Rule, price_gap
from tests.support.builders.messages import SCOPE
from tests.support.time.virtual import WALL_0

ALDER, BIRCH, CEDAR = (BookmakerId(name) for name in ("alder", "birch", "cedar"))
ONE, TWO = SourceName("one"), SourceName("two")
ROSTER = roster_of({ALDER: BookmakerInfo(TWO), BIRCH: BookmakerInfo(ONE), CEDAR: BookmakerInfo(TWO)})
"""The bookmakers of one source stand first and last."""
TERMS = FixtureSettings(ROSTER)
RULES = BoardRules()
START = Instant(0.0, WALL_0)


def is_far(a: Chances | None, b: Chances | None) -> bool:
    """Return whether two sources' chances are far apart."""
    return (price_gap(a, b) or 0.0) > FAR


ADVANCING = FixtureUpdater(TERMS)


def evidence(price_gap: float | None = None) -> Evidence:
    """Return the evidence about two events that lists show alike."""
    equal = NameEvidence(Likeness.SAME, 1.0, How.EQUAL)
    return Evidence(equal, equal, 0, LeagueEvidence.SAME, 1, price_gap)


class EqualNames:
    """A linker: events of two sources are one match if names and kick-off are equal, and prices close.

    It links by `rule`, with `evidence`; each link has that `certainty`.
    """

    rule = Rule.SAME_NAMES
    evidence = evidence()
    certainty = Certainty.SURE

    def __init__(self) -> None:
        self._events: dict[EventKey, Event] = {}
        self._groups: dict[EventKey, Group] = {}

    def update(self, changed: Iterable[Event], gone: Iterable[EventKey] = ()) -> Sliced[GroupChanges]:
        """Group all events anew, and return the differences."""
        for key in gone:
            self._events.pop(key, None)
        self._events |= {event.key: event for event in changed}
        yield
        before, self._groups = self._groups, self._partition()
        yield
        groups = {group: None for group in self._groups.values() if group != before.get(group[0].key)}
        alone = [key for key in before if key in self._events and key not in self._groups]
        return GroupChanges(tuple(groups), tuple(alone))

    def keys(self) -> Iterator[EventKey]:
        """Iterate over the keys of all events of the linker."""
        return iter(list(self._events))

    def lists(self, event: Event) -> bool:
        """Return whether the linker has an event in this form, perhaps with other prices."""
        known = self._events.get(event.key)
        return known is not None and msgspec.structs.replace(known, chances=event.chances) == event

    def group(self, key: EventKey) -> Group | None:
        """Return the group of an event, None if it is in no group."""
        return self._groups.get(key)

    def match_of(self, event: Event) -> object:
        """Return the values that are equal for events of one match."""
        return event.home, event.away, event.start_time

    def open(self, most: int) -> list[EventKey]:
        """Return the events that are in no group."""
        return [key for key in self._events if key not in self._groups][:most]

    def _partition(self) -> dict[EventKey, Group]:
        by_match: dict[object, list[Event]] = {}
        for key in sorted(self._events):
            event = self._events[key]
            some = by_match.setdefault(self.match_of(event), [])
            is_vetoed = any(is_far(event.chances, candidate.chances) for candidate in some)
            if not is_vetoed and event.source not in {candidate.source for candidate in some}:
                some.append(event)
        groups = [self._group(some) for some in by_match.values() if len(some) > 1]
        return {member.key: group for group in groups for member in group}

    def _group(self, events: list[Event]) -> Group:
        first, *others = events
        links = [
            Member(other.key, self.rule, first.key, self.evidence, FAR, self.certainty) for other in others
        ]
        certain = self.certainty if self.certainty is not Certainty.LIKELY else Certainty.SURE
        return Member(first.key, Rule.FIRST, certainty=certain), *links


class LinkedBoard:
    """A board with fixtures, whose linker is run when a test says so."""

    def __init__(self, terms: FixtureSettings = TERMS, linker: EqualNames | None = None) -> None:
        self.advancing = ADVANCING if terms is TERMS else FixtureUpdater(terms)
        self.linker = EqualNames() if linker is None else linker
        self.linking = Linking(self.linker, terms.roster)
        self.links: list[Links] = []
        """The links that are not published yet."""
        self.snapshot = first_snapshot(1000, terms)
        self.history = FixtureHistory(self.snapshot, HistoryLimits())
        self.changes: list[FixtureChanges] = []
        self.waiting: dict[EventKey, None] = {}
        self.now = START

    @property
    def state(self) -> FixtureState:
        """The fixtures."""
        return fixtures_of(self.snapshot)

    def fixtures(self) -> list[Fixture]:
        """Return the fixtures in order."""
        return list(self.state)

    def shown(self) -> list[list[str]]:
        """Return the ids of the entries of each fixture."""
        return [[entry.id for entry in fixture.entries.values()] for fixture in self.state]

    def apply(self, *batches: Batch) -> None:
        """Apply batches and commit once."""
        board = self.board()
        for batch in batches:
            run_now(board.apply(batch, self.now))
        self.publish(board)

    def fail(self, bookmaker: str, at_mono: float) -> None:
        """Report to the board that an attempt to get the list of a bookmaker failed at `at_mono`."""
        board = self.board()
        board.fail(BookmakerId(bookmaker), SCOPE, at_mono)
        self.publish(board)

    def expire(self) -> None:
        """Withdraw everything that is overdue now."""
        board = self.board()
        run_now(board.expire(self.now))
        self.publish(board)

    def link(self) -> None:
        """Link all waiting events, and publish the links."""
        while self.waiting:
            self.propose()
            while self.links:
                self.publish_links()

    def propose(self) -> None:
        """Have the waiting events grouped, and publish none of the links."""
        waiting, self.waiting = self.waiting, {}
        self.links = run_now(self.linking.update(self.state, waiting))

    def publish_links(self) -> None:
        """Publish the next links."""
        if self.links:
            board = self.board()
            board.link(self.links.pop(0))
            self.publish(board)

    def restart(self) -> None:
        """Let another linker begin anew."""
        self.linker = EqualNames()
        self.linking = Linking(self.linker, self.advancing.roster)
        self.links = run_now(self.linking.update(self.state, None))
        while self.links:
            self.publish_links()
        self.link()

    def board(self) -> Board:
        """Return a board on the present snapshot."""
        return Board(self.snapshot, RULES, self.advancing)

    def publish(self, board: Board) -> None:
        """Commit, and keep the changes."""
        self.snapshot = run_now(board.finish(self.now))
        self.history.add(self.snapshot)
        changes = self.snapshot.fixture_changes
        if isinstance(changes, FixtureChanges):
            self.changes.append(changes)
            self.waiting |= dict.fromkeys(changes.events)
            self.snapshot = msgspec.structs.replace(self.snapshot, fixture_changes=None, differences={})
