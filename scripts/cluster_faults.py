"""Runs a cluster of real processes under random faults; prints comparisons and errors."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

from tests.support.systems.harm import tried


def main() -> int:
    """Run as long as the command line says; return 1 if anything is wrong, or a fault never fired."""
    parser = argparse.ArgumentParser(prog="scripts/cluster-faults", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="of faults; default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="of their order; default: %(default)s")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        history, archived = tried(Path(folder), options.seed, options.minutes * 60.0)
    unavailable = history.fired.pop("503", 0)
    never = [name for name, count in history.fired.items() if not count]
    print(f"{history.answers:,} answers, {unavailable:,} of them 503; {history.compared:,} compared by tag")
    print(
        f"{history.followed:,} changes taken of machines in turn, {history.matched:,} of the lists compared"
    )
    print(f"the archive answered {dict(archived)}")
    print(f"fired: {dict(history.fired.most_common())}; never: {never}")
    if took_s := history.taken_over_s:
        print(f"take-over: median {median(took_s):.1f} s, max {max(took_s):.1f} s, of {len(took_s)}")
    print(f"{len(history.violations)} violations", *history.violations, sep="\n")
    return 1 if history.violations or never else 0


if __name__ == "__main__":
    sys.exit(main())
