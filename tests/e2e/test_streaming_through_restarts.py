"""Clients of the documents follow a service that is killed again and again."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

from scripts.client_wheel import built
from tests.support.peers.http import http_peer
from tests.support.systems.process import ROOT, Service, program
from tests.support.systems.two_sources import Two
from tests.support.systems.two_sources import configured as two_sources
from tests.support.time.waiting import eventually

BROUGHT = (
    *("anyio", "certifi", "h11", "httpcore2", "httpx2", "idna", "msgspec", "truststore"),
    "typing_extensions",
)
START = "import sys; sys.path[:0] = {paths!r}; exec(compile({code!r}, 'README.md', 'exec'))"
PRICES = {"pinnacle": (2.1, 3.4, 3.6), "williamhill": (2.0, 3.5, 3.5), "marathonbet": (2.05, 3.4, 3.7)}
MOVED = {**PRICES, "williamhill": (2.2, 3.5, 3.5)}
FEWER = {"pinnacle": (2.1, 3.4, 3.6), "marathonbet": (2.05, 3.4, 3.7)}
LIVES = 4


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    """Return the folders of the client's unpacked wheel and of its dependencies."""
    installed, packages = tmp_path / "installed", tmp_path / "packages"
    packages.mkdir()
    with zipfile.ZipFile(built(tmp_path / "dist")) as wheel:
        wheel.extractall(installed)
    for name in BROUGHT:
        for top in {file.parts[0] for file in distribution(name).files or []} - {"..", "__pycache__"}:
            (packages / top).symlink_to(Path(str(distribution(name).locate_file(top))))
    return [str(installed), str(packages)]


def _code(name: str, pattern: str) -> str:
    """Return a program of a document."""
    (code,) = re.findall(pattern, (ROOT / name).read_text("utf-8"), re.DOTALL)
    return str(code)


def _watch(base: str, told: list[Any]) -> None:
    """Run the client of docs/api.md until it reports a move."""
    names: dict[str, Any] = {}
    exec(_code("docs/api.md", r"```python\n(import json.*?)\nfor fixture, entry"), names)  # noqa: S102 - ours
    told.append(next(names["moves"](f"{base}/api/v2", "eng.1")))


def _read(following: subprocess.Popen[str], told: list[str]) -> None:
    assert following.stdout is not None
    with following.stdout:
        for line in following.stdout:
            told.append(line.rstrip())  # noqa: PERF401 - the test reads the list meanwhile


@pytest.mark.timeout(600)
def test_documented_clients_tell_of_no_move_that_was_none(tmp_path: Path, folders: list[str]) -> None:
    """Three kills and a bookmaker that goes and comes back are no moves; one real move is reported.

    README's program runs with only the client's wheel and its dependencies; it reports each outage.
    """
    by_recipe, told = list[Any](), list[str]()
    with http_peer() as peer, contextlib.ExitStack() as followers:
        config = two_sources(tmp_path, peer, f'[archive]\npath = "{tmp_path / "archive"}"\n')
        port = 0
        for life in range(LIVES):
            with program("serve", "--config", str(config), "--bind", f"127.0.0.1:{port}") as running:
                two, port = Two(peer, running), running.address[1]
                two.offer(PRICES)
                if life == 0:
                    watching = followers.enter_context(_followed(running, folders, by_recipe, told))
                eventually(partial(_is_followed, running), "both clients follow")
                for prices, count in ((FEWER, 3), (PRICES, 4)):
                    two.offer(prices)
                    eventually(partial(_has, running, count), "the bookmaker goes or comes back")
                eventually(partial(_is_followed, running), "both clients have seen it")
                if life == LIVES - 1:
                    two.offer(MOVED)
                    watching.join(60)
                    eventually(lambda: any("->" in line for line in told), "the move is told")

    (move,) = by_recipe
    expected = ("williamhill_m1", {"1": 2.0, "X": 3.5, "2": 3.5}, 2.2)
    assert expected == (move[1]["id"], move[2], move[1]["odds"]["1"])
    assert ["Manchester United William Hill 1 2.0 -> 2.2"] == [line for line in told if "->" in line]
    assert 2 <= sum(line.startswith("these prices are not current") for line in told)


@contextlib.contextmanager
def _followed(
    running: Service, folders: list[str], by_recipe: list[Any], told: list[str]
) -> Iterator[threading.Thread]:
    """Run both clients; yield the thread of the client that ends with the first move."""
    watching = threading.Thread(target=_watch, args=(running.base, by_recipe), daemon=True)
    watching.start()
    code = _code("README.md", r"```python\n(.*?)```").replace(":8000", f":{running.address[1]}")
    command = [sys.executable, "-I", "-S", "-u", "-c", START.format(paths=folders, code=code)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as following:
        threading.Thread(target=_read, args=(following, told), daemon=True).start()
        try:
            yield watching
        finally:
            following.kill()


def _is_followed(running: Service) -> bool:
    return bool(running.get("/api/stats").json()["http"]["streams"] == 2)


def _has(running: Service, count: int) -> bool:
    listed = running.get("/api/v2/fixtures?league=eng.1").json().get("fixtures", [])
    return max((len(fixture["entries"]) for fixture in listed), default=0) == count
