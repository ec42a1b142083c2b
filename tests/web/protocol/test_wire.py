"""HTTP/1.1 as bytes: reading and writing are compared with h11."""

from __future__ import annotations

from collections.abc import Sequence

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from web.protocol.wire import JOINED_BYTES, Answer, read

HEAD = b"%b /api/v2/odds?x=%%31 HTTP/1.1\r\nHost: x\r\nX-A:  b \r\n%b\r\n"
Headers = Sequence[tuple[bytes, bytes]]
COMMON = [(b"etag", b'"1-a"'), (b"X-Id", b"caf\xe9 \t1")]
LONG = bytes(JOINED_BYTES + 1)
CASES: dict[str, tuple[int, Headers, Sequence[bytes]]] = {
    "whole": (200, [(b"content-length", b"5"), *COMMON], [b"hello"]),
    "in pieces": (200, [(b"Content-Length", b"6")], [b"hel", b"", b"lo!"]),
    "long": (200, [(b"content-length", b"%d" % len(LONG))], [LONG]),
    "empty": (200, [(b"content-length", b"0"), *COMMON], [b""]),
    "a stream": (200, COMMON, [b"one", b"", b"two", b""]),
    "a stream without events": (200, COMMON, [b""]),
    "not modified": (304, COMMON, [b""]),
    "not modified, with a length": (304, [(b"content-length", b"9")], [b""]),
    "no content": (204, COMMON, [b""]),
    "not found": (404, [(b"content-length", b"2")], [b"{}"]),
    "last": (503, [(b"connection", b"close"), (b"content-length", b"2")], [b"{}"]),
}


def _ours(method: str, status: int, headers: Headers, pieces: Sequence[bytes]) -> bytes:
    answer = Answer(method, is_last=False)
    sent = [*answer.begin(status, headers)]
    for number, piece in enumerate(pieces, 1):
        sent += answer.piece(piece, has_more=number < len(pieces))
    assert answer.is_whole
    return b"".join(sent)


def _of_h11(method: str, status: int, headers: Headers, pieces: Sequence[bytes]) -> bytes:
    server = h11.Connection(h11.SERVER)
    server.receive_data(HEAD % (method.encode(), b""))
    while server.next_event() is not h11.NEED_DATA and server.their_state is not h11.DONE:
        pass
    sent = [server.send(h11.Response(status_code=status, headers=[*headers]))]
    if method != "HEAD" and status not in {204, 304}:
        sent += [server.send(h11.Data(data=piece)) or b"" for piece in pieces if piece]
    sent.append(server.send(h11.EndOfMessage()) or b"")
    return b"".join(sent)


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
@pytest.mark.parametrize("case", CASES)
def test_an_answer_is_written_as_h11_writes_it(case: str, method: str) -> None:
    """Our answer and h11's answer have equal bytes."""
    assert _of_h11(method, *CASES[case]) == _ours(method, *CASES[case])


@given(
    st.sampled_from(["GET", "HEAD"]),
    st.integers(200, 599),
    st.lists(st.binary(max_size=40), min_size=1, max_size=5),
    st.dictionaries(
        st.text("abcdefgh-", min_size=1, max_size=9), st.text('ab,; ="', max_size=20), max_size=3
    ),
)
def test_any_answer_is_written_as_h11_writes_it(
    method: str, status: int, pieces: list[bytes], given: dict[str, str]
) -> None:
    """Our bytes equal h11's for any header and any pieces; a header "a" adds a Content-Length."""
    length = b"%d" % (sum(map(len, pieces)) if status not in {204, 304} else 0)
    headers = [(name.encode(), value.strip().encode()) for name, value in given.items()]
    headers += [(b"content-length", length)] if "a" in given else []

    assert _of_h11(method, status, headers, pieces) == _ours(method, status, headers, pieces)


@pytest.mark.parametrize("bad", [b"a\r\nb", b"a\nb", b"a\rb", b"a\0b", b"\r\n\r\nHTTP/1.1 200 \r\n\r\n"])
def test_a_header_that_would_end_early_is_refused(bad: bytes) -> None:
    """A line end or NUL in a name or a value is refused, and then nothing is sent."""
    for header in [(b"x", bad), (bad, b"x")]:
        answer = Answer("GET", is_last=False)
        with pytest.raises(ValueError, match="must be the first head"):
            answer.begin(200, [header, (b"content-length", b"0")])
        with pytest.raises(ValueError, match="a piece must come"):
            answer.piece(b"", has_more=False)


@pytest.mark.parametrize("pieces", [[b"123456"], [b"123"], [b"123", b"456"], [b"123", b""]])
def test_a_body_of_another_length_is_refused(pieces: list[bytes]) -> None:
    """The last piece is not sent, and the answer does not count as whole."""
    answer, last = Answer("GET", is_last=False), pieces.pop()
    answer.begin(200, [(b"content-length", b"5")])
    for piece in pieces:
        answer.piece(piece, has_more=True)
    with pytest.raises(ValueError, match="from its Content-Length"):
        answer.piece(last, has_more=False)

    assert not answer.is_whole


def test_what_is_out_of_order_is_refused() -> None:
    """A piece before the head, a second head, and a piece after the end are refused."""
    answer = Answer("GET", is_last=False)
    with pytest.raises(ValueError, match="a piece must come"):
        answer.piece(b"", has_more=True)
    answer.begin(200, [])
    with pytest.raises(ValueError, match="must be the first head"):
        answer.begin(200, [])
    answer.piece(b"", has_more=False)
    with pytest.raises(ValueError, match="a piece must come"):
        answer.piece(b"x", has_more=False)


@pytest.mark.parametrize("lines", [b"", b"Content-Length: 0\r\n", b"Connection: Keep-Alive, CLOSE\r\n"])
def test_a_head_is_read_as_by_h11(lines: bytes) -> None:
    """Names are in lower case, values have no space around them, and the target is split into its parts."""
    found = read(HEAD % (b"GET", lines))

    assert found is not None
    assert [(b"host", b"x"), (b"x-a", b"b")] == found.scope["headers"][:2]
    assert ("GET", "/api/v2/odds", b"/api/v2/odds", b"x=%31") == tuple(
        found.scope[key] for key in ("method", "path", "raw_path", "query_string")
    )
    assert (b"CLOSE" in lines) == found.is_last


@pytest.mark.parametrize(
    "head",
    [
        *(HEAD % (method, b"") for method in (b"POST", b"DELETE", b"CONNECT", b"PRI")),
        HEAD % (b"GET", b"Content-Length: 1\r\n"),
        HEAD % (b"GET", b"Transfer-Encoding: chunked\r\n"),
        HEAD % (b"GET", b"no header\r\n"),
        2 * (HEAD % (b"GET", b"")),
        (HEAD % (b"GET", b""))[:-2],
        (HEAD % (b"GET", b"")).replace(b"/1.1", b"/1.0"),
        b"",
    ],
)
def test_all_else_is_left_to_h11(head: bytes) -> None:
    """Other methods and versions, and requests that may have a body, are left to h11."""
    assert read(head) is None
