"""Accepted connections: the gate in front of each, their caps, and how they end.

A client's bytes pass the gate (`request_head.py`) before the server sees them. The gate sits in the socket:
asyncio's selector loop calls `recv`, `send` and `close`, so this works for every HTTP server on that loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import select
import socket
import sys
from collections import OrderedDict

from msgspec import Struct

from actors.core.clock import elapsed_s
from actors.monitoring.metrics import Count, Metrics
from web.protocol.peers import Peers
from web.protocol.request_head import MAX_HEAD_BYTES, HeadGate
from web.protocol.throttle import UNCOUNTED
from web.server.load import FEW, Load, turning_away
from web.server.reader import ReaderSocket

LINGER_S = 0.9
"""Seconds for which further bytes of a client are dropped, so that it gets its answer, not a reset."""
MAX_DROPPED = 67_108_864
"""Bytes dropped after the last request while it is answered; a client that sends more is disconnected."""
PEEKED_BYTES = 4_096
"""Bytes of a new client's request head that are read ahead, to see whether it waits for an answer."""
TIME_TO_ASK_S = 0.05
"""Seconds for which an idle connection is kept above the cap: a new client needs time to send a request."""
SHARE, SHARED_FROM = 0.5, 0.75
"""The part of the connections that one client may have; it applies once the second part is in use."""
LOOKED_AT = 8
"""Connections examined to find an idle connection, however many there are."""

_ESTABLISHED = 1  # TCP_ESTABLISHED, in the first byte of Linux's TCP_INFO

_recv, _send = socket.socket.recv, socket.socket.send


class Caps(Struct, frozen=True):
    """Caps of connections, and of requests on one connection.

    Above `connections`, which does not count streams, idle connections are closed. Above `most`, which
    counts all connections, new connections are closed immediately.
    """

    connections: int = 1_000
    most: int = 2_000
    requests: int = 1_000


class Connection(ReaderSocket):
    """An accepted connection; it receives only bytes that its gate passes."""

    def __init__(self, accepted: socket.socket, others: Connections, client: str | None = None) -> None:
        super().__init__(accepted)
        self.client = client
        """The client whose share the connection counts towards; None if it counts towards no share."""
        self.gate = HeadGate(others.refusals, others.caps.requests, others.known)
        self.is_excess = False
        """Whether there were too many connections when this one was accepted."""
        self._others = others
        self.asked_at = elapsed_s()
        """When the client last sent something; at first, when it was accepted."""
        self._dropped = 0
        self._waits_since: float | None = None
        self.is_answering = False
        """Whether a request is being answered; `is_busy` is false between two parts of an answer."""

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        """Receive the bytes that pass the gate.

        Raises: BlockingIOError while there are none yet; ConnectionResetError if the client sends without
        end, or leaves while no request is answered: after a plain end Hypercorn would keep it until a
        timeout.
        """
        data = _recv(self, min(size, MAX_HEAD_BYTES), flags)  # limits how many requests come in one read
        if not data:
            if self.is_busy:
                return data
            raise ConnectionResetError(errno.ECONNRESET, "the client has left")
        if self.is_excess:
            self.gate.is_overloaded = self._others.are_too_many
        if not (passed := self.gate.feed(data)):
            self._dropped += len(data) if self.gate.is_closing else 0
            if self._dropped > MAX_DROPPED:
                raise ConnectionResetError(errno.ECONNRESET, "the client sends without end")
            raise BlockingIOError
        if not self.is_busy:
            self.wait()
        self.is_busy = True
        self.asked_at = elapsed_s()
        try:
            self._others.by_request.move_to_end(self)
        except KeyError:  # it was a stream until now
            self._others.hold(self)
        return passed

    def wait(self) -> None:
        """Note that a request has come and waits to be answered."""
        if self._waits_since is None:
            self._others.load.waiting += 1
            self._waits_since = elapsed_s()

    def begin(self) -> None:
        """Note that the answer to the request begins."""
        self.is_answering = True
        if self._waits_since is not None:
            now = elapsed_s()
            self._others.load.begin(now - self._waits_since, now)
            self._waits_since = None

    def is_idle(self) -> bool:
        """Return whether none of its requests is being answered or waits to be read."""
        if self.is_busy or self.is_answering:
            return False
        with contextlib.suppress(OSError):  # nothing to read, or a connection that failed
            return not _recv(self, 1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        return True

    def is_gone(self) -> bool:
        """Return whether the client has left; False if the system cannot tell without reading."""
        if self.fileno() < 0:
            return True
        if sys.platform != "linux":
            return False
        if self.family == socket.AF_UNIX:
            ends = select.poll()
            ends.register(self, 0)
            return bool(ends.poll(0))
        return self.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != _ESTABLISHED

    def end(self) -> None:
        """Shut the connection down, so that the server reads the end of the input and closes it."""
        self.gate.close()
        with contextlib.suppress(OSError):
            self.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection; if the client may still be sending, first drop its bytes for `LINGER_S`."""
        was_held = self._others.release(self)
        if was_held and self.gate.is_closing and self._others.may_linger:
            try:
                self.shutdown(socket.SHUT_WR)
                loop = asyncio.get_running_loop()
            except (OSError, RuntimeError):
                self.finish()
            else:
                self._others.lingering[self] = loop.call_later(LINGER_S, self.finish)
                loop.add_reader(self, self._drop)
        elif self not in self._others.lingering:
            self.finish()

    def finish(self) -> None:
        """Close the connection now."""
        if self._waits_since is not None:
            self._others.load.waiting -= 1
            self._waits_since = None
        if (timer := self._others.lingering.pop(self, None)) is not None:
            timer.cancel()
            asyncio.get_running_loop().remove_reader(self)
        self._others.ended.discard(self)
        if self.fileno() >= 0:
            self._others.open -= 1
        super().close()

    def _drop(self) -> None:
        with contextlib.suppress(BlockingIOError):
            try:
                if _recv(self, MAX_HEAD_BYTES * 8):
                    return
            except ConnectionError:
                pass
            self.finish()


class Connections:
    """The connections of one listener; `by_request` has all but streams, in order of their last request.

    `open` also counts streams and connections about to be closed: in `ended` (by us) or `lingering`.
    """

    def __init__(
        self,
        refusals: str,
        caps: Caps,
        turned_away: Count | None = None,
        peers: Peers = Peers(),  # noqa: B008 - never changed
    ) -> None:
        self.refusals = refusals.encode()
        self.turned_away = turned_away or Metrics().counts["oddsboard_http_turned_away_total"]
        self.known: set[bytes] = set()
        self.by_request: OrderedDict[Connection, None] = OrderedDict()
        self._holder = peers.holder
        self._of_client: dict[str, set[Connection]] = {}
        self.change(caps)
        self.ended: set[Connection] = set()
        self.lingering: dict[Connection, asyncio.TimerHandle] = {}
        self.load = Load()
        self.open = 0
        self.is_ending = False

    def change(self, caps: Caps) -> None:
        """Apply new caps; open connections stay open, and keep their own limit of requests."""
        self.caps = caps
        self._share = max(int(caps.connections * SHARE), 1)
        of_client = self._of_client.items()
        self._above_share = {client for client, held in of_client if len(held) > self._share}

    @property
    def are_too_many(self) -> bool:
        """Whether there are more connections than the cap, because none of them is idle."""
        return len(self.by_request) > self.caps.connections

    @property
    def may_linger(self) -> bool:
        """Whether there is room to keep answered connections for a while."""
        return self.open <= self.caps.connections and not self.is_ending

    def is_room_near(self) -> bool:
        """Return whether accepting should pause: a connection will be free within milliseconds.

        Another connection is being closed, or has not been idle for `TIME_TO_ASK_S` yet.
        """
        if self.open >= self.caps.most and self.ended:
            return True
        idle = self._replaceable()
        return idle is not None and elapsed_s() - idle.asked_at < TIME_TO_ASK_S

    def admit(self, accepted: socket.socket, address: str | None = None) -> Connection | None:
        """Put the gate in front of a connection; above a share or the cap, close another connection for it.

        Above a share: the client's connection with the oldest last request. Above the cap: the connection
        that has been idle longest. Close the new one and return None if there are far too many, or if it
        would wait too long. `address` is the client's, None over a Unix socket.
        """
        request = self._request_of(accepted) if self.load.is_high(elapsed_s()) else b""
        is_late = request and self.load.waiting > FEW
        if request is None or is_late or self.open >= self.caps.most:
            if request:
                self._turn_away(accepted, request)
            accepted.close()
            return None
        client = self._holder(address)
        if (slowest := self._slowest(client)) is not None:
            self._replace(slowest)
            slowest.cut()
        elif (idle := self._replaceable()) is not None:
            self._replace(idle)
            idle.end()
        self.open += 1
        connection = Connection(accepted, self, client)
        self.hold(connection)
        connection.is_excess = self.are_too_many
        if request:
            connection.wait()
        return connection

    def keep(self, connection: Connection) -> None:
        """Do not close a connection before its next request: a silent stream is not idle."""
        self.release(connection)

    def hold(self, connection: Connection) -> None:
        """Count a connection; its request is the newest."""
        self.by_request[connection] = None
        if (client := connection.client) is not None:
            held = self._of_client.setdefault(client, set())
            held.add(connection)
            if len(held) > self._share:
                self._above_share.add(client)

    def release(self, connection: Connection) -> bool:
        """Stop counting a connection; return whether it was counted."""
        if connection not in self.by_request:
            return False
        del self.by_request[connection]
        if (client := connection.client) is not None:
            held = self._of_client[client]
            held.remove(connection)
            if len(held) <= self._share:
                self._above_share.discard(client)
            if not held:
                del self._of_client[client]
        return True

    def finish(self) -> None:
        """Close lingering connections, and let none linger from now on."""
        self.is_ending = True
        for connection in [*self.lingering]:
            connection.finish()

    def _request_of(self, accepted: socket.socket) -> bytes | None:
        """Return the head of a new client's request; None if the client has left.

        Return b"" for a probe or a stream, and while the head is not complete: a slow client delays itself.
        """
        try:
            head = _recv(accepted, PEEKED_BYTES, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return b""
        except OSError:
            return None
        path = head.partition(b" ")[2].partition(b" ")[0].partition(b"?")[0]
        return b"" if path in UNCOUNTED or b"\r\n\r\n" not in head else head

    def _turn_away(self, accepted: socket.socket, request: bytes) -> None:
        self.turned_away.inc()
        with contextlib.suppress(OSError):
            _recv(
                accepted, MAX_HEAD_BYTES, socket.MSG_DONTWAIT
            )  # unread bytes would make the close a reset
            _send(accepted, turning_away(request), socket.MSG_DONTWAIT)

    def _replace(self, connection: Connection) -> None:
        self.release(connection)
        self.ended.add(connection)

    def _slowest(self, client: str | None) -> Connection | None:
        """Return the connection to close for one of `client`, because a client exceeds its share."""
        if len(self.by_request) < self.caps.connections * SHARED_FROM:
            return None
        held = self._of_client.get(client or "", set())
        if len(held) < self._share:
            held = max((self._of_client[each] for each in self._above_share), key=len, default=set())
        return min(held, key=lambda connection: connection.asked_at, default=None)

    def _replaceable(self) -> Connection | None:
        """Return the connection to close for a new connection; None below the cap or if none is idle."""
        if len(self.by_request) < self.caps.connections:
            return None
        for _ in range(LOOKED_AT):
            oldest = next(iter(self.by_request))
            if oldest.is_idle():
                return oldest
            self.by_request.move_to_end(oldest)
        return None
