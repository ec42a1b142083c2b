"""Runs many lives of an archived board, by default with a fault each; prints comparisons and errors."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from scripts.parallel_seeds import run_seeds, without_log
from tests.support.archive.chosen import CALLS, DAMAGES, FAULTS, run, run_calls
from tests.support.archive.disk_faults import library
from tests.support.archive.told import lived as told

LIVES = 100
"""Lives in one folder."""


def main() -> int:
    """Run lives as the command line says; return 1 if anything is wrong, or a fault never fired."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lives", type=int, default=10_000, help="default: %(default)s")
    parser.add_argument("--first", type=int, default=1, help="the first seed; default: %(default)s")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no other seed after so many")
    parser.add_argument(
        "--calls", action="store_true", help="faults of system calls below SQLite; needs a C compiler"
    )
    parser.add_argument(
        "--told", action="store_true", help="without faults: lines, closes and moves as told"
    )
    options = parser.parse_args()
    if options.calls and library() is None:
        parser.error("--calls: there is no C compiler (cc)")
    faults, of_seed = ({*CALLS}, called) if options.calls else ({*FAULTS, *DAMAGES}, lived)
    if options.told:
        faults, of_seed = set(), compared
    began, following = time.monotonic(), options.first
    fired, counts, wrong = Counter[str](), Counter[str](), 0
    seeds = range(options.first, options.first + -(-options.lives // LIVES))
    for seed, result in run_seeds(of_seed, seeds, options.minutes, without_log):
        following = seed + 1
        found = result.result()
        fired += found[0]
        counts += found[1]
        wrong += len(found[2])
        for line in found[2]:
            print(f"seed {seed}: {line}", flush=True)
    never = faults - fired.keys()
    lives = LIVES * (following - options.first)
    print(f"{lives:,} lives in {time.monotonic() - began:.0f} s: {wrong} wrong")
    print(f"compared: {dict(counts)}")
    print(f"fired: {dict(fired)}; never: {sorted(never)}")
    print(f"the next seed is {following}")
    return 1 if wrong or never else 0


def lived(seed: int) -> tuple[Counter[str], Counter[str], list[str]]:
    """Return the fired faults, the comparisons and the errors in the lives of a seed."""
    with tempfile.TemporaryDirectory() as folder:
        chosen = run(Path(folder) / "archive", seed, LIVES)
    return chosen.fired, chosen.counts, chosen.wrong


def called(seed: int) -> tuple[Counter[str], Counter[str], list[str]]:
    """Return faults, comparisons and errors of lives with failing system calls, which must lose nothing."""
    with tempfile.TemporaryDirectory() as folder:
        chosen = run_calls(Path(folder) / "archive", seed, LIVES)
    return chosen.fired, chosen.counts, chosen.wrong


def compared(seed: int) -> tuple[Counter[str], Counter[str], list[str]]:
    """Return the comparisons, and the differences, of other lives, each in a folder of its own."""
    counts, wrong = Counter[str](), list[str]()
    for number in range(LIVES * seed, LIVES * (seed + 1)):
        seen, differences = told(number)
        counts += seen
        wrong += [f"life {number}: {each}" for each in differences]
    return Counter(), counts, wrong


if __name__ == "__main__":
    sys.exit(main())
