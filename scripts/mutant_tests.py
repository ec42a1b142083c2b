"""Applies each mutant to a copy of the tree, runs its tests there, and prints a table of what found it."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("actors", "web", "tests", "scripts", "config", "docs")
PROCESSES = 2
LIMIT_S = 300
PASSED, FAILED = 0, 1
_PYTEST = ("-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "--no-header", "--tb=no", "-rfE")


class Mutant(NamedTuple):
    """A mistake: in `file`, `old`, which occurs there once, becomes `new`; `tests` are for pytest."""

    name: str
    file: str
    old: str
    new: str
    tests: str


class Found(NamedTuple):
    """What became of a mutant; without a `test` it was not found, and `why` says what happened."""

    mutant: Mutant
    test: str | None
    why: str = ""


def mutants() -> list[Mutant]:
    """Return all mutants, in the order of the table."""
    listed = tomllib.loads((ROOT / "scripts/mutants.toml").read_text("utf-8"))["mutant"]
    return [Mutant(**one) for one in listed]


def applied(text: str, mutant: Mutant) -> str | None:
    """Return the text of a file with the mutant; None if the patch does not fit exactly once."""
    return text.replace(mutant.old, mutant.new) if text.count(mutant.old) == 1 else None


def main() -> int:
    """Run the mutants whose name has one of the arguments, all without any; return the exit code."""
    parser = argparse.ArgumentParser(prog="scripts/mutants", description=__doc__)
    parser.add_argument("name", nargs="*", help="a part of the name of a mutant")
    parser.add_argument("--processes", type=int, default=PROCESSES, help=f"default {PROCESSES}")
    parser.add_argument("--list", action="store_true", help="only list the mutants and their tests")
    options = parser.parse_args()
    chosen = [
        one for one in mutants() if not options.name or any(part in one.name for part in options.name)
    ]
    if options.list:
        print("\n".join(f"{one.name:44} {one.tests}" for one in chosen))
        return 0
    if sound := _unsound(chosen):
        print(f"without any mutant these tests fail: {sound}", file=sys.stderr)
        return 1
    with ThreadPoolExecutor(options.processes) as pool:
        results = []
        for found in pool.map(_run, chosen):
            results.append(found)
            print(f"{found.mutant.name:44} {found.test or 'NOT FOUND: ' + found.why}", flush=True)
    missed = [one for one in results if one.test is None]
    print(f"{len(results) - len(missed)} of {len(results)} mutants found")
    return 1 if missed else 0


def _unsound(mutants: Sequence[Mutant]) -> str:
    """Return the tests of these mutants that fail even without one; "" if none does."""
    arguments = sorted({word for one in mutants for word in one.tests.split() if word.startswith("tests/")})
    with _copied() as folder:
        done = _pytest(Path(folder), arguments)
    return "" if done.returncode == PASSED else done.stdout[-2000:] + done.stderr[-500:]


def _run(mutant: Mutant) -> Found:
    with _copied() as folder:
        file = Path(folder) / mutant.file
        text = applied(file.read_text("utf-8"), mutant)
        if text is None:
            return Found(mutant, None, "the patch no longer applies")
        file.write_text(text, "utf-8")
        try:
            done = _pytest(Path(folder), ["-x", *mutant.tests.split()])
        except subprocess.TimeoutExpired:
            return Found(mutant, None, f"its tests took more than {LIMIT_S} s")
    failed = re.search(r"(?m)^(?:FAILED|ERROR) (\S+)", done.stdout)
    if done.returncode == FAILED and failed is not None:
        return Found(mutant, failed[1])
    return Found(mutant, None, f"pytest ended with {done.returncode}")


def _pytest(folder: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *_PYTEST, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=LIMIT_S)


def _copied() -> tempfile.TemporaryDirectory[str]:
    """Return a copy of what the tests need; the imports of a test find the copy first."""
    folder = tempfile.TemporaryDirectory(prefix="mutant-")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, Path(folder.name) / name, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ROOT.glob("*.*"):
        if file.is_file():
            shutil.copy(file, folder.name)
    return folder


if __name__ == "__main__":
    raise SystemExit(main())
