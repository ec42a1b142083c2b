"""Applies a commit to the fixtures of one kind of market, in time that depends on what it changed.

Pure, in slices. Prices change, markets come and go, and fixtures follow those of the 1X2 prices where these
were linked otherwise, named otherwise, or kick off at another time.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import TypeAlias

from immutables import Map
from msgspec.structs import replace

from actors.board.board import Books, Noted
from actors.board.diff import named
from actors.board.snapshot import Entry, Linked, Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import BookmakerId, event_id_of
from actors.market_fixtures.main_line import main_line
from actors.market_fixtures.model import (
    Followed,
    MarketState,
    head_of,
    market_fixture_id,
    markets_of,
    with_markets,
)
from actors.matches.draft import FixtureUpdate, bonds
from actors.matches.model import (
    Fixture,
    FixtureChange,
    FixtureRemoval,
    FixtureSettings,
    FixtureState,
    Head,
    Roster,
)
from actors.matches.standing import Surebets
from actors.matches.surebets import SurebetRules
from actors.matching.event import EventKey, FixtureId, derived_id
from actors.matching.matcher import Member
from actors.matching.rules import Rule

Edits: TypeAlias = dict[FixtureId, dict[BookmakerId, Entry | None]]


class MarketUpdater:
    """The function for `Board` that takes the fixtures of one kind of market to the next version.

    Of a kind that `has_lines` one of each match is the main line. Of a kind that `may_count_from_now` in
    play, fixtures know whether their match has begun.
    """

    def __init__(
        self, terms: FixtureSettings, *, has_lines: bool = False, may_count_from_now: bool = False
    ) -> None:
        self._terms, self._surebets = terms, Surebets(terms)
        self._has_lines = has_lines
        self._may_count_from_now = may_count_from_now

    def rule(self, rules: SurebetRules) -> None:
        """Find surebets by these rules from the next commit on, with which all fixtures change."""
        self._terms = replace(self._terms, surebets=rules)
        self._surebets = Surebets(self._terms)

    def __call__(
        self, base: Snapshot, books: Books, noted: Noted, links: object, now: Instant, *, version: int
    ) -> Sliced[Linked | None]:
        """Return the fixtures after these differences, as they follow those of 1X2; None if all stay."""
        state, followed = markets_of(base), links
        if not isinstance(followed, Followed):
            raise TypeError("the fixtures of a market follow those of 1X2")
        draft = FixtureUpdate(state, self._terms.roster, version, books)
        if draft.terms.surebets != self._terms.surebets:
            yield from draft.adopt(self._terms)
        draft.pending = followed.after.pending
        following = _Following(draft, state, followed.after, self._terms.roster)
        if followed.before is state.followed and followed.changes is not None:
            yield from following.follow(followed.changes.changes)
        elif followed.after is not state.followed and followed.before is not state.followed:
            yield from following.look_at_all()
        yield from following.take(noted)
        yield from following.settle()
        if self._has_lines:
            yield from following.choose_mains()
        if self._may_count_from_now:
            yield from _begin(draft, state, now.wall)
        yield from self._surebets.settle(draft, base.books, books, now)
        linked = (yield from draft.finish()) or Linked(state)
        made = linked.fixtures
        if not isinstance(made, FixtureState):
            raise TypeError("fixtures of a draft are a state")
        if made is state and followed.after is state.followed:
            return None
        next_start = _next_start(made, now.wall) if self._may_count_from_now else inf
        homes, markets = following.homes(), following.markets()
        of_kind = with_markets(made, homes, markets, followed=followed.after, next_start=next_start)
        return Linked(of_kind, linked.changes, linked.is_seen)


def _begin(draft: FixtureUpdate, state: MarketState, wall: float) -> Sliced[None]:
    """Note which matches have begun, or may have."""
    for fixture_id in draft.touched:
        if (fixture := draft.get(fixture_id)) is not None and _has_begun(fixture, wall):
            draft.put(replace(fixture, has_begun=True))
    if state.next_start > wall:
        return
    for chunk in state.chunks:
        if chunk.first.start > wall:
            break
        for known in chunk.entries:
            fixture = draft.get(known.id)
            if fixture is not None and not fixture.has_begun and _has_begun(fixture, wall):
                draft.put(replace(fixture, has_begun=True))
        yield


def _has_begun(fixture: Fixture, wall: float) -> bool:
    head = fixture.head
    if fixture.place.start <= wall or (head is not None and (head.in_play or head.kick_off <= wall)):
        return True
    return any(entry.match.in_play for entry in fixture.listed)


def _next_start(state: FixtureState, wall: float) -> float:
    """Return when the next match begins (Unix seconds); infinity if no kick-off is known."""
    for chunk in state.chunks:
        if chunk.keys[-1].start > wall:
            return next(place.start for place in chunk.keys if place.start > wall)
    return inf


class _Following:
    """Sorts entries into the fixtures of their markets, as `main`, the 1X2 fixtures, group the events."""

    def __init__(
        self, draft: FixtureUpdate, state: MarketState, main: FixtureState, roster: Roster
    ) -> None:
        self._draft, self._state, self._main, self._roster = draft, state, main, roster
        self._edits: Edits = {}
        self._keys: dict[EventKey, None] = {}
        self._into: dict[FixtureId, tuple[FixtureRemoval, FixtureId | None]] = {}
        self._homes: dict[EventKey, FixtureId | None] = {}
        self._markets: dict[FixtureId, dict[FixtureId, None]] = {}
        self._heads: dict[FixtureId, Head | None] = {}

    def home(self, event: EventKey) -> FixtureId:
        """Return the fixture of the match that an event is in."""
        home = self._main.by_event.get(event)
        if home is None:
            home = self._homes.get(event) or self._state.homes.get(event)
        return derived_id(event) if home is None else home

    def take(self, noted: Noted) -> Sliced[None]:
        """Take over what changed of the entries."""
        for bookmaker, differences in noted.items():
            source = self._roster[bookmaker].source
            for count, (match_id, old) in enumerate(differences.before.items(), 1):
                new, key = named(differences.after[match_id]), EventKey(source, match_id)
                if new is not None:
                    self._put(key, bookmaker, new)
                elif named(old) is not None and (known := self._draft.id_of(key)) is not None:
                    self._edit(known, bookmaker, None)
                    self._keys[key] = None
                if count % SLICE == 0:
                    yield

    def follow(self, changes: Iterable[FixtureChange]) -> Sliced[None]:
        """Follow the 1X2 fixtures where a commit changed more of them than prices."""
        for count, change in enumerate(changes, 1):
            if not _are_alike(change.before, change.after):
                touched = {change.id: None}
                for fixture in (change.before, change.after):
                    if fixture is not None:
                        keys = [member.key for member in fixture.members]
                        touched |= {home: None for key in keys if (home := self._state.homes.get(key))}
                if change.into is not None:
                    self._into[change.id] = change.reason, change.into
                elif change.reason is FixtureRemoval.SPLIT:
                    self._into[change.id] = change.reason, None
                for match_id in touched:
                    self._look_at(match_id)
            if count % SLICE == 0:
                yield

    def look_at_all(self) -> Sliced[None]:
        """Sort all anew, where it is not known what changed of the 1X2 fixtures."""
        for count, match_id in enumerate(self._state.markets, 1):
            self._look_at(match_id)
            if count % (SLICE // 8) == 0:
                yield

    def settle(self) -> Sliced[None]:
        """Put the fixtures that changed into the draft."""
        for count, (fixture_id, changes) in enumerate(self._edits.items(), 1):
            self._settle(fixture_id, changes)
            if count % (SLICE // 8) == 0:
                yield
        for key in self._keys:
            self._leave(key)

    def choose_mains(self) -> Sliced[None]:
        """Note the main line of each match that changed."""
        for count, names in enumerate(self._markets.values(), 1):
            lines = [line for name in names if (line := self._draft.get(name)) is not None]
            main = main_line(lines, self._roster) if lines else None
            for line in lines:
                if line.is_main != (line is main):
                    self._draft.put(replace(line, is_main=line is main))
            if count % (SLICE // 8) == 0:
                yield

    def homes(self) -> Map[EventKey, FixtureId]:
        """Return the fixture of the match of each event."""
        if not self._homes:
            return self._state.homes
        mutation = self._state.homes.mutate()
        for key, home in self._homes.items():
            if home is None:
                mutation.pop(key, None)
            else:
                mutation[key] = home
        return mutation.finish()

    def markets(self) -> Map[FixtureId, tuple[FixtureId, ...]]:
        """Return the fixtures of the markets of each match."""
        mutation = self._state.markets.mutate()
        for match_id, some in self._markets.items():
            if some:
                mutation[match_id] = tuple(some)
            else:
                mutation.pop(match_id, None)
        return mutation.finish()

    def _look_at(self, match_id: FixtureId) -> None:
        """Sort the entries of all markets of a match anew."""
        for fixture_id in self._state.markets.get(match_id, ()):
            if (fixture := self._draft.get(fixture_id)) is not None:
                self._edits.setdefault(fixture_id, {})
                for bookmaker, entry in fixture.entries.items():
                    key = EventKey(self._roster[bookmaker].source, entry.source_match_id)
                    self._put(key, bookmaker, entry)

    def _put(self, key: EventKey, bookmaker: BookmakerId, entry: Entry) -> None:
        """Put an entry into the fixture of its market, and take it out of the fixture that it was in."""
        event = EventKey(key.source, event_id_of(key.source_match_id))
        home = self.home(event)
        fixture_id = market_fixture_id(home, entry.match.market)
        known = self._draft.id_of(key)
        if known is not None and known != fixture_id:
            self._edit(known, bookmaker, None)
        self._edit(fixture_id, bookmaker, entry)
        if known != fixture_id:
            self._draft.move([key], fixture_id)
        if self._state.homes.get(event) != home:
            self._homes[event] = home

    def _edit(self, fixture_id: FixtureId, bookmaker: BookmakerId, entry: Entry | None) -> None:
        self._edits.setdefault(fixture_id, {})[bookmaker] = entry

    def _settle(self, fixture_id: FixtureId, changes: dict[BookmakerId, Entry | None]) -> None:
        known = self._draft.get(fixture_id)
        entries = {} if known is None else known.entries
        for name, entry in changes.items():
            if entry is None:
                entries.pop(name, None)
            else:
                entries[name] = entry
        match_id = FixtureId(fixture_id.partition(" ")[0])
        some = self._markets.setdefault(match_id, dict.fromkeys(self._state.markets.get(match_id, ())))
        if not entries:
            some.pop(fixture_id, None)
            if known is not None:
                self._draft.remove(fixture_id, *self._why(known))
            return
        some[fixture_id] = None
        market = next(iter(entries.values())).match.market
        head = self._head(match_id) or (None if known is None else known.head)
        created = self._draft.version if known is None else known.created
        members = self._members(match_id, known, entries)
        self._draft.put(self._draft.made(fixture_id, created, members, entries, market=market, head=head))

    def _why(self, fixture: Fixture) -> tuple[FixtureRemoval, FixtureId | None]:
        """Return why a fixture without entries is gone, and where they are now."""
        match_id = fixture.match_id
        if (known := self._into.get(match_id)) is not None:
            reason, into = known
            return reason, None if into is None else market_fixture_id(into, fixture.market)
        goes_on = self._main.get(match_id) is not None or self._markets.get(match_id)
        return (FixtureRemoval.NO_MARKET if goes_on else FixtureRemoval.ENDED), None

    def _head(self, match_id: FixtureId) -> Head | None:
        """Return what names a match that has 1X2 prices, None if it has none."""
        if match_id not in self._heads:
            fixture = self._main.get(match_id)
            self._heads[match_id] = None if fixture is None else head_of(fixture, self._roster.live)
        return self._heads[match_id]

    def _members(
        self, match_id: FixtureId, known: Fixture | None, entries: dict[BookmakerId, Entry]
    ) -> tuple[Member, ...]:
        """Return the events of a match by the 1X2 prices, and those that have only others."""
        main = self._main.get(match_id)
        members = main.members if main is not None else () if known is None else known.members
        linked = {member.key for member in members}
        before = {} if known is None else {member.key: member for member in known.members}
        for name, entry in entries.items():
            key = EventKey(self._roster[name].source, event_id_of(entry.source_match_id))
            if key not in linked:
                linked.add(key)
                members = (*members, before.get(key, Member(key, Rule.FIRST)))
        return members

    def _leave(self, key: EventKey) -> None:
        """Forget an event, and its match, if no bookmaker of its source lists that market any more."""
        fixture_id = self._draft.id_of(key)
        if fixture_id is None:
            return
        fixture = self._draft.get(fixture_id)
        if fixture is not None and self._has(fixture, key.source):
            return
        self._draft.move([key], None)
        event = EventKey(key.source, event_id_of(key.source_match_id))
        match_id = FixtureId(fixture_id.partition(" ")[0])
        others = self._markets.get(match_id, ())
        if not any((other := self._draft.get(name)) and self._has(other, key.source) for name in others):
            self._homes[event] = None

    def _has(self, fixture: Fixture, source: str) -> bool:
        return any(self._roster[name].source == source for name in fixture.bookmakers)


def _are_alike(before: Fixture | None, after: Fixture | None) -> bool:
    """Return whether nothing but prices of a 1X2 fixture changed."""
    if before is None or after is None or before.bookmakers != after.bookmakers:
        return False
    if before.lead != after.lead or before.place != after.place:
        return False
    if before.members is not after.members and bonds(before.members) != bonds(after.members):
        return False
    return all(
        old is new or (old.match.listing == new.match.listing and old.match.in_play == new.match.in_play)
        for old, new in zip(before.listed, after.listed, strict=True)
    )
