"""From markets to matches: kick-off, fee, teams, and which copy of a market counts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from actors.core.messages import Removal
from actors.sources.polymarket.catalogue import read_markets
from actors.sources.polymarket.listing import UNKNOWN_FEE, League, Listed, ListedMatch, read_listing
from tests.support.builders.polymarket import ROLES, event_of, market_of

START = 1_780_003_600
EVENT = event_of("7", "Home Town", "Away United", START)
TEAMS = [{"name": "Away United", "ordering": "away"}, {"name": "Home Town", "ordering": "home"}]


def _listed(*markets: dict[str, Any], is_home_first: bool = True) -> Listed:
    body = json.dumps({"markets": markets}).encode()
    league = League("epl", "Premier League", "82", is_home_first)
    (listed,) = read_listing(read_markets(body).markets, league).values()
    return listed


def _match(**changed: Any) -> ListedMatch:
    listed = _listed(*(market_of(EVENT, role, **changed) for role in ROLES))
    assert isinstance(listed, ListedMatch)
    return listed


@pytest.mark.parametrize(
    ("market", "fee"),
    [
        ({"feesEnabled": False}, 0.0),
        ({"feeSchedule": {"rate": 0.05, "exponent": 1}}, 0.05),
        ({"feeSchedule": {"rate": 0.03, "exponent": 2}}, UNKNOWN_FEE),
        ({"feeSchedule": {"rate": -0.03, "exponent": 1}}, UNKNOWN_FEE),
        ({"feeSchedule": {"exponent": 1}}, UNKNOWN_FEE),
        ({"feeSchedule": None}, UNKNOWN_FEE),
    ],
    ids=str,
)
def test_fee_is_that_of_the_market_or_unknown(market: dict[str, Any], fee: float) -> None:
    """Only the formula that is known is reckoned with."""
    assert fee == _match(**market).fee


def test_token_is_that_of_yes() -> None:
    """It has the same place among the tokens as "Yes" has among the outcomes."""
    swapped = [
        market_of(EVENT, role, outcomes='["No", "Yes"]', clobTokenIds=f'["{at}0", "{at}1"]')
        for at, role in enumerate(ROLES, 1)
    ]
    listed = _listed(*swapped)

    assert isinstance(listed, ListedMatch)
    assert ("11", "21", "31") == listed.tokens


def test_kick_off_is_that_of_the_market_where_the_event_has_none() -> None:
    """It is written with a blank and an offset of two digits; the opening of the market is another time."""
    event = {key: value for key, value in EVENT.items() if key != "startTime"}

    assert START == _match(events=[{**event, "startDate": "2026-01-01T00:00:00Z"}]).start


@pytest.mark.parametrize(
    ("slug", "url"),
    [
        ("xx-home-away", "https://polymarket.com/event/xx-home-away"),
        ("../admin", None),
        ("", None),
        (None, None),
    ],
)
def test_page_of_a_match_is_that_of_its_event(slug: str | None, url: str | None) -> None:
    """A name that is no part of an address gives none."""
    assert url == _match(events=[{**EVENT, "slug": slug}]).url


def test_later_copy_of_a_market_counts() -> None:
    """A page can shift while it is read, and a market may have closed meanwhile."""
    markets = [market_of(EVENT, role) for role in ROLES]

    assert isinstance(_listed(*markets, market_of(EVENT, "home", closed=True)), Removal)
    assert isinstance(_listed(market_of(EVENT, "home", closed=True), *markets), ListedMatch)


@pytest.mark.parametrize("role", ROLES)
def test_match_is_over_if_any_copy_of_it_is(role: str) -> None:
    """Its markets may be on pages that were read before and after it ended."""
    over = {**EVENT, "ended": True}
    markets = [market_of(over if each == role else EVENT, each) for each in ROLES]

    assert isinstance(_listed(*markets), Removal)


@pytest.mark.parametrize("marks", [{}, {"groupItemThreshold": None, "marketMetadata": None}])
@pytest.mark.parametrize("teams", [None, TEAMS])
@pytest.mark.parametrize("is_home_first", [False, True])
def test_something_must_say_which_team_plays_at_home(
    marks: dict[str, Any], teams: list[dict[str, str]] | None, *, is_home_first: bool
) -> None:
    """The teams of the event, the marks of its markets, or that titles of the league name it first."""
    event = {**EVENT, "teams": teams}
    markets = [market_of(event, role, **marks) for role in ROLES]

    is_listed = isinstance(_listed(*markets, is_home_first=is_home_first), ListedMatch)

    assert (is_home_first or not marks or teams is not None) is is_listed
