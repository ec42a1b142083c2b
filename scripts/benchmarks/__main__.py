"""Runs the benchmarks named on the command line, all without names, and prints their tables."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import intake
import leagues
import publish
import reads
import stream
import streams
from tables import machine

BENCHMARKS: dict[str, Callable[[], None]] = {
    "intake": intake.run,
    "leagues": leagues.run,
    "publish": publish.run,
    "reads": reads.run,
    "stream": stream.run,
    "streams": streams.run,
}


def main(names: list[str]) -> int:
    """Run the benchmarks of those names; 64 for a name that there is not."""
    if unknown := [name for name in names if name not in BENCHMARKS]:
        print(f"bench: {unknown[0]!r} is not one of {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 64
    print(machine())
    for name in names or BENCHMARKS:
        BENCHMARKS[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
