"""What a stream's actor asks over HTTP beside the stream: a session token, names, the nearest matches.

Owned by the actor; remembers the token and which names it has asked for. Trouble with a name is no
trouble with the stream: a match without names is shown where it may be, until they are known.

What goes on beside a stream's connection: names, the session, and which matches are followed.

Runs as tasks of the stream's actor. Trouble with an errand is counted and tried again; it never ends
the connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from math import inf
from typing import Any, Protocol

import anyio
import structlog

from actors.core.clock import Clock
from actors.core.errors import PayloadError, SourceError, StreamError, TransportError
from actors.pipeline.context import SourceContext
from actors.pipeline.stream_delivery import StreamOutlet
from actors.pipeline.stream_feed import NAMES_SCOPE, StreamFeed
from actors.runtime.supervisor import contained
from actors.source_api.stream import Request, StreamKind, StreamOptions
from actors.transports.http import DENIED_RETRY_S

NAMES_A_REQUEST = 100
ASK_AGAIN_S = 60.0
"""Seconds after which names that a catalogue did not know are asked for again."""
LONGEST_LOGIN_RETRY_S = 3600.0


class Rest(Protocol):
    """What asks."""

    async def ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> bytes:
        """Return the body of the answer. Raises: TransportError for anything but 200."""
        ...


OpenRest = Callable[[], AbstractAsyncContextManager[Rest]]


class Errands:
    """The errands of one source."""

    def __init__(self, kind: StreamKind, options: StreamOptions, rest: Rest, clock: Clock) -> None:
        self._kind = kind
        self._options = options
        self._rest = rest
        self._clock = clock
        self._token: str | None = options.session_token
        self._refused_logins = 0
        self._refusal = ""
        self._login_mono = -inf
        self._in_turn = anyio.Lock()
        self._lacking: dict[str, None] = {}
        self._asked_mono: dict[str, float] = {}
        self._wanted = anyio.Event()

    async def token(self) -> str:
        """Return the session token, after a login where there is none.

        Raises: TransportError or PayloadError if none can be had.
        """
        async with self._in_turn:  # two that need one at once must not both log in
            if self._token is None:
                self._token = await self._logged_in()
            return self._token

    async def _logged_in(self) -> str:
        request = self._kind.login(self._options)
        if request is None:
            message = "the session token was refused, and there is no login to get another"
            raise TransportError(message, DENIED_RETRY_S, reason="login")
        wait_s = self._login_mono - self._clock.now().mono
        if wait_s > 0:
            raise TransportError(self._refusal, wait_s, reason="login")
        try:
            token = self._kind.read_token(await self._ask(request))
        except PayloadError as error:
            raise self._login_refused(error) from error
        self._refused_logins = 0
        return token

    def _login_refused(self, error: PayloadError) -> TransportError:
        """Wait twice as long after each login that was refused as such: too many lock the account."""
        wait_s = DENIED_RETRY_S
        if error.reason == "login":
            wait_s = min(DENIED_RETRY_S * 2.0 ** min(self._refused_logins, 32), LONGEST_LOGIN_RETRY_S)
            self._refused_logins += 1
        self._refusal = f"{error}; the next one is in {wait_s:g} s"
        self._login_mono = self._clock.now().mono + wait_s
        return TransportError(self._refusal, wait_s, reason=error.reason)

    def drop_token(self) -> None:
        """Log in anew next time, if that can be done."""
        if self._kind.login(self._options) is not None:
            self._token = None

    async def keep_alive(self) -> None:
        """Renew the session. Raises: TransportError or PayloadError if it cannot be renewed."""
        token = self._token
        request = None if token is None else self._kind.keep_alive(self._options, token)
        if request is not None:
            renewed = self._kind.read_token(await self._ask(request))
            if self._token == token:  # else there was a login meanwhile, which is newer
                self._token = renewed

    def want_names(self, matches: Iterable[str], listed: frozenset[str] | None) -> None:
        """See to it that these names are asked for; `listed`, if given, are all that still matter."""
        if listed is not None:
            self._asked_mono = {one: at for one, at in self._asked_mono.items() if one in listed}
            self._lacking = {one: None for one in self._lacking if one in listed}
        now = self._clock.now().mono
        for match in matches:
            if now - self._asked_mono.get(match, -inf) >= ASK_AGAIN_S:
                self._lacking[match] = None
        if self._lacking:
            self._wanted.set()

    async def fetch_names(self) -> tuple[bytes, Mapping[str, Any]]:
        """Wait until names are wanted, ask for some, and give the answer as it came and as read.

        Raises: TransportError or PayloadError; what was asked for is wanted again then.
        """
        await self._wanted.wait()
        some = list(self._lacking)[:NAMES_A_REQUEST]
        request = self._kind.names_of(self._options, await self.token(), some) if some else None
        body = b"" if request is None else await self._ask(request)
        names = {} if request is None else self._kind.read_names(body)
        now = self._clock.now().mono
        for match in some:
            self._lacking.pop(match, None)
            self._asked_mono[match] = now
        if not self._lacking:
            self._wanted = anyio.Event()
        return body, names

    async def nearest(self, count: int) -> list[str]:
        """Return the matches whose kick-off is nearest.

        Raises: TransportError or PayloadError if the catalogue does not tell.
        """
        request = self._kind.nearest(self._options, await self.token(), count)
        if request is None:
            message = "the subscription is too large, and there is no catalogue to choose from"
            raise TransportError(message, DENIED_RETRY_S, reason="catalogue")
        found = list(self._kind.read_names(await self._ask(request)))[:count]
        if not found:
            raise PayloadError("the catalogue named no match", "catalogue")
        return found

    async def _ask(self, request: Request) -> bytes:
        return await self._rest.ask(request.method, request.url, request.headers, request.body)


log = structlog.get_logger()

ERRAND_RETRY_S = 5.0
KEEP_ALIVE_S = 600.0
NEAREST_S = 600.0
GROW_S = 3600.0
"""Seconds after which a subscription that was too large is tried at twice the size again."""


class StreamUpkeep:
    """The upkeep of one source."""

    def __init__(
        self,
        kind: StreamKind,
        context: SourceContext[StreamOptions],
        feed: StreamFeed,
        outlet: StreamOutlet,
        errands: Errands,
    ) -> None:
        self._kind = kind
        self._context = context
        self._feed = feed
        self._outlet = outlet
        self._errands = errands
        self._max_matches = context.options.max_markets
        self._sized_mono = 0.0
        self._nearest: list[str] = []
        self._logins_in_vain = 0
        self._log = log.bind(actor=context.status.actor.name, source=context.status.name)

    async def run(self) -> None:
        """Do all of it, for ever."""
        async with anyio.create_task_group() as tasks:
            for task in (self._name, self._keep_alive, self._follow_nearest, self._outlet.heed_requests):
                tasks.start_soon(contained, task, name=self._context.status.actor.name)

    def vouched(self) -> None:
        """Note that the server stands by its list: the session is good."""
        self._logins_in_vain = 0

    async def mend(self, error: StreamError) -> float:
        """Do what may let the next connection succeed; give the least seconds until then."""
        if error.is_login and self._kind.login(self._context.options) is not None:
            self._errands.drop_token()
            self._logins_in_vain += 1
            return 0.0 if self._logins_in_vain <= 1 else DENIED_RETRY_S
        if not error.is_too_much:
            return 0.0 if error.is_passing else DENIED_RETRY_S
        if self._nearest:
            self._max_matches = max(len(self._nearest) // 2, 1)
            self._sized_mono = self._context.clock.now().mono
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
                        self._outlet.record(NAMES_SCOPE, body, self._context.clock.now())
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
            self._grow()
            before = self._nearest
            if before and await self._narrow() and self._nearest != before:
                self._outlet.want_image()

    def _grow(self) -> None:
        """Ask for more again some time after a refusal: what the account may have can change."""
        now = self._context.clock.now().mono
        if self._max_matches < self._context.options.max_markets and now - self._sized_mono >= GROW_S:
            self._max_matches = min(2 * self._max_matches, self._context.options.max_markets)
            self._sized_mono = now

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
        self._context.status.failed_by[f"errand_{error.reason}"] += 1
        asked_for_s = error.retry_after_s if isinstance(error, TransportError) else None
        await anyio.sleep(max(asked_for_s or 0.0, ERRAND_RETRY_S))
