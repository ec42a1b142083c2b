"""Connections of the HTTP client that read as much at once as it works through in about a millisecond.

The client parses all that it has read before it waits again. Of chunks of one byte, or of one 1xx answer
after the other, the 64 kB that it would read take it half a second, in which nothing else runs.
"""

# ruff: noqa: ASYNC109 - the methods of httpcore2, with its timeouts

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import httpx2
from httpcore2 import (
    SOCKET_OPTION,
    AnyIOBackend,
    AsyncConnectionPool,
    AsyncNetworkBackend,
    AsyncNetworkStream,
    ReadError,
)

from actors.core.clock import worked_s
from actors.core.cooperative import BUDGET_S

FIRST_BYTES = 2048
LEAST_BYTES = 256
MOST_BYTES = 64 * 1024
MAX_WORK_S = 1.0  # processor time for one answer: 32 MiB take a tenth


class PacedTransport(httpx2.AsyncHTTPTransport):
    """The client's own transport, over paced connections; a `context` for TLS, else the default."""

    def __init__(self, context: ssl.SSLContext | None) -> None:
        context = context or default_context()
        super().__init__(verify=context, trust_env=False)
        self._pool = AsyncConnectionPool(
            context,
            max_connections=100,  # this and the others as in `httpx2.Limits`
            max_keepalive_connections=20,
            keepalive_expiry=5.0,
            network_backend=_PacedBackend(),
        )


@cache
def default_context() -> ssl.SSLContext:
    """Return the TLS context that all sources share: reading its certificates takes 20 ms."""
    return httpx2.create_ssl_context(trust_env=False)


class _PacedBackend(AsyncNetworkBackend):
    def __init__(self) -> None:
        self._backend = AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        stream = await self._backend.connect_tcp(host, port, timeout, local_address, socket_options)
        return PacedStream(stream)

    async def sleep(self, seconds: float) -> None:
        await self._backend.sleep(seconds)


class PacedStream(AsyncNetworkStream):
    """A connection; the size of a read halves after one that took long to work through, and else doubles.

    `worked_s` returns seconds of processor time, from any moment on.
    """

    def __init__(self, stream: AsyncNetworkStream, worked_s: Callable[[], float] = worked_s) -> None:
        self._stream = stream
        self._worked_s = worked_s
        self._size = FIRST_BYTES
        self._read_at: float | None = None
        self._took_s = 0.0

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read at most `max_bytes`, or as many as are due. Raises: ReadError after too much work."""
        if self._read_at is not None:
            took_s = self._worked_s() - self._read_at
            self._took_s += took_s
            if self._took_s > MAX_WORK_S:
                raise ReadError(f"the answer takes more than {MAX_WORK_S:g} s of work")
            is_long = took_s > BUDGET_S
            self._size = max(self._size // 2, LEAST_BYTES) if is_long else min(self._size * 2, MOST_BYTES)
        data = await self._stream.read(min(max_bytes, self._size), timeout)
        self._read_at = self._worked_s()
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write all of it: the next read is of another answer."""
        self._read_at, self._took_s = None, 0.0
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> AsyncNetworkStream:
        """Return the connection with TLS on it."""
        return PacedStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        """Return what is known of the connection itself."""
        return self._stream.get_extra_info(info)
