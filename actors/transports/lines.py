"""A connection that carries lines: TLS, verified, with a limit on the length of a line.

It knows nothing of what the lines say. Without TLS it connects only where the caller asks for it,
which the configuration allows on this machine alone.

Whom to trust, and who we are: TLS as the system does it, with a certificate of our own where given.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from urllib.parse import urlsplit

import anyio
from anyio.abc import ByteStream
from anyio.streams.tls import TLSStream

from actors.core.errors import TransportError
from actors.transports.failures import TROUBLE, root_of
from actors.transports.names import Names, first_connected

CHUNK_BYTES = 64 * 1024
CLOSE_WITHIN_S = 1.0
_LOST = (*TROUBLE, anyio.BrokenResourceError, anyio.ClosedResourceError)


class LineConnection:
    """One connection; lines end with a line feed, a carriage return before it is not part of them.

    `received_bytes` counts all that came, also of a line that has not ended yet.
    """

    def __init__(self, stream: ByteStream, max_line_bytes: int) -> None:
        self.received_bytes = 0
        self._stream = stream
        self._max_line_bytes = max_line_bytes
        self._rest = bytearray()

    async def receive(self) -> list[bytes]:
        """Wait for bytes and give the lines that are whole now, perhaps none.

        Raises: TransportError when the connection has ended or a line is too long.
        """
        try:
            chunk = await self._stream.receive(CHUNK_BYTES)
        except anyio.EndOfStream as error:
            raise TransportError("the peer closed the connection", reason="closed") from error
        except _LOST as error:
            raise TransportError(
                f"{type(error).__name__}: {root_of(error)}", reason="connection"
            ) from error
        self.received_bytes += len(chunk)
        first, *others = chunk.split(b"\n")
        self._rest += first
        if max(len(self._rest), *map(len, others), 0) > self._max_line_bytes:
            raise TransportError(f"a line exceeds {self._max_line_bytes} bytes", reason="too_big")
        if not others:
            return []
        lines = [bytes(self._rest), *others[:-1]]
        self._rest = bytearray(others[-1])
        return [line.removesuffix(b"\r") for line in lines]

    async def send(self, line: bytes) -> None:
        """Write a line. Raises: TransportError when the connection has ended."""
        try:
            await self._stream.send(line)
        except _LOST as error:
            raise TransportError(
                f"{type(error).__name__}: {root_of(error)}", reason="connection"
            ) from error


@asynccontextmanager
async def connected(
    url: str, timeout_s: float, max_line_bytes: int, context: ssl.SSLContext, names: Names | None = None
) -> AsyncIterator[LineConnection]:
    """Connect to `tls://HOST:PORT` or `tcp://HOST:PORT` while the block runs; `names` looks up the host.

    Raises: TransportError if that cannot be done in time, or the certificate is not to be trusted.
    """
    stream = await _opened(url, timeout_s, context, names or Names())
    try:
        yield LineConnection(stream, max_line_bytes)
    finally:
        with anyio.move_on_after(CLOSE_WITHIN_S, shield=True):
            await anyio.aclose_forcefully(stream)


async def _opened(url: str, timeout_s: float, context: ssl.SSLContext, names: Names) -> ByteStream:
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 0
    try:
        with anyio.fail_after(timeout_s):
            addresses = await names.addresses(host, port)
            stream = await first_connected(addresses, partial(anyio.connect_tcp, remote_port=port))
            if parts.scheme != "tls":
                return stream
            # A server that ends without TLS's own goodbye has ended all the same.
            async with AsyncExitStack() as closing:
                closing.push_async_callback(anyio.aclose_forcefully, stream)
                secured = await TLSStream.wrap(
                    stream, hostname=host, ssl_context=context, standard_compatible=False
                )
                closing.pop_all()
                return secured
    except TimeoutError as error:
        raise TransportError(f"no connection within {timeout_s:g} s", reason="timeout") from error
    except _LOST as error:
        message = f"{type(error).__name__}: {root_of(error)}"
        raise TransportError(message, reason="connection", is_sent=False) from error


def tls_context(certificate: str | None, key: str | None) -> ssl.SSLContext:
    """Return a context that verifies certificates and host names; `certificate` and `key` are PEM files.

    Raises: OSError if the files cannot be read, do not belong together or need a passphrase.
    """
    context = ssl.create_default_context()
    if certificate is not None:
        context.load_cert_chain(certificate, key, password=_no_passphrase)
    return context


def _no_passphrase() -> str:
    """Answer before OpenSSL asks the terminal, and with it holds everything up."""
    return ""
