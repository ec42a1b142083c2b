"""Asking over HTTP: one request with validators, a total deadline and limits on what comes back.

Shared by all polled sources. It knows nothing of matches or schedules: it gives the whole content
of one answer, or says that nothing changed, or raises a SourceError that says why there is none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol
from urllib.parse import urljoin, urlsplit

import anyio
import httpx2
from msgspec import Struct

from actors.core.clock import Clock
from actors.core.cooperative import run_sliced
from actors.core.errors import SourceError, TransportError
from actors.transports.failures import TROUBLE
from actors.transports.http import HttpTransport, http_date, raw, read_within
from actors.transports.inflate import inflated
from actors.transports.names import Names

MAX_REDIRECTS = 3
_REDIRECTS = {301, 302, 303, 307, 308}
KEPT = ("date", "etag", "last-modified")
MAX_KEPT_CHARS = 256
MAX_ERROR_BODY_BYTES = 4096
ERROR_BODY_WITHIN_S = 1.0


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


class PollingTransport(HttpTransport):
    """Asks for what a source publishes, conditionally where it can.

    `kept` names headers of an answer to keep, beside those that every source may need.
    """

    def __init__(
        self, limits: Limits, clock: Clock, kept: tuple[str, ...] = (), names: Names | None = None
    ) -> None:
        super().__init__(limits.timeout_s, clock, {"Accept-Encoding": "gzip, deflate"}, names=names)
        self._limits = limits
        self._kept = {*KEPT, *kept}

    async def fetch(self, url: str, validators: Validators) -> Fetched | NotModified:
        """Get `url`, conditionally where there are validators; without any, never gives NotModified.

        Raises: TransportError for no connection, no whole answer in time, a wrong status, too many
        bytes or a redirect to elsewhere; PayloadError for content that cannot be inflated.
        """
        with self._request():
            return await self._follow(url, validators, self._clock.now().mono)

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
            raise self._refusal(response, self._headers(response), await _error_body(response))
        wire = await self._wire_body(response)
        coding, limit = response.headers.get("content-encoding", ""), self._limits.max_inflated_bytes
        body = await run_sliced(inflated(wire, coding, limit))
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
        limit, length = self._limits.max_payload_bytes, response.headers.get("content-length", "")
        announced = int(length) if re.fullmatch("[0-9]{1,18}", length) else 0
        if announced > limit:
            message = f"the answer announces {announced} bytes, at most {limit} are allowed"
            raise TransportError(message, reason="too_big")
        return await read_within(response.aiter_raw(), limit, announced)


async def _error_body(response: httpx2.Response) -> bytes:
    """Read what a refusal says of itself, as far as it is short and comes soon."""
    try:
        with anyio.move_on_after(ERROR_BODY_WITHIN_S):
            body = await read_within(response.aiter_raw(), MAX_ERROR_BODY_BYTES)
            coding = response.headers.get("content-encoding", "")
            return await run_sliced(inflated(body, coding, MAX_ERROR_BODY_BYTES))
    except (*TROUBLE, SourceError):
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
