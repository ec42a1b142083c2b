"""The public JSON of fixtures (docs/api.md)."""

from __future__ import annotations

from typing import Any

import msgspec

from actors.core.clock import Instant
from actors.core.messages import Prices
from actors.matches.entries import event_of
from actors.matches.model import BookmakerInfo, FixtureSettings, roster_of
from tests.support.builders.fixtures import ALDER, BIRCH, CEDAR, ONE, ROSTER, TERMS, TWO, LinkedBoard
from tests.support.builders.messages import batch, match
from tests.support.time.virtual import WALL_0
from web.encoding.fixture_schemas import fixture_v2, link

NAMES = {name: name.title() for name in (ALDER, BIRCH, CEDAR)}


def _decoded(value: object) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def _linked() -> LinkedBoard:
    """Return a board with a match of two sources whose prices are a surebet that is shown."""
    board = LinkedBoard()
    board.apply(batch([match("a", prices=(2.2, 3.9, 3.0))], bookmaker=ALDER))
    board.apply(batch([match("b", league=None, prices=(2.0, 3.0, 4.2))], bookmaker=BIRCH))
    board.link()
    board.now = Instant(2.0, WALL_0 + 2)
    board.expire()
    return board


def test_leg_has_the_commission_that_its_stake_reckons_with() -> None:
    """The share of a net win that its bookmaker keeps, 0 where none is configured; the price is gross."""
    (fixture,) = _linked().fixtures()
    taking = roster_of({**ROSTER, ALDER: BookmakerInfo(ROSTER[ALDER].source, commission=0.05)})

    legs = _decoded(fixture_v2(fixture, NAMES, FixtureSettings(taking), None))["surebet"]["legs"]

    assert [("1", "Alder", 2.2, 0.05), ("X", "Alder", 3.9, 0.05), ("2", "Birch", 4.2, 0.0)] == [
        (leg["outcome"], leg["bookmaker"], leg["odds"], leg["commission"]) for leg in legs
    ]


def test_legs_of_bookmakers_of_one_name_are_told_apart() -> None:
    """Each has the id of its entry: what is staked at two bookmakers is settled apart."""
    (fixture,) = _linked().fixtures()

    found = _decoded(fixture_v2(fixture, dict.fromkeys(NAMES, "Betfair"), TERMS, None))

    listed = {one["id"]: one["odds"] for one in found["entries"]}
    legs = found["surebet"]["legs"]
    assert ["alder_a", "alder_a", "birch_b"] == [leg["id"] for leg in legs]
    assert [leg["odds"] for leg in legs] == [listed[leg["id"]][leg["outcome"]] for leg in legs]
    assert {"Betfair"} == {leg["bookmaker"] for leg in legs}


def test_link_has_the_names_of_its_own_source() -> None:
    """Each event as its source lists it, whatever names the fixture has."""
    (fixture,) = _linked().fixtures()

    links = _decoded([link(one, event_of(fixture, one.key, TERMS.roster)) for one in fixture.members])

    assert {(TWO, "League"), (ONE, "Unknown")} == {(one["source"], one["league"]) for one in links}
    assert {("Home", "Away", fixture.match.start_time)} == {
        (one["home"], one["away"], one["start_time"]) for one in links
    }


def test_best_price_is_marked_where_only_collected_prices_have_it() -> None:
    """Nobody vouches for those; where a live price is as high there is no mark."""
    board = LinkedBoard()
    board.apply(batch([match("a", prices=(2.5, 3.5, 4.0))], bookmaker=ALDER))
    board.apply(batch([match("b", prices=(2.0, 3.5, 4.2))], bookmaker=BIRCH))
    board.link()
    (fixture,) = board.fixtures()
    collected = roster_of({**ROSTER, ALDER: BookmakerInfo(TWO, Prices.COLLECTED)})

    found = _decoded(fixture_v2(fixture, NAMES, FixtureSettings(collected), None))

    assert {"odds": 2.5, "bookmakers": ["Alder"], "prices": "collected"} == found["best"]["1"]
    assert {"odds": 3.5, "bookmakers": ["Alder", "Birch"]} == found["best"]["X"]
    assert {"odds": 4.2, "bookmakers": ["Birch"]} == found["best"]["2"]
