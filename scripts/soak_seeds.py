"""Runs the simulation with many seeds; prints the rate, counts, and commands that repeat failures.

With rows of docs/faults.md it runs their tests instead, with the counts and times in the rows.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from os import cpu_count

from tests.support.simulation.run import Lived, simulate
from web.server.collector import set_up_collector

MOST_COMMON = 40


def main() -> int:
    """Run the seeds that the command line names; return 1 if a seed broke a rule."""
    options = _options()
    if options.row:
        table = [sys.executable, "-m", "scripts.reliability_table", "--whole", *options.row]
        return subprocess.run(table, check=False).returncode
    began = time.perf_counter()
    seeds = range(options.first, options.first + options.seeds)
    seen: Counter[str] = Counter()
    failed: list[Lived] = []
    with ProcessPoolExecutor(options.processes, initializer=set_up_collector) as pool:
        for lived in pool.map(partial(simulate, hours=options.hours), seeds):
            seen.update(lived.seen)
            if lived.error is not None:
                failed.append(lived)
                print(f"seed {lived.seed}: {lived.error}", flush=True)
                print(f"    scripts/soak --first {lived.seed} --seeds 1 --hours {options.hours:g} --log")
            if options.log:
                print("\n".join((*lived.lines, f"digest {lived.digest}")))
    took_s = time.perf_counter() - began
    print(", ".join(f"{name} {count}" for name, count in seen.most_common(MOST_COMMON)))
    rate = f"{len(seeds) / took_s:.2f} seeds/s in {options.processes} processes"
    print(f"{len(seeds)} seeds of {options.hours:g} h in {took_s:.0f} s: {rate}, {len(failed)} failed")
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/soak", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="number of seeds (default 200)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument("--hours", type=float, default=24.0, help="virtual hours of each (default 24)")
    parser.add_argument("--processes", type=int, default=cpu_count(), help="processes (default: all)")
    parser.add_argument(
        "--row", nargs="+", metavar="ROW", help="rows to run in full instead: E1, H1, H9, J1"
    )
    parser.add_argument(
        "--log", action="store_true", help="print the last lines of each log, and its digest"
    )
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
