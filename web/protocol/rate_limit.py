"""Limits the requests of each client by the generic cell rate algorithm (GCRA), with one number per client.

Pure. A client may make `burst` requests without a pause and `per_s` a second in the long run. The table
keeps the clients with the newest requests; a forgotten client has its whole burst again. Response fields:
draft-ietf-httpapi-ratelimit-headers-11 (`RateLimit-Policy`, `RateLimit`).
"""

from __future__ import annotations

from collections import OrderedDict
from math import ceil

from msgspec import Struct


class Taken(Struct, frozen=True):
    """The verdict on a request: it is refused if `retry_after_s` is above 0.

    `remaining` requests may follow without a pause; after `reset_s` seconds the whole burst may follow.
    """

    remaining: int
    reset_s: float
    retry_after_s: float = 0.0


class RateLimit:
    """The limit, equal for each client.

    Times are monotonic seconds. `max_clients` bounds the table.
    """

    def __init__(self, per_s: float, burst: int, max_clients: int) -> None:
        self._full_at: OrderedDict[str, float] = OrderedDict()
        self.change(per_s, burst, max_clients)

    def change(self, per_s: float, burst: int, max_clients: int) -> None:
        """Set a new limit; each client starts with its whole burst."""
        self._full_at.clear()
        self.per_s = per_s
        self.burst = burst
        self._interval_s = 1.0 / per_s
        self._tolerance_s = burst * self._interval_s
        self._max_clients = max_clients
        self._policy = b'"client";q=%d;w=%d' % (burst, ceil(self._tolerance_s))

    def __len__(self) -> int:
        """Return the number of known clients."""
        return len(self._full_at)

    def take(self, client: str, now: float) -> Taken:
        """Count a request of `client`; a refused request does not count."""
        used_s = max(self._full_at.get(client, now) - now, 0.0)
        if used_s + self._interval_s > self._tolerance_s + 1e-9:  # rounding must not cost a request
            self._full_at.move_to_end(client)
            return Taken(0, used_s, used_s + self._interval_s - self._tolerance_s)
        used_s += self._interval_s
        self._full_at[client] = now + used_s
        self._full_at.move_to_end(client)
        if len(self._full_at) > self._max_clients:
            self._full_at.popitem(last=False)
        return Taken(int((self._tolerance_s - used_s) / self._interval_s + 1e-6), used_s)

    def fields(self, taken: Taken) -> tuple[tuple[bytes, bytes], ...]:
        """Return the header fields about a client's limit.

        The window `t` never ends after Retry-After, as the draft requires.
        """
        window_s = ceil(taken.retry_after_s or taken.reset_s)
        return (
            (b"ratelimit-policy", self._policy),
            (b"ratelimit", b'"client";r=%d;t=%d' % (taken.remaining, window_s)),
        )


WORK_SHARE = 0.1
"""Seconds of work per second that a client may cause by requests that no other client shares."""
WORK_BURST_S = 2.0
"""Seconds of such work that a client may cause without a pause."""


class WorkLimit:
    """The limit of work for each client, in processor seconds; the client None has no limit.

    Times are monotonic seconds. Work is charged once it is done, so the last piece may exceed the limit.
    """

    def __init__(
        self, share: float = WORK_SHARE, burst_s: float = WORK_BURST_S, max_clients: int = 4096
    ) -> None:
        self._share = share
        self._tolerance_s = burst_s / share
        self.max_clients = max_clients
        self._paid_at: OrderedDict[str, float] = OrderedDict()

    def wait_s(self, client: str | None, now: float) -> float:
        """Return the seconds until more work may be done for the client, 0.0 if it may be done now."""
        if client is None:
            return 0.0
        return max(self._paid_at.get(client, now) - now - self._tolerance_s, 0.0)

    def charge(self, client: str | None, work_s: float, now: float) -> None:
        """Count `work_s` seconds of work for a client."""
        if client is None:
            return
        self._paid_at[client] = max(self._paid_at.get(client, now), now) + work_s / self._share
        self._paid_at.move_to_end(client)
        while len(self._paid_at) > self.max_clients:
            self._paid_at.popitem(last=False)
