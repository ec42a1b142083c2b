"""One HTTP request and its whole answer, within a deadline and a limit: what a stream needs beside it."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from types import TracebackType
from typing import Self

import anyio
import httpx2

from actors.errors import TransportError
from actors.transports.trouble import TROUBLE, root_of

MAX_ANSWER_BYTES = 4 * 1024 * 1024
DENIED_RETRY_S = 60.0
_DENIED = {401, 403}


class RestTransport:
    """One connection pool; use it as an asynchronous context manager. Follows no redirect."""

    def __init__(self, timeout_s: float, context: ssl.SSLContext) -> None:
        self._timeout_s = timeout_s
        # trust_env: the environment is read by settings.py alone. timeout: the total deadline is ours.
        self._client = httpx2.AsyncClient(
            trust_env=False, timeout=None, verify=context, headers={"User-Agent": "oddsboard"}
        )

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with anyio.move_on_after(1, shield=True):
            await self._client.__aexit__(kind, error, trace)

    async def ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> bytes:
        """Send a request and give the body of its answer. Raises: TransportError for anything but 200."""
        self._client.cookies.clear()
        try:
            with anyio.fail_after(self._timeout_s):
                async with self._client.stream(
                    method, url, headers=dict(headers), content=body
                ) as response:
                    return await _read(response)
        except TimeoutError as error:
            message = f"no whole answer within {self._timeout_s:g} s"
            raise TransportError(message, reason="timeout") from error
        except TROUBLE as error:
            raise TransportError(
                f"{type(error).__name__}: {root_of(error)}", reason="connection"
            ) from error


async def _read(response: httpx2.Response) -> bytes:
    status = response.status_code
    if status != httpx2.codes.OK:
        retry_after_s = DENIED_RETRY_S if status in _DENIED else None
        raise TransportError(f"status was {status}, must be 200", retry_after_s, reason=f"status_{status}")
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > MAX_ANSWER_BYTES:
            raise TransportError(f"the answer exceeds {MAX_ANSWER_BYTES} bytes", reason="too_big")
    return bytes(body)
