"""The long tests that CI runs: one part of six, by the day, and the tests of folders that changed."""

from __future__ import annotations

from datetime import UTC, date, datetime
from functools import cache
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Self

from msgspec import Struct

from tests.support.source_code import ROOT

PARTS = 6
TODAY = "today"
OF_FOLDERS = "of folders that changed"
ELSEWHERE: dict[str, tuple[str, ...]] = {
    ".": ("tests/docs",),
    ".ci": (),
    "config": ("tests/deploy", "tests/docs"),
    "config/deploy": ("tests/deploy",),
    "config/pages": ("tests/browser",),
    "config/programs": ("tests/actors/pipeline/program",),
    "docs": ("tests/docs",),
    "scripts": ("tests/docs",),
    "scripts/benchmarks": (),
    "tests": (),
    "tests/support": (),
    "web/endpoints/operators": ("tests/web/endpoints",),
    "web/static": ("tests/browser",),
}
"""Folders whose tests are not in the folder of the same name under `tests`, and where their tests are.

Nearly all tests use `tests/support`: for this folder the day alone draws long tests.
"""


class Draw(Struct, frozen=True):
    """A day, by which long tests are drawn, and the folders that changed.

    `folders` are sorted paths in the repository; "." is its root.
    """

    day: date
    folders: tuple[str, ...]

    @classmethod
    def of(cls, day: str, folders: str) -> Self:
        """Return the draw of "today" (in UTC) or a date as 2026-11-29, with folders between commas.

        Raises: ValueError if the date is wrong, or one of the folders is not there.
        """
        names = sorted({name for name in folders.split(",") if name})
        if absent := [name for name in names if not (ROOT / name).is_dir()]:
            raise ValueError(f"--changed has {absent[0]!r}, must be folders, a comma between")
        try:
            found = datetime.now(UTC).date() if day == TODAY else date.fromisoformat(day)
        except ValueError:
            raise ValueError(f"--draw was {day!r}, must be {TODAY} or a date as 2026-11-29") from None
        return cls(found, tuple(names))

    @property
    def part(self) -> int:
        """The part of the day, from 0: each part in turn, so that six days in a row have all parts."""
        return self.day.toordinal() % PARTS

    def reason(self, node_id: str) -> str:
        """Return the reason why the draw includes a test; "" if the draw does not include it."""
        if part_of(node_id) == self.part:
            return f"of part {self.part + 1} of {PARTS}"
        folder = str(PurePosixPath(node_id.partition("::")[0]).parent)
        return OF_FOLDERS if any(folder in covering(changed) for changed in self.folders) else ""

    def told(self, against: str) -> str:
        """Return a line about the drawn tests, and the commit against which the folders changed."""
        names = ", ".join(self.folders) or "none"
        part = f"part {self.part + 1} of {PARTS}, by the date {self.day}"
        return f"drawn of the tests that take long: {part}; folders that changed ({against}): {names}"

    def options(self) -> str:
        """Return the options that make the same draw again."""
        return f"--draw={self.day} --changed={','.join(self.folders)}"


def part_of(node_id: str) -> int:
    """Return the part of a test, 0 to 5: the same in every process, on every machine and day."""
    return int.from_bytes(sha256(node_id.encode()).digest()[:8]) % PARTS


@cache
def covering(folder: str) -> frozenset[str]:
    """Return the folders with the tests of a folder of the repository.

    The folders are in `ELSEWHERE`, or under `tests` with the same name; all folders below that if it has no
    tests itself. A folder without tests has the tests of the folder around it.
    """
    if folder in ELSEWHERE:
        return frozenset(ELSEWHERE[folder])
    own = folder if folder.startswith("tests/") else f"tests/{folder}"
    found = frozenset(
        (str(file.parent.relative_to(ROOT)) for file in (ROOT / own).glob("test_*.py")),
    ) or frozenset(str(file.parent.relative_to(ROOT)) for file in (ROOT / own).rglob("test_*.py"))
    return found or covering(str(PurePosixPath(folder).parent))
