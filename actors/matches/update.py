"""Applies a commit to the fixtures, in time proportional to the changes.

Pure, in slices. New events become fixtures, prices change, members and fixtures go, links are applied, and
disagreeing prices end a link.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from math import inf

from msgspec.structs import replace

from actors.board.board import Books, Noted
from actors.board.chunks import find
from actors.board.diff import named
from actors.board.snapshot import Differences, Entry, Linked, Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import BookmakerId, SourceName
from actors.matches.draft import FixtureUpdate
from actors.matches.entries import chances_of, is_other_event, unpriced_event_of
from actors.matches.linking import Links, apply
from actors.matches.links import part
from actors.matches.model import Fixture, FixtureRemoval, FixtureSettings, fixtures_of
from actors.matches.standing import Surebets
from actors.matches.surebets import SurebetRules
from actors.matching.event import Chances, EventKey, FixtureId
from actors.matching.matcher import Member
from actors.matching.rules import Certainty, Rule, price_gap

Changes = Mapping[BookmakerId, Entry | None]
Edits = dict[FixtureId, dict[BookmakerId, Entry | None]]


class FixtureUpdater:
    """The `Advance` function that takes fixtures from one version to the next."""

    def __init__(self, terms: FixtureSettings) -> None:
        self.roster = terms.roster
        self._by_source: dict[SourceName, list[BookmakerId]] = {}
        for name, info in terms.roster.items():
            self._by_source.setdefault(info.source, []).append(name)
        self._terms, self._surebets = terms, Surebets(terms)

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
        """Return the fixtures after these differences and links at `now`; None if they are unchanged.

        Only surebets depend on the time. Unless it `is_present`, the time may be a while ago. With an
        unknown time (None) there are no surebets.
        """
        terms, surebets = self._terms, self._surebets
        draft = FixtureUpdate(fixtures_of(base), self.roster, version, books)
        if draft.terms.surebets != terms.surebets:
            yield from draft.adopt(terms)
        yield from self.take(draft, books, noted)
        if isinstance(links, Links):
            draft.pending = links.pending + draft.pending - draft.base.pending
            for fixture in apply(draft, links, self.roster):
                self._part(draft, fixture, {member.key.source for member in fixture.members})
                yield
        if now is None:
            surebets.end(draft)
        else:
            yield from surebets.settle(draft, base.books, books, now, is_present=is_present)
        return (yield from draft.finish())

    def take(self, draft: FixtureUpdate, books: Books, noted: Noted) -> Sliced[None]:
        """Apply the changes of the entries."""
        edits: Edits = {}
        new: dict[EventKey, None] = {}
        for bookmaker, differences in noted.items():
            yield from self._collect(draft, bookmaker, differences, edits, new)
        for count, (fixture_id, changes) in enumerate(edits.items(), 1):
            if (fixture := draft.get(fixture_id)) is not None:
                self._edit(draft, fixture, changes)
            if count % (SLICE // 8) == 0:
                yield
        for count, key in enumerate(new, 1):
            self._begin(draft, books, key)
            if count % (SLICE // 8) == 0:
                yield

    def _begin(self, draft: FixtureUpdate, books: Books, key: EventKey) -> None:
        """Begin a fixture for a new event, unless it has a fixture, or its entries are gone."""
        if draft.id_of(key) is not None:
            return
        entries = {
            name: entry
            for name in self._by_source[key.source]
            if (entry := named(find(books[name].chunks, key.source_match_id))) is not None
        }
        if entries:
            draft.pending += 1
            draft.events[key] = None
            draft.begin((Member(key, Rule.FIRST),), entries)

    def _collect(
        self,
        draft: FixtureUpdate,
        bookmaker: BookmakerId,
        differences: Differences,
        edits: Edits,
        new_events: dict[EventKey, None],
    ) -> Sliced[None]:
        """Sort differences by fixture; entries of events without a fixture are new."""
        source, fixture_of = self.roster[bookmaker].source, draft.base.by_event.get
        before, after = differences.before, differences.after
        for count, (match_id, old) in enumerate(before.items(), 1):
            key, new = EventKey(source, match_id), after[match_id]
            fixture_id = fixture_of(key)
            if old is not None and new is not None and not is_other_event(old, new):
                is_shown = new.is_named  # the usual case: only prices differ
            else:
                was, new = named(old), named(new)
                is_shown = was is not new
                if is_shown and fixture_id is not None:
                    draft.events[key] = None
                elif was is None and new is not None:
                    new_events[key] = None
            if is_shown and fixture_id is not None:
                if (changes := edits.get(fixture_id)) is None:
                    edits[fixture_id] = {bookmaker: new}
                else:
                    changes[bookmaker] = new
            if count % SLICE == 0:
                yield

    def _edit(self, draft: FixtureUpdate, fixture: Fixture, changes: Changes) -> None:
        """Change a fixture's entries; end the fixture if it has none left."""
        entries, members = fixture.entries, fixture.members
        for name, new in changes.items():
            if new is not None:
                entries[name] = new
            else:
                entries.pop(name, None)
        if not entries:
            self._end(draft, fixture)
            return
        if None in changes.values():
            alive = {
                EventKey(self.roster[name].source, entry.match.source_match_id)
                for name, entry in entries.items()
            }
            members = tuple(member for member in members if member.key in alive)
            draft.move([member.key for member in fixture.members if member.key not in alive], None)
        made = draft.made(fixture.id, fixture.created, members, entries)
        if draft.events and len(members) > 1:
            made = draft.made(fixture.id, fixture.created, self._doubted(draft, fixture, made), entries)
        draft.put(made)
        if len(members) > 1:
            self._part(draft, made, {self.roster[name].source for name in changes})

    def _doubted(self, draft: FixtureUpdate, before: Fixture, after: Fixture) -> tuple[Member, ...]:
        """Return the members; a member that is listed differently now is likely until it is compared again.

        A source may have used an id again for another match.
        """
        keys = [member.key for member in after.members if member.key in draft.events]
        was, now = ({unpriced_event_of(some, key, self.roster) for key in keys} for some in (before, after))
        others, likely = {event.key for event in now - was}, Certainty.LIKELY
        return tuple(
            [replace(each, certainty=likely) if each.key in others else each for each in after.members]
        )

    def _end(self, draft: FixtureUpdate, fixture: Fixture) -> None:
        draft.move([member.key for member in fixture.members], None)
        draft.remove(fixture.id, FixtureRemoval.ENDED)

    def _part(self, draft: FixtureUpdate, fixture: Fixture, sources: AbstractSet[SourceName]) -> None:
        """Take out the members that are `apart`, and have all the fixture's events compared again."""
        if parted := self.apart(fixture, sources):
            draft.events |= dict.fromkeys([member.key for member in fixture.members])
        for key in parted:
            part(draft, key)

    def apart(self, fixture: Fixture, sources: AbstractSet[SourceName]) -> list[EventKey]:
        """Return the members whose links contradict the prices, if these sources' prices changed."""
        changed = [member.key for member in fixture.members if member.key.source in sources]
        entries, known = fixture.entries, dict[EventKey, Chances | None]()

        def chances(key: EventKey) -> Chances | None:
            if key not in known:
                some = [entries[name] for name in self._by_source[key.source] if name in entries]
                known[key] = chances_of(some) if some else None
            return known[key]

        parted: list[EventKey] = []
        for member in fixture.members:
            limits, to = member.limits, member.to
            is_changed = member.key.source in sources
            if limits and not is_changed:
                limits = {key: limits[key] for key in changed if key in limits}
            if to is not None and member.max_price_gap < inf and (is_changed or to.source in sources):
                limits = {**limits, to: min(member.max_price_gap, limits.get(to, inf))}
            if limits:
                ours = chances(member.key)
                if any(limit < (price_gap(ours, chances(other)) or 0.0) for other, limit in limits.items()):
                    parted.append(member.key)
        return parted
