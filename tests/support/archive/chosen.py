"""Lives chosen at random, each with a fault; counts of the injected faults and of those that fired."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from actors.archive.days.reading import Reader, UnreadableError
from tests.support.archive.checked import Checked, Lives
from tests.support.archive.disk_faults import NAME, OPEN, READ, SYNC, WRITE
from tests.support.archive.failing import OWN, SQLITE_SYNC, SQLITE_WRITE, reaches_sqlite

BOUNDARIES = (
    *("before reservation", "after reservation", "before write", "after write"),
    *("day written", "day begun", "sealed file written", "digest renamed", "sealed file renamed"),
    *("before unlink", "after unlink", "before ending", "after ending", "ending taken"),
)
"""All boundaries that the archive reports."""
FULL_DISK, LOST, STOP, INSTANT = "full disk", "lost", "stop", "killed at any instant"
MAX_LIVES = 12
OF_SQLITE = (SQLITE_WRITE, SQLITE_SYNC) if reaches_sqlite() else ()
FAILS = (*OWN, *OF_SQLITE)
"""Calls of the disk that fail with an input/output error."""
FAULTS = (*BOUNDARIES, FULL_DISK, LOST, STOP, INSTANT, *FAILS)
CALL, TORN = "killed at a system call", "killed in a write"
CALL_AT_MIDNIGHT, TORN_AT_MIDNIGHT = (
    "killed at a system call around midnight",
    "killed in a write around midnight",
)
READS, READS_AT_START = "reads fail", "reads fail from the start"
ANY_CALLS = "calls of any kind fail"
CALLS = (CALL, TORN, CALL_AT_MIDNIGHT, READS, READS_AT_START, TORN_AT_MIDNIGHT, ANY_CALLS)
"""Faults that the library of `disk_faults.py` makes below SQLite; they lose and damage nothing."""
OF_MIDNIGHT = {CALL_AT_MIDNIGHT, TORN_AT_MIDNIGHT}
DAMAGES = ("empty", "cut", "flipped", "other format")


class Chosen:
    """Runs lives on one folder, and counts what fired and what was wrong."""

    def __init__(self, folder: Path, seed: int, control: Path | None = None) -> None:
        self.lives = Lives(folder, control)
        self.fired: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._random = Random(seed)

    def live(self, fault: str) -> None:
        """Run a life that meets a fault; run a few more lives while the fault has not fired."""
        before = self.fired[fault]
        for _ in range(MAX_LIVES):
            self._live(fault)
            if self.fired[fault] > before:
                break

    def _live(self, fault: str) -> None:
        random, before = self._random, len(self.lives.journal.lines)
        more: dict[str, Any] = {"kill_at": fault, "nth": random.choice((1, 1, 2, 3))}
        if fault in {FULL_DISK, LOST, STOP}:
            more = {"full_from": 4, "full_until": 12} if fault != STOP else {}
            more |= {"max_waiting": 12} if fault == LOST else {}
        if fault == INSTANT:
            more = {"killed_after_s": random.uniform(0.001, 0.05)}
        if fault in FAILS:
            nth = random.randrange(1, 60) if fault == SQLITE_WRITE else random.randrange(1, 12)
            more = {"fail": fault, "nth": nth, "fails": random.choice((1, 1, 2, 5))}
        if fault in CALLS:
            more = self._calls(fault)
        down_s = random.choice((1.0, 5.0, 40.0, 4_000.0))
        boot_id = random.choice(("first", "first", "first", "second"))
        more["markets"] = random.random() < 0.7
        code = self.lives.run(random.getrandbits(40), down_s, boot_id=boot_id, **more)
        if code > 0:
            self.wrong.append(f"a life ended with {code}")
        if self.lives.control is not None and fault in CALLS:
            self.fired[fault] += self.lives.control.fired > 0
        elif code < 0:
            self.fired[str(self.lives.journal.lines[-1].get("at", fault))] += 1
        said = {line["what"] for line in self.lives.journal.lines[before:]}
        if code == 0 and (fault == STOP or ("failed" if fault in FAILS else "stalled") in said):
            self.fired[fault] += 1

    def _calls(self, fault: str) -> dict[str, Any]:
        random = self._random
        if fault in {READS, READS_AT_START, ANY_CALLS}:
            least = 2 if fault == ANY_CALLS else 1  # the first call opens the lock: a fault stops the start
            first = 1 if fault == READS_AT_START else max(least, random.randrange(1, 400))
            kinds = READ | WRITE | SYNC | NAME | OPEN if fault == ANY_CALLS else READ
            return {"kinds": kinds, "nth": first, "fails": random.choice((1, 3, 30, 10**6))}
        at_midnight = fault in OF_MIDNIGHT
        return {
            "kill_call": random.randrange(1, 90 if at_midnight else 250),
            "torn": fault in {TORN, TORN_AT_MIDNIGHT},
            "midnight": random.randrange(1, 15) if at_midnight else None,
        }

    def damage(self, how: str) -> bool:
        """Damage a sealed day; return whether there was a sealed day."""
        sealed = sorted(path.with_suffix(".db") for path in self.lives.folder.glob("*.sum"))
        sealed = [path for path in sealed if path.exists() and _is_sealed(path)]
        if not sealed:
            return False
        path = self._random.choice(sealed)
        content = bytearray(path.read_bytes())
        match how:
            case "empty":
                content.clear()
            case "cut":
                del content[len(content) // 2 :]
            case "flipped":
                content[self._random.randrange(len(content))] ^= 1 << self._random.randrange(8)
            case _:
                content[60:64] = (77).to_bytes(4, "big")  # where SQLite has its user_version
        path.write_bytes(content)
        self.fired[how] += 1
        return True

    def check(self, bodies: int, differences: int) -> None:
        """Compare the archive with what readers could see."""
        checked = Checked(self.lives.folder, self.lives.journal, self._random)
        checked.run(bodies, differences)
        if self.lives.control is not None:
            checked.check_nothing_is_lost()
        self.counts += checked.counts
        self.wrong += checked.wrong


def _is_sealed(path: Path) -> bool:
    """Return whether a file with a digest is sealed: the life may have been killed after the digest."""
    try:
        with Reader.open(path, is_written=False) as reader:
            return reader.is_sealed and not Path(f"{path}-wal").exists()
    except (sqlite3.Error, UnreadableError):  # the file was damaged before
        return False


def run(
    folder: Path,
    seed: int,
    lives: int,
    *,
    damages: bool = True,
    faults: Sequence[str] = FAULTS,
    control: Path | None = None,
) -> Chosen:
    """Run `lives` lives, check the archive now and then, and at the end all of the archive.

    With a `control` of `disk_faults.py` the faults are `CALLS`.
    """
    chosen = Chosen(folder, seed, control)
    try:
        for number in range(lives):
            chosen.live(faults[number % len(faults)])
            if number % 10 == 9:
                chosen.check(60, 20)
            if damages and number % 7 == 6:
                chosen.damage(DAMAGES[(number // 7) % len(DAMAGES)])
        chosen.check(60 + 5 * lives, 20 + lives)
    finally:
        chosen.lives.close()
    return chosen


def run_calls(folder: Path, seed: int, lives: int) -> Chosen:
    """Run lives with the faults of `disk_faults.py`, as `run` does; these faults must lose nothing."""
    control = folder.with_name("control")
    return run(folder, seed, lives, damages=False, faults=CALLS, control=control)
