"""Whether the client of a connection reads what is sent to it: looked at while there is something to read.

The kernel disconnects a client that takes nothing (`listener.py`). It does the same to a client that reads
steadily but has a small buffer, not to one that takes a little again and again, and to nobody over a Unix
socket: these are decided here.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from collections.abc import Iterable
from fcntl import ioctl
from termios import TIOCOUTQ
from typing import Any

from actors.core.clock import elapsed_s

SLOW_READER_S = 10.0
"""Seconds for which a client may read nothing, or almost nothing; twice as many if it did read before."""
LOOK_S = 3.0
STEADY_BYTES = 8_192
"""Bytes between two looks, so many seconds apart, of a client that reads steadily."""
STEADY_READER_S = 120.0
"""Seconds in which the kernel does not disconnect such a client."""
LARGE_BYTES = 32_768
"""Bytes sent at once from which on it is looked whether they are read."""

_DROP_UNSENT = struct.pack("ii", 1, 0)  # the kernel would else keep it while the client goes on so

_send, _sendmsg = socket.socket.send, socket.socket.sendmsg


class ReaderSocket(socket.socket):
    """A connection that knows whether its client reads; `end` disconnects the client.

    `is_busy` from a request until all that was to be sent has been sent. `is_steady` while the client
    reads, however slowly.
    """

    def __init__(self, accepted: socket.socket) -> None:
        super().__init__(accepted.family, accepted.type, accepted.proto, accepted.detach())
        self.is_busy = False
        self.is_steady = False
        self._is_unsent = False
        self._sent = self._taken = 0
        self._taken_at = 0.0
        self._look_again: asyncio.TimerHandle | None = None

    def send(self, data: Any, flags: int = 0, /) -> int:
        """Send, and remember whether that was all."""
        sent = 0
        try:
            sent = _send(self, data, flags)
        finally:  # also where nothing could be sent
            self._note(len(data), sent)
        return sent

    def sendmsg(self, buffers: Iterable[Any], *more: Any) -> int:  # asyncio's way from 3.12 on
        """Send several pieces, and remember whether that was all."""
        pieces, sent = list(buffers), 0
        try:
            sent = _sendmsg(self, pieces, *more)
        finally:
            self._note(sum(map(len, pieces)), sent)
        return sent

    def end(self) -> None:
        """Disconnect the client."""
        raise NotImplementedError

    def cut(self) -> None:
        """Disconnect the client, and drop what it has not read."""
        self.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _DROP_UNSENT)
        self.end()

    def close(self) -> None:
        """Close it, and look no more."""
        if self._look_again is not None:
            self._look_again.cancel()
        super().close()

    def _note(self, length: int, sent: int) -> None:
        self._sent += sent
        self.is_busy = self._is_unsent = sent < length
        if self._look_again is None and (self._is_unsent or sent >= LARGE_BYTES):
            self._taken, self._taken_at = self._sent - self._unread(), elapsed_s()
            self._look_later()

    def _look_later(self) -> None:
        self._look_again = asyncio.get_running_loop().call_later(LOOK_S, self._look)

    def _look(self) -> None:
        self._look_again, unread, now = None, self._unread(), elapsed_s()
        taken = self._sent - unread
        patience_s = 2 * SLOW_READER_S if self.is_steady else SLOW_READER_S
        if taken - self._taken >= STEADY_BYTES * max(1.0, (now - self._taken_at) / LOOK_S):
            self._taken, self._taken_at = taken, now
            self._note_steady(is_steady=True)
        elif now - self._taken_at >= patience_s or not (unread or self._is_unsent):
            self._note_steady(is_steady=False)
            if self._is_unsent and (taken > self._taken or not self._is_cut_by_kernel()):
                self.cut()
                return
        if unread or self._is_unsent:
            self._look_later()

    def _note_steady(self, *, is_steady: bool) -> None:
        if is_steady is not self.is_steady and self._is_cut_by_kernel():
            limit_ms = int(1000 * (STEADY_READER_S if is_steady else SLOW_READER_S))
            self.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, limit_ms)
        self.is_steady = is_steady

    def _is_cut_by_kernel(self) -> bool:
        """Return whether the listener's options have the kernel disconnect a client that reads nothing."""
        return self.family != socket.AF_UNIX and hasattr(socket, "TCP_USER_TIMEOUT")

    def _unread(self) -> int:
        """Return how many bytes the kernel has that the client's has not; 0 if it does not say."""
        try:
            return int.from_bytes(ioctl(self.fileno(), TIOCOUTQ, bytes(4)), sys.byteorder)
        except (OSError, ValueError):  # the latter if it is closed
            return 0
