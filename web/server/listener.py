"""The listening socket: TCP or Unix, its options, and how many bytes the kernel buffers unsent."""

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
"""Limits what is buffered for the client of a stream: what waits is older than what could be sent."""

SLOW_READER_MS = 1000 * int(SLOW_READER_S)  # the kernel then disconnects a client that reads nothing
UNSENT_BYTES = 524_288
"""Unsent bytes in the kernel for one client: with 131,072 a list of 1,200 matches takes a tenth longer."""
STREAM_UNSENT_BYTES = 16_384

BACKLOG = 256
"""Clients that the kernel lets wait until they are accepted."""
ACCEPTED_AT_ONCE = 32
"""Connections accepted in one turn of the loop: those closed for them need a few turns to be gone."""

CAPS = Caps()

_accepted: ContextVar[ReferenceType[Connection] | None] = ContextVar("accepted", default=None)
"""The connection of a Unix socket that the tasks of a request belong to: its clients have no address."""


class Listener(socket.socket):
    """A listening socket that finds its connections by client, as long as the server holds them.

    `refusals` is the secret path below which the gate asks for the answer to a request that it refused.
    """

    def __init__(
        self,
        family: int,
        caps: Caps,
        turned_away: Count | None = None,
        peers: Peers = Peers(),  # noqa: B008 - never changed
    ) -> None:
        # TCP is named, because asyncio turns Nagle's algorithm off only for a socket that names it.
        super().__init__(family, socket.SOCK_STREAM, 0 if family == socket.AF_UNIX else socket.IPPROTO_TCP)
        self.connections: WeakValueDictionary[tuple[str, int], Connection] = WeakValueDictionary()
        self.refusals = f"/{token_hex(16)}/"
        self.held = Connections(self.refusals, caps, turned_away, peers)

    def bind(self, address: Any, /) -> None:
        """Bind it; a Unix socket's file replaces a file at which no process listens any more."""
        if self.family == socket.AF_UNIX:
            _remove_stale(address)
        super().bind(address)

    def listen(self, _backlog: int = BACKLOG, /) -> None:
        """Listen with a `BACKLOG` of our own: servers mean by theirs also what is accepted at once."""
        super().listen(BACKLOG)

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection, put the gate in front of it, and remember it.

        Raises: BlockingIOError if none is to be accepted now, OSError if the system has nothing left.
        """
        for _ in range(BACKLOG):  # so many that are closed at once
            if self.held.is_room_near():
                break
            accepted, client = super().accept()
            address = None if self.family == socket.AF_UNIX else client[0]
            if (connection := self.held.admit(accepted, address)) is not None:
                if self.family == socket.AF_UNIX:
                    _accepted.set(ref(connection))  # the loop serves it in a task that begins now
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
        """Return the connection of this client, None if it is closed; call it in a task of its request."""
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
        """Buffer little for this client from now on, if it is still connected and the kernel can do so."""
        if (connection := self.find(client)) is not None:
            self.held.keep(connection)
            with contextlib.suppress(OSError):  # closed meanwhile
                _limit_unsent(connection, STREAM_UNSENT_BYTES)


def listen(
    host: str,
    port: int | None,
    caps: Caps = CAPS,
    turned_away: Count | None = None,
    peers: Peers = Peers(),  # noqa: B008 - never changed
) -> Listener:
    """Open the listening socket; port 0 is a free port. Without a port `host` is a Unix socket's path.

    `turned_away` counts the clients that it answers by itself, because too many wait. `peers` names those
    that have a share of the connections.
    Raises: BindError if that is not possible.
    """
    family = socket.AF_UNIX if port is None else socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = Listener(family, caps, turned_away, peers)
    try:
        if family != socket.AF_UNIX:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if hasattr(socket, "TCP_USER_TIMEOUT"):  # for each connection, as all options here
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SLOW_READER_MS)
            _limit_unsent(sock, UNSENT_BYTES)
        sock.bind(host if port is None else (host, port))
        sock.listen()
    except (OSError, TypeError, ValueError) as error:  # the last two for a host that is no name
        sock.close()
        where = f"unix:{host}" if port is None else f"{host}:{port}"
        why = getattr(error, "strerror", None) or error
        raise BindError(f"cannot listen on {where}: {why}") from error
    return sock


def address_of(sock: socket.socket) -> str:
    """Return the URL at which `sock` listens, of a Unix socket `unix:` and its path."""
    if sock.family == socket.AF_UNIX:
        return f"unix:{sock.getsockname()}"
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _limit_unsent(sock: socket.socket, size: int) -> None:
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, size)


def _remove_stale(path: str) -> None:
    """Remove the file of a Unix socket at which no process listens; other files stay, and fail the bind."""
    with contextlib.suppress(OSError):
        if stat.S_ISSOCK(Path(path).lstat().st_mode):
            with socket.socket(socket.AF_UNIX) as probe:
                try:
                    probe.connect(path)
                except ConnectionRefusedError:
                    Path(path).unlink()
