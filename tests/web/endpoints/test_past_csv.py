"""Moves of prices as tables of CSV (docs/spreadsheets.md): the values of the JSON in rows."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path

import pytest

from tests.support.builders.messages import match
from tests.support.systems.site import Site, open_site
from web.encoding.csv_text import utc

pytestmark = pytest.mark.anyio
BOOKMAKERS = ("alder", "birch", "cedar")
LONG_S = 100_000.0


async def _rows(site: Site, path: str) -> list[dict[str, str]]:
    """Return the rows of a table; check that its tag gets 304."""
    answer = await site.get(f"{path}format=csv")
    again = await site.get(f"{path}format=csv", if_none_match=answer.headers["etag"])
    assert (200, "text/csv; charset=utf-8", 304) == (
        *(answer.status_code, answer.headers["content-type"]),
        again.status_code,
    )
    return [*csv.DictReader(StringIO(answer.text, newline=""), strict=True)]


async def _lived(site: Site) -> int:
    """Let three bookmakers list a match, and two of them change prices; return the kick-off."""
    start = round(site.clock.wall) + 900
    for name in BOOKMAKERS:
        site.publish(name, match("m1", home="-Home", start_time=start), stale_after_s=LONG_S)
    site.clock.pass_(10)
    for name in BOOKMAKERS[:2]:
        moved = match("m1", home="-Home", start_time=start, prices=(1.6, 4.0, 6.0))
        site.publish(name, moved, stale_after_s=LONG_S)
    return start


async def test_a_line_has_a_row_for_each_point(tmp_path: Path) -> None:
    """Points of the consensus have the number of its bookmakers, and no bookmaker's name."""
    async with open_site(archived=tmp_path) as site:
        await _lived(site)
        site.publish("alder")
        (fixture,) = (await site.json("/api/v2/fixtures"))["fixtures"]
        path = f"/api/v2/lines?id={fixture['id']}"
        found, rows = await site.json(path), await _rows(site, f"{path}&")

    points = [(line["id"], point) for line in found["lines"] for point in line["points"]]
    fair = found["consensus"]["points"]
    assert [(it, str(point["version"]), utc(point["time"])) for it, point in points] == [
        (row["id"], row["version"], row["time_utc"]) for row in rows[: len(points)]
    ]
    assert [str(point["odds"]["X"]) if "odds" in point else "" for _, point in points] == [
        row["odds_X"] for row in rows[: len(points)]
    ]
    assert ("removed", "withdrawn") in [(row["absent"], row["reason"]) for row in rows]
    assert [("", str(of["bookmakers"]), str(of.get("fair", {}).get("1", ""))) for of in fair] == [
        (row["bookmaker"], row["bookmakers_count"], row["fair_1"]) for row in rows[len(points) :]
    ]


async def test_a_move_has_a_row_for_each_bookmaker(tmp_path: Path) -> None:
    """Each row also has the move of the fixture, which may be below 0."""
    async with open_site(archived=tmp_path) as site:
        await _lived(site)
        (fixture,) = (await site.json("/api/v2/movers"))["fixtures"]
        rows = await _rows(site, "/api/v2/movers?")

    assert {(fixture["id"], "'-Home", fixture["outcome"], str(fixture["move"]))} == {
        tuple(row[name] for name in ("id", "home", "outcome", "move")) for row in rows
    }
    assert [
        (it["id"], str(it["odds_now"]), utc(it["followed_at"]), str(it["first"]).lower())
        for it in fixture["bookmakers"]
    ] == [tuple(row[name] for name in ("entry_id", "odds_now", "followed_utc", "first")) for row in rows]


async def test_a_closing_price_has_a_row(tmp_path: Path) -> None:
    """A closing price has the data of its fixture, too; a price that left has a reason."""
    async with open_site(archived=tmp_path) as site:
        start = await _lived(site)
        site.clock.pass_(300)
        site.publish("cedar")
        site.clock.pass_(700)
        site.publish("alder", match("m1", start_time=start, prices=(1.1, 9.0, 30.0)), stale_after_s=LONG_S)
        (fixture,) = (await site.json("/api/v2/closing"))["fixtures"]
        rows = await _rows(site, "/api/v2/closing?")

    assert [utc(start)] * 3 == [row["start_time_utc"] for row in rows]
    assert [
        (
            it["id"],
            str(it["odds"]["2"]),
            utc(it["closed_at"]),
            str(it["on_offer"]).lower(),
            it.get("left", ""),
        )
        for it in fixture["closings"]
    ] == [
        tuple(row[name] for name in ("entry_id", "odds_2", "closed_at_utc", "on_offer", "left"))
        for row in rows
    ]
    assert ["withdrawn"] == [row["left"] for row in rows if row["bookmaker"] == "cedar"]
