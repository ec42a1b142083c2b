"""The folder of an archive: its lock, the versions that may be published, its days, and their removal.

`lock` is held while a process uses the folder. `versions.json` has the epoch, and a limit: no version above
it was published. A damaged day is renamed to `.bad`, with all files beside it, if a second look, some time
after the first, finds it damaged too.
"""

from __future__ import annotations

import fcntl
import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import date, timedelta
from errno import EAGAIN, ENOENT
from itertools import count
from pathlib import Path
from typing import Annotated

import msgspec
import structlog
from msgspec import Meta, Struct

from actors.archive.days.day import Reached
from actors.archive.days.file import connect, sync
from actors.archive.days.format import FORMAT, day_named, name_of
from actors.archive.days.reading import (
    Reader,
    UnreadableError,
    check_digest,
    digest_path,
    fault_of,
    may_be_damage,
)
from actors.core.clock import elapsed_s
from actors.core.errors import ArchiveLockedError, ConfigError
from actors.runtime.facts import announce

log = structlog.get_logger()

VERSIONS, LOCK, ENDING = "versions.json", "lock", "ending.msgpack"
BAD, MARKED = ".bad", "reserved-"
LOOK_AGAIN_S = 5.0
"""Seconds between the first look that finds a day damaged, and the second, which decides."""
BESIDE = ("-wal", "-journal")
"""The files that SQLite keeps beside a file; they may contain commits."""
_BAD_DAY = re.compile(r"(\d{4}-\d{2}-\d{2}\.db)\.bad\d*", re.ASCII)


class ArchiveSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The folder of the archive, None for no archive; the most days and bytes to keep."""

    path: Annotated[str, Meta(min_length=1)] | None = None
    keep_days: Annotated[int, Meta(ge=1, le=100_000)] = 90
    max_bytes: Annotated[int, Meta(ge=1_000_000, le=10**15)] = 10_737_418_240


def check_place(path: Path) -> None:
    """Raise ValueError if no folder can be at that place, for any user."""
    place = path.absolute()
    with suppress(OSError):  # another user may see more
        if (above := next(part for part in (place, *place.parents) if part.exists())).is_file():
            raise ValueError(f"path was {str(path)!r}, must be a folder: {above} is a file")
        if any(place.resolve().is_relative_to(system) for system in ("/proc", "/sys")):
            raise ValueError(f"path was {str(path)!r}, must be a folder in which files stay")


class Reserved(Struct, frozen=True, forbid_unknown_fields=True):
    """The epoch of the archive, and the largest version that may have been published in it."""

    format: int
    epoch: Annotated[str, Meta(pattern="^[0-9a-z]{1,32}$")]
    until: int


class Folder:
    """A folder that this process holds.

    `reached` is called at each crash point; `on_damage` is called, from any thread, after a day was set
    aside.
    """

    def __init__(
        self, path: Path, descriptor: int, reached: Reached, look_again_s: float = LOOK_AGAIN_S
    ) -> None:
        self.path = path
        self.reached = reached
        self.on_damage: Callable[[], None] = lambda: None
        self._descriptor = descriptor
        self._in_use: dict[Path, int] = {} if descriptor < 0 else {path / LOCK: os.fstat(descriptor).st_ino}
        self.look_again_s = look_again_s
        self._doubted_s: dict[date, float] = {}

    @classmethod
    def hold(
        cls, path: Path, reached: Reached = lambda _: None, look_again_s: float = LOOK_AGAIN_S
    ) -> Folder:
        """Make the folder if it is missing, and lock it.

        Raises: ArchiveLockedError if another process holds it, ConfigError if it cannot be used.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise ConfigError(
                f"archive.path was {str(path)!r}: cannot be used: {error.strerror}"
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            raise ArchiveLockedError(f"archive.path was {str(path)!r}: another process uses it") from error
        except OSError as error:  # some network file systems have no locks
            os.close(descriptor)
            raise ConfigError(
                f"archive.path was {str(path)!r}: cannot be locked: {error.strerror}"
            ) from error
        return cls(path, descriptor, reached, look_again_s)

    @property
    def is_held(self) -> bool:
        """Whether this process may change it: it holds the lock, and the lock file was not removed."""
        try:
            self.require({})
        except OSError:
            return False
        return self._descriptor >= 0

    @classmethod
    def reading(cls, path: Path) -> Folder:
        """Return a folder for reading only: another process may hold it."""
        return cls(path, -1, lambda _: None)

    def release(self) -> None:
        """Unlock it for another process."""
        os.close(self._descriptor)

    def reserved(self) -> Reserved | None:
        """Return the reservation; None if there is none or it is invalid. Raises: OSError."""
        try:
            found = msgspec.json.decode((self.path / VERSIONS).read_bytes(), type=Reserved)
        except (FileNotFoundError, msgspec.MsgspecError, ValueError, RecursionError):
            return None
        return found if found.format == FORMAT else None

    def reserve(self, epoch: str, until: int) -> None:
        """Store on disk that versions up to `until` may be published. Raises: OSError."""
        self.reached("before reservation")
        older = [*self.path.glob(f"{MARKED}*")]
        mark = self.path / f"{MARKED}{until}"
        mark.touch()
        self.replace(VERSIONS, msgspec.json.encode(Reserved(FORMAT, epoch, until)))
        for path in older:
            if path != mark:
                path.unlink(missing_ok=True)
        self.reached("after reservation")

    def marked(self) -> int:
        """Return the highest version that may have been published, from a file's name; 0 if none has it.

        This works even on a disk whose files cannot be read. Raises: OSError.
        """
        names = (path.name.removeprefix(MARKED) for path in self.path.glob(f"{MARKED}*"))
        return max((int(name) for name in names if name.isdecimal()), default=0)

    def replace(self, name: str, content: bytes) -> None:
        """Replace a file by a complete, synced one. Raises: OSError."""
        new = self.path / f"{name}.new"
        with new.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        new.rename(self.path / name)
        sync(self.path)

    def tidy(self) -> None:
        """Remove unfinished files of a killed process."""
        for left in [*self.path.glob("*.new"), *self.path.glob("*.new-journal")]:
            left.unlink(missing_ok=True)

    def days(self) -> list[date]:
        """Return the days with a file, oldest first."""
        return sorted(day for path in self.path.iterdir() if (day := day_named(path.name)) is not None)

    def file(self, day: date) -> Path:
        """Return the path of a day's file."""
        return self.path / name_of(day)

    def require(self, inodes: Mapping[Path, int]) -> None:
        """Raise FileNotFoundError if the lock, or one of these files, was removed or replaced.

        Data written to a removed file is lost, and without the lock another process may write.
        """
        for path, inode in {**self._in_use, **inodes}.items():
            try:
                is_there = path.stat().st_ino == inode
            except FileNotFoundError:
                is_there = False
            if not is_there:
                raise FileNotFoundError(ENOENT, "it was removed while it was in use", str(path))

    def size(self) -> int:
        """Return the total size of its files in bytes. Raises: OSError."""
        total = 0
        for path in self.path.iterdir():
            with suppress(FileNotFoundError):  # an operator may remove it meanwhile
                total += path.stat().st_size
        return total

    def bad(self) -> list[tuple[date, Path]]:
        """Return the days that were set aside, and their files, oldest first; a day may have several."""
        found = ((_BAD_DAY.fullmatch(path.name), path) for path in self.path.iterdir())
        days = ((day_named(name[1]), path) for name, path in found if name is not None)
        return sorted((day, path) for day, path in days if day is not None)

    def set_aside(self, day: date, why: str) -> None:
        """Rename the file of a day, and all beside it, so that it is never read again. Raises: OSError."""
        path, bad = self.file(day), self._bad_name(day)
        self.set_aside_beside(day, bad)
        path.rename(bad)
        sync(self.path)
        self._doubted_s.pop(day, None)
        announce(log, "archive.set_aside", file=bad.name, error=why)
        self.on_damage()

    def _bad_name(self, day: date) -> Path:
        """Return an unused name for a damaged day's file."""
        names = (f"{self.file(day)}{BAD}{number or ''}" for number in count())
        return next(Path(name) for name in names if not [*self.path.glob(f"{Path(name).name}*")])

    def set_aside_beside(self, day: date, bad: Path) -> None:
        """Rename the files beside a day's file to the names that SQLite expects beside `bad`."""
        path = self.file(day)
        for beside in BESIDE:
            with suppress(FileNotFoundError):
                Path(f"{path}{beside}").rename(f"{bad}{beside}")
        with suppress(FileNotFoundError):
            digest_path(path).rename(f"{bad}.sum")
        Path(f"{path}-shm").unlink(missing_ok=True)  # an index of the log, rebuilt from it

    def clear(self, day: date) -> None:
        """Set aside leftovers of a day without its file, because SQLite would use them for a new file."""
        left = [Path(f"{self.file(day)}{beside}") for beside in BESIDE]
        if any(path.exists() for path in left):
            self.set_aside_beside(day, self._bad_name(day))

    def check(self, day: date, *, is_last: bool) -> bool:
        """Return whether the file of a day can be read; False if it was damaged and is set aside.

        Leftovers of a killed process are merged into the file, except in the last day. The last day is open
        for writing and normally unsealed; if it is sealed, because a newer day was damaged, its digest is
        verified now. Raises: OSError, sqlite3.Error if it cannot be read now, or needs a second look.
        """
        try:
            self._look(day, is_last=is_last)
        except (sqlite3.DatabaseError, UnreadableError) as error:
            if not may_be_damage(error):
                raise
            return self.settle(day, str(error))
        return day not in self._doubted_s or self.settle(day, "an error while it was written")

    def _look(self, day: date, *, is_last: bool) -> None:
        path = self.file(day)
        if not is_last and Path(f"{path}-wal").exists():
            connection = connect(path, "rw")
            try:
                connection.execute("PRAGMA journal_mode = DELETE")
            finally:
                connection.close()
        with Reader.open(path, is_written=False) as reader:
            reader.check_day(day)
            if is_last and reader.is_sealed:
                check_digest(path)

    def doubt(self, day: date) -> None:
        """Note that a day may be damaged: `check` examines all of it, some time from now."""
        self._doubted_s.setdefault(day, elapsed_s())

    def settle(self, day: date, why: str) -> bool:
        """Examine all of a day that may be damaged; return whether it is whole, and set it aside if not.

        Raises: OSError, sqlite3.Error if it is too early for a second look, or the day cannot be read now.
        """
        self.doubt(day)
        if elapsed_s() - self._doubted_s[day] < self.look_again_s:
            raise OSError(EAGAIN, f"it may be damaged ({why}), and is looked at again", name_of(day))
        fault = fault_of(self.file(day))
        if fault is not None:
            self.set_aside(day, fault)
        self._doubted_s.pop(day, None)
        return fault is None

    def settle_all(self) -> None:
        """Examine the doubted days again, except the newest, which may be open for writing."""
        for day in self.days()[:-1]:
            if day in self._doubted_s:
                with suppress(OSError, sqlite3.Error):
                    self.settle(day, "")

    def forget(self, settings: ArchiveSettings) -> Iterator[date]:
        """Remove the oldest days while they are too old, or all are too large; never the newest.

        Age is counted from the day after the second newest, because a wrong clock may put the newest far in
        the future. Yields each removed day. Raises: OSError.
        """
        days = self.days()
        if not days[1:]:
            return
        sizes = {day: self.file(day).stat().st_size for day in days}
        oldest = days[-2] - timedelta(days=settings.keep_days - 2)
        for day in days[:-1]:
            if day >= oldest and sum(sizes.values()) <= settings.max_bytes:
                break
            self.reached("before unlink")
            self._unlink(self.file(day), digest_path(self.file(day)))
            sync(self.path)
            self.reached("after unlink")
            del sizes[day]
            announce(log, "archive.forgotten", file=name_of(day))
            yield day
        for day, path in self.bad():
            if day < oldest:
                self._unlink(path, Path(f"{path}.sum"))

    def _unlink(self, path: Path, digest: Path) -> None:
        """Remove the file of a forgotten day, and the files beside it."""
        path.unlink()
        for beside in (digest, *(Path(f"{path}{end}") for end in BESIDE)):
            beside.unlink(missing_ok=True)
