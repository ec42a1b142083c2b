"""HTTP requests beside a stream, over real sockets."""

from __future__ import annotations

import pytest

from actors.core.errors import TransportError
from actors.transports.http import MAX_ANSWER_BYTES, RestTransport
from actors.transports.lines import tls_context
from tests.support.peers.http import HttpPeer, respond
from tests.support.time.virtual import ManualClock

pytestmark = pytest.mark.anyio


async def ask(url: str) -> bytes:
    """Send one request, with a new connection pool."""
    async with RestTransport(5.0, ManualClock(), tls_context(None, None)) as rest:
        return await rest.ask("POST", url, {"X-Application": "key"}, b"body")


async def test_answer_is_its_body(peer: HttpPeer) -> None:
    """Of limited length; the request has the given headers and no others that identify the client."""
    peer.answers["/rpc"] = respond(b"content")
    peer.answers["/long"] = respond(b"x" * (MAX_ANSWER_BYTES + 1))

    assert b"content" == await ask(peer.url("/rpc"))
    assert ("key", "oddsboard") == (
        peer.asked[0].headers["x-application"],
        peer.asked[0].headers["user-agent"],
    )
    with pytest.raises(TransportError, match="exceeds"):
        await ask(peer.url("/long"))


@pytest.mark.parametrize(
    ("status", "headers", "retry_after_s"),
    [
        (503, {"Retry-After": "120"}, 120.0),
        (429, {"Retry-After": "99999"}, 3600.0),
        (401, {}, 60.0),
        (403, {"Retry-After": "120"}, 120.0),
        (500, {}, None),
        (302, {"Location": "http://elsewhere.invalid/"}, None),
    ],
)
async def test_refusal_has_the_time_of_the_next_request(
    peer: HttpPeer, status: int, headers: dict[str, str], retry_after_s: float | None
) -> None:
    """Retry-After is honoured, a denial waits a minute, and no redirect is followed."""
    peer.answers["/rpc"] = respond(b"", status, headers)

    with pytest.raises(TransportError) as caught:
        await ask(peer.url("/rpc"))
    assert (status, retry_after_s) == (caught.value.status, caught.value.retry_after_s)
