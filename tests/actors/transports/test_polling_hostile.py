"""Polling a peer that does not speak correct HTTP: `fetch` raises nothing but a SourceError."""

from __future__ import annotations

import socket
import threading

import pytest

from actors.core.errors import SourceError, TransportError
from actors.transports.polling import Fetched, PollingTransport, Validators
from tests.support.peers.fetching import HASTY, fetch, fetched, trouble
from tests.support.peers.http import HttpPeer, raw
from tests.support.time.virtual import ManualClock

pytestmark = pytest.mark.anyio

OK = b"HTTP/1.1 200 OK\r\n"
BODY = b"Div,Date\r\n"
GOOD = (
    OK + b'Content-Length: 10\r\nETag: "one"\r\nLast-Modified: Fri, 20 Mar 2026 13:16:58 GMT\r\n'
    b"Content-Encoding: identity\r\nRetry-After: 5\r\nLocation: /f.csv\r\nSet-Cookie: a=b\r\n\r\n" + BODY
)


NOT_HTTP = (
    *(b"\0" * 100, b"\r\n" * 1000, b"hello\r\n\r\n", b"<html></html>", b"\x16\x03\x01\x02\0\x01\0\x01"),
    *(b"HTTP/2 200\r\n\r\n", b"ICY 200 OK\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\n"),
    *(b"HTTP/1.1 OK\r\n\r\n", b"HTTP/1.1 2x0 OK\r\n\r\n"),
    *(b"HTTP/1.1 99999 OK\r\n\r\n", b"HTTP/1.1 -1 OK\r\n\r\n"),
    *(
        OK + b"Content-Length: %b\r\n\r\n" % length + BODY
        for length in (b"-1", b"ten", b"1e3", b"9" * 5000)
    ),
    OK + b"Content-Length: 10\r\nContent-Length: 11\r\n\r\n" + BODY,
    *(
        OK + b"Transfer-Encoding: chunked\r\n\r\n%b\r\nDiv,D\r\n0\r\n\r\n" % size
        for size in (b"zz", b"-5", b"ffffffffffffffffff", b"", b"5;" + b"x" * 200_000)
    ),
    OK + b"Transfer-Encoding: rot13\r\n\r\n" + BODY,
    *(
        OK + b"%b\r\n\r\n" % line + BODY
        for line in (b"no colon", b": no name", b"X\0Y: 1", b"X: \0", b"X\xff: 1")
    ),
    OK + b"X: " + b"y" * 200_000 + b"\r\n\r\n" + BODY,
    OK + b"X: y\r\n" * 50_000 + b"\r\n" + BODY,
    b"HTTP/1.1 200 " + b"K" * 200_000 + b"\r\n\r\n" + BODY,
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n" + BODY,
)


@pytest.mark.long
@pytest.mark.parametrize("answer", NOT_HTTP, ids=lambda answer: repr(answer[:60]))
async def test_invalid_http_is_a_transport_error(peer: HttpPeer, answer: bytes) -> None:
    """Invalid bytes in the headers or in the framing of the body are an error of the transport."""
    peer.answers["/f.csv"] = raw(answer)

    assert isinstance(await trouble(peer.url("/f.csv")), TransportError)


async def test_peer_without_tls_is_a_transport_error() -> None:
    """An https address is never requested unencrypted, and an answer without TLS is refused."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_answer_in_the_clear, args=(listener,), daemon=True)
        thread.start()
        error = await trouble(f"https://127.0.0.1:{listener.getsockname()[1]}/f.csv")
        thread.join(10)

    assert isinstance(error, TransportError)
    assert "SSL" in str(error)


def _answer_in_the_clear(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.sendall(b"HTTP/1.1 400 No TLS here\r\n\r\n")
        connection.recv(65_536)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:99999/", "http://[::1/", "http://", "http://\u2100/", "ftp://a/", ""]
)
async def test_invalid_address_is_a_source_error(url: str) -> None:
    """An address that the configuration accepts but that cannot be requested is an expected error."""
    assert isinstance(await trouble(url), SourceError)


@pytest.mark.parametrize(
    "value",
    [
        b'"\xe9"',
        b'"\xc3\xa9"',
        b"\xff\xfe",
        b'W/"\x80"',
        b'"one',
        b'"a\tb"',
        b'"' + b"e" * 30_000 + b'"',
        b"",
    ],
)
async def test_any_validator_can_be_sent_back(peer: HttpPeer, value: bytes) -> None:
    """An entity tag may hold bytes from 0x80 (RFC 9110, 8.8.3): it is sent back unchanged or not at all."""
    head = OK + b"Content-Length: 10\r\nETag: %b\r\nLast-Modified: %b\r\n\r\n" % (value, value)
    peer.answers["/f.csv"] = raw(head + BODY)
    first = await fetched(peer.url("/f.csv"))
    again = await fetched(peer.url("/f.csv"), first.validators)
    sent = {peer.asked[1].headers.get(name) for name in ("if-none-match", "if-modified-since")}

    assert again.body == BODY
    assert sent <= {value.decode("latin-1"), None}


async def test_transport_works_after_an_error(peer: HttpPeer) -> None:
    """After invalid answers the same pool gets the next valid one."""
    peer.answers["/f.csv"] = raw(GOOD)
    peer.answers["/bad.csv"] = raw(GOOD[:-1])
    async with PollingTransport(HASTY, ManualClock()) as transport:
        for _ in range(20):
            with pytest.raises(SourceError):
                await transport.fetch(peer.url("/bad.csv"), Validators())
        answer = await transport.fetch(peer.url("/f.csv"), Validators())

    assert isinstance(answer, Fetched)
    assert answer == await fetch(peer.url("/f.csv"), Validators())
