"""Applies groups of events to the fixtures: fixtures merge, and invalid links are withdrawn.

Pure. When fixtures merge, the older one stays, by version and then id. A fixture stays with the event that
it began with; the other part gets a new id.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from actors.board.snapshot import Entry
from actors.core.messages import BookmakerId
from actors.matches.draft import FixtureUpdate, bonds
from actors.matches.model import Fixture, FixtureRemoval
from actors.matching.event import EventKey, FixtureId
from actors.matching.matcher import Group, Member


def join(draft: FixtureUpdate, group: Group) -> Fixture:
    """Put these events, each of which has a fixture, into one fixture without other members."""
    keys = {member.key for member in group}
    homes = _homes(draft, keys)
    stayers = [fixture for fixture in homes if fixture.members[0].key in keys]
    stayer = min(stayers, key=lambda fixture: (fixture.created, fixture.id), default=None)
    if stayer is not None and len(homes) == 1 and len(stayer.members) == len(keys):
        members = _ordered(group, stayer)
        if bonds(members) != bonds(stayer.members):  # otherwise the evidence at the time of linking stays
            stayer = msgspec.structs.replace(stayer, members=members, surebet=None)
            draft.put(stayer)
        return stayer
    entries: dict[BookmakerId, Entry] = {}
    for home in homes:
        entries |= draft.part(home, keys)
        _leave(draft, home, keys, into=None if stayer is None else stayer.id)
    if stayer is None:
        return draft.begin(group, entries)
    joined = draft.made(stayer.id, stayer.created, _ordered(group, stayer), entries)
    draft.put(joined)
    draft.move(keys, stayer.id)
    return joined


def part(draft: FixtureUpdate, key: EventKey) -> None:
    """Move an event to a fixture of its own."""
    fixture_id = draft.id_of(key)
    fixture = None if fixture_id is None else draft.get(fixture_id)
    if fixture is None or len(fixture.members) == 1:
        return
    draft.reasons[fixture.id] = FixtureRemoval.SPLIT, None
    if fixture.members[0].key == key:
        others = fixture.members[1:]
        entries = draft.part(fixture, {member.key for member in others})
        draft.without(fixture, {member.key for member in others})
        draft.begin(others, entries)
    else:
        draft.split(fixture, key)


def _leave(draft: FixtureUpdate, home: Fixture, keys: Collection[EventKey], into: FixtureId | None) -> None:
    """Take these events out of a fixture; if its first event goes, the others begin a new fixture."""
    others = tuple(member for member in home.members if member.key not in keys)
    if home.members[0].key not in keys:
        draft.reasons[home.id] = FixtureRemoval.SPLIT, None
        draft.without(home, set(keys))
        return
    if home.id == into:
        draft.reasons[home.id] = FixtureRemoval.SPLIT, None
    else:
        draft.remove(home.id, FixtureRemoval.MERGED, into)
    if others:
        draft.begin(others, draft.part(home, {member.key for member in others}))


def _homes(draft: FixtureUpdate, keys: Collection[EventKey]) -> list[Fixture]:
    """Return the fixtures with any of these events, sorted by id."""
    ids = {fixture_id for key in keys if (fixture_id := draft.id_of(key)) is not None}
    return [fixture for name in sorted(ids) if (fixture := draft.get(name)) is not None]


def _ordered(group: Group, stayer: Fixture) -> tuple[Member, ...]:
    """Return the group, with the fixture's first event at the front."""
    first = stayer.members[0].key
    return tuple(sorted(group, key=lambda member: member.key != first))
