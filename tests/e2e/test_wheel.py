"""The packages have all that the service needs: they are built, unpacked elsewhere, and run from there."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from scripts.licences_table import LOCKS, locked
from scripts.package_trial import built
from tests.support.systems.process import ROOT, started
from tests.support.time.waiting import eventually
from web.cli.examples import EXAMPLES
from web.endpoints.release import COMMIT

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]

BUILD = "import setuptools.build_meta as b, sys; print(b.build_wheel(sys.argv[1]))"
START = "import sys; sys.path[:0] = {paths!r}; import web.__main__ as command; command.main(sys.argv[1:])"


HEAD = "25ea8f21c0ffee0025ea8f21c0ffee0025ea8f21"


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the wheel, and that which is made of the sdist, of a clone at the commit `HEAD`."""
    sdist, wheel = built(tmp_path_factory.mktemp("built"), HEAD)
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (source,) = folder.iterdir()
    command = [sys.executable, "-c", BUILD, str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=150)
    return wheel, next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def unpacked(packages: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what the wheel installs."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(packages[1]) as wheel:
        wheel.extractall(folder)  # noqa: S202 - ours
    return folder


@pytest.fixture(scope="module")
def alone(unpacked: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return what runs the wheel with the locked packages, and nothing else that is installed here."""
    packages = tmp_path_factory.mktemp("packages")
    for name in locked(LOCKS["run"]):
        try:
            files = distribution(name).files or []
        except PackageNotFoundError:  # for another system or another Python
            continue
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            if not (packages / top).exists():
                (packages / top).symlink_to(Path(str(distribution(name).locate_file(top))))
    start = START.format(paths=[str(unpacked), str(packages)])
    return ["/usr/bin/env", "-i", sys.executable, "-I", "-S", "-c", start]


@pytest.mark.parametrize("command", [["check-config"], ["init"], ["init", "deploy/nginx.conf"]])
def test_a_command_runs_outside_of_a_clone(alone: list[str], tmp_path: Path, command: list[str]) -> None:
    """It needs the wheel and the locked packages alone, and no variable."""
    done = subprocess.run(
        [*alone, *command], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )

    assert (0, "") == (done.returncode, done.stderr)


def test_the_service_runs_outside_of_a_clone(alone: list[str], tmp_path: Path) -> None:
    """With its lists, its pages and their files."""
    with started([*alone, "serve", "--bind", "127.0.0.1:0"], tmp_path) as running:
        eventually(lambda: running.get("/api/v2/odds").status_code == 200, "there are odds")
        paths = ["/", "/static/main.js", "/docs", "/openapi.json", "/monitor"]
        statuses = {path: running.get(path).status_code for path in paths}

    assert dict.fromkeys(paths, 200) == statuses


def test_packages_of_a_clone_name_its_commit(packages: tuple[Path, Path]) -> None:
    """The wheel does, and a wheel of the sdist."""
    kept = [zipfile.ZipFile(wheel).read(f"web/endpoints/{COMMIT}") for wheel in packages]

    assert [HEAD[:8].encode()] * 2 == kept


def test_the_sdist_has_all_that_the_wheel_is_made_of(packages: tuple[Path, Path]) -> None:
    """A wheel of the sdist has the files of a wheel of the clone."""
    direct, again = (zipfile.ZipFile(wheel).namelist() for wheel in packages)

    assert sorted(direct) == sorted(again)


def test_the_wheel_has_the_configurations_the_pages_and_the_types(unpacked: Path) -> None:
    """The wheel has every example, the static files, and the marker of both typed packages."""
    shipped = {file.relative_to(unpacked).as_posix() for file in unpacked.rglob("*") if file.is_file()}
    wanted = {f"web/{file.relative_to(ROOT)}" for file in EXAMPLES.values()}
    wanted |= {f"{file.relative_to(ROOT)}" for file in (ROOT / "web" / "static").glob("*/*")}

    assert set() == (wanted | {"web/py.typed", "actors/py.typed"}) - shipped
