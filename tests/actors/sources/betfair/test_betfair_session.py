"""The protocol of the exchange's stream: the lines that it sends, and the effect of received lines."""

from __future__ import annotations

import pytest

from actors.core.errors import PayloadError, StreamError
from actors.source_api.stream import Reaction
from actors.sources.betfair.session import Phase
from tests.support.builders.betfair import (
    APP_KEY,
    HOME,
    PRICES,
    SUCCESS,
    TOKEN,
    Json,
    Stage,
    change,
    delta,
    failure,
    heartbeat,
    image,
    live,
    market,
    offers,
    prices_of,
)

GREETING = {"op": "connection", "connectionId": "1"}
BETTER = change("1.1", {"id": HOME, "batb": [[0, 2.04, 7]]})
HANDICAP = market("1.9", marketType="ASIAN_HANDICAP")


def _shown(reaction: Reaction) -> dict[str, tuple[float, float, float]]:
    """Return the prices of an image."""
    assert reaction.image is not None
    return prices_of(reaction.image.matches)


def test_handshake_line_by_line() -> None:
    """After the greeting come authentication and then subscription, each as one CRLF line."""
    stage = Stage(heartbeat_ms=1000, conflate_ms=250)
    stage.session.connect(TOKEN)
    greeted = stage.receive(GREETING)
    granted = stage.receive({**SUCCESS, "id": 1})
    subscribed = stage.receive({**SUCCESS, "id": 2})

    assert [1, 1, 0] == [len(one.send) for one in (greeted, granted, subscribed)]
    assert [(b"\r\n", 1)] * 2 == [(one[-2:], one.count(b"\n")) for one in (*greeted.send, *granted.send)]
    assert {"op": "authentication", "id": 1, "appKey": APP_KEY, "session": TOKEN} == stage.sent[0]
    assert {
        "op": "marketSubscription",
        "id": 2,
        "segmentationEnabled": True,
        "conflateMs": 250,
        "heartbeatMs": 1000,
        "marketFilter": {"eventTypeIds": ["1"], "marketTypes": ["MATCH_ODDS"]},
        "marketDataFilter": {"fields": ["EX_BEST_OFFERS", "EX_MARKET_DEF"], "ladderLevels": 1},
    } == stage.sent[1]


def test_unrelated_success_is_ignored() -> None:
    """Only the success of the authentication causes a subscription, once."""
    stage = Stage()
    stage.session.connect(TOKEN)
    stage.receive(GREETING)
    for number in (0, 7):
        stage.receive({**SUCCESS, "id": number})
    stage.receive({**SUCCESS, "id": 1})
    stage.receive({**SUCCESS, "id": 1})

    assert ["authentication", "marketSubscription"] == [one["op"] for one in stage.sent]


def test_success_without_an_id_answers_the_authentication() -> None:
    """A success without an id counts before the subscription and has no effect after it."""
    stage = Stage()
    stage.session.connect(TOKEN)
    stage.receive(GREETING)
    stage.receive(SUCCESS)
    stage.receive(SUCCESS)

    assert ["authentication", "marketSubscription"] == [one["op"] for one in stage.sent]


def test_virtual_bets_are_requested() -> None:
    """If configured, prices with virtual bets are requested in place of the other ladders."""
    stage = Stage(virtual_bets=True)
    stage.connect()
    shown = [{"id": one["id"], "bdatb": one["batb"]} for one in offers()]

    assert ["EX_BEST_OFFERS_DISP", "EX_MARKET_DEF"] == stage.sent[1]["marketDataFilter"]["fields"]
    assert {"1.1": PRICES} == _shown(stage.receive(image({**market(), "rc": shown})))


def test_nothing_is_accepted_before_the_image() -> None:
    """Before the image no delta applies and no heartbeat confirms."""
    stage = Stage()
    stage.connect()
    before = [stage.receive(one) for one in (heartbeat(), delta(market()), delta(BETTER))]
    first = stage.receive(image(market()))

    assert [Reaction()] * 3 == before
    assert ({"1.1": PRICES}, True) == (_shown(first), first.vouches)


@pytest.mark.parametrize("phase", ["greeted", "connecting"])
def test_market_data_before_a_subscription_is_a_protocol_error(phase: str) -> None:
    """Market data without a subscription raises an error."""
    stage = Stage()
    stage.session.connect(TOKEN)
    if phase == "greeted":
        stage.receive(GREETING)

    with pytest.raises(PayloadError, match="before a subscription"):
        stage.receive(image(market()))


def test_second_greeting_is_a_protocol_error() -> None:
    """A connection has one session."""
    with pytest.raises(PayloadError, match="second session"):
        live(market()).receive(GREETING)


@pytest.mark.parametrize("message", [heartbeat(), heartbeat(mc=None), delta(), delta(mc=None)])
def test_message_without_changes_confirms(message: Json) -> None:
    """The list of markets may be null."""
    assert Reaction(vouches=True) == live(market()).receive(message)


@pytest.mark.parametrize("op", ["ocm", "", "x" * 100_000])
def test_unknown_message_is_a_protocol_error(op: str) -> None:
    """The error has a short text."""
    with pytest.raises(PayloadError) as caught:
        live(market()).receive({"op": op})

    assert ("op", True) == (caught.value.reason, len(str(caught.value)) < 200)


def test_markets_that_are_no_list_are_a_protocol_error() -> None:
    """An object where an array must stand rejects the whole message (faults.md, B18)."""
    with pytest.raises(PayloadError):
        live(market()).receive({**image(), "mc": {"1.1": market()}})


@pytest.mark.parametrize(
    ("code", "reason", "is_login", "is_too_much"),
    [
        ("NO_SESSION", "no_session", True, False),
        ("INVALID_SESSION_INFORMATION", "invalid_session_information", True, False),
        ("SUBSCRIPTION_LIMIT_EXCEEDED", "subscription_limit_exceeded", False, True),
        ("NOT_AUTHORIZED", "not_authorized", False, False),
        ("TIMEOUT", "timeout", False, False),
        ("the-session-token", "refused", False, False),
        (None, "refused", False, False),
    ],
)
def test_refusals_have_their_reasons(code: str, reason: str, *, is_login: bool, is_too_much: bool) -> None:
    """Known codes have their own reasons; all others share one, and their text is not repeated."""
    with pytest.raises(StreamError) as caught:
        live(market()).receive(failure(code))
    error = caught.value

    assert (reason, is_login, is_too_much) == (error.reason, error.is_login, error.is_too_much)
    assert f"the server refused: {reason}" == str(error)


def test_incomplete_status_is_a_refusal() -> None:
    """A status other than a success counts as a refusal."""
    with pytest.raises(StreamError):
        live(market()).receive({"op": "status"})


def test_phases_have_an_order() -> None:
    """The phases go from the connection to the image."""
    stage, phases = Stage(), []
    for message in (None, GREETING, {**SUCCESS, "id": 1}, {**SUCCESS, "id": 2}, image(market())):
        stage.session.connect(TOKEN) if message is None else stage.receive(message)
        phases.append(stage.session.phase)

    connecting, greeted, *others = phases
    assert (Phase.CONNECTING, Phase.AUTHENTICATING) == (connecting, greeted)
    assert [Phase.SUBSCRIBING, Phase.SUBSCRIBING, Phase.LIVE] == others
