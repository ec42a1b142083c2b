"""Weak surebets over HTTP (docs/api.md): bets on a whole line that never lose and usually gain."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from actors.core.messages import Match
from actors.markets.market import Kind, parsed
from tests.support.builders.messages import match
from tests.support.peers.stream_client import streaming
from tests.support.systems.site import Site, open_site

pytestmark = pytest.mark.anyio

WHOLE, HALF, LEVEL = "over_under:3", "over_under:2.5", "asian_handicap:0"
SUREBETS, FIXTURES, CHANGES = "/api/v2/surebets", "/api/v2/fixtures", "/api/v2/changes"


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """Serve a board that reads all kinds of market."""
    async with open_site(kinds=[*Kind]) as site:
        yield site


def of(market: str, odds: Sequence[float], match_id: str = "m1") -> Match:
    """Return a market of a match with these odds."""
    return match(match_id).of_market(parsed(market), tuple(odds))


async def listed(site: Site, market: str = WHOLE, first: Sequence[float] = (2.2, 1.8)) -> None:
    """List a market at two bookmakers, with best prices `first[0]` and 2.1, and let time pass."""
    site.publish("alder", match("m1"), of(market, first))
    site.publish("birch", match("m1"), of(market, (1.8, 2.1)))
    await stood(site)


async def stood(site: Site) -> None:
    """Let the listed prices stay long enough for a surebet."""
    site.clock.pass_(2)
    site.apply()


async def test_a_weak_surebet_has_a_profit_of_nothing_and_the_usual_one(site: Site) -> None:
    """Exactly three goals return all stakes; any other number of goals gives the usual gain."""
    await listed(site)
    (fixture,) = (await site.json(f"{SUREBETS}?market={WHOLE}&weak=1&total=100"))["fixtures"]
    surebet, usual = fixture["surebet"], 1 / (1 / 2.2 + 1 / 2.1) - 1

    assert (True, 0.0, 1.0) == (surebet["weak"], surebet["profit"], surebet["book_sum"])
    assert pytest.approx(usual, abs=1e-6) == surebet["usual_profit"]
    assert [("over", 2.2, WHOLE), ("under", 2.1, WHOLE)] == [
        (leg["outcome"], leg["odds"], leg["market"]) for leg in surebet["legs"]
    ]
    stakes = fixture["stakes"]
    assert (100.0, 100.0, 0.0) == (stakes["staked"], stakes["returned"], stakes["gain"])
    assert pytest.approx(100 * usual, abs=0.03) == stakes["usual_gain"]
    for amount, odds in zip(stakes["amounts"], (2.2, 2.1), strict=True):
        assert amount * odds >= 100 + stakes["usual_gain"] - 1e-9


async def test_without_weak_nothing_is_shown_of_a_whole_line(site: Site) -> None:
    """A weak surebet makes no new version and no other bytes of lists without `weak=1`."""
    site.publish("alder", match("m1"), of(WHOLE, (2.2, 1.8)))
    site.publish("birch", match("m1"), of(WHOLE, (1.8, 2.1)))
    paths = [
        f"{FIXTURES}?market={WHOLE}",
        f"{FIXTURES}?market={WHOLE}&bookmaker=alder,birch",
        f"{SUREBETS}?market={WHOLE}",
        f"{SUREBETS}?market=any",
        f"{SUREBETS}?market={WHOLE}&doubted=1",
        f"{SUREBETS}?market={WHOLE}&bookmaker=alder,birch",
    ]
    before = [await site.get(path) for path in paths]
    weak = await site.get(f"{SUREBETS}?market={WHOLE}&weak=1")
    await stood(site)
    after = [await site.get(path) for path in paths]
    shown = await site.get(f"{SUREBETS}?market={WHOLE}&weak=1")
    site.publish("alder", match("m1"), of(WHOLE, (2.2, 1.8)), match("m2"), of(WHOLE, (2.0, 1.8), "m2"))
    anew = [await site.json(path) for path in paths]

    assert [(got.content, got.headers["etag"]) for got in before] == [
        (got.content, got.headers["etag"]) for got in after
    ]
    assert [0] * 4 == [got.json()["fixtures_count"] for got in after[2:]]
    assert [2, 2, 0, 0, 0, 0] == [found["fixtures_count"] for found in anew]
    assert [None] * 4 == [fixture["surebet"] for found in anew[:2] for fixture in found["fixtures"]]
    assert [0, 1] == [got.json()["fixtures_count"] for got in (weak, shown)]
    assert weak.headers["etag"] != shown.headers["etag"]
    assert shown.json()["version"] > after[0].json()["version"]


@pytest.mark.parametrize("market", ["", "1x2", HALF, "btts", "1x2,btts"])
async def test_where_no_stake_is_returned_weak_changes_nothing(site: Site, market: str) -> None:
    """In markets that return no stake, `weak=1` gives the same list with the same tag."""
    await listed(site, HALF)
    asked = f"{SUREBETS}?market={market}" if market else f"{SUREBETS}?"
    plain, weak = [await site.get(f"{asked}{more}") for more in ("", "&weak=1")]

    assert (plain.content, plain.headers["etag"]) == (weak.content, weak.headers["etag"])


@pytest.mark.parametrize("market", ["over_under:main", "any", f"{WHOLE},{HALF}", WHOLE])
async def test_tags_with_and_without_weak_differ(site: Site, market: str) -> None:
    """Both lists may have the same version; each answers 304 only to its own tag."""
    await listed(site)
    paths = [f"{SUREBETS}?market={market}{more}" for more in ("", "&weak=1")]
    tags = [(await site.get(path)).headers["etag"] for path in paths]
    answers = [[await site.get(path, if_none_match=tag) for tag in tags] for path in paths]

    assert [[304, 200], [200, 304]] == [[got.status_code for got in some] for some in answers]


async def test_weak_and_other_surebets_stand_in_one_list_of_any_market(site: Site) -> None:
    """Surebets with a certain gain are the same with and without `weak=1`."""
    site.publish("alder", match("m1"), of(HALF, (2.2, 1.8)), of(WHOLE, (2.4, 1.7)), of(LEVEL, (2.1, 1.9)))
    site.publish("birch", match("m1"), of(HALF, (1.8, 2.2)), of(WHOLE, (2.0, 2.0)), of(LEVEL, (2.05, 1.98)))
    await stood(site)
    (plain,), (every,) = [
        (await site.json(f"{SUREBETS}?market=any{more}"))["fixtures"] for more in ("", "&weak=1")
    ]

    assert [HALF] == [*plain["markets"]]
    assert [HALF, WHOLE, LEVEL] == [*every["markets"]]
    assert plain["markets"][HALF] == every["markets"][HALF]
    assert [None, True, True] == [it["surebet"].get("weak") for it in every["markets"].values()]


async def test_changes_lead_to_the_end_of_a_weak_surebet(site: Site) -> None:
    """The removal has its reason, in a list of one market and in a list of any market."""
    await listed(site)
    for market in (WHOLE, "any"):
        asked = f"view=surebets&market={market}&weak=1"
        first = await site.json(f"{SUREBETS}?market={market}&weak=1")
        site.publish("alder", match("m1"), of(WHOLE, (2.3, 1.7)))
        changed = await site.json(f"{CHANGES}?{asked}&since={first['cursor']}")
        site.publish("alder", match("m1"), of(WHOLE, (1.8, 1.8)))
        gone = await site.json(f"{CHANGES}?{asked}&since={changed['cursor']}")
        plain = await site.json(f"{CHANGES}?view=surebets&market={market}&since={first['cursor']}")
        await listed(site)

        (fixture,) = changed["fixtures"]
        fixture = fixture["markets"][WHOLE] if "markets" in fixture else fixture
        assert 2.3 == fixture["surebet"]["legs"][0]["odds"]
        assert ["gone"] == [removed["reason"] for removed in gone["removed"]]
        assert ([], []) == (plain["fixtures"], plain["removed"])


async def test_a_weak_surebet_ends_when_a_leg_is_too_old(site: Site) -> None:
    """The end comes by time alone and has a version of its own, as for any surebet."""
    await listed(site)
    path = f"{SUREBETS}?market={WHOLE}&weak=1"
    first = await site.json(path)
    until = first["fixtures"][0]["surebet"]["until"]
    site.clock.pass_(until - site.clock.now().wall - 1)
    site.publish("cedar", match("m2"))
    site.clock.pass_(1)
    gone = await site.json(f"{CHANGES}?view=surebets&market={WHOLE}&weak=1&since={first['cursor']}")

    assert 0 == (await site.json(path))["fixtures_count"]
    assert gone["version"] > first["version"]
    assert 1 == len(gone["removed"])


async def test_the_stream_has_weak_surebets(site: Site) -> None:
    """The snapshot of the stream equals the list."""
    await listed(site)
    async with streaming(site.base, f"?view=surebets&market={WHOLE}&weak=1") as connection:
        first = await connection.event()

    assert [True] == [fixture["surebet"]["weak"] for fixture in first.data["fixtures"]]
    assert (await site.json(f"{SUREBETS}?market={WHOLE}&weak=1"))["fixtures"] == first.data["fixtures"]


async def test_some_bookmakers_have_a_weak_surebet_of_their_own(site: Site) -> None:
    """The surebet is made of the prices of the chosen bookmakers only."""
    site.publish("cedar", match("m1"), of(WHOLE, (2.3, 1.7)))
    await listed(site)
    found = {}
    for names in ("alder,birch", "alder,cedar", "birch,cedar"):
        asked = f"{SUREBETS}?market={WHOLE}&weak=1&bookmaker={names}"
        found[names] = [
            [leg["odds"] for leg in fixture["surebet"]["legs"]]
            for fixture in (await site.json(asked))["fixtures"]
        ]

    assert {"alder,birch": [[2.2, 2.1]], "alder,cedar": [[2.3, 1.8]], "birch,cedar": [[2.3, 2.1]]} == found


async def test_a_weak_surebet_that_is_too_good_is_doubted(site: Site) -> None:
    """The usual gain decides on the doubt."""
    site.publish("alder", match("m1"), of(WHOLE, (2.4, 1.85)))
    site.publish("birch", match("m1"), of(WHOLE, (1.95, 2.4)))
    await stood(site)
    (fixture,) = (await site.json(f"{SUREBETS}?market={WHOLE}&weak=1&doubted=1"))["fixtures"]
    plain = await site.json(f"{SUREBETS}?market={WHOLE}&weak=1")

    assert fixture["surebet"] is None
    assert (True, 0.0, ["profit"]) == tuple(
        fixture["doubted"][name] for name in ("weak", "profit", "doubts")
    )
    assert pytest.approx(0.2, abs=1e-6) == fixture["doubted"]["usual_profit"]
    assert 0 == plain["fixtures_count"]


async def test_the_list_with_doubted_ones_has_another_tag_when_a_weak_one_begins(site: Site) -> None:
    """The tag changes although no fixture changed."""
    site.publish("alder", match("m1"), of(WHOLE, (2.2, 1.8)))
    site.publish("birch", match("m1"), of(WHOLE, (1.8, 2.1)))
    path = f"{SUREBETS}?market={WHOLE}&weak=1&doubted=1"
    before = await site.get(path)
    await stood(site)
    after = await site.get(path)

    assert [0, 1] == [answer.json()["fixtures_count"] for answer in (before, after)]
    assert before.headers["etag"] != after.headers["etag"]


@pytest.mark.parametrize(
    "path",
    [
        f"{SUREBETS}?weak=0",
        f"{SUREBETS}?weak=1&weak=1",
        f"{CHANGES}?weak=1&since=1",
        f"{CHANGES}?view=fixtures&weak=1&since=1",
        "/api/v2/stream?view=surebets&weak=yes",
    ],
)
async def test_weak_is_1_and_of_surebets(site: Site, path: str) -> None:
    """Any other value of `weak`, or `weak` elsewhere, is refused."""
    answer = await site.get(path)

    assert (400, "invalid_weak") == (answer.status_code, answer.json()["code"])
