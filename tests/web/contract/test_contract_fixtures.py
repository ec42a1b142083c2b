"""Fixtures over HTTP: forms, filters, versions and tags, single fixtures, changes and refusals."""

from __future__ import annotations

import gzip
import re
from typing import Any

import pytest
from msgspec.structs import replace

from actors.matches.model import fixtures_of
from actors.matching.event import FixtureId
from tests.support.builders.messages import match
from tests.support.peers.stream_client import streaming
from tests.support.systems.site import EPOCH, FIRST_VERSION, Site
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

FIXTURES, SUREBETS = "/api/v2/fixtures", "/api/v2/surebets"
START = int(WALL_0) + 86_400


def _publish(empty_site: Site) -> None:
    """List a match at two bookmakers whose prices are a surebet, and another match at a third."""
    empty_site.publish("alder", match("m1", prices=(2.2, 3.9, 3.0)))
    empty_site.publish("birch", match("m1", prices=(2.0, 3.0, 4.2)))
    empty_site.publish("cedar", match("m2", home="Other", league=None, start_time=START + 3600))


def _wait(empty_site: Site, seconds: float) -> None:
    """Let time pass, and commit at its end as the aggregator's turn does."""
    empty_site.clock.pass_(seconds)
    empty_site.apply()


async def test_bookmakers_stand_side_by_side(empty_site: Site) -> None:
    """A fixture has entries in configured order, the best prices, and its names once."""
    _publish(empty_site)
    body = await empty_site.json(FIXTURES)
    first, second = body["fixtures"]

    assert (2, FIRST_VERSION + 3) == (body["fixtures_count"], body["version"])
    assert ["alder_m1", "birch_m1"] == [entry["id"] for entry in first["entries"]]
    assert {"odds": 2.2, "bookmakers": ["Alder"], "ids": ["alder_m1"]} == first["best"]["1"]
    assert {"odds": 4.2, "bookmakers": ["Birch & Söhne"], "ids": ["birch_m1"]} == first["best"]["2"]
    assert ("Home", "Away", "League", START) == tuple(
        first[name] for name in ("home", "away", "league", "start_time")
    )
    assert ("Unknown", None, None) == (second["league"], second["fair"], second["surebet"])


async def test_surebet_appears_and_goes_with_time_alone(empty_site: Site) -> None:
    """A surebet begins in a commit without other changes, and a read after its end does not show it."""
    _publish(empty_site)
    odds = (await empty_site.json("/api/v2/odds?bookmaker=alder"))["version"]
    empty = await empty_site.json(SUREBETS)
    _wait(empty_site, 2)
    shown = await empty_site.json(SUREBETS)
    found = shown["fixtures"][0]["surebet"]
    whole = await empty_site.json(FIXTURES)
    still = (await empty_site.json("/api/v2/odds?bookmaker=alder"))["version"]
    empty_site.clock.pass_(28)
    gone = await empty_site.get(SUREBETS)

    assert (0, FIRST_VERSION) == (empty["fixtures_count"], empty["version"])
    assert (1, whole["version"]) == (shown["fixtures_count"], shown["version"])
    assert ["1", "X", "2"] == [leg["outcome"] for leg in found["legs"]]
    assert ["Alder", "Alder", "Birch & Söhne"] == [leg["bookmaker"] for leg in found["legs"]]
    assert WALL_0 == found["since"]
    assert odds == still
    assert 503 == gone.status_code


async def test_view_of_a_bookmaker_shows_fixtures_whole(empty_site: Site) -> None:
    """A bookmaker chooses the fixtures that it lists; each has the entries of all bookmakers."""
    _publish(empty_site)
    body = await empty_site.json(f"{FIXTURES}?bookmaker=birch")
    (fixture,) = body["fixtures"]

    assert (FIRST_VERSION + 2, 2) == (body["version"], len(fixture["entries"]))


@pytest.mark.parametrize(
    ("query", "homes"),
    [
        ("league=League", ["Home"]),
        ("league=Unknown", ["Other"]),
        ("league=league", []),
        (f"from={START}", ["Home", "Other"]),
        (f"from={START + 1}", ["Other"]),
        (f"to={START + 3600}", ["Home"]),
        (f"from={START}&to={START}", []),
        ("min_profit=0.05", ["Home"]),
        (f"min_profit={1 / (1 / 2.2 + 1 / 3.9 + 1 / 4.2) - 1:.6f}", ["Home"]),
        ("min_profit=0.06", []),
        ("min_profit=0", ["Home"]),
    ],
)
async def test_filters_choose_and_keep_the_version(empty_site: Site, query: str, homes: list[str]) -> None:
    """A filter shows some fixtures of the whole view, and has the version and tag of that view."""
    _publish(empty_site)
    _wait(empty_site, 2)
    whole = await empty_site.get(FIXTURES)
    chosen = await empty_site.get(f"{FIXTURES}?{query}")
    packed = await empty_site.raw("GET", f"{FIXTURES}?{query}", "Accept-Encoding: gzip")
    known = await empty_site.get(f"{FIXTURES}?{query}", if_none_match=whole.headers["ETag"])

    assert homes == [fixture["home"] for fixture in chosen.json()["fixtures"]]
    assert (len(homes), whole.json()["version"]) == (
        chosen.json()["fixtures_count"],
        chosen.json()["version"],
    )
    assert whole.headers["ETag"] == chosen.headers["ETag"]
    assert chosen.content == gzip.decompress(packed.body)
    assert 304 == known.status_code


async def test_lists_have_tags_and_codings(empty_site: Site) -> None:
    """A tag that still holds gets 304, and both codings have the same content, as for the odds."""
    _publish(empty_site)
    plain = await empty_site.get(FIXTURES)
    packed = await empty_site.raw("GET", FIXTURES, "Accept-Encoding: gzip")
    known = await empty_site.get(FIXTURES, if_none_match=plain.headers["ETag"])
    tag = f"{FIRST_VERSION + 3}-{EPOCH}"

    assert (f'"{tag}"', f'"{tag}-gzip"') == (plain.headers["ETag"], packed.headers["etag"])
    assert plain.content == gzip.decompress(packed.body)
    assert (304, b"") == (known.status_code, known.content)


async def test_one_fixture_has_its_links(empty_site: Site) -> None:
    """The fixture equals its entry in the list, and has the rule of each link; an unknown id is 404."""
    _publish(empty_site)
    listed = (await empty_site.json(FIXTURES))["fixtures"][0]
    response = await empty_site.get(f"{FIXTURES}/{listed['id']}")
    known = await empty_site.get(f"{FIXTURES}/{listed['id']}", if_none_match=response.headers["ETag"])
    unknown = await empty_site.get(f"{FIXTURES}/fxaaaaaaaaaaaaa")
    (link,) = response.json()["links"]

    assert listed == response.json()["fixture"]
    names = {"home": "Home", "away": "Away", "league": "League", "start_time": START}
    of_link = {"rule": "first", "to": None, "evidence": None}
    assert {"source": "feed", "source_match_id": "m1", **names, **of_link} == link
    assert (304, 404) == (known.status_code, unknown.status_code)
    assert "not_found" == unknown.json()["code"]


async def test_id_of_another_event_leads_to_the_fixture_that_has_it(empty_site: Site) -> None:
    """The redirect keeps the query, and its address is relative, so that a proxy's prefix stays."""
    _publish(empty_site)
    snapshot = empty_site.published.newest
    fixture, *_ = fixtures_of(snapshot)
    key, other = fixture.members[0].key, FixtureId("fxbbbbbbbbbbbbb")
    derived = fixtures_of(snapshot).derived.set(other, key)
    empty_site.published.publish(
        replace(snapshot, fixtures=replace(fixtures_of(snapshot), derived=derived))
    )

    found = await empty_site.get(f"{FIXTURES}/{other}?fair=birch")

    assert (303, f"{fixture.id}?fair=birch") == (found.status_code, found.headers["Location"])
    assert 200 == (await empty_site.get(f"{FIXTURES}/{found.headers['Location']}")).status_code


async def test_one_fixture_has_tags_and_codings_as_the_list_has(empty_site: Site) -> None:
    """The tags of a fixture are the tags of the list, and each coding has a tag of its own."""
    _publish(empty_site)
    whole = await empty_site.get(FIXTURES)
    path = f"{FIXTURES}/{whole.json()['fixtures'][0]['id']}"
    plain = await empty_site.get(path)
    packed = await empty_site.raw("GET", path, "Accept-Encoding: gzip")
    tag = packed.headers["etag"]
    known = await empty_site.raw("GET", path, "Accept-Encoding: gzip", f"If-None-Match: {tag}")
    refused = await empty_site.raw("GET", path, "Accept-Encoding: identity;q=0, br")

    assert plain.content == gzip.decompress(packed.body)
    assert (whole.headers["ETag"], "Accept-Encoding") == (plain.headers["ETag"], plain.headers["Vary"])
    assert ("gzip", True) == (packed.headers["content-encoding"], tag.endswith('-gzip"'))
    assert (304, 406) == (known.status, refused.status)


async def test_openapi_links_to_the_changes_of_the_same_view(empty_site: Site) -> None:
    """A link to another view would lead to changes of matches, not of fixtures."""
    paths = (await empty_site.json("/openapi.json"))["paths"]
    views = [
        [
            link["parameters"].get("view")
            for link in paths[path]["get"]["responses"]["200"]["links"].values()
        ]
        for path in ("/api/v2/odds", FIXTURES, SUREBETS)
    ]

    assert [[None], ["fixtures"], ["surebets"]] == views


async def test_ages_are_told_apart_from_bodies(empty_site: Site) -> None:
    """Ages have the confirmation and the last change of each price, and no cache keeps them."""
    empty_site.publish("alder", match("m1"))
    empty_site.clock.pass_(5)
    empty_site.publish("birch", match("m1", prices=(2.0, 3.0, 4.2)))
    empty_site.publish("alder", match("m1"))
    empty_site.clock.pass_(2)
    (fixture,) = (await empty_site.json(FIXTURES))["fixtures"]
    response = await empty_site.get(f"/api/v2/fixtures/{fixture['id']}/ages")
    unknown = await empty_site.get("/api/v2/fixtures/fxaaaaaaaaaaaaa/ages")

    changed = {entry["id"]: entry["updated"] for entry in fixture["entries"]}
    assert {
        name: {"confirmed_at": WALL_0 + 5, "updated": changed[name]} for name in ("alder_m1", "birch_m1")
    } == response.json()["entries"]
    assert ("no-store", 404) == (response.headers["Cache-Control"], unknown.status_code)


async def test_changes_lead_to_the_list(empty_site: Site) -> None:
    """The changes since a version name the present fixtures, and the removed fixtures with reasons."""
    _publish(empty_site)
    since = (await empty_site.json(FIXTURES))["version"]
    (home, other) = (await empty_site.json(FIXTURES))["fixtures"]
    empty_site.publish("alder", match("m1", prices=(2.3, 3.9, 3.0)))
    empty_site.publish("cedar")
    body = await empty_site.json(f"/api/v2/changes?since={since}&view=fixtures")
    of_cedar = await empty_site.json(f"/api/v2/changes?since={since}&view=fixtures&bookmaker=cedar")
    listed = await empty_site.json(FIXTURES)

    assert listed["fixtures"] == body["fixtures"]
    assert home["id"] == listed["fixtures"][0]["id"]
    gone = {"id": other["id"], "reason": "ended", "version": listed["version"]}
    assert [gone] == body["removed"] == of_cedar["removed"]
    assert (listed["version"], since) == (body["version"], body["since"])
    assert [] == of_cedar["fixtures"]


async def test_stream_of_a_view_begins_with_its_list(empty_site: Site) -> None:
    """The first event is the list of the view; the next events are its changes."""
    _publish(empty_site)
    async with streaming(empty_site.base, "?view=fixtures") as connection:
        first = await connection.event()
        empty_site.publish("alder", match("m1", prices=(2.3, 3.9, 3.0)))
        second = await connection.event()

    assert ("snapshot", f"{FIRST_VERSION + 3}-{EPOCH}", 2) == (
        *(first.name, first.id),
        first.data["fixtures_count"],
    )
    assert ("changes", [2.3]) == (second.name, [it["best"]["1"]["odds"] for it in second.data["fixtures"]])


async def test_choice_that_is_not_of_times_has_matches_without_a_kick_off(empty_site: Site) -> None:
    """Matches without a kick-off are last; a filter by league or profit finds them."""
    empty_site.publish("alder", match("m1", prices=(2.2, 3.9, 3.0), start_time=None))
    empty_site.publish("birch", match("m1", prices=(2.0, 3.0, 4.2), start_time=None))
    _wait(empty_site, 2)
    queries = ("league=League", "min_profit=0.01", "bookmaker=alder&league=League", "to=2000000000")
    counts = [(await empty_site.json(f"/api/v2/surebets?{query}"))["fixtures_count"] for query in queries]

    assert [1, 1, 1, 0] == counts


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("/api/v2/changes?since=5000&view=odds", "invalid_view"),
        ("/api/v2/changes?since=5000&view=fixtures&league=a", "invalid_league"),
        ("/api/v2/changes?since=5000&view=surebets&min_profit=0.1", "invalid_min_profit"),
        ("/api/v2/stream?view=fixtures&from=1", "invalid_from"),
        ("/api/v2/stream?view=surebets&view=surebets", "invalid_view"),
        (f"{FIXTURES}?from=2026-11-22", "invalid_from"),
        (f"{FIXTURES}?to=1e9", "invalid_to"),
        (f"{FIXTURES}?to=1&to=2", "invalid_to"),
        (f"{SUREBETS}?min_profit=-1", "invalid_min_profit"),
        (f"{SUREBETS}?min_profit=nan", "invalid_min_profit"),
        (f"{FIXTURES}?bookmaker=nobody", "invalid_bookmaker"),
        (f"{SUREBETS}?fair=nobody", "invalid_fair"),
        (f"{SUREBETS}?doubted=", "invalid_doubted"),
        (f"{SUREBETS}?doubted=1&doubted=1", "invalid_doubted"),
        ("/api/v2/stream?view=surebets&doubted=1", "invalid_doubted"),
        (f"{FIXTURES}/fxaaaaaaaaaaaaa?fair=nobody", "invalid_fair"),
        (f"{FIXTURES}?at=5000", "invalid_at"),
        (f"{SUREBETS}?at=5000", "invalid_at"),
        (f"{FIXTURES}/fxaaaaaaaaaaaaa?at=5000", "invalid_at"),
        ("/api/v2/changes?since=5000&view=fixtures&fair=alder", "invalid_fair"),
    ],
)
async def test_what_is_not_allowed_is_refused(empty_site: Site, target: str, code: str) -> None:
    """Each fault has a code of its own, and the service does not guess the meaning."""
    response = await empty_site.get(target)

    assert (400, code) == (response.status_code, response.json()["code"])


@pytest.mark.parametrize("given", ["999", "999.999999999", "1000", "0.0000000001", "1e-2", "0", ".5"])
async def test_least_profit_is_what_is_published(empty_site: Site, given: str) -> None:
    """The published pattern describes exactly the profits that are accepted."""
    empty_site.publish("alder", match("m1"))
    schema = await _published(empty_site, "min_profit")
    is_described = re.search(schema["pattern"], given) is not None
    response = await empty_site.get(f"{SUREBETS}?min_profit={given}")

    assert is_described == (response.status_code == 200)


@pytest.mark.parametrize("name", ["from", "to"])
@pytest.mark.parametrize("given", [-(10**12), 1 - 10**12, 0, 10**12 - 1, 10**12])
async def test_times_are_what_is_published(empty_site: Site, name: str, given: int) -> None:
    """The published bounds describe exactly the times that are accepted."""
    empty_site.publish("alder", match("m1"))
    schema, _ = (await _published(empty_site, name))["anyOf"]
    response = await empty_site.get(f"{FIXTURES}?{name}={given}")

    assert (schema["minimum"] <= given <= schema["maximum"]) == (response.status_code == 200)


@pytest.mark.parametrize(
    ("begins", "ends", "count"),
    [
        ("2033-05-18T03:33:20Z", "2033-05-18T03:33:21Z", 1),  # 2,000,000,000 in Unix time
        ("2033-05-18T03:33:20.5Z", "2033-05-18T03:33:21Z", 0),
        ("2033-05-18t05:33:20%2B02:00", "2033-05-18T05:33:21+02:00", 1),  # a "+" may be escaped or not
        ("2033-05-17T22:33:20-05:00", "2000000001", 1),
    ],
)
async def test_times_may_be_those_of_rfc_3339(empty_site: Site, begins: str, ends: str, count: int) -> None:
    """A time has an offset, which says where it is meant."""
    empty_site.publish("alder", match("m1", start_time=2_000_000_000))
    _wait(empty_site, 2)
    found = await empty_site.json(f"{FIXTURES}?from={begins}&to={ends}")

    assert count == found["fixtures_count"]


@pytest.mark.parametrize(
    "given",
    *[
        [
            *("2033-05-18", "2033-05-18T03:33:20", "20330518T033320Z"),
            *("2033-02-30T03:33:20Z", "2033-05-18T24:00:01Z", "2033-05-18T03:33:20+24:00", "2033-W20-3"),
        ]
    ],
)
async def test_time_without_its_offset_is_refused(empty_site: Site, given: str) -> None:
    """A date alone, and a time that does not exist, are refused as well: the answer would be a guess."""
    empty_site.publish("alder", match("m1"))
    response = await empty_site.get(f"{FIXTURES}?from={given}")

    assert (400, "invalid_from") == (response.status_code, response.json()["code"])
    assert "2026-12-05T15:00:00Z" in response.json()["detail"]


@pytest.mark.parametrize("path", [FIXTURES, SUREBETS])
@pytest.mark.parametrize(
    ("league", "note"),
    [
        ("League", None),
        ("league", "no match has the league 'league' now; did you mean 'League'?"),
        ("eagu", "no match has the league 'eagu' now; did you mean 'League'?"),
        ("Serie A", "no match has the league 'Serie A' now"),
        ("", "no match has the league '' now"),
    ],
)
async def test_league_that_no_match_has_is_told(
    empty_site: Site, path: str, league: str, note: str | None
) -> None:
    """The list is empty, and a note says why; a league that has matches at other times has no note."""
    empty_site.publish("alder", match("m1"))
    _wait(empty_site, 2)
    found = await empty_site.json(f"{path}?league={league}&from=0&to=1")

    assert (0, note) == (found["fixtures_count"], found.get("note"))


async def _published(site: Site, name: str) -> dict[str, Any]:
    contract = await site.json("/openapi.json")
    named = [parameter["$ref"] for parameter in contract["paths"][SUREBETS]["get"]["parameters"]]
    assert f"#/components/parameters/{name}" in named
    schema: dict[str, Any] = contract["components"]["parameters"][name]["schema"]
    return schema


async def test_nothing_is_served_without_a_bookmaker(empty_site: Site) -> None:
    """Without a serving bookmaker each answer is 503, also for one fixture, which may still be played."""
    paths = (FIXTURES, SUREBETS, f"{FIXTURES}?bookmaker=alder", f"{FIXTURES}/fxaaaaaaaaaaaaa")
    responses = [await empty_site.get(path) for path in paths]

    assert [503] * 4 == [response.status_code for response in responses]


async def test_a_total_is_divided_over_the_legs(empty_site: Site) -> None:
    """The answer has total, step and a tag of its own; where rounding may lose there is a reason."""
    _publish(empty_site)
    _wait(empty_site, 2)
    plain = await empty_site.get(SUREBETS)
    cents = await empty_site.get(f"{SUREBETS}?total=100")
    tens = await empty_site.json(f"{SUREBETS}?total=12&step=10")
    most = await empty_site.json(f"{SUREBETS}?total=1000000")
    (found,) = cents.json()["fixtures"]
    stakes = found["stakes"]
    returns = [
        amount * leg["odds"]
        for amount, leg in zip(stakes["amounts"], found["surebet"]["legs"], strict=True)
    ]

    assert (100, 0.01) == (cents.json()["total"], cents.json()["step"])
    assert (100, round(sum(stakes["amounts"]), 2)) == (stakes["staked"], 100)
    assert 100 < stakes["returned"] <= min(returns) + 1e-9
    assert round(stakes["returned"] - 100, 2) == stakes["gain"]
    assert (12, 10, 1_000_000) == (tens["total"], tens["step"], most["total"])
    assert (None, "rounding") == tuple(tens["fixtures"][0][name] for name in ("stakes", "stakes_reason"))
    assert plain.headers["etag"] != cents.headers["etag"]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        *(
            (f"total={total}", "invalid_total")
            for total in ("0.99", "1000000.01", "1e3", "", "100.001", "-5")
        ),
        *((f"total=100&step={step}", "invalid_step") for step in ("0", "100.01", "0.001", "x")),
        ("step=1", "invalid_step"),
        ("total=100&total=100", "invalid_total"),
    ],
)
async def test_totals_and_steps_that_are_not_allowed(empty_site: Site, query: str, code: str) -> None:
    """A total is from 1 to 1,000,000, a step from a cent to the total; changes take neither of them."""
    answers = [await empty_site.get(f"{SUREBETS}?{query}")]
    if "total" in query:
        answers.append(await empty_site.get(f"/api/v2/changes?since=1&view=surebets&{query}"))

    assert (400, code) == (answers[0].status_code, answers[0].json()["code"])
    assert {400} == {answer.status_code for answer in answers}
