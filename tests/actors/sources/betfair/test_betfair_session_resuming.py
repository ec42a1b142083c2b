"""The parts of a subscription to the exchange that outlive a connection: clocks, markets, trust."""

from __future__ import annotations

import pytest

from actors.core.errors import PayloadError, SourceError
from actors.core.messages import Extract, Removal, SourceMatchId
from actors.source_api.stream import Reaction
from actors.sources.betfair.session import Phase
from tests.support.builders.betfair import (
    HOME,
    PRICES,
    SUCCESS,
    TOKEN,
    Json,
    Stage,
    change,
    definition,
    delta,
    failure,
    heartbeat,
    image,
    live,
    market,
    shown,
)

BETTER = change("1.1", {"id": HOME, "batb": [[0, 2.04, 7]]})


def test_both_clocks_are_sent() -> None:
    """Both clocks have their last values; a message that was not applied does not change them."""
    for messages, clocks in [
        ([], ("initial-1", "clk-1")),
        ([heartbeat(clk="b")], ("initial-1", "b")),
        ([delta(BETTER, clk="b"), delta(clk="c", initialClk="j")], ("j", "c")),
        ([delta(BETTER, initialClk="j")], ("j", "clk-1")),
        ([heartbeat(clk="b"), heartbeat(clk=None, initialClk=None), delta(BETTER)], ("initial-1", "b")),
        ([delta(BETTER, clk="b", segmentType="SEG_START")], ("initial-1", "clk-1")),
        (
            [
                delta(BETTER, clk="b", segmentType="SEG_START"),
                delta(clk="c", initialClk="j", segmentType="SEG_END"),
            ],
            ("j", "c"),
        ),
        ([delta(BETTER, clk="b", id=1)], ("initial-1", "clk-1")),
        ([heartbeat(clk="b", status=503)], ("initial-1", "clk-1")),
        ([image(market(), initialClk="j", clk="b")], ("j", "b")),
        ([delta(BETTER, segmentType="SEG_START"), heartbeat(clk="b")], ("initial-1", "clk-1")),
        (
            [
                image(market("1.2"), initialClk="j", clk="b", segmentType="SEG_START"),
                image(market("1.3"), initialClk=None, clk=None, segmentType="SEG_END"),
            ],
            ("j", "b"),
        ),
    ]:
        stage = live(market())
        for message in messages:
            stage.receive(message)

        assert clocks == stage.presented(), (messages, clocks)


def test_subscription_is_resumed_with_the_same_criteria() -> None:
    """A resumed subscription has a new id, so that late messages of the old one can be recognised."""
    stage = live(market())
    first = stage.sent[1]
    stage.connect("another-token")
    login, second = stage.sent[2:]

    assert "another-token" == login["session"]
    assert {**first, "id": 4, "initialClk": "initial-1", "clk": "clk-1"} == second


def test_patch_is_applied_to_the_known_markets() -> None:
    """A patch returns the whole list, and which of its markets have changed."""
    stage = live(market("1.1"), market("1.2"))
    stage.connect()
    reaction = stage.receive(image(BETTER, ct="RESUB_DELTA", id=4))

    assert {"1.1": (2.04, 3.5, 4.0), "1.2": PRICES} == shown(reaction)
    assert (True, Phase.LIVE) == (reaction.vouches, stage.session.phase)


def test_patch_without_known_markets_is_a_protocol_error() -> None:
    """There are no markets to which the patch could be applied."""
    stage = Stage()
    stage.connect()

    with pytest.raises(PayloadError, match="nothing is known"):
        stage.receive(image(BETTER, ct="RESUB_DELTA"))


def test_known_markets_are_not_confirmed_by_a_new_connection() -> None:
    """Before the new connection's patch or image, nothing confirms the markets or moves the clock."""
    stage = live(market())
    stage.connect()
    answers = [stage.receive(heartbeat(id=4, clk="b")), stage.receive(delta(BETTER, id=4))]

    assert [Reaction()] * 2 == answers
    assert ("initial-1", "clk-1") == stage.presented()


def test_expired_clock_is_not_sent_again() -> None:
    """On an open connection a new subscription is sent immediately; the next one begins without a clock."""
    stage, closed = live(market()), live(market())
    stage.connect()
    stage.receive(failure("INVALID_CLOCK", closed=False, id=4))
    closed.connect()
    with pytest.raises(SourceError) as caught:
        closed.receive(failure("INVALID_CLOCK", id=4))

    assert (5, set()) == (stage.sent[-1]["id"], {"clk", "initialClk"} & stage.sent[-1].keys())
    assert {"1.1": PRICES} == shown(stage.receive(image(market(), id=5)))
    assert ("invalid_clock", (None, None)) == (caught.value.reason, closed.presented())


SUSPENDED = {"id": "1.1", "marketDefinition": definition(status="SUSPENDED")}


@pytest.mark.parametrize("late", [delta(BETTER), image(market("1.9")), heartbeat(status=503), heartbeat()])
def test_late_messages_of_a_replaced_subscription_are_dropped(late: Json) -> None:
    """Messages with an older id are dropped; one without an id belongs to the newest subscription."""
    stage = live(market())
    stage.take(stage.session.refresh())
    stage.receive({**SUCCESS, "id": 3})
    dropped = stage.receive(late)
    fresh = stage.receive(image(market(), id=3))
    again, suspended = stage.receive(late), stage.receive(delta(SUSPENDED))
    numberless = stage.receive(delta(BETTER, id=None))

    assert [Reaction()] * 3 == [dropped, again, suspended]
    assert ({"1.1": PRICES}, True) == (shown(fresh), numberless.changes is not None)


@pytest.mark.parametrize("status", ["SUSPENDED", "CLOSED", "INACTIVE"])
@pytest.mark.parametrize("number", [2, 3, None], ids=["of the old", "of the new", "of none"])
def test_market_that_is_not_open_is_removed_while_an_image_is_incomplete(
    status: str, number: int | None
) -> None:
    """Before the image is complete, no other change has an effect."""
    stage = live(market("1.1"), market("1.2"))
    stage.take(stage.session.refresh())
    ended = {"id": "1.1", "marketDefinition": definition(status=status)}
    unknown = {"id": "1.7", "marketDefinition": definition(status=status)}
    reaction = stage.receive(delta(ended, unknown, change("1.2", {"id": HOME, "ltp": 2.0}), id=number))

    gone = (Removal(SourceMatchId("1.1"), status.lower()),)
    assert Reaction(changes=Extract((), gone)) == reaction
    assert {"1.1", "1.2"} == set(shown(stage.receive(image(market("1.1"), market("1.2"), id=3))))


def test_new_image_is_requested_once() -> None:
    """No request is made while another one is under way or while there is no subscription."""
    stage = live(market())
    asked = [stage.session.refresh().send for _ in range(2)]
    stage.session.connect(TOKEN)

    assert [1, 0] == [len(pair) for pair in asked]
    assert Reaction() == stage.session.refresh()


def test_unreliable_stream_is_withdrawn_at_once() -> None:
    """The list is withdrawn once, also before an image; the next reliable message causes a new image."""
    early = Stage()
    early.connect()
    reactions = [early.receive(heartbeat(status=503)), early.receive(image(market()))]
    stage = live(market())
    first = stage.receive({"op": "mcm", "id": 2, "status": 503})
    more = stage.receive(delta(BETTER, status=503))
    good = stage.receive(delta(BETTER, clk="b"))
    stage.take(good)
    late = stage.receive(delta(BETTER))
    fresh = stage.receive(image(market(), id=3))

    assert [Reaction(withdraw=True), Reaction(), Reaction()] == [first, more, late]
    assert (False, False, "marketSubscription") == (
        good.vouches,
        "clk" in stage.sent[-1],
        stage.sent[-1]["op"],
    )
    assert {"1.1": PRICES} == shown(fresh)
    assert [True, False] == [reaction.withdraw for reaction in reactions]
    assert (None, 3) == (reactions[1].image, early.last_id)


def test_narrower_subscription_begins_with_an_image() -> None:
    """The next subscription has only these markets, on this connection or another one."""
    stage = live(market())
    stage.session.narrow(["1.5", "1.3"])
    stage.take(stage.session.refresh())
    here = stage.sent[-1]
    stage.receive(image(market("1.5"), id=3))
    stage.connect()

    wanted = {"eventTypeIds": ["1"], "marketTypes": ["MATCH_ODDS"], "marketIds": ["1.5", "1.3"]}
    assert wanted == here["marketFilter"] == stage.sent[-1]["marketFilter"]
    assert (False, True) == ("clk" in here, "clk" in stage.sent[-1])


@pytest.mark.parametrize("told", [{"clk": None}, {"initialClk": None}])
def test_one_clock_alone_does_not_resume(told: Json) -> None:
    """If the server has sent only one of the two clocks, the next connection begins with an image."""
    stage = Stage()
    stage.connect()
    stage.receive(image(market(), **told))

    assert (None, None) == stage.presented()


def test_clocks_received_after_narrowing_belong_to_the_wider_subscription() -> None:
    """Clocks are not sent with other criteria than their own, nor after a subscription was forgotten."""
    stage, forgotten = live(market()), live(market())
    stage.session.narrow(["1.5"])
    stage.receive(delta(BETTER, clk="b", initialClk="j"))
    forgotten.session.forget()

    assert [(None, None)] * 2 == [stage.presented(), forgotten.presented()]
