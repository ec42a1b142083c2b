"""Lines are complete and limited in length; over TLS only a valid peer gets a line (faults.md, A9)."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import struct
import threading
from collections.abc import Iterable
from itertools import pairwise
from typing import NoReturn

import anyio
import pytest
from anyio import EndOfStream
from anyio.abc import ByteStream
from hypothesis import given
from hypothesis import strategies as st

from actors.core.errors import TransportError
from actors.transports.lines import LineConnection, connected, tls_context
from tests.support.builders.certificates import Authority, Pair
from tests.support.peers.lines import CREDENTIALS, MAX, line_peer, lines_of, trouble_with
from tests.support.peers.stream import stream_peer

pytestmark = pytest.mark.anyio


class Pieces(ByteStream):
    """A stream that delivers these pieces and then ends; `taken` counts the pieces delivered."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.taken = 0
        self._pieces = iter(pieces)

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """Return the next piece."""
        piece = next(self._pieces, None)
        if piece is None:
            raise EndOfStream
        assert len(piece) <= max_bytes
        self.taken += len(piece)
        return piece

    async def send(self, item: bytes) -> None:
        """Refuse to write: this stream can only be read."""
        raise NotImplementedError

    async def send_eof(self) -> None:
        """Do nothing."""

    async def aclose(self) -> None:
        """Do nothing."""


async def _received(pieces: list[bytes], max_line_bytes: int = MAX) -> list[bytes]:
    connection = LineConnection(Pieces(pieces), max_line_bytes)
    return [line for _ in pieces for line in await connection.receive()]


@given(
    lines=st.lists(st.binary(max_size=20).filter(lambda body: not set(body) & {10, 13}), max_size=8),
    ends=st.sampled_from([b"\n", b"\r\n"]),
    cuts=st.lists(st.integers(0, 200), max_size=12),
)
def test_lines_are_complete_however_they_arrive(lines: list[bytes], ends: bytes, cuts: list[int]) -> None:
    """Bytes cut anywhere, also between CR and LF, give the same lines; an incomplete line is kept back."""
    raw = b"".join(line + ends for line in lines) + b"half"
    places = sorted({0, len(raw), *(cut % len(raw) for cut in cuts)})
    pieces = [raw[a:b] for a, b in pairwise(places)]

    assert lines == anyio.run(_received, pieces)


async def test_lines_of_any_content_and_length_up_to_the_limit() -> None:
    """Only the carriage return before a line feed is removed; the limit is inclusive."""
    assert [b"a\rb\r", b""] == await _received([b"a\rb\r\r\n\n"])
    assert [b"x" * 100] == await _received([b"x" * 60, b"x" * 40, b"\n"], max_line_bytes=100)
    for pieces in (
        [b"x" * 101],
        [b"x" * 60, b"x" * 41],
        [b"ok\n" + b"x" * 101 + b"\nok\n"],
        [b"x" * 99 + b"yy\nok\n"],
    ):
        with pytest.raises(TransportError) as caught:
            await _received(pieces, max_line_bytes=100)

        assert "too_big" == caught.value.reason


async def test_endless_line_is_not_read_to_its_end() -> None:
    """The buffer never has more than the limit and one chunk."""
    stream = Pieces(b"x" * 65536 for _ in range(1000))
    connection = LineConnection(stream, 2**20)
    with pytest.raises(TransportError, match="1048576 bytes"):
        await lines_of(connection, 1)

    assert stream.taken <= 2**20 + 65536


def _close(connection: socket.socket) -> None:
    connection.sendall(b"one\r\nhalf")


def _reset(connection: socket.socket) -> None:
    connection.recv(1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


async def test_end_of_a_connection_is_a_transport_error() -> None:
    """Complete lines that came before the peer closed are kept; an incomplete line is dropped."""
    with line_peer(_reset) as peer:
        assert "connection" == (await trouble_with(peer.url(), tls_context(None, None))).reason
    with line_peer(_close) as peer:
        async with connected(peer.url(), 5.0, MAX, tls_context(None, None)) as connection:
            first = await lines_of(connection, 1)
            with pytest.raises(TransportError) as caught:
                await connection.receive()

    assert ([b"one"], "closed") == (first, caught.value.reason)


async def test_sending_to_a_closed_peer_is_a_transport_error() -> None:
    """Repeated sending to a closed connection ends with an error."""
    with line_peer(_reset) as peer:
        async with connected(peer.url(), 5.0, MAX, tls_context(None, None)) as connection:
            await connection.send(b"x")
            with pytest.raises(TransportError) as caught, anyio.fail_after(10):
                await _send_for_ever(connection)

    assert "connection" == caught.value.reason


async def _send_for_ever(connection: LineConnection) -> NoReturn:
    while True:
        await connection.send(b"x" * 65536)


@pytest.mark.parametrize("scheme", ["tcp", "tls"])
async def test_refused_connection_is_a_transport_error(scheme: str) -> None:
    """If no peer listens, nothing can have been sent."""
    with line_peer(_close) as gone:
        url = gone.url(scheme)

    trouble = await trouble_with(url, tls_context(None, None))
    assert ("connection", False) == (trouble.reason, trouble.is_sent)


async def test_handshake_has_a_deadline() -> None:
    """A peer that accepts and never answers is given up after the time limit."""
    done = threading.Event()

    def hang(connection: socket.socket) -> None:
        del connection
        done.wait(30)

    with line_peer(hang) as peer:
        trouble = await trouble_with(peer.url("tls"), tls_context(None, None), timeout_s=0.3)
        done.set()

    assert ("timeout", "no connection within 0.3 s") == (trouble.reason, str(trouble))


async def test_cancelled_receive_loses_nothing() -> None:
    """Half a line waits for its other half, also when a receive is cancelled in between."""
    go_on = threading.Event()

    def halves(connection: socket.socket) -> None:
        connection.sendall(b"first ha")
        go_on.wait(30)
        connection.sendall(b"lf\r\n")

    with line_peer(halves) as peer:
        async with connected(peer.url(), 5.0, MAX, tls_context(None, None)) as connection:
            with anyio.move_on_after(0.1):
                await lines_of(connection, 1)
            go_on.set()

            assert [b"first half"] == await lines_of(connection, 1)


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
    """An invalid certificate ends the only attempt before any byte of ours is sent."""
    server = {
        "self-signed": lambda: authority.self_signed("self"),
        "expired": lambda: authority.signed("expired", days=-1),
        "wrong host": lambda: authority.signed("other", "DNS:stream.example,IP:127.0.0.2"),
        "unknown authority": lambda: authority.signed("unknown"),
    }[fault]()
    context = tls_context(None, None) if fault == "unknown authority" else _trusting(authority)
    with stream_peer(server.server_context()) as peer:
        trouble = await trouble_with(peer.url, context)

    assert ([], 1) == (peer.received, peer.connections)
    assert ("connection", False) == (trouble.reason, trouble.is_sent)
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
    """The authority is trusted and the host is right; the end of the connection is an expected error."""
    with stream_peer(authority.signed("good").server_context()) as peer:
        async with connected(peer.url, 5.0, MAX, _trusting(authority)) as connection:
            (greeting,) = await lines_of(connection, 1)
            await connection.send(CREDENTIALS)
            (answer,) = await lines_of(connection, 1)
            peer.cut()  # without the closing message that TLS requires
            with pytest.raises(TransportError) as caught, anyio.fail_after(10):
                await connection.receive()

    assert caught.value.reason in {"closed", "connection"}
    assert ("connection", "SUCCESS") == (json.loads(greeting)["op"], json.loads(answer)["statusCode"])
    assert [json.loads(CREDENTIALS)] == peer.requests


async def test_client_certificate_is_sent_on_request(authority: Authority) -> None:
    """A server that requests a client certificate gets the configured certificate."""
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
