"""`oddsboard trace`: the lines that it prints for an answer of the service."""

from __future__ import annotations

import argparse
import json
from typing import Any

import pytest
from anyio import to_thread

from tests.support.builders.messages import match
from tests.support.peers.http import http_peer, respond
from tests.support.systems.site import Site
from web.cli.trace_command import add_options, trace_lines

pytestmark = pytest.mark.anyio

M1 = "/monitor/entries/alder_m1"
UNKNOWN: dict[str, Any] = {"received_at": None, "rejected": None, "steps": []}
BTTS = "btts rejected: book_sum: its prices are not kept"


@pytest.fixture
async def found(empty_site: Site) -> Any:
    """Return the service's answer about an entry; a test may change the answer."""
    empty_site.publish("alder", match("m1"))
    return await empty_site.json(M1)


async def _printed(found: Any, *ids: str) -> list[list[str]]:
    """Return the printed lines for each id, if the service gives this answer."""
    parser = argparse.ArgumentParser()
    add_options(parser)
    with http_peer() as peer:
        peer.otherwise = respond(json.dumps(found).encode())
        every = [parser.parse_args([name, "--url", peer.url("")]) for name in ids]
        return [await to_thread.run_sync(list[str], trace_lines(given)) for given in every]


@pytest.mark.parametrize(("state", "stale_at"), [("elsewhere", None), ("starting", 2e9)])
async def test_a_replica_says_that_another_process_collects(
    found: Any, state: str, stale_at: float | None
) -> None:
    """The list of a replica is valid as long as the collecting process keeps it valid."""
    found["list"]["stale_at"], found["source"]["state"] = stale_at, state
    (lines,) = await _printed(found, "alder_m1")
    words = "good as long as its collector in the cluster is", "another process collects it"

    assert [stale_at is None] * 2 == [any(said in line for line in lines) for said in words]


async def test_a_price_is_printed_with_its_version(found: Any) -> None:
    """A price that is older than the first version of the history is printed without a version."""
    price, version = "  price     2 / 3.5 / 4", found["steps"][0]["version"]
    (known,) = await _printed(found, "alder_m1")
    found["steps"][0]["version"] = None
    (unknown,) = await _printed(found, "alder_m1")

    assert f"{price}, version {version}" in known
    assert f"{price}, version not known" in unknown


async def test_what_has_left_is_printed(found: Any) -> None:
    """Each removed entry is printed with its id and teams, and, if known, with the reason and time."""
    about = {"home": "Odense", "away": "Brøndby"}
    known = {"id": "alder_m1", **about, "since": found["now"] - 60, "reason": "finished"}
    found["left"] = [known, {"id": "alder_m2", **about, "since": None, "reason": None}]
    (lines,) = await _printed(found, "odense")

    assert lines[-2].startswith("  left      alder_m1  Odense v Brøndby, finished ")
    assert lines[-2].endswith("(1.0 min ago)")
    assert "            alder_m2  Odense v Brøndby" == lines[-1]


async def test_other_markets_are_printed(found: Any) -> None:
    """Each market is a line with prices, age and list, or with the reason of its rejection."""
    odds, at = {"over": 1.9, "under": None}, found["now"] - 60
    over = {**UNKNOWN, "market": "over_under:2.5", "odds": odds, "updated": at, "list": found["list"]}
    yes = {**UNKNOWN, "market": "btts", "odds": None, "updated": None, "list": None, "rejected": "book_sum"}
    found["markets"] = [over, yes]
    every, single, none = await _printed(found, "alder_m1", "alder_m1 btts", "alder_m1 over_under:3.5")

    assert every[-2].startswith("  markets   over_under:2.5 1.9 / ?, ")
    assert f"(1.0 min ago); {found['list']['scope']}: confirmed " in every[-2]
    assert [f"            {BTTS}", f"  markets   {BTTS}"] == [every[-1], single[-1]]
    assert "  markets   over_under:3.5: neither on the board nor rejected" == none[-1]


async def test_what_was_shown_of_another_market_is_printed(found: Any) -> None:
    """The requested market is printed with five earlier steps; each removed market with reason and time."""
    at, times = found["now"] - 60, {"updated": None, "source_time": None, "received_at": None}
    prices = [{"over": 1.9 + n / 100, "under": 2.0} for n in range(8)]
    steps = [{**times, "version": 9, "committed_at": at, "odds": odds, "reason": None} for odds in prices]
    left = {**times, "version": 8, "committed_at": at, "odds": None, "reason": "withdrawn"}
    about = {"updated": at, "received_at": None, "list": None}
    over = {**about, "market": "over_under:2.5", "odds": prices[0], "steps": steps}
    gone = {**about, "market": "btts", "odds": None, "updated": None, "steps": [left, steps[1]]}
    found["markets"] = [over, gone]
    every, single, other = await _printed(found, "alder_m1", "alder_m1 over_under:2.5", "alder_m1 btts")

    assert every[-2].startswith("  markets   over_under:2.5 1.9 / 2, ")
    assert every[-1].startswith("            btts left: withdrawn, ")
    assert every[-1].endswith("(1.0 min ago), version 8")
    assert single[-6].startswith("  markets   over_under:2.5 1.9 / 2, ")
    assert [f"{1.9 + n / 100:g} / 2" for n in range(1, 6)] == [
        line[12:].split(",")[0] for line in single[-5:]
    ]
    assert "  before    " == single[-5][:12]
    assert ["  markets   btts left: withdrawn", "  before    1.91 / 2"] == [
        line.split(",")[0] for line in other[-2:]
    ]
