"""Values over HTTP (docs/api.md): their members, filters, and their end by a commit or by the clock."""

from __future__ import annotations

from collections.abc import AsyncIterator
from io import StringIO
from typing import Any

import pandas as pd
import pytest

from actors.core.messages import BookmakerId, Scope
from actors.markets.market import Kind, parsed
from tests.support.builders.messages import match
from tests.support.systems.site import Site, open_site
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

NAMES = {BookmakerId(name): name.title() for name in ("alder", "birch", "cedar", "dogwood")}
VALUE = "/api/v2/value"
FAIR, HIGH = (1.9, 3.8, 3.8), (2.1, 3.6, 3.5)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """Serve a match and a total at four bookmakers, of which one has high prices."""
    async with open_site(names=NAMES, kinds=[*Kind]) as site:
        for name in NAMES:
            listed(site, name, HIGH if name == "alder" else FAIR)
        yield site


def listed(
    site: Site, name: str, prices: tuple[float, ...], begins: float = 7200, home: str = "Home"
) -> None:
    """List the match and its total at a bookmaker; alder's list holds for 60 s, the others' for 20 s."""
    derby = match("m1", home=home, prices=prices, start_time=int(WALL_0 + begins))
    total = derby.of_market(parsed("over_under:3"), (2.05, 1.8) if prices == HIGH else (1.9, 1.9))
    site.publish(name, derby, total, stale_after_s=60.0 if name == "alder" else 20.0)


async def values(site: Site, query: str = "") -> list[dict[str, Any]]:
    """Return the listed values."""
    found: list[dict[str, Any]] = (await site.json(f"{VALUE}?{query}"))["values"]
    return found


async def test_a_value_says_price_reference_and_gain(site: Site) -> None:
    """A value has all its members; the Kelly share is at most 0.05."""
    body = await site.json(VALUE)
    (found,) = body["values"]

    assert ("consensus", 0.0, 0.05, 1) == tuple(
        body[name] for name in ("reference", "min_ev", "max_kelly", "values_count")
    )
    assert ("alder_m1", "Alder", "1x2", "1", 2.1, 2.1) == tuple(
        found[name] for name in ("id", "bookmaker", "market", "outcome", "odds", "net")
    )
    assert pytest.approx(2.1 * found["fair"] - 1, abs=1e-5) == found["ev"]
    assert (0.07, 0.05) == (round(found["ev"], 2), found["kelly"])
    assert ["Birch", "Cedar", "Dogwood"] == found["reference"]
    assert WALL_0 == found["confirmed"]
    assert "doubts" not in found


async def test_a_confirmation_has_milliseconds(site: Site) -> None:
    """The time is rounded as the time of a price's change is, so that both are equal for a new price."""
    site.clock.pass_(1.23456)
    listed(site, "alder", HIGH)

    assert [round(WALL_0 + 1.235, 3)] == [found["confirmed"] for found in await values(site)]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("min_ev=0.06", 1),
        ("min_ev=0.07", 0),
        ("reference=birch", 1),
        ("reference=alder", 6),
        ("bookmaker=birch", 0),
        ("bookmaker=alder,birch", 1),
        ("league=League", 1),
        ("league=Other", 0),
        ("market=over_under:3", 1),
        ("market=over_under:main", 1),
        ("market=any", 2),
        ("market=btts", 0),
    ],
)
async def test_filters_choose_values(site: Site, query: str, count: int) -> None:
    """The filters are value, reference, bookmaker, league and market; `any` means all lines and markets."""
    assert count == len(await values(site, query))


async def test_any_market_is_1x2_where_nothing_else_is_read() -> None:
    """Each service accepts `market=any`: a client need not know which kinds of market the service reads."""
    async with open_site(names=NAMES) as site:
        for name in NAMES:
            site.publish(name, match("m1", prices=HIGH if name == "alder" else FAIR))
        found = await values(site, "market=any")

    assert [("alder_m1", "1x2")] == [(value["id"], value["market"]) for value in found]


async def test_a_value_ends_with_the_age_of_its_price_without_a_commit(site: Site) -> None:
    """The tag changes, no cache keeps the list, and only `doubted=1` shows values of too old prices."""
    before = await site.get(VALUE)
    again = await site.get(VALUE, if_none_match=before.headers["etag"])
    version = site.published.newest.version
    site.clock.pass_(15)
    for name in ("birch", "cedar", "dogwood"):
        listed(site, name, FAIR)
    site.clock.pass_(4.5)
    young = await values(site)
    site.clock.pass_(0.5)
    old = await site.get(VALUE, if_none_match=before.headers["etag"])
    doubted = await values(site, "doubted=1")

    assert version == site.published.newest.version
    assert ("no-cache", "0") == tuple(before.headers[name] for name in ("cache-control", "x-accel-expires"))
    assert [["age"]] == [value["doubts"] for value in doubted]
    assert 304 == again.status_code
    assert 1 == len(young)
    assert [] == old.json()["values"]


async def test_values_end_at_the_kick_off_and_with_a_failed_attempt(site: Site) -> None:
    """Neither the kick-off nor a failed attempt changes a price."""
    board = site.published.board()
    board.fail(BookmakerId("alder"), Scope("league"), site.clock.now().mono)
    site.published.commit(board)
    failed = await values(site)
    site.clock.pass_(1)
    listed(site, "alder", HIGH)
    repeated = await values(site)
    for name in NAMES:
        listed(site, name, HIGH if name == "alder" else FAIR, begins=11)
    before = await values(site)
    site.clock.pass_(10)

    assert [0, 1, 1, 0] == [*map(len, (failed, repeated, before, await values(site)))]


async def test_a_consensus_of_too_few_companies_is_noted() -> None:
    """The list is then empty at any prices; with a reference the list is not empty."""
    async with open_site() as site:
        site.publish("alder", match("m1", prices=HIGH))
        site.publish("birch", match("m1", prices=FAIR))
        alone, compared = await site.json(VALUE), await site.json(f"{VALUE}?reference=birch")

    why = "the consensus needs 4 companies with live prices, there are 3; name a reference"
    assert ([], why) == (alone["values"], alone["note"])
    assert [1, None] == [compared["values_count"], compared.get("note")]


async def test_pandas_reads_the_same_values_as_a_table(site: Site) -> None:
    """The rows have the order of the JSON and a tag of their own; a formula becomes text."""
    for name in NAMES:
        listed(site, name, HIGH if name == "alder" else FAIR, home="=1+1")
    path = f"{VALUE}?market=any&doubted=1"
    plain, table = await site.get(path), await site.get(f"{path}&format=csv")
    known = await site.get(f"{path}&format=csv", if_none_match=table.headers["etag"])
    rows = pd.read_csv(StringIO(table.text), parse_dates=["start_time_utc", "confirmed_utc"])
    found = pd.DataFrame(plain.json()["values"])
    same = ["away", "league_id", "market", "outcome", "bookmaker", "odds", "net", "fair", "ev", "kelly"]

    assert ("text/csv; charset=utf-8", 304) == (table.headers["content-type"], known.status_code)
    assert plain.headers["etag"] != table.headers["etag"]
    assert found[same].to_dict("records") == rows[same].to_dict("records")
    assert [*zip(found["fixture"], found["id"], strict=True)] == [
        *zip(rows["id"], rows["entry_id"], strict=True)
    ]
    assert {("'=1+1", "Birch; Cedar; Dogwood", pd.Timestamp(WALL_0, unit="s"))} == {
        *zip(rows["home"], rows["reference"], rows["confirmed_utc"], strict=True)
    }
