"""An entry that cannot be encoded costs its own list, in a commit of its own; everybody else is served."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import anyio
import msgspec
import pytest

from actors.core.messages import Match
from tests.support.builders.messages import SCOPE, batch, match
from tests.support.peers.stream_client import streaming
from tests.support.systems.site import Site

pytestmark = pytest.mark.anyio

GOOD = match("good")


def _bad(match_id: str = "bad", **changes: Any) -> Match:
    """Make a match that no gate has seen."""
    return msgspec.structs.replace(match(match_id), **(changes or {"home_price": Fraction(5, 2)}))


@pytest.mark.parametrize("path", ["/api/v2/odds", "/api/odds"])
@pytest.mark.parametrize("coding", ["identity", "gzip"])
async def test_the_others_are_served(empty_site: Site, path: str, coding: str) -> None:
    """The list with the bad entry is withdrawn whole, at a version of its own."""
    empty_site.publish("cedar", GOOD)
    version = empty_site.publish("alder", match("m1"), _bad(), match("m2"))
    answer = await empty_site.get(path, accept_encoding=coding)

    assert (200, version + 1, ["cedar_good"]) == (
        answer.status_code,
        answer.json()["version"],
        [one["id"] for one in answer.json()["matches"]],
    )
    assert 503 == (await empty_site.get(f"{path}?bookmaker=alder")).status_code


@pytest.mark.parametrize(
    "changes",
    [
        {"home": "\ud800"},
        {"start_time": Fraction(1)},
        {"league": type("Text", (str,), {})("x")},
        {"away_price": type("Number", (float,), {})(2.5)},
    ],
    ids=lambda changes: next(iter(changes)),
)
async def test_whatever_cannot_be_encoded(empty_site: Site, changes: dict[str, Any]) -> None:
    """Text or number: the encoder's errors are of several types."""
    empty_site.publish("cedar", GOOD)
    empty_site.publish("alder", _bad(**changes))

    assert ["cedar_good"] == [one["id"] for one in (await empty_site.json("/api/v2/odds"))["matches"]]


async def test_changes_tell_that_it_was_rejected(empty_site: Site) -> None:
    """A client that had the list before learns why its entries go."""
    empty_site.publish("cedar", GOOD)
    before = empty_site.publish("alder", match("m1"))
    empty_site.publish("alder", match("m1"), _bad())
    answer = await empty_site.json(f"/api/v2/changes?since={before}")

    assert (before + 2, []) == (answer["version"], answer["matches"])
    assert {"alder_m1": "rejected", "alder_bad": "rejected"} == {
        one["id"]: one["reason"] for one in answer["removed"]
    }


async def test_a_stream_goes_on(empty_site: Site) -> None:
    """Nobody's connection ends because of one bookmaker."""
    empty_site.publish("cedar", GOOD)
    async with streaming(empty_site.base) as stream:
        first = await stream.event()
        empty_site.publish("alder", _bad())
        second = await stream.event()

    assert ("snapshot", "changes") == (first.name, second.name)
    assert (first.data["version"] + 2, []) == (second.data["version"], second.data["matches"])


async def test_an_entry_that_moved_to_another_list(empty_site: Site) -> None:
    """Readers saw no difference, so the history tells of the entry that it was before."""
    before = empty_site.publish("cedar", GOOD)
    empty_site.apply(batch([_bad()], bookmaker="alder", scope="one", received_mono=1.0))
    empty_site.apply(batch([_bad()], bookmaker="alder", scope="two", received_mono=1.0))
    with anyio.fail_after(5):
        answer = await empty_site.json(f"/api/v2/changes?since={before}")

    assert ([], ["alder_bad"]) == (answer["matches"], [one["id"] for one in answer["removed"]])


async def test_a_new_list_comes_back(empty_site: Site) -> None:
    """The next list of the bookmaker, which can be encoded, is shown like any other."""
    empty_site.publish("alder", _bad())
    await empty_site.get("/api/v2/odds")
    empty_site.publish("alder", match("m1"))

    assert ["alder_m1"] == [one["id"] for one in (await empty_site.json("/api/v2/odds"))["matches"]]


@pytest.mark.parametrize("path", ["/health", "/monitor", "/api/stats"])
async def test_probes_answer_whatever_a_record_holds(empty_site: Site, path: str) -> None:
    """What a plug-in has left in a record of its own is shown as text."""
    empty_site.publish("cedar", GOOD)
    for status in empty_site.status.bookmakers.values():
        status.errors = {Fraction(1): Fraction(2)}  # type: ignore[dict-item]
        status.source.quota = {"left": Fraction(3)}  # type: ignore[dict-item]
    fractions = (await empty_site.get(path)).status_code
    for status in empty_site.status.bookmakers.values():
        status.errors = {SCOPE: "unknown team \ud800"}

    assert 200 == fractions
    assert 200 == (await empty_site.get(path)).status_code
