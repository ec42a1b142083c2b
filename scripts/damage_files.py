"""Damages recorded input of a source many times and prints the results by kind of damage."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random

from tests.support.builders import damage
from tests.support.builders.damage import Trial
from tests.support.recordings import FOLDER, are_there

PREFIX = "damage_"
PROCESSES = 2
BLOCK = 1000
"""Consecutive trials in one process; each has its own seed, so the size does not change the table."""
MAX_SHOWN = 5

Tally = dict[str, Counter[str]]
"""For each kind of damage: counts of files, of shown and wrong prices, and of rejections by reason."""


def sources() -> list[str]:
    """Return the sources whose input can be damaged: each has a module that makes trials."""
    files = Path(damage.__file__).parent.glob(f"{PREFIX}*.py")
    return sorted(file.stem.removeprefix(PREFIX) for file in files)


def trials(source: str, seed: int, numbers: range) -> tuple[Tally, list[str]]:
    """Make the trials with these numbers. Return their counts and the errors found."""
    trial: Callable[[Random], Trial] = import_module(f"tests.support.builders.{PREFIX}{source}").trial
    tally: Tally = {}
    wrong: list[str] = []
    for number in numbers:
        done = trial(Random(f"{seed} {number}"))
        row = tally.setdefault(done.kind, Counter())
        row.update(files=1, shown=done.accepted, wrong=len(done.wrong))
        row.update({f"{reason}": count for reason, count in done.rejected.items()})
        wrong += [f"trial {number}, {done.kind}: {text}" for text in done.wrong]
    return tally, wrong


def blocks(count: int) -> Iterator[range]:
    """Return the numbers of all trials in blocks."""
    return (range(at, min(at + BLOCK, count)) for at in range(0, count, BLOCK))


def table(tally: Tally) -> Iterator[str]:
    """Return the lines of a table: a row for each kind of damage, a column for each result, and a sum."""
    total = sum(tally.values(), Counter[str]())
    first, last = ["files", "shown"], ["wrong"]
    columns = [*first, *sorted(total.keys() - {*first, *last}), *last]
    width = max(map(len, (*tally, "damage")))
    yield " ".join([f"{'damage':{width}}", *(f"{name:>10}" for name in columns)])
    for kind, row in (*sorted(tally.items()), ("all", total)):
        yield " ".join([f"{kind:{width}}", *(f"{row[name]:10,}" for name in columns)])


def main(arguments: list[str]) -> int:
    """Run the trials. Return 1 if a wrong price was shown."""
    parser = argparse.ArgumentParser(prog="scripts/damage", description=__doc__)
    parser.add_argument("source", choices=sources())
    parser.add_argument("--count", type=int, default=10_000, metavar="N", help="files, default 10,000")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="another seed, other damage")
    given = parser.parse_args(arguments)
    invented = getattr(
        import_module(f"tests.support.builders.{PREFIX}{given.source}"), "IS_INVENTED", False
    )
    if not (invented or are_there()):
        parser.error(f"no recordings in {FOLDER}, set ODDSBOARD_RECORDINGS to their folder")
    began = time.monotonic()
    tally: Tally = {}
    wrong: list[str] = []
    with ProcessPoolExecutor(PROCESSES) as pool:
        for part, texts in pool.map(partial(trials, given.source, given.seed), blocks(given.count)):
            for kind, row in part.items():
                tally.setdefault(kind, Counter()).update(row)
            wrong += texts
    print(f"{given.source}: {given.count:,} damaged files, seed {given.seed}; matches shown and rejected")
    print(*table(tally), *wrong[:MAX_SHOWN], sep="\n")
    print(f"({time.monotonic() - began:.0f} s)")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
