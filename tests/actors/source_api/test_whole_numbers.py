"""A whole number may be written with a point, in every answer; another number costs its own part."""

from __future__ import annotations

import json
from typing import Any

import pytest

from actors.core.errors import PayloadError
from actors.sources.azuro.wire import read_games
from actors.sources.betfair.rest import read_names
from actors.sources.polymarket.catalogue import read_markets, read_sports
from actors.sources.polymarket.listing import League, ListedMatch, read_listing
from tests.support.builders import betfair, polymarket
from tests.support.builders.betfair import HOME, PRICES, change, delta, heartbeat, image, line, market
from tests.support.systems.betfair_board import Follower
from tests.support.time.virtual import WALL_0

OTHER = (2.1, 3.4, 3.9)


def _with_points(value: Any) -> Any:
    """Return it with each whole number as many programs write it: 1 as 1.0."""
    match value:
        case bool():
            return value
        case int():
            return float(value)
        case dict():
            return {name: _with_points(content) for name, content in value.items()}
        case list():
            return [*map(_with_points, value)]
        case _:
            return value


def test_messages_of_the_exchange_are_read() -> None:
    """An image, a change, a heartbeat and the server's own delay."""
    follower = Follower()
    follower.connect()
    moved = change("1.1", {"id": HOME, "batb": [[0, 2, 5]]}, {"id": HOME, "batb": [[0, 2.2, 5]]})
    for message in (
        image(market("1.1", version=5), market("1.2", eventTypeId=1), conflateMs=180_000, heartbeatMs=5000),
        delta(moved, market("1.2", OTHER, version=4)),
        delta(market("1.1", OTHER, version=4)),
        heartbeat(status=200),
    ):
        follower.take(line(_with_points(message)))

    assert {"1.1": (2.2, *PRICES[1:]), "1.2": OTHER} == follower.shown()
    assert (180.0, {}) == (follower.session.delay_s, follower.rejected)
    assert follower.take(line(delta(status=503.0))).reaction.withdraw  # late, however that is written


@pytest.mark.parametrize("field", ["conflateMs", "heartbeatMs", "id", "status"])
def test_a_part_of_a_number_is_none(field: str) -> None:
    """What does not count whole things is refused."""
    follower = Follower()
    follower.connect()

    with pytest.raises(PayloadError):
        follower.take(line(image(market("1.1"), **{field: 500.5})))


@pytest.mark.parametrize(
    "odd", [{"id": HOME + 0.5, "batb": [[0, 2, 5]]}, {"id": HOME, "batb": [[0.5, 2, 5]]}], ids=str
)
def test_a_part_of_a_level_costs_its_market(odd: dict[str, Any]) -> None:
    """Half a level or runner is none, and the others are shown."""
    follower = Follower()
    follower.connect()
    follower.take(line(image(market("1.1"), change("1.2", odd, img=True))))

    assert ({"1.1": PRICES}, {"unreadable": 1}) == (follower.shown(), follower.rejected)


def test_names_and_pages_are_read() -> None:
    """Runners are found by their numbers; so is a page, of so many."""
    answer = betfair.catalogue("1.1")
    page = read_games(b'{"games":[],"page":2.0,"total":101.0,"totalPages":2e0}')

    assert read_names(answer) == read_names(json.dumps(_with_points(json.loads(answer))).encode())
    assert (2, 101, 2) == (page.page, page.total, page.total_pages)


def test_leagues_and_markets_are_read() -> None:
    """A league's own tag, and the role of a question by number alone."""
    rows = [
        polymarket.league_row(tags=f"82,83,{polymarket.FOOTBALL}", primaryTagId=83.0),
        polymarket.league_row("other", tags="90"),
    ]
    event = polymarket.event_of("7", "Home", "Away", WALL_0)
    asked = [
        polymarket.market_of(event, role, groupItemThreshold=float(number), marketMetadata=None)
        for number, role in enumerate(polymarket.ROLES)
    ]
    (league,) = read_sports(json.dumps(rows).encode()).leagues
    markets = read_markets(json.dumps({"markets": asked}).encode()).markets
    (listed,) = read_listing(markets, League("epl", "League", "83", is_home_first=False)).values()

    assert "83" == league.tag
    assert isinstance(listed, ListedMatch)
