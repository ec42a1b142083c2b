"""Asks the service for an agent's tool; every failure is a plain sentence."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2
import msgspec
from mcp.server.mcpserver.exceptions import ToolError
from msgspec import Struct

from actors.core.clock import SystemClock

TIMEOUT_S = 60.0
MAX_REASON = 1_000
"""The most characters of a reason."""


class Told(Struct, frozen=True):
    """A decoded answer, and the time of the service when it was made, in Unix seconds."""

    body: dict[str, Any]
    at: float


class Service:
    """The service at `url`; only its paths that need no token."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    async def get(self, path: str, asked: Mapping[str, object] = {}, *, also: int = 200) -> Told:
        """Return the answer to a GET, without the parameters that are None; its status is 200 or `also`.

        Raises: ToolError that says what is wrong, and what is allowed.
        """
        given = {name: str(value) for name, value in asked.items() if value is not None}
        try:
            async with httpx2.AsyncClient(
                timeout=TIMEOUT_S, trust_env=False, follow_redirects=True
            ) as client:
                answer = await client.get(f"{self.url}{path}", params=given)
            body = msgspec.json.decode(answer.content)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            why = str(error) or type(error).__name__
            raise ToolError(f"no service answers at {self.url}: {why}. Ask again later.") from error
        except (msgspec.MsgspecError, UnicodeError) as error:
            raise ToolError(f"{self.url}{path} answers no JSON: is it an oddsboard?") from error
        if answer.status_code not in {200, also} or not isinstance(body, dict):
            raise ToolError(_sentence(answer, body))
        return Told(body, _time_of(answer))


def _sentence(answer: httpx2.Response, body: object) -> str:
    """Return the reason in a problem document (RFC 9457), and when to ask again."""
    detail = str(body.get("detail", "") if isinstance(body, dict) else "")[:MAX_REASON]
    wait = answer.headers.get("retry-after")
    later = "" if wait is None else f" Ask again in {wait} seconds."
    return f"The service says {answer.status_code}: {detail or 'no reason'}.{later}"


def _time_of(answer: httpx2.Response) -> float:
    try:
        return parsedate_to_datetime(answer.headers["date"]).timestamp()
    except (KeyError, ValueError):
        return SystemClock().now().wall
