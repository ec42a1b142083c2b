"""The wheel has all that the commands need: it is built, unpacked elsewhere, and run from there."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.systems.process import ROOT

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]


def _ran(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=150, check=False)


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what the wheel installs."""
    folder, wheels = tmp_path_factory.mktemp("installed"), tmp_path_factory.mktemp("wheels")
    source = tmp_path_factory.mktemp("source")
    for name in ("actors", "config", "web"):
        shutil.copytree(ROOT / name, source / name, symlinks=True)
    for name in ("LICENSE", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, source)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    built = _ran([*build, "--no-index", "--wheel-dir", str(wheels), str(source)], folder)
    assert 0 == built.returncode, built.stderr
    with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
        wheel.extractall(folder)
    return folder


@pytest.mark.parametrize("command", [["check-config"], ["init"], ["init", "live", "--out", "live.toml"]])
def test_a_command_runs_outside_of_a_clone(unpacked: Path, tmp_path: Path, command: list[str]) -> None:
    """The command uses the packages of the wheel, not those of this clone."""
    start = f"import sys; sys.path.insert(0, {str(unpacked)!r}); import web.__main__ as command;"
    check = f"assert command.__file__.startswith({str(unpacked)!r}); command.main(sys.argv[1:])"

    done = _ran([sys.executable, "-P", "-c", f"{start} {check}", *command], tmp_path)

    assert (0, "") == (done.returncode, done.stderr)


def test_the_wheel_has_the_configurations_the_pages_and_the_types(unpacked: Path) -> None:
    """The wheel has every example, the static files, and the marker of both typed packages."""
    shipped = {file.relative_to(unpacked).as_posix() for file in unpacked.rglob("*") if file.is_file()}
    wanted = {f"web/config/{file.name}" for file in (ROOT / "config").glob("*.toml")}
    wanted |= {f"web/static/{file.name}" for file in (ROOT / "web" / "static").iterdir()}

    assert set() == (wanted | {"web/py.typed", "actors/py.typed"}) - shipped
