"""Applies each mutant to a copy of the tree, and runs there the test that is predicted to find it.

A mutant is found if the test fails in the copy, and passes without the mutant.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from msgspec import Struct, convert

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("actors", "web", "tests", "scripts", "config", "docs")
PROCESSES = 2
LIMIT_S = 300
PASSED, FAILED = 0, 1
_PYTEST = ("-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "--no-header", "--tb=no", "-rfE")


class Mutant(Struct, frozen=True, forbid_unknown_fields=True):
    """A bug: in `file`, `old`, which occurs there once, becomes `new`; `test` is predicted to find it."""

    name: str
    file: str
    old: str
    new: str
    test: str

    def applied(self, folder: Path) -> str | None:
        """Return the text of the mutant's file with the bug; None unless `old` occurs exactly once."""
        text = (folder / self.file).read_text("utf-8")
        return text.replace(self.old, self.new) if text.count(self.old) == 1 else None


def mutants() -> list[Mutant]:
    """Return all mutants, in the order of the table."""
    return convert(
        tomllib.loads((ROOT / "scripts/mutants.toml").read_text("utf-8"))["mutant"], list[Mutant]
    )


def main() -> int:
    """Run the mutants whose names contain an argument (all without arguments); return the exit code."""
    parser = argparse.ArgumentParser(prog="scripts/mutants", description=__doc__)
    parser.add_argument("name", nargs="*", help="a part of the name of a mutant")
    parser.add_argument("--processes", type=int, default=PROCESSES, help=f"default {PROCESSES}")
    options = parser.parse_args()
    names = options.name or [""]
    chosen = [mutant for mutant in mutants() if any(part in mutant.name for part in names)]
    with _copied() as folder:
        done = _pytest(Path(folder), sorted({mutant.test for mutant in chosen}))
    if done.returncode != PASSED:
        print(f"without any mutant these fail:\n{done.stdout[-2000:]}{done.stderr[-500:]}", file=sys.stderr)
        return 1
    missed = 0
    with ThreadPoolExecutor(options.processes) as pool:
        for mutant, why in zip(chosen, pool.map(_why_missed, chosen), strict=True):
            print(f"{mutant.name:60} {f'NOT FOUND: {why}' if why else mutant.test}", flush=True)
            missed += why is not None
    print(f"{len(chosen) - missed} of {len(chosen)} mutants found by the predicted test")
    return 1 if missed else 0


def _why_missed(mutant: Mutant) -> str | None:
    """Return why a mutant was not found; None if it was."""
    with _copied() as folder:
        text = mutant.applied(Path(folder))
        if text is None:
            return "the patch no longer applies"
        (Path(folder) / mutant.file).write_text(text, "utf-8")
        try:
            done = _pytest(Path(folder), ["-x", mutant.test])
        except subprocess.TimeoutExpired:
            return f"its test took more than {LIMIT_S} s"
    return None if done.returncode == FAILED else f"pytest ended with {done.returncode}"


def _pytest(folder: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *_PYTEST, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=LIMIT_S)


def _copied() -> tempfile.TemporaryDirectory[str]:
    """Return a copy of the files that tests need; a test's imports find the copy first."""
    folder = tempfile.TemporaryDirectory(prefix="mutant-")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, Path(folder.name) / name, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ROOT.glob("*.*"):
        if file.is_file():
            shutil.copy(file, folder.name)
    return folder


if __name__ == "__main__":
    raise SystemExit(main())
