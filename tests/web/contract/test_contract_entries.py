"""`/monitor/entries/ID`: the origin of a price, the reason if there is none, and similar ids."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from actors.archive.sealing import seal
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Match, Removal, SourceMatchId
from actors.core.validation import Reason, RefusedMatch
from actors.markets.market import Kind, parsed
from actors.matches.model import fixtures_of
from tests.support.builders.messages import SCOPE, batch, match, withdrawn
from tests.support.systems.site import SOURCE, Site, open_site
from tests.support.time.virtual import WALL_0
from web.endpoints.operators.entries import TRACE, handlers
from web.feeds.own_bodies import OwnBodies
from web.protocol.problems import Problem
from web.protocol.rate_limit import WorkLimit
from web.protocol.responses import Asked

pytestmark = pytest.mark.anyio

ALDER = BookmakerId("alder")
M1 = "/monitor/entries/alder_m1"


def _change(site: Site, *removals: Removal, matches: tuple[Match, ...] = ()) -> None:
    """Apply a change of the newest list, which is received now."""
    state = site.published.newest.books[ALDER].lists[SCOPE]
    change = batch(matches, removals=removals, complete=False, received_mono=site.clock.mono)
    site.apply(replace(change, list_id=state.list_id))


def _reject(site: Site) -> None:
    """Reject the match as the actor of its bookmaker does."""
    removal = Removal(SourceMatchId("m1"), Reason.BOOK_SUM)
    record = site.status.bookmakers[ALDER]
    record.rejections.note(batch([], removals=[removal]), {Reason.BOOK_SUM: 1})
    refused = RefusedMatch(match("m1", prices=(9.0, nan, 9.0)), Reason.BOOK_SUM)
    record.newest_rejected.note(SCOPE, [refused], site.clock.wall)
    _change(site, removal)


async def test_a_price_has_its_times_and_what_it_replaced(empty_site: Site) -> None:
    """A price has its source's time, receipt, commit and version, the price before it, and its list."""
    empty_site.publish("alder", match("m1", source_time=WALL_0 - 7))
    empty_site.clock.pass_(5)
    prices = (2.2, 3.4, 3.9)
    matches = (match("m1", prices=prices, source_time=WALL_0 + 2),)
    received = batch(matches, list_id="list-2", received_mono=4.0)
    version = empty_site.apply(received)
    empty_site.clock.pass_(3)

    found = await empty_site.json(M1)

    newest, before = found["steps"]
    assert (None, "Home", "Away") == (found["absent"], found["match"]["home"], found["match"]["away"])
    assert {"1": 2.2, "X": 3.4, "2": 3.9} == newest["odds"]
    assert (version, WALL_0 + 2, WALL_0 + 4, WALL_0 + 5) == (
        newest["version"],
        newest["source_time"],
        newest["received_at"],
        newest["committed_at"],
    )
    assert (2.0, WALL_0 - 7, WALL_0) == (before["odds"]["1"], before["updated"], before["received_at"])
    assert (SCOPE, WALL_0 + 4, WALL_0 + 34) == (
        found["list"]["scope"],
        found["list"]["confirmed_at"],
        found["list"]["stale_at"],
    )
    assert ("alder", SOURCE) == (found["bookmaker"]["id"], found["source"]["name"])
    assert [("first", None)] == [(link["rule"], link["to"]) for link in found["fixture"]["links"]]
    assert [] == found["near"]


async def test_other_markets_of_the_match_stand_beside() -> None:
    """Markets on the board have prices, age and list; a rejected market has reason, prices and time."""
    over, more = (parsed(text) for text in ("over_under:2.5", "over_under:3.5"))
    async with open_site(kinds=[*Kind]) as site:
        base = match("m1", source_time=WALL_0 - 7)
        site.publish("alder", base, base.of_market(over, (1.9, 2.0)), match("m12"))
        record, refused = site.status.bookmakers[ALDER], base.of_market(more, (2.4, nan))
        removal = Removal(refused.source_match_id, Reason.LINES)
        record.rejections.note(batch([], removals=[removal]), {Reason.LINES: 1})
        record.newest_rejected.note(SCOPE, [RefusedMatch(refused, Reason.LINES)], site.clock.wall)
        site.clock.pass_(3)
        found, by_market = await site.json(M1), await site.json(f"{M1}%20over_under:2.5")
        other = await site.json("/monitor/entries/alder_m12")

    shown, rejected = found["markets"]
    assert ("over_under:2.5", {"over": 1.9, "under": 2.0}) == (shown["market"], shown["odds"])
    assert (WALL_0 - 7, SCOPE, WALL_0, None) == (
        shown["updated"],
        shown["list"]["scope"],
        shown["list"]["confirmed_at"],
        shown["rejected"],
    )
    assert ("over_under:3.5", "lines", {"over": 2.4, "under": None}, WALL_0) == (
        rejected["market"],
        rejected["rejected"],
        rejected["odds"],
        rejected["updated"],
    )
    assert found == by_market
    assert [] == other["markets"]


def _market_steps(found: Any) -> dict[str, list[tuple[Any, str | None]]]:
    """Return the steps of each market: the price of the first outcome, or why the market left."""
    return {
        of["market"]: [
            (next(iter((step["odds"] or {"": None}).values())), step["reason"]) for step in of["steps"]
        ]
        for of in found["markets"]
    }


async def test_other_markets_have_what_was_shown_before() -> None:
    """Without an archive one step before is known: a price, or why a market left; left markets are last."""
    async with open_site(kinds=[*Kind]) as site:
        base, goals, both = match("m1"), parsed("over_under:2.5"), parsed("btts")
        site.publish("alder", base, base.of_market(goals, (1.9, 2.0)), base.of_market(both, (1.7, 2.2)))
        site.clock.pass_(1)
        site.publish("alder", base, base.of_market(goals, (1.95, 2.0)))
        found, other = await site.json(M1), await site.json("/monitor/entries/alder_m")

    assert {"over_under:2.5": [(1.95, None), (1.9, None)], "btts": [(None, "withdrawn"), (1.7, None)]} == (
        _market_steps(found)
    )
    gone = found["markets"][-1]
    assert (None, None, None, WALL_0 + 1) == (
        gone["odds"],
        gone["list"],
        gone["rejected"],
        gone["steps"][0]["committed_at"],
    )
    assert [] == other["markets"]


@pytest.mark.parametrize("is_sealed", [False, True])
async def test_the_archive_has_the_prices_of_other_markets(
    tmp_path: Path,
    is_sealed: bool,  # noqa: FBT001 - a test case
) -> None:
    """Each price is there once, also of an earlier run and of the day before, and of markets that left."""
    base, goals, both = match("m1", start_time=None), parsed("over_under:2.5"), parsed("btts")
    async with open_site(archived=tmp_path, kinds=[*Kind]) as site:
        for over in (1.8, 1.9):
            site.clock.pass_(1)
            site.publish(
                "alder", base, base.of_market(goals, (over, 2.0)), base.of_market(both, (1.7, 2.2))
            )
        site.clock.pass_(1)
        site.publish("alder", base, base.of_market(goals, (1.9, 2.0)))
    site.clock.pass_(86_400 if is_sealed else 60)
    async with open_site(archived=tmp_path, clock=site.clock, kinds=[*Kind]) as site:
        site.publish("alder", base, base.of_market(goals, (1.95, 2.0)))
        if is_sealed:
            run_now(seal(_first_day(tmp_path), lambda _: None))
        found = await site.json(M1)

    steps = _market_steps(found)
    assert ["over_under:2.5", "btts"] == [*steps]
    assert [(1.95, None), (None, "stale"), (1.9, None), (1.8, None)] == steps["over_under:2.5"]
    assert [(None, "withdrawn"), (1.7, None)] == steps["btts"]


async def test_a_match_without_1x2_has_its_names_and_markets() -> None:
    """The bookmaker of such a match lists only other markets."""
    async with open_site(kinds=[*Kind]) as site:
        site.publish("alder", match("m1").of_market(parsed("btts"), (1.9, 2.0)))
        found = await site.json(M1)

    assert ("never_seen", "Home") == (found["absent"]["reason"], found["match"]["home"])
    assert [("btts", {"yes": 1.9, "no": 2.0})] == [(of["market"], of["odds"]) for of in found["markets"]]


@pytest.mark.parametrize(
    ("leave", "reason", "why"),
    [
        (lambda site: site.publish("alder", match("m2")), "withdrawn", "no longer has it in the list"),
        (lambda site: site.apply(withdrawn()), "withdrawn", "its source withdrew the list"),
        (
            lambda site: _change(site, Removal(SourceMatchId("m1"), "suspended")),
            "suspended",
            "suspended it",
        ),
        (lambda site: _change(site, Removal(SourceMatchId("m1"), "closed")), "finished", "it is over"),
        (_reject, "rejected", "not believed: book_sum"),
        (lambda site: _change(site, matches=(match("m1", home=""),)), "unnamed", "only version 1"),
    ],
    ids=["not listed", "list withdrawn", "suspended", "closed", "rejected", "unnamed"],
)
async def test_what_left_says_why_and_since_when(
    empty_site: Site, leave: Callable[[Site], object], reason: str, why: str
) -> None:
    """The last step before the absence has the last price."""
    empty_site.publish("alder", match("m1"), match("m2"))
    empty_site.clock.pass_(6)
    leave(empty_site)
    empty_site.clock.pass_(4)

    found = await empty_site.json(M1)

    assert (reason, WALL_0 + 6) == (found["absent"]["reason"], found["absent"]["since"])
    assert why in found["absent"]["why"]
    gone, last = found["steps"]
    assert (None, reason, WALL_0 + 6) == (gone["odds"], gone["reason"], gone["committed_at"])
    assert (2.0, None) == (last["odds"]["1"], last["reason"])


async def test_a_rejected_match_has_its_reason_and_prices(empty_site: Site) -> None:
    """The prices are those of the rejection; a price that is not a number is null."""
    empty_site.publish("alder", match("m1"), match("m2"))
    _reject(empty_site)

    found = await empty_site.json(M1)

    assert {"reason": "book_sum", "at": WALL_0, "prices": [9.0, None, 9.0]} == found["rejected"]


async def test_a_source_that_is_down_is_the_reason(empty_site: Site) -> None:
    """The list became stale: the answer says since when, and what error the source has."""
    empty_site.publish("alder", match("m1"))
    source = empty_site.status.sources[SOURCE]
    source.failures, source.is_down, source.failing_since = 3, True, WALL_0 + 2
    source.last_error = "no whole answer within 10 s"
    empty_site.clock.pass_(31)
    empty_site.published.current()

    found = await empty_site.json(M1)

    assert ("stale", WALL_0 + 31) == (found["absent"]["reason"], found["absent"]["since"])
    assert "did not confirm the list 'league' for 30 s" in found["absent"]["why"]
    assert (True, None) == (found["list"]["withdrawn"], found["list"]["stale_at"])
    assert ("stale", "no whole answer within 10 s") == (
        found["bookmaker"]["state"],
        found["bookmaker"]["last_error"],
    )
    assert ("down", WALL_0 + 2) == (found["source"]["state"], found["source"]["failing_since"])


async def test_an_aggregator_that_is_late_is_the_reason(empty_site: Site) -> None:
    """The trace answers at once although an entry is overdue, where a list would wait."""
    empty_site.publish("alder", match("m1"))
    empty_site.clock.pass_(31)

    found = await empty_site.json(M1)

    assert ("stale", WALL_0 + 30) == (found["absent"]["reason"], found["absent"]["since"])
    assert "the aggregator is late" in found["absent"]["why"]


@pytest.mark.parametrize(
    ("given", "reason", "why", "near"),
    [
        ("alder_m11", "never_seen", "no list of its bookmaker had it", ["alder_m1", "alder_x9"]),
        ("cedar_m1", "never_seen", "nothing of its bookmaker was accepted yet", []),
        ("aldr_x9", "unknown_bookmaker", "did you mean 'alder'?", ["alder_x9", "alder_m1"]),
        ("alder%20c", "unknown_bookmaker", "no bookmaker 'alder c'", ["alder_x9", "alder_m1"]),
        (f"{SOURCE}:m1", "unknown_bookmaker", "BOOKMAKER_ID", ["alder_m1"]),
    ],
)
async def test_an_id_that_is_nowhere_has_near_ones(
    empty_site: Site, given: str, reason: str, why: str, near: list[str]
) -> None:
    """Near ids have an equal begin or end, a similar team name, or the same event; no id is 404."""
    empty_site.publish("alder", match("m1"), match("x9", home="Alder County"))

    found = await empty_site.json(f"/monitor/entries/{given}")

    assert (reason, None) == (found["absent"]["reason"], found["absent"]["since"])
    assert why in found["absent"]["why"]
    assert near[:1] == [entry["id"] for entry in found["near"]][:1]
    assert set(near) >= {entry["id"] for entry in found["near"]}


async def test_a_fixture_leads_to_its_entries(empty_site: Site) -> None:
    """The id of a fixture is not the id of an entry, so its entries are the near ids."""
    empty_site.publish("alder", match("m1"))
    empty_site.publish("birch", match("m1"), match("m2"))
    fixture = next(iter(fixtures_of(empty_site.published.newest)))

    found = await empty_site.json(f"/monitor/entries/{fixture.id}")

    assert [entry.id for entry in fixture.listed] == [entry["id"] for entry in found["near"]]


def _steps(found: Any) -> list[tuple[float | None, str | None]]:
    return [(step["odds"] and step["odds"]["1"], step["reason"]) for step in found["steps"]]


async def test_the_archive_has_the_prices_before(tmp_path: Path) -> None:
    """Each price is there once with version and time of its commit, also prices of an earlier run."""
    async with open_site(archived=tmp_path) as site:
        first = site.publish("alder", match("m1", prices=(1.9, 3.5, 4.0)))
        at = site.clock.wall
    site.clock.pass_(60)
    async with open_site(archived=tmp_path, clock=site.clock) as site:
        for home in (2.1, 2.2):
            site.clock.pass_(1)
            newest = site.publish("alder", match("m1", prices=(home, 3.5, 4.0)))
        found = await site.json(M1)

    assert [(2.2, None), (2.1, None), (None, "stale"), (1.9, None)] == _steps(found)
    assert (newest, True) == (found["steps"][0]["version"], found["archived"])
    assert (first, at) == (found["steps"][-1]["version"], found["steps"][-1]["committed_at"])


async def test_looking_for_an_entry_is_work_for_the_client_alone(site: Site) -> None:
    """An unknown id is compared with all entries: a client that asks too often gets 429."""
    own = OwnBodies(WorkLimit(share=1e-9, burst_s=1e-9))
    board, status, clock, audience = site.published, site.status, site.clock, site.audience
    trace = handlers(board, status, clock, audience, own, review=None, past=None)[TRACE]
    asked = [Asked("GET", "/monitor/entries/x", b"", {}, "id", 0.0, client) for client in ("a", "a", "b")]
    answered = (await trace(asked[0])).status
    with pytest.raises(Problem) as refused:
        await trace(asked[1])
    others = (await trace(asked[2])).status

    assert (200, 429, 200) == (answered, refused.value.status, others)


async def test_the_archive_says_why_it_left_before_the_start(tmp_path: Path) -> None:
    """The archive says when the match left; the service has not seen the match in its present run."""
    async with open_site(archived=tmp_path) as site:
        site.publish("alder", match("m1"))
        site.clock.pass_(1)
        site.publish("alder", match("m2"))
        at = site.clock.wall
    site.clock.pass_(60)
    async with open_site(archived=tmp_path, clock=site.clock) as site:
        site.publish("alder", match("m2"))
        found = await site.json(M1)

    assert ("withdrawn", at) == (found["absent"]["reason"], found["absent"]["since"])
    assert found["absent"]["why"].startswith(
        "it left then, as the archive has it; no list of its bookmaker"
    )
    assert "Home" == found["match"]["home"]


def _left(found: Any) -> list[tuple[str, str, float | None, str | None]]:
    return [(of["id"], of["home"], of["since"], of["reason"]) for of in found["left"]]


async def test_a_name_leads_to_what_has_left(empty_site: Site) -> None:
    """The latest removed entry is first, whatever its bookmaker; entries on the board are not listed."""
    empty_site.publish("alder", match("m1", home="1. FC Köln"), match("m2"), match("m3", home="Köln II"))
    empty_site.publish("birch", match("b1", home="Köln"))
    empty_site.clock.pass_(1)
    empty_site.publish("alder", match("m2"))
    empty_site.clock.pass_(1)
    empty_site.publish("birch")
    empty_site.publish("alder", match("m2"), match("m3", home="Köln II"))

    found = await empty_site.json("/monitor/entries/KÖLN")

    assert ["alder_m3"] == [entry["id"] for entry in found["near"]]
    assert [
        ("birch_b1", "Köln", WALL_0 + 2, "withdrawn"),
        ("alder_m1", "1. FC Köln", WALL_0 + 1, "withdrawn"),
    ] == _left(found)


def _first_day(folder: Path) -> Path:
    return min(folder.glob("*.db"))


@pytest.mark.parametrize("is_sealed", [False, True])
async def test_the_archive_knows_a_name_that_has_left(
    tmp_path: Path,
    is_sealed: bool,  # noqa: FBT001 - a test case
) -> None:
    """The entry left in an earlier run, today or the day before; entries on the board are not listed."""
    async with open_site(archived=tmp_path) as site:
        site.publish("alder", match("m1", home="Odense"), match("m2", home="Odense II"))
        site.clock.pass_(1)
        site.publish("alder", match("m2", home="Odense II"))
        at = site.clock.wall
    site.clock.pass_(86_400 if is_sealed else 60)
    async with open_site(archived=tmp_path, clock=site.clock) as site:
        site.publish("alder", match("m2", home="Odense II"))
        if is_sealed:
            run_now(seal(_first_day(tmp_path), lambda _: None))
        found = await site.json("/monitor/entries/odense")

    assert [("alder_m1", "Odense", at, "withdrawn")] == _left(found)
