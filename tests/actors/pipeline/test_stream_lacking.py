"""The actor of a stream: parts of an image that cannot be applied, and names that do not come."""

from __future__ import annotations

import anyio
import pytest

from actors.core.errors import TransportError
from actors.monitoring.status import BookmakerStatus
from actors.runtime.actor import ActorStatus
from tests.support.builders.betfair import Json, catalogue, delta, image, market, offers
from tests.support.peers.exchange import granted_with
from tests.support.systems.stream_stage import EXCHANGE, StreamStage, running

pytestmark = pytest.mark.anyio

UNDEFINED: Json = {"id": "1.9", "img": True, "rc": offers()}


async def test_image_is_requested_for_a_part_that_could_not_be_applied() -> None:
    """The request is sent at once, without a clock; the whole parts are shown all the time."""
    stage = StreamStage()
    stage.answer = lambda request: granted_with(
        request, image(market(), *([UNDEFINED] if request["id"] == 2 else []))
    )
    async with running(stage):
        await anyio.sleep(2)
        first, shown = stage.inbox.batches[0], stage.shown()

    assert (["1.1"], ["1.9"]) == (
        [match.source_match_id for match in first.matches],
        [removal.source_match_id for removal in first.removals],
    )
    assert [False, False] == ["clk" in request for request in stage.subscriptions()]
    assert 1 == shown


async def test_image_is_requested_once_a_minute_for_the_same_market() -> None:
    """An image for another market is requested at once."""
    stage = StreamStage()
    stage.answer = lambda request: granted_with(request, image(market(), UNDEFINED))
    counts = []
    async with running(stage):
        for _ in range(2):
            for _ in range(11):
                await anyio.sleep(5)
                stage.say(delta({"id": "1.9", "img": True, "rc": offers()}))
            counts.append(len(stage.subscriptions()))
            await anyio.sleep(6)
            stage.say(delta({"id": "1.9", "img": True, "rc": offers()}))
            await anyio.sleep(1)
        stage.say(delta({"id": "1.8", "rc": offers()}))
        await anyio.sleep(1)

    assert ([2, 3], 5) == (counts, len(stage.subscriptions()))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b'{"error":{"data":{"APINGException":{"errorCode":"ACCESS_DENIED"}}}}', "refused: ACCESS_DENIED"),
        (TransportError("status 503", reason="status"), "status 503"),
        (b'{"result":[]}', "the catalogue does not have them"),
        (None, "there is no catalogue to ask"),
    ],
)
async def test_error_says_why_names_did_not_come(answer: bytes | TransportError | None, why: str) -> None:
    """The error stays until the names come."""
    more: Json = {"catalogue_url": ""} if answer is None else {}
    stage = StreamStage(**more)

    def web(_: str) -> bytes:
        if isinstance(answer, TransportError):
            raise answer
        return answer or b""

    stage.web = web
    record = BookmakerStatus(EXCHANGE, "Exchange", stage.context.status, ActorStatus("bookmaker"))
    told = []
    async with running(stage):
        for _ in range(2):
            await anyio.sleep(20)
            for batch in stage.inbox.batches:
                record.rejections.note(batch, {})
            told.append(record.last_error(stage.published.current().books[EXCHANGE]))
            stage.web = lambda _: catalogue("1.1")
            stage.say(image(market()))
            await anyio.sleep(60)
            stage.say(image(market()))

    assert str(told[0]).startswith("the names of 1 matches are missing: ")
    assert str(told[0]).endswith(why)
    assert (told[1] is None) is (answer is not None)
