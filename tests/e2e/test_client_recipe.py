"""The client of docs/api.md: whatever happens to the service, it tells of a move only if a price moved."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.peers.http import http_peer
from tests.support.systems.process import ROOT, Service, program
from tests.support.systems.two_sources import Two, configured
from tests.support.time.waiting import eventually

pytestmark = pytest.mark.long
PRICES = {"pinnacle": (2.1, 3.4, 3.6), "williamhill": (2.0, 3.5, 3.5), "marathonbet": (2.05, 3.4, 3.7)}
MOVED = {**PRICES, "williamhill": (2.2, 3.5, 3.5)}
FEWER = {"pinnacle": (2.1, 3.4, 3.6), "marathonbet": (2.05, 3.4, 3.7)}


def _moves(base: str) -> Iterator[Any]:
    """Run the client as it stands in the document."""
    text = (ROOT / "docs" / "api.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(import json.*?)\nfor fixture, entry", text, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - the text of our document
    found: Iterator[Any] = names["moves"](f"{base}/api/v2", "eng.1")
    return found


def _is_watched(running: Service) -> bool:
    return bool(running.get("/api/stats").json()["http"]["streams"] == 1)


def test_watcher_of_a_league_tells_of_no_move_that_was_none(tmp_path: Path) -> None:
    """Over three restarts, and a bookmaker that goes and comes back; then of the one that was."""
    told: list[Any] = []
    with http_peer() as peer:
        config = configured(tmp_path, peer, f'[archive]\npath = "{tmp_path / "archive"}"\n')
        port, watcher = 0, threading.Thread()
        for life in range(4):
            with program("serve", "--config", str(config), "--bind", f"127.0.0.1:{port}") as running:
                two, port = Two(peer, running), running.address[1]
                two.offer(PRICES)
                if life == 0:
                    watcher = threading.Thread(target=_watch, args=(running.base, told), daemon=True)
                    watcher.start()
                eventually(partial(_is_watched, running), "the client waits for changes")
                for prices, count in ((FEWER, 3), (PRICES, 4)):
                    two.offer(prices)
                    eventually(partial(_has, running, count), "the bookmaker goes or comes back")
                eventually(partial(_is_watched, running), "the client has seen it")
                if life == 3:
                    two.offer(MOVED)
                    watcher.join(60)

    (move,) = told
    assert ("williamhill_m1", {"1": 2.0, "X": 3.5, "2": 3.5}, 2.2) == (
        move[1]["id"],
        move[2],
        move[1]["odds"]["1"],
    )


def _watch(base: str, told: list[Any]) -> None:
    told.append(next(_moves(base)))


def _has(running: Service, count: int) -> bool:
    answer = running.get("/api/v2/fixtures?league=eng.1")
    listed = answer.json().get("fixtures", [])
    return max((len(fixture["entries"]) for fixture in listed), default=0) == count
