"""The outermost layer: limits how often each client may send requests. Pure ASGI."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil

from hypercorn.typing import (
    ASGIFramework,
    ASGIReceiveCallable,
    ASGISendCallable,
    ASGISendEvent,
    ConnectionState,
    HTTPScope,
    Scope,
)

from actors.core.clock import elapsed_s
from actors.core.limits import Limits
from web.protocol.peers import Peers
from web.protocol.problems import Problem
from web.protocol.rate_limit import RateLimit, Taken, WorkLimit
from web.protocol.request_head import PROBES
from web.protocol.responses import HttpCounters, asked
from web.protocol.sending import random_ids, send_problem

UNCOUNTED: Mapping[bytes, tuple[str, ...]] = {
    **dict.fromkeys(PROBES, ("GET", "HEAD")),
    b"/api/v2/stream": ("GET",),  # their number is limited instead: a refusal ends an EventSource for ever
}
"""Raw paths and methods without a limit."""


class ClientLimits:
    """The limits of each client, and the rule that tells clients apart; both may change at any time."""

    def __init__(self, limits: Limits = Limits()) -> None:  # noqa: B008 - a frozen value
        self.requests = RateLimit(limits.requests_per_s, limits.burst, limits.max_clients)
        self.work = WorkLimit(max_clients=limits.max_clients)
        self.peers = Peers(limits.trusted_proxies)

    def change(self, limits: Limits) -> None:
        """Set new limits."""
        self.requests.change(limits.requests_per_s, limits.burst, limits.max_clients)
        self.work.max_clients = limits.max_clients
        self.peers.trust(limits.trusted_proxies)


@dataclass(frozen=True, slots=True)
class Throttle:
    """ASGI middleware: refuses the requests of a client above its `limit`.

    `refusals` is the secret path of the gate's refusals, which count like any request. Each counted answer
    has the RateLimit fields. The scope's state gets the client, so that its streams can be counted.
    """

    app: ASGIFramework
    limit: RateLimit
    peers: Peers
    refusals: str
    counters: HttpCounters
    ids: Iterator[str] = field(default_factory=random_ids)

    def __call__(
        self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> Awaitable[None]:
        """Pass the request on, or refuse it."""
        if scope["type"] == "http":
            peer = scope.get("client")
            client = self.peers.client(peer[0] if peer else None, scope["headers"])
            if client is not None:
                return self._count(client, scope, receive, send)
        return self.app(scope, receive, send)

    async def _count(
        self, client: str, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        scope = {**scope, "state": ConnectionState({"client": client})}
        if scope["method"] in UNCOUNTED.get(scope["raw_path"], ()):
            await self.app(scope, receive, send)
            return
        taken = self.limit.take(client, elapsed_s())
        fields = self.limit.fields(taken)

        async def send_with_fields(event: ASGISendEvent) -> None:
            if event["type"] == "http.response.start":
                event = {**event, "headers": [*event["headers"], *fields]}
            await send(event)

        if taken.retry_after_s:
            await self._refuse(taken, scope, send_with_fields)
        else:
            await self.app(scope, receive, send_with_fields)

    async def _refuse(self, taken: Taken, scope: HTTPScope, send: ASGISendCallable) -> None:
        self.counters.metrics.counts["oddsboard_http_throttled_total"].inc()
        is_of_gate = scope["path"].startswith(self.refusals)
        request = asked({**scope, "path": ""} if is_of_gate else scope, next(self.ids))
        limit = f"{self.limit.burst} requests at once and {self.limit.per_s:g} a second"
        retry_after = {"Retry-After": str(ceil(taken.retry_after_s))}
        problem = Problem(429, "too_many_requests", f"this client may send {limit}", retry_after)
        await send_problem(problem, request, "refused", self.counters, send)
