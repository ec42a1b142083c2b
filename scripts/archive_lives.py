"""Runs many lives of an archived board, with a fault each; prints what was compared, and what was wrong."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.support.archive.chosen import DAMAGES, FAULTS, run

LIVES = 100
"""Lives of one folder, after which another begins."""


def main() -> int:
    """Run the lives that the command line asks for; return 1 if anything is wrong, or never fired."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lives", type=int, default=10_000, help="default: %(default)s")
    parser.add_argument("--first", type=int, default=1, help="the first seed; default: %(default)s")
    options = parser.parse_args()
    began = time.perf_counter()
    fired: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for seed in range(options.first, options.first + -(-options.lives // LIVES)):
        with tempfile.TemporaryDirectory() as folder:
            chosen = run(Path(folder) / "archive", seed, LIVES)
        fired += chosen.fired
        counts += chosen.counts
        wrong += [f"seed {seed}: {line}" for line in chosen.wrong]
        for line in chosen.wrong:
            print(f"seed {seed}: {line}", flush=True)
    never = {*FAULTS, *DAMAGES} - fired.keys()
    print(f"{options.lives:,} lives in {time.perf_counter() - began:.0f} s: {len(wrong)} wrong")
    print(f"compared: {dict(counts)}")
    print(f"fired: {dict(fired)}; never: {sorted(never)}")
    return 1 if wrong or never else 0


if __name__ == "__main__":
    sys.exit(main())
