"""What a stream's lines become on the board: what is taken back goes, whatever else is under way."""

from __future__ import annotations

from actors.pipeline.stream_feed import SCOPE
from tests.support.builders.betfair import PRICES, definition, delta, image, line, market
from tests.support.systems.betfair_board import EXCHANGE, Follower

SUSPENDED = delta({"id": "1.1", "marketDefinition": definition(status="SUSPENDED")})


def _live() -> Follower:
    """Give a subscription whose image of two markets is on the board."""
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

    assert ({"1.2": PRICES}, False) == (follower.shown(), heard.vouches)
    assert before == follower.snapshot.books[EXCHANGE].lists[SCOPE]


def test_a_list_that_is_distrusted_is_withdrawn() -> None:
    """Once; what it lacks may have been a suspension. What is said before an image counts for nothing."""
    follower = _live()
    follower.apply(follower.feed.distrust(follower.now))
    shown = follower.shown()
    again = follower.feed.distrust(follower.now)
    heard = follower.take(line(SUSPENDED))

    assert ({}, (), ()) == (shown, again, heard.batches)


def test_a_withdrawal_names_no_list() -> None:
    """Whatever is thrown away or set aside with a list, in a crash, the withdrawal is not."""
    follower = _live()
    follower.session.refresh()
    unreliable = follower.take(line(delta(id=3, status=503)))
    distrusted = _live().feed.distrust(follower.now)

    assert [("", True)] * 2 == [(one.list_id, one.withdrawn) for one in (*unreliable.batches, *distrusted)]


def test_a_list_that_was_never_given_is_not_taken_back() -> None:
    """At the start there is nothing to distrust."""
    follower = Follower()

    assert () == follower.feed.distrust(follower.now)
