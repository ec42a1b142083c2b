"""The protocol of the exchange's stream: the lines that it sends, and the effect of received lines."""

from __future__ import annotations

import pytest

from actors.core.errors import PayloadError, StreamError
from actors.source_api.stream import Reaction
from actors.sources.betfair.market import MarketNames
from actors.sources.betfair.wire import MAX_MARKETS
from tests.support.builders.betfair import (
    APP_KEY,
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
    offered,
    offers,
    prices_of,
    shown,
)

GREETING = {"op": "connection", "connectionId": "1"}
BETTER = change("1.1", {"id": HOME, "batb": [[0, 2.04, 7]]})


def test_handshake_line_by_line() -> None:
    """After the greeting come authentication and then subscription, each as one CRLF line."""
    stage = Stage(heartbeat_ms=1000, conflate_ms=250)
    stage.session.connect(TOKEN)
    greeted = stage.receive(GREETING)
    granted = stage.receive({**SUCCESS, "id": 1})
    subscribed = stage.receive({**SUCCESS, "id": 2})

    assert [1, 1, 0] == [len(reaction.send) for reaction in (greeted, granted, subscribed)]
    assert [(b"\r\n", 1)] * 2 == [(body[-2:], body.count(b"\n")) for body in (*greeted.send, *granted.send)]
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
    virtual = Stage(virtual_bets=True)
    virtual.connect()
    assert ["EX_BEST_OFFERS_DISP", "EX_MARKET_DEF"] == virtual.sent[1]["marketDataFilter"]["fields"]


@pytest.mark.parametrize("answers", [({"id": 0}, {"id": 7}, {"id": 1}, {"id": 1}), ({}, {})])
def test_unrelated_success_is_ignored(answers: tuple[Json, ...]) -> None:
    """Only the success of the authentication, with its id or no id, causes a subscription, once."""
    stage = Stage()
    stage.session.connect(TOKEN)
    stage.receive(GREETING)
    for answer in answers:
        stage.receive({**SUCCESS, **answer})

    assert ["authentication", "marketSubscription"] == [entry["op"] for entry in stage.sent]


def test_nothing_is_accepted_before_the_image() -> None:
    """Before the image no delta applies and no heartbeat confirms."""
    stage = Stage()
    stage.connect()
    before = [stage.receive(entry) for entry in (heartbeat(), delta(market()), delta(BETTER))]
    first = stage.receive(image(market()))

    assert [Reaction()] * 3 == before
    assert ({"1.1": PRICES}, True) == (shown(first), first.vouches)


@pytest.mark.parametrize(
    ("phase", "message", "why"),
    [
        ("connecting", image(market()), "before a subscription"),
        ("greeted", image(market()), "before a subscription"),
        ("live", GREETING, "second session"),
        ("live", {"op": "ocm"}, "op was 'ocm'"),
        ("live", {"op": ""}, "op was ''"),
        ("live", {"op": "x" * 100_000}, "op was 'x"),
        ("live", delta(ct="OTHER"), "ct was 'OTHER'"),
        *(
            ("live", delta(**odd), "no message of the stream")
            for odd in ({"clk": 5}, {"conflateMs": "180000"}, {"pt": "x"})
        ),
    ],
    ids=lambda value: str(value)[:30],
)
def test_message_that_breaks_the_protocol_is_an_error(phase: str, message: Json, why: str) -> None:
    """A connection has one session and one subscription; a field of another type is not taken as absent."""
    stage = live(market()) if phase == "live" else Stage()
    if phase != "live":
        stage.session.connect(TOKEN)
    if phase == "greeted":
        stage.receive(GREETING)

    with pytest.raises(PayloadError, match=why) as caught:
        stage.receive(message)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("message", [heartbeat(), heartbeat(mc=None), delta(), delta(mc=None)])
def test_message_without_changes_confirms(message: Json) -> None:
    """The list of markets may be null."""
    assert Reaction(vouches=True) == live(market()).receive(message)


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
        ("", "refused", False, False),
    ],
)
def test_refusals_have_their_reasons(code: str, reason: str, *, is_login: bool, is_too_much: bool) -> None:
    """Known codes have their own reasons; all other codes share a reason, and no text is repeated."""
    with pytest.raises(StreamError) as caught:
        live(market()).receive(failure(code))
    error = caught.value

    assert (reason, is_login, is_too_much) == (error.reason, error.is_login, error.is_too_much)
    assert f"the server refused: {reason}" == str(error)


START, MIDDLE, END = ({"segmentType": name} for name in ("SEG_START", "SEG", "SEG_END"))


def _connected() -> Stage:
    stage = Stage()
    stage.connect()
    return stage


def test_image_is_complete_at_its_end_only() -> None:
    """No market is returned before the last segment of the image."""
    stage = _connected()
    before = [
        stage.receive(image(market("1.1"), **START)),
        stage.receive(image(market("1.2"), **MIDDLE)),
        stage.receive(image(mc=None, **MIDDLE)),
    ]
    last = stage.receive(image(market("1.3"), **END))

    assert [Reaction()] * 3 == before
    assert dict.fromkeys(["1.1", "1.2", "1.3"], PRICES) == shown(last)


def test_delta_may_be_segmented() -> None:
    """A segmented delta is applied, and confirms, at its last segment."""
    stage = live(market("1.1"), market("1.2"))
    first = stage.receive(delta(BETTER, **START))
    last = stage.receive(delta(change("1.2", {"id": HOME, "batb": [[0, 1.9, 7]]}), **END))

    assert Reaction() == first
    assert last.changes is not None
    assert {"1.1": (2.04, 3.5, 4.0), "1.2": (1.9, 3.5, 4.0)} == prices_of(last.changes.matches)


def test_new_image_starts_without_old_segments() -> None:
    """Segments of a replaced subscription are dropped too."""
    stage = live(market("1.1"))
    stage.receive(image(market("1.9"), **START))
    stage.take(stage.session.refresh())
    stage.receive(image(market("1.8"), **MIDDLE))
    fresh = stage.receive(image(market("1.1"), id=3))

    assert {"1.1": PRICES} == shown(fresh)


@pytest.mark.parametrize(
    "messages",
    [
        [delta(BETTER, **MIDDLE)],
        [delta(BETTER, **END)],
        [delta(BETTER, **START), delta(BETTER, **END), delta(BETTER, **END)],
        [delta(BETTER, id=9, **START), delta(BETTER, id=8, **END)],
        [delta(BETTER, **START), delta(BETTER)],
        [delta(BETTER, **START), image(market())],
        [delta(BETTER, **START), delta(BETTER, **START)],
        [image(market("1.2"), **START), delta(BETTER, ct="RESUB_DELTA", **END)],
        [delta(BETTER, segmentType="SEG_MIDDLE")],
        [delta(BETTER, segmentType="")],
    ],
    ids=[
        "middle",
        "end",
        "end twice",
        "subscriptions",
        "delta",
        "image",
        "start twice",
        "kinds",
        "unknown",
        "empty",
    ],
)
def test_segments_out_of_order_are_a_protocol_error(messages: list[Json]) -> None:
    """A segment is missing, so later messages cannot be trusted."""
    *good, bad = messages
    stage = live(market())
    for message in good:
        stage.receive(message)

    with pytest.raises(PayloadError) as caught:
        stage.receive(bad)
    assert "segments" == caught.value.reason


def test_segments_without_a_kind_have_that_of_the_first() -> None:
    """All segments or the first alone have the kind of an image; the list before it stays until its end."""
    stage = live(market())
    stage.receive(image(market("1.2"), **START))
    assert {"1.1": PRICES} == prices_of(stage.session.image().matches)
    reaction = stage.receive(delta(market("1.3"), **END))

    assert reaction.image is not None
    assert ["1.2", "1.3"] == [match.source_match_id for match in reaction.image.matches]


def test_heartbeat_between_segments_does_not_confirm() -> None:
    """The list is about to change, and nobody knows how."""
    stage = live(market())
    stage.receive(delta(BETTER, **START))

    assert not stage.receive(heartbeat()).vouches


def test_too_many_segments_are_a_protocol_error() -> None:
    """The total size is limited, also for a message that never ends."""
    stage = _connected()
    some = [change("1.1")] * (MAX_MARKETS // 4)
    for kind in (START, MIDDLE, MIDDLE, MIDDLE):
        stage.receive(image(*some, **kind))

    with pytest.raises(PayloadError, match="10000"):
        stage.receive(image(change("1.1"), **MIDDLE))


def test_image_at_any_time_replaces_everything() -> None:
    """Markets that the image does not contain are removed, with their prices."""
    stage = live(market("1.1"), market("1.2"))
    stage.receive(delta(BETTER))
    again = stage.receive(image(market("1.1"), market("1.3")))
    late = stage.receive(delta(change("1.2", {"id": HOME, "batb": [[0, 2.2, 1]]})))

    assert {"1.1": PRICES, "1.3": PRICES} == shown(again)
    assert "unreadable" == offered(late).reason  # type: ignore[union-attr]


def test_image_of_a_market_replaces_it() -> None:
    """With `img`, nothing of the old ladders or definition stays; without `img`, they are changed."""
    stage = live(market())
    stage.receive(delta(change("1.1", {"id": HOME, "batb": [[1, 1.9, 5]]})))
    partly = {**market(), "rc": offers()[:2]}

    assert "incomplete" == offered(stage.receive(delta(partly))).reason  # type: ignore[union-attr]
    assert "Match" == type(offered(stage.receive(delta({**partly, "img": False, "rc": offers()})))).__name__


def test_closed_market_is_dropped() -> None:
    """Later changes count as changes of an unknown market; a new image restores the market."""
    stage = live(market())
    stage.session.name({"1.1": MarketNames({})})
    stage.receive(delta({"id": "1.1", "marketDefinition": definition(status="CLOSED")}))
    after = stage.receive(delta(BETTER))
    known = dict(stage.session.markets), dict(stage.session._names)

    assert (None, ({}, {})) == (after.changes, known)
    assert PRICES == prices_of([offered(stage.receive(delta(market())))])["1.1"]  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("asked_ms", "told_ms", "counted"),
    [(0, None, 2), (0, 0, 2), (250, None, 0), (0, 180_000, 0), (250, 0, 2)],
)
def test_con_is_normal_on_a_delayed_stream(asked_ms: int, told_ms: int | None, counted: int) -> None:
    """Without a requested or set delay, `con` says that the client reads too slowly."""
    stage = Stage(conflate_ms=asked_ms)
    stage.connect()
    stage.receive(image(market(), market("1.2"), conflateMs=told_ms))
    for con in (True, False, None):
        stage.receive(delta({**BETTER, "con": con}, change("1.2", con=con)))

    assert counted == stage.session.slow_messages


def test_heartbeat_of_the_server_applies_to_its_connection() -> None:
    """The next connection, if it resumes nothing, begins with the requested delay."""
    stage = live(market())
    stage.receive(heartbeat(conflateMs=180_000))
    stage.session.forget()
    stage.connect()
    stage.receive(image({**market(), "con": True}, id=4))

    assert 1 == stage.session.slow_messages


def test_market_without_names_is_reported() -> None:
    """Each message that changes an open market reports it, until its names are known."""
    stage = Stage()
    stage.connect()
    suspended = market("1.2", status="SUSPENDED")
    first = stage.receive(image(market(), suspended))
    changed = stage.receive(delta(BETTER))
    opened = stage.receive(delta({"id": "1.2", "marketDefinition": definition()}))

    assert (("1.1",), ("1.1",), ("1.2",)) == (first.unnamed, changed.unnamed, opened.unnamed)


def test_too_many_markets_are_a_protocol_error() -> None:
    """The limit is higher than that of any account."""
    stage = live()
    known = [market(f"1.{number}") for number in range(MAX_MARKETS)]
    stage.receive(delta(*known))

    with pytest.raises(PayloadError, match="10000"):
        stage.receive(delta(market("1.x")))
