"""A part of a message that cannot be applied costs itself, and is asked for anew."""

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
    image,
    market,
    offers,
    prices_of,
)

BETTER = change("1.1", {"id": HOME, "batb": [[0, 2.1, 5]]})
UNDEFINED: Json = {"id": "1.9", "img": True, "rc": offers()}
PARTS: list[Json] = [
    UNDEFINED,
    {"id": "1.9", "rc": offers()},
    {"id": "1.9", "img": True, "marketDefinition": definition(), "rc": [{"id": HOME, "batb": "x"}]},
    {"id": "1.9", "img": True, "marketDefinition": definition(status=7), "rc": offers()},
    {"id": "1.9", "marketDefinition": definition(), "rc": {}},
]


def _presented(stage: Stage) -> tuple[Any, Any]:
    """Connect again and return the clocks in the subscription."""
    stage.connect()
    return stage.sent[-1].get("initialClk"), stage.sent[-1].get("clk")


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

    assert (None, None) == _presented(stage)


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

    assert ("initial-1", "c2") == _presented(stage)


def test_image_with_a_part_of_no_market_is_not_resumed_from() -> None:
    """It is unknown of which market it was."""
    stage = Stage()
    stage.connect()
    stage.receive(image(market("1.1"), {"id": None}))

    assert (None, None) == _presented(stage)


def test_change_of_a_closed_market_lacks_nothing() -> None:
    """It comes after its end, and is of no use."""
    stage = Stage()
    stage.connect()
    stage.receive(image(market("1.1"), market("1.2")))
    stage.receive(delta({"id": "1.2", "marketDefinition": definition(status="CLOSED")}))
    late = stage.receive(delta(change("1.2", *offers())))

    assert (None, ()) == (late.changes, late.lacking)
