"""The content of a folder and the integrity of its files, for `oddsboard archive info` and `check`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from msgspec import Struct

from actors.archive.days.format import Gap
from actors.archive.days.reading import NewerFormatError, fault_of
from actors.archive.folder import Folder
from actors.archive.past import Days, Held


class Verdict(Struct, frozen=True):
    """The result of checking a file: `fault` describes the damage, None if the file is whole."""

    name: str
    fault: str | None


def contents(folder: Folder) -> tuple[list[Held], list[Gap]]:
    """Return the content of each day, and the gaps; damaged days are set aside. Raises: OSError."""
    days = Days(folder, lambda: max(folder.days(), default=None))
    held = days.held()
    return held, days.gaps(held)


def verdicts(folder: Folder) -> Iterator[Verdict]:
    """Check each file: its format, and its digest, or SQLite's own check of all pages if it has no digest.

    Files that were set aside as damaged are reported too.
    """
    for day in folder.days():
        path = folder.file(day)
        try:
            fault = fault_of(path)
        except NewerFormatError as error:
            fault = error.strerror
        except (sqlite3.Error, OSError) as error:
            fault = f"cannot be read now: {error}"
        yield Verdict(path.name, fault)
    for _, path in folder.bad():
        yield Verdict(
            path.name, "it was damaged and is set aside; restore the day from a backup, or remove it"
        )
