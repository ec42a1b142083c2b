"""Requests at a rate that does not depend on answers, each on a connection of its own.

It uses bare sockets, because a client must be several times as fast as the service that it floods.
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import time
from collections import Counter, OrderedDict
from typing import Any

_RESET = struct.pack("ii", 1, 0)
_POLL_S = 0.002
_RECOVER_S = 10.0


class _Request:
    """A request that waits for the whole answer; `began` in monotonic seconds."""

    def __init__(self, port: int) -> None:
        self.began = time.monotonic()
        self.sock = socket.socket()
        self.sock.setblocking(False)  # noqa: FBT003 - the library's signature
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)  # so no port stays occupied
        self.status = ""
        self.received = 0
        self.length = -1
        with contextlib.suppress(BlockingIOError):
            self.sock.connect(("127.0.0.1", port))

    def read(self) -> bool:
        """Read the bytes that have come; return whether the answer is over, with status "" if none came."""
        try:
            data = self.sock.recv(262_144)
        except BlockingIOError:
            return False
        except OSError:
            self.status = ""
            return True
        if not self.status and data:
            head, end, _ = data.partition(b"\r\n\r\n")
            self.status = head[9:12].decode()
            found = head.lower().partition(b"content-length: ")[2].partition(b"\r")[0]
            self.length = len(head) + len(end) + int(found or 0)
        self.received += len(data)
        if not data and self.received < self.length:
            self.status = ""
        return not data or self.received >= self.length


class _Flood:
    def __init__(self, port: int, head: bytes, late_s: float) -> None:
        self.seen: Counter[str] = Counter()
        self.took: list[float] = []
        self.opened = 0
        self.waiting: OrderedDict[int, _Request] = OrderedDict()
        self._port, self._head, self._late_s = port, head, late_s
        self._poll = select.epoll()

    def start(self) -> None:
        self.opened += 1
        try:
            opened = _Request(self._port)
        except OSError:
            self.seen["no connection"] += 1
            return
        self.waiting[opened.sock.fileno()] = opened
        self._poll.register(opened.sock.fileno(), select.EPOLLOUT)

    def turn(self) -> None:
        """Write and read what is possible now, and give up requests that are late."""
        for number, _ in self._poll.poll(_POLL_S, 256):
            opened = self.waiting[number]
            if not opened.received and not opened.status and opened.length == -1:
                opened.length = -2  # the request is sent
                try:
                    opened.sock.send(self._head)
                except OSError:
                    self._end(number, "refused")
                else:
                    self._poll.modify(number, select.EPOLLIN)
            elif opened.read():
                self._end(number, opened.status or "cut")
        late = time.monotonic() - self._late_s
        while self.waiting and (oldest := next(iter(self.waiting.items())))[1].began < late:
            self._end(oldest[0], "late")

    def _end(self, number: int, status: str) -> None:
        pop = self.waiting.pop(number)
        pop.sock.close()
        self.seen[status] += 1
        if status == "200":
            self.took.append(time.monotonic() - pop.began)


def flood(port: int, per_s: float, seconds: float, lines: str = "", late_s: float = 2.0) -> dict[str, Any]:
    """Send `per_s` requests a second for the list, whether answered or not; unanswered ones are late.

    Return how often each status came, and after how many seconds requests were answered in time again.
    """
    crowd = _Flood(port, _head(lines), late_s)
    began = time.monotonic()
    while (passed := time.monotonic() - began) < seconds:
        for _ in range(min(int(passed * per_s) - crowd.opened, 200)):
            crowd.start()
        crowd.turn()
    opened, seen, took = crowd.opened, Counter(crowd.seen), sorted(crowd.took)
    recovered = _recovered(port, _head(lines))
    while crowd.waiting:
        crowd.turn()
    return {
        "sent": opened,
        "per_s": round(opened / seconds),
        "seen": dict(seen),
        "goodput": round(seen["200"] / seconds),
        "p50": round(took[len(took) // 2] * 1e3) if took else None,
        "recovered_s": recovered,
    }


def _recovered(port: int, head: bytes) -> float | None:
    """Return the seconds until a request is again answered within 100 ms."""
    began = time.monotonic()
    while (passed := time.monotonic() - began) < _RECOVER_S:
        crowd = _Flood(port, head, 0.1)
        crowd.start()
        while crowd.waiting:
            crowd.turn()
        if crowd.seen["200"]:
            return round(passed, 2)
    return None


def saturate(port: int, seconds: float, at_once: int = 64, lines: str = "") -> dict[str, Any]:
    """Keep `at_once` requests waiting for an answer; return how many were answered a second."""
    crowd = _Flood(port, _head(lines), 5.0)
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        while len(crowd.waiting) < at_once:
            crowd.start()
        crowd.turn()
    return {"goodput": round(crowd.seen["200"] / seconds), "seen": dict(crowd.seen)}


def _head(lines: str) -> bytes:
    head = "GET /api/v2/odds HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nConnection: close\r\n"
    return f"{head}{lines}\r\n".encode()
