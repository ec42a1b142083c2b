"""Targets of the HTTP server: the head of a request, its query and headers; and of answers to a client."""

from __future__ import annotations

import zlib
from contextlib import suppress
from ipaddress import ip_network
from math import isfinite

import h11

from actors.core.cooperative import run_now
from actors.core.errors import ConfigError, PayloadError
from actors.core.limits import LOCAL, check_proxy
from actors.core.messages import BookmakerId
from actors.service.settings import parse_bind
from actors.transports.http import http_date, inflated, retry_after_s
from tests.support.fuzzing.target import Target
from web.protocol import wire
from web.protocol.negotiation import coding_for, has_already, prefers_html
from web.protocol.peers import Peers
from web.protocol.problems import Problem
from web.protocol.query import Query
from web.protocol.request_head import HeadGate

BOOKMAKERS = (BookmakerId("alder"), BookmakerId("birch"))
ETAG = '"12-ab"'
MAX_BYTES = 64 * 1024
MAX_RETRY_AFTER_S = 3600.0
PEERS = Peers(("10.0.0.0/8", "2001:db8::/32", "127.0.0.1", LOCAL))
GET = b"GET /api/v2/odds?bookmaker=birch&since=12-ab HTTP/1.1\r\nHost: x:8000\r\nAccept: */*\r\n"
DATES = (
    b"120",
    b"Sun, 06 Nov 1994 08:49:37 GMT",
    b"Sunday, 06-Nov-94 08:49:37 GMT",
    b"Sun Nov  6 08:49:37 1994",
)


def targets() -> tuple[Target, ...]:
    """Return the targets."""
    body = b"Div,Date\r\nE0,1/1/26\r\n"
    packed = zlib.compressobj(wbits=31)
    heads = (
        GET + b"\r\n",
        GET
        + b'X-Forwarded-For: 10.0.0.1\r\nIf-None-Match: W/"12-ab"\r\n\r\n'
        + GET
        + b"Content-Length: 3\r\n\r\nabc",
        b"HEAD http://x/ HTTP/1.0\r\n\r\nPRI * HTTP/2.0\r\n\r\n",
        GET + b"Transfer-Encoding: chunked\r\nUpgrade: h2c\r\nConnection: x\r\n\r\n",
    )
    names = (
        b"Host: a\r\n",
        b"Content-Length:",
        b"Expect:",
        b"TE:",
        b"HTTP/1.1",
        b"Connection: close",
        b"\r\n\r\n",
    )
    return (
        Target("request_head", _head, heads, names),
        Target(
            "peers",
            _peers,
            (
                b"203.0.113.9\n198.51.100.7, 10.0.0.1",
                b"::1\n::ffff:10.0.0.1,fe80::1%eth0\n2001:db8::1",
                b"\n1.2.3.4",
            ),
            (b"127.0.0.1", b"::ffff:", b"%", b"10.0.0.0/8", b"local"),
        ),
        Target(
            "addresses",
            _addresses,
            (b"127.0.0.1:8000", b"[::1]:0", b"10.0.0.0/8", b"unix:/tmp/x", b"local"),
        ),
        Target("http_date", _date, DATES, (b"GMT", b"+2359", b"-0000", b"Nov")),
        Target(
            "inflate",
            _inflate,
            (
                b"gzip\n" + packed.compress(body) + packed.flush(),
                b"deflate\n" + zlib.compress(body),
                b"\n" + body,
                b"x-gzip\n" + zlib.compress(bytes(5000)),
            ),
            (b"gzip\n", b"\x1f\x8b\x08", b"\x78\x9c"),
        ),
    )


def _head(data: bytes) -> int:
    """Pass bytes through the gate, whole and in two parts; h11 must accept all bytes that pass.

    The gate's reading of each head alone must equal h11's reading of it behind the earlier heads.
    """
    whole, parts = HeadGate(b"/s3cret/", 3, set()), HeadGate(b"/s3cret/", 3, set())
    passed = whole.feed(data)
    cut = len(data) // 3
    if passed != parts.feed(data[:cut]) + parts.feed(data[cut:]):
        raise AssertionError("what passes depends on where the bytes are cut")
    parser = h11.Connection(h11.SERVER)
    if passed:
        parser.receive_data(passed)
    asked: h11.Request | None = None
    while parser.our_state is not h11.MUST_CLOSE:
        event = parser.next_event()
        if isinstance(event, h11.Request):
            _request(event)
            asked = event
        elif isinstance(event, h11.EndOfMessage):
            head, end, passed = passed.partition(wire.END_OF_HEAD)
            _alone(head + end, asked, is_last=parser.their_state is h11.MUST_CLOSE)
            parser.send(h11.Response(status_code=204, headers=[]))
            parser.send(event)
            if parser.our_state is not h11.MUST_CLOSE:
                parser.start_next_cycle()
        elif event is h11.NEED_DATA:
            break
        else:
            raise AssertionError(f"the parser found {event}")
    return 0


def _alone(head: bytes, event: h11.Request | None, *, is_last: bool) -> None:
    """Read a head as the server does; only other methods and versions may be left to h11."""
    found = wire.read(head)
    if event is None:
        raise AssertionError("the parser found the end of no request")
    if found is None:
        if event.method in {b"GET", b"HEAD", b"OPTIONS"} and event.http_version == b"1.1":
            raise AssertionError("h11 reads the head as a request to be answered")
        return
    path, _, query = event.target.partition(b"?")
    ours = [found.scope[key] for key in ("method", "raw_path", "query_string", "headers")]
    theirs = [event.method.decode(), path, query, [*event.headers]]
    if [*ours, found.is_last] != [*theirs, is_last]:
        raise AssertionError(f"the head alone was read as {ours}, behind others as {theirs}")


def _request(event: h11.Request) -> None:
    """Read the query and the headers of a request as the handlers do."""
    headers = [(bytes(name), bytes(value)) for name, value in event.headers]
    values = {name: value.decode("latin-1") for name, value in headers}
    query = Query(event.target.partition(b"?")[2])
    for read in (lambda: query.bookmaker(BOOKMAKERS), query.since, query.wait_s, query.conflate_s):
        with suppress(Problem):
            read()
    query.last_since()
    PEERS.client("10.0.0.1", headers)
    coding_for(values.get(b"accept-encoding"))
    prefers_html(values.get(b"accept"))
    has_already(values.get(b"if-none-match", ""), ETAG)


def _peers(text: bytes) -> int:
    address, *lines = text.split(b"\n")
    headers = [(b"x-forwarded-for", line) for line in lines]
    for peer in (None, "10.0.0.1", address.decode("latin-1")):
        client = PEERS.client(peer, headers)
        if client not in {None, LOCAL}:
            ip_network(client)
    return 0


def _addresses(text: bytes) -> int:
    written = text.decode("latin-1")
    try:
        check_proxy(written)
    except ValueError:
        pass
    else:
        Peers((written,))
    try:
        _, port = parse_bind(written)
    except ConfigError:
        return 0
    if port is not None and not 0 <= port < 2**16:
        raise AssertionError(f"the port was {port}")
    return 0


def _date(text: bytes) -> int:
    written = text.decode("latin-1")
    date, delay_s = http_date(written), retry_after_s(written, 1e9)
    if not isfinite(date or 0.0) or not 0 <= (delay_s or 0.0) <= MAX_RETRY_AFTER_S:
        raise AssertionError(f"the date was {date}, the delay {delay_s}")
    return 0


def _inflate(data: bytes) -> int:
    """Inflate the content behind the coding in the first line; the result must be that of zlib."""
    coding, _, body = data.partition(b"\n")
    try:
        content = run_now(inflated(body, coding.decode("latin-1"), MAX_BYTES))
    except PayloadError:
        return 0
    if content is not body and content != zlib.decompress(body, zlib.MAX_WBITS | 32):
        raise AssertionError("the content differs from that of zlib")
    return 0
