"""The beginning of a life of the service: what stood on the board at the end of the last, what still holds.

After an orderly end the folder has an ending: the whole board, and the clock of the machine. Its lists hold
if nothing of their configuration changed, and if they are young enough by that clock; but not for matches
that may have kicked off. All else that stood leaves as stale in the first version. After any other end that
is everything: what was not written may have been a suspension.
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
from actors.markets.market import Kind
from actors.matches.model import FixtureSettings, first_snapshot
from actors.matches.update import FixtureUpdater
from actors.matching.event import FixtureId


class Machine(Struct, frozen=True):
    """Which start of the machine it is, and the seconds since then, sleep included."""

    boot_id: str
    boot_s: float


class EndedBook(Struct, frozen=True):
    """A book at the end: what its configuration was, its versions, list states and entries.

    `cuts` has the number of entries of each chunk: compressed bytes depend on it.
    """

    configured: str
    v1_version: int
    v2_version: int
    lists: dict[Scope, ListState]
    entries: list[Entry]
    cuts: list[int] = []


class Ending(Struct, frozen=True):
    """The board of 1X2 at an orderly end; `mono` is the service's clock when `machine` was read.

    Its version is that of the archive: the largest of any board.
    """

    version: int
    epoch: str
    machine: Machine
    mono: float
    names: dict[BookmakerId, str]
    books: dict[BookmakerId, EndedBook]

    def entries(self) -> list[PastChange]:
        """Return the entries that the v2 list had."""
        return [
            PastChange(name, entry.id, self.version, entry, None)
            for name, book in self.books.items()
            for entry in book.entries
            if entry.is_named
        ]


class Stood(Struct, frozen=True):
    """The end as the archive has it: its last version, entries and fixtures, and until when it held.

    `markets` are the entries of other markets than 1X2.
    """

    version: int
    seen_ms: int
    entries: list[PastChange]
    fixtures: list[str]
    markets: list[PastChange] = []


class Configured(Struct, frozen=True):
    """A digest of the settings of a bookmaker's lists; its display name, None if its source gives it."""

    digest: str
    name: str | None


class Start(Struct, frozen=True):
    """The begin of a life: the time, the machine, the settings of fixtures, the bookmakers."""

    now: Instant
    machine: Machine
    terms: FixtureSettings
    configured: Mapping[BookmakerId, Configured]


class Beginning(Struct, frozen=True, eq=False):
    """The first snapshot, and as a commit; names that sources gave before, of restored bookmakers."""

    commit: Commit
    snapshot: Snapshot
    names: Mapping[BookmakerId, str]


def write_ending(
    folder: Folder,
    last: Snapshot,
    names: Mapping[BookmakerId, str],
    configured: Mapping[BookmakerId, Configured],
    at: tuple[Machine, float],
) -> None:
    """Keep the last board of a life, all of whose versions are archived; `at` is as of `Ending`.

    The board has the version of the archive, which may be above those of its books.

    Raises: OSError.
    """
    books = {
        name: EndedBook(
            configured[name].digest,
            book.v1_version,
            book.v2_version,
            dict(book.lists),
            [entry for chunk in book.chunks for entry in chunk.entries],
            [len(chunk.entries) for chunk in book.chunks],
        )
        for name, book in last.books.items()
    }
    ending = Ending(last.version, last.epoch, *at, {name: names[name] for name in last.books}, books)
    folder.reached("before ending")
    folder.replace(ENDING, msgspec.msgpack.encode(ending))
    folder.reached("after ending")


def take_ending(folder: Folder) -> Ending | None:
    """Return the ending and remove it, so that it is never used twice; None if there is none to be used.

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
    """Return the first version of a life: the lists that still hold; all else has left as stale.

    Of other markets than 1X2 that is everything.
    """
    now, configured, terms = start.now, start.configured, start.terms
    kept: dict[BookmakerId, tuple[dict[Scope, ListState], list[Entry]]] = {}
    if ending is not None and ending.machine.boot_id == start.machine.boot_id:
        asleep_s = start.machine.boot_s - ending.machine.boot_s
        for name, ended in ending.books.items():
            if name in configured and configured[name].digest == ended.configured:
                kept[name] = _holding(ended, now, ending.mono, asleep_s)
    titles = {
        name: ending.names[name]
        for name, (_, entries) in kept.items()
        if entries and ending is not None and configured[name].name is None
    }
    names = {name: of.name or titles.get(name, str(name)) for name, of in configured.items()}
    shown = {entry.id for _, entries in kept.values() for entry in entries if entry.is_named}
    differences = _left(() if stood is None else stood.entries, shown)
    markets = () if stood is None else stood.markets
    of_markets = {kind: _left([of for of in markets if _kind(of) is kind], ()) for kind in Kind}
    made = _snapshot(version, epoch, terms, kept, now)
    books: Mapping[BookmakerId, Book] = made.books
    changes: Any = made.fixture_changes
    if ending is not None and [*ending.names.items()] == [*names.items()]:
        books = {name: _as_it_was(book, ending.books.get(name)) for name, book in books.items()}
    snapshot = replace(made, books=books, differences={}, fixture_changes=None)
    fixtures = () if stood is None else tuple(FixtureId(fixture) for fixture in stood.fixtures)
    commit = Commit(version, epoch, now.wall, differences, changes, {}, names, snapshot, fixtures)
    commit = replace(commit, market_differences={kind: of for kind, of in of_markets.items() if of})
    return Beginning(commit, snapshot, titles)


def _holding(
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
    entries = [
        entry
        for entry in ended.entries
        if entry.scope in lists
        and not entry.match.in_play
        and (entry.match.begun_by is None or entry.match.begun_by > now.wall)
    ]
    return lists, entries


def _kind(past: PastChange) -> Kind | None:
    return None if past.entry is None else past.entry.match.market.kind


def _left(stood: Iterable[PastChange], shown: Collection[str]) -> dict[BookmakerId, Differences]:
    """Return that everything that stood has left, but for what is shown again."""
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
    kept: Mapping[BookmakerId, tuple[dict[Scope, ListState], list[Entry]]],
    now: Instant,
) -> Snapshot:
    """Return the first board of a life, with the lists and entries that are kept."""
    first = first_snapshot(version, terms, epoch)
    board = Board(replace(first, version=version - 1), BoardRules(), FixtureUpdater(terms))
    for name, (lists, entries) in kept.items():
        run_now(board.restore(name, lists, entries))
    return replace(run_now(board.finish(now)), version=version)


def _as_it_was(book: Book, ended: EndedBook | None) -> Book:
    """Return a book with the versions and chunks that it `ended` with, if it shows all of it again."""
    if ended is None or book.count < len(ended.entries):
        return book
    entries = iter(ended.entries)
    parts = [[*islice(entries, count)] for count in ended.cuts]
    chunks = tuple([Chunk.of([entry.source_match_id for entry in part], part) for part in parts])
    versions = {"v1_version": ended.v1_version, "v2_version": ended.v2_version}
    return replace(book, chunks=chunks or book.chunks, **versions)
