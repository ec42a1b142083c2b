"""How many requests a client may make: the generic cell rate algorithm (GCRA), one number a client.

Pure. A client may make `burst` requests at once and `per_s` a second in the long run. The table keeps the
clients that asked last; one that has been forgotten has its whole burst again, which only lets more
through. Fields: draft-ietf-httpapi-ratelimit-headers (`RateLimit-Policy`, `RateLimit`).
"""

from __future__ import annotations

from collections import OrderedDict
from math import ceil

from msgspec import Struct

POLICY = "client"


class Taken(Struct, frozen=True):
    """What became of a request: it may go on unless `retry_after_s` is above 0.

    `remaining` requests may follow at once; after `reset_s` the whole burst may.
    """

    remaining: int
    reset_s: float
    retry_after_s: float = 0.0


class RateLimit:
    """The limit of every client alike. Times are monotonic seconds."""

    def __init__(self, per_s: float, burst: int, max_clients: int) -> None:
        self._interval_s = 1.0 / per_s
        self._tolerance_s = burst * self._interval_s
        self._max_clients = max_clients
        self._full_at: OrderedDict[str, float] = OrderedDict()
        self.policy = f'"{POLICY}";q={burst};w={max(ceil(self._tolerance_s), 1)}'

    def __len__(self) -> int:
        """Return the number of clients in the table."""
        return len(self._full_at)

    def take(self, client: str, now: float) -> Taken:
        """Count one request of `client`; one that is refused is not counted."""
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


def fields(policy: str, taken: Taken) -> dict[str, str]:
    """Return the fields that tell a client of its limit; with Retry-After where it must wait."""
    limit = {
        "RateLimit-Policy": policy,
        "RateLimit": f'"{POLICY}";r={taken.remaining};t={ceil(taken.reset_s)}',
    }
    if taken.retry_after_s:
        limit["Retry-After"] = str(ceil(taken.retry_after_s))
    return limit
