"""Writes commits to the day's files, in a thread of its own: the board never waits for the disk.

`add` puts a commit into a bounded queue. Each step of the thread writes all waiting commits in one
transaction. While writing fails, commits wait; if too many wait, new ones are dropped. As soon as writing
works again, the gap is recorded, and the archive continues from a whole state.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from datetime import date
from errno import EEXIST
from math import inf

import structlog
from msgspec.structs import replace

from actors.archive.days.commit import BEGAN_ANEW, DAMAGED, LOST, MISSED, MISSING, UNREAD, Commit
from actors.archive.days.day import Day
from actors.archive.days.format import Gap, begin_of, day_of, milliseconds
from actors.archive.days.reading import may_be_damage
from actors.archive.folder import ArchiveSettings, Folder
from actors.archive.journal import JournalFile
from actors.archive.sealing import Sealer
from actors.core.clock import Clock, Instant, elapsed_s
from actors.monitoring.journal import Journal
from actors.monitoring.status import ArchiveStatus
from actors.runtime.facts import announce

log = structlog.get_logger()

STEP_S = 0.25
"""Seconds between two transactions: commits in between are written together."""
RETRY_S = 1.0
TIDY_S = 60.0
MAX_WAITING = 200_000
"""The most changes that wait for the disk; each commit counts as one more."""
RESERVED = 2_000_000
"""Versions reserved in one step; the reservation is renewed when half are used."""


class Writer:
    """The writing thread and its queue. Only the thread calls `step`; `begin` comes before it."""

    def __init__(
        self, folder: Folder, settings: ArchiveSettings, status: ArchiveStatus, clock: Clock
    ) -> None:
        self.folder = folder
        self.epoch = ""
        """The epoch of the published versions, set with the first of a new one; "" if none is reserved."""
        self.newest_until: Callable[[Instant], float] = lambda now: now.wall
        """Returns until when (Unix seconds) the newest version is known to have been current."""
        self.reserved_until: float = 0
        self.reserved_epoch: str | None = None
        self.written: int = 0
        self.max_waiting = MAX_WAITING
        self.journal = JournalFile(folder, Journal())
        """The journal of the process's transitions, from `OpenArchive.start` on."""
        self.marked_after: int | None = None
        """Changes after which `Day.mark` records each entry's last change; None: its default."""
        self._settings, self._status, self._clock = settings, status, clock
        self._waiting: deque[Commit] = deque()
        self._added = self._taken = 0  # each is written by one thread only
        self._latest: Commit | None = None
        self._first: tuple[Commit, Gap | None] | None = None  # first commit, until written
        self._lost = LOST
        self._day: Day | None = None
        self._seen_ms = 0
        self._sealer = Sealer(folder)
        self._tidied_s = -inf
        self._ends = threading.Event()
        status.lag_s = self.lag_s
        self._thread: threading.Thread | None = None

    def reserve(self, version: int) -> None:
        """Reserve on disk the versions up to some millions above this one. Raises: OSError."""
        until, epoch = version + RESERVED, self.epoch
        self.folder.reserve(epoch, until)
        self.reserved_until, self.reserved_epoch = until, epoch

    def begin(self, first: Commit, gap: Gap | None) -> None:
        """Write the first commit of a life; a failed write is done in a later step.

        Without a `gap` the board before is unknown. Raises: sqlite3.Error, OSError.
        """
        self._latest, self._first = first, (first, gap)
        self._reopened(first)

    def resume(self, last: date) -> str:
        """Continue after the newest day; return the epoch of its last version.

        Raises: sqlite3.Error, OSError.
        """
        self._day = day = Day.open(self.folder.file(last))
        self.written, self._seen_ms = day.version, day.seen_ms
        self._sealer.find(self.live_day)
        return day.epoch

    def start(self) -> None:
        """Start the thread. Raises: RuntimeError if the system allows none."""
        self._thread = threading.Thread(target=self._run, name="archive", daemon=True)
        self._thread.start()

    def add(self, commit: Commit) -> None:
        """Queue a commit for writing; called from one thread, not the writer's. Never waits.

        The commit is queued before `_latest` announces it: the writer treats a latest commit that is
        neither written nor queued as lost.
        """
        if self.waiting + commit.weight <= self.max_waiting:
            self._added += commit.weight
            self._waiting.append(commit)
        self._latest = replace(commit, differences={}, fixture_changes=None, market_differences={})

    def stop(self, within_s: float) -> bool:
        """End the thread after all is written, or after `within_s` seconds; return whether that is done."""
        self._ends.set()
        if self._thread is None:
            self._run()
        else:
            self._thread.join(within_s)
            if self._thread.is_alive():
                return False
        return self.is_complete

    @property
    def waiting(self) -> int:
        """The number of changes that wait to be written."""
        return self._added - self._taken

    def lag_s(self, wall: float) -> float:
        """Return the age of the oldest unwritten version at a time (Unix seconds), 0 if there is none."""
        latest = self._latest
        try:
            oldest = self._waiting[0].at
        except IndexError:  # nothing waits; the latest commit may have been dropped
            oldest = latest.at if latest is not None and latest.version > self.written else wall
        return max(wall - oldest, 0.0)

    @property
    def is_complete(self) -> bool:
        """Whether all added commits are written."""
        return self._latest is None or self.written >= self._latest.version

    @property
    def live_day(self) -> date | None:
        """The day being written."""
        return None if self._day is None else self._day.day

    def _run(self) -> None:
        is_over = False
        try:
            while not self._ends.wait(STEP_S if self._status.error is None else RETRY_S):
                self.step()
                self.journal.step()
            self.step()
            self.journal.step()
            self.journal.close()
            if self._day is not None:
                self._close(self._day)
            is_over = True
        finally:
            if not is_over:  # an unexpected exception ended the loop
                self._status.error = "the writer's thread has ended"

    def step(self) -> None:
        """Write the waiting commits, and do some of the due maintenance."""
        try:
            self.folder.require({})
            if (latest := self._latest) is not None:
                self._renew(latest)
                day = self._day or self._reopened(latest)
                self.folder.require(day.inodes)
                self._write(day, latest)
            self._tidy()
        except (sqlite3.Error, OSError) as error:
            live = self.live_day
            self.fail(error)
            if live is not None and isinstance(error, sqlite3.Error) and may_be_damage(error):
                self.folder.doubt(live)
            return
        self._status.written = self.written
        if self._status.error is not None:
            announce(log, "archive.resumed", version=self.written)
            self._status.error = None

    def _renew(self, latest: Commit) -> None:
        is_late = latest.version > self.reserved_until - RESERVED / 2
        if self.epoch and (self.reserved_epoch != self.epoch or is_late):
            self.reserve(latest.version)

    def _reopened(self, latest: Commit) -> Day:
        """Open the newest undamaged day, or begin one; damaged ones are set aside."""
        days = self.folder.days()
        while days and not self.folder.check(days[-1], is_last=True):
            days.pop()
        if days:
            day = self._go_on(Day.open(self.folder.file(days[-1])))
        else:
            if self.written:
                self._status.count_gap()
            first = self._waiting[0] if self._waiting else latest
            day = self._begin_day(first if self._first is None else self._first[0])
        self._first = None
        self._sealer.find(self.live_day)
        return day

    def _go_on(self, day: Day) -> Day:
        """Continue a day after its newest commit, with the first commit of the life if it is pending."""
        self._day = day
        if self._first is not None and day.version != self._first[0].version:
            self._begin_life(day, *self._first)
            return self._roll(self._first[0]) or day
        if day.version < self.written:
            self._lost = MISSING
        self.written, self._seen_ms = day.version, max(day.seen_ms, day.at_ms)
        return day

    def _begin_life(self, day: Day, first: Commit, gap: Gap | None) -> None:
        """Write the first commit of a life; as a whole state if the board before is unknown."""
        if first.version < day.version:
            raise OSError(
                EEXIST, "it has newer versions, which could not be read at the start", str(day.path)
            )
        at_ms = milliseconds(first.at)
        day.begin()
        if gap is None or gap.after != day.version:
            is_bad = any(bad >= day.day for bad, _ in self.folder.bad())
            seen_ms = max(day.seen_ms, day.at_ms)
            reason = DAMAGED if is_bad else UNREAD
            day.keyframe(first, Gap(day.version, first.version, seen_ms, at_ms, reason))
        else:
            day.note_gap(gap)
            day.append(first)
        day.note_seen(at_ms)
        day.end()
        self.written, self._seen_ms = first.version, at_ms

    def _begin_day(self, commit: Commit) -> Day:
        """Begin the file of a day with the whole state after a commit."""
        day = day_of(milliseconds(commit.at))
        self.folder.clear(day)
        self._day = begun = Day.create(self.folder.path, day, commit, self.folder.reached)
        self.written, self._seen_ms = begun.version, begun.seen_ms
        return begun

    def _write(self, day: Day, latest: Commit) -> None:
        while self._waiting and self._waiting[0].version <= self.written:
            self._drop_first()
        queued = self._waiting[0] if self._waiting else None
        first = queued or latest
        if first.version <= self.written:
            self._note_seen(day, latest)
        elif first.gap is not None:
            is_same = first.gap == BEGAN_ANEW and first.epoch == day.epoch
            self._bridge(day, first, MISSED if is_same else first.gap)
        elif first is not queued or first.version != self.written + 1:
            self._bridge(day, first, self._lost)
            self._lost = LOST
        else:
            self._append(day)

    def _append(self, day: Day) -> None:
        """Write the waiting commits, up to one that begins a day; stop before one that follows a gap."""
        commits: list[Commit] = []
        for commit in [*self._waiting]:
            if commit.version != (commits[-1].version if commits else self.written) + 1 or commit.gap:
                break
            commits.append(commit)
            if _begins_day(day, commit):
                break
        self.folder.reached("before write")
        day.begin()
        for commit in commits:
            day.append(commit)
        day.mark(self.marked_after)
        day.note_seen(day.at_ms)
        day.end()
        self.folder.reached("after write")
        self._seen_ms = day.at_ms
        self.written = commits[-1].version
        for _ in commits:
            self._drop_first()
        self._roll(commits[-1])

    def _bridge(self, day: Day, commit: Commit, reason: str) -> None:
        """Record that commits are missing, and continue from the whole state after a commit."""
        at_ms = milliseconds(commit.at)
        gap = Gap(self.written, commit.version, max(self._seen_ms, day.at_ms), at_ms, reason)
        day.begin()
        day.keyframe(commit, gap)
        day.note_seen(at_ms)
        day.end()
        if reason != BEGAN_ANEW:
            announce(log, "archive.gap", after=gap.after, until=gap.until, reason=reason)
            self._status.count_gap()
        self.written, self._seen_ms = commit.version, at_ms
        self._roll(commit)

    def _note_seen(self, day: Day, latest: Commit) -> None:
        """Record once a second that the newest version is still current, and which lists are confirmed."""
        now = self._clock.now()
        seen_ms = milliseconds(self.newest_until(now))
        if not seen_ms - self._seen_ms >= 1000:  # noqa: PLR2004 - a second
            return
        day.begin()
        day.note_seen(seen_ms)
        if self.epoch:  # in a cluster other processes confirm lists, by their own clocks
            lists = {name: book.lists for name, book in latest.whole.books.items()}
            day.note_lists(lists, now.wall - now.mono)
        day.end()
        self._seen_ms = seen_ms

    def _roll(self, commit: Commit) -> Day | None:
        """Begin a new day with the whole state after a commit that belongs to it, if it does."""
        day = self._day
        if day is None or not _begins_day(day, commit):
            return None
        self._day = None
        self._close(day, is_over=True)
        self._sealer.add(day.day)
        return self._begin_day(commit)

    def _close(self, day: Day, *, is_over: bool = False) -> None:
        try:
            day.close(is_over=is_over)
        except sqlite3.Error as error:  # for example while an operator reads it
            announce(log, "archive.not_closed", file=day.path.name, error=str(error))

    def _drop_first(self) -> None:
        self._taken += self._waiting.popleft().weight

    def _tidy(self) -> None:
        """Seal past days, a part in each step, and remove the oldest ones once a minute."""
        if not self._sealer.step() and elapsed_s() - self._tidied_s >= TIDY_S:
            self._tidied_s = elapsed_s()
            self.folder.settle_all()
            for _ in self.folder.forget(self._settings):
                pass
            self._status.size_bytes = self.folder.size()

    def fail(self, error: Exception) -> None:
        """Note that the archive cannot be written; the next step tries again."""
        if self._status.error is None:
            announce(log, "archive.stalled", error=str(error))
        self._status.error = str(error)
        day, self._day = self._day, None
        if day is not None:
            self._close(day)


def _begins_day(day: Day, commit: Commit) -> bool:
    return begin_of(day_of(milliseconds(commit.at))) > begin_of(day.day)
