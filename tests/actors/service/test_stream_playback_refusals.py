"""Refusals of the exchange's stream: too large a subscription, no session, no permission, an old clock."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.builders.betfair import APP_KEY, BOOKMAKER, PRICES, TOKEN, Json, config, prices_of, token
from tests.support.peers.exchange import Exchange, granted, refused
from tests.support.systems.virtual_service import configured, pass_to, until
from tests.support.time.virtual import settle

pytestmark = pytest.mark.anyio

CATALOGUE, LOGIN = "/v1", "/login"
ACCOUNT = {"username": "the-user", "password": "the-password"}
DENIED_S = 60.0


@pytest.fixture
def exchange() -> Exchange:
    """Return an exchange that grants logins and a subscription to a single market."""
    exchange, tokens = Exchange(), _tokens()
    exchange.web = lambda url: next(tokens) if url.endswith(LOGIN) else b'{"result":[]}'
    return exchange


def _tokens() -> Iterator[bytes]:
    yield token("token-1")
    while True:
        yield token("token-2")


async def test_expired_session_is_renewed(exchange: Exchange, tmp_path: Path) -> None:
    """A login returns another token, which the next connection and the catalogue use."""
    exchange.answer = lambda request: (
        refused(request, "NO_SESSION") if request.get("session") == "token-1" else granted(request)
    )
    async with configured(tmp_path, config(**ACCOUNT), exchange=exchange) as service:
        await until(lambda: exchange.requested(CATALOGUE))
        logins = [request for request in exchange.requests if request["op"] == "authentication"]

        assert {"1.1": PRICES} == prices_of(entry.match for entry in service.entries(BOOKMAKER))
        assert ["token-1", "token-2"] == [request["session"] for request in logins]
        assert {APP_KEY} == {request["appKey"] for request in logins}
        assert {"token-2"} == {headers["X-Authentication"] for headers in exchange.requested(CATALOGUE)}
        assert 2 == len(exchange.requested(LOGIN))


@pytest.mark.parametrize(
    "code", ["NOT_AUTHORIZED", "INVALID_APP_KEY", "MAX_CONNECTION_LIMIT_EXCEEDED", "NO_SESSION"]
)
async def test_denied_connection_is_retried_at_most_once_a_minute(
    exchange: Exchange, tmp_path: Path, code: str
) -> None:
    """A token that no login can renew, or a missing permission, is retried once a minute at most (A13)."""
    exchange.answer = lambda request: refused(request, code)
    async with configured(tmp_path, config(), exchange=exchange) as service:
        await settle()
        wait_s = (service.source("stream").next_attempt_at or 0.0) - service.clock.now().wall
        await pass_to(5 * DENIED_S + 1)
        failed_by = service.source("stream").failed_by

    waits = [after - before for before, after in pairwise(exchange.opened)]
    assert DENIED_S == pytest.approx(wait_s)
    assert DENIED_S == pytest.approx(min(waits))
    assert {code.lower(): len(exchange.opened)} == failed_by


async def test_session_refused_after_a_login_is_retried_slowly(exchange: Exchange, tmp_path: Path) -> None:
    """If the token of a new login is refused, the next token probably is refused as well (A13)."""
    exchange.answer = lambda request: refused(request, "NO_SESSION")
    async with configured(tmp_path, config(**ACCOUNT), exchange=exchange):
        await pass_to(DENIED_S - 1)

    assert 2 == len(exchange.requested(LOGIN))


async def test_expired_clock_causes_no_delay_of_a_minute(exchange: Exchange, tmp_path: Path) -> None:
    """The server closes the connection; the next one comes soon, without a clock, and gets an image."""
    async with configured(tmp_path, config(), exchange=exchange) as service:
        await settle()
        exchange.answer = lambda request: (
            refused(request, "INVALID_CLOCK") if "clk" in request else granted(request)
        )
        exchange.wire.close()
        at = await until(lambda: len(exchange.subscriptions()) == 3)

        assert at < 10
        assert 1 == service.source("stream").failed_by["invalid_clock"]
        assert [False, True, False] == ["clk" in request for request in exchange.subscriptions()]


async def test_missing_catalogue_is_retried_slowly(exchange: Exchange, tmp_path: Path) -> None:
    """Without a catalogue the subscription stays too large, and the failed selection is counted."""

    def answer(request: Json) -> list[Json]:
        if request["op"] == "marketSubscription":
            return refused(request, "SUBSCRIPTION_LIMIT_EXCEEDED")
        return granted(request)

    exchange.answer = answer
    async with configured(tmp_path, config(catalogue_url=""), exchange=exchange) as service:
        await pass_to(DENIED_S - 1)
        failed_by = service.source("stream").failed_by

    assert 1 == len(exchange.opened)
    assert {"errand_catalogue": 1, "subscription_limit_exceeded": 1} == failed_by


async def test_secrets_are_never_shown(
    exchange: Exchange, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """No secret is in the source's record or in the logs, although the server repeats them."""
    refusal = f'{{"status": "FAIL", "error": "{ACCOUNT["password"]} of {ACCOUNT["username"]}"}}'
    exchange.web = lambda _: refusal.encode()
    async with configured(tmp_path, config(**ACCOUNT), exchange=exchange) as service:
        await settle()
        error = service.source("stream").last_error or ""
    logged = "".join(capfd.readouterr()) + error

    assert "the login was refused: *** of ***; the next one is in 60 s" == error
    assert [] == [secret for secret in (*ACCOUNT.values(), APP_KEY, TOKEN) if secret in logged]
