"""Whole worlds of venues: which matches are read at which prices, and which are not.

A world is read through pages and prices in random order, as the service does, without its clock.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.sources.azuro.kind import KEY as AZURO_KEY
from actors.sources.azuro.kind import KIND as AZURO
from actors.sources.azuro.options import AzuroOptions
from actors.sources.azuro.prices import ListedMatch as Game
from actors.sources.azuro.prices import listed_match, result_of
from actors.sources.azuro.wire import Condition, read_conditions, read_games
from actors.sources.polymarket.catalogue import read_markets
from actors.sources.polymarket.kind import KEY, KIND
from actors.sources.polymarket.listing import League, ListedMatch, read_listing
from actors.sources.polymarket.options import PolymarketOptions
from tests.support.builders.polymarket import ROLES, SOME
from tests.support.builders.reading import extracted, grouped, judged, prices_of
from tests.support.oracles import azuro_reading, polymarket_reading
from tests.support.peers.azuro import Azuro, condition_of, polled
from tests.support.peers.polymarket import Polymarket

START = 1_780_003_600
Odds = dict[str, tuple[float, ...]]
EPL = League("epl", "Premier League", "82", is_home_first=True)
OF_AZURO, OF_POLYMARKET = AzuroOptions(kind="azuro"), PolymarketOptions(kind="polymarket")
LEVEL = st.tuples(
    st.integers(1, 999).map(lambda price: f"{Decimal(price) / 1000}"), st.sampled_from(["1", "50", "4000"])
)
NEAR_EVEN = st.tuples(st.integers(30, 40).map(lambda price: f"0.{price}"), st.just("4000"))
CHANGES = st.sampled_from([0, 0, 1, 2])
"""The number of changes to a match: about half of the matches have none."""


@st.composite
def _of_azuro(draw: st.DrawFn) -> Azuro:
    venue = Azuro(seed=draw(st.integers(0, 1000)), repeats=draw(st.booleans()))
    for number in range(1, draw(st.integers(2, 6))):
        name, parts = f"100{number}", st.sampled_from(azuro_reading.PARTS)
        venue.add(name, f"Home {number}", f"Away {number}", start=START)
        for _ in range(draw(CHANGES)):
            azuro_reading.change(venue, name, draw(parts), lambda choices: draw(st.sampled_from(choices)))
    return venue


def _read_azuro(venue: Azuro) -> Odds:
    games = []
    for state in ("Prematch", "Live"):
        page = venue.page({"gameState": state, "sportSlug": "football", "page": "1", "perPage": "100"})
        for listed in map(listed_match, read_games(json.dumps(page).encode()).games):
            if isinstance(listed, Game):
                conditions = read_conditions(json.dumps(venue.listed(venue.conditions[listed.id])).encode())
                if isinstance(result := result_of(conditions.conditions), Condition):
                    games.append(replace(listed, result=result))
    asked = [game.result.condition_id for game in games if game.result is not None]
    every = (condition for listed in venue.conditions.values() for condition in listed)
    answer = venue.listed(condition for condition in every if condition["conditionId"] in asked)
    if not venue.repeats:
        answer = {"conditions": [*map(polled, answer["conditions"])]}
    body = grouped(*games, body=json.dumps(answer).encode())
    extract = extracted(AZURO, AZURO_KEY, OF_AZURO, body)
    return prices_of(judged(AZURO, AZURO_KEY, OF_AZURO, extract).batch.matches)


@given(_of_azuro())
def test_world_of_azuro_is_read_as_its_tables_say(venue: Azuro) -> None:
    """States, outcomes and odds decide, in whatever order the parts come."""
    assert azuro_reading.expected(venue) == _read_azuro(venue)


def test_recording_of_before_has_its_unreadable_games() -> None:
    """An old recording's group has the number of unreadable games; a new one counts all by reason."""
    body = b'{"matches": [], "removals": [], "unreadable": 3}\n{"conditions": []}'

    assert {"unreadable": 3} == extracted(AZURO, AZURO_KEY, OF_AZURO, body).passed_over


@st.composite
def _of_polymarket(draw: st.DrawFn) -> Polymarket:
    venue = Polymarket(seed=draw(st.integers(0, 1000)))
    for number in range(draw(st.integers(1, 5))):
        listed = venue.add(str(10 + number), f"Home {number}", f"Away {number}", start=START)
        for role in ROLES:
            listed.asks[role] = [draw(NEAR_EVEN), *draw(st.lists(LEVEL, max_size=2))]
        for _ in range(draw(CHANGES)):
            polymarket_reading.change(
                venue, str(10 + number), lambda choices: draw(st.sampled_from(choices))
            )
    return venue


def _read_polymarket(venue: Polymarket) -> Odds:
    page = venue.page({"tag_id": "82", "sports_market_types": "moneyline", "closed": "false"})
    listed = read_listing(read_markets(json.dumps(page).encode()).markets, EPL)
    matches = [match for match in listed.values() if isinstance(match, ListedMatch)]
    books = venue.books([token for match in matches for token in match.tokens])
    body = grouped(*matches, body=json.dumps(books).encode())
    extract = extracted(KIND, KEY, OF_POLYMARKET, body, "epl-2026-05-28.1")
    return prices_of(judged(KIND, KEY, OF_POLYMARKET, extract).batch.matches)


@given(_of_polymarket())
def test_world_of_polymarket_is_read_as_its_tables_say(venue: Polymarket) -> None:
    """States, roles, depth and book sums decide, in whatever order the parts come."""
    assert polymarket_reading.expected(venue) == _read_polymarket(venue)


GAMES: tuple[dict[str, Any], ...] = (
    *({"state": state} for state in ("Stopped", "Finished", "Canceled")),
    {"sport": {"slug": "tennis"}},
    {"participants": [{"name": "Home Town"}]},
    {"participants": [{"name": "Home Town"}, {"name": " "}]},
    {"startsAt": "soon"},
)
OUTCOMES = condition_of("101")["outcomes"]
CONDITIONS: tuple[dict[str, Any], ...] = (
    *({"state": state} for state in ("Stopped", "Resolved", "Canceled", "Removed", "Created")),
    *({"hidden": True}, {"isPrematchEnabled": False}),
    {"outcomes": condition_of("101", ("1", "15.84", "2"))["outcomes"]},
    {"outcomes": condition_of("101", ("-2", "nan", "1e3"))["outcomes"]},
    {"outcomes": condition_of("101", outcomes=("29", "30", "32"))["outcomes"]},
    {"outcomes": OUTCOMES[:2]},
    {"outcomes": [{**each, "state": "Stopped"} for each in OUTCOMES]},
    {"outcomes": [{**each, "hidden": True} for each in OUTCOMES]},
)
EVENTS: tuple[dict[str, Any], ...] = (
    *({"closed": True}, {"ended": True}, {"period": "FT"}, {"period": "VFT"}, {"startTime": "soon"}),
    *({"title": "Home Town v Away United"}, {"title": "A vs. B vs. C"}),
)
MARKETS: tuple[dict[str, Any], ...] = (
    *({"closed": True}, {"active": False}, {"acceptingOrders": False}, {"acceptingOrders": None}),
    *({"enableOrderBook": False}, {"negRisk": False}, {"sportsMarketType": "spreads"}),
    *({"groupItemThreshold": "2"}, {"marketMetadata": {"opticOddsSelectionLine": "away"}}),
    *({"groupItemTitle": "Home"}, {"clobTokenIds": "[]"}, {"outcomes": '["Yes", "Maybe"]'}),
)
ASKS: tuple[dict[str, Any], ...] = (
    {"away": None},
    {"away": ()},
    {"away": (("0.25", "39.9"),)},
    {"away": (("0.25", "1e3"),)},
    {"away": (("0.25", "100"), ("-0.1", "100"))},
    {"away": (("0.25", "100"), ("1.5", "100"))},
    {"home": (("0.999", "900"),), "draw": (("0.001", "90000"),), "away": (("0.001", "90000"),)},
    {"home": (("0.99", "900"),), "draw": (("0.004", "90000"),), "away": (("0.006", "90000"),)},
    {"home": (("0.99", "900"),), "draw": (("0.99", "900"),), "away": (("0.99", "900"),)},
)


@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize(
    ("part", "said"),
    [*(("game", said) for said in GAMES), *(("condition", said) for said in CONDITIONS)],
    ids=str,
)
def test_game_in_any_other_state_is_not_read(part: str, said: dict[str, Any], *, repeats: bool) -> None:
    """The unchanged game is read."""
    venue = Azuro(repeats=repeats)
    for name in ("101", "102"):
        venue.add(name, start=START)
    (venue.games["101"] if part == "game" else venue.result("101")).update(said)

    assert {"102": (1.81, 3.78, 4.43)} == _read_azuro(venue)


@pytest.mark.parametrize(
    ("part", "said"),
    [
        *(("event", said) for said in EVENTS),
        *(("market", said) for said in MARKETS),
        *(("asks", said) for said in ASKS),
    ],
    ids=str,
)
def test_match_in_any_other_state_is_not_read(part: str, said: dict[str, Any]) -> None:
    """The unchanged match is read."""
    venue = Polymarket()
    changed, _ = (venue.add(name, start=START) for name in ("101", "102"))
    match part:
        case "event":
            changed.event.update(said)
        case "market":
            changed.market("home", **said)
        case _:
            changed.asks = {role: asks for role, asks in {**SOME, **said}.items() if asks is not None}

    assert {"102": (2.0, 3.5714, 4.0)} == _read_polymarket(venue)
