"""The gate in front of the parser: the heads that pass or are refused; h11 accepts all that pass."""

from __future__ import annotations

from itertools import pairwise

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from web.protocol.request_head import (
    KEPT_BYTES,
    KEPT_HEADS,
    MAX_HEAD_BYTES,
    MAX_LINES,
    MAX_TARGET_BYTES,
    REFUSALS,
    HeadGate,
)

REFUSALS_PATH = b"/s3cret/"


def head(*lines: bytes) -> bytes:
    """Return a head with these lines."""
    return b"\r\n".join([*lines, b"", b""])


GET = head(b"GET /api/v2/odds?bookmaker=birch HTTP/1.1", b"Host: oddsboard:8000", b"Accept: */*")


def gate_of(max_requests: int = 1_000_000, known: set[bytes] | None = None) -> HeadGate:
    """Return the gate of a new connection."""
    return HeadGate(REFUSALS_PATH, max_requests, set() if known is None else known)


def refused(code: str, method: bytes = b"GET") -> bytes:
    """Return the head that replaces a refused head."""
    line = b"%b %b%b HTTP/1.1" % (method, REFUSALS_PATH, code.encode())
    return head(line, b"Host: oddsboard", b"Connection: close")


def test_a_fit_head_passes_as_it_is() -> None:
    """A fit head passes unchanged: alone, repeated, or in pieces of any length."""
    for fit in [
        GET,
        GET + GET,
        head(b"HEAD / HTTP/1.1", b"Host: x"),
        head(b"GET / HTTP/1.1", b"Host: [::1]:8000", b"Connection: keep-alive"),
        head(b"GET / HTTP/1.1", b"host:x", b"X:", b"Cookie: \ttab \xe9"),
        head(b"DELETE /api/odds HTTP/1.1", b"Host: x", b"Content-Length: 0"),
        head(b"GET / HTTP/1.1", b"Host: x", *[b"a: b"] * (MAX_LINES - 2)),
        head(b"GET /" + b"a" * (MAX_TARGET_BYTES - 1) + b" HTTP/1.1", b"Host: x"),
    ]:
        gate = gate_of()

        assert fit == gate.feed(fit), fit
        assert fit == gate.feed(fit), fit
        assert fit == b"".join(gate.feed(fit[at : at + 1]) for at in range(len(fit))), fit
        assert not gate.is_closing, fit


def test_anything_else_is_refused_and_ends_the_connection() -> None:
    """A request for the refusal replaces the head; the gate reads nothing after it."""
    for code, data in [
        ("http2_not_supported", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        ("http2_not_supported", b"PRI * HTTP/2.0\r\n"),
        ("bad_request", b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n"),
        ("bad_request", b"GET /\r\n"),  # HTTP/0.9
        ("bad_request", b"\x16\x03\x01\x02\x00\x01"),  # TLS
        ("bad_request", b"GET / HTTP/1.1\n"),
        ("bad_request", b"\r\r"),
        ("bad_request", b"\n"),
        ("bad_request", b"a" * 40_000),
        ("bad_request", head(b"get / HTTP/1.1", b"Host: x")),
        ("bad_request", head(b"GET / HTTP/3.7", b"Host: x")),
        ("bad_request", head(b"GET / HTTP/2.0", b"Host: x")),
        ("bad_request", head(b"GET  / HTTP/1.1", b"Host: x")),
        ("bad_request", head(b"GET /\xc3\xa9 HTTP/1.1", b"Host: x")),
        ("bad_request", head(b"GET / HTTP/1.1")),
        ("bad_request", head(b"GET / HTTP/1.1", b"Host: a", b"host: a")),
        ("bad_request", head(b"GET / HTTP/1.1", b"Host: a b/c@")),
        ("bad_request", head(b"GET / HTTP/1.1", b"Host:")),
        ("bad_request", head(b"GET / HTTP/1.1", b"Host: [x")),
        ("bad_request", head(b"GET / HTTP/1.1", b"Host: x:y")),
        ("bad_request", head(b"GET / HTTP/1.1", b"Host : x")),
        ("bad_request", head(b"GET / HTTP/1.1", b"Host: x", b" folded")),
        ("bad_request", head(b"GET / HTTP/1.1", b"Host: x", b"A: \x00")),
        ("bad_request", head(b"GET / HTTP/1.1", b"Host: x", b"A: b\rc")),
        ("bad_request", head(b"GET / HTTP/1.1", b"Host: x", b"no colon")),
        ("bad_request", head(b"GET / HTTP/1.1\nHost: x")),
        ("bad_request", head(b"GET / HTTP/1.1", b"Host: x", b"Content-Length: 0", b"Content-Length: 0")),
        ("bad_request", head(b"GET / HTTP/1.1", b"Host: x", b"Content-Length: 0, 0")),
        ("bad_request", head(b"GET / HTTP/1.1", b"Host: x", b"Content-Length: +5")),
        ("bad_request", head(b"GET / HTTP/1.1", b"Host: x", b"Content-Length: -1")),
        ("bad_request", head(b"GET / HTTP/1.1", b"Host: x", b"Content-Length:")),
        (
            "bad_request",
            head(b"GET / HTTP/1.1", b"Host: x", b"Content-Length: 3", b"Transfer-Encoding: chunked"),
        ),
        ("too_many_parameters", head(b"GET /?" + b"a&" * 16 + b" HTTP/1.1", b"Host: x")),
        ("target_too_long", head(b"GET /" + b"a" * MAX_TARGET_BYTES + b" HTTP/1.1", b"Host: x")),
        ("target_too_long", b"GET /" + b"a" * 40_000),
        ("headers_too_large", head(b"GET / HTTP/1.1", b"Host: x", *[b"a:b"] * 11_000)),
        ("headers_too_large", head(b"GET / HTTP/1.1", b"Host: x", *[b"a:b"] * (MAX_LINES - 1))),
        ("headers_too_large", b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"a" * MAX_HEAD_BYTES),
        ("headers_too_large", head(b"GET / HTTP/1.1", b"Host: x", b"A: " + b"a" * 60_000)),
    ]:
        gate = gate_of()

        assert refused(code) == gate.feed(data), (code, data)
        assert gate.is_closing, (code, data)
        assert b"" == gate.feed(GET), (code, data)
        assert code in REFUSALS, (code, data)


def test_heads_before_a_refused_one_pass() -> None:
    """Requests before the refused head are answered first."""
    assert GET + refused("bad_request") == gate_of().feed(GET + b"nonsense\r\n\r\n" + GET)


def test_the_answer_to_a_refused_head_request_has_no_body() -> None:
    """The replacement of a HEAD request is a HEAD request."""
    data = head(b"HEAD /" + b"a" * MAX_TARGET_BYTES + b" HTTP/1.1", b"Host: x")

    assert refused("target_too_long", b"HEAD") == gate_of().feed(data)


@pytest.mark.parametrize(
    "fields",
    [
        [b"Content-Length: 5"],
        [b"Content-Length: 5", b"Expect: 100-continue"],
        [b"Transfer-Encoding: chunked"],
        [b"transfer-encoding: xchunked", b"Connection: keep-alive"],
    ],
)
def test_a_request_with_a_body_passes_without_it_and_is_the_last(fields: list[bytes]) -> None:
    """Nothing after the head is read, not even a second request."""
    gate = gate_of()
    data = head(b"POST /api/odds HTTP/1.1", b"Host: x", *fields, b"A: b") + b"abcde" + GET

    assert head(b"POST /api/odds HTTP/1.1", b"Host: x", b"A: b", b"Connection: close") == gate.feed(data)
    assert gate.is_closing
    assert b"" == gate.feed(GET)


@pytest.mark.parametrize(
    "lines",
    [
        [b"GET / HTTP/1.1", b"Host: x", b"Connection: close"],
        [b"GET / HTTP/1.1", b"Host: x", b"connection: TE, Close"],
        [b"GET / HTTP/1.1", b"Host: x", b"Connection: keep-alive", b"Connection: close"],
        [b"GET / HTTP/1.0"],
        [b"GET / HTTP/1.0", b"Connection: keep-alive"],
    ],
)
def test_a_request_that_ends_its_connection_is_the_last(lines: list[bytes]) -> None:
    """RFC 9112, 9.6: nothing after this request is read, and it still gets its answer."""
    gate = gate_of()
    kept = [line for line in lines if not line.lower().startswith(b"connection")]

    assert head(*kept, b"Connection: close") == gate.feed(head(*lines) + b"more")
    assert gate.is_closing
    assert b"" == gate.feed(GET)


def test_the_absolute_form_becomes_a_path() -> None:
    """RFC 9112, 3.2.2: a server must accept the absolute form."""
    for target, origin in [
        (b"http://x/health/live", b"/health/live"),
        (b"HTTPS://x:1?a=b", b"/?a=b"),
        (b"http://x", b"/"),
    ]:
        field = b"A: b  ?"
        expected = head(b"GET %b HTTP/1.1" % origin, b"Host: x", field)

        assert expected == gate_of().feed(head(b"GET %b HTTP/1.1" % target, b"Host: x", field)), target


def test_options_of_the_server_are_those_of_its_root() -> None:
    """RFC 9110, 9.3.7: `*` means the server and no path of it; only OPTIONS may have it."""
    for method, target in [(b"OPTIONS", b"/"), (b"GET", b"*")]:
        expected = head(b"%b %b HTTP/1.1" % (method, target), b"Host: x", b"A: *")

        assert expected == gate_of().feed(head(b"%b * HTTP/1.1" % method, b"Host: x", b"A: *")), method


@pytest.mark.parametrize("protocol", [b"h2c", b"websocket"])
def test_an_upgrade_is_ignored(protocol: bytes) -> None:
    """The request is answered in HTTP/1.1."""
    fields = [b"Upgrade: " + protocol, b"HTTP2-Settings: AAMAAABk"]

    passed = gate_of().feed(head(b"GET / HTTP/1.1", b"Host: x", *fields, b"A: b"))

    assert head(b"GET / HTTP/1.1", b"Host: x", b"A: b") == passed


def test_empty_lines_before_a_request_are_ignored() -> None:
    """RFC 9112, 2.2: some clients send empty lines after a body. They may come alone, cut anywhere."""
    for cut in range(9):
        gate, data = gate_of(), b"\r\n\r\n\r\n" + GET

        assert GET == gate.feed(data[:cut]) + gate.feed(data[cut:]), cut
        assert not gate.is_closing, cut


def test_the_last_request_that_a_connection_may_have_says_so() -> None:
    """The last request gets `Connection: close`, whatever it asked for; nothing after it is read."""
    kept = head(b"GET / HTTP/1.1", b"Host: x", b"Connection: keep-alive")
    gate = gate_of(3)

    assert kept + kept == gate.feed(kept) + gate.feed(kept)
    assert head(b"GET / HTTP/1.1", b"Host: x", b"Connection: close") == gate.feed(kept + kept)
    assert gate.is_closing
    assert b"" == gate.feed(kept)


@pytest.mark.parametrize("path", [b"/health", b"/health/live?a", b"http://x/health/ready"])
def test_only_probes_pass_when_there_are_too_many_connections(path: bytes) -> None:
    """A head that passed before is refused, too."""
    gate = gate_of()
    gate.feed(GET)
    gate.is_overloaded = True

    assert gate.feed(head(b"GET %b HTTP/1.1" % path, b"Host: x")).startswith(b"GET /health")
    assert not gate.is_closing
    assert refused("overloaded") == gate.feed(GET)


def test_a_bounded_number_of_heads_is_remembered() -> None:
    """Long heads are not remembered."""
    known: set[bytes] = set()
    for number in range(KEPT_HEADS + 10):
        gate_of(2, known).feed(head(b"GET /%d HTTP/1.1" % number, b"Host: x"))
    gate_of(2, known).feed(head(b"GET / HTTP/1.1", b"Host: x", b"A: " + b"a" * KEPT_BYTES))

    assert 10 == len(known)


pieces = st.sampled_from(
    [
        b"GET ",
        b"HEAD ",
        b"POST ",
        b"PRI * HTTP/2.0",
        b"/",
        b"/api/odds",
        b"*",
        b"http://x",
        b" HTTP/1.1",
        b" HTTP/1.0",
        b"\r\n",
        b"\r\n\r\n",
        b"\n",
        b"\r",
        b"Host: x",
        b"Host:",
        b": ",
        b"A: b",
        b"Content-Length: 0",
        b"Content-Length: 7",
        b"Transfer-Encoding: chunked",
        b"Expect: 100-continue",
        b"Connection: close",
        b"Upgrade: h2c",
        b"\x00",
        b"\xff",
        b" ",
        b"\t",
        b"&",
        b"&" * 20,
        b"a" * 2_100,
        b"\r\na:b" * 60,
    ]
)
requests = st.lists(pieces | st.just(GET) | st.binary(max_size=4), max_size=30).map(b"".join)


@given(data=requests, cuts=st.lists(st.integers(0, 400) | st.integers(0, 9_000), max_size=5))
def test_what_passes_is_the_same_however_it_is_cut_and_h11_accepts_it(data: bytes, cuts: list[int]) -> None:
    """The parser behind the gate never finds an error."""
    whole, parts = gate_of(), gate_of()
    bounds = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]

    passed = whole.feed(data)

    assert passed == b"".join(parts.feed(data[at:to]) for at, to in pairwise(bounds))
    parser = h11.Connection(h11.SERVER)
    if passed:  # no data would mean the end of the connection
        parser.receive_data(passed)
    while parser.our_state is not h11.MUST_CLOSE:
        event = parser.next_event()
        if isinstance(event, h11.EndOfMessage):
            parser.send(h11.Response(status_code=204, headers=[]))
            parser.send(h11.EndOfMessage())
            if parser.our_state is not h11.MUST_CLOSE:
                parser.start_next_cycle()
        elif not isinstance(event, h11.Request):
            assert event is h11.NEED_DATA
            break
