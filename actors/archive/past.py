"""The past of the board: a list at a version or at a time, the changes since, and the gaps.

`Past` is for the event loop: it reads in threads, two at a time. `Days` reads the files in these threads.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from errno import EAGAIN, EBUSY, EIO
from itertools import pairwise, zip_longest
from typing import Any, TypeAlias, TypeVar

import anyio
from msgspec import Struct

from actors.archive.days.commit import DAMAGED, MISSING, list_view
from actors.archive.days.format import Gap, day_of
from actors.archive.days.reading import (
    PastChange,
    Reader,
    Row,
    UnreadableError,
    check_digest,
    may_be_damage,
)
from actors.archive.folder import Folder
from actors.archive.journal import About, Kept, read_events
from actors.archive.writer import Writer
from actors.board.diff import is_other
from actors.board.history import MAX_ANSWER
from actors.core.messages import BookmakerId
from actors.monitoring.status import ArchiveStatus

T = TypeVar("T")

MAX_READS, MAX_HANGING = 2, 4
"""The most reads at a time; the most including timed out reads, whose threads may hang for ever."""
READ_S = 5.0
"""Seconds after which a read times out."""
PATIENCE_S = 2.0
"""Seconds that a read of a version just published waits for the disk."""


class Listed(Struct, frozen=True):
    """A past v2 list: its own version and epoch, display names in order, entries in order."""

    version: int
    epoch: str
    names: Mapping[BookmakerId, str]
    entries: list[PastChange]


class Elsewhere(Struct, frozen=True):
    """The answer is another version of the view."""

    version: int


BEFORE_FIRST = "before_first"
"""The reason for data from before the first stored day."""


class Unknown(Struct, frozen=True):
    """No data is kept for the request: the versions and times around it, and why.

    `before` and `after` are the view's versions at these ends; None if nothing is kept there.
    """

    reason: str
    before: int | None = None
    after: int | None = None
    after_at: int | None = None
    until_at: int | None = None


class NotYet(Struct, frozen=True):
    """The version does not exist or is not written yet; `newest` is the newest one."""

    newest: int


Found: TypeAlias = Listed | Elsewhere | Unknown | NotYet


class Reach(Struct, frozen=True):
    """The oldest version since which all changes are known, and whether that covers the requested one."""

    oldest: int
    has: bool


class Held(Struct, frozen=True):
    """The content of a file: versions from `base` to `last`, and its times (Unix milliseconds)."""

    day: date
    base: int
    last: int
    first_ms: int
    seen_ms: int
    min_ms: int
    gaps: tuple[Gap, ...]


class Days:
    """The days of a folder, readable from any thread. `live` returns the day being written."""

    def __init__(self, folder: Folder, live: Callable[[], date | None]) -> None:
        self._folder = folder
        self._live = live
        self._known: dict[date, Held] = {}
        self._verified: set[date] = set()

    def held(self) -> list[Held]:
        """Return the content of all days, oldest first."""
        days, found = self._folder.days(), list[Held]()
        for day in days:
            known = self._known.get(day)
            if known is None:
                try:
                    with self.reader(day, is_verified=False) as reader:
                        known = _held(reader)
                except FileNotFoundError:  # forgotten, or set aside, meanwhile
                    continue
                if day != days[-1]:  # the newest day may still grow
                    self._known[day] = known
            found.append(known)
        return found

    def gaps(self, held: list[Held]) -> list[Gap]:
        """Return all gaps, oldest first, including those between days."""
        bad, found = [day for day, _ in self._folder.bad()], list[Gap]()
        for before, after in pairwise([None, *held]):
            if after is None:
                continue
            if before is not None and before.last != after.base:
                is_bad = any(before.day <= day <= after.day for day in bad)
                reason = DAMAGED if is_bad else MISSING
                found.append(Gap(before.last, after.base, before.seen_ms, after.first_ms, reason))
            found.extend(after.gaps)
        return found

    def at_version(self, bookmaker: BookmakerId | None, version: int) -> Found:
        """Return the list of a bookmaker, or (None) of all, at a version."""
        held, view = self.held(), list_view(bookmaker)
        if not held or version > held[-1].last:
            return NotYet(held[-1].last if held else 0)
        gap = next((gap for gap in self.gaps(held) if gap.after < version < gap.until), None)
        if gap is None and version >= held[0].base:
            with self.reader(_day_with(held, version).day) as reader:
                own = reader.view_version(view, version)
                if own == version:
                    return _listed(reader, version, version, bookmaker)
                return Unknown("unknown_bookmaker") if own is None else Elsewhere(own)
        until = held[0].base if gap is None else gap.until
        with self.reader(_day_with(held, until).day) as reader:
            if reader.view_version(view, until) == version:  # the list did not change after that version
                return _listed(reader, version, until, bookmaker)
        return self._unknown(held, view, gap)

    def at_time(self, bookmaker: BookmakerId | None, at_ms: int) -> Found:
        """Return the version of a list at a time (Unix milliseconds)."""
        held, view = self.held(), list_view(bookmaker)
        gaps = {gap.after: gap for gap in self.gaps(held)}
        for day in reversed(held):
            if at_ms < day.min_ms:
                continue
            with self.reader(day.day) as reader:
                version = reader.version_at(at_ms)
                if version is None:
                    continue
                gap = gaps.get(version)
                if gap is not None and gap.after_at < at_ms:
                    return self._unknown(held, view, gap)
                own = reader.view_version(view, version)
                return Unknown("unknown_bookmaker") if own is None else Elsewhere(own)
        return self._unknown(held, view, None, at_ms)

    def changes(self, bookmaker: BookmakerId | None, after: int, until: int) -> list[PastChange] | None:
        """Return the last change of each entry after `after`, up to `until`.

        None if some changes are unknown, or if they are too many for an answer.
        """
        held = self.held()
        if not held or not held[0].base <= after <= until <= held[-1].last:
            return None
        if any(_hides(gap, after, until) for gap in self.gaps(held)):
            return None
        found: dict[str, PastChange] = {}
        for day in held:
            if day.last > after and day.base < until:
                with self.reader(day.day) as reader:
                    found |= {
                        change.id: change
                        for change in reader.changes(after, min(until, day.last), bookmaker)
                    }
                if len(found) > MAX_ANSWER:
                    return None
        return [*found.values()]

    def reach(self, asked: int, until: int) -> Reach:
        """Return how far back all changes up to `until` are known, and whether all since `asked` are."""
        held = self.held()
        if not held or not held[0].base <= until <= held[-1].last:
            return Reach(until, asked >= until)
        gaps = self.gaps(held)
        ends = (min(gap.until, until) for gap in gaps if _hides(gap, gap.after, until))
        oldest = max((held[0].base, *ends))
        return Reach(oldest, oldest <= asked and not any(_hides(gap, asked, until) for gap in gaps))

    def last_of(self, entry_id: str, most: int) -> list[Row]:
        """Return the `most` newest changes of an entry in the two newest days, newest first.

        The oldest may come from a whole state: then the entry existed before.
        """
        found: list[Row] = []
        for held in self.held()[:-3:-1]:
            with self.reader(held.day) as reader:
                found += reader.rows_of(entry_id, most)
        return _told(found)[:most]

    def last_of_markets(self, match_id: str, most: int) -> dict[str, list[Row]]:
        """Return the newest changes of each other market of a match by its id, like `last_of`."""
        found: dict[str, list[Row]] = {}
        for held in self.held()[:-3:-1]:
            with self.reader(held.day) as reader:
                for row in reader.market_rows_of(match_id, most):
                    found.setdefault(row.past.id, []).append(row)
        return {market_id: _told(rows)[:most] for market_id, rows in found.items()}

    def named(self, is_wanted: Callable[[str, str], bool], most: int) -> list[list[Row]]:
        """Return the last two changes of each entry whose teams are wanted, in the two newest days."""
        found: dict[str, None] = {}
        for held in self.held()[:-3:-1]:
            with self.reader(held.day) as reader:
                found |= dict.fromkeys(reader.named(is_wanted, most))
        return [rows for entry_id in found if (rows := self.last_of(entry_id, 2))]

    def events(self, about: About, before_s: float, most: int) -> Kept:
        """Return the newest events of the journal before a time (Unix seconds)."""
        return read_events(self._folder.path, about, before_s, most)

    def _unknown(self, held: list[Held], view: str, gap: Gap | None, at_ms: int | None = None) -> Unknown:
        if gap is None:
            first = held[0] if held else None
            after = None if first is None else self._view_version(held, view, first.base)
            reason = self._why_before(first, at_ms)
            return Unknown(reason, None, after, None, None if first is None else first.first_ms)
        before = self._view_version(held, view, gap.after)
        return Unknown(
            gap.reason, before, self._view_version(held, view, gap.until), gap.after_at, gap.until_at
        )

    def _why_before(self, first: Held | None, at_ms: int | None) -> str:
        """Return why nothing before the first day is known: it is not kept, or a day was damaged."""
        bad = [day for day, _ in self._folder.bad() if first is None or day <= first.day]
        is_older = bool(bad) and at_ms is not None and day_of(at_ms) < bad[0]
        return BEFORE_FIRST if is_older or not bad else DAMAGED

    def _view_version(self, held: list[Held], view: str, version: int) -> int | None:
        with self.reader(_day_with(held, version).day) as reader:
            return reader.view_version(view, version)

    @contextmanager
    def reader(self, day: date, *, is_verified: bool = True) -> Iterator[Reader]:
        """Open a day, verifying its digest at the first reading; a damaged day is set aside.

        Raises: FileNotFoundError if it is missing or was removed; OSError, sqlite3.Error if it cannot be
        read now, or needs a second look.
        """
        path, is_live = (
            self._folder.file(day),
            day in {self._live(), max(self._folder.days(), default=None)},
        )
        if not path.exists():
            raise FileNotFoundError(path)
        try:
            with Reader.open(path, is_written=is_live) as reader:
                if is_verified and reader.is_sealed and day not in self._verified:
                    check_digest(path)
                    self._verified.add(day)
                yield reader
        except (sqlite3.DatabaseError, UnreadableError) as error:
            if not may_be_damage(error):
                raise
            self._known.pop(day, None)
            if self._folder.is_held and (is_live or self._folder.settle(day, str(error))):
                raise OSError(EIO, str(error), str(path)) from error
            raise FileNotFoundError(path) from error


class Past:
    """The archive, readable from the event loop; `threads` run the reads."""

    def __init__(
        self,
        folder: Folder,
        writer: Writer,
        status: ArchiveStatus,
        read_s: float = READ_S,
        threads: Executor | None = None,
    ) -> None:
        self.status = status
        self._writer = writer
        self._days = Days(folder, lambda: writer.live_day)
        self._limiter: anyio.CapacityLimiter | None = None
        self._threads = threads or ThreadPoolExecutor(MAX_HANGING, "past")
        self._running: set[Future[Any]] = set()
        self._read_s = read_s

    async def read(self, what: Callable[[Days], T]) -> T | None:
        """Read in a thread; try once more if a day cannot be read or was just forgotten, then return None.

        Also returns None after a time limit. The thread then goes on, and new reads fail while too many
        hang.
        """
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(MAX_READS)
        with anyio.move_on_after(self._read_s):
            async with self._limiter:
                for _ in range(2):
                    try:
                        return await self._in_thread(what)
                    except (OSError, sqlite3.Error, UnreadableError):
                        continue
        return None

    @property
    def hanging(self) -> int:
        """The number of running reads, including those that timed out."""
        self._running = {future for future in self._running if not future.done()}
        return len(self._running)

    async def _in_thread(self, what: Callable[[Days], T]) -> T:
        if self.hanging >= MAX_HANGING:
            raise OSError(EBUSY, "too many reads of the archive hang")
        try:
            future = self._threads.submit(what, self._days)
        except RuntimeError as error:  # the system allows no further thread
            raise OSError(EAGAIN, str(error)) from error
        self._running.add(future)
        return await asyncio.wrap_future(future)

    async def written(self, version: int) -> bool:
        """Wait until a version is written, `PATIENCE_S` at most; return whether it is."""
        with anyio.move_on_after(PATIENCE_S):
            while self._writer.written < version:  # noqa: ASYNC110 - it changes in a thread
                await anyio.sleep(0.05)
        return self._writer.written >= version


def _told(rows: list[Row]) -> list[Row]:
    """Return the rows, newest first, without rows of a whole state that repeat the row before."""
    return [
        row
        for row, older in zip_longest(rows, rows[1:])
        if not row.is_state or older is None or is_other(row.past.entry, older.past.entry)
    ]


def _held(reader: Reader) -> Held:
    seen_ms = max(reader.seen_ms, reader.last_ms)
    return Held(
        reader.day, reader.base, reader.last, reader.first_ms, seen_ms, reader.min_ms, tuple(reader.gaps())
    )


def _day_with(held: list[Held], version: int) -> Held:
    """Return the newest day that has a version."""
    return next(day for day in reversed(held) if day.base <= version)


def _hides(gap: Gap, after: int, until: int) -> bool:
    """Return whether a gap hides any change between two versions.

    All removals during a gap of a stopped service are known.
    """
    if gap.reason in {"stopped", "killed"}:
        return gap.after < after < gap.until or gap.after < until < gap.until
    return after < gap.until and until > gap.after


def _listed(reader: Reader, version: int, shown_at: int, bookmaker: BookmakerId | None) -> Listed:
    """Return a list as it was at a version of the board, with its own version and the board's epoch."""
    return Listed(
        version, reader.epoch(shown_at), reader.names(shown_at), reader.entries(shown_at, bookmaker)
    )
