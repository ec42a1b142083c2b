"""A scripted HTTP peer on a real loopback socket: the fake bookmaker of the end-to-end tests.

It runs in its own thread, so that it can serve a service under test in this process or in another.
Each answer is a function that writes any bytes on the raw connection.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

Answer = Callable[[socket.socket, "Asked"], None]


@dataclass(frozen=True)
class Asked:
    """One request as received: its path, its headers with names in lower case, its method and its body."""

    path: str
    headers: Mapping[str, str]
    method: str = "GET"
    body: bytes = b""


@dataclass
class HttpPeer:
    """The peer's answers by path, with or without query, and `otherwise`; `asked` has every request."""

    port: int
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    otherwise: Answer = field(default_factory=lambda: respond(status=404))

    def url(self, path: str) -> str:
        """Return the URL of a path."""
        return f"http://127.0.0.1:{self.port}{path}"


def respond(
    body: bytes = b"",
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    length: int | None = None,
) -> Answer:
    """Return an answer with `status` and `body`; `length` replaces the true Content-Length."""
    lines = {"Content-Length": str(len(body) if length is None else length), **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())

    def answer(connection: socket.socket, asked: Asked) -> None:
        del asked
        connection.sendall(f"HTTP/1.1 {status} Scripted\r\n{head}Connection: close\r\n\r\n".encode() + body)

    return answer


def conditional(body: bytes, etag: str, headers: Mapping[str, str] | None = None) -> Answer:
    """Return an answer with a body and an ETag, or 304 when the request has this ETag."""
    full = respond(body, headers={"ETag": etag, **(headers or {})})
    not_modified = respond(status=304, headers={"ETag": etag})

    def answer(connection: socket.socket, asked: Asked) -> None:
        (not_modified if asked.headers.get("if-none-match") == etag else full)(connection, asked)

    return answer


def hang(until: threading.Event) -> Answer:
    """Return an answer that sends nothing until `until` is set."""

    def answer(connection: socket.socket, asked: Asked) -> None:
        del connection, asked
        until.wait(60)

    return answer


def drop(connection: socket.socket, asked: Asked) -> None:
    """Close the connection without an answer."""
    del connection, asked


def raw(*parts: bytes, every_s: float = 0.0) -> Answer:
    """Return an answer that writes exactly these bytes, `every_s` apart, and closes."""

    def answer(connection: socket.socket, asked: Asked) -> None:
        del asked
        for part in parts:
            connection.sendall(part)
            time.sleep(every_s)

    return answer


def reset(data: bytes = b"") -> Answer:
    """Return an answer that writes these bytes and resets the connection."""

    def answer(connection: socket.socket, asked: Asked) -> None:
        del asked
        connection.sendall(data)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return answer


@contextlib.contextmanager
def http_peer() -> Iterator[HttpPeer]:
    """Listen on a free port of the loopback interface within the block; unknown paths are 404."""
    listener = socket.create_server(("127.0.0.1", 0))
    peer = HttpPeer(listener.getsockname()[1])
    thread = threading.Thread(target=_accept, args=(listener, peer), daemon=True)
    thread.start()
    try:
        yield peer
    finally:
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def _accept(listener: socket.socket, peer: HttpPeer) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        peer.connections += 1
        threading.Thread(target=_serve, args=(connection, peer), daemon=True).start()


def _serve(connection: socket.socket, peer: HttpPeer) -> None:
    with connection, contextlib.suppress(OSError):
        connection.settimeout(60)
        asked = _read(connection)
        if asked is not None:
            peer.asked.append(asked)
            at_path = peer.answers.get(asked.path.partition("?")[0], peer.otherwise)
            peer.answers.get(asked.path, at_path)(connection, asked)


def _read(connection: socket.socket) -> Asked | None:
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return None
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    request, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    length = int(headers.get("content-length", "0"))
    while len(body) < length and (part := connection.recv(length - len(body))):
        body += part  # closing with an unread body would reset the connection
    method, path, _ = request.split(" ", 2)
    return Asked(path, headers, method, body)
