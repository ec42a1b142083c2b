"""One source fails while another one works, in every way that bookmakers fail (faults.md, A and B)."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.builders.football_data import sheet
from tests.support.peers.http import Answer, drop, hang, http_peer, respond
from tests.support.systems.feed import configured, moving, watching
from tests.support.systems.process import Service, service
from tests.support.time.waiting import eventually

TRUE, FALSE = (1.9, 3.4, 4.2), (2.5, 3.3, 2.9)
GOOD_LIST, BAD_LIST = sheet("B365", TRUE), sheet("B365", FALSE, FALSE)
HTML = b"<!DOCTYPE html><html><body>Down for maintenance, B365H 2.5</body></html>"
TIMES = {"poll_interval_s": 0.25, "timeout_s": 1.0, "stale_after_s": 6.0}
"""So long that what happens can be seen on a busy machine."""

# How the source fails, and what its error then contains.
FAULTS: dict[str, tuple[Callable[[threading.Event], Answer], str]] = {
    "drops the connection": (lambda _: drop, "disconnected"),
    "hangs": (hang, "no whole answer within 1 s"),
    "sends HTML": (lambda _: respond(HTML, headers={"Content-Type": "text/html"}), "header"),
    "cuts the body": (lambda _: respond(BAD_LIST[:-9], length=len(BAD_LIST)), "complete"),
    "throttles": (lambda _: respond(BAD_LIST, 429, {"Retry-After": "1"}), "429"),
    "fails": (lambda _: respond(BAD_LIST, 500), "500"),
}


def test_failing_sources_do_not_affect_the_others(tmp_path: Path) -> None:
    """Each list stays until stale, is withdrawn, and returns; no wrong price, one log line a change."""
    names = [f"bad{number}" for number in range(len(FAULTS))]
    over = threading.Event()
    with contextlib.ExitStack() as cleanup:
        peer = cleanup.enter_context(http_peer())
        peer.answers |= {f"/{name}.csv": respond(GOOD_LIST) for name in names}
        peer.answers["/good.csv"] = moving("B365")
        feed = cleanup.enter_context(service(configured(tmp_path, peer, ["good", *names], **TIMES)))
        eventually(lambda: all(feed.has("live", name) for name in ("good", *names)), "all are live")
        seen = cleanup.enter_context(watching(feed.base))
        cleanup.callback(over.set)

        for name, (answer, _) in zip(names, FAULTS.values(), strict=True):
            peer.answers[f"/{name}.csv"] = answer(over)
        noticed = [eventually(lambda: _not_live(feed, name), "it is noticed") for name in names]  # noqa: B023
        eventually(lambda: all(feed.has("stale", name) for name in names), "their lists are withdrawn")
        withdrawn = [feed.check(name) for name in names]
        alone = [feed.get(f"/api/v2/odds?bookmaker={name}") for name in names]
        monitor, versions = [feed.source(name) for name in names], len(set(seen.versions))
        peer.answers |= {f"/{name}.csv": respond(GOOD_LIST) for name in names}
        eventually(lambda: all(feed.has("live", name) for name in names), "they are live again")
        eventually(lambda: [[1, 1, 1]] * len(names) == [_edges(feed, name) for name in names], "the log")
        shown = [[tuple(entry["odds"].values()) for entry in _shown(feed, name)] for name in names]

    errors = [
        error in found["last_error"].lower()
        for found, (_, error) in zip(noticed, FAULTS.values(), strict=True)
    ]
    assert ([True] * len(names), [[TRUE]] * len(names)) == (errors, shown)
    assert {("retrying", "warn", 1)} == {_summary(found) for found in noticed}
    assert {("stale", "fail", 0)} == {_summary(found) for found in withdrawn}
    assert {(503, True)} == {(answer.status_code, "Retry-After" in answer.headers) for answer in alone}
    assert {("down", True)} == {(found["state"], found["failures_in_a_row"] >= 2) for found in monitor}
    assert {200} == seen.statuses
    assert {TRUE} == set().union(*(seen.odds[name.title()] for name in names))
    assert versions > 5 < len(seen.odds["Good"])
    assert sorted(seen.versions) == seen.versions
    assert [0, 0, 0] == _edges(feed, "good")


def _summary(check: Any) -> tuple[str, str, int]:
    return check["state"], check["status"], check["matches"]


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
            eventually(lambda: feed.get("/health/ready").status_code == 200, "it is ready")
            after = [feed.get(path).status_code for path in paths]

    assert ([503, 503, 503, 503, 200, 200], [200] * 6) == (before, after)
