"""What goes on beside a stream's connection: names, the session, and which matches are followed.

Runs as tasks of the stream's actor. Trouble with an errand is counted and tried again; it never ends
the connection.
"""

from __future__ import annotations

import anyio
import structlog

from actors.core.errors import SourceError, StreamError, TransportError
from actors.pipeline.context import Desk
from actors.pipeline.stream_delivery import StreamOutlet
from actors.pipeline.stream_feed import NAMES_SCOPE, StreamFeed
from actors.pipeline.stream_http import Errands
from actors.source_api.stream import StreamKind, StreamOptions
from actors.transports.http import DENIED_RETRY_S

log = structlog.get_logger()

ERRAND_RETRY_S = 5.0
KEEP_ALIVE_S = 600.0
NEAREST_S = 600.0


class StreamUpkeep:
    """The upkeep of one source."""

    def __init__(
        self,
        kind: StreamKind,
        desk: Desk[StreamOptions],
        feed: StreamFeed,
        outlet: StreamOutlet,
        errands: Errands,
    ) -> None:
        self._kind = kind
        self._desk = desk
        self._feed = feed
        self._outlet = outlet
        self._errands = errands
        self._max_matches = desk.options.max_markets
        self._nearest: list[str] = []
        self._logins_in_vain = 0
        self._log = log.bind(actor=desk.status.actor.name, source=desk.status.name)

    async def run(self) -> None:
        """Do all of it, for ever."""
        async with anyio.create_task_group() as tasks:
            for task in (self._name, self._keep_alive, self._follow_nearest, self._outlet.heed_requests):
                tasks.start_soon(task)

    def vouched(self) -> None:
        """Hear that the server stands by its list: the session is good."""
        self._logins_in_vain = 0

    async def mend(self, error: StreamError) -> float:
        """Do what may let the next connection succeed; give the least seconds until then."""
        if error.is_login and self._kind.login(self._desk.options) is not None:
            self._errands.drop_token()
            self._logins_in_vain += 1
            return 0.0 if self._logins_in_vain <= 1 else DENIED_RETRY_S
        if not error.is_too_much:
            return 0.0 if error.is_passing else DENIED_RETRY_S
        if self._nearest:
            self._max_matches = max(self._max_matches // 2, 1)
        return 0.0 if await self._narrow() else DENIED_RETRY_S

    async def _name(self) -> None:
        """Get the names of matches that have none."""
        while True:
            try:
                body, names = await self._errands.fetch_names()
            except SourceError as error:
                await self._failed(error)
            else:
                async with self._outlet.in_turn:
                    if body:
                        self._outlet.record(NAMES_SCOPE, body, self._desk.clock.now())
                    self._outlet.hand_out(self._feed.names(names))

    async def _keep_alive(self) -> None:
        while True:
            await anyio.sleep(KEEP_ALIVE_S)
            try:
                await self._errands.keep_alive()
            except SourceError as error:
                self._errands.drop_token()
                await self._failed(error)

    async def _follow_nearest(self) -> None:
        """While not all matches may be subscribed to, follow those whose kick-offs come near."""
        while True:
            await anyio.sleep(NEAREST_S)
            before = self._nearest
            if before and await self._narrow() and self._nearest != before:
                self._outlet.want_image()

    async def _narrow(self) -> bool:
        """Subscribe to the nearest matches alone from now on; False if they cannot be told."""
        try:
            nearest = await self._errands.nearest(self._max_matches)
        except SourceError as error:
            await self._failed(error)
            return False
        if not self._nearest:
            self._log.info("stream.narrowed", matches=len(nearest))
        if nearest != self._nearest:
            self._nearest = nearest
            self._feed.session.narrow(nearest)
        return True

    async def _failed(self, error: SourceError) -> None:
        """Count it, and wait before anything is tried again."""
        if error.reason == "login":
            self._errands.drop_token()
        self._desk.status.failed_by[f"errand_{error.reason}"] += 1
        asked_for_s = error.retry_after_s if isinstance(error, TransportError) else None
        await anyio.sleep(max(asked_for_s or 0.0, ERRAND_RETRY_S))
