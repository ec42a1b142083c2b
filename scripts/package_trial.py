"""Tests that the package serves outside a clone, from an empty environment; `scripts/package` runs it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from web.endpoints.release import commit_of

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("python3.11", "python3.12", "python3.13")
SHIPPED = ("LICENSE", "README.md", "pyproject.toml", "actors", "config", "web")
START_S = 60.0
_NOT_COPIED = shutil.ignore_patterns("__pycache__", "*.egg-info")
_BUILD = "import setuptools.build_meta as b; b.build_sdist('dist'); b.build_wheel('dist')"


def built(folder: Path, commit: str) -> list[Path]:
    """Build the sdist and the wheel of this clone below `folder`, as if at `commit`, and return both.

    Raises: CalledProcessError.
    """
    clone = folder / "clone"
    clone.mkdir()
    for name in SHIPPED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, clone / name, symlinks=True, ignore=_NOT_COPIED)
        else:
            shutil.copy(ROOT / name, clone)
    (clone / ".git").mkdir()
    (clone / ".git" / "HEAD").write_text(commit, "ascii")
    _run([sys.executable, "-c", _BUILD], clone)
    return [file for kind in ("*.tar.gz", "*.whl") for file in (clone / "dist").glob(kind)]


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=sys.stderr)


def _installed(python: str, folder: Path) -> Path:
    """Return an environment with only the locked packages that are installed to run."""
    _run([python, "-m", "venv", str(folder)], ROOT)
    wanted = ["--require-hashes", "--only-binary", ":all:", "--requirement", "requirements.lock"]
    _run([*_pip(folder), "install", *wanted], ROOT)
    return folder


def _pip(environment: Path) -> list[str]:
    return [str(environment / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]


def _served(environment: Path, package: Path, folder: Path) -> tuple[float, int]:
    """Install a package and serve; return the seconds to the first odds, and the number of matches."""
    alone = ["--no-index", "--no-deps", "--no-build-isolation", "--force-reinstall"]
    _run([*_pip(environment), "install", *alone, str(package)], folder)
    command = [
        "/usr/bin/env",
        "-i",
        str(environment / "bin" / "oddsboard"),
        "serve",
        "--bind",
        "127.0.0.1:0",
    ]
    began = time.monotonic()
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None  # noqa: S101 - it is a pipe
        try:
            started = next(line for line in service.stdout if '"service.started"' in line)
            document = _first_odds(json.loads(started)["url"])
            return time.monotonic() - began, int(document["matches_count"])
        finally:
            service.terminate()


def _first_odds(base: str) -> dict[str, Any]:
    until = time.monotonic() + START_S
    while True:
        try:
            with urllib.request.urlopen(f"{base}/api/v2/odds", timeout=10) as answer:  # noqa: S310 - ours
                return dict(json.load(answer))
        except urllib.error.HTTPError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def main(pythons: list[str]) -> int:
    """Print a row for each Python and package. Return 1 if none of the Pythons is there."""
    found = [python for python in pythons or PYTHONS if shutil.which(python)]
    with tempfile.TemporaryDirectory() as name:
        packages = built(Path(name), commit_of(ROOT) or "")
        for number, python in enumerate(found):
            environment = _installed(python, Path(name) / f"environment-{number}")
            for package in packages:
                empty = Path(tempfile.mkdtemp(dir=name))
                seconds, matches = _served(environment, package, empty)
                print(f"{python} | {package.name} | {seconds:.1f} s to {matches} matches", flush=True)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
