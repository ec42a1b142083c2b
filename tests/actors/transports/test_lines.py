"""Lines are complete, limited in length, and the end of their connection is an expected error."""

from __future__ import annotations

import socket
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
from tests.support.peers.lines import MAX, line_peer, lines_of, trouble_with

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
        """Not for writing."""
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
    """Complete lines received before the peer closed are not lost, an incomplete one is dropped."""
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
