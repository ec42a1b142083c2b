"""What every HTTP transport does alike: its pool, its total deadline, its limit, its refusals.

Reading header fields of an answer: dates, delays, values byte for byte.

Pure. What cannot be read is as good as absent: a header is never worth losing a payload for.

One HTTP request and its whole answer, within a deadline and a limit: what a stream needs beside it.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import partial
from io import BytesIO
from types import TracebackType
from typing import Self

import anyio
import httpcore2
import httpx2

from actors.core.clock import Clock
from actors.core.errors import TransportError
from actors.transports.failures import TROUBLE, root_of
from actors.transports.names import Names, first_connected

DENIED_RETRY_S = 60.0
_DENIED = {401, 403}
_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.InvalidURL, httpx2.UnsupportedProtocol)


class _Network(httpcore2.AnyIOBackend):
    """What opens connections: as httpcore2 does, but for where the addresses come from."""

    def __init__(self, names: Names) -> None:
        self._names = names

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - its interface
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            addresses = await self._names.addresses(host, port)
        except (OSError, ValueError) as error:
            raise httpcore2.ConnectError(str(error)) from error
        connect = partial(
            super().connect_tcp,
            port=port,
            timeout=timeout,
            local_address=local_address,
            socket_options=socket_options,
        )
        return await first_connected(addresses, connect)


class _Connecting(httpx2.AsyncHTTPTransport):
    """httpx2's own transport, which has no parameter for what opens connections, but its pool has."""

    def __init__(self, verify: ssl.SSLContext | bool, names: Names) -> None:  # noqa: FBT001 - as theirs
        super().__init__(verify=verify, trust_env=False)
        self._pool._network_backend = _Network(names)  # noqa: SLF001 - test_names.py sees that it is used


class HttpTransport:
    """One connection pool of one source; use it as an asynchronous context manager. Follows no redirect.

    `names` looks up the source's names, by itself unless given.
    """

    def __init__(
        self,
        timeout_s: float,
        clock: Clock,
        headers: Mapping[str, str],
        context: ssl.SSLContext | None = None,
        names: Names | None = None,
    ) -> None:
        self._timeout_s = timeout_s
        self._clock = clock
        # trust_env: the environment is read by settings.py alone. timeout: the total deadline is ours.
        self._client = httpx2.AsyncClient(
            trust_env=False,
            timeout=None,
            transport=_Connecting(True if context is None else context, names or Names()),
            headers={"User-Agent": "oddsboard", **headers},
        )

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with anyio.move_on_after(1, shield=True):
            await self._client.__aexit__(kind, error, trace)

    @contextmanager
    def _request(self) -> Iterator[None]:
        """Bound one request and its whole answer in time. Raises: TransportError for what goes wrong."""
        self._client.cookies.clear()  # nobody is known here from one request to the next
        try:
            with anyio.fail_after(self._timeout_s):
                yield
        except TimeoutError as error:
            message = f"no whole answer within {self._timeout_s:g} s"
            raise TransportError(message, reason="timeout") from error
        except TROUBLE as error:
            is_sent = not isinstance(error, _NEVER_SENT)
            message = f"{type(error).__name__}: {root_of(error)}"
            raise TransportError(message, reason="connection", is_sent=is_sent) from error

    def _refusal(
        self, response: httpx2.Response, headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> TransportError:
        """Make the error of an answer that is not 200, with what its Retry-After asks for."""
        status = response.status_code
        asked_for_s = retry_after_s(response.headers.get("retry-after"), self._clock.now().wall)
        if status in _DENIED:
            asked_for_s = max(asked_for_s or 0.0, DENIED_RETRY_S)
        return TransportError(
            f"status was {status}, must be 200",
            asked_for_s,
            reason=f"status_{status}",
            status=status,
            headers=headers,
            body=body,
        )


async def read_within(parts: AsyncIterator[bytes], limit: int, announced: int = 0) -> bytes:
    """Read a body. Raises: TransportError if it is longer than `limit` bytes.

    One whose length is announced is written to its place. Else it may move when it grows: one call, which
    takes up to 0.7 ms a MiB, as putting its parts together at the end would.
    """
    body = BytesIO(bytes(announced))
    async for part in parts:
        body.write(part)
        if body.tell() > limit:
            raise TransportError(f"the answer exceeds {limit} bytes", reason="too_big")
    body.truncate()
    return body.getvalue()


MAX_RETRY_AFTER_S = 3600.0


def retry_after_s(value: str | None, now: float) -> float | None:
    """Read Retry-After, seconds or a date (RFC 9110, 10.2.3), at `now` (Unix seconds).

    At most an hour; None if there is none that can be read.
    """
    if value is None:
        return None
    if re.fullmatch("[0-9]+", value.strip()):
        return min(float(value), MAX_RETRY_AFTER_S)
    date = http_date(value)
    return None if date is None else min(max(date - now, 0.0), MAX_RETRY_AFTER_S)


def http_date(value: str | None) -> float | None:
    """Read an HTTP date (RFC 9110, 5.6.7) as Unix seconds; None if there is none that can be read."""
    try:
        date = parsedate_to_datetime(value or "")
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def raw(response: httpx2.Response, name: bytes) -> str | None:
    """Return a header's value byte for byte (as latin-1), so that it can be given back as it came."""
    return next(
        (value.decode("latin-1") for key, value in response.headers.raw if key.lower() == name), None
    )


MAX_ANSWER_BYTES = 4 * 1024 * 1024


class RestTransport(HttpTransport):
    """Asks with any method; whatever is not a 200 is an error."""

    def __init__(
        self, timeout_s: float, context: ssl.SSLContext, clock: Clock, names: Names | None = None
    ) -> None:
        super().__init__(timeout_s, clock, {}, context, names)

    async def ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> bytes:
        """Send a request and give the body of its answer. Raises: TransportError for anything but 200."""
        with self._request():
            async with self._client.stream(method, url, headers=dict(headers), content=body) as response:
                if response.status_code != httpx2.codes.OK:
                    raise self._refusal(response)
                return await read_within(response.aiter_bytes(), MAX_ANSWER_BYTES)
