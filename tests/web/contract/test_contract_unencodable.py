"""An entry that cannot be encoded removes only the list that it is in, in a commit of its own."""

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
    """Return a match with a value that validation would have rejected."""
    return msgspec.structs.replace(match(match_id), **(changes or {"home_price": Fraction(5, 2)}))


@pytest.mark.parametrize("path", ["/api/v2/odds", "/api/odds"])
@pytest.mark.parametrize("coding", ["identity", "gzip"])
async def test_other_bookmakers_are_served(empty_site: Site, path: str, coding: str) -> None:
    """The whole list with the bad entry is withdrawn, in a version of its own."""
    empty_site.publish("cedar", GOOD)
    version = empty_site.publish("alder", match("m1"), _bad(), match("m2"))
    answer = await empty_site.get(path, accept_encoding=coding)

    assert (200, version + 1, ["cedar_good"]) == (
        answer.status_code,
        answer.json()["version"],
        [entry["id"] for entry in answer.json()["matches"]],
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
async def test_every_kind_of_encoding_error_is_handled(empty_site: Site, changes: dict[str, Any]) -> None:
    """Wrong text and wrong numbers raise errors of different types."""
    empty_site.publish("cedar", GOOD)
    empty_site.publish("alder", _bad(**changes))

    assert ["cedar_good"] == [entry["id"] for entry in (await empty_site.json("/api/v2/odds"))["matches"]]


async def test_changes_report_the_rejected_entries(empty_site: Site) -> None:
    """A client that had the list gets removals with the reason."""
    empty_site.publish("cedar", GOOD)
    before = empty_site.publish("alder", match("m1"))
    empty_site.publish("alder", match("m1"), _bad())
    answer = await empty_site.json(f"/api/v2/changes?since={before}")

    assert (before + 2, []) == (answer["version"], answer["matches"])
    assert {"alder_m1": "rejected", "alder_bad": "rejected"} == {
        removal["id"]: removal["reason"] for removal in answer["removed"]
    }


async def test_a_stream_stays_open(empty_site: Site) -> None:
    """No stream ends because of an entry that cannot be encoded."""
    empty_site.publish("cedar", GOOD)
    async with streaming(empty_site.base) as stream:
        first = await stream.event()
        empty_site.publish("alder", _bad())
        second = await stream.event()

    assert ("snapshot", "changes") == (first.name, second.name)
    assert (first.data["version"] + 2, []) == (second.data["version"], second.data["matches"])


async def test_a_rejected_entry_that_changed_lists_is_removed_once(empty_site: Site) -> None:
    """The move to another list was no visible change, so the removal is of the former entry."""
    before = empty_site.publish("cedar", GOOD)
    empty_site.apply(batch([_bad()], bookmaker="alder", scope="one", received_mono=1.0))
    empty_site.apply(batch([_bad()], bookmaker="alder", scope="two", received_mono=1.0))
    with anyio.fail_after(5):
        answer = await empty_site.json(f"/api/v2/changes?since={before}")

    assert ([], ["alder_bad"]) == (answer["matches"], [removal["id"] for removal in answer["removed"]])


async def test_the_next_valid_list_is_shown(empty_site: Site) -> None:
    """The bookmaker's next list that can be encoded is shown like any other."""
    empty_site.publish("alder", _bad())
    await empty_site.get("/api/v2/odds")
    empty_site.publish("alder", match("m1"))

    assert ["alder_m1"] == [entry["id"] for entry in (await empty_site.json("/api/v2/odds"))["matches"]]


@pytest.mark.parametrize("path", ["/health", "/monitor", "/api/stats"])
async def test_probes_answer_whatever_a_record_holds(empty_site: Site, path: str) -> None:
    """A value that a plug-in left in its record, and that JSON cannot have, is shown as text."""
    empty_site.publish("cedar", GOOD)
    for status in empty_site.status.bookmakers.values():
        status.errors = {Fraction(1): Fraction(2)}  # type: ignore[dict-item]
        status.source.quota = {"left": Fraction(3)}  # type: ignore[dict-item]
    fractions = (await empty_site.get(path)).status_code
    for status in empty_site.status.bookmakers.values():
        status.errors = {SCOPE: "unknown team \ud800"}

    assert 200 == fractions
    assert 200 == (await empty_site.get(path)).status_code
