"""Two copies of a market: the definition's version decides, in images and in changes."""

from __future__ import annotations

import pytest

from tests.support.builders.betfair import (
    HOME,
    PRICES,
    Json,
    Stage,
    change,
    definition,
    delta,
    image,
    line,
    live,
    market,
    shown,
)
from tests.support.systems.betfair_board import Follower

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
        ((NEW, market(prices=OLD_PRICES)), {"1.1": OLD_PRICES}),  # without a version the last counts
    ],
)
def test_newest_copy_in_an_image_counts(
    copies: tuple[Json, Json], expected: dict[str, tuple[float, float, float]]
) -> None:
    """The copy of the higher version counts, whatever their order; of equal ones the last."""
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
    """Neither its definition nor its prices count, also once the newest copy is closed."""
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
    """A server that lags behind the one before sends what was offered then."""
    follower = Follower()
    follower.connect()
    shown_by_image = []
    for copy in (known, OLD, market(prices=PRICES, version=21)):
        follower.take(line(image(copy, market("1.2"))))
        shown_by_image.append(follower.shown())

    assert {"1.2": PRICES} == shown_by_image[1]
    assert {"1.1": PRICES, "1.2": PRICES} == shown_by_image[2]


def test_older_suspension_removes_nothing_before_the_image() -> None:
    """While an image is still to come, only what is newest takes a market off."""
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
    """Which of them is the newest cannot be known, so none is shown."""
    odd = {**NEW, "rc": [{"id": HOME, "batb": [[]]}]}

    assert [{"1.2": PRICES}] * 2 == [_image_of(odd, OLD), _image_of(OLD, odd)]
