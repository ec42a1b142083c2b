"""The archive of a running service: opened before it starts, fed by each commit, closed after the last."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from errno import EIO
from pathlib import Path
from secrets import token_hex

import structlog
from msgspec.structs import replace

from actors.archive.days.commit import BEGAN_ANEW, MISSED, Commit, commit_of, undiffed
from actors.archive.days.day import Reached
from actors.archive.days.format import Gap, milliseconds
from actors.archive.days.reading import NewerFormatError, Reader, UnreadableError
from actors.archive.folder import LOOK_AGAIN_S, ArchiveSettings, Folder, Reserved
from actors.archive.journal import JournalFile
from actors.archive.past import Past
from actors.archive.restart import (
    Beginning,
    Configured,
    Ending,
    Machine,
    Start,
    Stood,
    beginning,
    take_ending,
    write_ending,
)
from actors.archive.writer import RESERVED, Writer
from actors.board.snapshot import Snapshot
from actors.core.clock import Clock, seconds_since_boot
from actors.core.errors import ConfigError
from actors.core.messages import BookmakerId
from actors.markets.market import Kind
from actors.matches.model import FixtureSettings
from actors.monitoring.journal import Journal
from actors.monitoring.status import MAX_LAG_S, ArchiveStatus
from actors.runtime.facts import announce

log = structlog.get_logger()

CLOSE_S = 3.0
"""Seconds at the end for writing the waiting commits."""
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def machine(file: Path = BOOT_ID) -> Machine:
    """Return the id of the machine's current boot, which is in a file, and the seconds since it."""
    try:
        boot_id = file.read_text("ascii").strip()
    except OSError:  # a system without boot ids: no list is ever restored
        boot_id = token_hex(16)
    return Machine(boot_id, seconds_since_boot())


@dataclass(slots=True)
class OpenArchive:
    """The parts of any archive. `names` are the display names of all bookmakers."""

    folder: Folder
    writer: Writer
    status: ArchiveStatus
    clock: Clock
    names: Mapping[BookmakerId, str]
    _is_late: bool = field(default=False, init=False)

    def start(self, journal: Journal | None = None) -> None:
        """Start the writer's thread, which also writes a journal of transitions."""
        if journal is not None:
            self.writer.journal = JournalFile(self.folder, journal)
        try:
            self.writer.start()
        except RuntimeError as error:  # the system allows no further thread
            self.writer.fail(error)

    def watch(self) -> None:
        """Log once when writing stops without an error, and once when it has caught up."""
        lag_s = self.status.lag_s(self.clock.now().wall)
        is_late = lag_s >= MAX_LAG_S and (self._is_late or self.status.error is None)
        if is_late and not self._is_late:
            announce(log, "archive.delayed", lag_s=round(lag_s))
        elif self._is_late and not is_late:
            announce(log, "archive.caught_up", version=self.writer.written)
        self._is_late = is_late

    def past(self) -> Past:
        """Return the reader of the archive, usable while it is written."""
        return Past(self.folder, self.writer, self.status)

    def close(self, *, is_orderly: bool) -> None:
        """Write all waiting commits and release the folder. Waits for the disk."""
        del is_orderly
        self.writer.stop(CLOSE_S)
        self.folder.release()


@dataclass(slots=True)
class FollowedArchive(OpenArchive):
    """The archive of a board whose versions and epochs are made elsewhere, for several processes.

    `newest` is the newest version that is written or waits to be, and `epoch` the epoch of that version.
    The boards of all kinds of market have the same version.
    """

    newest: int = 0
    epoch: str = ""
    _last: Snapshot | None = None
    _noted: dict[Kind, Snapshot] = field(default_factory=dict, init=False)

    def newest_of(self, epoch: str) -> int:
        """Return the newest archived version of an epoch; 0 if there is none."""
        return self.newest if epoch == self.epoch else 0

    def restart(self, boards: Mapping[Kind, Snapshot]) -> None:
        """Continue from whole boards, perhaps after missed versions; archived versions are skipped."""
        self._noted.clear()
        self._last = first = boards[Kind.ONE_X_TWO]
        if first.version > self.newest_of(first.epoch):
            commit = self._commit_of(first, boards)
            self._add(replace(commit, gap=MISSED if first.epoch == self.epoch else BEGAN_ANEW))

    def note(self, kind: Kind, snapshot: Snapshot) -> None:
        """Note a published snapshot of the board of a kind; call `commit` after the last of its version."""
        self._noted[kind] = snapshot

    def commit(self) -> None:
        """Queue the noted snapshots that have a new version for writing; never waits."""
        noted, self._noted = self._noted, {}
        if (main := noted.get(Kind.ONE_X_TWO)) is None:
            return
        before, self._last = self._last, main
        if before is not None and main.version > self.newest:
            self._add(self._commit_of(before, noted))

    def _commit_of(self, before: Snapshot, boards: Mapping[Kind, Snapshot]) -> Commit:
        main = boards[Kind.ONE_X_TWO]
        others = {kind: board for kind, board in boards.items() if kind is not Kind.ONE_X_TWO}
        return replace(
            commit_of(before, main, self._time_of(main), self.names),
            markets={kind: undiffed(board) for kind, board in others.items()},
            market_differences={
                kind: board.differences for kind, board in others.items() if board.differences
            },
        )

    def _time_of(self, snapshot: Snapshot) -> float:
        """Return when a version was made; a time that is ahead of our clock is replaced by now."""
        now = self.clock.now().wall
        return min(snapshot.made_at or now, now)

    def _add(self, commit: Commit) -> None:
        self.writer.add(commit)
        self.newest, self.epoch = commit.version, commit.epoch
        self.watch()


@dataclass(slots=True)
class Archive(OpenArchive):
    """The archive of boards that are made in this process. `configured` has all bookmakers.

    `last` is the newest 1X2 board, `markets` are the boards of other kinds. All boards share one version
    counter: `newest` is the newest version of any board, in the epoch `epoch`.
    """

    configured: Mapping[BookmakerId, Configured]
    last: Snapshot
    beginning: Beginning
    on_machine: Callable[[], Machine]
    newest: int = field(init=False)
    epoch: str = field(init=False)
    markets: dict[Kind, Snapshot] = field(init=False)
    _noted: dict[Kind, Snapshot] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.newest, self.epoch = self.last.version, self.last.epoch
        self.markets = dict(self.beginning.markets)

    def follow(self, snapshot: Snapshot) -> None:
        """Queue a published snapshot of the 1X2 board alone, if its version is new; never waits."""
        self.note(Kind.ONE_X_TWO, snapshot)
        self.commit()

    def note(self, kind: Kind, snapshot: Snapshot) -> None:
        """Note a published snapshot of the board of a kind; call `commit` after the last of its version."""
        self._noted[kind] = snapshot

    def commit(self) -> None:
        """Queue the noted snapshots that have a new version for writing; never waits."""
        noted, self._noted = self._noted, {}
        before = self.last
        changed = {kind: new for kind, new in noted.items() if new.version > self.newest}
        main = changed.pop(Kind.ONE_X_TWO, None)
        self.last = undiffed(noted.pop(Kind.ONE_X_TWO, before))
        self.markets |= {kind: undiffed(new) for kind, new in noted.items()}
        if main is None and not changed:
            return
        newest = main or next(iter(changed.values()))
        self.newest, self.epoch = newest.version, newest.epoch
        commit = replace(
            commit_of(before, main or self.last, self.clock.now().wall, self.names),
            version=self.newest,
            epoch=self.epoch,
            markets=dict(self.markets),
            market_differences={kind: new.differences for kind, new in changed.items()},
        )
        self.writer.add(commit)
        self.watch()

    def admit(self, snapshot: Snapshot) -> Snapshot:
        """Return the snapshot to publish, in a new epoch if its version was not reserved in time."""
        writer = self.writer
        if snapshot.version > writer.reserved_until and snapshot.epoch == writer.reserved_epoch:
            writer.epoch = token_hex(4)
            announce(log, "archive.epoch_ended", version=snapshot.version)
        return snapshot if snapshot.epoch == writer.epoch else replace(snapshot, epoch=writer.epoch)

    def close(self, *, is_orderly: bool) -> None:
        """Write all waiting commits, and then the ending if the end is orderly. Waits for the disk."""
        try:
            if not self.writer.stop(CLOSE_S):
                error = self.status.error or "some commits were not written in time"
                announce(log, "archive.not_ended", error=error)
            elif is_orderly and self.folder.is_held and self.epoch == self.writer.reserved_epoch:
                at = self.on_machine(), self.clock.now().mono
                last = replace(self.last, version=self.newest)
                write_ending(self.folder, last, self.names, self.configured, at, markets=self.markets)
        except OSError as error:
            announce(log, "archive.not_ended", error=str(error))
        self.folder.release()


def open_archive(
    settings: ArchiveSettings,
    status: ArchiveStatus,
    clock: Clock,
    *,
    terms: FixtureSettings,
    configured: Mapping[BookmakerId, Configured],
    names: Callable[[Mapping[BookmakerId, str]], Mapping[BookmakerId, str]],
    kinds: Collection[Kind] = (),
    epoch: str | None = None,
    reached: Reached = lambda _: None,
    on_machine: Callable[[], Machine] = machine,
    look_again_s: float = LOOK_AGAIN_S,
) -> Archive:
    """Open the archive of a service and begin a life in it; write the first version unless that fails.

    A new archive gets the `epoch`, or a random one without it. At least one source reads each of the
    `kinds` of market beside 1X2: other kinds are not restored. `names` takes the names that sources gave in
    the last life, and returns the names to show from now on. Raises: ArchiveLockedError, ConfigError.
    """
    folder, now = Folder.hold(Path(settings.path or "."), reached, look_again_s), clock.now()
    folder.on_damage = status.count_gap
    writer, ending, stood = Writer(folder, settings, status, clock), None, None
    try:
        ending, stood = _end_of(folder)
    except (sqlite3.Error, OSError) as error:
        writer.fail(error)
    start = Start(now, on_machine(), terms, configured, kinds)
    begun, is_whole = _begin(writer, start, stood, ending, epoch or token_hex(4))
    try:
        writer.begin(begun.commit, _gap(begun.commit, stood, is_whole=is_whole))
    except (sqlite3.Error, OSError) as error:
        writer.fail(error)
    shown = names(begun.names)
    life = configured, begun.snapshot, begun, on_machine
    return Archive(folder, writer, status, clock, shown, *life)


def open_followed(
    settings: ArchiveSettings,
    status: ArchiveStatus,
    clock: Clock,
    names: Mapping[BookmakerId, str],
    reached: Reached = lambda _: None,
) -> tuple[FollowedArchive, int]:
    """Open the archive of a process in a cluster; return it with the highest version seen.

    That version is the newest day's, or was reserved by a single process that used the archive before.
    Raises: ArchiveLockedError, ConfigError.
    """
    folder = Folder.hold(Path(settings.path or "."), reached)
    folder.on_damage = status.count_gap
    writer, reserved = Writer(folder, settings, status, clock), None
    archive = FollowedArchive(folder, writer, status, clock, names)
    try:
        reserved = folder.reserved()
        while _newest(folder) is None and folder.days():
            pass  # a damaged day was set aside: try the day before
        take_ending(folder)  # written by a single process: this process must not restore its lists
        if days := folder.days():
            archive.epoch = writer.resume(days[-1])
            archive.newest = status.written = writer.written
    except (sqlite3.Error, OSError) as error:
        writer.fail(error)
    return archive, max(archive.newest, 0 if reserved is None else reserved.until)


def _newest(folder: Folder) -> date | None:
    """Return the newest day; None if there is none, or if it is damaged and was set aside.

    Raises: OSError, sqlite3.Error if it cannot be read now, or needs a second look; ConfigError if a day
    has a newer format.
    """
    folder.tidy()
    days, is_whole = folder.days(), False
    for day in days:
        is_last = day == days[-1]
        try:
            is_whole = folder.check(day, is_last=is_last)
        except NewerFormatError as error:
            folder.release()
            raise ConfigError(f"{error.filename}: {error.strerror}") from error
        except (OSError, sqlite3.Error):
            if is_last:
                raise
    return days[-1] if is_whole else None


def _end_of(folder: Folder) -> tuple[Ending | None, Stood | None]:
    """Return the ending, and the board at the end of the newest day; None for an unknown part.

    Raises: OSError, sqlite3.Error if the day cannot be read now, or needs a second look.
    """
    day, ending = _newest(folder), take_ending(folder)
    try:
        return ending, None if day is None else _stood(folder, day, ending)
    except UnreadableError as error:
        raise OSError(EIO, str(error), str(folder.path)) from error


def _stood(folder: Folder, day: date, ending: Ending | None) -> Stood:
    with Reader.open(folder.file(day), is_written=False) as reader:
        fixtures = [fixture for fixture, _ in reader.members(reader.last)]
        seen_ms = max(reader.seen_ms, reader.last_ms)
        last = reader.last, reader.epoch(reader.last)
        if ending is not None and (ending.version, ending.epoch) == last:
            entries = ending.entries()  # equal to the archived entries, read in half the time
        else:
            entries = reader.entries(reader.last)
        return Stood(reader.last, seen_ms, entries, fixtures, reader.market_entries(reader.last))


def _gap(first: Commit, stood: Stood | None, *, is_whole: bool) -> Gap | None:
    """Return the gap while the service was down; None if the board before it is unknown."""
    if stood is None:
        return None
    reason = "stopped" if is_whole else "killed"
    return Gap(stood.version, first.version, stood.seen_ms, milliseconds(first.at), reason)


def _begin(
    writer: Writer, start: Start, stood: Stood | None, ending: Ending | None, new_epoch: str
) -> tuple[Beginning, bool]:
    """Return the beginning of a life, and whether the ending of the last life is valid.

    The life continues the archive's epoch if versions of that epoch can be reserved.
    """
    reserved = _reserved(writer.folder)
    highest = 0 if stood is None else stood.version
    if (
        stood is None
        or reserved is None
        or ending is None
        or (ending.version, ending.epoch) != (stood.version, reserved.epoch)
    ):
        ending = None
    is_whole = ending is not None
    if ending is None and reserved is not None:
        highest = max(highest, reserved.until)
    elif ending is None and highest:
        highest += 2 * RESERVED  # no reservation is so far above its version
    if reserved is None:
        highest = max(highest, _floor(writer.folder, start.now.wall))
    version = max(highest + 1, int(start.now.wall * 1000))
    writer.epoch = new_epoch if reserved is None else reserved.epoch
    try:
        writer.reserve(version)
    except OSError as error:
        writer.fail(error)
        writer.epoch, ending = token_hex(4), None
    begun = beginning(version, writer.epoch, start, stood, ending)
    return begun, is_whole


def _reserved(folder: Folder) -> Reserved | None:
    try:
        return folder.reserved()
    except OSError:
        return None


def _floor(folder: Folder, wall: float) -> int:
    """Return a version not below any that may have been published, without reading a file's content."""
    with suppress(OSError):
        if (marked := folder.marked()) or not (folder.days() or folder.bad()):
            return marked
    return int(wall * 10**6)  # above all versions, which begin as times in milliseconds
