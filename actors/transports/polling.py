"""Asking over HTTP: one request with validators, a total deadline and limits on what comes back.

Shared by all polled sources. It knows nothing of matches or schedules: it gives the whole content
of one answer, or says that nothing changed, or raises a SourceError that says why there is none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import TracebackType
from typing import Protocol, Self
from urllib.parse import urljoin, urlsplit

import anyio
import httpx2
from msgspec import Struct

from actors.clock import Clock
from actors.errors import PayloadError, TransportError
from actors.transports.headers import http_date, raw, retry_after_s
from actors.transports.inflate import inflated
from actors.transports.trouble import TROUBLE, root_of

MAX_REDIRECTS = 3
DENIED_RETRY_S = 60.0
_REDIRECTS = {301, 302, 303, 307, 308}
_DENIED = {401, 403}
_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.InvalidURL, httpx2.UnsupportedProtocol)
KEPT = ("date", "etag", "last-modified")
MAX_KEPT_CHARS = 256
MAX_EXCUSE_BYTES = 4096
EXCUSE_WITHIN_S = 1.0


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
    `answered_at` is its Date (Unix seconds), by the server's clock; `headers` are those that matter.
    """

    body: bytes
    wire_bytes: int
    validators: Validators
    last_modified_at: float | None
    asked_mono: float
    is_framed: bool = True
    answered_at: float | None = None
    headers: Mapping[str, str] = {}


class NotModified(Struct, frozen=True):
    """The server vouches for what the validators stand for, as of `asked_mono` (monotonic seconds)."""

    asked_mono: float
    headers: Mapping[str, str] = {}


class Transport(Protocol):
    """What a polled source asks through."""

    async def fetch(self, url: str, validators: Validators) -> Fetched | NotModified:
        """Get `url`; see `PollingTransport.fetch`."""
        ...


class PollingTransport:
    """One connection pool of one source; use it as an asynchronous context manager.

    `kept` names headers of an answer to keep, beside those that every source may need.
    """

    def __init__(self, limits: Limits, clock: Clock, kept: tuple[str, ...] = ()) -> None:
        self._limits = limits
        self._kept = {*KEPT, *kept}
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
            message = f"no whole answer within {self._limits.timeout_s:g} s"
            raise TransportError(message, reason="timeout") from error
        except TROUBLE as error:
            is_sent = not isinstance(error, _NEVER_SENT)
            message = f"{type(error).__name__}: {root_of(error)}"
            raise TransportError(message, reason="connection", is_sent=is_sent) from error

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
            return NotModified(asked_mono, self._headers(response))
        if response.status_code != httpx2.codes.OK:
            raise await self._refusal(response)
        wire = await self._wire_body(response)
        body = inflated(wire, response.headers.get("content-encoding", ""), self._limits.max_inflated_bytes)
        last_modified = raw(response, b"last-modified")
        fresh = Validators(raw(response, b"etag"), last_modified)
        is_framed = "content-length" in response.headers or "transfer-encoding" in response.headers
        return Fetched(
            body,
            len(wire),
            fresh,
            http_date(last_modified),
            asked_mono,
            is_framed,
            http_date(response.headers.get("date")),
            self._headers(response),
        )

    def _headers(self, response: httpx2.Response) -> dict[str, str]:
        headers = response.headers
        return {name: headers[name][:MAX_KEPT_CHARS] for name in sorted(self._kept) if name in headers}

    async def _wire_body(self, response: httpx2.Response) -> bytes:
        limit = self._limits.max_payload_bytes
        announced = response.headers.get("content-length", "")
        if re.fullmatch("[0-9]{1,18}", announced) and int(announced) > limit:
            message = f"the answer announces {announced} bytes, at most {limit} are allowed"
            raise TransportError(message, reason="too_big")
        body = bytearray()
        async for part in response.aiter_raw():
            body += part
            if len(body) > limit:
                raise TransportError(f"the answer exceeds {limit} bytes", reason="too_big")
        return bytes(body)

    async def _refusal(self, response: httpx2.Response) -> TransportError:
        status = response.status_code
        retry_after = retry_after_s(response.headers.get("retry-after"), self._clock.now().wall)
        if status in _DENIED:
            retry_after = max(retry_after or 0.0, DENIED_RETRY_S)
        return TransportError(
            f"status was {status}, must be 200",
            retry_after,
            reason=f"status_{status}",
            status=status,
            headers=self._headers(response),
            body=await _excuse(response),
        )


async def _excuse(response: httpx2.Response) -> bytes:
    """Read what a refusal says of itself, as far as it is short and comes soon."""
    body = b""
    try:
        with anyio.move_on_after(EXCUSE_WITHIN_S):
            async for part in response.aiter_raw():
                body += part
                if len(body) > MAX_EXCUSE_BYTES:
                    return b""
            return inflated(body, response.headers.get("content-encoding", ""), MAX_EXCUSE_BYTES)
    except (*TROUBLE, PayloadError):
        pass  # the status and its headers are what counts
    return b""


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
