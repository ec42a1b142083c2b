"""The content of a folder, and whether its files are whole: for `oddsboard archive info` and `check`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from msgspec import Struct

from actors.archive.days.format import Gap
from actors.archive.days.reading import NewerFormatError, fault_of
from actors.archive.folder import Folder
from actors.archive.past import Days, Held


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
    """Check each file: its format, and its digest, or without one SQLite's own check of all its pages.

    A file that was set aside is named, too: it was damaged.
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
