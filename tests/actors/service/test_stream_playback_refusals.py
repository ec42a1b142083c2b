"""Refusals of the exchange's stream: too large a subscription, no session, no permission, an old clock."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders.betfair import APP_KEY, PRICES, TOKEN, image, market
from tests.support.peers.http import Answer, Asked, HttpPeer, respond
from tests.support.peers.stream import StreamPeer
from tests.support.systems.betfair_playback import (
    CATALOGUE,
    LOGIN,
    Exchange,
    exchange,
    peers,
    token,
)

pytestmark = [pytest.mark.anyio, pytest.mark.real_time]

Peers = tuple[StreamPeer, HttpPeer]
ACCOUNT = {"username": "the-user", "password": "the-password"}
DENIED_S = 60.0


@pytest.fixture
def both() -> Iterator[Peers]:
    """Return a stream that answers a subscription with one market."""
    with peers() as (stream, rest):
        stream.answer = lambda _: [image(market())]
        yield stream, rest


def _in_turn(*answers: Answer) -> Answer:
    """Return one answer after the other, then the last one forever."""
    left = list(answers)

    def answer(connection: socket.socket, asked: Asked) -> None:
        (left.pop(0) if len(left) > 1 else left[0])(connection, asked)

    return answer


def _waits_s(one: Exchange) -> float:
    """Return the seconds from now to the next attempt."""
    return (one.board.source.next_attempt_at or 0.0) - one.board.clock.now().wall


def _unless_few(most: int) -> Any:
    def refuse(request: Any) -> str | None:
        ids = request.get("marketFilter", {}).get("marketIds", [""] * 1000)
        is_subscription = request["op"] == "marketSubscription"
        return "SUBSCRIPTION_LIMIT_EXCEEDED" if is_subscription and len(ids) > most else None

    return refuse


async def test_expired_session_is_renewed(both: Peers, tmp_path: Path) -> None:
    """A login returns another token, which the next connection and the catalogue use."""
    stream, rest = both
    rest.answers[LOGIN] = _in_turn(respond(token("token-1")), respond(token("token-2")))
    stream.refuse = lambda request: "NO_SESSION" if request.get("session") == "token-1" else None
    async with exchange(tmp_path, *both, **ACCOUNT) as one:
        await one.shows({"1.1": PRICES})
        await one.board.until(lambda: bool(one.asked(CATALOGUE)))
        logins = [request for request in stream.requests if request["op"] == "authentication"]

        assert ["token-1", "token-2"] == [request["session"] for request in logins]
        assert {APP_KEY} == {request["appKey"] for request in logins}
        assert {"token-2"} == {headers["x-authentication"] for headers in one.asked(CATALOGUE)}
        assert 2 == len(one.asked(LOGIN))


@pytest.mark.parametrize(
    "code", ["NOT_AUTHORIZED", "INVALID_APP_KEY", "MAX_CONNECTION_LIMIT_EXCEEDED", "NO_SESSION"]
)
async def test_denied_connection_is_retried_at_most_once_a_minute(
    both: Peers, tmp_path: Path, code: str
) -> None:
    """A token that no login can renew, or a missing permission, is retried once a minute at most (A13)."""
    both[0].refuse = lambda _: code
    async with exchange(tmp_path, *both) as one:
        await one.board.until(lambda: one.board.source.next_attempt_at is not None)

        assert DENIED_S - 1 < _waits_s(one) <= DENIED_S + 1
        assert {code.lower(): 1} == one.board.source.failed_by


async def test_session_refused_after_a_login_is_retried_slowly(both: Peers, tmp_path: Path) -> None:
    """If the token of a fresh login is refused, the next one probably is as well (A13)."""
    both[0].refuse = lambda _: "NO_SESSION"
    async with exchange(tmp_path, *both, **ACCOUNT) as one:
        await one.board.until(lambda: one.board.source.failed_by["no_session"] >= 3 or _waits_s(one) > 10)

        assert len(one.asked(LOGIN)) <= 2


async def test_expired_clock_causes_no_delay_of_a_minute(both: Peers, tmp_path: Path) -> None:
    """The server closes; the next connection follows soon, without a clock, and begins with an image."""
    stream, _ = both
    async with exchange(tmp_path, *both) as one:
        await one.shows({"1.1": PRICES})
        stream.refuse = lambda request: "INVALID_CLOCK" if "clk" in request else None
        stream.cut()
        await one.board.until(lambda: one.board.source.failed_by["invalid_clock"] == 1)
        await one.board.until(lambda: len(stream.subscriptions()) == 3 or _waits_s(one) > 10)

        assert [False, True, False] == ["clk" in request for request in stream.subscriptions()]


async def test_missing_catalogue_is_retried_slowly(both: Peers, tmp_path: Path) -> None:
    """Without a catalogue the subscription stays too large, and the failed selection is counted."""
    both[0].refuse = _unless_few(3)
    async with exchange(tmp_path, *both, catalogue_url="") as one:
        await one.board.until(lambda: one.board.source.failed_by["errand_catalogue"] == 1)

        assert 1 == one.board.source.failed_by["subscription_limit_exceeded"]


async def test_secrets_are_never_shown(
    both: Peers, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """No secret is in the source's record or in the logs, although the server repeats them."""
    both[1].answers[LOGIN] = respond(
        f'{{"status": "FAIL", "error": "{ACCOUNT["password"]} of {ACCOUNT["username"]}"}}'.encode()
    )
    async with exchange(tmp_path, *both, **ACCOUNT) as one:
        await one.board.until(lambda: one.board.source.failures >= 1)
        error = one.board.source.last_error or ""
    said = "".join(capfd.readouterr()) + error

    assert "the login was refused: *** of ***; the next one is in 60 s" == error
    assert [] == [secret for secret in (*ACCOUNT.values(), APP_KEY, TOKEN) if secret in said]
