"""The listening socket, TCP or Unix, with its options and the size of the kernel's send buffer."""

from __future__ import annotations

import contextlib
import socket
import stat
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from secrets import token_hex
from typing import Any
from weakref import ReferenceType, WeakValueDictionary, ref

from actors.core.errors import BindError
from actors.monitoring.metrics import Count
from web.protocol.peers import Peers
from web.server.connections import Caps, Connection, Connections
from web.server.reader import SLOW_READER_S

Client = tuple[str, int] | None  # address and port, as in an ASGI scope; None for a Unix socket
KeepFresh = Callable[[Client], None]
"""Limits the send buffer of a stream's client, because buffered changes grow old while they wait."""

SLOW_READER_MS = 1000 * int(SLOW_READER_S)  # the kernel then disconnects a client that reads nothing
UNSENT_BYTES = 524_288
"""Unsent bytes in the kernel for a client; with 131,072 a list of 1,200 matches takes a tenth longer."""
STREAM_UNSENT_BYTES = 16_384

BACKLOG = 256
"""Clients that may wait in the kernel to be accepted."""
ACCEPTED_AT_ONCE = 32
"""Connections accepted in one loop iteration: connections closed for them need some iterations to end."""

CAPS = Caps()

_accepted: ContextVar[ReferenceType[Connection] | None] = ContextVar("accepted", default=None)
"""The current task's connection, for Unix sockets: their clients have no address to find it by."""


class Listener(socket.socket):
    """A listening socket that finds an open connection by its client's address.

    `refusals` is a secret path: the gate replaces a refused request by a request below it.
    """

    def __init__(
        self,
        family: int,
        caps: Caps,
        turned_away: Count | None = None,
        peers: Peers = Peers(),  # noqa: B008 - never changed
    ) -> None:
        # asyncio turns Nagle's algorithm off only if the protocol is given as TCP.
        super().__init__(family, socket.SOCK_STREAM, 0 if family == socket.AF_UNIX else socket.IPPROTO_TCP)
        self.connections: WeakValueDictionary[tuple[str, int], Connection] = WeakValueDictionary()
        self.refusals = f"/{token_hex(16)}/"
        self.held = Connections(self.refusals, caps, turned_away, peers)

    def bind(self, address: Any, /) -> None:
        """Bind the socket; replace the file of a Unix socket at which no process listens any more."""
        if self.family == socket.AF_UNIX:
            _remove_stale(address)
        super().bind(address)

    def listen(self, _backlog: int = BACKLOG, /) -> None:
        """Listen with `BACKLOG`: the server's own number would also be how many it accepts in one step."""
        super().listen(BACKLOG)

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection, put the gate in front of it, and remember it.

        Raises: BlockingIOError if none should be accepted now, OSError if the system's resources are used
        up.
        """
        for _ in range(BACKLOG):  # the loop skips connections that `admit` closes
            if self.held.is_room_near():
                break
            accepted, client = super().accept()
            address = None if self.family == socket.AF_UNIX else client[0]
            if (connection := self.held.admit(accepted, address)) is not None:
                if self.family == socket.AF_UNIX:
                    _accepted.set(ref(connection))  # inherited by the task that serves the connection
                else:
                    self.connections[client[:2]] = connection
                return connection, client
        raise BlockingIOError

    def close(self) -> None:
        """Stop listening, and remove the file of a Unix socket."""
        path = self.getsockname() if self.family == socket.AF_UNIX and self.fileno() >= 0 else ""
        super().close()
        self.held.finish()
        if path:
            Path(path).unlink(missing_ok=True)

    def find(self, client: Client) -> Connection | None:
        """Return the connection of this client, None if it is closed; call it in the request's own task."""
        if client is not None:
            return self.connections.get(client)
        accepted = _accepted.get()
        return None if accepted is None or self.family != socket.AF_UNIX else accepted()

    def begin(self, client: Client) -> None:
        """Note that a request of this client is being answered."""
        if (connection := self.find(client)) is not None:
            connection.begin()

    def end(self, client: Client) -> None:
        """Note that the request of this client is answered."""
        if (connection := self.find(client)) is not None:
            connection.is_answering = False

    def keep_fresh(self, client: Client) -> None:
        """Make the send buffer of this client small, if it is still connected and the kernel allows it."""
        if (connection := self.find(client)) is not None:
            self.held.keep(connection)
            with contextlib.suppress(OSError):  # the client has left
                _limit_unsent(connection, STREAM_UNSENT_BYTES)


def listen(
    host: str,
    port: int | None,
    caps: Caps = CAPS,
    turned_away: Count | None = None,
    peers: Peers = Peers(),  # noqa: B008 - never changed
) -> Listener:
    """Open the listening socket. Port 0 takes a free port; without a port `host` is a Unix socket's path.

    `turned_away` counts clients that the listener refuses because too many wait. `peers` says which client
    each address counts as, for shares of the connections.
    Raises: BindError if that is not possible.
    """
    family = socket.AF_UNIX if port is None else socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = Listener(family, caps, turned_away, peers)
    try:
        if family != socket.AF_UNIX:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if hasattr(socket, "TCP_USER_TIMEOUT"):  # accepted connections inherit it
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SLOW_READER_MS)
            _limit_unsent(sock, UNSENT_BYTES)
        sock.bind(host if port is None else (host, port))
        sock.listen()
    except (OSError, TypeError, ValueError) as error:  # the last two for an invalid host
        sock.close()
        where = f"unix:{host}" if port is None else f"{host}:{port}"
        why = getattr(error, "strerror", None) or error
        raise BindError(f"cannot listen on {where}: {why}") from error
    return sock


def address_of(sock: socket.socket) -> str:
    """Return the URL at which `sock` listens; for a Unix socket, `unix:` and its path."""
    if sock.family == socket.AF_UNIX:
        return f"unix:{sock.getsockname()}"
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _limit_unsent(sock: socket.socket, size: int) -> None:
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, size)


def _remove_stale(path: str) -> None:
    """Remove the file of a Unix socket at which no process listens; any other file makes the bind fail."""
    with contextlib.suppress(OSError):
        if stat.S_ISSOCK(Path(path).lstat().st_mode):
            with socket.socket(socket.AF_UNIX) as probe:
                try:
                    probe.connect(path)
                except ConnectionRefusedError:
                    Path(path).unlink()
