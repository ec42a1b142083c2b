"""A scripted stream server on a real loopback socket: it speaks the exchange's protocol, line by line.

It runs in its own thread. It greets every connection and answers authentication and subscriptions as the
script says; pushed messages go to the newest subscription.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

SUCCESS = {"op": "status", "statusCode": "SUCCESS", "connectionClosed": False}


@dataclass
class StreamPeer:
    """The script of the peer. `requests` collects every line received, decoded, in order.

    `answer(request)` returns the lines that follow the status of a subscription; that subscription's id
    is filled in. `refuse(request)` returns an error code in place of success, or None.
    """

    port: int
    scheme: str = "tcp"
    answer: Callable[[Any], list[Any]] = lambda _: []
    refuse: Callable[[Any], str | None] = lambda _: None
    requests: list[Any] = field(default_factory=list)
    received: list[bytes] = field(default_factory=list)
    connections: int = 0
    _current: socket.socket | None = None
    _id: int = 0
    _writing: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        """The URL to connect to."""
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def subscriptions(self) -> list[Any]:
        """Return the subscription requests."""
        return [request for request in list(self.requests) if request["op"] == "marketSubscription"]

    def push(self, *messages: Any) -> None:
        """Send messages to the newest subscription; bytes are sent unchanged."""
        for message in messages:
            self.write(message if isinstance(message, bytes) else self.line(message))

    def line(self, message: Any) -> bytes:
        """Return a message as a line, with the id of the newest subscription unless it has another."""
        if message.get("op") == "mcm":
            message = {**message, "id": self._id}
        return json.dumps(message).encode() + b"\r\n"

    def write(self, data: bytes) -> None:
        """Send bytes unchanged."""
        with self._writing:
            if self._current is not None:
                self._current.sendall(data)

    def cut(self) -> None:
        """Close the connection without notice."""
        with contextlib.suppress(OSError):
            if self._current is not None:
                self._current.shutdown(socket.SHUT_RDWR)

    def _serve(self, connection: socket.socket) -> None:
        self._current = connection
        self.push({"op": "connection", "connectionId": "001"})
        rest = b""
        while data := connection.recv(65536):
            self.received.append(data)
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._take(json.loads(line))

    def _take(self, request: Any) -> None:
        self.requests.append(request)
        code = self.refuse(request)
        if code is not None:
            is_closed = code != "SUBSCRIPTION_LIMIT_EXCEEDED"
            refusal = {"statusCode": "FAILURE", "errorCode": code, "connectionClosed": is_closed}
            self.push({"op": "status", "id": request["id"], **refusal})
            if is_closed:
                self.cut()
            return
        if request["op"] == "marketSubscription":
            self._id = request["id"]
        self.push({**SUCCESS, "id": request["id"]})
        if request["op"] == "marketSubscription":
            self.push(*self.answer(request))


@contextlib.contextmanager
def stream_peer(context: ssl.SSLContext | None = None) -> Iterator[StreamPeer]:
    """Listen on a free port of the loopback interface within the block; with `context`, over TLS."""
    listener = socket.create_server(("127.0.0.1", 0))
    peer = StreamPeer(listener.getsockname()[1], "tcp" if context is None else "tls")
    thread = threading.Thread(target=_accept, args=(listener, peer, context), daemon=True)
    thread.start()
    try:
        yield peer
    finally:
        peer.cut()
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def _accept(listener: socket.socket, peer: StreamPeer, context: ssl.SSLContext | None) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        peer.connections += 1
        threading.Thread(target=_converse, args=(connection, peer, context), daemon=True).start()


def _converse(connection: socket.socket, peer: StreamPeer, context: ssl.SSLContext | None) -> None:
    with contextlib.suppress(OSError), connection:
        connection.settimeout(60)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # pieces are sent unchanged
        if context is not None:
            connection = context.wrap_socket(connection, server_side=True)
        with connection:
            peer._serve(connection)
