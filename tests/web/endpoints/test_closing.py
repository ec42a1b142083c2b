"""/api/v2/closing over a socket: the last price before the final kick-off, or why it is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors.markets.market import parsed
from tests.support.builders.messages import match
from tests.support.systems.site import Site, open_site
from tests.support.time.virtual import ManualClock

pytestmark = pytest.mark.anyio
CLOSING = "/api/v2/closing"
LONG_S = 100_000.0


async def _closings(site: Site, query: str = "") -> dict[str, Any]:
    """Return the closings of the only fixture, by the id of the entry."""
    (fixture,) = (await site.json(f"{CLOSING}?{query}"))["fixtures"]
    return {closing["id"]: closing for closing in fixture["closings"]}


async def test_no_price_after_the_kick_off_is_a_close(tmp_path: Path) -> None:
    """The last price before the kick-off is the close, with the fair odds and members of that time."""
    async with open_site(archived=tmp_path) as site:
        start = round(site.clock.wall) + 600
        for name in ("alder", "birch", "cedar"):
            site.publish(name, match("m1", start_time=start), stale_after_s=LONG_S)
        site.clock.pass_(700)
        site.publish("alder", match("m1", start_time=start, prices=(1.1, 9.0, 30.0)), stale_after_s=LONG_S)
        (fixture,) = (await site.json(CLOSING))["fixtures"]
        only = await _closings(site, "bookmaker=birch&league=League")
        none = await site.json(f"{CLOSING}?league=Other")

    assert {"1": 2.0, "X": 3.5, "2": 4.0} == fixture["closings"][1]["odds"]
    assert [True] * 3 == [closing["on_offer"] for closing in fixture["closings"]]
    assert [start] * 3 == [closing["closed_at"] for closing in fixture["closings"]]
    assert fixture["closings"][0]["fair"] == fixture["fair"]
    assert [{"source": "feed", "id": "m1", "rule": "first", "link": "sure"}] == fixture["members"]
    assert ["birch_m1"] == [*only]
    assert [] == none["fixtures"]


async def test_a_price_that_left_before_says_when_and_why(tmp_path: Path) -> None:
    """A price that left an hour or more before the kick-off is too old."""
    async with open_site(archived=tmp_path) as site:
        start = round(site.clock.wall) + 7_200
        for name in ("alder", "birch"):
            site.publish(name, match("m1", start_time=start), stale_after_s=LONG_S)
        site.clock.pass_(3_500)
        site.publish("alder")
        site.clock.pass_(3_600)
        left = site.clock.wall
        site.publish("birch")
        site.publish("cedar", match("m1", start_time=start), stale_after_s=LONG_S)
        site.clock.pass_(200)
        site.publish("cedar", stale_after_s=LONG_S)
        found = await _closings(site)

    assert (left, False, "withdrawn") == tuple(
        found["birch_m1"][name] for name in ("closed_at", "on_offer", "left")
    )
    assert "too_old" == found["alder_m1"]["reason"]
    assert found["cedar_m1"]["on_offer"]


async def test_a_postponed_match_has_no_close_yet(tmp_path: Path) -> None:
    """The match is found by its new kick-off, and has not started."""
    async with open_site(archived=tmp_path) as site:
        start = round(site.clock.wall) + 600
        site.publish("alder", match("m1", start_time=start), stale_after_s=LONG_S)
        site.clock.pass_(900)
        site.publish("alder", match("m1", start_time=start + 90_000), stale_after_s=LONG_S)
        now = await site.json(CLOSING)
        later = await site.json(f"{CLOSING}?to={start + 90_001}")

    assert [] == now["fixtures"]
    assert [("not_started", [])] == [(of["reason"], of["closings"]) for of in later["fixtures"]]


async def test_a_market_that_came_on_the_second_day_is_first_seen_then(tmp_path: Path) -> None:
    """The file of the previous day has no tables of other markets."""
    goals = parsed("over_under:2.5")
    async with open_site(archived=tmp_path, kinds=[goals.kind]) as site:
        start = round(site.clock.wall) + 86_400 + 600
        early = match("m1", start_time=start)
        site.publish("alder", early, stale_after_s=LONG_S)
        site.clock.pass_(86_400)
        site.publish("birch", early, stale_after_s=LONG_S)  # begins the new day's file
        seen = site.clock.wall
        site.publish("alder", early, early.of_market(goals, (1.9, 2.0)), stale_after_s=LONG_S)
        site.clock.pass_(700)
        found = await _closings(site, f"market={goals}")

    assert seen == found["alder_m1"]["first_seen"]["time"]


async def test_a_kick_off_while_the_service_was_down_has_no_close(tmp_path: Path) -> None:
    """The service showed no price at the kick-off, so there is no closing price."""
    clock = ManualClock()
    async with open_site(archived=tmp_path, clock=clock) as site:
        start = round(site.clock.wall) + 600
        site.publish("alder", match("m1", start_time=start), stale_after_s=LONG_S)
    clock.pass_(1_000)
    async with open_site(archived=tmp_path, clock=clock) as site:
        found = await _closings(site)

    assert "gap" == found["alder_m1"]["reason"]


@pytest.mark.parametrize("path", [CLOSING, "/api/v2/movers", "/api/v2/archive"])
async def test_without_an_archive_the_answer_says_so(path: str) -> None:
    """This holds for any request of these paths; the capabilities do not list them."""
    async with open_site() as site:
        answer = await site.get(f"{path}?market=none")
        listed = (await site.json("/api/capabilities"))["endpoints"]

    assert (404, "no_archive") == (answer.status_code, answer.json()["code"])
    assert path not in listed
