"""Polling a peer that fails, redirects or speaks no HTTP: every error is a SourceError (faults.md, A)."""

from __future__ import annotations

import gzip
import socket
import threading
from itertools import pairwise

import httpx2
import pytest

from actors.core.clock import SystemClock
from actors.core.errors import PayloadError, SourceError, TransportError
from actors.transports.polling import MAX_REDIRECTS, Fetched, NotModified, PollingTransport, Validators
from tests.support.peers.broken import BODY, CHUNKED, ELSEWHERE, ENDLESS, HEAD, RESET, SHORT, TOTAL, Pourer
from tests.support.peers.fetching import HASTY, LIMITS, fetch, fetched, trouble
from tests.support.peers.http import Answer, HttpPeer, hang, http_peer, raw, respond
from tests.support.time.virtual import ManualClock

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
        ("\xff\xfe", BODY),
    ],
    ids=["bomb", "bytes"],
)
async def test_body_that_cannot_be_inflated_is_a_payload_error(
    peer: HttpPeer, encoding: str, wire: bytes
) -> None:
    """The transport rejects a bomb, and a Content-Encoding of odd bytes."""
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


BODY = b"Div,Date,HomeTeam,AwayTeam\r\n"


class Scripted(PollingTransport):
    """The transport with `sites` (address to answer) in place of the network: TLS needs no certificate."""

    def __init__(self, sites: dict[str, httpx2.Response]) -> None:
        super().__init__(LIMITS, SystemClock())
        self.asked: list[str] = []
        self._sites = sites
        self._client = httpx2.AsyncClient(transport=httpx2.MockTransport(self._answer))

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(str(request.url))
        return self._sites[str(request.url)]


def _moved(location: str, status: int = 302) -> httpx2.Response:
    return httpx2.Response(status, headers={"Location": location})


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "location", ["/new/f.csv", "f.csv", "//{host}/new/f.csv", "http://{host}/new/f.csv"]
)
async def test_redirect_on_the_same_host_is_followed(peer: HttpPeer, status: int, location: str) -> None:
    """The new address is requested with the same validators, since they belong to its file."""
    target = location.format(host=f"127.0.0.1:{peer.port}")
    peer.answers["/new/old.csv"] = respond(status=status, headers={"Location": target})
    peer.answers["/new/f.csv"] = respond(BODY, headers={"ETag": '"new"'})
    answer = await fetched(peer.url("/new/old.csv"), Validators('"old"', None))

    assert (answer.body, answer.validators) == (BODY, Validators('"new"', None))
    assert [asked.headers["if-none-match"] for asked in peer.asked] == ['"old"', '"old"']
    peer.answers["/new/f.csv"] = respond(status=304)
    assert await fetch(peer.url("/new/old.csv"), Validators('"new"', None)) == NotModified(0.0)


@pytest.mark.parametrize("location", ELSEWHERE)
async def test_redirect_elsewhere_is_refused(peer: HttpPeer, location: str) -> None:
    """Another host, port, user or scheme is refused: the error says so, and no connection is made."""
    with http_peer() as other:
        target = location.format(other=other.port, port=peer.port)
        peer.answers["/f.csv"] = respond(status=302, headers={"Location": target})
        error = await trouble(peer.url("/f.csv"))

        assert isinstance(error, TransportError)
        assert str(error) == "redirected to another host, which is not followed"
        assert (other.connections, peer.connections) == (0, 1)


@pytest.mark.parametrize(
    "location",
    [
        *(b"http://[::1/f.csv", b"http://[x]/f.csv", b"//["),
        *(b"http://127.0.0.1:port/", b"http://a:99999999/"),
        *(b"http://\xe2\x84\x80.example/", b"\xff\xfe", b"http://\xff/", b"/\xc3\xa9.csv"),
        *(b"/a b\tc", b"/%zz%"),
        *(
            b"?",
            b"#",
            b"http://",
            b"http:///f.csv",
            b":",
            b"/" + b"a" * 70_000,
            b"\\\\other\\f.csv",
            b"/\x7f",
            b"",
        ),
    ],
)
async def test_invalid_location_is_a_transport_error(peer: HttpPeer, location: bytes) -> None:
    """For any value of Location, the request ends with an expected error."""
    peer.answers["/f.csv"] = raw(
        b"HTTP/1.1 302 Moved\r\nContent-Length: 0\r\nLocation: " + location + b"\r\n\r\n"
    )

    assert isinstance(await trouble(peer.url("/f.csv")), TransportError)


@pytest.mark.parametrize("first", ["/a", "/self", "/count/0"])
async def test_redirects_are_limited(peer: HttpPeer, first: str) -> None:
    """Loops and long chains are given up after a few requests."""
    steps = {"/a": "/b", "/b": "/a", "/self": "/self"} | {
        f"/count/{n}": f"/count/{n + 1}" for n in range(20)
    }
    for path, location in steps.items():
        peer.answers[path] = respond(status=302, headers={"Location": location})
    error = await trouble(peer.url(first))

    assert str(error) == f"more than {MAX_REDIRECTS} redirects"
    assert len(peer.asked) == MAX_REDIRECTS + 1


@pytest.mark.parametrize(
    "chain",
    [
        ["http://feed.example", "https://feed.example", "http://feed.example"],
        ["http://feed.example", "https://feed.example:8443"],
        ["http://feed.example:8080", "https://feed.example"],
    ],
)
async def test_redirect_from_http_to_https_alone_is_followed(chain: list[str]) -> None:
    """A redirect back or to another port is refused: another person's service may be there."""
    sites = {f"{before}/f.csv": _moved(f"{after}/f.csv") for before, after in reversed([*pairwise(chain)])}
    async with Scripted(sites) as transport:
        with pytest.raises(TransportError, match="not followed"):
            await transport.fetch(f"{chain[0]}/f.csv", Validators())

    assert transport.asked == [f"{place}/f.csv" for place in chain[:-1]]


OK = b"HTTP/1.1 200 OK\r\n"
HEADER_LINE = b"Div,Date\r\n"
GOOD = (
    OK + b'Content-Length: 10\r\nETag: "one"\r\nLast-Modified: Fri, 20 Mar 2026 13:16:58 GMT\r\n'
    b"Content-Encoding: identity\r\nRetry-After: 5\r\nLocation: /f.csv\r\nSet-Cookie: a=b\r\n\r\n"
    + HEADER_LINE
)


NOT_HTTP = (
    *(b"\0" * 100, b"\r\n" * 1000, b"hello\r\n\r\n", b"<html></html>", b"\x16\x03\x01\x02\0\x01\0\x01"),
    *(b"HTTP/2 200\r\n\r\n", b"ICY 200 OK\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\n"),
    *(b"HTTP/1.1 OK\r\n\r\n", b"HTTP/1.1 2x0 OK\r\n\r\n"),
    *(b"HTTP/1.1 99999 OK\r\n\r\n", b"HTTP/1.1 -1 OK\r\n\r\n"),
    *(
        OK + b"Content-Length: %b\r\n\r\n" % length + HEADER_LINE
        for length in (b"-1", b"ten", b"1e3", b"9" * 5000)
    ),
    OK + b"Content-Length: 10\r\nContent-Length: 11\r\n\r\n" + HEADER_LINE,
    *(
        OK + b"Transfer-Encoding: chunked\r\n\r\n%b\r\nDiv,D\r\n0\r\n\r\n" % size
        for size in (b"zz", b"-5", b"ffffffffffffffffff", b"", b"5;" + b"x" * 200_000)
    ),
    OK + b"Transfer-Encoding: rot13\r\n\r\n" + HEADER_LINE,
    *(
        OK + b"%b\r\n\r\n" % line + HEADER_LINE
        for line in (b"no colon", b": no name", b"X\0Y: 1", b"X: \0", b"X\xff: 1")
    ),
    OK + b"X: " + b"y" * 200_000 + b"\r\n\r\n" + HEADER_LINE,
    OK + b"X: y\r\n" * 50_000 + b"\r\n" + HEADER_LINE,
    b"HTTP/1.1 200 " + b"K" * 200_000 + b"\r\n\r\n" + HEADER_LINE,
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n" + HEADER_LINE,
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
    peer.answers["/f.csv"] = raw(head + HEADER_LINE)
    first = await fetched(peer.url("/f.csv"))
    again = await fetched(peer.url("/f.csv"), first.validators)
    sent = {peer.asked[1].headers.get(name) for name in ("if-none-match", "if-modified-since")}

    assert again.body == HEADER_LINE
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
