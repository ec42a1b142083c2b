"""The delay that a server reports for its prices is added to their age, and shown to operators."""

from __future__ import annotations

import pytest

from actors.pipeline.stream_feed import SCOPE
from tests.support.builders.betfair import PRICES, definition, delta, heartbeat, image, line, market
from tests.support.systems.betfair_board import EXCHANGE, STALE_AFTER_S, Follower

LATE_MS = int(STALE_AFTER_S * 1000)


def _connected() -> Follower:
    follower = Follower()
    follower.connect()
    return follower


@pytest.mark.parametrize(
    ("asked_ms", "told_ms", "delay_s"), [(0, 180_000, 180.0), (500, None, 0.5), (500, 0, 0.0)]
)
def test_delay_is_part_of_the_age(asked_ms: int, told_ms: int | None, delay_s: float) -> None:
    """The delay that the server reports counts; before its first report, the delay that we asked for."""
    follower = Follower(conflate_ms=asked_ms)
    follower.connect()
    follower.take(line(image(market(), conflateMs=told_ms)))
    state = follower.snapshot.books[EXCHANGE].lists[SCOPE]

    assert delay_s == state.delay_s == follower.session.delay_s
    assert state.confirmed_mono + STALE_AFTER_S - delay_s == state.deadline
    assert state.confirmed_mono - delay_s == state.vouched_at(market()["id"])


def test_delay_can_be_told_later() -> None:
    """A heartbeat reports the delay, and the age of all prices changes."""
    follower = _connected()
    follower.take(line(image(market())))
    follower.take(line(heartbeat(conflateMs=180_000)))

    assert 180.0 == follower.snapshot.books[EXCHANGE].lists[SCOPE].delay_s


@pytest.mark.parametrize(("is_resumed", "delay_s"), [(True, 180.0), (False, 0.0)])
def test_delay_holds_for_a_subscription_that_is_resumed(delay_s: float, *, is_resumed: bool) -> None:
    """The server need not repeat the delay for the same subscription; a new image reports it."""
    follower = _connected()
    follower.take(line(image(market(), conflateMs=180_000)))
    if not is_resumed:
        follower.session.forget()
    follower.connect()
    follower.take(line(heartbeat()))

    assert delay_s == follower.session.delay_s


@pytest.mark.parametrize("told_by", [image(market(), conflateMs=LATE_MS), heartbeat(conflateMs=LATE_MS)])
def test_prices_that_come_too_late_are_withdrawn(told_by: dict[str, object]) -> None:
    """The prices are withdrawn at once; no later message brings them back until the delay is shorter."""
    follower = _connected()
    follower.take(line(image(market())))
    before = follower.shown()
    told = follower.take(line(told_by))
    at_once = follower.shown()
    again = follower.take(line(image(market())))
    open_again = follower.take(line(delta({"id": "1.1", "marketDefinition": definition()})))

    assert ({"1.1": PRICES}, {}, {}) == (before, at_once, follower.shown())
    assert (True, False, False) == tuple(heard.reaction.withdraw for heard in (told, again, open_again))
    follower.take(line(image(market(), conflateMs=0)))
    assert {"1.1": PRICES} == follower.shown()
