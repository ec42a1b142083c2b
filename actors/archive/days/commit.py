"""One value per commit, for the archive and for every other consumer of commits.

Pure. A commit is cheap to make, because it refers to the immutable snapshot and differences of the board;
its records are made where they are used, such as in the archive's own thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.board.diff import is_other, named
from actors.board.snapshot import Differences, Entry, RemovalReason, Snapshot
from actors.board.validity import ListState
from actors.core.messages import BookmakerId, Scope
from actors.markets.market import Kind
from actors.matches.model import OF_EVERY_MARKET, FixtureChanges, FixtureState
from actors.matching.event import FixtureId
from actors.matching.matcher import Member

LOST, MISSED, BEGAN_ANEW = "lost", "missed", "began_anew"
"""Reasons for missing versions: the disk was too slow; no process still has them; a new epoch began."""
DAMAGED, MISSING, UNREAD = "damaged", "missing", "unread"
"""Further reasons: a day was set aside; a day was removed; a day could not be read at the start."""

_encode = msgspec.json.Encoder(order="deterministic").encode


class EntryRecord(Struct, frozen=True, gc=False):
    """An entry of the v2 list in a commit, or (None) the reason why it left.

    The id of an entry in another market than 1X2 ends with the market, after a blank.
    """

    bookmaker: BookmakerId
    id: str
    entry: Entry | None
    reason: RemovalReason | None = None


class MembersRecord(Struct, frozen=True):
    """The members of a fixture in a commit; if it has gone, the reason and its successor."""

    fixture: FixtureId
    members: tuple[Member, ...]
    reason: str | None = None
    into: FixtureId | None = None

    @property
    def json(self) -> str | None:
        """Each member's source, id there and rule, as JSON; None without members."""
        keys = [(member.key.source, member.key.source_match_id, member.rule) for member in self.members]
        return _encode(keys).decode() if keys else None


class Commit(Struct, frozen=True, eq=False):
    """A commit of the board: its changes by bookmaker, list states, fixtures, and the whole board after it.

    `at` is its wall time (Unix seconds). `lists` has the lists of each bookmaker that had a changed list.
    `names` are the display names of all bookmakers, in the order of the configuration. `ended` are the
    fixtures of the last life, in the first commit of a life only; it may be empty. `gap` is the reason why
    a commit does not follow the one before; then its whole state counts, not its changes. `markets` are the
    boards of other kinds of market after the commit, and `market_differences` their changes. If only these
    boards changed, `whole` has an older version than the commit.
    """

    version: int
    epoch: str
    at: float
    differences: Mapping[BookmakerId, Differences]
    fixture_changes: FixtureChanges | None
    lists: Mapping[BookmakerId, Mapping[Scope, ListState]]
    names: Mapping[BookmakerId, str]
    whole: Snapshot
    ended: tuple[FixtureId, ...] | None = None
    gap: str | None = None
    markets: Mapping[Kind, Snapshot] = {}
    market_differences: Mapping[Kind, Mapping[BookmakerId, Differences]] = {}

    @property
    def weight(self) -> int:
        """An upper limit of the commit's number of records, plus one for itself."""
        changes = () if self.fixture_changes is None else self.fixture_changes.changes
        of_boards = (self.differences, *self.market_differences.values())
        return (
            1
            + len(changes)
            + sum([len(differences.before) for board in of_boards for differences in board.values()])
        )

    def entries(self) -> Iterator[EntryRecord]:
        """Iterate over the changes in the v2 list."""
        return _records(self.differences)

    def market_entries(self) -> Iterator[EntryRecord]:
        """Iterate over the changes in markets other than 1X2."""
        for differences in self.market_differences.values():
            yield from _records(differences)

    def members(self) -> Iterator[MembersRecord]:
        """Iterate over the fixtures with changed members."""
        yield from (MembersRecord(fixture, (), "ended") for fixture in self.ended or ())
        for change in () if self.fixture_changes is None else self.fixture_changes.changes:
            before = () if change.before is None else change.before.members
            after = () if change.after is None else change.after.members
            if before != after:
                gone = (change.reason, change.into) if change.after is None else (None, None)
                yield MembersRecord(change.id, after, *gone)

    def views(self) -> Iterator[str]:
        """Iterate over the documented views that the commit changed, except the list of all bookmakers.

        The first commit of a life changes all views, even those with equal content.
        """
        if self.ended is not None:
            versions = view_versions(self.whole)
            yield from (view for view, version in versions.items() if version == self.version)
        yield from (list_view(bookmaker) for bookmaker in self.differences)
        for view in () if self.fixture_changes is None else self.fixture_changes.views:
            if view.bookmaker is None:
                yield str(view.kind)


def _records(board: Mapping[BookmakerId, Differences]) -> Iterator[EntryRecord]:
    """Iterate over the visible changes in the differences of a board."""
    for bookmaker, differences in board.items():
        for match_id, old in differences.before.items():
            new = differences.after[match_id]
            before, after = named(old), named(new)
            if after is not None:
                if is_other(before, after):
                    yield EntryRecord(bookmaker, after.id, after)
            elif before is not None:
                reason = differences.reasons[match_id] if new is None else RemovalReason.UNNAMED
                yield EntryRecord(bookmaker, before.id, None, reason)


def undiffed(snapshot: Snapshot) -> Snapshot:
    """Return a snapshot without its commit's changes, so that these can be freed."""
    return replace(snapshot, differences={}, fixture_changes=None)


def commit_of(before: Snapshot, after: Snapshot, at: float, names: Mapping[BookmakerId, str]) -> Commit:
    """Return the commit that led from one published snapshot to the next."""
    changes = after.fixture_changes
    lists = {
        name: book.lists for name, book in after.books.items() if book.lists is not before.books[name].lists
    }
    return Commit(
        after.version,
        after.epoch,
        at,
        after.differences,
        changes if isinstance(changes, FixtureChanges) else None,
        lists,
        {name: names[name] for name in after.books},
        undiffed(after),
    )


def list_view(bookmaker: BookmakerId | None) -> str:
    """Return the name of the view that is a bookmaker's v2 list, or (None) the list of all."""
    return "odds" if bookmaker is None else f"odds/{bookmaker}"


def view_versions(whole: Snapshot) -> dict[str, int]:
    """Return the version of every documented view."""
    versions = {list_view(name): book.v2_version for name, book in whole.books.items()}
    versions[list_view(None)] = max([book.v2_version for book in whole.books.values()])
    if isinstance(whole.fixtures, FixtureState):
        of_all = whole.fixtures.versions
        versions |= {
            str(kind): of_all.get(kind, {}).get(None, whole.fixtures.first_version)
            for kind in OF_EVERY_MARKET
        }
    return versions


def whole_entries(whole: Snapshot) -> Iterator[EntryRecord]:
    """Iterate over all entries of the v2 list, in its order."""
    for bookmaker, book in whole.books.items():
        for chunk in book.chunks:
            for entry in chunk.entries:
                if entry.is_named:
                    yield EntryRecord(bookmaker, entry.id, entry)


def whole_market_entries(boards: Iterable[Snapshot]) -> Iterator[EntryRecord]:
    """Iterate over all entries of markets other than 1X2."""
    for board in boards:
        yield from whole_entries(board)


def whole_members(whole: Snapshot) -> Iterator[MembersRecord]:
    """Iterate over all fixtures, in order."""
    for fixture in whole.fixtures if isinstance(whole.fixtures, FixtureState) else ():
        yield MembersRecord(fixture.id, fixture.members)
