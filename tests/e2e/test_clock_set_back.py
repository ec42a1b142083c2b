"""The wall clock is set back during a restart, so that the service counts the same versions again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.support.builders.football_data import Odds, sheet
from tests.support.peers.http import HttpPeer, http_peer, respond
from tests.support.peers.stream_client import Event, events_of
from tests.support.systems.feed import configured
from tests.support.systems.moved_clock import MovedClocks
from tests.support.systems.process import Service, service
from tests.support.time.waiting import eventually

BEGAN_AT = 1_800_000_000.0
OLD, NEW = (1.9, 3.4, 4.2), (2.1, 3.2, 3.7)
STEPS_S = {"1 s": 1.0, "1 h": 3600.0, "10 years": 3653 * 86_400.0}
LIST = "/api/v2/odds"


@contextlib.contextmanager
def _life(config: Path, peer: HttpPeer, clocks: MovedClocks, odds: Odds) -> Iterator[Service]:
    """Run the service from a fixed time on, with those odds, until they are shown."""
    clocks.hold_wall(BEGAN_AT)
    peer.answers["/only.csv"] = respond(sheet("B365", odds))
    with service(config, clocks.environment) as feed:
        eventually(lambda: feed.has("live", "only"), "it is live")
        yield feed


def _first_event(feed: Service, last_event_id: str | None = None) -> Event:
    headers = {} if last_event_id is None else {"Last-Event-ID": last_event_id}
    with feed.client() as client, client.stream("GET", "/api/v2/stream", headers=headers) as response:
        received = b""
        for piece in response.iter_bytes():
            received += piece
            if b"\n\n" in received:
                break
    return events_of(received)[0]


def _lists(feed: Service, tags: dict[str, str] | None = None) -> dict[str, httpx2.Response]:
    """Get the list in each coding, with the tag of that coding as the condition."""
    conditions = {coding: {"If-None-Match": tag} for coding, tag in (tags or {}).items()}
    return {
        coding: feed.get(LIST, headers={"Accept-Encoding": coding, **conditions.get(coding, {})})
        for coding in ("identity", "gzip")
    }


@pytest.mark.parametrize("step_s", STEPS_S.values(), ids=STEPS_S)
def test_tags_and_versions_of_an_earlier_start_do_not_match(tmp_path: Path, step_s: float) -> None:
    """No tag gives 304, no version gives changes, and the stream begins anew, despite equal numbers."""
    clocks = MovedClocks(tmp_path / "clocks")
    with http_peer() as peer:
        config = configured(tmp_path, peer, ["only"], stale_after_s=60)
        with _life(config, peer, clocks, OLD) as feed:
            had, known = _lists(feed), _first_event(feed).id
            clocks.hold_wall(BEGAN_AT + step_s)  # running time by its clock, which is then set back
            feed.stop()
        with _life(config, peer, clocks, NEW) as feed:
            lists = _lists(feed, {coding: response.headers["ETag"] for coding, response in had.items()})
            changes = feed.get(f"/api/v2/changes?since={known}")
            waiting = feed.get(f"/api/v2/changes?since={known}&wait=1")
            first = _first_event(feed, known)
            version = feed.get(LIST).json()["version"]

    assert {version} == {response.json()["version"] for response in had.values()}
    assert [200, 200] == [listed.status_code for listed in lists.values()]
    assert {NEW} == {tuple(listed.json()["matches"][0]["odds"].values()) for listed in lists.values()}
    assert (410, 410) == (changes.status_code, waiting.status_code)
    assert ("reset", {"reason": "other_epoch", "version": version}) == (first.name, first.data)
