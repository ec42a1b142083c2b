"""Measures the age of a client's lists: for how long a newer version existed when the answer came."""

from __future__ import annotations

import http.client
import re
import socket
import threading
import time
from bisect import bisect_right
from types import TracebackType
from typing import Self

PATH = "/api/v2/odds"
EVERY_S = 0.004
_ID = re.compile(rb"\nid: (\d+)-")
_STREAM = b"GET /api/v2/stream HTTP/1.1\r\nHost: bench\r\n\r\n"


class Ages:
    """Within the block, one client polls `front` for the list, another follows the stream of `service`."""

    def __init__(self, front: str, service: str) -> None:
        self._front = front
        self._stream = socket.create_connection(_address(service))
        self._stream.settimeout(0.2)
        self._commits: dict[int, float] = {}
        self._got: list[tuple[int, float]] = []
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=work) for work in (self._follow, self._ask)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()
        self._stream.close()

    def seconds(self) -> list[float]:
        """Return for each answer how many seconds a newer version had existed; 0 for the newest version."""
        versions = sorted(self._commits)
        ages = []
        for version, at in self._got:
            place = bisect_right(versions, version)
            newer_at = self._commits[versions[place]] if place < len(versions) else at
            ages.append(max(at - newer_at, 0.0))
        return ages

    def _follow(self) -> None:
        self._stream.sendall(_STREAM)
        kept = b""
        while not self._is_over.is_set():
            try:
                data = self._stream.recv(1 << 20)
            except TimeoutError:
                continue
            at = time.time()
            kept = kept[-64:] + data
            for version in _ID.findall(kept):
                self._commits.setdefault(int(version), at)

    def _ask(self) -> None:
        connection = http.client.HTTPConnection(*_address(self._front), timeout=30)
        while not self._is_over.wait(EVERY_S):
            connection.request("GET", PATH, headers={"Accept-Encoding": "gzip"})
            answer = connection.getresponse()
            answer.read()
            version = re.match(r'"(\d+)-', answer.headers["ETag"] or "")
            if version is None:
                raise RuntimeError(f"{self._front}{PATH} was {answer.status}, without a version")
            self._got.append((int(version[1]), time.time()))
        connection.close()


def _address(url: str) -> tuple[str, int]:
    host, _, port = url.removeprefix("http://").partition(":")
    return host, int(port)
