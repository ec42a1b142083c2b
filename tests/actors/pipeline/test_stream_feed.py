"""What a stream's lines become on the board: what is taken back goes, whatever else is under way."""

from __future__ import annotations

from actors.core.cooperative import run_now
from actors.pipeline.stream_feed import SCOPE
from actors.sources.betfair.market import MarketNames
from tests.support.builders.betfair import PRICES, definition, delta, image, line, market
from tests.support.systems.betfair_board import EXCHANGE, Follower

SUSPENDED = delta({"id": "1.1", "marketDefinition": definition(status="SUSPENDED")})


def _live() -> Follower:
    """Return a subscription whose image of two markets is on the board."""
    follower = Follower()
    follower.connect()
    follower.take(line(image(market("1.1"), market("1.2"))))
    return follower


def test_a_market_is_suspended_also_while_an_image_is_under_way() -> None:
    """Its message takes it off, and vouches for none of the others."""
    follower = _live()
    before = follower.snapshot.books[EXCHANGE].lists[SCOPE]
    follower.session.refresh()
    heard = follower.take(line(SUSPENDED))

    assert ({"1.2": PRICES}, False) == (follower.shown(), heard.reaction.vouches)
    assert before == follower.snapshot.books[EXCHANGE].lists[SCOPE]


def test_a_list_that_is_distrusted_is_withdrawn() -> None:
    """What it lacks may have been a suspension. What is said before an image counts for nothing."""
    follower = _live()
    follower.apply(follower.feed.withdraw(follower.now))
    shown = follower.shown()
    heard = follower.take(line(SUSPENDED))

    assert ({}, ()) == (shown, heard.batches)


def test_a_withdrawal_names_no_list() -> None:
    """Whatever is thrown away or set aside with a list, in a crash, the withdrawal is not."""
    follower = _live()
    follower.session.refresh()
    unreliable = follower.take(line(delta(id=3, status=503)))
    distrusted = _live().feed.withdraw(follower.now)

    assert [("", True)] * 2 == [(one.list_id, one.withdrawn) for one in (*unreliable.batches, *distrusted)]


def test_a_withdrawal_that_was_lost_is_said_again() -> None:
    """A bookmaker that lost it, or a source that began anew, finds the old list still on the board."""
    follower = _live()
    run_now(follower.feed.line(line(delta(status=503)), follower.now))
    lost = follower.shown()
    follower.apply(follower.feed.withdraw(follower.now))

    assert ({"1.1": PRICES, "1.2": PRICES}, {}) == (lost, follower.shown())


def test_names_bring_no_suspended_market_back() -> None:
    """They may come while an image is under way: what was taken off until then stays off."""
    follower = _live()
    follower.session.refresh()
    follower.take(line(SUSPENDED))
    follower.apply(follower.feed.names({"1.1": MarketNames({})}))

    assert {"1.2": PRICES} == follower.shown()
