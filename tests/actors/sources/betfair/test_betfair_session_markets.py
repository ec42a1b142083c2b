"""The markets of a subscription to the exchange: images, deltas, and the resulting list."""

from __future__ import annotations

import pytest

from actors.core.errors import PayloadError
from actors.sources.betfair.market import MarketNames
from actors.sources.betfair.wire import MAX_MARKETS
from tests.support.builders.betfair import (
    HOME,
    PRICES,
    Stage,
    change,
    definition,
    delta,
    heartbeat,
    image,
    live,
    market,
    offered,
    offers,
    prices_of,
    shown,
)

BETTER = change("1.1", {"id": HOME, "batb": [[0, 2.04, 7]]})


def test_delta_returns_its_changes() -> None:
    """A delta returns its own markets and confirms all others."""
    stage = live(market("1.1"), market("1.2"))
    reaction = stage.receive(delta(BETTER))

    assert reaction.changes is not None
    assert {"1.1": (2.04, 3.5, 4.0)} == prices_of(reaction.changes.matches)
    assert (True, None, False) == (reaction.vouches, reaction.image, reaction.withdraw)


def test_image_at_any_time_replaces_everything() -> None:
    """Markets that the image does not contain are removed, with their prices."""
    stage = live(market("1.1"), market("1.2"))
    stage.receive(delta(BETTER))
    again = stage.receive(image(market("1.1"), market("1.3")))
    late = stage.receive(delta(change("1.2", {"id": HOME, "batb": [[0, 2.2, 1]]})))

    assert {"1.1": PRICES, "1.3": PRICES} == shown(again)
    assert "unreadable" == offered(late).reason  # type: ignore[union-attr]


def test_image_of_a_market_replaces_it() -> None:
    """With img, nothing of its old ladders or definition stays; without, it is changed."""
    stage = live(market())
    stage.receive(delta(change("1.1", {"id": HOME, "batb": [[1, 1.9, 5]]})))
    partly = {**market(), "rc": offers()[:2]}

    assert "incomplete" == offered(stage.receive(delta(partly))).reason  # type: ignore[union-attr]
    assert "Match" == type(offered(stage.receive(delta({**partly, "img": False, "rc": offers()})))).__name__


def test_closed_market_is_dropped() -> None:
    """Later changes are of an unknown market; a new image restores it."""
    stage = live(market())
    stage.session.name({"1.1": MarketNames({})})
    stage.receive(delta({"id": "1.1", "marketDefinition": definition(status="CLOSED")}))
    after = stage.receive(delta(BETTER))
    known = dict(stage.session.markets), dict(stage.session._names)

    assert (None, ({}, {})) == (after.changes, known)
    assert PRICES == prices_of([offered(stage.receive(delta(market())))])["1.1"]  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("asked_ms", "told_ms", "counted"),
    [(0, None, 2), (0, 0, 2), (250, None, 0), (0, 180_000, 0), (250, 0, 2)],
)
def test_con_is_normal_on_a_delayed_stream(asked_ms: int, told_ms: int | None, counted: int) -> None:
    """Without a delay, requested or set by the server, it says that the client reads too slowly."""
    stage = Stage(conflate_ms=asked_ms)
    stage.connect()
    stage.receive(image(market(), market("1.2"), conflateMs=told_ms))
    for con in (True, False, None):
        stage.receive(delta({**BETTER, "con": con}, change("1.2", con=con)))

    assert counted == stage.session.slow_messages


def test_heartbeat_of_the_server_applies_to_its_connection() -> None:
    """The next connection that resumes nothing begins with what is requested."""
    stage = live(market())
    stage.receive(heartbeat(conflateMs=180_000))
    stage.session.forget()
    stage.connect()
    stage.receive(image({**market(), "con": True}, id=4))

    assert 1 == stage.session.slow_messages


def test_market_without_names_is_reported() -> None:
    """Each message that changes it reports it until its names are known; a suspended one when it opens."""
    stage = Stage()
    stage.connect()
    suspended = market("1.2", status="SUSPENDED")
    first = stage.receive(image(market(), suspended))
    changed = stage.receive(delta(BETTER))
    opened = stage.receive(delta({"id": "1.2", "marketDefinition": definition()}))

    assert (("1.1",), ("1.1",), ("1.2",)) == (first.unnamed, changed.unnamed, opened.unnamed)


def test_too_many_markets_are_a_protocol_error() -> None:
    """The limit is more than any account may have."""
    stage = live()
    known = [market(f"1.{number}") for number in range(MAX_MARKETS)]
    stage.receive(delta(*known))

    with pytest.raises(PayloadError, match="10000"):
        stage.receive(delta(market("1.x")))
