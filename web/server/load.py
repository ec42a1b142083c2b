"""Detects that requests wait too long to be started, and makes the 503 for clients refused meanwhile.

An overloaded server is late for all clients, and then works for clients that have left: at three times its
rate hardly an answer comes in time. So while requests wait too long, new clients are refused before the
server sees them. A refusal costs a tenth of an answer or less.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf
from os import urandom

from web.protocol.problems import Problem
from web.protocol.request_head import REFUSALS
from web.protocol.responses import ID_BYTES, Asked, prepared_error

LATE_S = 0.1
"""Seconds that a request may wait to be started; the whole answer takes several times as long."""
PATIENCE_S = 0.5
"""Seconds for which requests may wait longer, so that a burst of clients is served."""
HIGH_S = 1.0
"""Seconds for which the load counts as high once requests have waited too long."""
RECENT_S = 10.0
"""Seconds after high load in which one late request makes the load high again, without `PATIENCE_S`."""
FEW = 64
"""Requests that may wait even under high load, so that the processor stays busy."""

_ID = b"*" * 2 * ID_BYTES


class Load:
    """Counts waiting requests and knows whether the load is high; times in monotonic seconds."""

    def __init__(self) -> None:
        self.waiting = 0
        self._late_since: float | None = None
        self._high_until = -inf

    def begin(self, waited_s: float, now: float) -> None:
        """Note that a request is started after it waited `waited_s`."""
        self.waiting -= 1
        if waited_s <= LATE_S:
            self._late_since = None
            return
        if self._late_since is None:
            self._late_since = now
        if now - self._late_since >= PATIENCE_S or now < self._high_until + RECENT_S:
            self._high_until = now + HIGH_S

    def is_high(self, now: float) -> bool:
        """Return whether requests wait too long; then no more than `FEW` may wait."""
        return now < self._high_until


def turning_away(head: bytes) -> bytes:
    """Return the complete 503 for the request with this `head`, as a problem document."""
    is_head = head.startswith(b"HEAD ")
    return _answer(is_head=is_head).replace(_ID, urandom(ID_BYTES).hex().encode())


@lru_cache
def _answer(*, is_head: bool) -> bytes:
    refusal, request = REFUSALS["overloaded"], Asked("GET", "", b"", {}, _ID.decode(), 0.0)
    answer = prepared_error(
        Problem(refusal.status, refusal.code, refusal.detail, dict(refusal.headers)), request
    )
    headers = (*answer.headers, (b"x-request-id", _ID), (b"connection", b"close"))
    lines = b"".join(b"%b: %b\r\n" % header for header in headers)
    return b"HTTP/1.1 503 \r\n%b\r\n%b" % (lines, b"" if is_head else b"".join(answer.parts))
