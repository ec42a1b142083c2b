"""The feed of a stream: withdrawn prices leave the board at once, also while an image is incomplete."""

from __future__ import annotations

from actors.core.cooperative import run_now
from actors.core.messages import ListId, Payload, SourceName
from actors.pipeline.stream_feed import REFRESH_SCOPE
from actors.sources.betfair.market import MarketNames
from tests.support.builders.betfair import PRICES, definition, delta, image, line, market
from tests.support.systems.betfair_board import Follower

SUSPENDED = delta({"id": "1.1", "marketDefinition": definition(status="SUSPENDED")})


def _live() -> Follower:
    """Return a subscription whose image of two markets is on the board."""
    follower = Follower()
    follower.connect()
    follower.take(line(image(market("1.1"), market("1.2"))))
    return follower


def test_a_recorded_request_for_an_image_is_repeated() -> None:
    """In a replay, too, the image is incomplete from the request on."""
    follower = _live()
    asked = Payload(
        SourceName("stream"), REFRESH_SCOPE, ListId(""), b"", follower.now.wall, follower.now.mono
    )
    run_now(follower.feed.replay(asked, lambda _: {}))

    assert not follower.take(line(SUSPENDED)).reaction.vouches


def test_list_without_trust_is_withdrawn() -> None:
    """The list may lack a suspension, so it is withdrawn; messages before the next image have no effect."""
    follower = _live()
    follower.apply(follower.feed.withdraw(follower.now))
    shown = follower.shown()
    heard = follower.take(line(SUSPENDED))

    assert ({}, ()) == (shown, heard.batches)


def test_withdrawal_has_no_list_id() -> None:
    """A withdrawal is not dropped with a list that a crash drops or sets aside."""
    follower = _live()
    follower.session.refresh()
    unreliable = follower.take(line(delta(id=3, status=503)))
    distrusted = _live().feed.withdraw(follower.now)

    assert [("", True)] * 2 == [
        (batch.list_id, batch.withdrawn) for batch in (*unreliable.batches, *distrusted)
    ]


def test_lost_withdrawal_is_repeated() -> None:
    """A withdrawal is repeated while a bookmaker or a restarted source still has the old list."""
    follower = _live()
    run_now(follower.feed.line(line(delta(status=503)), follower.now))
    lost = follower.shown()
    follower.apply(follower.feed.withdraw(follower.now))

    assert ({"1.1": PRICES, "1.2": PRICES}, {}) == (lost, follower.shown())


def test_names_do_not_restore_a_suspended_market() -> None:
    """If names arrive while an image is incomplete, markets removed until then stay removed."""
    follower = _live()
    follower.session.refresh()
    follower.take(line(SUSPENDED))
    follower.apply(follower.feed.names({"1.1": MarketNames({})}))

    assert {"1.2": PRICES} == follower.shown()
