"""The monitor and the counters on a real socket (docs/operations.md)."""

from __future__ import annotations

import json
from math import nan
from typing import Any

import pytest

from actors.core.messages import BookmakerId, Prices, Scope
from actors.core.validation import Reason, RefusedMatch
from actors.runtime.actor import ActorState
from tests.support.builders.messages import match
from tests.support.systems.site import EPOCH, SOURCE, Site
from web.endpoints.release import release

pytestmark = pytest.mark.anyio

BOOKMAKERS = ["cedar", "alder", "birch"]
ACTORS = ["aggregator", "linker", *(f"bookmaker:{name}" for name in BOOKMAKERS), f"source:{SOURCE}"]


def _refuse(constant: str) -> Any:
    raise AssertionError(f"{constant} is not JSON")


async def _strict(site: Site, path: str) -> Any:
    response = await site.get(path)
    assert 200 == response.status_code
    return json.loads(response.content.decode("utf-8"), parse_constant=_refuse)


def _in_trouble(site: Site) -> None:
    """Give every field of the status records a value other than its default."""
    source, board = site.status.sources[SOURCE], site.status.board
    source.failures, source.is_down = 3, True
    source.failed_by.add("timeout", number=4)
    source.last_error, source.failing_since = "no whole answer within 10 s", site.clock.wall
    source.next_attempt_at = site.clock.wall + 7.5
    board.actor.mailbox_depth = lambda: 2
    board.verdicts.add("cedar", "accepted", number=3)
    cedar = site.status.bookmakers[BookmakerId("cedar")]
    cedar.rejected.add("book_sum", number=2)
    cedar.actor.become(ActorState.QUARANTINED, site.clock.wall)
    cedar.actor.starts, cedar.actor.crashes = 5, 4
    cedar.actor.quarantined_until, cedar.actor.last_error = site.clock.wall + 60, "KeyError: 'x'"


@pytest.mark.parametrize("path", ["/monitor", "/api/stats"])
async def test_both_are_valid_json_in_any_state(empty_site: Site, path: str) -> None:
    """/monitor and /api/stats are 200 with valid JSON, without NaN, in every state of the service."""
    site = empty_site
    starting = await _strict(site, path)
    site.publish("cedar", match(start_time=None))
    serving = await _strict(site, path)
    _in_trouble(site)
    trouble = await _strict(site, path)
    site.clock.pass_(40)
    stale = await _strict(site, path)
    site.status.is_draining = True
    draining = await _strict(site, path)

    assert [list(starting)] * 4 == [list(fields) for fields in (serving, trouble, stale, draining)]


async def test_the_monitor_shows_every_actor(empty_site: Site) -> None:
    """/monitor shows each actor's state, its time, restarts, backoff, mailbox depth and last error."""
    _in_trouble(empty_site)

    monitor = await _strict(empty_site, "/monitor")

    actors = {actor["name"]: actor for actor in monitor["actors"]}
    now = empty_site.clock.wall
    cedar = actors["bookmaker:cedar"]
    assert ACTORS == list(actors)
    assert ("quarantined", now, 4, now + 60, "KeyError: 'x'") == (
        cedar["state"],
        cedar["since"],
        cedar["restarts"],
        cedar["backoff_until"],
        cedar["last_error"],
    )
    assert (2, None) == (actors["aggregator"]["mailbox_depth"], cedar["mailbox_depth"])
    assert ("running", 0, None) == (
        actors["aggregator"]["state"],
        actors["aggregator"]["restarts"],
        actors["aggregator"]["last_error"],
    )


async def test_the_monitor_shows_the_version_and_its_epoch(site: Site) -> None:
    """/monitor shows version and epoch, because after a restart the same version may be counted again."""
    monitor = await _strict(site, "/monitor")

    assert (5003, EPOCH) == (monitor["version"], monitor["epoch"])


async def test_the_monitor_shows_every_source(empty_site: Site) -> None:
    """/monitor shows whether a source fails, why, since when, and when its next attempt is due."""
    _in_trouble(empty_site)

    (source,) = (await _strict(empty_site, "/monitor"))["sources"]

    now = empty_site.clock.wall
    assert (SOURCE, "scripted", "down", 3, now, now + 7.5, "no whole answer within 10 s") == (
        source["name"],
        source["kind"],
        source["state"],
        source["failures_in_a_row"],
        source["failing_since"],
        source["next_attempt_at"],
        source["last_error"],
    )


async def test_the_monitor_shows_every_bookmaker_and_its_lists(empty_site: Site) -> None:
    """/monitor shows bookmakers in configured order, with their withdrawn and doubted lists."""
    empty_site.publish("alder", match())
    empty_site.clock.pass_(31)
    empty_site.published.current()

    bookmakers = (await _strict(empty_site, "/monitor"))["bookmakers"]

    assert BOOKMAKERS == [bookmaker["id"] for bookmaker in bookmakers]
    assert ["starting", "stale", "starting"] == [bookmaker["state"] for bookmaker in bookmakers]
    assert [{}, {"league": {"withdrawn": True, "doubted": 0, "stale_after_s": 30.0}}, {}] == [
        bookmaker["lists"] for bookmaker in bookmakers
    ]


async def test_the_monitor_has_what_the_other_probes_say(empty_site: Site) -> None:
    """`ready` and `health` equal the bodies of these two probes, when all is well and when it is not."""
    for _ in range(2):
        ready, health = await empty_site.get("/health/ready"), await empty_site.get("/health")
        monitor = await _strict(empty_site, "/monitor")
        assert (ready.json(), health.json()) == (monitor["ready"], monitor["health"])
        empty_site.publish("cedar", match())

    assert "pass" == monitor["ready"]["status"]


async def test_the_monitor_shows_when_prices_were_confirmed(empty_site: Site) -> None:
    """The time is the newest confirmation of a shown list; collected prices have no such time."""
    empty_site.publish("cedar", match())
    at = empty_site.clock.wall
    empty_site.clock.pass_(7)
    live = await _strict(empty_site, "/monitor")
    empty_site.status.sources[SOURCE].prices = Prices.COLLECTED
    collected = await _strict(empty_site, "/monitor")

    assert [at, None, None] == [bookmaker["confirmed_at"] for bookmaker in live["bookmakers"]]
    assert [None] * 3 == [bookmaker["confirmed_at"] for bookmaker in collected["bookmakers"]]
    assert (at + 7, release()) == (live["now"], live["release"])


async def test_the_monitor_shows_which_matches_were_rejected_and_at_what_prices(empty_site: Site) -> None:
    """A price that JSON has no number for is null."""
    refused = RefusedMatch(match("m7", home="Town", prices=(0.5, nan, 4.0)), Reason.PRICE)
    record = empty_site.status.bookmakers[BookmakerId("alder")]
    record.newest_rejected.note(Scope("league"), [refused], empty_site.clock.wall)

    _, alder, _ = (await _strict(empty_site, "/monitor"))["bookmakers"]

    assert [
        {
            "at": empty_site.clock.wall,
            "scope": "league",
            "match_id": "m7",
            "home": "Town",
            "away": "Away",
            "prices": [0.5, None, 4.0],
            "reason": "price",
        }
    ] == alder["rejected_newest"]


async def test_the_monitor_shows_rates_and_latencies(empty_site: Site) -> None:
    """The monitor's rates and latencies cover the last one to two minutes, the stats' all commits."""
    empty_site.status.bookmakers[BookmakerId("alder")].meter.add(0.001, 5, 0.0)
    empty_site.status.board.commits.add(0.001, 5, 0.0)
    empty_site.clock.pass_(10)

    cedar, alder, _ = (await _strict(empty_site, "/monitor"))["bookmakers"]
    stats = await _strict(empty_site, "/api/stats")

    nothing = {"count": 0, "p50": None, "p95": None, "p99": None}
    once = {"count": 1, "p50": 0.5, "p95": 0.95, "p99": 0.99}
    commit = {"count": 1, "p50": 0.75, "p95": 0.975, "p99": 0.995}
    assert (nothing, once) == (cedar["latency_ms"], alder["latency_ms"])
    assert commit == stats["data"]["commit_ms"]
    assert {"batches_per_s": 0.1, "changes_per_s": 0.5} == alder["rates"]
    assert {"batches_per_s": 0.0, "changes_per_s": 0.0} == cedar["rates"]


async def test_the_monitor_shows_that_the_service_is_draining(site: Site) -> None:
    """/monitor answers 200 until the process ends."""
    before = (await _strict(site, "/monitor"))["draining"]

    site.status.is_draining = True

    assert (False, True) == (before, (await _strict(site, "/monitor"))["draining"])


async def test_null_means_not_measured(empty_site: Site) -> None:
    """Before anything was measured, times are null and counts are zero."""
    monitor, stats = await _strict(empty_site, "/monitor"), await _strict(empty_site, "/api/stats")

    (source,) = monitor["sources"]
    assert (None, None, 0) == (source["last_success_at"], source["last_error"], source["attempts"])
    assert {(None, 0)} == {
        (bookmaker["last_batch_at"], bookmaker["matches"])
        for bookmaker in stats["data"]["bookmakers"].values()
    }


async def test_the_stats_count_what_is_on_the_board(site: Site) -> None:
    """/api/stats counts, for each bookmaker, all entries and those that v2 shows, of the newest version."""
    data = (await _strict(site, "/api/stats"))["data"]

    assert (5003, 6) == (data["version"], data["matches"])
    assert {"cedar": (2, 2), "alder": (3, 2), "birch": (1, 0)} == {
        name: (bookmaker["matches"], bookmaker["named_matches"])
        for name, bookmaker in data["bookmakers"].items()
    }


async def test_the_stats_count_answers_by_route_and_status(site: Site) -> None:
    """The counters use the route, never the client's spelling of a path, so they cannot grow."""
    for path in (
        "/api/odds",
        "/api/odds?bookmaker=alder",
        "/api/odds?bookmaker=x",
        "/api/%6fdds",
        "/b",
        "/c",
    ):
        await site.get(path)
    await site.get("/api/v2/odds", if_none_match="*")
    await site.client.post("/api/odds")

    http = (await _strict(site, "/api/stats"))["http"]

    assert {
        "/api/odds": {"200": 3, "400": 1},
        "/api/v2/odds": {"304": 1},
        "other": {"404": 2, "405": 1},
    } == http["answers"]
    assert (8, True) == (http["answers_total"], http["body_bytes"] > 1000)
