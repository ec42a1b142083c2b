"""What a folder has, and whether its files are whole: for `oddsboard archive info` and `check`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from msgspec import Struct

from actors.archive.day import connect
from actors.archive.folder import Folder
from actors.archive.format import Gap
from actors.archive.past import Days, Held
from actors.archive.reading import NOT_INTACT, Reader, UnreadableError, is_intact


class Verdict(Struct, frozen=True):
    """Whether a file is whole: `fault` says what is wrong, or None."""

    name: str
    fault: str | None


def contents(folder: Folder) -> tuple[list[Held], list[Gap]]:
    """Return what the days hold, and the gaps; damaged days are set aside. Raises: OSError."""
    days = Days(folder, lambda: max(folder.days(), default=None))
    held = days.held()
    return held, days.gaps(held)


def verdicts(folder: Folder) -> Iterator[Verdict]:
    """Check each file: its format, its digest if it is sealed, and SQLite's own check of all its pages."""
    days = folder.days()
    for day in days:
        path = folder.file(day)
        try:
            with Reader.open(path, is_written=day == days[-1]) as reader:
                reader.check_day(day)
                is_sealed = reader.is_sealed
            fault = NOT_INTACT if is_sealed and not is_intact(path) else None
            if fault is None:
                connection = connect(path, "ro" if day == days[-1] else "immutable")
                try:
                    answer = connection.execute("PRAGMA integrity_check").fetchone()[0]
                finally:
                    connection.close()
                fault = None if answer == "ok" else str(answer)
        except (sqlite3.Error, UnreadableError) as error:
            fault = str(error)
        yield Verdict(path.name, fault)
