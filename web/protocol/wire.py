"""Reads and writes HTTP/1.1, for requests that the gate (`request_head.py`) has passed. Pure.

h11 parses the heads; results are cached, because polling clients repeat their heads. Answers are written
here, byte for byte as by h11, which would check each header again and take ten times as long.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

import h11
from msgspec import Struct

END_OF_HEAD = b"\r\n\r\n"
JOINED_BYTES = 65_536
"""A longer piece is sent separately from the head: joining both takes longer than a second send."""

_KEPT_HEADS, _KEPT_BYTES = 512, 1_024
_METHODS = frozenset({b"GET", b"HEAD", b"OPTIONS"})
_WITHOUT_BODY = frozenset({204, 304})


class Read(Struct, frozen=True):
    """The ASGI scope of a head, and whether the client wants no further answer."""

    scope: Mapping[str, Any]
    is_last: bool


def read(head: bytes) -> Read | None:
    """Parse a complete head; None unless it is a GET, HEAD or OPTIONS of HTTP/1.1 without a body."""
    return _kept(head) if len(head) <= _KEPT_BYTES else _read(head)


def _read(head: bytes) -> Read | None:
    parser = h11.Connection(h11.SERVER)
    parser.receive_data(head)
    try:
        request, end = parser.next_event(), parser.next_event()
    except h11.RemoteProtocolError:
        return None
    if not (isinstance(request, h11.Request) and isinstance(end, h11.EndOfMessage)):
        return None
    if request.method not in _METHODS or request.http_version != b"1.1" or parser.trailing_data[0]:
        return None
    raw_path, _, query = request.target.partition(b"?")
    scope = {
        "type": "http",
        "http_version": "1.1",
        "asgi": {"spec_version": "2.1", "version": "3.0"},
        "method": request.method.decode(),
        "path": unquote(raw_path.decode("ascii")),
        "raw_path": raw_path,
        "query_string": query,
        "headers": [*request.headers],
        "extensions": {},
    }
    return Read(scope, parser.their_state is h11.MUST_CLOSE)


_kept = lru_cache(maxsize=_KEPT_HEADS)(_read)


class Answer:
    """Makes the bytes of an answer to a request of `method`; `is_last` if it ends the connection."""

    def __init__(self, method: str, *, is_last: bool) -> None:
        self.is_last = is_last
        self.is_sent = self.is_whole = False
        """Whether its first bytes have been returned, and whether all bytes have."""
        self._has_body = method != "HEAD"
        self._head = b""
        self._left: int | None = 0
        """Bytes of the body that are missing; None for a chunked body."""

    def begin(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> tuple[bytes, ...]:
        """Begin the answer; return the head for a chunked body, or b"" if the first piece has the head.

        Raises: ValueError if the answer has begun, or a header contains CR, LF or NUL.
        """
        length, lines, is_last = None, [b"HTTP/1.1 %d " % status], self.is_last
        for name, value in headers:
            if (key := name.lower()) == b"connection":
                is_last = is_last or b"close" in value.lower()
                if self.is_last:
                    continue  # this header is added once, at the end
            if key == b"content-length":
                length = int(value)
            lines.append(b"%b: %b" % (name, value))
        if status in _WITHOUT_BODY:
            self._has_body, length = False, length or 0
        if length is None:
            lines.append(b"Transfer-Encoding: chunked")
        if self.is_last:
            lines.append(b"Connection: close")
        self.is_last = is_last
        head, ends = b"\r\n".join(lines), len(lines) - 1
        if (
            self._head
            or self.is_sent
            or not head.count(b"\r") == ends == head.count(b"\n")
            or b"\0" in head
        ):
            raise ValueError(f"must be the first head, and without CR, LF and NUL in a header: {head!r}")
        self._head, self._left = head + END_OF_HEAD, length
        return self._taken(b"") if length is None else ()

    def piece(self, data: bytes, *, has_more: bool) -> tuple[bytes, ...]:
        """Return the bytes of a piece. Raises: ValueError if the body differs from its announced length."""
        if self.is_whole or not (self._head or self.is_sent):
            raise ValueError("a piece must come after the head, and before the end")
        if not self._has_body:
            data = b""
        elif self._left is None:
            data = b"%x\r\n%b\r\n" % (len(data), data) if data else b""
            data = data if has_more else data + b"0\r\n\r\n"
        else:
            self._left -= len(data)
            if self._left < 0 or (self._left and not has_more):
                raise ValueError(f"the body differs by {abs(self._left)} bytes from its Content-Length")
        self.is_whole = not has_more
        return self._taken(data)

    def _taken(self, data: bytes) -> tuple[bytes, ...]:
        head, self._head, self.is_sent = self._head, b"", True
        if not head or not data:
            return (head or data,)
        return (head + data,) if len(data) <= JOINED_BYTES else (head, data)
