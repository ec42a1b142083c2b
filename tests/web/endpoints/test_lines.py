"""/api/v2/lines over a socket: how prices moved, with and without an archive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors.markets.market import parsed
from tests.support.builders.messages import match
from tests.support.systems.site import Site, open_site
from tests.support.time.virtual import ManualClock

pytestmark = pytest.mark.anyio
LINES = "/api/v2/lines"
DAY_S = 86_400.0


async def _line(site: Site, target: str) -> Any:
    return (await site.json(f"{LINES}?{target}"))["lines"][0]


def _short(points: list[Any]) -> list[Any]:
    """Return the home price of each point, or the reason if the point has no price."""
    return [
        point["odds"]["1"] if "odds" in point else f"{point['absent']}: {point['reason']}"
        for point in points
    ]


async def test_a_line_has_every_price_and_absence(tmp_path: Path) -> None:
    """Each point has version and time; a change of only the names is no point."""
    async with open_site(archived=tmp_path) as site:
        first = site.publish("birch", match("m1", prices=(2.0, 3.5, 4.0)))
        began = site.clock.wall
        site.clock.pass_(3)
        site.publish("birch", match("m1", prices=(2.1, 3.5, 4.0)))
        site.publish("birch", match("m1", home="Other", prices=(2.1, 3.5, 4.0)))
        site.publish("birch")
        site.publish("birch", match("m1", prices=(1.9, 3.5, 4.0)))
        line = await _line(site, "id=birch_m1")

    assert [2.0, 2.1, "removed: withdrawn", 1.9] == _short(line["points"])
    assert {"version": first, "time": began, "odds": {"1": 2.0, "X": 3.5, "2": 4.0}} == line["points"][0]
    assert (line["points"][0], line["points"][-1]) == (line["first_seen"], line["newest"])
    assert (2.1, 1.9) == (line["highest"]["1"]["odds"], line["lowest"]["1"]["odds"])
    assert ("birch", "Birch & Söhne", "live", 4, False) == tuple(
        line[name] for name in ("bookmaker", "name", "prices", "points_count", "thinned")
    )


async def test_without_a_begin_the_last_week_is_told(tmp_path: Path) -> None:
    """Without `from` a line has the last week; with `from=0` it has the whole time of the archive."""
    async with open_site(archived=tmp_path) as site:
        site.publish("birch", match("m1", start_time=None, prices=(2.0, 3.5, 4.0)))
        site.publish("birch")
        site.clock.pass_(8 * 86_400)
        site.publish("birch", match("m1", start_time=None, prices=(1.9, 3.5, 4.0)))
        of_week, whole = [await _line(site, f"id=birch_m1{begin}") for begin in ("", "&from=0")]

    assert [1.9] == _short(of_week["points"])
    assert [2.0, "removed: withdrawn", 1.9] == _short(whole["points"])


async def test_a_time_in_which_the_service_was_down_has_no_price(tmp_path: Path) -> None:
    """The price ends at the gap, and begins again with the restored list after the gap."""
    clock = ManualClock()
    async with open_site(archived=tmp_path, clock=clock) as site:
        site.publish("birch", match("m1"), stale_after_s=600.0)
    clock.pass_(30)
    async with open_site(archived=tmp_path, clock=clock) as site:
        body = await site.json(f"{LINES}?id=birch_m1")

    assert [2.0, "gap: stopped", 2.0] == _short(body["lines"][0]["points"])
    assert body["lines"][0]["points"][2]["state"]
    assert ["stopped"] == [gap["reason"] for gap in body["gaps"]]


async def test_what_was_shown_at_the_begin_is_the_first_point(tmp_path: Path) -> None:
    """The first point is marked as a state, and has the version of that moment."""
    async with open_site(archived=tmp_path) as site:
        version = site.publish("birch", match("m1"), stale_after_s=600.0)
        site.clock.pass_(100)
        begin = int(site.clock.wall)
        site.clock.pass_(5)
        site.publish("birch", match("m1", prices=(2.5, 3.5, 4.0)))
        line = await _line(site, f"id=birch_m1&from={begin}")

    assert [2.0, 2.5] == _short(line["points"])
    assert (version, True) == (line["first_seen"]["version"], line["first_seen"]["state"])


async def test_a_fixture_has_its_bookmakers_and_their_consensus(tmp_path: Path) -> None:
    """The consensus is the median of three or more bookmakers with live prices and sure links."""
    async with open_site(archived=tmp_path) as site:
        site.publish("alder", match("m1", prices=(2.0, 3.5, 4.0)))
        site.publish("birch", match("m1", prices=(2.1, 3.4, 3.9)))
        site.publish("cedar", match("m1", prices=(2.2, 3.3, 3.8)))
        shown = (await site.json("/api/v2/fixtures"))["fixtures"][0]
        site.publish("cedar")
        body = await site.json(f"{LINES}?id={shown['id']}")

    assert ["cedar", "alder", "birch"] == [line["bookmaker"] for line in body["lines"]]
    assert [("sure", True)] == [(of["certainty"], of["is_member"]) for of in body["lines"][1]["linked"]]
    points = body["consensus"]["points"]
    assert ["too_few", None, "too_few"] == [point.get("absent") for point in points]
    assert {key: shown["fair"][key] for key in ("1", "X", "2")} == points[1]["fair"]
    assert [1, 3, 2] == [point["bookmakers"] for point in points]


async def test_a_line_of_another_market_closes_at_the_kick_off_of_the_fixture(tmp_path: Path) -> None:
    """The first bookmaker of 1X2 decides on this kick-off, although it may not have the other market."""
    goals = parsed("over_under:2.5")
    async with open_site(archived=tmp_path, kinds=[goals.kind]) as site:
        start = round(site.clock.wall) + 600
        early = match("m1", start_time=start - 300)
        site.publish("cedar", match("m1", start_time=start), stale_after_s=9_000.0)
        site.publish("birch", early, early.of_market(goals, (1.9, 2.0)), stale_after_s=9_000.0)
        site.clock.pass_(700)
        site.publish("alder")
        closed = (await site.json(f"/api/v2/closing?market={goals}"))["fixtures"][0]
        body = await site.json(f"{LINES}?id={closed['id']}&market={goals}")

    assert [start] * 2 == [closed["start_time"], body["start_time"]]
    of_closing, of_line = closed["closings"][0], body["lines"][0]["closing"]
    assert (start, {"over": 1.9, "under": 2.0}) == (of_closing["closed_at"], of_closing["odds"])
    assert start - 600 == pytest.approx(of_line["time"], abs=1)
    assert (start, of_closing["odds"]) == (of_line["closed_at"], of_line["odds"])


async def test_points_thin_a_line_and_keep_extremes_and_absences(tmp_path: Path) -> None:
    """The first and the last point stay, too; the answer says that other points are missing."""
    async with open_site(archived=tmp_path) as site:
        for step in range(40):
            site.clock.pass_(1)
            price = 9.0 if step == 11 else 1.1 if step == 23 else 2 + step / 100
            site.publish("birch", *([] if step == 30 else [match("m1", prices=(price, 3.5, 4.0))]))
        line = await _line(site, "id=birch_m1&points=8")

    shown = _short(line["points"])
    assert (40, True) == (line["points_count"], line["thinned"])
    assert 8 == len(shown)
    assert {2.0, 9.0, 1.1, "removed: withdrawn", 2.39} <= {*shown}


async def test_a_tag_is_of_the_content(tmp_path: Path) -> None:
    """A tag gets 304 while there is nothing new; a fixture that is over may be cached for a day."""
    async with open_site(archived=tmp_path) as site:
        start = round(site.clock.wall) + 60
        site.publish("birch", match("m1", start_time=start))
        first = await site.get(f"{LINES}?id=birch_m1")
        again = await site.get(f"{LINES}?id=birch_m1", if_none_match=first.headers["etag"])
        site.clock.pass_(90)
        site.publish("birch")
        over = await site.get(f"{LINES}?id=birch_m1")

    assert (200, "no-cache") == (first.status_code, first.headers["cache-control"])
    assert (304, b"") == (again.status_code, again.content)
    assert first.headers["etag"] != over.headers["etag"]
    assert "public, max-age=86400" == over.headers["cache-control"]


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("", 400, "invalid_id"),
        ("id=m1", 400, "invalid_id"),
        ("id=birch_m1&points=0", 400, "invalid_points"),
        ("id=birch_m1&points=10001", 400, "invalid_points"),
        ("id=birch_m1&from=today", 400, "invalid_from"),
        ("id=birch_m1&from=2000000000&to=1999999999", 400, "invalid_to"),
        ("id=birch_m1&market=over_under", 400, "invalid_market"),
        ("id=birch_m2", 404, "not_found"),
        ("id=birch_m1&market=btts", 404, "not_found"),
        ("id=fxaaaaaaaaaaaaa", 404, "not_found"),
        ("id=birch_m1&from=2099-01-01T00:00:00Z", 404, "version_not_yet"),
        ("id=birch_m1&to=2020-01-01T00:00:00Z", 410, "version_not_archived"),
    ],
)
async def test_what_cannot_be_answered_says_why(tmp_path: Path, query: str, status: int, code: str) -> None:
    """The answer has the status and the code that other endpoints use."""
    async with open_site(archived=tmp_path) as site:
        site.publish("birch", match("m1"))
        answer = await site.get(f"{LINES}?{query}")

    assert (status, code) == (answer.status_code, answer.json()["code"])


async def test_without_an_archive_there_is_what_is_in_memory() -> None:
    """There are the last change of an entry and the present consensus; the answer says so."""
    async with open_site() as site:
        site.publish("birch", match("m1", prices=(2.0, 3.5, 4.0)))
        site.clock.pass_(3)
        version = site.publish("birch", match("m1", prices=(2.1, 3.5, 4.0)))
        fixture = (await site.json("/api/v2/fixtures"))["fixtures"][0]["id"]
        of_entry = await site.json(f"{LINES}?id=birch_m1")
        of_fixture = await site.json(f"{LINES}?id={fixture}")
        missing = await site.get(f"{LINES}?id=birch_m2")

    assert "memory" == of_entry["kept"]
    assert [2.0, 2.1] == _short(of_entry["lines"][0]["points"])
    assert [None, version] == [point["version"] for point in of_entry["lines"][0]["points"]]
    assert ["too_few"] == [point["absent"] for point in of_fixture["consensus"]["points"]]
    assert 404 == missing.status_code
