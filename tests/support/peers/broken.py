"""Broken answers on a real socket, by their fault: used for a transport alone and for the service."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping

from tests.support.peers.http import Answer, Asked, drop, raw, reset, respond

BODY = b"Div,Date,HomeTeam,AwayTeam\r\nXX,14/02/2026,Alder Town,Birch United\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
TOTAL = 100_000_000

RESET: Mapping[str, Answer] = {
    "reset": reset(),
    "reset in the head": reset(HEAD[:20]),
    "reset in the body": reset(HEAD + BODY),
    "reset between chunks": reset(CHUNKED + b"5\r\nDiv,D\r\n"),
}
SHORT: Mapping[str, Answer] = {
    "dropped": drop,
    "head cut": raw(HEAD[:20]),
    "body missing": raw(HEAD),
    "one byte short": respond(BODY, length=len(BODY) + 1),
    "last chunk missing": raw(CHUNKED + b"5\r\nDiv,D\r\n"),
    "chunk cut": raw(CHUNKED + b"5\r\nDi"),
}
ELSEWHERE = (
    "http://127.0.0.1:{other}/f.csv",
    "//127.0.0.1:{other}/f.csv",
    "http://localhost:{other}/f.csv",
    "http://127.0.0.1:{port}@127.0.0.1:{other}/f.csv",
    "http://user:pass@127.0.0.1:{port}/f.csv",
    "http://127.0.0.1:{other}\\@127.0.0.1:{port}/f.csv",
    "https://127.0.0.1:{port}@localhost/f.csv",
    "https://localhost:{other}/f.csv",
    "ftp://127.0.0.1:{port}/f.csv",
    "file:///etc/hosts",
    "javascript:alert(1)",
    "",
)
"""Addresses to which a redirect must not be followed: `other` is another server's port, `port` its own."""

ENDLESS: Mapping[str, tuple[bytes, bytes]] = {
    "announced": (HEAD.replace(b"60000", b"%d" % TOTAL), bytes(65_536)),
    "until the end": (HEAD.replace(b"Content-Length: 60000", b"Connection: close"), bytes(65_536)),
    "big chunks": (CHUNKED, b"10000\r\n%b\r\n" % bytes(65_536)),
    "small chunks": (CHUNKED, b"40\r\n%b\r\n" % bytes(64) * 1000),
    "packed chunks": (
        CHUNKED.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n"),
        b"ffff\r\n%b\r\n" % bytes(65_535),
    ),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X-Filler: %b\r\n" % (b"x" * 60_000)),
    "one header": (b"HTTP/1.1 200 OK\r\nX-Filler: ", b"x" * 65_536),
}
"""Answers of 100 MB: the beginning of each, and the part that follows again and again."""


class Pourer:
    """Sends 100 MB after the headers, and counts how much of it was received."""

    def __init__(self, head: bytes, part: bytes) -> None:
        self.done = threading.Event()
        self.poured = 0
        self._head = head
        self._part = part

    def __call__(self, connection: socket.socket, asked: Asked) -> None:
        """Answer a request; it ends when the client disconnects."""
        del asked
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)
        try:
            connection.sendall(self._head)
            while self.poured < TOTAL:
                connection.sendall(self._part)
                self.poured += len(self._part)
        except OSError:
            pass  # the client has disconnected, as expected
        finally:
            self.done.set()
