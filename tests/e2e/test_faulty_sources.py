"""One source fails while another one works, in every way that bookmakers fail (faults.md, A and B)."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders.football_data import sheet
from tests.support.peers.http import Answer, drop, hang, http_peer, respond
from tests.support.systems.feed import configured, moving, watching
from tests.support.systems.process import Service, service
from tests.support.time.waiting import eventually

TRUE, FALSE = (1.9, 3.4, 4.2), (2.5, 3.3, 2.9)
GOOD_LIST, BAD_LIST = sheet("B365", TRUE), sheet("B365", FALSE, FALSE)
HTML = b"<!DOCTYPE html><html><body>Down for maintenance, B365H 2.5</body></html>"

# How the source fails, and what its error then contains.
FAULTS: dict[str, tuple[Callable[[threading.Event], Answer], str]] = {
    "drops the connection": (lambda _: drop, "disconnected"),
    "hangs": (hang, "no whole answer within 0.5 s"),
    "sends HTML": (lambda _: respond(HTML, headers={"Content-Type": "text/html"}), "header"),
    "cuts the body": (lambda _: respond(BAD_LIST[:-9], length=len(BAD_LIST)), "complete"),
    "throttles": (lambda _: respond(BAD_LIST, 429, {"Retry-After": "1"}), "429"),
    "fails": (lambda _: respond(BAD_LIST, 500), "500"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failing_source_does_not_affect_the_others(tmp_path: Path, fault: str) -> None:
    """Its list stays until stale, is withdrawn, and returns; no wrong price, one log line a change."""
    answer, error = FAULTS[fault]
    with contextlib.ExitStack() as cleanup:
        peer = cleanup.enter_context(http_peer())
        peer.answers |= {"/good.csv": moving("B365"), "/bad.csv": respond(GOOD_LIST)}
        feed = cleanup.enter_context(service(configured(tmp_path, peer, ["good", "bad"])))
        eventually(lambda: feed.has("live", "good") and feed.has("live", "bad"), "both are live")
        seen = cleanup.enter_context(watching(feed.base))
        over = threading.Event()
        cleanup.callback(over.set)

        peer.answers["/bad.csv"] = answer(over)
        noticed = eventually(lambda: _not_live(feed, "bad"), "the fault is noticed")
        eventually(lambda: feed.has("stale", "bad"), "its list is withdrawn")
        withdrawn, alone = feed.check("bad"), feed.get("/api/v2/odds?bookmaker=bad")
        eventually(lambda: feed.events("source.down", source="bad"), "the log says that it is down")
        monitor, versions = feed.source("bad"), len(set(seen.versions))
        peer.answers["/bad.csv"] = respond(GOOD_LIST)
        eventually(lambda: feed.has("live", "bad"), "it is live again", 30)
        eventually(lambda: feed.events("source.recovered", source="bad"), "the log says so")

        assert ("retrying", "warn", 1) == (noticed["state"], noticed["status"], noticed["matches"])
        assert error in noticed["last_error"].lower()
        assert ("stale", "fail", 0) == (withdrawn["state"], withdrawn["status"], withdrawn["matches"])
        assert (503, True) == (alone.status_code, "Retry-After" in alone.headers)
        assert ("down", True) == (monitor["state"], monitor["failures_in_a_row"] >= 2)
        assert ({200}, {TRUE}) == (seen.statuses, seen.odds["Bad"])
        assert versions > 5 < len(seen.odds["Good"])
        assert sorted(seen.versions) == seen.versions
        assert [1, 1, 1] == _edges(feed, "bad")
        assert [0, 0, 0] == _edges(feed, "good")
        assert [TRUE] == [tuple(entry["odds"].values()) for entry in _shown(feed, "bad")]


def _not_live(feed: Service, bookmaker: str) -> Any:
    check = feed.check(bookmaker)
    return None if check["state"] == "live" else check


def _edges(feed: Service, name: str) -> list[int]:
    edges = [
        feed.events("source.down", source=name),
        feed.events("bookmaker.withdrawn", bookmakers=[name]),
        feed.events("source.recovered", source=name),
    ]
    return [len(edge) for edge in edges]


def _shown(feed: Service, bookmaker: str) -> Any:
    return feed.get(f"/api/v2/odds?bookmaker={bookmaker}").json()["matches"]


def test_a_source_that_refuses_at_the_start_is_503_until_it_answers(tmp_path: Path) -> None:
    """The service starts, reports this source as starting, and is ready after its first answer."""
    with http_peer() as peer:
        peer.answers["/bad.csv"] = drop
        with service(configured(tmp_path, peer, ["bad"])) as feed:
            eventually(lambda: feed.events("source.down", source="bad"), "it is down")
            paths = ("/api/odds", "/api/v2/odds", "/health", "/health/ready", "/health/live", "/monitor")
            before = [feed.get(path).status_code for path in paths]
            peer.answers["/bad.csv"] = respond(GOOD_LIST)
            eventually(lambda: feed.get("/health/ready").status_code == 200, "it is ready", 30)
            after = [feed.get(path).status_code for path in paths]

    assert ([503, 503, 503, 503, 200, 200], [200] * 6) == (before, after)
