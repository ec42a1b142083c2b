"""Asking over HTTP: one request with validators, a total deadline and limits on what comes back.

Shared by all polled sources. It knows nothing of matches or schedules: it gives the whole content
of one answer, or says that nothing changed, or raises a SourceError that says why there is none.
"""

from __future__ import annotations

import re
import ssl
from datetime import UTC
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Self
from urllib.parse import urljoin, urlsplit

import anyio
import httpx2
from msgspec import Struct

from actors.clock import Clock
from actors.errors import TransportError
from actors.transports.inflate import inflated

MAX_RETRY_AFTER_S = 3600.0
MAX_REDIRECTS = 3
DENIED_RETRY_S = 60.0
# ValueError and OverflowError: addresses and header values that only fail when they are used.
_TROUBLE = (
    *(httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError),
    *(ssl.SSLError, OSError, ValueError, OverflowError),
)
_REDIRECTS = {301, 302, 303, 307, 308}
_DENIED = {401, 403}


class Validators(Struct, frozen=True):
    """What an answer gave to ask "changed since?" with: both as sent, None where absent."""

    etag: str | None = None
    last_modified: str | None = None


class Limits(Struct, frozen=True):
    """Total deadline of one request (seconds), most bytes on the wire and after inflating."""

    timeout_s: float
    max_payload_bytes: int
    max_inflated_bytes: int


class Fetched(Struct, frozen=True):
    """A whole answer: its content, its validators and its Last-Modified as Unix seconds, if any.

    `asked_mono` is when it was asked for (monotonic seconds): no answer vouches for a later moment,
    however long it waited to be read. `is_framed`: its length was announced, so it cannot be cut.
    """

    body: bytes
    wire_bytes: int
    validators: Validators
    last_modified_at: float | None
    asked_mono: float
    is_framed: bool = True


class NotModified(Struct, frozen=True):
    """The server vouches for what the validators stand for, as of `asked_mono` (monotonic seconds)."""

    asked_mono: float


class PollingTransport:
    """One connection pool of one source; use it as an asynchronous context manager."""

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self._limits = limits
        self._clock = clock
        # trust_env: the environment is read by settings.py alone. timeout: the total deadline is ours.
        self._client = httpx2.AsyncClient(
            trust_env=False,
            timeout=None,
            headers={"User-Agent": "oddsboard", "Accept-Encoding": "gzip, deflate"},
        )

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with anyio.move_on_after(1, shield=True):
            await self._client.__aexit__(kind, error, trace)

    async def fetch(self, url: str, validators: Validators) -> Fetched | NotModified:
        """Get `url`, conditionally where there are validators; without any, never gives NotModified.

        Raises: TransportError for no connection, no whole answer in time, a wrong status, too many
        bytes or a redirect to elsewhere; PayloadError for content that cannot be inflated.
        """
        self._client.cookies.clear()  # nobody is known here from one poll to the next
        try:
            with anyio.fail_after(self._limits.timeout_s):
                return await self._follow(url, validators, self._clock.now().mono)
        except TimeoutError as error:
            raise TransportError(f"no whole answer within {self._limits.timeout_s:g} s") from error
        except _TROUBLE as error:
            raise TransportError(f"{type(error).__name__}: {_root(error)}") from error

    async def _follow(self, url: str, validators: Validators, asked_mono: float) -> Fetched | NotModified:
        for _ in range(MAX_REDIRECTS + 1):
            if urlsplit(url).port == 0:  # asking for the port raises ValueError for one above 65535
                raise TransportError("the port was 0, must be 1 to 65535")
            async with self._client.stream("GET", url, headers=_conditions(validators)) as response:
                if response.status_code not in _REDIRECTS:
                    return await self._read(response, validators, asked_mono)
                url = _redirected(url, response.headers.get("location", ""))
        raise TransportError(f"more than {MAX_REDIRECTS} redirects")

    async def _read(
        self, response: httpx2.Response, validators: Validators, asked_mono: float
    ) -> Fetched | NotModified:
        if response.status_code == httpx2.codes.NOT_MODIFIED and validators != Validators():
            return NotModified(asked_mono)
        if response.status_code != httpx2.codes.OK:
            raise self._refusal(response)
        wire = await self._wire_body(response)
        body = inflated(wire, response.headers.get("content-encoding", ""), self._limits.max_inflated_bytes)
        last_modified = _raw(response, b"last-modified")
        fresh = Validators(_raw(response, b"etag"), last_modified)
        is_framed = "content-length" in response.headers or "transfer-encoding" in response.headers
        return Fetched(body, len(wire), fresh, http_date(last_modified), asked_mono, is_framed)

    async def _wire_body(self, response: httpx2.Response) -> bytes:
        limit = self._limits.max_payload_bytes
        announced = response.headers.get("content-length", "")
        if re.fullmatch("[0-9]{1,18}", announced) and int(announced) > limit:
            raise TransportError(f"the answer announces {announced} bytes, at most {limit} are allowed")
        body = bytearray()
        async for part in response.aiter_raw():
            body += part
            if len(body) > limit:
                raise TransportError(f"the answer exceeds {limit} bytes")
        return bytes(body)

    def _refusal(self, response: httpx2.Response) -> TransportError:
        status = response.status_code
        retry_after = self._retry_after_s(response.headers.get("retry-after"))
        if status in _DENIED:
            retry_after = max(retry_after or 0.0, DENIED_RETRY_S)
        return TransportError(f"status was {status}, must be 200", retry_after)

    def _retry_after_s(self, value: str | None) -> float | None:
        """Read Retry-After, seconds or a date (RFC 9110, 10.2.3); at most an hour, None if unreadable."""
        if value is None:
            return None
        if re.fullmatch("[0-9]+", value.strip()):
            return min(float(value), MAX_RETRY_AFTER_S)
        date = http_date(value)
        return None if date is None else min(max(date - self._clock.now().wall, 0.0), MAX_RETRY_AFTER_S)


def _root(error: BaseException) -> str:
    """Say what it came from: "Connect call failed", not "All connection attempts failed"."""
    inner = error.__cause__ or error.__context__
    if isinstance(error, BaseExceptionGroup):
        inner = error.exceptions[0]
    return _root(inner) if inner is not None else str(error) or repr(error)


def http_date(value: str | None) -> float | None:
    """Read an HTTP date (RFC 9110, 5.6.7) as Unix seconds; None if there is none that can be read."""
    try:
        date = parsedate_to_datetime(value or "")
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _raw(response: httpx2.Response, name: bytes) -> str | None:
    """Give a header's value byte for byte (as latin-1), so that it can be given back as it came."""
    return next(
        (value.decode("latin-1") for key, value in response.headers.raw if key.lower() == name), None
    )


def _conditions(validators: Validators) -> dict[bytes, bytes]:
    conditions = {b"If-None-Match": validators.etag, b"If-Modified-Since": validators.last_modified}
    return {name: value.encode("latin-1") for name, value in conditions.items() if value}


def _redirected(url: str, location: str) -> str:
    old, new = urlsplit(url), urlsplit(urljoin(url, location))
    is_same_place = (new.scheme, new.netloc) == (old.scheme, old.netloc)
    is_upgrade = old.scheme == "http" and new.scheme == "https" and new.hostname == old.hostname
    if not location or not (is_same_place or is_upgrade):
        raise TransportError("redirected to another host, which is not followed")
    return new.geturl()
