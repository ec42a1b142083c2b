"""A part of a message that is of another shape costs its own market, counted, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from actors.core.errors import PayloadError
from actors.sources.betfair.rest import read_names
from tests.support.builders.betfair import (
    HOME,
    PRICES,
    Stage,
    catalogue,
    change,
    definition,
    delta,
    heartbeat,
    image,
    line,
    live,
    market,
    offers,
    shown,
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


def test_odd_change_takes_its_market_off_before_the_image() -> None:
    """Also while an image is still to come."""
    stage = live(market("1.1"), market("1.3"))
    stage.session.refresh()
    reaction = stage.receive(delta(change("1.3", {"id": HOME, "batb": [[]]}), id=3))

    assert reaction.changes is not None
    assert ["1.3"] == [removal.source_match_id for removal in reaction.changes.removals]


def test_odd_part_of_a_long_message_costs_itself() -> None:
    """A line that is read in slices is read like any other."""
    many = [market(f"1.{number}") for number in range(1000, 3000)]
    stage = Stage()
    stage.connect()
    reaction = stage.receive(image(*many, _odd([[]])))

    assert 2000 == len(shown(reaction))


@pytest.mark.parametrize("field", [{"clk": 5}, {"conflateMs": "180000"}, {"pt": "x"}, {"mc": {}}])
def test_odd_frame_is_no_message(field: dict[str, Any]) -> None:
    """A field of the message itself that is of another type is refused, not taken as absent."""
    stage = live(market("1.1"))

    with pytest.raises(PayloadError):
        stage.receive(delta(**field))


def test_odd_entry_of_the_catalogue_costs_its_names() -> None:
    """The names of all other markets are read."""
    entries = json.loads(catalogue("1.1", "1.2"))
    entries["result"][0]["runners"][0]["selectionId"] = None

    assert ["1.2"] == list(read_names(json.dumps(entries).encode()))
