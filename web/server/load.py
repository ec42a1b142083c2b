"""Whether requests wait too long until they are begun, and the answer to clients that are turned away then.

A server that takes more than it can serve is late for all, and then works for clients that have
left: at three times its rate hardly an answer comes in time. So while requests wait too long, new clients
are turned away before the server sees them, which costs a tenth of an answer or less.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf
from os import urandom

from web.protocol.problems import Problem
from web.protocol.request_head import REFUSALS
from web.protocol.responses import ID_BYTES, Asked, prepared_error

LATE_S = 0.1
"""Seconds that a request may wait to be begun in the long run; the whole answer takes some times that."""
PATIENCE_S = 0.5
"""Seconds for which they may wait longer: many clients that come at once are served."""
HIGH_S = 1.0
"""Seconds for which the load is then high; after them it shows whether it still is ..."""
RECENT_S = 10.0
"""... and if it was within so many seconds, without patience."""
FEW = 64
"""Requests that may wait always; so many keep the processor busy."""

_ID = b"*" * 2 * ID_BYTES


class Load:
    """The requests that wait; times in monotonic seconds."""

    def __init__(self) -> None:
        self.waiting = 0
        self._late_since: float | None = None
        self._high_until = -inf

    def begin(self, waited_s: float, now: float) -> None:
        """Note that a request is begun that waited so long."""
        self.waiting -= 1
        if waited_s <= LATE_S:
            self._late_since = None
            return
        if self._late_since is None:
            self._late_since = now
        if now - self._late_since >= PATIENCE_S or now < self._high_until + RECENT_S:
            self._high_until = now + HIGH_S

    def is_high(self, now: float) -> bool:
        """Return whether requests wait too long: then no more than `FEW` may."""
        return now < self._high_until


def turning_away(head: bytes) -> bytes:
    """Return a whole answer to the request that begins with `head`: 503 as a problem document."""
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
