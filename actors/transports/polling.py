"""Polling over HTTP: one request with validators, a total deadline and limits on the answer."""

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
from actors.transports.connections import CONNECTION_ERRORS
from actors.transports.http import (
    USER_AGENT,
    HttpTransport,
    header_as_sent,
    http_date,
    inflated,
    read_within,
)

MAX_REDIRECTS = 3
MAX_KEPT_CHARS = 256
MAX_ERROR_BODY_BYTES = 4096
ERROR_BODY_WITHIN_S = 1.0


class Validators(Struct, frozen=True):
    """ETag and Last-Modified of an earlier answer, as sent, for a conditional request; None if absent."""

    etag: str | None = None
    last_modified: str | None = None


class FetchLimits(Struct, frozen=True):
    """Limits of a request: its deadline in seconds, and its bytes on the wire and after inflating."""

    timeout_s: float
    max_payload_bytes: int
    max_inflated_bytes: int


class Fetched(Struct, frozen=True):
    """A whole answer: its content, its validators and its Last-Modified as Unix seconds, if any.

    `asked_mono` is the time of the request (monotonic seconds): an answer is valid for no later moment.
    `is_framed` says that the length was announced, so a cut answer is noticed. `age_s` is the time that the
    answer spent in caches (RFC 9111, 5.1). `answered_at` is the source's clock at receipt (Unix seconds):
    its Date plus the age, or our own clock if the Date is missing or unreadable (RFC 9110, 6.6.1).
    """

    body: bytes
    wire_bytes: int
    validators: Validators
    last_modified_at: float | None
    asked_mono: float
    is_framed: bool = True
    answered_at: float | None = None
    headers: Mapping[str, str] = {}
    age_s: float = 0.0


class NotModified(Struct, frozen=True):
    """The server confirms the content behind the validators, as of `asked_mono` (monotonic seconds).

    `age_s` is the time that this answer spent in caches.
    """

    asked_mono: float
    headers: Mapping[str, str] = {}
    age_s: float = 0.0


class Transport(Protocol):
    """The transport of a polled source."""

    async def fetch(self, url: str, validators: Validators, body: bytes = b"") -> Fetched | NotModified:
        """Get `url`, or post to it; see `PollingTransport.fetch`."""


class PollingTransport(HttpTransport):
    """Gets what a source publishes; `kept` names response headers to keep, beside the usual headers.

    `sent` are headers of every request; no redirect takes them to another host.
    """

    def __init__(
        self,
        limits: FetchLimits,
        clock: Clock,
        kept: tuple[str, ...] = (),
        user_agent: str = USER_AGENT,
        sent: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(limits.timeout_s, clock)
        own = {"Accept-Encoding": "gzip, deflate", "User-Agent": user_agent}
        self._client.headers.update({**own, **(sent or {})})
        self._limits = limits
        self._kept = sorted({"date", "etag", "last-modified", *kept})

    async def fetch(self, url: str, validators: Validators, body: bytes = b"") -> Fetched | NotModified:
        """Get `url`, conditionally if there are validators; without validators, never return NotModified.

        A `body` is JSON and is posted.

        Raises: TransportError for no usable answer; PayloadError for content that cannot be inflated.
        """
        asked_mono = self._clock.now().mono
        validating = {b"If-None-Match": validators.etag, b"If-Modified-Since": validators.last_modified}
        with self._request():
            headers = {name: value.encode("latin-1") for name, value in validating.items() if value}
            if body:
                headers[b"Content-Type"] = b"application/json"
            method = "POST" if body else "GET"
            for _ in range(MAX_REDIRECTS + 1):
                if urlsplit(url).port == 0:  # `port` raises ValueError above 65535
                    raise TransportError("the port was 0, must be 1 to 65535")
                async with self._client.stream(
                    method, url, headers=headers, content=body or None
                ) as response:
                    if response.status_code not in {301, 302, 303, 307, 308}:
                        return await self._read(response, validators, asked_mono)
                    url = _redirected(url, response.headers.get("location", ""))
        raise TransportError(f"more than {MAX_REDIRECTS} redirects")

    async def _read(
        self, response: httpx2.Response, validators: Validators, asked_mono: float
    ) -> Fetched | NotModified:
        headers, now, age_s = response.headers, self._clock.now(), _age_s(response.headers.get("age", ""))
        kept = {name: headers[name][:MAX_KEPT_CHARS] for name in self._kept if name in headers}
        if response.status_code == httpx2.codes.NOT_MODIFIED and validators != Validators():
            return NotModified(asked_mono, kept, age_s)
        if response.status_code != httpx2.codes.OK:
            raise self._refusal(response, kept, await _error_body(response))
        date, limits = http_date(headers.get("date")), self._limits
        wire_bytes, body = await _body(response, limits.max_payload_bytes, limits.max_inflated_bytes)
        last_modified = header_as_sent(response, b"last-modified")
        return Fetched(
            body,
            wire_bytes,
            Validators(header_as_sent(response, b"etag"), last_modified),
            http_date(last_modified),
            asked_mono,
            is_framed="content-length" in headers or "transfer-encoding" in headers,
            answered_at=now.wall if date is None else date + age_s,
            headers=kept,
            age_s=age_s,
        )


def _age_s(value: str) -> float:
    """Read the Age of an answer (RFC 9111, 5.1); 0 if it is missing or unreadable."""
    return float(value) if re.fullmatch("[0-9]{1,9}", value) else 0.0


async def _body(response: httpx2.Response, max_wire_bytes: int, max_bytes: int) -> tuple[int, bytes]:
    """Read a body and inflate it; return its length on the wire and its content."""
    length = response.headers.get("content-length", "")
    announced = int(length) if re.fullmatch("[0-9]{1,18}", length) else 0
    if announced > max_wire_bytes:
        found = f"the answer announces {announced} bytes"
        raise TransportError(f"{found}, at most {max_wire_bytes} are allowed", reason="too_big")
    wire = await read_within(response.aiter_raw(), max_wire_bytes)
    coding = response.headers.get("content-encoding", "")
    return len(wire), await run_sliced(inflated(wire, coding, max_bytes))


async def _error_body(response: httpx2.Response) -> bytes:
    """Read the body of a refusal if it is short and comes soon; otherwise status and headers suffice."""
    try:
        with anyio.move_on_after(ERROR_BODY_WITHIN_S):
            return (await _body(response, MAX_ERROR_BODY_BYTES, MAX_ERROR_BODY_BYTES))[1]
    except (*CONNECTION_ERRORS, SourceError):
        pass
    return b""


def _redirected(url: str, location: str) -> str:
    old, new = urlsplit(url), urlsplit(urljoin(url, location))
    is_same_place = (new.scheme, new.netloc) == (old.scheme, old.netloc)
    is_upgrade = (old.scheme, new.scheme, old.hostname) == ("http", "https", new.hostname) and (
        old.port in {None, 80} and new.port in {None, 443}  # another port may belong to another service
    )
    if not location or not (is_same_place or is_upgrade):
        raise TransportError("redirected to another host, which is not followed")
    return new.geturl()
