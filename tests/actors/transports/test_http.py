"""HTTP requests over real sockets: beside a stream, and to receivers, whose redirects are not followed."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from actors.core.clock import SystemClock
from actors.core.errors import TransportError
from actors.transports.connections import LookUpLoop
from actors.transports.http import MAX_ANSWER_BYTES, RestTransport
from actors.transports.lines import tls_context
from actors.transports.sending import Poster, is_public, is_public_name
from tests.support.peers.http import HttpPeer, raw, respond
from tests.support.time.virtual import ManualClock

pytestmark = pytest.mark.anyio


async def ask(url: str) -> bytes:
    """Send one request, with a new connection pool."""
    async with RestTransport(5.0, ManualClock(), tls_context(None, None)) as rest:
        return await rest.ask("POST", url, {"X-Application": "key"}, b"body")


async def test_answer_is_its_body(peer: HttpPeer) -> None:
    """The body has a limited length; the request has the given headers and no others that identify us."""
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


ASKED: list[Any] = []


def _resolve(host: str | bytes, port: int, *_: Any) -> list[Any]:
    """Answer like a name server that gives this machine's address to every name."""
    ASKED.append(host if isinstance(host, str) else host.decode())
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]


@pytest.fixture
def anyio_backend() -> object:
    """Run on the service's own loop, with a name server of the test."""
    ASKED.clear()
    return "asyncio", {"loop_factory": lambda: LookUpLoop(_resolve)}


async def post(url: str, *, is_allowed: Any = is_public, timeout_s: float = 30.0) -> int:
    """Post a small body."""
    async with Poster(timeout_s, SystemClock(), is_allowed) as poster:
        return await poster.post(url, {"X-Own": "1"}, b"{}")


async def refused(url: str, **options: Any) -> TransportError:
    """Return the error of a post."""
    with pytest.raises(TransportError) as caught:
        await post(url, **options)
    return caught.value


async def test_any_success_is_one_though_its_body_never_ends(peer: HttpPeer) -> None:
    """With the status 2xx the message has arrived, so the body does not matter, however slowly it comes."""
    peer.answers["/hook"] = raw(b"HTTP/1.1 204 No Content\r\n\r\n")
    peer.answers["/slow"] = raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nx", b"x", every_s=0.5)

    assert (204, 200) == (await post(peer.url("/hook")), await post(peer.url("/slow")))
    assert ("POST", b"{}", "1") == (
        peer.asked[0].method,
        peer.asked[0].body,
        peer.asked[0].headers["x-own"],
    )


async def test_a_refusal_has_its_begin_and_its_delay(peer: HttpPeer) -> None:
    """The start of an answer helps a person who tests a receiver; a redirect is not followed."""
    peer.answers["/moved"] = respond(status=307, headers={"Location": peer.url("/hook")})
    peer.answers["/hook"] = respond(b"no" * 5000, 429, {"Retry-After": "7"})
    moved, error = await refused(peer.url("/moved")), await refused(peer.url("/hook"))

    assert ("status was 307, must be 2xx", 2) == (str(moved), len(peer.asked))
    assert (429, 7.0, b"no" * 1024) == (error.status, error.retry_after_s, error.body)


async def test_a_public_name_with_a_private_address_is_refused(peer: HttpPeer) -> None:
    """No connection is opened, and the error has no address."""
    error = await refused(f"http://hook.example:{peer.port}/secret")

    assert ("private", False, 0) == (error.reason, error.is_sent, peer.connections)
    assert "127." not in str(error)
    assert "secret" not in str(error)


async def test_the_checked_address_is_the_one_connected_to(peer: HttpPeer) -> None:
    """A name is looked up once: a second look-up might give another address."""
    peer.answers["/hook"] = respond()

    await post(f"http://hook.example:{peer.port}/hook", is_allowed=lambda address: address == "127.0.0.1")

    assert (["hook.example"], 1) == (ASKED, peer.connections)


async def test_local_names_and_addresses_are_as_configured(peer: HttpPeer) -> None:
    """No stranger gives an address to a local name; with `allow_private` this holds for every name."""
    peer.answers["/hook"] = respond()

    for host, allowed in (("127.0.0.1", is_public), ("ntfy", is_public), ("hook.example", None)):
        assert 200 == await post(f"http://{host}:{peer.port}/hook", is_allowed=allowed)


def test_public_addresses_and_names() -> None:
    """Local, shared or reserved addresses, also inside others, and local names are not public."""
    private = (
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.1"),
        *("224.0.0.1", "::1", "::", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:10.0.0.1"),
        *("64:ff9b::a00:1", "2002:a00:1::", "255.255.255.255"),
    )
    names = ("hook.example", "LOCALHOST.", "a.localhost", "ha.local", "x.internal", "r.home.arpa", "127.1")

    assert [] == [address for address in private if is_public(address)]
    assert all(map(is_public, ("8.8.8.8", "2606:4700::1111", "64:ff9b::808:808")))
    assert ["hook.example", "127.1"] == [name for name in names if is_public_name(name)]
    assert not any(map(is_public_name, ("10.0.0.1", "::1", "fe80::1%eth0")))
