"""Applies a commit to the fixtures of one kind of market, in time proportional to the changes.

Pure, in slices. Prices change, markets come and go, and fixtures follow changes in the links, names and
kick-offs of the 1X2 fixtures and side events.
"""

from __future__ import annotations

from math import inf
from typing import Any, TypeAlias

from immutables import Map
from msgspec.structs import replace

from actors.board.board import Books, Noted
from actors.board.diff import named
from actors.board.snapshot import Entry, Linked, Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import BookmakerId, event_id_of
from actors.market_fixtures.heads import are_alike, head_of
from actors.market_fixtures.main_line import MainLines
from actors.market_fixtures.model import (
    Followed,
    MarketState,
    market_fixture_id,
    markets_of,
    match_id_of,
    with_markets,
)
from actors.matches.draft import FixtureUpdate
from actors.matches.model import (
    Fixture,
    FixtureRemoval,
    FixtureSettings,
    FixtureState,
    Head,
    Roster,
)
from actors.matches.standing import Surebets
from actors.matches.surebets import SurebetRules
from actors.matching.event import EventKey, FixtureId
from actors.matching.matcher import Member

Edits: TypeAlias = dict[FixtureId, dict[BookmakerId, Entry | None]]


class MarketUpdater:
    """The `Advance` function that takes the fixtures of one kind of market to the next version.

    With `has_lines` one line of each match is the main line. With `may_count_from_now` fixtures record
    whether their match has begun, because goals before a bet in play may not count.
    """

    def __init__(
        self, terms: FixtureSettings, *, has_lines: bool = False, may_count_from_now: bool = False
    ) -> None:
        self._terms, self._surebets = terms, Surebets(terms)
        self._main_lines = MainLines() if has_lines else None
        self._may_count_from_now = may_count_from_now

    def rule(self, rules: SurebetRules) -> None:
        """Use these rules for surebets from the next commit on, which then changes all fixtures."""
        self._terms = replace(self._terms, surebets=rules)
        self._surebets = Surebets(self._terms)

    def __call__(
        self,
        base: Snapshot,
        books: Books,
        noted: Noted,
        links: object,
        now: Instant | None,
        *,
        version: int,
        is_present: bool = True,
    ) -> Sliced[Linked | None]:
        """Return the fixtures after these differences and 1X2 fixture changes; None if all stay.

        Unless it `is_present`, the time may be a while ago. With an unknown time (None) there are no
        surebets, and any match may have begun.
        """
        state, followed = markets_of(base), links
        if not isinstance(followed, Followed):
            raise TypeError("the fixtures of a market follow those of 1X2")
        draft = FixtureUpdate(state, self._terms.roster, version, books)
        if draft.terms.surebets != self._terms.surebets:
            yield from draft.adopt(self._terms)
        draft.pending = followed.after.pending
        following = _Following(draft, state, followed, self._terms.roster)
        yield from following.sort(noted, self._main_lines)
        wall = inf if now is None else now.wall
        if self._may_count_from_now:
            yield from _begin(draft, state, wall)
        if now is None:
            self._surebets.end(draft)
        else:
            yield from self._surebets.settle(draft, base.books, books, now, is_present=is_present)
        linked = (yield from draft.finish()) or Linked(state)
        made: Any = linked.fixtures
        is_same = made is state and followed.after is state.followed and followed.sides is state.sides
        if is_same and not (self._may_count_from_now and _is_time(state, wall)):
            return None
        next_start = _next_start(made, wall) if self._may_count_from_now else inf
        of_kind = with_markets(made, following.markets(), followed, next_start)
        return Linked(of_kind, linked.changes, linked.is_seen)


def _begin(draft: FixtureUpdate, state: MarketState, wall: float) -> Sliced[None]:
    """Record which matches have, or may have, begun."""
    for fixture_id in draft.touched:
        if (fixture := draft.get(fixture_id)) is not None and _has_begun(fixture, wall):
            draft.put(replace(fixture, has_begun=True))
    if not _is_time(state, wall):
        return
    is_anew = state.next_start == -inf  # all marks are provisional, because the time was unknown
    for chunk in state.chunks:
        if chunk.first.start > wall and not is_anew:
            break
        for known in chunk.entries:
            fixture = draft.get(known.id)
            if fixture is None or (fixture.has_begun and not is_anew):
                continue
            if (has_begun := _has_begun(fixture, wall)) != fixture.has_begun:
                draft.put(replace(fixture, has_begun=has_begun))
        yield


def _is_time(state: MarketState, wall: float) -> bool:
    """Return whether the marks of begun matches may be outdated.

    They may be outdated after a kick-off, and when the time becomes known or unknown (`wall` is infinity).
    """
    return state.next_start != -inf if wall == inf else state.next_start <= wall


def _has_begun(fixture: Fixture, wall: float) -> bool:
    head = fixture.head
    if fixture.place.start <= wall or (head is not None and (head.in_play or head.kick_off <= wall)):
        return True
    return any(entry.match.in_play for entry in fixture.listed)


def _next_start(state: FixtureState, wall: float) -> float:
    """Return when the next match begins (Unix seconds); infinity if no kick-off is known.

    It is minus infinity if the present time is unknown, because any match may have begun.
    """
    if wall == inf:
        return -inf
    for chunk in state.chunks:
        if chunk.keys[-1].start > wall:
            return next(place.start for place in chunk.keys if place.start > wall)
    return inf


class _Following:
    """Sorts entries into the fixtures of their markets, as the 1X2 fixtures and side events group them."""

    def __init__(
        self, draft: FixtureUpdate, state: MarketState, followed: Followed, roster: Roster
    ) -> None:
        self._draft, self._state, self._roster = draft, state, roster
        self._followed, self._main, self._sides = followed, followed.after, followed.sides
        self._edits: Edits = {}
        self._left: dict[EventKey, None] = {}
        self._looked_at: set[FixtureId] = set()
        self._markets: dict[FixtureId, dict[FixtureId, None]] = {}
        self._heads: dict[FixtureId, Head | None] = {}

    def _home(self, event: EventKey) -> FixtureId | None:
        """Return the fixture of an event's match, None if the event is in no match any more."""
        home = self._main.by_event.get(event)
        if home is None and (side := self._sides.by_event.get(event)) is not None:
            return side.home
        return home

    def sort(self, noted: Noted, main_lines: MainLines | None) -> Sliced[None]:
        """Put all changed fixtures into the draft; `main_lines` is given for a kind that has lines."""
        state, followed = self._state, self._followed
        if followed.before is state.followed and followed.sides_before is state.sides:
            yield from self._follow()
        else:  # after a crash between two boards' commits
            yield from self._look_at_all()
        yield from self._take(noted)
        yield from self._settle_all()
        if main_lines is not None:
            yield from self._choose_mains(main_lines)

    def _take(self, noted: Noted) -> Sliced[None]:
        """Apply the changes of the entries."""
        for bookmaker, differences in noted.items():
            source = self._roster[bookmaker].source
            for count, (match_id, old) in enumerate(differences.before.items(), 1):
                new, key = named(differences.after[match_id]), EventKey(source, match_id)
                if new is not None:
                    self._put(key, bookmaker, new)
                elif named(old) is not None:
                    self._take_out(key, bookmaker)
                if count % SLICE == 0:
                    yield

    def _follow(self) -> Sliced[None]:
        """Follow changes of side events, and of 1X2 fixtures unless only prices changed."""
        before, after = self._followed.sides_before.by_event, self._sides.by_event
        for count, change in enumerate(self._followed.changes.changes, 1):
            if not are_alike(change.before, change.after):
                self._look_at(change.id)
                members = () if change.after is None else change.after.members
                for side in [before[member.key] for member in members if member.key in before]:
                    self._look_at(side.home)
            if count % SLICE == 0:
                yield
        if before is after:
            return
        for count, key in enumerate(self._followed.changed_sides, 1):
            if (known := before.get(key)) is not None:
                self._look_at(known.home)
            if count % SLICE == 0:
                yield

    def _look_at_all(self) -> Sliced[None]:
        """Sort all entries anew, when the changes of the 1X2 fixtures are unknown."""
        for count, match_id in enumerate(sorted(self._state.markets), 1):  # same on every machine
            self._look_at(match_id)
            if count % (SLICE // 8) == 0:
                yield

    def _settle_all(self) -> Sliced[None]:
        """Put the changed fixtures into the draft."""
        for count, (fixture_id, changes) in enumerate(self._edits.items(), 1):
            self._settle(fixture_id, changes)
            if count % (SLICE // 8) == 0:
                yield
        for count, key in enumerate(self._left, 1):
            self._leave(key)
            if count % SLICE == 0:
                yield
        for count, fixture_id in enumerate(self._edits, 1):
            self._explain(fixture_id)
            if count % SLICE == 0:
                yield

    def _choose_mains(self, main_lines: MainLines) -> Sliced[None]:
        """Record the main line of each changed match."""
        for count, (match_id, names) in enumerate(self._markets.items(), 1):
            lines = [line for name in names if (line := self._draft.get(name)) is not None]
            main = main_lines.of(match_id, lines, self._roster)
            for line in lines:
                if line.is_main != (line is main):
                    self._draft.put(replace(line, is_main=line is main))
            if count % (SLICE // 8) == 0:
                yield

    def markets(self) -> Map[FixtureId, tuple[FixtureId, ...]]:
        """Return the fixtures of each match's markets."""
        mutation = self._state.markets.mutate()
        for match_id, some in self._markets.items():
            if some:
                mutation[match_id] = tuple(some)
            else:
                mutation.pop(match_id, None)
        return mutation.finish()

    def _look_at(self, match_id: FixtureId) -> None:
        """Sort the entries of all markets of a match anew, once."""
        if match_id in self._looked_at:
            return
        self._looked_at.add(match_id)
        for fixture_id in self._state.markets.get(match_id, ()):
            if (fixture := self._state.get(fixture_id)) is None:
                continue
            self._edits.setdefault(fixture_id, {})
            for bookmaker, entry in fixture.entries.items():
                event = EventKey(self._roster[bookmaker].source, event_id_of(entry.source_match_id))
                home = self._home(event)  # None if the event is about to leave
                if home is not None and home != match_id:
                    self._put(EventKey(event.source, entry.source_match_id), bookmaker, entry)

    def _put(self, key: EventKey, bookmaker: BookmakerId, entry: Entry) -> None:
        """Put an entry into its market's fixture, and take it out of the former fixture."""
        if (home := self._home(_event_of(key))) is None:
            raise LookupError(f"{key} is neither listed with 1X2 prices nor a side event")
        fixture_id = market_fixture_id(home, entry.match.market)
        known = self._state.by_event.get(key)  # not from the draft: bookmakers of a source share the key
        if known is not None and known != fixture_id:
            self._drop(known, bookmaker, key)
        self._edits.setdefault(fixture_id, {})[bookmaker] = entry
        if self._draft.id_of(key) != fixture_id:
            self._draft.move([key], fixture_id)

    def _take_out(self, key: EventKey, bookmaker: BookmakerId) -> None:
        """Take an entry out of its former fixture, and out of its fixture in the draft."""
        for fixture_id in {self._state.by_event.get(key), self._draft.id_of(key)}:
            if fixture_id is not None:
                self._drop(fixture_id, bookmaker, key)
        self._left[key] = None

    def _drop(self, fixture_id: FixtureId, bookmaker: BookmakerId, key: EventKey) -> None:
        """Take an entry out of a fixture, unless another event of the bookmaker has replaced it."""
        edits = self._edits.setdefault(fixture_id, {})
        new = edits.get(bookmaker)
        if new is None or new.source_match_id == key.source_match_id:
            edits[bookmaker] = None

    def _settle(self, fixture_id: FixtureId, changes: dict[BookmakerId, Entry | None]) -> None:
        known = self._draft.get(fixture_id)
        entries = {} if known is None else known.entries
        for name, entry in changes.items():
            if entry is None:
                entries.pop(name, None)
            else:
                entries[name] = entry
        match_id = match_id_of(fixture_id)
        some = self._markets.setdefault(match_id, dict.fromkeys(self._state.markets.get(match_id, ())))
        if not entries:
            some.pop(fixture_id, None)
            if known is not None:
                self._draft.remove(fixture_id, FixtureRemoval.ENDED)
            return
        some[fixture_id] = None
        market = next(iter(entries.values())).match.market
        created = self._draft.version if known is None else known.created
        is_new = known is None or match_id in self._looked_at  # otherwise it keeps its head
        head = self._head(match_id) if is_new or known is None else known.head
        members = self._members(match_id, entries)
        self._draft.put(self._draft.made(fixture_id, created, members, entries, market=market, head=head))

    def _leave(self, key: EventKey) -> None:
        """Forget an event if no bookmaker of its source lists the market any more."""
        fixture_id = self._draft.id_of(key)
        fixture = None if fixture_id is None else self._draft.get(fixture_id)
        if fixture_id is not None and (fixture is None or key not in self._keys_of(fixture).values()):
            self._draft.move([key], None)

    def _explain(self, fixture_id: FixtureId) -> None:
        """Record why a fixture or some of its bookmakers are gone, and where their entries are now."""
        known, new = self._state.get(fixture_id), self._draft.get(fixture_id)
        if known is None or (new is not None and known.bookmakers == new.bookmakers):
            return
        stay = frozenset[BookmakerId]() if new is None else frozenset(new.bookmakers)
        if stay.issuperset(known.bookmakers):
            return
        left = [key for name, key in self._keys_of(known).items() if name not in stay]
        found = {home for key in left if (home := self._draft.id_of(key)) is not None}
        homes = found - {fixture_id}
        match_id = match_id_of(fixture_id)
        goes_on = match_id in self._main.places or match_id in self._sides.by_home
        if not homes:
            reason = FixtureRemoval.NO_MARKET if goes_on else FixtureRemoval.ENDED
            self._draft.reasons[fixture_id] = reason, None
        elif goes_on or new is not None:
            self._draft.reasons[fixture_id] = FixtureRemoval.SPLIT, None
        else:
            self._draft.reasons[fixture_id] = FixtureRemoval.MERGED, self._merged_into(match_id, homes)

    def _merged_into(self, match_id: FixtureId, homes: set[FixtureId]) -> FixtureId:
        """Return the match into which a match merged, if possible the match that its 1X2 fixture joined."""
        into = {change.into for change in self._followed.changes.changes if change.id == match_id}
        return min(homes, key=lambda home: (match_id_of(home) not in into, home))

    def _keys_of(self, fixture: Fixture) -> dict[BookmakerId, EventKey]:
        entries = fixture.entries.items()
        return {name: EventKey(self._roster[name].source, entry.source_match_id) for name, entry in entries}

    def _head(self, match_id: FixtureId) -> Head | None:
        """Return the head of a match that has, or had, 1X2 prices, None if it never had any."""
        if match_id not in self._heads:
            fixture = self._main.get(match_id)
            head = (
                self._sides.heads.get(match_id) if fixture is None else head_of(fixture, self._roster.live)
            )
            self._heads[match_id] = head
        return self._heads[match_id]

    def _members(self, match_id: FixtureId, entries: dict[BookmakerId, Entry]) -> tuple[Member, ...]:
        """Return the members of a match by 1X2 prices, and its side events that have these entries."""
        main, sides = self._main.get(match_id), self._sides.by_event
        if main is not None and match_id not in self._sides.by_home:
            return main.members
        events = dict.fromkeys(
            EventKey(self._roster[name].source, event_id_of(entry.source_match_id))
            for name, entry in entries.items()
        )
        some = [sides[event].member for event in events if event in sides]
        first = () if main is None else main.members[:1]
        rest = some if main is None else [*main.members[1:], *some]
        return *first, *sorted(rest, key=lambda member: member.key)


def _event_of(key: EventKey) -> EventKey:
    """Return the event of a market's key."""
    return EventKey(key.source, event_id_of(key.source_match_id))
