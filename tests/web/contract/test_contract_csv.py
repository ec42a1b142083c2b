"""`format=csv` (docs/spreadsheets.md): the same lists as tables, with tags of their own."""

from __future__ import annotations

import csv
import gzip
from datetime import UTC, datetime
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from actors.markets.market import Kind, parsed
from tests.support.builders.messages import match
from tests.support.systems.site import Site, open_site

pytestmark = pytest.mark.anyio

ODDS, FIXTURES, SUREBETS = "/api/v2/odds", "/api/v2/fixtures", "/api/v2/surebets"
OVER = "over_under:2.5"


def _read(text: str) -> list[dict[str, str]]:
    return [*csv.DictReader(StringIO(text, newline=""), strict=True)]


async def _rows(site: Site, path: str) -> list[dict[str, str]]:
    """Return the rows of a list; each row has the names of the columns as keys."""
    answer = await site.get(path)
    assert (200, "text/csv; charset=utf-8") == (answer.status_code, answer.headers["content-type"])
    return _read(answer.text)


def _utc(seconds: float | None) -> str:
    return "" if seconds is None else f"{datetime.fromtimestamp(int(seconds), UTC):%Y-%m-%d %H:%M:%S}"


def _publish(site: Site, *kinds: str) -> None:
    """List a match with a surebet; its names must not run or break a spreadsheet."""
    derby = partial(match, "m1", home="=1+1", away='A "B", C', league="K리그")
    others = [derby().of_market(parsed(kind), (1.9, 2.0)) for kind in kinds]
    site.publish("alder", derby(prices=(2.2, 3.9, 3.0)), *others)
    site.publish("birch", derby(prices=(2.0, 3.0, 4.2)))
    site.clock.pass_(2)
    site.apply()


async def test_odds_have_a_row_for_each_entry(site: Site) -> None:
    """The table has the same entries in the same order as the JSON."""
    listed: list[dict[str, Any]] = (await site.json(ODDS))["matches"]

    assert await _rows(site, f"{ODDS}?format=csv") == [
        {
            **{name: it[name] for name in ("id", "bookmaker", "home", "away", "league")},
            "start_time_utc": _utc(it["start_time"]),
            **{f"odds_{name}": str(float(price)) for name, price in it["odds"].items()},
            "updated_utc": _utc(it["updated"]),
        }
        for it in listed
    ]


@pytest.mark.parametrize(
    "path", [f"{ODDS}?", f"{FIXTURES}?", f"{FIXTURES}?market=1x2,{OVER}&", f"{SUREBETS}?market=any&"]
)
async def test_a_table_has_the_version_of_the_list_and_a_tag_of_its_own(path: str) -> None:
    """The compressed table has a tag of its own as well; `Accept` changes nothing."""
    async with open_site(kinds=[*Kind]) as site:
        _publish(site, OVER)
        plain, table = await site.get(path), await site.get(f"{path}format=csv", accept="application/json")
        as_json = await site.get(f"{path}format=json", accept="text/csv")
        packed = await site.raw("GET", f"{path}format=csv", "Accept-Encoding: gzip")
        known = await site.get(f"{path}format=csv", if_none_match=table.headers["etag"])
        other = await site.get(f"{path}format=csv", if_none_match=plain.headers["etag"])

    version = plain.json()["version"]
    assert [plain.content, plain.headers["etag"]] == [as_json.content, as_json.headers["etag"]]
    assert f'{plain.headers["etag"][:-1]}-csv"' == table.headers["etag"]
    assert f"{version}-" in table.headers["odds-cursor"]
    assert table.content == gzip.decompress(packed.body)
    assert packed.headers["etag"] == f'{table.headers["etag"][:-1]}-gzip"'
    assert (304, b"", 200) == (known.status_code, known.content, other.status_code)


async def test_fixtures_have_a_row_for_each_market_with_the_best_prices() -> None:
    """Columns of outcomes that a market does not have are empty; a formula becomes text."""
    async with open_site(kinds=[*Kind]) as site:
        _publish(site, OVER)
        result, goals = await _rows(site, f"{FIXTURES}?market=1x2,{OVER}&fair=birch&format=csv")
        (alone,) = await _rows(site, f"{FIXTURES}?fair=birch&format=csv")
        (fixture,) = (await site.json(f"{FIXTURES}?fair=birch"))["fixtures"]

    assert ("'=1+1", 'A "B", C', "K리그") == tuple(result[name] for name in ("home", "away", "league"))
    assert (fixture["id"], "1x2", "2") == tuple(
        result[name] for name in ("id", "market", "bookmakers_count")
    )
    assert ("2.2", "Alder", "live", "") == tuple(
        result[name] for name in ("best_1", "best_1_bookmakers", "best_1_prices", "best_over")
    )
    assert (fixture["id"], OVER, "1.9", "") == tuple(
        goals[name] for name in ("id", "market", "best_over", "best_X")
    )
    assert [str(fixture["reference"][name]) for name in "1X2"] == [
        result[f"reference_{it}"] for it in "1X2"
    ]
    assert alone == {name: value for name, value in result.items() if name in alone}


async def test_surebets_have_their_legs_and_stakes(empty_site: Site) -> None:
    """Each leg has its outcome, price, bookmaker, share, age and amount."""
    _publish(empty_site)
    (row,) = await _rows(empty_site, f"{SUREBETS}?total=100&format=csv")
    (fixture,) = (await empty_site.json(f"{SUREBETS}?total=100"))["fixtures"]

    surebet, stakes = fixture["surebet"], fixture["stakes"]
    assert str(surebet["profit"]) == row["profit"]
    assert (_utc(surebet["until"]), str(stakes["gain"])) == (row["until_utc"], row["gain"])
    assert [
        [
            leg["outcome"],
            leg["bookmaker"],
            *(str(leg[name]) for name in ("odds", "stake", "age_s")),
            str(amount),
        ]
        for leg, amount in zip(surebet["legs"], stakes["amounts"], strict=True)
    ] == [
        [row[f"leg{at}_{name}"] for name in ("outcome", "bookmaker", "odds", "stake", "age_s", "amount")]
        for at in (1, 2, 3)
    ]


async def test_a_table_of_the_past_is_what_was_served(tmp_path: Path) -> None:
    """The table of an old version stays the same, and a time leads to the table of its version."""
    async with open_site(archived=tmp_path) as site:
        _publish(site)
        served = await site.get(f"{ODDS}?format=csv")
        version = int(served.headers["odds-cursor"].partition("-")[0])
        site.clock.pass_(3)
        site.publish("birch")
        past = await site.get(f"{ODDS}?format=csv&at={version}")
        moment = f"{datetime.fromtimestamp(site.clock.wall - 1, UTC):%Y-%m-%dT%H:%M:%SZ}"
        when = await site.get(f"{ODDS}?format=csv&at={moment}")

    assert served.content == past.content
    assert past.headers["etag"].endswith('-csv"')
    assert f"{ODDS}?at={version}&format=csv" == when.headers["location"]


@pytest.mark.parametrize("asked", ["format=xlsx", "format=", "format=CSV", "format=csv&format=csv"])
async def test_another_format_is_refused(site: Site, asked: str) -> None:
    """The error says which formats are allowed."""
    answers = [await site.get(f"{path}?{asked}") for path in (ODDS, FIXTURES, SUREBETS)]

    assert {(400, "invalid_format")} == {(it.status_code, it.json()["code"]) for it in answers}
    assert answers[0].json()["detail"].endswith("must be one of: json, csv")


async def test_surebets_say_whether_they_are_weak_or_doubted() -> None:
    """The columns for this are there only if the request asks for weak or doubted surebets."""
    async with open_site(kinds=[Kind.OVER_UNDER]) as site:
        line = parsed("over_under:3")
        site.publish("alder", match("m1", prices=(9.0, 3.0, 2.0)), match("m1").of_market(line, (2.2, 1.8)))
        site.publish("birch", match("m1", prices=(2.0, 3.5, 4.2)), match("m1").of_market(line, (1.8, 2.1)))
        site.clock.pass_(2)
        site.apply()
        asked = f"{SUREBETS}?market=1x2,over_under:3&weak=1&doubted=1"
        rows = {row["market"]: row for row in await _rows(site, f"{asked}&format=csv")}
        (fixture,) = (await site.json(asked))["fixtures"]
        plain = await site.get(f"{SUREBETS}?format=csv")

    doubted, weak = (fixture["markets"][name] for name in ("1x2", "over_under:3"))
    assert ("; ".join(doubted["doubted"]["doubts"]), str(doubted["doubted"]["profit"]), "") == tuple(
        rows["1x2"][name] for name in ("doubts", "profit", "weak")
    )
    assert ("", "true", str(weak["surebet"]["usual_profit"])) == tuple(
        rows["over_under:3"][name] for name in ("doubts", "weak", "usual_profit")
    )
    assert not {"doubts", "weak", "usual_profit"} & {*plain.text.splitlines()[0].split(",")}
