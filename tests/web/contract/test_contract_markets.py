"""Markets other than 1X2 over HTTP (docs/api.md): their lists, changes, versions and tags."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from actors.core.cooperative import run_now
from actors.core.messages import Match
from actors.markets.market import Kind, parsed
from tests.support.builders.messages import batch, match
from tests.support.peers.stream_client import streaming
from tests.support.systems.site import Site, open_site

pytestmark = pytest.mark.anyio

OVER, HANDICAP = "over_under:2.5", "asian_handicap:-0.75"
FIXTURES, SUREBETS, MARKETS = "/api/v2/fixtures", "/api/v2/surebets", "/api/v2/markets"


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """Serve a board that reads all kinds of market."""
    async with open_site(kinds=[*Kind]) as site:
        yield site


def of(market: str, odds: Sequence[float], match_id: str = "m1") -> Match:
    """Return a market of a match with these odds."""
    return match(match_id).of_market(parsed(market), tuple(odds))


async def test_a_market_has_its_outcomes_in_place_of_those_of_1x2(site: Site) -> None:
    """The fixture is the fixture of the 1X2 prices; an entry has the id of the match's entry."""
    site.publish("alder", match("m1"), of(OVER, (1.9, 2.0)))
    site.publish("birch", match("m1"), of(OVER, (1.95, 1.9)))
    (usual,) = (await site.json(FIXTURES))["fixtures"]
    found = await site.json(f"{FIXTURES}?market={OVER}")

    (fixture,) = found["fixtures"]
    assert (OVER, OVER) == (found["market"], fixture["market"])
    assert [usual[name] for name in ("id", "home", "start_time")] == [
        fixture[name] for name in ("id", "home", "start_time")
    ]
    assert {"over": 1.9, "under": 2.0} == fixture["entries"][0]["odds"]
    assert ["alder_m1", "birch_m1"] == [entry["id"] for entry in fixture["entries"]]
    assert {"over": 1.95, "under": 2.0} == {name: best["odds"] for name, best in fixture["best"].items()}


async def test_ages_of_a_market_are_its_own(site: Site) -> None:
    """Entries have their usual ids; a fixture that does not have the market has no ages."""
    site.publish("alder", match("m1"), of(OVER, (1.9, 2.0)))
    (fixture,) = (await site.json(FIXTURES))["fixtures"]
    path = f"{FIXTURES}/{fixture['id']}/ages"
    usual, found = await site.json(path), await site.json(f"{path}?market={OVER}")
    refused = [(await site.get(f"{path}?market={name}")) for name in (HANDICAP, "over_under:main")]

    assert (OVER, fixture["id"], ["alder_m1"]) == (found["market"], found["id"], [*found["entries"]])
    assert "market" not in usual
    assert usual["entries"] == found["entries"]
    assert [404, 400] == [answer.status_code for answer in refused]


async def test_1x2_is_as_without_other_markets(site: Site) -> None:
    """The body of 1X2 has no new members; a change of another market keeps its version and tag."""
    site.publish("alder", match("m1"), of(OVER, (1.9, 2.0)))
    before = await site.get(FIXTURES)
    site.publish("alder", match("m1"), of(OVER, (1.8, 2.1)))
    after, other = await site.get(FIXTURES), await site.json(f"{FIXTURES}?market={OVER}")

    assert "market" not in before.json()["fixtures"][0]
    assert (before.content, before.headers["etag"]) == (after.content, after.headers["etag"])
    assert other["version"] > after.json()["version"]


async def test_tags_of_two_markets_differ(site: Site) -> None:
    """Lists of two markets may have the same version, but not the same tag."""
    site.publish("alder", match("m1"), of(OVER, (1.9, 2.0)), of("btts", (1.9, 2.0)))
    tags = [(await site.get(f"{FIXTURES}?market={name}")).headers["etag"] for name in (OVER, "btts")]
    again = await site.get(f"{FIXTURES}?market={OVER}", if_none_match=tags[0])

    assert tags[0] != tags[1]
    assert 304 == again.status_code


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("over_under:2.50", "must be spelled over_under:2.5"),
        ("over_under", "needs a line"),
        ("corners", "must be 1x2"),
        ("", "must be 1x2"),
        (f"{OVER}&market=btts", "given 2 times"),
        ("btts:main", "must be a number"),
    ],
)
async def test_another_spelling_is_refused(site: Site, asked: str, said: str) -> None:
    """The answer says what is allowed."""
    answer = await site.get(f"{FIXTURES}?market={asked}")

    assert (400, "invalid_market") == (answer.status_code, answer.json()["code"])
    assert said in answer.json()["detail"]


async def test_a_market_that_nobody_lists_is_empty(site: Site) -> None:
    """Such a list is no error: somebody may list the market soon."""
    site.publish("alder", match("m1"))
    found = await site.json(f"{FIXTURES}?market={OVER}")

    assert (0, f"nobody lists the market {OVER} now") == (found["fixtures_count"], found["note"])


async def test_note_of_a_market_is_of_what_the_view_shows(site: Site) -> None:
    """Prices of another bookmaker do not change a view that does not show them, so a tag has one body."""
    site.publish("alder", match("m1"))
    paths = [f"{path}?market={OVER}&bookmaker=alder" for path in (FIXTURES, "/api/v2/surebets")]
    before = [await site.get(path) for path in paths]
    site.publish("birch", match("m1"), of(OVER, (1.9, 2.0)))
    after = [await site.get(path) for path in paths]

    assert [answer.headers["etag"] for answer in before] == [answer.headers["etag"] for answer in after]
    assert [answer.content for answer in before] == [answer.content for answer in after]
    assert f"alder does not list the market {OVER} now" == before[0].json()["note"]


async def test_changes_are_of_the_market_alone(site: Site) -> None:
    """If the market leaves but the match stays, the removal has a reason of its own."""
    site.publish("alder", match("m1"), of(OVER, (1.9, 2.0)), of("over_under:3.5", (2.9, 1.4)))
    first = (await site.json(f"{FIXTURES}?market={OVER}"))["cursor"]
    asked = f"/api/v2/changes?view=fixtures&market={OVER}&since="
    site.publish("alder", match("m1"), of(OVER, (1.9, 2.0)), of("over_under:3.5", (3.0, 1.4)))
    unchanged = await site.json(f"{asked}{first}")
    site.publish("alder", match("m1"), of("over_under:3.5", (3.0, 1.4)))
    gone = await site.json(f"{asked}{unchanged['cursor']}")

    assert ([], []) == (unchanged["fixtures"], unchanged["removed"])
    assert ["no_market"] == [removed["reason"] for removed in gone["removed"]]
    assert " " not in gone["removed"][0]["id"]


async def test_a_cursor_of_one_market_is_one_of_all(site: Site) -> None:
    """All kinds of market count their versions with one counter."""
    site.publish("alder", match("m1"), of(OVER, (1.9, 2.0)))
    site.publish("alder", match("m1"), of(OVER, (1.8, 2.0)))
    cursor = (await site.json(f"{FIXTURES}?market={OVER}"))["cursor"]
    site.publish("alder", match("m1", prices=(2.1, 3.5, 4.0)), of(OVER, (1.8, 2.0)))
    changes = await site.json(f"/api/v2/changes?view=fixtures&since={cursor}")
    refused = await site.get(f"/api/v2/changes?view=fixtures&since={10**15}")

    assert 1 == len(changes["fixtures"])
    assert 410 == refused.status_code


async def test_a_market_that_alone_is_overdue_is_withdrawn(site: Site) -> None:
    """The overdue market leaves before a list of it is made, although the list of 1X2 is confirmed."""
    site.publish("alder", match("m1"), of(OVER, (1.9, 2.0)))
    site.clock.pass_(20)
    confirmed = batch(
        [match("m1")], kinds=(Kind.ONE_X_TWO,), list_id="later", received_mono=site.clock.mono
    )
    board = site.published.board()
    run_now(board.apply(confirmed, site.clock.now()))
    site.published.commit(board)
    before = await site.json(MARKETS)
    site.clock.pass_(20)
    after = await site.json(MARKETS)

    assert [["1x2", OVER], ["1x2"]] == [
        [of["market"] for of in found["markets"]] for found in (before, after)
    ]


async def test_the_main_line_is_that_of_most_bookmakers(site: Site) -> None:
    """When another line becomes the main line, the fixture changes; it does not leave."""
    site.publish("alder", match("m1"), of(OVER, (1.9, 2.0)), of("over_under:3.5", (2.9, 1.4)))
    site.publish("birch", match("m1"), of(OVER, (1.9, 2.0)))
    first = await site.json(f"{FIXTURES}?market=over_under:main")
    site.publish("birch", match("m1"), of("over_under:3.5", (2.8, 1.45)))
    site.publish("cedar", match("m1"), of("over_under:3.5", (2.8, 1.45)))
    asked = f"/api/v2/changes?view=fixtures&market=over_under:main&since={first['cursor']}"
    changes = await site.json(asked)
    site.publish("alder", match("m1"))
    site.publish("birch", match("m1"))
    site.publish("cedar", match("m1"))
    gone = await site.json(asked)

    assert [(OVER, True)] == [(fixture["market"], fixture["main"]) for fixture in first["fixtures"]]
    assert (["over_under:3.5"], []) == ([it["market"] for it in changes["fixtures"]], changes["removed"])
    assert ([], ["no_market"]) == (gone["fixtures"], [removed["reason"] for removed in gone["removed"]])


async def test_a_main_line_whose_surebet_ends_leaves_the_surebets(site: Site) -> None:
    """The fixture still has its main line, but leaves the list of surebets."""
    asked = "view=surebets&market=over_under:main"
    site.publish("alder", match("m1"), of(OVER, (2.2, 1.8)))
    site.publish("birch", match("m1"), of(OVER, (1.8, 2.2)))
    site.clock.pass_(2)
    site.apply()
    first = await site.json(f"{SUREBETS}?market=over_under:main")
    site.publish("birch", match("m1"), of(OVER, (1.9, 1.8)))
    gone = await site.json(f"/api/v2/changes?{asked}&since={first['cursor']}")

    (fixture,) = first["fixtures"]
    assert [fixture["id"]] == [removed["id"] for removed in gone["removed"]]


async def test_a_handicap_that_has_begun_is_another_bet(site: Site) -> None:
    """The prices of a handicap in play are shown, but they have no best price and no fair odds."""
    start = int(site.clock.now().wall) + 10
    for name in ("alder", "birch", "cedar"):
        usual = match("m1", start_time=start)
        site.publish(name, usual, usual.of_market(parsed(HANDICAP), (1.9, 2.0)))
    (before,) = (await site.json(f"{FIXTURES}?market={HANDICAP}"))["fixtures"]
    site.clock.pass_(11)
    (after,) = (await site.json(f"{FIXTURES}?market={HANDICAP}"))["fixtures"]

    assert before["best"]["home"]["odds"] == 1.9
    assert before["fair"]["conditional"] == "not_returned"
    assert {"home": None, "away": None} == after["best"]
    assert (None, "in_play_rule", "from_now") == (
        after["fair"],
        after["fair_reason"],
        after["in_play_rule"],
    )


async def test_the_markets_on_the_board_are_listed(site: Site) -> None:
    """Markets are ordered by kind and then by line; the markets of one fixture can be listed as well."""
    site.publish("alder", match("m1"), of("over_under:3.5", (2.9, 1.4)), of(OVER, (1.9, 2.0)), match("m2"))
    (usual, *_) = (await site.json(FIXTURES))["fixtures"]
    every = await site.json(MARKETS)
    of_one = await site.json(f"{MARKETS}?fixture={usual['id']}")
    nobody = await site.json(f"{MARKETS}?fixture=fx")
    tag = (await site.get(MARKETS)).headers["etag"]

    assert [("1x2", 2), (OVER, 1), ("over_under:3.5", 1)] == [
        (found["market"], found["fixtures_count"]) for found in every["markets"]
    ]
    assert [None, 2.5, 3.5] == [found["line"] for found in every["markets"]]
    assert {1} == {found["fixtures_count"] for found in of_one["markets"]}
    assert ([], 0) == (nobody["markets"], nobody["markets_count"])
    assert 304 == (await site.get(MARKETS, if_none_match=tag)).status_code


async def test_the_stream_has_a_market(site: Site) -> None:
    """The snapshot of the stream equals the list."""
    site.publish("alder", match("m1"), of("btts", (1.9, 2.0)))
    async with streaming(site.base, "?view=fixtures&market=btts") as connection:
        first = await connection.event()

    assert (await site.json(f"{FIXTURES}?market=btts"))["fixtures"] == first.data["fixtures"]
    assert {"yes": 1.9, "no": 2.0} == first.data["fixtures"][0]["entries"][0]["odds"]


async def test_several_markets_stand_by_their_names(site: Site) -> None:
    """A fixture has its names once, and for each market the members of that market."""
    site.publish("alder", match("m1"), of(OVER, (1.9, 2.0)), of("btts", (1.8, 2.1)))
    site.publish("birch", match("m2"))
    found = await site.json(f"{FIXTURES}?market=1x2,{OVER},btts")
    every = await site.json(f"{FIXTURES}?market=main")

    by_home = [{*fixture["markets"]} for fixture in found["fixtures"]]
    assert sorted([["1x2", "btts", OVER], ["1x2"]], key=len) == sorted(map(sorted, by_home), key=len)
    fixture = next(fixture for fixture in found["fixtures"] if OVER in fixture["markets"])
    assert {"over": 1.9, "under": 2.0} == fixture["markets"][OVER]["entries"][0]["odds"]
    assert "entries" not in fixture
    assert "home" not in fixture["markets"][OVER]
    assert {OVER, "btts", "1x2"} == {name for it in every["fixtures"] for name in it["markets"]}


async def test_several_markets_have_changes_and_a_tag(site: Site) -> None:
    """If one market changes, the fixture is sent with all; it leaves when its last market leaves."""
    site.publish("alder", match("m1"), of(OVER, (1.9, 2.0)), of("btts", (1.8, 2.1)))
    url = f"{FIXTURES}?market={OVER},btts"
    first = await site.get(url)
    again = await site.get(url, if_none_match=first.headers["etag"])
    asked = f"/api/v2/changes?view=fixtures&market={OVER},btts&since="
    cursor = first.json()["cursor"]
    site.publish("alder", match("m1", prices=(2.1, 3.5, 4.0)), of(OVER, (1.9, 2.0)), of("btts", (1.8, 2.1)))
    nothing = await site.json(f"{asked}{cursor}")
    site.publish("alder", match("m1"), of(OVER, (1.9, 2.0)), of("btts", (1.7, 2.1)))
    changed = await site.json(f"{asked}{cursor}")
    site.publish("alder", match("m1"))
    gone = await site.json(f"{asked}{changed['cursor']}")

    assert 304 == again.status_code
    assert ([], []) == (nothing["fixtures"], nothing["removed"])
    assert [[OVER, "btts"]] == [[*fixture["markets"]] for fixture in changed["fixtures"]]
    assert ["no_market"] == [removed["reason"] for removed in gone["removed"]]


async def test_surebets_of_any_market_are_one_list(site: Site) -> None:
    """Each line has a surebet of its own, and each leg names its market."""
    site.publish("alder", match("m1"), of(OVER, (2.2, 1.8)), of("over_under:3.5", (3.4, 1.4)))
    site.publish("birch", match("m1"), of(OVER, (1.8, 2.2)), of("over_under:3.5", (2.9, 1.6)))
    site.clock.pass_(2)
    site.apply()
    found = await site.json(f"{SUREBETS}?market=any")
    refused = await site.get(f"{FIXTURES}?market=any")

    (fixture,) = found["fixtures"]
    assert [OVER, "over_under:3.5"] == [*fixture["markets"]]
    assert {OVER} == {leg["market"] for leg in fixture["markets"][OVER]["surebet"]["legs"]}
    assert ["over", "under"] == [leg["outcome"] for leg in fixture["markets"][OVER]["surebet"]["legs"]]
    assert 400 == refused.status_code


@pytest.mark.parametrize("asked", ["btts,btts", ",".join(f"over_under:{n}.5" for n in range(11)), "btts,"])
async def test_too_many_markets_are_refused(site: Site, asked: str) -> None:
    """A request may name up to ten markets, each once."""
    answer = await site.get(f"{FIXTURES}?market={asked}")

    assert (400, "invalid_market") == (answer.status_code, answer.json()["code"])


async def test_one_fixture_has_its_other_markets(site: Site) -> None:
    """Markets stand by name; a match without other markets has no member for them."""
    site.publish("alder", match("m1"), of(OVER, (1.9, 2.0)), of("btts", (1.8, 2.1)), match("m2"))
    first, second = (it["id"] for it in (await site.json(FIXTURES))["fixtures"])
    both = [await site.get(f"{FIXTURES}/{name}") for name in (first, second)]
    with_markets, without = sorted(both, key=lambda answer: "markets" not in answer.json()["fixture"])
    path = with_markets.request.url.path
    again = await site.get(path, if_none_match=with_markets.headers["etag"])
    site.publish("alder", match("m1"), of(OVER, (1.8, 2.0)), match("m2"))
    after = await site.json(path)

    assert [OVER, "btts"] == [*with_markets.json()["fixture"]["markets"]]
    assert {"1", "X", "2"} == {*with_markets.json()["fixture"]["best"]}
    assert "markets" not in without.json()["fixture"]
    assert 304 == again.status_code
    assert after["version"] > with_markets.json()["version"]
    assert [OVER] == [*after["fixture"]["markets"]]
