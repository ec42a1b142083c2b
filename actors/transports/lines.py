"""A connection that carries lines, over verified TLS, with a limit on the length of a line.

It connects without TLS only to a `tcp://` address, which is allowed on this machine alone.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from urllib.parse import urlsplit

import anyio
from anyio.abc import ByteStream
from anyio.streams.tls import TLSStream

from actors.core.errors import TransportError
from actors.transports.connections import CONNECTION_ERRORS, connection_error

CHUNK_BYTES = 64 * 1024


class LineConnection:
    """One connection. Lines end with LF or CRLF; `received_bytes` counts an unfinished line as well."""

    def __init__(self, stream: ByteStream, max_line_bytes: int) -> None:
        self.received_bytes = 0
        self._stream = stream
        self._max_line_bytes = max_line_bytes
        self._unfinished = bytearray()

    async def receive(self) -> list[bytes]:
        """Wait for bytes; return the complete lines so far, perhaps none. Raises: TransportError."""
        try:
            chunk = await self._stream.receive(CHUNK_BYTES)
        except anyio.EndOfStream as error:
            raise TransportError("the peer closed the connection", reason="closed") from error
        except CONNECTION_ERRORS as error:
            raise connection_error(error) from error
        self.received_bytes += len(chunk)
        first, *others = chunk.split(b"\n")
        self._unfinished += first
        if max(len(self._unfinished), *map(len, others), 0) > self._max_line_bytes:
            raise TransportError(f"a line exceeds {self._max_line_bytes} bytes", reason="too_big")
        if not others:
            return []
        lines = [bytes(self._unfinished), *others[:-1]]
        self._unfinished = bytearray(others[-1])
        return [line.removesuffix(b"\r") for line in lines]

    async def send(self, line: bytes) -> None:
        """Write a line. Raises: TransportError when the connection has ended."""
        try:
            await self._stream.send(line)
        except CONNECTION_ERRORS as error:
            raise connection_error(error) from error


@asynccontextmanager
async def connected(
    url: str, timeout_s: float, max_line_bytes: int, context: ssl.SSLContext
) -> AsyncIterator[LineConnection]:
    """Connect to `tls://HOST:PORT` or `tcp://HOST:PORT` while the block runs. Raises: TransportError."""
    async with AsyncExitStack() as closing:
        try:
            with anyio.fail_after(timeout_s):
                stream = await _opened(url, context, closing)
        except TimeoutError as error:
            raise TransportError(f"no connection within {timeout_s:g} s", reason="timeout") from error
        except CONNECTION_ERRORS as error:
            raise connection_error(error, is_sent=False) from error
        yield LineConnection(stream, max_line_bytes)


async def _opened(url: str, context: ssl.SSLContext, closing: AsyncExitStack) -> ByteStream:
    parts = urlsplit(url)
    host = parts.hostname or ""
    stream = await anyio.connect_tcp(host, parts.port or 0)
    closing.push_async_callback(anyio.aclose_forcefully, stream)
    if parts.scheme != "tls":
        return stream
    # Many servers close without TLS's close_notify: that counts as an ordinary end.
    return await TLSStream.wrap(stream, hostname=host, ssl_context=context, standard_compatible=False)


def tls_context(certificate: str | None, key: str | None) -> ssl.SSLContext:
    """Return a context that verifies certificates and host names; `certificate` and `key` are PEM files.

    Raises: OSError if the files cannot be read, do not belong together or need a passphrase.
    """
    context = ssl.create_default_context()
    if certificate is not None:
        # An empty passphrase stops OpenSSL from asking for one on the terminal.
        context.load_cert_chain(certificate, key, password="")
    return context
