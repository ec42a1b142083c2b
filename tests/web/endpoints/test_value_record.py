"""/api/v2/value/record over a socket: a flag counts once, at its first price, judged by the close."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors.core.messages import BookmakerId
from actors.markets.market import Kind
from tests.support.builders.messages import batch, match
from tests.support.systems.site import Site, open_site

pytestmark = pytest.mark.anyio
RECORD = "/api/v2/value/record"
LONG_S = 1_000_000.0
NAMES = {BookmakerId(name): name.title() for name in ("alder", "birch", "cedar", "dogwood", "elder")}
OTHERS = [*NAMES][1:]
FAIR, HIGH, HIGHER, SHORT = (2.0, 3.7, 3.9), (2.3, 3.5, 3.4), (2.4, 3.4, 3.3), (1.7, 4.0, 5.0)


def _list(site: Site, names: list[BookmakerId], prices: tuple[float, ...], start: int, *ids: str) -> None:
    """List matches at some bookmakers in one commit."""
    listed = [match(each, home=each, start_time=start, prices=prices) for each in ids or ("m1",)]
    mono, list_id = site.clock.mono, f"{site.clock.mono}"
    site.apply(
        *[
            batch(listed, bookmaker=name, list_id=list_id, received_mono=mono, stale_after_s=LONG_S)
            for name in names
        ]
    )


async def _kept(site: Site) -> None:
    """Let a price have value twice, let the other home prices fall, and let the match start."""
    start = round(site.clock.wall) + 7_200
    _list(site, [*NAMES], FAIR, start)
    site.clock.pass_(3_000)
    _list(site, [*NAMES][:1], HIGH, start)
    site.clock.pass_(10)
    _list(site, [*NAMES][:1], FAIR, start)
    site.clock.pass_(10)
    _list(site, [*NAMES][:1], HIGHER, start)
    site.clock.pass_(600)
    _list(site, OTHERS, SHORT, start)
    site.clock.pass_(3_600)
    _list(site, OTHERS, FAIR, start)


async def test_a_flag_counts_once_at_its_first_price(tmp_path: Path) -> None:
    """The other bookmakers' close decides: 2.3 gains more than expected, as home became a favourite."""
    async with open_site(names=NAMES, archived=tmp_path) as site:
        await _kept(site)
        record: dict[str, Any] = await site.json(RECORD)
        higher = await site.json(f"{RECORD}?min_ev=0.2")
        (closed,) = (await site.json("/api/v2/closing"))["fixtures"]
        earlier = await site.json(f"{RECORD}?to={round(site.clock.wall) - 3_600}")

    others = next(each["fair"]["1"] for each in closed["closings"] if each["bookmaker"] == "birch")
    of_alder = record["by_bookmaker"]["alder"]
    assert (1, 1, 1) == tuple(of_alder[name] for name in ("flags", "judged", "matches"))
    assert pytest.approx(2.3 * others - 1, abs=1e-5) == of_alder["mean_clv"]
    assert of_alder["standard_error"] is None
    assert 0.05 < of_alder["mean_ev"] < of_alder["mean_clv"]
    assert 0 == higher["all"]["flags"]
    assert 0 == earlier["all"]["flags"]
    assert {"under_1_min"} <= record["by_age"].keys()
    assert ["1x2"] == [*record["by_market"]]


async def test_flags_without_a_close_are_counted_with_the_reason(tmp_path: Path) -> None:
    """All other bookmakers left too early; a note says that the mean is not above 0."""
    async with open_site(names=NAMES, archived=tmp_path) as site:
        start = round(site.clock.wall) + 9_000
        _list(site, OTHERS, FAIR, start, "m1", "m2")
        _list(site, [*NAMES][:1], HIGH, start, "m1", "m2")
        site.clock.pass_(3_000)
        _list(site, [*NAMES], (3.0, 3.3, 2.5), start, "m2")
        site.clock.pass_(6_100)
        _list(site, OTHERS, FAIR, start, "m1", "m2")
        record = await site.json(RECORD)

    of_alder = record["by_bookmaker"]["alder"]
    assert (2, 1, {"too_old": 1}) == tuple(of_alder[name] for name in ("flags", "judged", "unjudged"))
    assert of_alder["mean_clv"] < 0
    assert "not above 0" in record["note"]


async def test_without_an_archive_there_is_no_record() -> None:
    """The answer has the code `no_archive`."""
    async with open_site() as site:
        response = await site.get(RECORD)

    assert (404, "no_archive") == (response.status_code, response.json()["code"])


async def test_the_record_is_of_the_requested_markets(tmp_path: Path) -> None:
    """A request has up to ten markets; a market twice, a wrong line, and more than a year are refused."""
    async with open_site(names=NAMES, archived=tmp_path, kinds=[Kind.OVER_UNDER]) as site:
        await _kept(site)
        flags = [
            (await site.json(f"{RECORD}?market={markets}"))["all"]["flags"]
            for markets in ("1x2", "over_under:2.5", "1x2,over_under:2.5")
        ]
        queries = ("market=1x2,1x2", "market=over_under:2.6", f"market={'btts,' * 10}1x2", "from=1")
        refused = [await site.get(f"{RECORD}?{query}") for query in queries]

    assert [1, 0, 1] == flags
    assert [(400, "invalid_market")] * 3 + [(400, "invalid_from")] == [
        (answer.status_code, answer.json()["code"]) for answer in refused
    ]
