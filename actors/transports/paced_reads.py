"""HTTP connections that limit each read to about a millisecond of parsing.

The HTTP client parses all that it has read before it waits again. It would read 64 kB in one step: if these
are chunks of one byte, or many 1xx answers, parsing blocks the event loop for half a second.
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
MAX_WORK_S = 1.0  # processor time for one answer; an ordinary answer of 32 MiB takes 0.1 s


class PacedTransport(httpx2.AsyncHTTPTransport):
    """The client's own transport, over paced connections; without a TLS `context` it uses the default."""

    def __init__(self, context: ssl.SSLContext | None, backend: PacedBackend | None = None) -> None:
        context = context or default_context()
        super().__init__(verify=context, trust_env=False)
        self._pool = AsyncConnectionPool(
            context,
            max_connections=100,  # the defaults of `httpx2.Limits`
            max_keepalive_connections=20,
            keepalive_expiry=5.0,
            network_backend=backend or PacedBackend(),
        )


@cache
def default_context() -> ssl.SSLContext:
    """Return the TLS context that all sources share, because reading its certificates takes 20 ms."""
    return httpx2.create_ssl_context(trust_env=False)


class PacedBackend(AsyncNetworkBackend):
    """Opens paced connections."""

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
        """Return a connection to a host."""
        stream = await self._backend.connect_tcp(host, port, timeout, local_address, socket_options)
        return PacedStream(stream)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await self._backend.sleep(seconds)


class PacedStream(AsyncNetworkStream):
    """A connection; the size of a read halves after a read that took long to parse, and doubles otherwise.

    `worked_s` returns seconds of processor time, with any origin.
    """

    def __init__(self, stream: AsyncNetworkStream, worked_s: Callable[[], float] = worked_s) -> None:
        self._stream = stream
        self._worked_s = worked_s
        self._size = FIRST_BYTES
        self._read_at: float | None = None
        self._took_s = 0.0

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read at most `max_bytes` or the paced size. Raises: ReadError if the answer takes too long."""
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
        """Write `buffer`; this starts the measurement of a new answer."""
        self._read_at, self._took_s = None, 0.0
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> AsyncNetworkStream:
        """Return a paced connection with TLS over this one."""
        return PacedStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        """Return a property of the underlying connection, such as its socket."""
        return self._stream.get_extra_info(info)
