"""A part of a message that cannot be applied costs its own market, counted, and is asked for anew."""

from __future__ import annotations

from typing import Any

import pytest

from actors.core.messages import Removal, SourceMatchId
from actors.core.validation import Reason
from tests.support.builders.betfair import (
    HOME,
    PRICES,
    Json,
    Stage,
    change,
    definition,
    delta,
    heartbeat,
    image,
    line,
    market,
    offers,
    prices_of,
)
from tests.support.systems.betfair_board import Follower

ODD_LEVELS: list[Any] = [[[]], [[0, 2.0]], [[0, "2.0", 5]], [None], {}, "x", [[0, 2.0, 5, 1]]]
ODD_DEFINITIONS: list[dict[str, Any]] = [
    {"status": 1},
    {"runners": {}},
    {"runners": [{"id": None}]},
    {"version": "20"},
    {"marketTime": 1_780_000_000},
    {"inPlay": "true"},
]
NAMELESS: list[Any] = [None, 5, "1.1", [], {}, {"id": None}, {"id": {}}, {"rc": offers()}]


def _odd(levels: Any) -> dict[str, Any]:
    return {**market("1.3"), "rc": [{"id": HOME, "batb": levels}, *offers()[1:]]}


@pytest.mark.parametrize(
    "odd",
    [
        *map(_odd, ODD_LEVELS),
        *({**market("1.3"), "marketDefinition": definition(**wrong)} for wrong in ODD_DEFINITIONS),
        {"id": 1.3, "rc": offers()},
    ],
)
def test_odd_market_in_an_image_is_counted(odd: Any) -> None:
    """The others are shown at once, and the connection stays."""
    follower = Follower()
    follower.connect()
    heard = follower.take(line(image(market("1.1"), odd, market("1.2"))))

    assert {"1.1": PRICES, "1.2": PRICES} == follower.shown()
    assert ({"unreadable": 1}, True) == (follower.rejected, heard.reaction.vouches)


@pytest.mark.parametrize(
    "odd",
    [
        change("1.3", {"id": HOME, "batb": [[]]}),
        {"id": "1.3", "marketDefinition": definition(status=7)},
        {"id": 1.3, "marketDefinition": definition()},
    ],
)
def test_odd_change_takes_its_market_off(odd: Any) -> None:
    """Its price is no longer known, until a definition and prices come that can be read."""
    follower = Follower()
    follower.connect()
    follower.take(line(image(market("1.1"), market("1.3"))))
    follower.take(line(delta(odd, change("1.1", {"id": HOME, "batb": [[0, 2.1, 5]]}))))
    first = follower.shown()
    follower.take(line(delta(change("1.3", *offers()))))
    unexplained = follower.shown()
    follower.take(line(delta(market("1.3"))))

    assert ({"1.1": (2.1, 3.5, 4.0)}, first) == (first, unexplained)
    assert ({"1.1", "1.3"}, 2) == (set(follower.shown()), follower.rejected["unreadable"])


@pytest.mark.parametrize("odd", NAMELESS)
@pytest.mark.parametrize("kind", [image, delta])
def test_part_without_a_market_is_counted(odd: Any, kind: Any) -> None:
    """What cannot be said to be of any market changes none, and is counted."""
    follower = Follower()
    follower.connect()
    follower.take(line(image(market("1.1"))))
    follower.take(line(kind(odd, market("1.1"))))

    assert ({"1.1": PRICES}, 1) == (follower.shown(), follower.rejected["unreadable"])


@pytest.mark.parametrize("odd", NAMELESS)
def test_change_of_an_unknown_market_has_an_image_sent(odd: Any) -> None:
    """Any price may be another now: none is confirmed until all have been sent again."""
    follower = Follower()
    follower.connect()
    follower.take(line(image(market("1.1"), market("1.2"))))
    before = follower.sent[-1]["id"]
    told = follower.take(line(delta(odd, change("1.2", {"id": HOME, "batb": [[0, 2.1, 5]]}))))
    asked = follower.sent[-1]
    meanwhile = follower.take(line(heartbeat(id=asked["id"])))
    follower.take(line(image(market("1.1", (2.3, 3.5, 4.0)), id=asked["id"])))

    assert ("marketSubscription", before + 1, False) == (asked["op"], asked["id"], "clk" in asked)
    assert [False, False] == [reading.reaction.vouches for reading in (told, meanwhile)]
    assert {"1.1": (2.3, 3.5, 4.0)} == follower.shown()


BETTER = change("1.1", {"id": HOME, "batb": [[0, 2.1, 5]]})
UNDEFINED: Json = {"id": "1.9", "img": True, "rc": offers()}
PARTS: list[Json] = [
    UNDEFINED,
    {"id": "1.9", "rc": offers()},
    {"id": "1.9", "img": True, "marketDefinition": definition(), "rc": [{"id": HOME, "batb": "x"}]},
    {"id": "1.9", "img": True, "marketDefinition": definition(status=7), "rc": offers()},
    {"id": "1.9", "marketDefinition": definition(), "rc": {}},
]


@pytest.mark.parametrize("odd", PARTS)
def test_part_that_cannot_be_applied_is_counted_with_its_market(odd: Json) -> None:
    """The whole parts of the same image are shown."""
    stage = Stage()
    stage.connect()
    reaction = stage.receive(image(market("1.1"), odd))

    assert reaction.image is not None
    assert {"1.1": PRICES} == prices_of(reaction.image.matches)
    assert (Removal(SourceMatchId("1.9"), Reason.UNREADABLE),) == reaction.image.removals
    assert ("1.9",) == reaction.lacking


@pytest.mark.parametrize("odd", PARTS)
@pytest.mark.parametrize("is_first", [True, False])
def test_no_clock_after_a_part_that_was_not_applied_is_resumed_from(odd: Json, *, is_first: bool) -> None:
    """Also if whole messages follow: only a new image has what is lacking."""
    stage = Stage()
    stage.connect()
    stage.receive(image(market("1.1"), *([odd] if is_first else [])))
    stage.receive(delta(BETTER, *([] if is_first else [odd]), clk="c2"))
    stage.receive(delta(BETTER, clk="c3", initialClk="i3"))

    assert (None, None) == stage.presented()


@pytest.mark.parametrize("end", ["image", "image of the market", "closed"])
def test_clocks_count_again_when_nothing_is_lacking(end: str) -> None:
    """After a new image, of the subscription or of that market, or when it is closed."""
    stage = Stage()
    stage.connect()
    stage.receive(image(market("1.1"), UNDEFINED))
    stage.receive(
        {
            "image": image(market("1.1"), clk="c2"),
            "image of the market": delta(market("1.9"), clk="c2"),
            "closed": delta({"id": "1.9", "marketDefinition": definition(status="CLOSED")}, clk="c2"),
        }[end]
    )

    assert ("initial-1", "c2") == stage.presented()


def test_change_of_a_closed_market_lacks_nothing() -> None:
    """It comes after its end, and is of no use."""
    stage = Stage()
    stage.connect()
    stage.receive(image(market("1.1"), market("1.2")))
    stage.receive(delta({"id": "1.2", "marketDefinition": definition(status="CLOSED")}))
    late = stage.receive(delta(change("1.2", *offers())))

    assert (None, ()) == (late.changes, late.lacking)
