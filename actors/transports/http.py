"""The base of all HTTP transports: a pool, a deadline for a whole answer, limits on its body."""

from __future__ import annotations

import re
import ssl
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC
from email.utils import parsedate_to_datetime
from io import BytesIO
from typing import Self

import anyio
import httpx2

from actors.core.clock import Clock
from actors.core.cooperative import Sliced
from actors.core.errors import PayloadError, TransportError
from actors.transports.connections import CONNECTION_ERRORS, connection_error
from actors.transports.paced_reads import PacedBackend, PacedTransport

DENIED_RETRY_S = 60.0
MAX_RETRY_AFTER_S = 3600.0
MAX_ANSWER_BYTES = 4 * 1024 * 1024
MAX_RATIO = 100
MANY_PARTS = 4096  # from this number of chunks on their average length is checked: each takes some 40 µs
MIN_PART_BYTES = 16
USER_AGENT = "oddsboard"
SLICE_BYTES = 512 * 1024  # inflated between two yields: up to 2 ms

_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.InvalidURL, httpx2.UnsupportedProtocol)


class HttpTransport:
    """A source's connection pool; use it as an asynchronous context manager. Follows no redirects."""

    def __init__(
        self,
        timeout_s: float,
        clock: Clock,
        context: ssl.SSLContext | None = None,
        backend: PacedBackend | None = None,
    ) -> None:
        self._timeout_s = timeout_s
        self._clock = clock
        # trust_env: only settings.py reads the environment. timeout: `_request` has a total deadline.
        self._client = httpx2.AsyncClient(
            trust_env=False,
            timeout=None,
            transport=PacedTransport(context, backend),
            headers={"User-Agent": USER_AGENT},
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        with anyio.move_on_after(1, shield=True):
            await self._client.aclose()

    @contextmanager
    def _request(self) -> Iterator[None]:
        """Limit the time of a request and its whole answer. Raises: TransportError for any failure."""
        self._client.cookies.clear()  # requests share nothing
        try:
            with anyio.fail_after(self._timeout_s):
                yield
        except TimeoutError as error:
            message = f"no whole answer within {self._timeout_s:g} s"
            raise TransportError(message, reason="timeout") from error
        except CONNECTION_ERRORS as error:
            raise connection_error(error, is_sent=not isinstance(error, _NEVER_SENT)) from error

    def _refusal(
        self,
        response: httpx2.Response,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        allowed: str = "200",
    ) -> TransportError:
        """Return the error for an answer that is not allowed, with the delay of its Retry-After."""
        status = response.status_code
        delay_s = retry_after_s(response.headers.get("retry-after"), self._clock.now().wall)
        if status in {401, 403}:
            delay_s = max(delay_s or 0.0, DENIED_RETRY_S)
        message, reason = f"status was {status}, must be {allowed}", f"status_{status}"
        return TransportError(message, delay_s, reason=reason, status=status, headers=headers, body=body)


class RestTransport(HttpTransport):
    """Requests with any method; every answer except a 200 is an error."""

    async def ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> bytes:
        """Send a request and return the body of its answer. Raises: TransportError for anything but 200."""
        with self._request():
            async with self._client.stream(method, url, headers=dict(headers), content=body) as response:
                if response.status_code != httpx2.codes.OK:
                    raise self._refusal(response)
                return await read_within(response.aiter_bytes(), MAX_ANSWER_BYTES)


async def read_within(parts: AsyncIterator[bytes], limit: int) -> bytes:
    """Read a body. Raises: TransportError for more than `limit` bytes, or thousands of tiny chunks."""
    read = BytesIO()  # grows in place: joining the parts of 32 MiB would take 30 ms in one step
    count = 0
    async for part in parts:
        read.write(part)
        count += 1
        if read.tell() > limit:
            raise TransportError(f"the answer exceeds {limit} bytes", reason="too_big")
        if count > MANY_PARTS and read.tell() < count * MIN_PART_BYTES:
            found = f"the answer comes in chunks of {read.tell() / count:.1f} bytes"
            raise TransportError(f"{found}, must be {MIN_PART_BYTES} on average", reason="chunks")
    return read.getvalue()


def inflated(body: bytes, encoding: str, max_bytes: int) -> Sliced[bytes]:
    """Return the content of `body` in that Content-Encoding, at most `max_bytes` long if compressed.

    A bomb is never unpacked (faults.md, A18). Raises: PayloadError for an encoding that was not asked for,
    damaged or cut data, or too much.
    """
    coding = encoding.strip().lower()
    if coding in {"", "identity"}:
        return body
    if coding not in {"gzip", "x-gzip", "deflate"}:
        raise PayloadError(f"content encoding was {encoding[:40]!r}, must be gzip, deflate or none")
    limit = min(max_bytes, MAX_RATIO * len(body))
    content = BytesIO()
    inflater, unread = zlib.decompressobj(zlib.MAX_WBITS | 32), body  # 32: detect gzip or zlib
    while not inflater.eof:
        try:
            piece = inflater.decompress(unread, min(SLICE_BYTES, limit - content.tell() + 1))
        except zlib.error as error:
            raise PayloadError(f"the compressed body is damaged: {error}") from error
        unread = inflater.unconsumed_tail
        content.write(piece)
        if content.tell() > limit:
            allowed = f"at most {max_bytes} and {MAX_RATIO}:1"
            raise PayloadError(f"the body inflates beyond {limit} bytes, {allowed}")
        if not (piece or unread):
            break
        yield
    if not inflater.eof or inflater.unused_data:
        raise PayloadError("the compressed body is cut short, or something follows it")
    return content.getvalue()


def retry_after_s(value: str | None, now: float) -> float | None:
    """Read Retry-After, seconds or a date (RFC 9110, 10.2.3), at `now` (Unix seconds); at most an hour."""
    if value is not None and re.fullmatch(r"[ \t]*[0-9]+[ \t]*", value):
        return min(float(value), MAX_RETRY_AFTER_S)
    date = http_date(value)
    return None if date is None else min(max(date - now, 0.0), MAX_RETRY_AFTER_S)


def http_date(value: str | None) -> float | None:
    """Read an HTTP date (RFC 9110, 5.6.7) as Unix seconds; None if it is missing or unreadable."""
    try:
        date = parsedate_to_datetime(value or "")
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def header_as_sent(response: httpx2.Response, name: bytes) -> str | None:
    """Return a header's value byte for byte (as latin-1), so that it can be sent back unchanged."""
    values = (value.decode("latin-1") for key, value in response.headers.raw if key.lower() == name)
    return next(values, None)
