"""The archive of a running service: opened before it, fed by each commit, closed after its last version."""

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
from actors.monitoring.status import MAX_LAG_S, ArchiveStatus
from actors.runtime.facts import announce

log = structlog.get_logger()

CLOSE_S = 3.0
"""Seconds for what waits to be written at the end."""
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def machine() -> Machine:
    """Return which start of the machine this is, and how long ago."""
    try:
        boot_id = BOOT_ID.read_text("ascii").strip()
    except OSError:  # a system without it: nothing is ever restored
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

    def start(self) -> None:
        """Start the thread that writes."""
        try:
            self.writer.start()
        except RuntimeError as error:  # the system allows no further thread
            self.writer.fail(error)

    def watch(self) -> None:
        """Say once that nothing is written though there is no error, and once that it is written again."""
        lag_s = self.status.lag_s(self.clock.now().wall)
        is_late = lag_s >= MAX_LAG_S and (self._is_late or self.status.error is None)
        if is_late and not self._is_late:
            announce(log, "archive.delayed", lag_s=round(lag_s))
        elif self._is_late and not is_late:
            announce(log, "archive.caught_up", version=self.writer.written)
        self._is_late = is_late

    def past(self) -> Past:
        """Return what reads the archive while it is written."""
        return Past(self.folder, self.writer, self.status)

    def close(self, *, is_orderly: bool) -> None:
        """Write all that waits, and make the folder free. Waits for the disk."""
        del is_orderly
        self.writer.stop(CLOSE_S)
        self.folder.release()


@dataclass(slots=True)
class FollowedArchive(OpenArchive):
    """The archive of a board whose versions and epochs are made elsewhere, for several processes.

    `newest` is the newest version that it has, or that waits to be written, and of which epoch that is. The
    boards of all kinds of market have the same version.
    """

    newest: int = 0
    epoch: str = ""
    _last: Snapshot | None = None
    _noted: dict[Kind, Snapshot] = field(default_factory=dict, init=False)

    def newest_of(self, epoch: str) -> int:
        """Return the newest version of an epoch that it has; 0 if it has none."""
        return self.newest if epoch == self.epoch else 0

    def restart(self, boards: Mapping[Kind, Snapshot]) -> None:
        """Go on from whole boards, which may not follow the last; versions that it has come again then."""
        self._noted.clear()
        self._last = first = boards[Kind.ONE_X_TWO]
        if first.version > self.newest_of(first.epoch):
            commit = self._commit_of(first, boards)
            self._add(replace(commit, gap=MISSED if first.epoch == self.epoch else BEGAN_ANEW))

    def note(self, kind: Kind, snapshot: Snapshot) -> None:
        """Note a published snapshot of the board of a kind; `commit` comes once all of its version are."""
        self._noted[kind] = snapshot

    def commit(self) -> None:
        """Have what was noted written at once, if it is a version that it has not; never waits."""
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
            market_differences={kind: of.differences for kind, of in others.items() if of.differences},
        )

    def _time_of(self, snapshot: Snapshot) -> float:
        """Return when a version was made; another machine's clock is not believed to be ahead."""
        now = self.clock.now().wall
        return min(snapshot.made_at or now, now)

    def _add(self, commit: Commit) -> None:
        self.writer.add(commit)
        self.newest, self.epoch = commit.version, commit.epoch
        self.watch()


@dataclass(slots=True)
class Archive(OpenArchive):
    """The archive of boards that are made here, whose versions go on. `configured` has all bookmakers.

    `last` is the newest board of 1X2, `markets` are those of other kinds. They count versions with one
    counter: `newest` is the newest version of any, of that `epoch`.
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
        """Begin with the first boards."""
        self.newest, self.epoch = self.last.version, self.last.epoch
        self.markets = dict(self.beginning.markets)

    def follow(self, snapshot: Snapshot) -> None:
        """Have a published snapshot of 1X2 alone written if it is a version of its own; never waits."""
        self.note(Kind.ONE_X_TWO, snapshot)
        self.commit()

    def note(self, kind: Kind, snapshot: Snapshot) -> None:
        """Note a published snapshot of the board of a kind; `commit` comes once all of its version are."""
        self._noted[kind] = snapshot

    def commit(self) -> None:
        """Have what was noted written at once, if it is a version of its own; never waits."""
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
        """Return what may be published: of a new epoch if the version was not reserved in time."""
        writer = self.writer
        if snapshot.version > writer.reserved_until and snapshot.epoch == writer.reserved_epoch:
            writer.epoch = token_hex(4)
            announce(log, "archive.epoch_ended", version=snapshot.version)
        return snapshot if snapshot.epoch == writer.epoch else replace(snapshot, epoch=writer.epoch)

    def close(self, *, is_orderly: bool) -> None:
        """Write all that waits; after an orderly end, if all is written, the ending. Waits for the disk."""
        try:
            if not self.writer.stop(CLOSE_S):
                error = self.status.error or "not all could be written in time"
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
    """Open the archive of a service and begin a life in it; the first version is written, but for errors.

    A new archive has the `epoch`, or a random one if none is given. Some source reads `kinds` of market
    beside 1X2: of others nothing is restored.
    `names` takes the names that sources gave before, and returns those that are shown from now on.
    Raises: ArchiveLockedError, ConfigError.
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
    """Open the archive of a process that shows a board of several; return the highest version seen with it.

    That is of the newest day, or may have been published by a single process that had the archive before.
    Raises: ArchiveLockedError, ConfigError.
    """
    folder = Folder.hold(Path(settings.path or "."), reached)
    folder.on_damage = status.count_gap
    writer, reserved = Writer(folder, settings, status, clock), None
    archive = FollowedArchive(folder, writer, status, clock, names)
    try:
        reserved = folder.reserved()
        while _newest(folder) is None and folder.days():
            pass  # a damaged one was set aside
        take_ending(folder)  # of a single process: what is listed is not ours to restore
        if days := folder.days():
            archive.epoch = writer.resume(days[-1])
            archive.newest = status.written = writer.written
    except (sqlite3.Error, OSError) as error:
        writer.fail(error)
    return archive, max(archive.newest, 0 if reserved is None else reserved.until)


def _newest(folder: Folder) -> date | None:
    """Return the newest day; None if there is none, or it was damaged and is set aside.

    Raises: OSError, sqlite3.Error if it cannot be read now, or must be looked at again; ConfigError if a
    day is of a newer format.
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
    """Return what stood at the end of the newest day, and the ending; None for what is not known.

    Raises: OSError, sqlite3.Error if it cannot be read now, or must be looked at again.
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
            entries = ending.entries()  # the same in half the time
        else:
            entries = reader.entries(reader.last)
        return Stood(reader.last, seen_ms, entries, fixtures, reader.market_entries(reader.last))


def _gap(first: Commit, stood: Stood | None, *, is_whole: bool) -> Gap | None:
    """Return the time in which the service was down; None if it is not known what stood before."""
    if stood is None:
        return None
    reason = "stopped" if is_whole else "killed"
    return Gap(stood.version, first.version, stood.seen_ms, milliseconds(first.at), reason)


def _begin(
    writer: Writer, start: Start, stood: Stood | None, ending: Ending | None, new_epoch: str
) -> tuple[Beginning, bool]:
    """Return the beginning of a life, and whether the last life has an ending that counts.

    Its epoch is that of the archive, if versions of it can be reserved.
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
        highest += 2 * RESERVED  # more than was ever reserved above a version
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
    """Return a version that is not below any that may have been published, without reading a file."""
    with suppress(OSError):
        if (marked := folder.marked()) or not (folder.days() or folder.bad()):
            return marked
    return int(wall * 10**6)  # versions begin in milliseconds
