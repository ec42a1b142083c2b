"""Fixtures and surebets of two to twenty bookmakers: the best prices of these, and refusals."""

from __future__ import annotations

import gzip

import pytest

from actors.core.messages import BookmakerId
from tests.support.builders.messages import match
from tests.support.systems.site import Site
from tests.support.time.virtual import WALL_0
from web.protocol.problems import Problem
from web.protocol.query import Query

pytestmark = pytest.mark.anyio

FIXTURES, SUREBETS = "/api/v2/fixtures", "/api/v2/surebets"


def _publish(site: Site) -> None:
    """List a match at three bookmakers, whose prices are a surebet, and a match at the third alone."""
    site.publish("alder", match("m1", prices=(2.2, 3.9, 3.0)))
    site.publish("birch", match("m1", prices=(2.0, 3.0, 4.1)))
    site.publish("cedar", match("m1", prices=(2.0, 3.0, 4.2)), match("m2", home="Other"))
    site.clock.pass_(2)
    site.apply()


async def test_prices_are_those_of_these_bookmakers(empty_site: Site) -> None:
    """Best prices, book sum and count are of these bookmakers; names, fair odds and version are of all."""
    _publish(empty_site)
    whole = await empty_site.json(FIXTURES)
    some = await empty_site.json(f"{FIXTURES}?bookmaker=alder,birch")
    first = next(fixture for fixture in whole["fixtures"] if fixture["home"] == "Home")
    (fixture,) = some["fixtures"]

    assert (whole["version"], 1) == (some["version"], some["fixtures_count"])
    assert ["alder_m1", "birch_m1"] == [entry["id"] for entry in fixture["entries"]]
    assert (2, round(1 / 2.2 + 1 / 3.9 + 1 / 4.1, 6)) == (fixture["bookmakers_count"], fixture["book_sum"])
    assert {"odds": 4.1, "bookmakers": ["Birch & Söhne"], "ids": ["birch_m1"]} == fixture["best"]["2"]
    assert first["fair"] == fixture["fair"] is not None
    assert [first[name] for name in ("id", "home", "league")] == [
        fixture[n] for n in ("id", "home", "league")
    ]


async def test_surebet_is_that_of_these_bookmakers(empty_site: Site) -> None:
    """Their best surebet is shown, with the fixture's `since`; without a surebet the list has no row."""
    _publish(empty_site)
    (whole,) = (await empty_site.json(SUREBETS))["fixtures"]
    (some,) = (await empty_site.json(f"{SUREBETS}?bookmaker=alder,birch"))["fixtures"]
    none = await empty_site.json(f"{SUREBETS}?bookmaker=birch,cedar")
    book_sum = 1 / 2.2 + 1 / 3.9 + 1 / 4.1

    assert "cedar_m1" in [leg["id"] for leg in whole["surebet"]["legs"]]
    assert ["alder_m1", "alder_m1", "birch_m1"] == [leg["id"] for leg in some["surebet"]["legs"]]
    assert round(1 / book_sum - 1, 6) == some["surebet"]["profit"]
    assert (WALL_0, WALL_0 + 30) == (some["surebet"]["since"], some["surebet"]["until"])
    assert [] == none["fixtures"]
    queries = (
        "min_profit=0.05",
        "min_profit=0.05&bookmaker=alder,birch",
        "min_profit=0.04&bookmaker=alder,birch",
    )
    counts = [(await empty_site.json(f"{FIXTURES}?{query}"))["fixtures_count"] for query in queries]
    assert [1, 0, 1] == counts


async def test_each_choice_of_bookmakers_has_a_tag_of_its_own(empty_site: Site) -> None:
    """The order of the bookmakers does not matter; equal tags have equal bytes in each coding."""
    _publish(empty_site)
    queries = ("", "?bookmaker=alder,birch", "?bookmaker=birch,alder", "?bookmaker=alder%2Ccedar")
    plain, some, same, other = [await empty_site.get(FIXTURES + query) for query in queries]
    tag = some.headers["ETag"]
    known = await empty_site.get(FIXTURES + queries[1], if_none_match=tag)
    moved = await empty_site.get(FIXTURES + queries[3], if_none_match=tag)
    packed = await empty_site.raw("GET", FIXTURES + queries[1], "Accept-Encoding: gzip")

    assert 3 == len({response.headers["ETag"] for response in (plain, some, other)})
    assert (tag, some.content) == (same.headers["ETag"], same.content)
    assert (304, 200) == (known.status_code, moved.status_code)
    assert some.content == gzip.decompress(packed.body)
    assert "0" == some.headers["X-Accel-Expires"]


async def test_surebet_of_some_bookmakers_ends_with_its_own_legs(empty_site: Site) -> None:
    """This end has no version of its own, as the surebet of all stays; the tag changes all the same."""
    site = empty_site
    site.publish("birch", match("m1", prices=(2.3, 3.3, 3.9)), stale_after_s=100)
    site.clock.pass_(20)
    site.publish("alder", match("m1", prices=(2.3, 4.0, 3.2)), stale_after_s=30)
    site.publish("cedar", match("m1", prices=(2.35, 4.05, 3.4)), stale_after_s=100)
    site.clock.pass_(2)
    site.apply()
    paths = SUREBETS, f"{SUREBETS}?bookmaker=alder,birch", f"{SUREBETS}?bookmaker=cedar,birch"
    before = [await site.get(path) for path in paths]
    site.clock.pass_(9)
    after = [await site.get(path, if_none_match=before[1].headers["ETag"]) for path in paths]

    assert [1, 1, 1] == [response.json()["fixtures_count"] for response in before]
    assert [1, 0, 1] == [response.json()["fixtures_count"] for response in after]
    assert before[0].json()["version"] == after[1].json()["version"]
    assert before[1].headers["ETag"] != after[1].headers["ETag"]


async def test_nothing_is_served_while_none_of_these_serves(empty_site: Site) -> None:
    """The answer is 503, as for a single bookmaker."""
    empty_site.publish("cedar", match("m1"))
    answers = [
        await empty_site.get(f"{FIXTURES}?bookmaker={names}") for names in ("alder,birch", "alder,cedar")
    ]

    assert [503, 200] == [answer.status_code for answer in answers]


@pytest.mark.parametrize(
    "target",
    [
        *(f"{path}?bookmaker=alder,nobody" for path in (FIXTURES, SUREBETS)),
        f"{FIXTURES}?bookmaker=alder,alder",
        f"{FIXTURES}?bookmaker=alder,",
        f"{FIXTURES}?bookmaker=,",
        f"{FIXTURES}?bookmaker=alder&bookmaker=birch",
        f"{FIXTURES}?bookmaker=alder,%20birch",
        f"{FIXTURES}?bookmaker=alder,birch&since=5000",
        f"{SUREBETS}?bookmaker=alder,birch&wait=1",
        "/api/v2/changes?since=5000&view=fixtures&bookmaker=alder,birch",
        "/api/v2/changes?since=5000&bookmaker=alder,birch",
        "/api/v2/stream?view=surebets&bookmaker=alder,birch",
        "/api/v2/odds?bookmaker=alder,birch",
        "/api/odds?bookmaker=alder,birch",
    ],
)
async def test_other_choices_are_refused(empty_site: Site, target: str) -> None:
    """Unknown, repeated or empty names are refused, and several names where one is allowed."""
    empty_site.publish("alder", match("m1"))
    response = await empty_site.get(target)

    assert (400, "invalid_bookmaker") == (response.status_code, response.json()["code"])


def test_there_are_at_most_twenty() -> None:
    """The bookmakers are in the order of the configuration, whatever the order of the query is."""
    known = [BookmakerId(f"b{number}") for number in range(21)]

    assert tuple(known[:20]) == Query(f"bookmaker={','.join(known[19::-1])}".encode()).bookmakers(known)
    with pytest.raises(Problem):
        Query(f"bookmaker={','.join(known)}".encode()).bookmakers(known)
