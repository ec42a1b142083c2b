"""/api/v2/movers over a socket: the largest moves of prices, and the bookmakers that followed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors.core.messages import BookmakerId
from actors.markets.market import Kind, Market
from tests.support.builders.messages import match
from tests.support.systems.site import Site, open_site
from tests.support.time.virtual import ManualClock

pytestmark = pytest.mark.anyio
MOVERS = "/api/v2/movers"
NAMES = {BookmakerId(name): name.title() for name in ("alder", "birch", "cedar", "dill", "elm")}
EARLY, LATE = (2.0, 3.5, 4.0), (1.6, 4.0, 6.0)
LONG_S = 100_000.0


def put(site: Site, prices: tuple[float, float, float], *names: str) -> None:
    """Publish the prices of some bookmakers, with a second between two of them."""
    for name in names:
        start = round(site.clock.wall) // 100_000 * 100_000 + 200_000
        site.publish(name, match("m1", start_time=start, prices=prices), stale_after_s=LONG_S)
        site.clock.pass_(1)


async def moved(site: Site, query: str = "") -> list[dict[str, Any]]:
    """Return the fixtures whose prices moved."""
    found: list[dict[str, Any]] = (await site.json(f"{MOVERS}?{query}"))["fixtures"]
    return found


async def test_a_move_says_who_was_seen_to_follow_when(tmp_path: Path) -> None:
    """The first bookmaker that moved is marked; a bookmaker that did not follow has no time."""
    async with open_site(names=NAMES, archived=tmp_path) as site:
        put(site, EARLY, "alder", "birch", "cedar", "dill")
        site.clock.pass_(1_000)
        led = site.clock.wall
        put(site, LATE, "cedar", "alder", "birch")
        (of,) = await moved(site)
        answer = await site.json(MOVERS)

    assert ("1", 4) == (of["outcome"], of["compared_count"])
    assert of["move"] == pytest.approx(of["fair_now"]["1"] - of["fair_before"]["1"], abs=2e-6)
    assert [("alder", led + 1, False), ("birch", led + 2, False), ("cedar", led, True)] == [
        (it["bookmaker"], it["followed_at"], it["first"]) for it in of["bookmakers"][:3]
    ]
    assert (2.0, 2.0, None, False) == tuple(
        of["bookmakers"][3][name] for name in ("odds_before", "odds_now", "followed_at", "first")
    )
    assert (1, 900, "1x2") == tuple(answer[name] for name in ("fixtures_count", "window_s", "market"))


async def test_a_bookmaker_that_comes_or_leaves_is_no_move(tmp_path: Path) -> None:
    """The earlier and the later consensus are both of the bookmakers that are there at both times."""
    async with open_site(names=NAMES, archived=tmp_path) as site:
        put(site, EARLY, "alder", "birch", "cedar")
        put(site, LATE, "dill")
        site.clock.pass_(1_000)
        put(site, LATE, "elm")
        site.publish("dill")
        found = await moved(site, "min=0")

    assert [] == found


async def test_fewer_than_three_are_no_consensus(tmp_path: Path) -> None:
    """Three bookmakers count at each time, but not the same three."""
    async with open_site(names=NAMES, archived=tmp_path) as site:
        put(site, EARLY, "alder", "birch", "cedar")
        site.clock.pass_(1_000)
        put(site, LATE, "alder", "birch", "dill")
        site.publish("cedar")
        found = await moved(site, "min=0")

    assert [] == found


async def test_a_consensus_that_began_in_the_window_moves_since_then(tmp_path: Path) -> None:
    """The move begins at the version in which the third bookmaker appeared."""
    async with open_site(names=NAMES, archived=tmp_path) as site:
        site.clock.pass_(1_000)
        put(site, EARLY, "alder", "birch")
        begun = site.clock.wall
        put(site, EARLY, "cedar")
        put(site, LATE, "alder", "birch", "cedar")
        (of,) = await moved(site)

    assert begun == of["since_time"]


async def test_a_restart_is_no_move(tmp_path: Path) -> None:
    """Restored prices are the prices from before the restart."""
    clock = ManualClock()
    async with open_site(names=NAMES, archived=tmp_path, clock=clock) as site:
        put(site, EARLY, "alder", "birch", "cedar")
    clock.pass_(60)
    async with open_site(names=NAMES, archived=tmp_path, clock=clock) as site:
        put(site, EARLY, "cedar", "birch", "alder")
        found = await moved(site, "min=0")

    assert [] == found


@pytest.mark.parametrize(
    ("query", "count"),
    [("min=0.5", 0), ("league=League", 1), ("league=Other", 0), ("window_s=60", 0), ("window_s=900", 1)],
)
async def test_least_move_league_and_window_choose(tmp_path: Path, query: str, count: int) -> None:
    """A move before the window does not count, and for a league without matches nothing is shown."""
    async with open_site(names=NAMES, archived=tmp_path) as site:
        put(site, EARLY, "alder", "birch", "cedar")
        put(site, LATE, "alder", "birch", "cedar")
        site.clock.pass_(300)
        found = await moved(site, query)

    assert count == len(found)


@pytest.mark.parametrize(
    "query", ["window_s=59", "window_s=86401", "window_s=1e3", "min=1.1", "min=-1", "min=", "market=1x3"]
)
async def test_what_is_not_allowed_is_refused(tmp_path: Path, query: str) -> None:
    """The problem names the parameter."""
    async with open_site(names=NAMES, archived=tmp_path) as site:
        answer = await site.get(f"{MOVERS}?{query}")

    assert (400, f"invalid_{query.partition('=')[0]}") == (answer.status_code, answer.json()["code"])


async def test_nothing_new_is_304(tmp_path: Path) -> None:
    """The tag depends on the content of the two compared versions."""
    async with open_site(names=NAMES, archived=tmp_path) as site:
        put(site, EARLY, "alder", "birch", "cedar")
        first = await site.get(MOVERS)
        again = await site.get(MOVERS, if_none_match=first.headers["ETag"])
        put(site, LATE, "alder")
        later = await site.get(MOVERS, if_none_match=first.headers["ETag"])

    assert (200, 304, 200) == (first.status_code, again.status_code, later.status_code)
    assert "no-cache" == first.headers["Cache-Control"]


async def test_at_most_a_hundred_are_shown_the_largest_first(tmp_path: Path) -> None:
    """Moves of equal size are in the order of their ids."""
    async with open_site(names=NAMES, archived=tmp_path) as site:
        for prices in (EARLY, LATE):
            some = [match(f"m{number}", prices=prices) for number in range(101)]
            largest = match("far", prices=EARLY if prices == EARLY else (1.1, 9.0, 30.0))
            for name in ("alder", "birch", "cedar"):
                site.publish(name, *some, largest, stale_after_s=LONG_S)
        found = await moved(site)

    assert 100 == len(found)
    assert found[0]["move"] > found[1]["move"] == found[-1]["move"]
    assert sorted(of["id"] for of in found[1:]) == [of["id"] for of in found[1:]]


async def test_another_market_moves_by_itself(tmp_path: Path) -> None:
    """The chances are those of the outcomes to win: those of double chance add up to 2."""
    early, late = (1.25, 1.3, 1.85), (1.15, 1.25, 2.4)
    async with open_site(names=NAMES, archived=tmp_path, kinds=[*Kind]) as site:
        start = round(site.clock.wall) + 100_000
        base = match("m1", start_time=start)
        for odds in (early, late):
            for name in ("alder", "birch", "cedar"):
                other = base.of_market(Market(Kind.DOUBLE_CHANCE), odds)
                site.publish(name, base, other, stale_after_s=LONG_S)
                site.clock.pass_(1)
        (of,) = await moved(site, "market=double_chance")
        usual = await moved(site, "min=0")

    assert [] == usual
    assert 2 == pytest.approx(sum(of["fair_now"].values()), abs=1e-5)
    assert ("X2", 1.85, 2.4) == (
        of["outcome"],
        *(of["bookmakers"][0][it] for it in ("odds_before", "odds_now")),
    )
    assert ["alder_m1", "birch_m1", "cedar_m1"] == [it["id"] for it in of["bookmakers"]]
    assert all(it["followed_at"] for it in of["bookmakers"])


async def test_before_the_first_links_it_says_so(tmp_path: Path) -> None:
    """The answer is 503, as for lists of fixtures."""
    async with open_site(names=NAMES, archived=tmp_path, is_linked_first=True) as site:
        answer = await site.get(MOVERS)

    assert (503, "linking") == (answer.status_code, answer.json()["code"])
