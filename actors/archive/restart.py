"""The beginning of a life (a run of the service): which lists and entries of the last are still valid.

After an orderly end the folder has an ending: the whole board, and the machine's clock. Its lists are
restored if their configuration is unchanged and they are young enough by that clock, except matches that
may have kicked off. All other entries leave as stale in the first version. After any other end all entries
leave, because an unwritten change may have been a suspension.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from itertools import islice
from math import inf
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.archive.days.commit import Commit
from actors.archive.days.reading import PastChange
from actors.archive.folder import ENDING, Folder
from actors.board.board import Board
from actors.board.lists import RESTORED
from actors.board.snapshot import Book, Chunk, Differences, Entry, RemovalReason, Snapshot
from actors.board.validity import BoardRules, ListState
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Scope, SourceMatchId
from actors.market_fixtures.restoring import Kept, begins_of, restored
from actors.markets.market import Kind
from actors.matches.model import FixtureSettings, first_snapshot
from actors.matches.update import FixtureUpdater
from actors.matching.event import FixtureId


class Machine(Struct, frozen=True):
    """The id of the machine's boot, and the seconds since then, sleep included."""

    boot_id: str
    boot_s: float


class EndedBook(Struct, frozen=True):
    """A book at the end of a life: a digest of its configuration, its versions, list states and entries.

    `cuts` has the number of entries of each chunk, which determine the compressed bytes. `begins` is the
    earliest start by any source (Unix seconds), for kinds of market where goals before a bet may not count.
    """

    configured: str
    v1_version: int
    v2_version: int
    lists: dict[Scope, ListState]
    entries: list[Entry]
    cuts: list[int] = []
    begins: dict[SourceMatchId, float] = {}


class Ending(Struct, frozen=True):
    """The boards at an orderly end; `mono` is the service's clock when `machine` was read.

    `version` is the archive's: the largest of any board. `books` has the 1X2 board, `markets` the boards of
    other kinds of market; an earlier release wrote none.
    """

    version: int
    epoch: str
    machine: Machine
    mono: float
    names: dict[BookmakerId, str]
    books: dict[BookmakerId, EndedBook]
    markets: dict[Kind, dict[BookmakerId, EndedBook]] = {}

    def entries(self) -> list[PastChange]:
        """Return the entries of the v2 list."""
        return [
            PastChange(name, entry.id, self.version, entry, None)
            for name, book in self.books.items()
            for entry in book.entries
            if entry.is_named
        ]


class Stood(Struct, frozen=True):
    """The archived end of a life: its last version, entries and fixtures, and how long it was valid.

    `markets` are the entries of markets other than 1X2.
    """

    version: int
    seen_ms: int
    entries: list[PastChange]
    fixtures: list[str]
    markets: list[PastChange] = []


class Configured(Struct, frozen=True):
    """A digest of the settings of a bookmaker's lists; its display name, None if the source gives it."""

    digest: str
    name: str | None


class Start(Struct, frozen=True):
    """The inputs for a new life: time, machine, fixture settings and bookmakers.

    At least one source reads each of the `kinds` of market beside 1X2.
    """

    now: Instant
    machine: Machine
    terms: FixtureSettings
    configured: Mapping[BookmakerId, Configured]
    kinds: Collection[Kind] = ()


class Beginning(Struct, frozen=True, eq=False):
    """The first snapshot and its commit; the names of restored bookmakers that sources gave before.

    `markets` are the first boards of the other kinds of market that are read.
    """

    commit: Commit
    snapshot: Snapshot
    names: Mapping[BookmakerId, str]
    markets: Mapping[Kind, Snapshot] = {}


def write_ending(
    folder: Folder,
    last: Snapshot,
    names: Mapping[BookmakerId, str],
    configured: Mapping[BookmakerId, Configured],
    at: tuple[Machine, float],
    *,
    markets: Mapping[Kind, Snapshot],
) -> None:
    """Store the last boards of a life; all their versions are archived. `at` has `machine` and `mono`.

    The 1X2 board has the version of the archive, which may be above the versions of its books.

    Raises: OSError.
    """
    shown = {name: names[name] for name in last.books}
    of_kinds = {kind: _ended(board, configured, begins_of(kind, board)) for kind, board in markets.items()}
    ending = Ending(last.version, last.epoch, *at, shown, _ended(last, configured, {}), of_kinds)
    folder.reached("before ending")
    folder.replace(ENDING, msgspec.msgpack.encode(ending))
    folder.reached("after ending")


def _ended(
    last: Snapshot,
    configured: Mapping[BookmakerId, Configured],
    begins: Mapping[BookmakerId, dict[SourceMatchId, float]],
) -> dict[BookmakerId, EndedBook]:
    return {
        name: EndedBook(
            configured[name].digest,
            book.v1_version,
            book.v2_version,
            dict(book.lists),
            [entry for chunk in book.chunks for entry in chunk.entries],
            [len(chunk.entries) for chunk in book.chunks],
            begins.get(name, {}),
        )
        for name, book in last.books.items()
    }


def take_ending(folder: Folder) -> Ending | None:
    """Return the ending and remove it, so that it is used only once; None if there is no usable one.

    Raises: OSError.
    """
    path, ending = folder.path / ENDING, None
    if not path.exists():
        return None
    content = path.read_bytes()
    with suppress(msgspec.MsgspecError, ValueError, RecursionError):
        ending = msgspec.msgpack.decode(content, type=Ending)
    path.unlink()
    folder.reached("ending taken")
    return ending


def beginning(
    version: int, epoch: str, start: Start, stood: Stood | None, ending: Ending | None
) -> Beginning:
    """Return the first version of a life: still valid lists stay, and all other entries leave as stale."""
    now, configured, terms = start.now, start.configured, start.terms
    begun = {} if ending is None else {name: _begun(ending, name, now.wall) for name in ending.books}
    kept = {kind: _holding(start, ending, kind, begun) for kind in start.kinds}
    kept[Kind.ONE_X_TWO] = _holding(start, ending, Kind.ONE_X_TWO, {})
    of_main = kept[Kind.ONE_X_TWO]
    titles = {
        name: ending.names[name]
        for name in configured
        if ending is not None and configured[name].name is None
        if any(name in books and books[name][1] for books in kept.values())
    }
    names = {name: settings.name or titles.get(name, str(name)) for name, settings in configured.items()}
    differences = _left(() if stood is None else stood.entries, _shown(of_main))
    made = _snapshot(version, epoch, terms, of_main, now)
    books: Mapping[BookmakerId, Book] = made.books
    changes: Any = made.fixture_changes
    if ending is not None and [*ending.names.items()] == [*names.items()]:
        books = {name: _as_it_was(book, ending.books.get(name)) for name, book in books.items()}
    snapshot = replace(made, books=books, differences={}, fixture_changes=None)
    markets = restored(snapshot, start.kinds, kept, now)
    fixtures = () if stood is None else tuple(FixtureId(fixture) for fixture in stood.fixtures)
    commit = Commit(version, epoch, now.wall, differences, changes, {}, names, snapshot, fixtures)
    of_markets = _markets_left(stood, kept)
    commit = replace(commit, markets=markets, market_differences=of_markets)
    return Beginning(commit, snapshot, titles, markets)


def _holding(
    start: Start,
    ending: Ending | None,
    kind: Kind,
    begun: Mapping[BookmakerId, Collection[SourceMatchId]],
) -> dict[BookmakerId, tuple[dict[Scope, ListState], list[Entry]]]:
    """Return the valid lists of a kind of market, with entries that have not kicked off.

    Matches that have `begun` in any market of the bookmaker are left out as well.
    """
    found: dict[BookmakerId, tuple[dict[Scope, ListState], list[Entry]]] = {}
    if ending is None or ending.machine.boot_id != start.machine.boot_id:
        return found
    asleep_s = start.machine.boot_s - ending.machine.boot_s
    books = ending.books if kind is Kind.ONE_X_TWO else ending.markets.get(kind, {})
    for name, ended in books.items():
        if name in start.configured and start.configured[name].digest == ended.configured:
            lists, entries = _young(ended, start.now, ending.mono, asleep_s)
            none = begun.get(name, ())
            found[name] = lists, [entry for entry in entries if entry.match.event_id not in none]
    return found


def _begun(ending: Ending, name: BookmakerId, wall: float) -> set[SourceMatchId]:
    """Return the matches that have, or may have, kicked off according to any of the bookmaker's markets."""
    every = [ended for kind in (ending.books, *ending.markets.values()) if (ended := kind.get(name))]
    return {entry.match.event_id for ended in every for entry in ended.entries if _has_begun(entry, wall)}


def _has_begun(entry: Entry, wall: float) -> bool:
    begun_by = entry.match.begun_by
    return bool(entry.match.in_play) or (begun_by is not None and begun_by <= wall)


def _young(
    ended: EndedBook, now: Instant, ended_mono: float, asleep_s: float
) -> tuple[dict[Scope, ListState], list[Entry]]:
    """Return the lists that are young enough, and their entries that have not kicked off."""
    shift_s = now.mono - asleep_s - ended_mono
    lists = {
        scope: replace(
            state,
            list_id=RESTORED,
            confirmed_mono=state.confirmed_mono + shift_s,
            whole_from=inf,
            vouched={match_id: mono + shift_s for match_id, mono in state.vouched.items()},
            failed_mono=state.failed_mono + shift_s,
        )
        for scope, state in ended.lists.items()
        if not state.withdrawn and asleep_s >= 0 and state.deadline + shift_s > now.mono
    }
    young = (entry for entry in ended.entries if entry.scope in lists and not _has_begun(entry, now.wall))
    begins = ended.begins
    return lists, [entry for entry in young if begins.get(entry.source_match_id, inf) > now.wall]


def _shown(kept: Kept) -> set[str]:
    return {entry.id for _, entries in kept.values() for entry in entries if entry.is_named}


def _markets_left(
    stood: Stood | None, kept: Mapping[Kind, Kept]
) -> dict[Kind, Mapping[BookmakerId, Differences]]:
    """Return the removal of all previous entries in other markets, except those shown again."""
    markets = () if stood is None else stood.markets
    gone = {
        kind: _left([change for change in markets if _kind(change) is kind], _shown(kept.get(kind, {})))
        for kind in Kind
    }
    return {kind: differences for kind, differences in gone.items() if differences}


def _kind(past: PastChange) -> Kind | None:
    return None if past.entry is None else past.entry.match.market.kind


def _left(stood: Iterable[PastChange], shown: Collection[str]) -> dict[BookmakerId, Differences]:
    """Return the removal of all previous entries, except those shown again."""
    gone: dict[BookmakerId, dict[SourceMatchId, Entry | None]] = {}
    for past in stood:
        if past.entry is not None and past.id not in shown:
            gone.setdefault(past.bookmaker, {})[past.entry.source_match_id] = past.entry
    return {
        name: Differences(before, dict.fromkeys(before), dict.fromkeys(before, RemovalReason.STALE))
        for name, before in gone.items()
    }


def _snapshot(
    version: int,
    epoch: str,
    terms: FixtureSettings,
    kept: Kept,
    now: Instant,
) -> Snapshot:
    """Return the first board of a life, with the kept lists and entries."""
    first = first_snapshot(version, terms, epoch)
    board = Board(replace(first, version=version - 1), BoardRules(), FixtureUpdater(terms))
    for name, (lists, entries) in kept.items():
        run_now(board.restore(name, lists, entries))
    return replace(run_now(board.finish(now)), version=version)


def _as_it_was(book: Book, ended: EndedBook | None) -> Book:
    """Return a book with its former versions and chunks if it shows all of its former entries."""
    if ended is None or book.count < len(ended.entries):
        return book
    entries = iter(ended.entries)
    parts = [[*islice(entries, count)] for count in ended.cuts]
    chunks = tuple([Chunk.of([entry.source_match_id for entry in part], part) for part in parts])
    versions = {"v1_version": ended.v1_version, "v2_version": ended.v2_version}
    return replace(book, chunks=chunks or book.chunks, **versions)
