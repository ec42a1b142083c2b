"""Gives every parser of outside input invented bytes; prints inputs, rate, crashes and prices checked.

An input is a crash if the parser raises an undeclared exception, takes more than 20 seconds or 2 GB, or
lets a price through that must not be shown. A folder keeps found inputs and totals, and a later run
continues from it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct, json, structs

from scripts.fuzz_worker import Done, Work
from tests.support.fuzzing.mutation import MAX_BYTES
from tests.support.fuzzing.target import Target
from tests.support.fuzzing.targets import targets

ROOT = Path(__file__).resolve().parent.parent
MAX_WORD = 64  # bytes of a word that the fuzzer puts into inputs
LIMITS = ("-timeout=20", "-rss_limit_mb=2048", f"-max_len={MAX_BYTES}", "-verbosity=0")


class Total(Struct, frozen=True):
    """The sums over all runs of a target."""

    runs: int = 0
    inputs: int = 0
    seconds: float = 0.0
    prices: int = 0
    crashes: int = 0
    invalid: int = 0

    def plus(self, done: Done, crashes: int) -> Total:
        """Return the total with one more run."""
        return Total(
            self.runs + 1,
            self.inputs + done.inputs,
            self.seconds + done.seconds,
            self.prices + done.prices,
            self.crashes + crashes,
            self.invalid + done.invalid,
        )


def main() -> int:
    """Fuzz the targets that the command line names; return 1 if a target crashed."""
    options = _options()
    found: list[Path] = []
    file: Path = options.folder / "totals.json"
    totals = json.decode(file.read_bytes(), type=dict[str, Total]) if file.is_file() else {}
    for name in options.target or targets():
        before = totals.get(name, Total())
        done, crashes = _fuzzed(targets()[name], options, options.seed + before.runs)
        totals[name] = before.plus(done, len(crashes))
        file.write_bytes(json.format(json.encode(totals)))
        for crash in crashes:
            print(f"{name}: crashed by {crash}", flush=True)
        found += crashes
    print(*table(totals), sep="\n")
    return 1 if found else 0


def table(totals: Mapping[str, Total]) -> Iterator[str]:
    """Return the lines of a table of all runs: a row for each target, and a sum."""
    yield "| target | inputs | inputs/s | crashes | prices checked | invalid |"
    yield "|---|---:|---:|---:|---:|---:|"
    rows = [(name, totals[name]) for name in targets() if name in totals]
    every = [structs.astuple(total) for _, total in rows]
    for name, row in (*rows, ("all", Total(*map(sum, zip(*every, strict=True))))):
        rate = row.inputs / max(row.seconds, 1e-9)
        yield f"| {name} | {row.inputs:,} | {rate:,.0f} | {row.crashes} | {row.prices:,} | {row.invalid} |"


def _fuzzed(target: Target, options: argparse.Namespace, seed: int) -> tuple[Done, list[Path]]:
    """Run one target in its own process; return its counts, and the files of inputs that crash it."""
    folder: Path = options.folder.resolve() / target.name
    files, crashes, result = _files(target, folder), folder / "crashes", folder / "done.json"
    known = set(crashes.iterdir())
    result.unlink(missing_ok=True)
    flags = (*LIMITS, f"-seed={seed + 1}", *files)
    work = Work(target.name, str(result), options.inputs, options.seconds, flags)
    command = [sys.executable, "-m", "scripts.fuzz_worker", json.encode(work).decode()]
    ended = subprocess.run(command, cwd=ROOT, check=False, capture_output=True)
    done = json.decode(result.read_bytes(), type=Done) if result.is_file() else Done()
    new = sorted(set(crashes.iterdir()) - known)
    if ended.returncode:
        print((ended.stderr + ended.stdout).decode("utf-8", "replace")[-options.shown :])
        new = new or [folder / "(no input was written)"]
    return done, new


def _files(target: Target, folder: Path) -> tuple[str, ...]:
    """Write the seeds and words of a target; return the flags that name them and the kept inputs."""
    seeds, corpus, crashes = (folder / name for name in ("seeds", "corpus", "crashes"))
    for made in (seeds, corpus, crashes):
        made.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(target.seeds):
        (seeds / f"{number}").write_bytes(data)
    fit = (token for token in target.all_tokens if 0 < len(token) <= MAX_WORD)
    words = ("".join(f"\\x{byte:02x}" for byte in token) for token in fit)
    (folder / "words").write_text("".join(f'"{word}"\n' for word in words), "ascii")
    return (f"-dict={folder / 'words'}", f"-artifact_prefix={crashes}/", str(corpus), str(seeds))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    parser.add_argument("target", nargs="*", help=f"one of {', '.join(targets())}; without any, all")
    parser.add_argument("--inputs", type=int, default=100_000, help="of each target (default 100000)")
    parser.add_argument(
        "--seconds", type=float, default=600.0, help="at most, of each target (default 600)"
    )
    parser.add_argument("--seed", type=int, default=0, help="for other inputs (default 0)")
    parser.add_argument("--folder", type=Path, default=ROOT / ".fuzz", help="what is kept (default .fuzz)")
    parser.add_argument("--shown", type=int, default=4000, help="characters of a crash (default 4000)")
    options = parser.parse_args()
    if unknown := set(options.target) - set(targets()):
        parser.error(f"TARGET was {', '.join(sorted(unknown))}, must be one of: {', '.join(targets())}")
    options.folder.mkdir(parents=True, exist_ok=True)
    return options


if __name__ == "__main__":
    raise SystemExit(main())
