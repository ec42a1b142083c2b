"""The real process on clocks that jump: a machine that sleeps, a wall clock that is wrong for a while."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.support.builders.football_data import sheet
from tests.support.peers.http import Answer, Asked, HttpPeer, conditional, http_peer, respond
from tests.support.systems.feed import configured
from tests.support.systems.moved_clock import MovedClocks
from tests.support.systems.process import Service, service
from tests.support.time.waiting import eventually

NEEDS_BOOTTIME = pytest.mark.skipif(
    not hasattr(time, "CLOCK_BOOTTIME"), reason="this system has no clock that counts sleep"
)
EIGHT_HOURS_S, TWO_DAYS_S = 28_800.0, 172_800.0
OLD, NEW = (1.9, 3.4, 4.2), (2.1, 3.2, 3.7)
COUNT = 29


def _soon() -> bytes:
    """Return a file of matches that begin in 2, 3, 4 hours, and so on for more than a day."""
    rows = ["Div,Date,Time,HomeTeam,AwayTeam,B365H,B365D,B365A"]
    for hours in range(2, 2 + COUNT):
        start = datetime.fromtimestamp(time.time() + 3600 * hours, ZoneInfo("Europe/London"))
        rows.append(f"E0,{start:%d/%m/%Y,%H:%M},Home {hours},Away {hours},2.1,3.4,3.5")
    return "\n".join([*rows, ""]).encode()


@contextlib.contextmanager
def _running(folder: Path, peer: HttpPeer, clocks: MovedClocks, **options: float) -> Iterator[Service]:
    config = configured(folder, peer, ["only"], **options)
    with service(config, clocks.environment) as feed:
        eventually(lambda: feed.has("live", "only"), "it is live")
        yield feed


def _confirmed(peer: HttpPeer, times: int) -> None:
    """Wait until the file was requested that many more times, with all but the last request answered."""
    wanted = len(peer.asked) + times
    eventually(lambda: len(peer.asked) >= wanted, "it is polled")


@NEEDS_BOOTTIME
def test_after_a_long_sleep_old_odds_are_stale(tmp_path: Path) -> None:
    """The first answer is without the old odds, and the file is requested at once, not minutes later."""
    asked, release = threading.Event(), threading.Event()

    def held(connection: socket.socket, request: Asked) -> None:
        asked.set()
        release.wait(30)
        conditional(sheet("B365", NEW), '"two"')(connection, request)

    clocks = MovedClocks(tmp_path / "clocks")
    with http_peer() as peer, contextlib.ExitStack() as cleanup:
        cleanup.callback(release.set)
        peer.answers["/only.csv"] = conditional(sheet("B365", OLD), '"one"')
        slow = {"poll_interval_s": 600.0, "stale_after_s": 1800.0, "timeout_s": 30.0}
        feed = cleanup.enter_context(_running(tmp_path, peer, clocks, **slow))
        peer.answers["/only.csv"] = held
        before = feed.get("/api/v2/odds")
        clocks.set_boot(EIGHT_HOURS_S)
        first = feed.get("/api/v2/odds")
        state = feed.check("only")["state"]
        was_asked = asked.wait(10)
        release.set()
        eventually(lambda: feed.has("live", "only"), "it is back")

        assert ([200, 503], "stale") == ([before.status_code, first.status_code], state)
        assert (True, [False, False]) == (
            was_asked,
            ["if-none-match" in asked_request.headers for asked_request in peer.asked],
        )
        (shown,) = feed.get("/api/v2/odds").json()["matches"]
        assert NEW == tuple(shown["odds"].values())


@NEEDS_BOOTTIME
@pytest.mark.long
def test_a_sleep_shorter_than_the_staleness_limit_changes_nothing(tmp_path: Path) -> None:
    """The list stays live, and the next poll is due by the time that has really passed."""
    clocks = MovedClocks(tmp_path / "clocks")
    with http_peer() as peer, contextlib.ExitStack() as cleanup:
        peer.answers["/only.csv"] = conditional(sheet("B365", OLD), '"one"')
        slow = {"poll_interval_s": 600.0, "stale_after_s": 1800.0, "timeout_s": 30.0}
        feed = cleanup.enter_context(_running(tmp_path, peer, clocks, **slow))
        before = feed.get("/api/v2/odds").json()
        clocks.set_boot(700.0)
        eventually(lambda: len(peer.asked) == 2, "it is polled")

        assert before == feed.get("/api/v2/odds").json()
        assert "if-none-match" in peer.asked[-1].headers
        assert [] == feed.events("bookmaker.withdrawn")


@pytest.mark.parametrize("answers", ["304", pytest.param("equal bytes", marks=pytest.mark.long)])
def test_a_wall_clock_that_jumps_and_returns_loses_no_match(tmp_path: Path, answers: str) -> None:
    """Two days ahead all matches are over; with the right time all return, and versions only rise."""
    answer: Answer = conditional(_soon(), '"one"') if answers == "304" else respond(_soon())
    clocks = MovedClocks(tmp_path / "clocks")
    with http_peer() as peer, contextlib.ExitStack() as cleanup:
        peer.answers["/only.csv"] = answer
        feed = cleanup.enter_context(_running(tmp_path, peer, clocks, stale_after_s=30.0))
        _confirmed(peer, 3)
        seen = [feed.get("/api/v2/odds").json()]
        for offset_s, count in ((TWO_DAYS_S, 0), (0.0, COUNT)):
            clocks.set_wall(offset_s)
            eventually(lambda: feed.check("only")["matches"] == count, f"it shows {count}")  # noqa: B023
            _confirmed(peer, 3)
            seen.append(feed.get("/api/v2/odds").json())

        assert [COUNT, 0, COUNT] == [len(board["matches"]) for board in seen]
        assert seen[0]["version"] < seen[1]["version"] < seen[2]["version"]
        assert feed.has("live", "only")
