"""One HTTP request and its whole answer, within a deadline and a limit: what a stream needs beside it."""

from __future__ import annotations

import ssl
from collections.abc import Mapping

import httpx2

from actors.core.clock import Clock
from actors.transports.http import HttpTransport, read_within

MAX_ANSWER_BYTES = 4 * 1024 * 1024


class RestTransport(HttpTransport):
    """Asks with any method; whatever is not a 200 is an error."""

    def __init__(self, timeout_s: float, context: ssl.SSLContext, clock: Clock) -> None:
        super().__init__(timeout_s, clock, {}, context)

    async def ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> bytes:
        """Send a request and give the body of its answer. Raises: TransportError for anything but 200."""
        with self._request():
            async with self._client.stream(method, url, headers=dict(headers), content=body) as response:
                if response.status_code != httpx2.codes.OK:
                    raise self._refusal(response)
                return await read_within(response.aiter_bytes(), MAX_ANSWER_BYTES)
