"""The installed packages work outside a clone, and another package brings a kind of source."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from scripts.client_wheel import NEEDS
from scripts.client_wheel import built as built_client
from scripts.licences_table import LOCKS, locked
from scripts.package_trial import built
from tests.support.peers.http import http_peer, respond
from tests.support.systems.process import ROOT, ran, service, started
from tests.support.time.waiting import eventually
from web.cli.examples import EXAMPLES
from web.endpoints.release import COMMIT

BUILD = "import setuptools.build_meta as b, sys; print(b.build_wheel(sys.argv[1]))"
START = "import sys; sys.path[:0] = {paths!r}; import web.__main__ as command; command.main(sys.argv[1:])"
HEAD = "25ea8f21c0ffee0025ea8f21c0ffee0025ea8f21"


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the wheel, and the wheel built from the sdist, of a clone at the commit `HEAD`."""
    sdist, wheel = built(tmp_path_factory.mktemp("built"), HEAD)
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (source,) = folder.iterdir()
    command = [sys.executable, "-c", BUILD, str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=150)
    return wheel, next(folder.glob("*.whl"))


def _alone(wheel: Path, folder: Path) -> list[str]:
    """Return a command that runs the wheel with the locked packages, without other installed packages."""
    unpacked, packages = folder / "unpacked", folder / "packages"
    packages.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(unpacked)  # noqa: S202 - a wheel of our own
    for name in locked(LOCKS["run"]):
        try:
            files = distribution(name).files or []
        except PackageNotFoundError:  # the lock has packages of other systems and Pythons
            continue
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            if not (packages / top).exists():
                (packages / top).symlink_to(Path(str(distribution(name).locate_file(top))))
    start = START.format(paths=[str(unpacked), str(packages)])
    return ["/usr/bin/env", "-i", sys.executable, "-I", "-S", "-c", start]


def test_the_service_runs_outside_of_a_clone(packages: tuple[Path, Path], tmp_path: Path) -> None:
    """The service needs only the wheel and the locked packages, no variable; it has pages and examples."""
    alone, folder = _alone(packages[1], tmp_path), tmp_path / "elsewhere"
    folder.mkdir()
    done = [
        subprocess.run(
            [*alone, *command], cwd=folder, capture_output=True, text=True, timeout=60, check=False
        )
        for command in (["check-config"], ["init"], ["init", "deploy/nginx.conf"])
    ]
    with started([*alone, "serve", "--bind", "127.0.0.1:0"], folder) as running:
        eventually(lambda: running.get("/api/v2/odds").status_code == 200, "there are odds")
        paths = ["/", "/static/main.js", "/docs", "/openapi.json", "/monitor"]
        statuses = {path: running.get(path).status_code for path in paths}

    assert [(0, "")] * 3 == [(each.returncode, each.stderr) for each in done]
    assert dict.fromkeys(paths, 200) == statuses


def test_the_packages_are_complete(packages: tuple[Path, Path], tmp_path: Path) -> None:
    """A wheel of the sdist has the files of a wheel of the clone; both name the commit.

    Every example, the static files, and the marker of both typed packages are there.
    """
    wheels = [zipfile.ZipFile(wheel) for wheel in packages]
    direct, again = (sorted(wheel.namelist()) for wheel in wheels)
    wanted = {f"web/{file.relative_to(ROOT)}" for file in EXAMPLES.values()}
    wanted |= {f"{file.relative_to(ROOT)}" for file in (ROOT / "web" / "static").glob("*/*")}
    with zipfile.ZipFile(built_client(tmp_path)) as client:
        (name,) = [name for name in client.namelist() if name.endswith("METADATA")]
        described = client.read(name).decode()
        needed = re.findall(r"^Requires-Dist: (\w+)([^;\n]*)$", described, re.MULTILINE)

    assert direct == again
    assert set() == (wanted | {"web/py.typed", "actors/py.typed"}) - {*direct}
    assert [HEAD[:8].encode()] * 2 == [wheel.read(f"web/endpoints/{COMMIT}") for wheel in wheels]
    assert [*NEEDS] == sorted(package for package, _ in needed)  # data frames need more packages
    assert "the capabilities first" in described  # links to missing pages are plain text


LINES = """
[sources.text]
kind = "lines"
url = "{url}"
poll_interval_s = 60
[bookmakers.one]
name = "One"
source = "text"
key = "alpha"
[bookmakers.two]
name = "Two"
source = "text"
key = "beta"
"""
BODY = b"m1|Alder Town|Birch United|alpha|1.95|3.60|4.20\nm1|Alder Town|Birch United|beta|2.00|3.50|4.00\n"


def test_a_documented_package_brings_a_kind(tmp_path: Path) -> None:
    """The kind of docs/sources.md is listed, checks its keys, and supplies odds."""
    package, target = tmp_path / "package", tmp_path / "installed"
    package.mkdir()
    document = (ROOT / "docs" / "sources.md").read_text("utf-8")
    for name, language in (("pyproject.toml", "toml"), ("oddsboard_lines.py", "python")):
        blocks = re.findall(rf"```{language}\n(.*?)```", document, re.DOTALL)
        (package / name).write_text(blocks[-1], "utf-8")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--no-build-isolation", "--target", str(target), str(package)], check=True)
    environment, config = {"PYTHONPATH": str(target)}, tmp_path / "lines.toml"
    listed = ran("-m", "web", "sources", environment=environment)
    config.write_text(LINES.format(url="http://x/").replace("beta", "b3ta"), "utf-8")
    refused = ran("-m", "web", "check-config", "--config", str(config), environment=environment)
    with http_peer() as peer:
        peer.otherwise = respond(BODY)
        config.write_text(LINES.format(url=peer.url("/")), "utf-8")
        with service(config, environment) as running:

            def shown() -> list[tuple[str, list[float]]]:
                found = running.get("/api/odds").json().get("matches", [])
                return [(entry["id"], entry["odds"]) for entry in found]

            eventually(lambda: len(shown()) == 2, "both bookmakers are on the board")
            matches = shown()

    assert (0, "") == (listed[0], listed[2])
    assert re.search(r"^lines \(oddsboard-lines\)\n(  .*\n)*  url  \(required\)\n", listed[1], re.MULTILINE)
    assert (78, True) == (refused[0], "bookmakers.two.key was 'b3ta', must be letters" in refused[2])
    assert [("one_m1", [1.95, 3.6, 4.2]), ("two_m1", [2.0, 3.5, 4.0])] == matches
