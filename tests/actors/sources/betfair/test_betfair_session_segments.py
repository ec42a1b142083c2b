"""Messages of the exchange in segments: complete at the end, or without effect."""

from __future__ import annotations

import pytest

from actors.core.errors import PayloadError
from actors.source_api.stream import Reaction
from actors.sources.betfair.wire import MAX_MARKETS
from tests.support.builders.betfair import (
    HOME,
    PRICES,
    Json,
    Stage,
    change,
    delta,
    heartbeat,
    image,
    live,
    market,
    prices_of,
)

START, MIDDLE, END = ({"segmentType": one} for one in ("SEG_START", "SEG", "SEG_END"))
BETTER = change("1.1", {"id": HOME, "batb": [[0, 2.04, 7]]})


def _connected() -> Stage:
    stage = Stage()
    stage.connect()
    return stage


def test_image_is_complete_at_its_end_only() -> None:
    """Nothing is returned before its last segment."""
    stage = _connected()
    before = [
        stage.receive(image(market("1.1"), **START)),
        stage.receive(image(market("1.2"), **MIDDLE)),
        stage.receive(image(mc=None, **MIDDLE)),
    ]
    last = stage.receive(image(market("1.3"), **END))

    assert [Reaction()] * 3 == before
    assert last.image is not None
    assert dict.fromkeys(["1.1", "1.2", "1.3"], PRICES) == prices_of(last.image.matches)


def test_incomplete_image_removes_nothing() -> None:
    """The previous list stays until the image is complete."""
    stage = live(market("1.1"))
    stage.receive(image(market("1.2"), **START))

    assert {"1.1": PRICES} == prices_of(stage.session.image().matches)


def test_delta_may_be_segmented() -> None:
    """A segmented delta is applied, and confirms, at its last segment."""
    stage = live(market("1.1"), market("1.2"))
    first = stage.receive(delta(BETTER, **START))
    last = stage.receive(delta(change("1.2", {"id": HOME, "batb": [[0, 1.9, 7]]}), **END))

    assert Reaction() == first
    assert last.changes is not None
    assert {"1.1": (2.04, 3.5, 4.0), "1.2": (1.9, 3.5, 4.0)} == prices_of(last.changes.matches)


def test_interrupted_segments_are_dropped() -> None:
    """Segments of a lost connection are no part of the next message."""
    stage = live(market("1.1"))
    stage.receive(image(market("1.9"), **START))
    stage.connect()
    patch = stage.receive(image(BETTER, ct="RESUB_DELTA", id=4))

    assert patch.image is not None
    assert {"1.1": (2.04, 3.5, 4.0)} == prices_of(patch.image.matches)


def test_new_image_starts_without_old_segments() -> None:
    """Segments of a replaced subscription are dropped too."""
    stage = live(market("1.1"))
    stage.receive(image(market("1.9"), **START))
    stage.take(stage.session.refresh())
    stage.receive(image(market("1.8"), **MIDDLE))
    fresh = stage.receive(image(market("1.1"), id=3))

    assert fresh.image is not None
    assert {"1.1": PRICES} == prices_of(fresh.image.matches)


@pytest.mark.parametrize(
    "messages",
    [
        [delta(BETTER, **MIDDLE)],
        [delta(BETTER, **END)],
        [delta(BETTER, **START), delta(BETTER, **END), delta(BETTER, **END)],
        [delta(BETTER, **START), delta(BETTER)],
        [delta(BETTER, **START), image(market())],
        [delta(BETTER, **START), delta(BETTER, **START)],
        [delta(BETTER, segmentType="SEG_MIDDLE")],
        [delta(BETTER, segmentType="")],
    ],
    ids=["middle", "end", "end twice", "delta", "image", "start twice", "unknown", "empty"],
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


def test_segments_of_different_kinds_are_a_protocol_error() -> None:
    """An image cannot end as a patch."""
    stage = live(market())
    stage.receive(image(market("1.2"), **START))

    with pytest.raises(PayloadError):
        stage.receive(delta(BETTER, ct="RESUB_DELTA", **END))


def test_segments_without_a_kind_have_that_of_the_first() -> None:
    """An image is one whether all its segments have the kind or only the first."""
    stage = live(market())
    stage.receive(image(market("1.2"), **START))
    reaction = stage.receive(delta(market("1.3"), **END))

    assert reaction.image is not None
    assert ["1.2", "1.3"] == [match.source_match_id for match in reaction.image.matches]


def test_heartbeat_between_segments_does_not_confirm() -> None:
    """The list is about to change in an unknown way."""
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


def test_clocks_of_any_segment_count() -> None:
    """The newest clocks of a complete message count, and none of an incomplete one."""
    stage = live(market())
    first = {**image(market("1.2"), **START), "initialClk": "i-first", "clk": "c-first"}
    stage.receive(first)
    stage.receive({**image(market("1.3"), **END), "initialClk": None, "clk": None})
    stage.connect()

    assert ("i-first", "c-first") == (stage.sent[-1]["initialClk"], stage.sent[-1]["clk"])
