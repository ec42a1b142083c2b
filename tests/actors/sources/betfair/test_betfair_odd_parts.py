"""Odd parts of the exchange's messages cost their own market only: unreadable parts, older copies."""

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
    live,
    market,
    offers,
    prices_of,
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
    """The other markets are shown at once, and the connection stays."""
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
    """The market's prices are unknown until a definition and prices come that can be read."""
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
    """A part that names no market changes no market, and is counted."""
    follower = Follower()
    follower.connect()
    follower.take(line(image(market("1.1"))))
    follower.take(line(kind(odd, market("1.1"))))

    assert ({"1.1": PRICES}, 1) == (follower.shown(), follower.rejected["unreadable"])


@pytest.mark.parametrize("odd", NAMELESS)
def test_change_of_an_unknown_market_has_an_image_sent(odd: Any) -> None:
    """Any price may have changed: no price is confirmed until all have been sent again."""
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
    """The valid parts of the same image are shown."""
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
    """Valid messages that follow do not help: only a new image has the lost change."""
    stage = Stage()
    stage.connect()
    stage.receive(image(market("1.1"), *([odd] if is_first else [])))
    stage.receive(delta(BETTER, *([] if is_first else [odd]), clk="c2"))
    stage.receive(delta(BETTER, clk="c3", initialClk="i3"))

    assert (None, None) == stage.presented()


@pytest.mark.parametrize("end", ["image", "image of the market", "closed"])
def test_clocks_count_again_when_nothing_is_lacking(end: str) -> None:
    """Clocks count after a new image of the subscription or market, or when the market is closed."""
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
    """A change that comes after the market's end is not needed."""
    stage = Stage()
    stage.connect()
    stage.receive(image(market("1.1"), market("1.2")))
    stage.receive(delta({"id": "1.2", "marketDefinition": definition(status="CLOSED")}))
    late = stage.receive(delta(change("1.2", *offers())))

    assert (None, ()) == (late.changes, late.lacking)


OLD_PRICES, NEW_PRICES = (3.0, 3.3, 2.5), (1.8, 3.8, 5.0)
OLD, NEW = market(prices=OLD_PRICES, version=10), market(prices=NEW_PRICES, version=20)
SUSPENDED = market(prices=NEW_PRICES, version=20, status="SUSPENDED")
CLOSED = market(prices=NEW_PRICES, version=20, status="CLOSED")


def _image_of(*copies: Json) -> dict[str, tuple[float, float, float]]:
    stage = Stage()
    stage.connect()
    return shown(stage.receive(image(*copies, market("1.2"))))


@pytest.mark.parametrize(
    ("copies", "expected"),
    [
        ((OLD, NEW), {"1.1": NEW_PRICES}),
        ((NEW, OLD), {"1.1": NEW_PRICES}),
        ((SUSPENDED, OLD), {}),
        ((OLD, SUSPENDED), {}),
        ((CLOSED, OLD), {}),
        ((OLD, {**NEW, "marketDefinition": definition(version=10)}), {"1.1": NEW_PRICES}),
        ((NEW, market(prices=OLD_PRICES)), {"1.1": OLD_PRICES}),  # without a version the last copy counts
    ],
)
def test_newest_copy_in_an_image_counts(
    copies: tuple[Json, Json], expected: dict[str, tuple[float, float, float]]
) -> None:
    """The copy with the higher version counts, in any order; of equal versions the last copy."""
    assert {**expected, "1.2": PRICES} == _image_of(*copies)


def test_change_without_a_definition_is_of_the_newest_copy() -> None:
    """Prices of two copies are never mixed."""
    stage = live(NEW, OLD)
    changed = stage.receive(delta(change("1.1", {"id": HOME, "batb": [[0, 1.79, 5]]})))

    assert changed.changes is not None
    (match,) = changed.changes.matches
    assert (1.79, 3.8, 5.0) == (match.home_price, match.draw_price, match.away_price)


@pytest.mark.parametrize("more", [{"img": True}, {"img": None}])
@pytest.mark.parametrize("known", [SUSPENDED, CLOSED, NEW])
def test_older_copy_in_a_change_changes_nothing(known: Json, more: Json) -> None:
    """The older copy's definition and prices do not count, even after the newest copy is closed."""
    stage = live(known, market("1.2"))
    reaction = stage.receive(delta({**OLD, **more}))

    assert reaction.vouches
    assert reaction.changes is None


def test_version_outlives_an_image_of_the_market() -> None:
    """An image without a version replaces the prices; an older definition still does not count."""
    stage = live(NEW)
    stage.receive(delta(market(prices=PRICES)))

    assert stage.receive(delta(OLD)).changes is None


@pytest.mark.parametrize("known", [SUSPENDED, NEW])
def test_older_copy_in_a_new_image_does_not_count(known: Json) -> None:
    """A server that is behind the previous server sends older offers."""
    follower = Follower()
    follower.connect()
    shown_by_image = []
    for copy in (known, OLD, market(prices=PRICES, version=21)):
        follower.take(line(image(copy, market("1.2"))))
        shown_by_image.append(follower.shown())

    assert {"1.2": PRICES} == shown_by_image[1]
    assert {"1.1": PRICES, "1.2": PRICES} == shown_by_image[2]


def test_older_suspension_removes_nothing_before_the_image() -> None:
    """While an image is still to come, only the newest definition takes a market off."""
    stage = live(NEW, market("1.2", version=20))
    stage.session.refresh()
    older, newer = (
        stage.receive(
            delta({"id": "1.1", "marketDefinition": definition(status="SUSPENDED", version=version)}, id=3)
        )
        for version in (10, 21)
    )

    assert older.changes is None
    assert newer.changes is not None
    assert ["1.1"] == [removal.source_match_id for removal in newer.changes.removals]


def test_unreadable_copy_makes_all_copies_uncertain() -> None:
    """Nobody can know which copy is the newest, so no copy is shown."""
    odd = {**NEW, "rc": [{"id": HOME, "batb": [[]]}]}

    assert [{"1.2": PRICES}] * 2 == [_image_of(odd, OLD), _image_of(OLD, odd)]
