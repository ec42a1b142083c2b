"""Clients that ask without pause until the service is gone, and readers of many streams to their end."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator

import httpx2

from tests.support.peers.plain_http import NO_TLS

CLIENTS = 6


@contextlib.contextmanager
def loading(base: str) -> Iterator[list[tuple[int, str]]]:
    """Ask on kept and on new connections until the end; return status and trouble of each request so far.

    The trouble is "" or "refused" when the listener was closed by then. The block has to end the service.
    """
    outcomes: list[tuple[int, str]] = []
    loads = [_kept_connections, _new_connections] * (CLIENTS // 2)
    clients = [threading.Thread(target=load, args=(base, outcomes)) for load in loads]
    for client in clients:
        client.start()
    yield outcomes
    for client in clients:
        client.join(10)


def _kept_connections(base: str, outcomes: list[tuple[int, str]]) -> None:
    with httpx2.Client(base_url=base, trust_env=False, verify=NO_TLS) as client:
        while _asked(lambda: client.get("/api/v2/odds"), base, outcomes):
            pass


def _new_connections(base: str, outcomes: list[tuple[int, str]]) -> None:
    while _asked(lambda: httpx2.get(f"{base}/api/odds", trust_env=False, verify=NO_TLS), base, outcomes):
        pass


def _asked(ask: Callable[[], httpx2.Response], base: str, outcomes: list[tuple[int, str]]) -> bool:
    """Send one request; if it fails, note whether the listener was closed by then."""
    try:
        status, trouble = ask().status_code, ""
    except httpx2.TransportError as error:
        status, trouble = 0, "refused" if _is_closed(base) else repr(error)
    outcomes.append((status, trouble))
    return not trouble


def _is_closed(base: str) -> bool:
    try:
        socket.create_connection(("127.0.0.1", int(base.rpartition(":")[2])), 5).close()
    except OSError:
        return True
    return False


def read_to_the_end(sockets: list[socket.socket], within_s: float) -> list[bytes]:
    """Read all sockets in parallel until each of them has ended."""
    received = dict.fromkeys(sockets, b"")
    deadline = time.monotonic() + within_s
    with selectors.DefaultSelector() as selector:
        for number, connection in enumerate(sockets):
            selector.register(connection, selectors.EVENT_READ, number)
        while selector.get_map() and time.monotonic() < deadline:
            for key, _ in selector.select(0.1):
                connection = sockets[key.data]
                piece = connection.recv(1 << 20)
                received[connection] += piece
                if not piece:
                    selector.unregister(connection)
        assert not selector.get_map(), f"{len(selector.get_map())} streams have not ended"
    return list(received.values())
