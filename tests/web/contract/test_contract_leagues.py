"""A league over HTTP: its id or any source's label chooses it in lists, changes and the stream."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from tests.support.builders.messages import match
from tests.support.peers.stream_client import streaming
from tests.support.systems.site import Site

pytestmark = pytest.mark.anyio

FIXTURES, CHANGES, STREAM = (
    "/api/v2/fixtures",
    "/api/v2/changes?view=fixtures",
    "/api/v2/stream?view=fixtures",
)
OF_ENGLAND, OF_ITALY = "england:divisionnine", "italy:divisionnine"


def _publish(site: Site) -> None:
    """List a match of an English league with three labels, and one of an Italian league with two."""
    site.publish(
        "cedar", match("e", league="Division Nine"), match("i", home="Roma", league="Division Nine")
    )
    site.publish("alder", match("e", league="England - Division Nine"))
    site.publish("birch", match("e", league="English Division Nine"), _italian(2.0))


def _italian(price: float) -> Any:
    return match("i", home="Roma", league="Italy - Division Nine", prices=(price, 3.5, 4.0))


def _homes(body: Any) -> list[str]:
    return [fixture["home"] for fixture in body["fixtures"]]


@pytest.mark.parametrize("league", ["England - Division Nine", "English Division Nine", OF_ENGLAND])
async def test_league_has_the_name_of_any_source(empty_site: Site, league: str) -> None:
    """The id of the league works as well; the answer has this id."""
    _publish(empty_site)
    body = await empty_site.json(f"{FIXTURES}?league={league}")

    assert (["Home"], OF_ENGLAND) == (_homes(body), body["league_id"])


@pytest.mark.parametrize("path", [f"{FIXTURES}?", f"{CHANGES}&since=1&", f"{STREAM}&"])
async def test_label_of_several_leagues_is_refused_with_their_ids(empty_site: Site, path: str) -> None:
    """The service does not guess which league is meant."""
    _publish(empty_site)
    answer = await empty_site.get(f"{path}league=Division Nine")

    assert (400, "invalid_league") == (answer.status_code, answer.json()["code"])
    assert f"must be one of their ids: {OF_ENGLAND}, {OF_ITALY}" in answer.json()["detail"]


async def test_competition_is_known_without_a_match(empty_site: Site) -> None:
    """A client can wait for the first match, also by a label; changes refuse any other unknown name."""
    _publish(empty_site)
    since = (await empty_site.json(FIXTURES))["cursor"]
    found = [
        await empty_site.get(f"{CHANGES}&since={since}&league={name}") for name in ("EPL", "fra.9", "?")
    ]

    assert [200, 400, 400] == [answer.status_code for answer in found]
    assert "eng.1" == found[0].json()["league_id"]


async def test_changes_of_a_league_have_the_versions_of_the_whole_view(empty_site: Site) -> None:
    """Changes of other leagues are left out; a fixture whose league changes leaves with that reason."""
    _publish(empty_site)
    first = await empty_site.json(f"{FIXTURES}?league={OF_ITALY}")
    empty_site.publish("alder", match("e", league="England - Division Nine", prices=(2.1, 3.5, 4.0)))
    other = await empty_site.json(f"{CHANGES}&league={OF_ITALY}&since={first['cursor']}")
    empty_site.publish("birch", match("e", league="English Division Nine"))
    left = await empty_site.json(f"{CHANGES}&league={OF_ITALY}&since={other['cursor']}")
    whole = await empty_site.json(FIXTURES)

    assert ([], []) == (other["fixtures"], other["removed"])
    assert [("league", first["fixtures"][0]["id"])] == [(it["reason"], it["id"]) for it in left["removed"]]
    assert first["version"] < other["version"] < left["version"] == whole["version"]


async def test_changes_of_a_league_wait_for_its_own(empty_site: Site) -> None:
    """A change of another league does not end the wait."""
    _publish(empty_site)
    since = (await empty_site.json(FIXTURES))["cursor"]
    found = list[Any]()

    async def ask() -> None:
        found.append(await empty_site.json(f"{CHANGES}&league={OF_ITALY}&since={since}&wait=30"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        while not len(empty_site.audience):  # noqa: ASYNC110 - a new client sets no event
            await anyio.sleep(0.01)
        empty_site.publish("alder", match("e", league="England - Division Nine", prices=(2.1, 3.5, 4.0)))
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        empty_site.publish("birch", match("e", league="English Division Nine"), _italian(2.2))

    assert [["Roma"]] == [*map(_homes, found)]
    assert [2.2] == [
        entry["odds"]["1"] for entry in found[0]["fixtures"][0]["entries"] if "birch_i" == entry["id"]
    ]


@pytest.mark.parametrize("coding", ["identity", "gzip"])
async def test_stream_of_a_league_has_its_fixtures_alone(empty_site: Site, coding: str) -> None:
    """The stream has a snapshot of this league, and then only changes of this league."""
    _publish(empty_site)
    query = f"?view=fixtures&league={OF_ITALY}"
    async with streaming(empty_site.base, query, f"Accept-Encoding: {coding}") as connection:
        events = [(await connection.event()).data]
        empty_site.publish("alder", match("e", league="England - Division Nine", prices=(2.1, 3.5, 4.0)))
        empty_site.publish("birch", match("e", league="English Division Nine"), _italian(2.2))
        events.append((await connection.event()).data)

    assert [["Roma"], ["Roma"]] == [*map(_homes, events)]
    assert [OF_ITALY, OF_ITALY] == [event["league_id"] for event in events]


async def test_league_without_a_view_is_refused(empty_site: Site) -> None:
    """Changes of the list of odds cannot be filtered by a league."""
    answer = await empty_site.get("/api/v2/changes?since=1&league=League")

    assert (400, "invalid_league") == (answer.status_code, answer.json()["code"])
