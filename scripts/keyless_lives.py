"""Runs random lives of a venue that needs no key; prints counts of events and errors."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from functools import partial

from scripts.parallel_seeds import run_seeds, without_log
from tests.support.simulation.venue_machine import CUT, FAULTS, MACHINES, SLOW, VenueMachine, live

LIVES = 50
"""Lives of one seed."""


def main() -> int:
    """Run lives as the command line says; return 1 if anything is wrong, or an event never happened."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("venue", choices=MACHINES)
    parser.add_argument("--lives", type=int, default=10_000, help="default: %(default)s")
    parser.add_argument("--first", type=int, default=1, help="the first seed; default: %(default)s")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no other seed after so many")
    options = parser.parse_args()
    began, done, wrong, following = time.monotonic(), Counter[str](), 0, options.first
    seeds = range(options.first, options.first + -(-options.lives // LIVES))
    for seed, result in run_seeds(partial(lived, options.venue), seeds, options.minutes, without_log):
        following = seed + 1
        if error := result.exception():
            wrong += 1
            print(f"seed {seed}: {error.__cause__ or error}", flush=True)
        else:
            done += result.result()
    lives = done.pop("lives", 0)
    took_s = time.monotonic() - began
    print(f"{options.venue}: {lives:,} lives in {took_s:.0f} s; seeds with violations: {wrong}")
    never = {*FAULTS, CUT, SLOW} - done.keys()
    print(f"answers: {dict(done.most_common())}; never: {sorted(never)}")
    print(f"the next seed is {following}")
    return 1 if wrong or never else 0


def lived(venue: str, seed: int) -> Counter[str]:
    """Run processes that a seed draws; return their number, and the results of their requests."""
    VenueMachine.done.clear()
    live(venue, LIVES, seed)
    return Counter(VenueMachine.done)


if __name__ == "__main__":
    sys.exit(main())
