"""The folder of an archive: its lock, the versions that may be published, its days, and what is forgotten.

`lock` is held while a process uses the folder. `versions.json` has the epoch, and the version up to which
versions may have been published: none above that was. A day that cannot be read is set aside as `.bad`.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date, timedelta
from errno import ENOENT
from pathlib import Path
from typing import Annotated

import msgspec
import structlog
from msgspec import Meta, Struct

from actors.archive.day import Reached, connect, sync
from actors.archive.format import FORMAT, SUFFIX, day_named, name_of
from actors.archive.reading import Reader, UnreadableError, check_digest, is_damage
from actors.core.errors import ArchiveLockedError, ConfigError

log = structlog.get_logger()

VERSIONS, LOCK, ENDING = "versions.json", "lock", "ending.msgpack"
BAD = ".bad"


class ArchiveSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the archive is, a folder, None for no archive; days and bytes that are kept at most."""

    path: Annotated[str, Meta(min_length=1)] | None = None
    keep_days: Annotated[int, Meta(ge=1, le=100_000)] = 90
    max_bytes: Annotated[int, Meta(ge=1_000_000, le=10**15)] = 10_737_418_240


class Reserved(Struct, frozen=True, forbid_unknown_fields=True):
    """The epoch of the archive, and the largest version that may have been published in it."""

    format: int
    epoch: Annotated[str, Meta(pattern="^[0-9a-z]{1,32}$")]
    until: int


class Folder:
    """A folder that this process holds.

    `reached` is told of each boundary, and `on_damage` is called by any thread when a day was set aside, or
    the one that is written is not there.
    """

    def __init__(self, path: Path, descriptor: int, reached: Reached) -> None:
        self.path = path
        self.reached = reached
        self.on_damage: Callable[[], None] = lambda: None
        self._descriptor = descriptor

    @classmethod
    def hold(cls, path: Path, reached: Reached = lambda _: None) -> Folder:
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
        except OSError as error:
            os.close(descriptor)
            raise ArchiveLockedError(f"archive.path was {str(path)!r}: another process uses it") from error
        return cls(path, descriptor, reached)

    @property
    def is_held(self) -> bool:
        """Whether it is locked, so that it may be changed."""
        return self._descriptor >= 0

    @classmethod
    def reading(cls, path: Path) -> Folder:
        """Return a folder that is only read: another process may hold it."""
        return cls(path, -1, lambda _: None)

    def release(self) -> None:
        """Make it free for another process."""
        os.close(self._descriptor)

    def reserved(self) -> Reserved | None:
        """Return what is reserved; None if nothing is, or it cannot be read."""
        try:
            found = msgspec.json.decode((self.path / VERSIONS).read_bytes(), type=Reserved)
        except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
            return None
        return found if found.format == FORMAT else None

    def reserve(self, epoch: str, until: int) -> None:
        """Have it on disk that versions up to `until` may be published. Raises: OSError."""
        self.reached("before reservation")
        self.replace(VERSIONS, msgspec.json.encode(Reserved(FORMAT, epoch, until)))
        self.reached("after reservation")

    def replace(self, name: str, content: bytes) -> None:
        """Put a file in place of another, whole and on disk. Raises: OSError."""
        new = self.path / f"{name}.new"
        with new.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        new.rename(self.path / name)
        sync(self.path)

    def tidy(self) -> None:
        """Remove what a process that was killed has left half-made."""
        for left in [*self.path.glob("*.new"), *self.path.glob("*.new-journal")]:
            left.unlink(missing_ok=True)

    def days(self) -> list[date]:
        """Return the days that there are, oldest first."""
        return sorted(day for path in self.path.iterdir() if (day := day_named(path.name)) is not None)

    def file(self, day: date) -> Path:
        """Return the file of a day."""
        return self.path / name_of(day)

    def require(self, day: date, inode: int) -> None:
        """Raise FileNotFoundError if the file of a day was removed, or replaced, since it was opened."""
        path = self.file(day)
        try:
            is_there = path.stat().st_ino == inode
        except FileNotFoundError:
            is_there = False
        if not is_there:
            self.on_damage()
            raise FileNotFoundError(ENOENT, "the file that is written was removed", str(path))

    def size(self) -> int:
        """Return the bytes of all its files. Raises: OSError."""
        total = 0
        for path in self.path.iterdir():
            with suppress(FileNotFoundError):  # an operator may remove it meanwhile
                total += path.stat().st_size
        return total

    def bad_days(self) -> list[date]:
        """Return the days that were set aside."""
        names = (path.name.removesuffix(BAD) for path in self.path.glob(f"*{SUFFIX}{BAD}"))
        return sorted(day for name in names if (day := day_named(name)) is not None)

    def set_aside(self, day: date, why: str) -> None:
        """Rename the file of a day, so that nothing reads it again. Raises: OSError."""
        path = self.file(day)
        for beside in ("-wal", "-shm"):
            Path(f"{path}{beside}").unlink(missing_ok=True)
        path.with_suffix(".sum").unlink(missing_ok=True)
        path.rename(f"{path}{BAD}")
        sync(self.path)
        log.warning("archive.set_aside", file=f"{path.name}{BAD}", error=why)
        self.on_damage()

    def check(self, day: date, *, is_last: bool) -> bool:
        """Return whether the file of a day can be read; set it aside if it is damaged.

        What a killed process left beside it is taken into a file that is not the last. The last is written
        on, and has no digest then: if it is sealed, because a newer day was damaged, that is verified now.
        Raises: OSError.
        """
        path = self.file(day)
        try:
            if not is_last and Path(f"{path}-wal").exists():
                connection = connect(path, "rw")
                try:
                    connection.execute("PRAGMA journal_mode = DELETE")
                finally:
                    connection.close()
            with Reader.open(path, is_written=is_last) as reader:
                reader.check_day(day)
                if is_last and reader.is_sealed:
                    check_digest(path)
        except (sqlite3.DatabaseError, UnreadableError) as error:
            if is_damage(error):
                self.set_aside(day, str(error))
            return False
        return True

    def forget(self, settings: ArchiveSettings) -> Iterator[date]:
        """Remove the oldest days while they are too old, or all are too large; never the newest.

        Their age counts from the day after the second newest: the newest is far in the future if the clock
        was wrong. Yields each that is gone. Raises: OSError.
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
            self.file(day).unlink()
            self.file(day).with_suffix(".sum").unlink(missing_ok=True)
            sync(self.path)
            self.reached("after unlink")
            del sizes[day]
            log.info("archive.forgotten", file=name_of(day))
            yield day
        for day in self.bad_days():
            if day < oldest:
                Path(f"{self.file(day)}{BAD}").unlink(missing_ok=True)
