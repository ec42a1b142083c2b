"""Checks whether a client reads the data that is sent to it, while data waits to be read.

The kernel disconnects a TCP client that reads nothing (`listener.py`). Three cases are left to this module:
a client that reads steadily with a small buffer, which must stay; a client that reads a little now and
then, which must go; and all clients of a Unix socket.
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
"""Seconds for which a client may read nothing, or almost nothing; twice as long if it did read before."""
LOOK_S = 3.0
STEADY_BYTES = 8_192
"""Seconds between two checks, and the bytes that a steady reader reads meanwhile."""
STEADY_READER_S = 120.0
"""Seconds after which the kernel disconnects a steady reader that stops reading."""
LARGE_BYTES = 32_768
"""Bytes sent in one step from which on the client's reading is checked."""

_DROP_UNSENT = struct.pack("ii", 1, 0)  # otherwise the kernel keeps the data and the connection

_send, _sendmsg = socket.socket.send, socket.socket.sendmsg


class ReaderSocket(socket.socket):
    """A connection that knows whether its client reads; `end` disconnects the client.

    `is_busy` is true from a request until its answer, or the part of it that is ready, has been sent.
    `is_steady` is true while the client reads steadily, even if slowly.
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
        """Send, and remember whether everything was sent."""
        sent = 0
        try:
            sent = _send(self, data, flags)
        finally:  # also if nothing could be sent
            self._note(len(data), sent)
        return sent

    def sendmsg(self, buffers: Iterable[Any], *more: Any) -> int:  # used by asyncio from Python 3.12 on
        """Send several pieces, and remember whether everything was sent."""
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
        """Disconnect the client, and drop unsent data."""
        self.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _DROP_UNSENT)
        self.end()

    def close(self) -> None:
        """Close the connection, and stop checking."""
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
        """Return whether the kernel disconnects a client that reads nothing (an option of the listener)."""
        return self.family != socket.AF_UNIX and hasattr(socket, "TCP_USER_TIMEOUT")

    def _unread(self) -> int:
        """Return how many sent bytes the client's kernel has not received; 0 if unknown."""
        try:
            return int.from_bytes(ioctl(self.fileno(), TIOCOUTQ, bytes(4)), sys.byteorder)
        except (OSError, ValueError):  # ValueError if it is closed
            return 0
