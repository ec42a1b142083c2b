"""Lines over TLS: a peer without a valid certificate gets no byte of ours (faults.md, A9)."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl

import anyio
import pytest

from actors.core.errors import TransportError
from actors.transports.lines import connected, tls_context
from tests.support.builders.certificates import Authority, Pair
from tests.support.peers.lines import CREDENTIALS, MAX, line_peer, lines_of, trouble_with
from tests.support.peers.stream import stream_peer

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Return an authority that the machine does not trust."""
    return Authority(tmp_path_factory.mktemp("certificates"))


def _trusting(authority: Authority, client: Pair | None = None) -> ssl.SSLContext:
    """Return our TLS context, which trusts the authority."""
    files = (None, None) if client is None else (str(client.certificate), str(client.key))
    context = tls_context(*files)
    context.load_verify_locations(authority.itself.certificate)
    return context


@pytest.mark.parametrize("fault", ["self-signed", "expired", "wrong host", "unknown authority"])
async def test_peer_with_an_invalid_certificate_gets_nothing(fault: str, authority: Authority) -> None:
    """A peer with an invalid certificate is refused before any byte of ours is sent."""
    server = {
        "self-signed": lambda: authority.self_signed("self"),
        "expired": lambda: authority.signed("expired", days=-1),
        "wrong host": lambda: authority.signed("other", "DNS:stream.example,IP:127.0.0.2"),
        "unknown authority": lambda: authority.signed("unknown"),
    }[fault]()
    context = tls_context(None, None) if fault == "unknown authority" else _trusting(authority)
    with stream_peer(server.server_context()) as peer:
        trouble = await trouble_with(peer.url, context)

    assert ([], "connection", False) == (peer.received, trouble.reason, trouble.is_sent)
    assert "certificate" in str(trouble).lower()


async def test_peer_without_tls_gets_nothing() -> None:
    """Data for an encrypted connection is never sent unencrypted."""
    heard: list[bytes] = []

    def greet(connection: socket.socket) -> None:
        connection.sendall(b'{"op":"connection"}\r\n')
        with contextlib.suppress(OSError):
            heard.append(connection.recv(65536))

    with line_peer(greet) as peer:
        trouble = await trouble_with(peer.url("tls"), tls_context(None, None))

    assert "connection" == trouble.reason
    assert [] == [body for body in heard if b"authentication" in body or b"token" in body]


async def test_peer_with_an_outdated_protocol_gets_nothing(authority: Authority) -> None:
    """TLS 1.1 is not supported."""
    server = authority.signed("outdated").server_context()
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        server.minimum_version = ssl.TLSVersion.TLSv1_1
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        server.maximum_version = ssl.TLSVersion.TLSv1_1
    with stream_peer(server) as peer:
        trouble = await trouble_with(peer.url, _trusting(authority))

    assert ([], "connection") == (peer.received, trouble.reason)


async def test_valid_certificate_carries_lines_both_ways(authority: Authority) -> None:
    """With a trusted authority and the right host; its end is an expected error."""
    with stream_peer(authority.signed("good").server_context()) as peer:
        async with connected(peer.url, 5.0, MAX, _trusting(authority)) as connection:
            (greeting,) = await lines_of(connection, 1)
            await connection.send(CREDENTIALS)
            (answer,) = await lines_of(connection, 1)
            peer.cut()  # without the closing message that TLS demands
            with pytest.raises(TransportError) as caught, anyio.fail_after(10):
                await connection.receive()

    assert caught.value.reason in {"closed", "connection"}
    assert ("connection", "SUCCESS") == (json.loads(greeting)["op"], json.loads(answer)["statusCode"])
    assert [json.loads(CREDENTIALS)] == peer.requests


async def test_client_certificate_is_sent_on_request(authority: Authority) -> None:
    """A server that requests a client certificate gets the configured one."""
    server = authority.signed("asking").server_context()
    server.verify_mode = ssl.CERT_REQUIRED
    server.load_verify_locations(authority.itself.certificate)
    client = authority.signed("client")
    with stream_peer(server) as peer:
        without = await trouble_with(peer.url, _trusting(authority))
        async with connected(peer.url, 5.0, MAX, _trusting(authority, client)) as connection:
            (greeting,) = await lines_of(connection, 1)

    assert "connection" == without.reason
    assert "connection" == json.loads(greeting)["op"]
