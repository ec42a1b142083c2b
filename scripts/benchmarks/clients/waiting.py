"""Many clients that wait for changes, and the service's own stream with the time of each version.

All run in a single loop of plain sockets. Each address has a hundred clients, because nginx limits the
requests of an address.
"""

from __future__ import annotations

import re
import selectors
import socket
import time
import zlib
from collections import Counter

from msgspec import Struct

from scripts.benchmarks.processes import get

WAIT_S = 30
A_CLIENT_AND_ADDRESS = 100
RETRY_S = 1.0
_REQUEST = b"GET /api/v2/changes?since=%b&wait=%d HTTP/1.1\r\nHost: bench\r\nAccept-Encoding: gzip\r\n\r\n"
_STREAM = b"GET /api/v2/stream HTTP/1.1\r\nHost: bench\r\n\r\n"
_CURSOR = re.compile(rb'"version":(\d+),"since":\d+,.*"cursor":"([0-9a-z-]+)"\}$', re.DOTALL)
_ID = re.compile(rb"\nid: (\d+)-")


class News(Struct, frozen=True):
    """A version that a client received: when (Unix seconds), and the client's version before it."""

    version: int
    before: int
    at: float


class _Client:
    """A client: its socket, the received part of an answer, and the version that it has."""

    def __init__(self, address: tuple[str, int], number: int, cursor: bytes) -> None:
        self.peer = address
        self.own = f"127.0.1.{1 + number // A_CLIENT_AND_ADDRESS}"
        self.cursor = cursor
        self.data = b""
        self.retry_at = 0.0
        self.connect()

    def connect(self) -> None:
        self.socket = socket.create_connection(self.peer, source_address=(self.own, 0))

    def ask(self) -> None:
        self.data = b""
        self.socket.sendall(_REQUEST % (self.cursor, WAIT_S))

    def answer(self) -> tuple[int, bytes] | None:
        """Return status and body of the answer, None while it is incomplete."""
        head, found, body = self.data.partition(b"\r\n\r\n")
        if not found:
            return None
        length = int(re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)[1])  # type: ignore[index]
        if len(body) < length:
            return None
        if re.search(rb"(?i)\r\ncontent-encoding: *gzip", head):
            body = zlib.decompress(body, 31)
        return int(head.split(b" ", 2)[1]), body


class Crowd:
    """Clients at `front` of the service at `service`; `commits` has when each version came.

    `news`, and `refusals` by status, are counted since `begin`.
    """

    def __init__(self, front: str, service: str, clients: int) -> None:
        self.news: list[News] = []
        self.refusals: Counter[int | str] = Counter()
        self.commits: dict[int, float] = {}
        self._service = service
        self._retrying: list[_Client] = []
        self._selector = selectors.DefaultSelector()
        self._stream = socket.create_connection(_address(service))
        self._stream.sendall(_STREAM)
        self._stream.settimeout(0)
        self._selector.register(self._stream, selectors.EVENT_READ)
        self._streamed = b""
        cursor, self._clients = self._newest(), []
        for number in range(clients):
            client = _Client(_address(front), number, cursor)
            self._clients.append(client)
            self._register(client)
            self.listen(0.0)

    def begin(self) -> None:
        """Forget what was counted so far."""
        self.news.clear()
        self.refusals.clear()
        self.commits.clear()

    def listen(self, seconds: float) -> None:
        """Read and request again for `seconds` seconds; 0 reads only data that has already arrived."""
        until = time.monotonic() + seconds
        while True:
            ready = self._selector.select(min(max(until - time.monotonic(), 0.0), RETRY_S / 4))
            self._read_stream()  # the stream gives a version's time before clients get it
            for key, _ in ready:
                if key.data is not None:
                    self._read(key.data)
            self._retry()
            if time.monotonic() >= until:
                return

    def close(self) -> None:
        """Close all connections."""
        self._stream.close()
        for client in self._clients:
            client.socket.close()

    def _newest(self) -> bytes:
        while True:  # a busy service refuses new clients for a moment
            headers = get(self._service, "/api/v2/odds", {})[1]
            if "odds-cursor" in headers:
                return headers["odds-cursor"].encode()
            time.sleep(RETRY_S / 4)

    def _register(self, client: _Client) -> None:
        self._selector.register(client.socket, selectors.EVENT_READ, client)
        client.ask()

    def _read_stream(self) -> None:
        try:
            data = self._stream.recv(1 << 20)
        except BlockingIOError:
            return
        at = time.time()
        self._streamed = self._streamed[-64:] + data
        for version in _ID.findall(self._streamed):
            self.commits.setdefault(int(version), at)

    def _read(self, client: _Client) -> None:
        try:
            data = client.socket.recv(1 << 18)
        except ConnectionError:
            data = b""
        if not data:
            self._again(client, "closed")
            return
        client.data += data
        if (found := client.answer()) is None:
            return
        status, body = found
        changes = _CURSOR.search(body)
        if changes is None:
            self._again(client, status)
            return
        version, before = int(changes[1]), int(client.cursor.partition(b"-")[0])
        if version > before:
            self.news.append(News(version, before, time.time()))
        client.cursor = changes[2]
        client.ask()

    def _again(self, client: _Client, why: int | str) -> None:
        """Reconnect a client that got no changes after a second."""
        self.refusals[why] += 1
        self._selector.unregister(client.socket)
        client.socket.close()
        client.retry_at = time.monotonic() + RETRY_S
        self._retrying.append(client)

    def _retry(self) -> None:
        now = time.monotonic()
        due = [client for client in self._retrying if client.retry_at <= now]
        if not due:
            return
        self._retrying = [client for client in self._retrying if client.retry_at > now]
        cursor = self._newest()
        for client in due:
            client.cursor = cursor
            client.connect()
            self._register(client)


def _address(url: str) -> tuple[str, int]:
    host, _, port = url.removeprefix("http://").partition(":")
    return host, int(port)
