"""The wheel of the client, alone with its dependencies: README's program follows a killed service."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import zipfile
from functools import partial
from importlib.metadata import distribution
from pathlib import Path

import pytest

from scripts.client_wheel import NEEDS, built
from tests.support.peers.http import http_peer
from tests.support.systems.process import ROOT, Service, program
from tests.support.systems.two_sources import Two, configured
from tests.support.time.waiting import eventually

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

BROUGHT = (
    "anyio",
    "certifi",
    "h11",
    "httpcore2",
    "httpx2",
    "idna",
    "msgspec",
    "truststore",
    "typing_extensions",
)
START = "import sys; sys.path[:0] = {paths!r}; exec(compile({code!r}, 'README.md', 'exec'))"
PRICES = {"pinnacle": (2.1, 3.4, 3.6), "williamhill": (2.0, 3.5, 3.5), "marathonbet": (2.05, 3.4, 3.7)}
MOVED = {**PRICES, "williamhill": (2.2, 3.5, 3.5)}
FEWER = {"pinnacle": (2.1, 3.4, 3.6), "marathonbet": (2.05, 3.4, 3.7)}


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    """Return the folders of the unpacked wheel and of its dependencies."""
    installed, packages = tmp_path / "installed", tmp_path / "packages"
    packages.mkdir()
    with zipfile.ZipFile(built(tmp_path / "dist")) as wheel:
        wheel.extractall(installed)
    for name in BROUGHT:
        for top in {file.parts[0] for file in distribution(name).files or []} - {"..", "__pycache__"}:
            (packages / top).symlink_to(Path(str(distribution(name).locate_file(top))))
    return [str(installed), str(packages)]


def test_readmes_program_is_right_over_kills(tmp_path: Path, folders: list[str]) -> None:
    """It tells of the only move, of each outage, and of no bookmaker that goes or comes as of a move."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    told: list[str] = []
    with http_peer() as peer:
        config = configured(tmp_path, peer)
        port = 0
        for life in range(3):
            with program("serve", "--config", str(config), "--bind", f"127.0.0.1:{port}") as running:
                two, port = Two(peer, running), running.address[1]
                two.offer(PRICES)
                if life == 0:
                    following = _started(folders, code.replace(":8000", f":{port}"), told)
                eventually(partial(_is_followed, running), "the program follows")
                two.offer(FEWER)
                eventually(partial(_has, running, 4), "the bookmaker has gone")
                two.offer(MOVED if life == 2 else PRICES)
                eventually(partial(_has, running, 5), "the bookmaker is back")
                if life == 2:
                    two.offer(PRICES)
                    eventually(lambda: any("->" in line for line in told), "the move is told")
        following.kill()
        following.wait(10)

    assert ["Manchester United William Hill 1 2.2 -> 2.0"] == [line for line in told if "->" in line]
    assert 2 <= sum(line.startswith("these prices are not current") for line in told)


def _started(paths: list[str], code: str, told: list[str]) -> subprocess.Popen[str]:
    whole = START.format(paths=paths, code=code)
    following = subprocess.Popen(
        [sys.executable, "-I", "-S", "-u", "-c", whole], stdout=subprocess.PIPE, text=True
    )
    threading.Thread(target=_read, args=(following, told), daemon=True).start()
    return following


def _read(following: subprocess.Popen[str], told: list[str]) -> None:
    assert following.stdout is not None
    with following.stdout:
        for line in following.stdout:
            told.append(line.rstrip())  # noqa: PERF401 - the test reads it meanwhile


def _is_followed(running: Service) -> bool:
    return bool(running.get("/api/stats").json()["http"]["streams"] == 1)


def _has(running: Service, count: int) -> bool:
    return len(running.get("/api/v2/odds").json().get("matches", [])) == count


def test_the_wheel_needs_two_packages(tmp_path: Path) -> None:
    """Besides an extra for data frames."""
    with zipfile.ZipFile(built(tmp_path)) as wheel:
        (name,) = [name for name in wheel.namelist() if name.endswith("METADATA")]
        needed = re.findall(r"^Requires-Dist: (\w+)([^;\n]*)$", wheel.read(name).decode(), re.MULTILINE)

    assert [*NEEDS] == sorted(package for package, _ in needed)
