"""Adds commits to an archive while its thread writes; prints their number and the gaps (must be none)."""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

from msgspec.structs import replace

from actors.archive import writer as module
from actors.archive.days.commit import Commit
from actors.archive.writer import Writer
from actors.core.clock import Instant
from tests.support.archive.kept import ALDER, Kept, kept
from tests.support.builders.messages import match
from tests.support.time.virtual import ManualClock

MATCHES = 20
PAUSED, PAUSE_S = 0.05, 0.0005
"""Share of an addition's statements with a pause before them, and the longest pause in seconds."""
ALONE = 0.3
"""Share of the additions that begin when nothing waits to be written."""
MOST_WAITING = 20_000


class _RealClock(ManualClock):
    """The clocks of the machine, without an event loop."""

    def now(self) -> Instant:
        """Return the time."""
        return Instant(time.monotonic(), time.time())


def main() -> int:
    """Add commits as the command line says; return 1 if there is a gap, or something is not written."""
    parser = argparse.ArgumentParser(prog="scripts/archive-adds", description=__doc__)
    parser.add_argument("--adds", type=int, default=0, help="commits, with pauses between statements")
    parser.add_argument("--seconds", type=float, default=0.0, help="how long commits are made by the clock")
    parser.add_argument("--rate", type=float, default=80.0, help="changes a second; default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="of the pauses; default: %(default)s")
    given = parser.parse_args()
    began, found = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as folder, kept(Path(folder) / "archive", _RealClock()) as life:
        if given.adds:
            _add_with_pauses(life.archive.writer, life.archive.beginning.commit, given.adds, given.seed)
        life.archive.start()
        _commit_by_the_clock(life, given.seconds, given.rate)
        is_whole = life.archive.writer.stop(60)
        gaps = life.days.gaps(life.days.held())
        found = max(len(gaps), life.archive.status.gaps)
    for gap in gaps:
        print(f"gap: {gap.reason} after {gap.after} until {gap.until}")
    print(f"{given.adds:,} added with pauses; {given.seconds:.0f} s at {given.rate:.0f} changes a second")
    print(f"{found} gaps, all written: {is_whole} ({time.monotonic() - began:.0f} s)")
    return 0 if not found and is_whole else 1


def _add_with_pauses(writer: Writer, first: Commit, adds: int, seed: int) -> None:
    """Add `adds` commits, each with the next version, while another thread writes step by step."""
    is_over = threading.Event()
    writing = threading.Thread(target=_write, args=(writer, is_over, seed + 1))
    writing.start()
    random = Random(seed)
    sys.settrace(_pausing(random))
    try:
        for number in range(1, adds + 1):
            most = 0 if random.random() < ALONE else MOST_WAITING
            while writer.waiting > most:
                time.sleep(0)
            writer.add(replace(first, version=first.version + number, ended=None))
    finally:
        sys.settrace(None)
        is_over.set()
        writing.join()


def _write(writer: Writer, is_over: threading.Event, seed: int) -> None:
    sys.settrace(_pausing(Random(seed)))
    while not (is_over.is_set() and writer.is_complete):
        writer.step()
        time.sleep(0)


def _pausing(random: Random) -> Any:
    """Return a function for `sys.settrace` that pauses before some statements of the writer's module."""

    def statement(_: FrameType, event: str, __: Any) -> Any:
        if event == "line" and random.random() < PAUSED:
            time.sleep(random.random() * PAUSE_S)
        return statement

    def called(frame: FrameType, _: str, __: Any) -> Any:
        return statement if frame.f_code.co_filename == module.__file__ else None

    return called


def _commit_by_the_clock(life: Kept, seconds: float, rate: float) -> None:
    """Commit lists with one changed match each, for `seconds` seconds at `rate` changes a second."""
    began = time.monotonic()
    for number in range(round(seconds * rate)):
        time.sleep(max(began + number / rate - time.monotonic(), 0.0))
        changed, price = number % MATCHES, 1.5 + number % 97 / 100
        matches = [
            match(f"m{at}", prices=(price if at == changed else 2.0, 3.5, 4.0)) for at in range(MATCHES)
        ]
        life.board.put(ALDER, *matches, stale_after_s=1e6)


if __name__ == "__main__":
    sys.exit(main())
