"""Polling a failing peer: refused, silent, slow, cut, reset, too large, damaged (faults.md, A)."""

from __future__ import annotations

import gzip
import threading
import zlib

import pytest

from actors.core.errors import PayloadError, TransportError
from tests.support.peers.broken import BODY, CHUNKED, ENDLESS, HEAD, RESET, SHORT, TOTAL, Pourer
from tests.support.peers.fetching import HASTY, LIMITS, fetched, trouble
from tests.support.peers.http import Answer, HttpPeer, hang, http_peer, raw, respond

pytestmark = pytest.mark.anyio


async def test_refused_connection_is_a_transport_error() -> None:
    """The error says that the connection was refused."""
    with http_peer() as gone:
        url = gone.url("/f.csv")

    assert isinstance(await trouble(url), TransportError)


@pytest.mark.parametrize(
    "late",
    [
        hang(threading.Event()),
        raw(*(bytes([byte]) for byte in HEAD), every_s=0.05),
        raw(HEAD, *(b"x" for _ in range(60)), every_s=0.05),
        raw(CHUNKED, *(b"1\r\nx\r\n" for _ in range(60)), every_s=0.05),
        raw(*(b"HTTP/1.1 100 Continue\r\n\r\n" for _ in range(60)), every_s=0.05),
    ],
    ids=["silence", "head drips", "body drips", "chunks drip", "interim answers only"],
)
async def test_incomplete_answer_in_time_is_a_transport_error(peer: HttpPeer, late: Answer) -> None:
    """The deadline is for the whole answer: single bytes do not extend it (faults.md, A3, A6)."""
    peer.answers["/f.csv"] = late
    error = await trouble(peer.url("/f.csv"), limits=HASTY)

    assert isinstance(error, TransportError)
    assert str(error) == "no whole answer within 0.3 s"


@pytest.mark.parametrize("broken", [*RESET.values(), *SHORT.values()], ids=[*RESET, *SHORT])
async def test_truncated_answer_is_rejected(peer: HttpPeer, broken: Answer) -> None:
    """An answer that ends before its announced end is rejected as a whole (faults.md, A7, A8)."""
    peer.answers["/f.csv"] = broken

    assert isinstance(await trouble(peer.url("/f.csv")), TransportError)


async def test_body_of_exactly_the_limit_is_read(peer: HttpPeer) -> None:
    """The limit is inclusive, for an announced length and in chunks; a compressed body is inflated."""
    body = bytes(LIMITS.max_payload_bytes)
    peer.answers["/f.csv"] = respond(body)
    peer.answers["/chunked.csv"] = raw(CHUNKED + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
    wire = gzip.compress(BODY, mtime=0)
    peer.answers["/packed.csv"] = respond(wire, headers={"Content-Encoding": "gzip"})
    packed = await fetched(peer.url("/packed.csv"))

    for path in ("/f.csv", "/chunked.csv"):
        assert (await fetched(peer.url(path))).body == body
    assert (packed.body, packed.wire_bytes) == (BODY, len(wire))


@pytest.mark.parametrize(
    ("head", "part"),
    [
        *ENDLESS.values(),
        (HEAD.replace(b"60000", b"65537"), bytes(65_536)),
        (HEAD.replace(b"60000", b"9" * 18), bytes(65_536)),
    ],
    ids=[*ENDLESS, "one byte more", "astronomic"],
)
async def test_100_megabytes_are_cut_off_early(peer: HttpPeer, head: bytes, part: bytes) -> None:
    """Beyond the limit no more is read than the sockets' buffers hold (faults.md, A17)."""
    pourer = Pourer(head, part)
    peer.answers["/f.csv"] = pourer
    error = await trouble(peer.url("/f.csv"))

    assert isinstance(error, TransportError)
    assert pourer.done.wait(10)
    assert pourer.poured < TOTAL / 5


@pytest.mark.parametrize(
    ("encoding", "wire"),
    [
        ("gzip", gzip.compress(bytes(50_000_000), mtime=0)),
        ("deflate", zlib.compress(bytes(50_000_000))),
        ("gzip", gzip.compress(BODY, mtime=0)[:-1]),
        ("gzip", gzip.compress(BODY, mtime=0)[:-5] + b"\0" + gzip.compress(BODY)[-4:]),
        ("gzip", BODY),
        ("gzip", b""),
        ("br", BODY),
        ("gzip, gzip", gzip.compress(gzip.compress(BODY), mtime=0)),
        ("\xff\xfe", BODY),
    ],
    ids=["bomb", "zlib bomb", "cut", "damaged", "not packed", "empty", "brotli", "twice", "bytes"],
)
async def test_body_that_cannot_be_inflated_is_a_payload_error(
    peer: HttpPeer, encoding: str, wire: bytes
) -> None:
    """Bombs, damage and encodings that were not requested are rejected as a whole (faults.md, A18)."""
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(wire)}\r\nContent-Encoding: {encoding}\r\n\r\n"
    peer.answers["/f.csv"] = raw(head.encode("latin-1") + wire)

    assert isinstance(await trouble(peer.url("/f.csv")), PayloadError)


async def test_environment_proxies_are_ignored(monkeypatch: pytest.MonkeyPatch, peer: HttpPeer) -> None:
    """No proxy of the environment is used, since the settings alone read the environment."""
    peer.answers["/f.csv"] = respond(BODY)
    with http_peer() as proxy, monkeypatch.context() as environment:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY"):
            environment.setenv(name, proxy.url(""))
        answer = await fetched(peer.url("/f.csv"))

        assert (answer.body, proxy.connections) == (BODY, 0)
