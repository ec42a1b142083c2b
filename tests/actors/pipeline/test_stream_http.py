"""HTTP requests of a stream's actor, in virtual time: sessions, names, the nearest matches."""

from __future__ import annotations

import json
from itertools import pairwise

import anyio
import pytest

from actors.core.errors import TransportError
from actors.core.messages import Payload
from actors.pipeline.stream_feed import NAMES_SCOPE
from actors.pipeline.stream_http import StreamHttp
from actors.sources.betfair.kind import KIND
from tests.support.builders.betfair import (
    HOME,
    TOKEN,
    Json,
    catalogue,
    change,
    definition,
    delta,
    failure,
    image,
    market,
    token,
)
from tests.support.peers.exchange import granted
from tests.support.systems.stream_stage import EXCHANGE, StreamStage, running

pytestmark = pytest.mark.anyio

ACCOUNT: Json = {"username": "the-user", "password": "the-password", "session_token": None}
BETTER = delta(change("1.1", {"id": HOME, "batb": [[0, 2.04, 7]]}), id=None)
CATALOGUE = "/v1"


def _wanted(stage: StreamStage) -> list[list[str]]:
    """Return the markets whose names were requested, by request."""
    bodies = [
        json.loads(body)["params"]["filter"] for _, url, _, body in stage.asked if url.endswith(CATALOGUE)
    ]
    return [asked_for["marketIds"] for asked_for in bodies if "marketIds" in asked_for]


def _several(*market_ids: str) -> StreamStage:
    """Return a stream whose image has these markets."""
    stage = StreamStage()
    images = {**image(*map(market, market_ids)), "id": None}
    stage.answer = lambda request: (
        [*granted(request)[:1], images] if request["op"] == "marketSubscription" else granted(request)
    )
    return stage


async def test_session_is_kept_alive_every_ten_minutes() -> None:
    """Each keep-alive sends the present token."""
    stage = StreamStage()
    stage.web = lambda url: token("token-2") if url.endswith("keepAlive") else catalogue()
    async with running(stage):
        await anyio.sleep(1250)
        stage.wire.close()
        await anyio.sleep(1)

    shown = [headers["X-Authentication"] for _, url, headers, _ in stage.asked if url.endswith("keepAlive")]
    logins = [request["session"] for request in stage.requests if request["op"] == "authentication"]
    assert ([600.0, 1200.0], [TOKEN, "token-2"]) == (stage.times("keepAlive"), shown)
    assert [TOKEN, "token-2"] == logins


async def test_lost_session_is_renewed_by_a_login() -> None:
    """The login happens at the next need of a session, and the connection stays."""
    stage = StreamStage(**ACCOUNT)

    def web(url: str) -> bytes:
        if url.endswith("keepAlive"):
            return token("", status="FAIL")
        return token(f"token-{len(stage.times('login'))}") if url.endswith("login") else catalogue()

    stage.web = web
    async with running(stage):
        await anyio.sleep(650)
        opened = list(stage.opened)
        stage.wire.close()
        await anyio.sleep(1)

    logins = [request["session"] for request in stage.requests if request["op"] == "authentication"]
    assert ([0.0], ["token-1", "token-2"]) == (opened, logins)


@pytest.mark.parametrize("trouble", ["unreachable", "refused"])
async def test_configured_session_is_kept_after_a_failed_keep_alive(trouble: str) -> None:
    """No login can replace the session, and only the stream can report its end."""
    stage = StreamStage()

    def web(url: str) -> bytes:
        if url.endswith("keepAlive") and trouble == "unreachable":
            raise TransportError("refused", reason="connection")
        return token("", status="FAIL") if url.endswith("keepAlive") else catalogue()

    stage.web = web
    async with running(stage):
        await anyio.sleep(650)
        stage.wire.close()
        await anyio.sleep(100)

    assert 2 == len(stage.wires)
    assert [TOKEN, TOKEN] == [
        request["session"] for request in stage.requests if request["op"] == "authentication"
    ]


async def test_names_are_requested_in_batches() -> None:
    """Each request has up to a hundred markets, and each market is requested once."""
    names = [f"1.{number}" for number in range(250)]
    stage = _several(*names)
    stage.web = lambda _: catalogue(*names[:240])
    async with running(stage):
        await anyio.sleep(100)

    assert [100, 100, 50] == [len(group) for group in _wanted(stage)]
    assert names == sorted((name for group in _wanted(stage) for name in group), key=names.index)


async def test_unknown_names_are_requested_again_later() -> None:
    """Unknown names are requested after a minute if the market still changes."""
    stage = StreamStage()
    stage.web = lambda url: token(TOKEN) if url.endswith("keepAlive") else catalogue()
    async with running(stage):
        for _ in range(13):
            await anyio.sleep(10)
            stage.wire.say(BETTER)

    times = stage.times(CATALOGUE)
    assert [0.0, 60.0, 120.0] == times


async def test_failed_catalogue_is_requested_again_after_five_seconds() -> None:
    """The catalogue is retried until it answers, and the stream is not affected."""
    stage = StreamStage()

    def web(url: str) -> bytes:
        if len(stage.times(CATALOGUE)) < 4:
            raise TransportError("refused", reason="connection")
        assert url
        return catalogue("1.1")

    stage.web = web
    async with running(stage):
        await anyio.sleep(100)

    assert [0.0, 5.0, 10.0, 15.0] == stage.times(CATALOGUE)
    assert ([0.0], 0) == (stage.opened, stage.context.status.failures)
    assert 3 == stage.context.status.failed_by["errand_connection"]


async def test_names_confirm_no_prices() -> None:
    """A batch with names has the time of the last message of the stream, not that of the catalogue."""
    stage = StreamStage()
    stage.web, stage.web_delay_s = (lambda _: catalogue("1.1")), 20.0
    async with running(stage, beats=False):
        stage.is_refused = True
        await anyio.sleep(1)
        stage.wire.close()
        await anyio.sleep(20)
        named = [match for batch in stage.inbox.batches for match in batch.matches if match.home]
        await anyio.sleep(9.5)
        is_serving = stage.published.current().books[EXCHANGE].is_serving

    assert ["Alder Town"] == [match.home for match in named]
    assert {0.0} == {delivered.received_mono for delivered in stage.inbox.batches}
    assert not is_serving


async def test_names_of_removed_markets_are_not_requested() -> None:
    """Nothing is requested for a market that a new image has removed before the request."""
    stage = StreamStage()
    http = StreamHttp(KIND, stage.context.options, stage, stage.clock)
    http.request_names(["1.1"], None)
    http.request_names([], frozenset())
    body, names, why = await http.fetch_names()

    assert ([], b"", {}, None) == (stage.asked, body, names, why)


async def test_only_answers_of_the_catalogue_are_recorded() -> None:
    """If no catalogue was requested, the recording has no names."""
    recorded: list[Payload] = []
    stage = StreamStage(catalogue_url="")
    object.__setattr__(stage.context, "record", recorded.append)
    async with running(stage):
        await anyio.sleep(20)

    assert [] == [payload.body for payload in recorded if payload.scope == NAMES_SCOPE]
    assert recorded


async def test_nearest_kick_offs_are_selected() -> None:
    """If the account may not have all markets, the nearest ones are selected every ten minutes."""
    stage = StreamStage(max_markets=1)
    nearest = iter(["1.1", "1.2", "1.3"])
    stage.answer = _limited
    stage.web = lambda url: catalogue(next(nearest)) if url.endswith(CATALOGUE) else token(TOKEN)
    async with running(stage):
        await anyio.sleep(1300)

    wanted = [subscription["marketFilter"].get("marketIds") for subscription in stage.subscriptions()]
    assert [None, ["1.1"], ["1.2"], ["1.3"]] == wanted


def _limited(request: Json, most: int = 1) -> list[Json]:
    """Grant at most `most` markets, with names in full."""
    if request["op"] != "marketSubscription":
        return granted(request)
    ids = request["marketFilter"].get("marketIds")
    if ids is None or len(ids) > most:
        return [failure("SUBSCRIPTION_LIMIT_EXCEEDED", closed=False, id=request["id"])]
    runners = [{**runner, "name": "A"} for runner in definition()["runners"]]
    return [
        granted(request)[0],
        image(*(market(match_id, runners=runners) for match_id in ids), id=request["id"]),
    ]


async def test_failed_selection_keeps_the_present_markets() -> None:
    """If the catalogue fails, the present markets stay, and the error is counted."""
    stage = StreamStage(max_markets=1)
    stage.answer = _limited
    stage.web = lambda _: catalogue("1.1") if not stage.opened[1:] else b"<html>"
    async with running(stage):
        await anyio.sleep(1300)

    assert [None, ["1.1"]] == [
        subscription["marketFilter"].get("marketIds") for subscription in stage.subscriptions()
    ]
    assert 0 < stage.context.status.failed_by["errand_unreadable"]


@pytest.mark.long
async def test_smaller_number_grows_again() -> None:
    """An hour after a refusal twice as many markets are requested, since the limit may have changed."""
    stage = StreamStage(max_markets=8)
    names = [f"1.{number}" for number in range(1, 20)]
    most = 2
    stage.answer = lambda request: _limited(request, most)
    stage.web = lambda url: token(TOKEN) if url.endswith("keepAlive") else catalogue(*names)
    async with running(stage):
        await anyio.sleep(4300)
        first = [
            len(subscription["marketFilter"].get("marketIds", [])) for subscription in stage.subscriptions()
        ]
        most = 8
        await anyio.sleep(3 * 4300)

    sizes = [
        len(subscription["marketFilter"].get("marketIds", [])) for subscription in stage.subscriptions()
    ]
    assert [0, 8, 4, 2, 4, 2] == first
    assert [4, 8] == sizes[len(first) :]


async def test_half_is_that_of_the_refused_number() -> None:
    """If the catalogue has fewer markets than configured, half of the requested markets are requested."""
    stage = StreamStage(max_markets=9000)
    names = [f"1.{number}" for number in range(10)]
    stage.answer = lambda request: _limited(request, 5)
    stage.web = lambda _: catalogue(*names)
    async with running(stage):
        await anyio.sleep(100)

    wanted = [
        len(subscription["marketFilter"].get("marketIds", [])) for subscription in stage.subscriptions()
    ]
    assert [0, 10, 5] == wanted


@pytest.mark.parametrize("is_renewed", [True, False], ids=["later", "first"])
async def test_refused_login_is_tried_with_increasing_delays(*, is_renewed: bool) -> None:
    """Each further refusal doubles the delay, up to an hour, and reports it: accounts can be locked."""
    stage = StreamStage(**ACCOUNT)
    refused = json.dumps({"token": "", "status": "FAIL", "error": "INVALID_USERNAME_OR_PASSWORD"}).encode()
    stage.web = lambda url: (
        refused
        if url.endswith("login") and (len(stage.times("login")) > 1 or not is_renewed)
        else token("token-1")
    )
    async with running(stage):
        if is_renewed:
            await anyio.sleep(5)
            stage.wire.say(failure("NO_SESSION"))
        await anyio.sleep(5 * 3600)

    times = stage.times("login")[is_renewed:]
    waits = [round(later - earlier) for earlier, later in pairwise(times)]
    assert [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600] == waits[:9]
    reason = "the login was refused: INVALID_USERNAME_OR_PASSWORD"
    assert f"{reason}; the next one is in 3600 s" == stage.context.status.error


async def test_granted_login_resets_the_delay() -> None:
    """After a granted login, the next refusal causes a delay of one minute again."""
    stage = StreamStage(**ACCOUNT)
    refused = json.dumps({"token": "", "status": "FAIL"}).encode()
    stage.web = lambda url: (
        refused if url.endswith("login") and len(stage.times("login")) != 3 else token("token-1")
    )
    async with running(stage):
        await anyio.sleep(200)
        stage.wire.say(failure("NO_SESSION"))
        await anyio.sleep(100)

    waits = [round(later - earlier) for earlier, later in pairwise(stage.times("login"))]
    assert ([60, 120], 60) == (waits[:2], waits[3])


async def test_concurrent_needs_of_a_session_log_in_once() -> None:
    """The second caller waits for the login of the first, and uses its token."""
    stage = StreamStage(**ACCOUNT)
    rest = SlowRest(token("token-1"))
    http = StreamHttp(KIND, stage.context.options, rest, stage.context.clock)
    got: list[str] = []

    async def get() -> None:
        got.append(await http.token())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(get)
        tasks.start_soon(get)

    assert (["token-1", "token-1"], 1) == (got, rest.asked)


class SlowRest:
    """A REST client that answers with one body, after a second."""

    def __init__(self, body: bytes) -> None:
        self.asked = 0
        self._body = body

    async def ask(self, method: str, url: str, headers: object, body: bytes) -> bytes:
        """Count the request, wait, and answer."""
        del method, url, headers, body
        self.asked += 1
        await anyio.sleep(1)
        return self._body
