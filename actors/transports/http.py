"""What every HTTP transport does alike: its pool, its total deadline, its limit, its refusals."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from types import TracebackType
from typing import Self

import anyio
import httpx2

from actors.core.clock import Clock
from actors.core.errors import TransportError
from actors.transports.failures import TROUBLE, root_of
from actors.transports.headers import retry_after_s

DENIED_RETRY_S = 60.0
_DENIED = {401, 403}
_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.InvalidURL, httpx2.UnsupportedProtocol)


class HttpTransport:
    """One connection pool of one source; use it as an asynchronous context manager. Follows no redirect."""

    def __init__(
        self,
        timeout_s: float,
        clock: Clock,
        headers: Mapping[str, str],
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._timeout_s = timeout_s
        self._clock = clock
        # trust_env: the environment is read by settings.py alone. timeout: the total deadline is ours.
        self._client = httpx2.AsyncClient(
            trust_env=False,
            timeout=None,
            verify=True if context is None else context,
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
