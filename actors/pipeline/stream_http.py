"""The HTTP requests of a stream source beside its connection: session token, names, market selection.

A failed request is counted and repeated; it never ends the connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from math import inf
from typing import Any, Protocol

import anyio

from actors.core.clock import Clock
from actors.core.errors import PayloadError, SourceError, StreamError, TransportError
from actors.pipeline.context import SourceContext, redact
from actors.pipeline.stream_delivery import StreamDelivery
from actors.pipeline.stream_feed import NAMES_SCOPE
from actors.runtime.facts import announce
from actors.runtime.supervisor import contained
from actors.source_api.options import secrets_of
from actors.source_api.stream import Request, StreamKind, StreamOptions
from actors.transports.http import DENIED_RETRY_S

NAMES_A_REQUEST = 100
ASK_AGAIN_S = 60.0  # seconds between two requests for a name that the catalogue does not have
LONGEST_LOGIN_RETRY_S = 3600.0
RETRY_S = 5.0
KEEP_ALIVE_S = 600.0
SELECT_S = 600.0  # seconds between two selections of the nearest matches
GROW_S = 3600.0  # seconds until a reduced subscription is tried at twice its size


class HttpClient(Protocol):
    """Sends the requests."""

    async def ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> bytes:
        """Return the body of the answer. Raises: TransportError for anything but 200."""


OpenHttp = Callable[[], AbstractAsyncContextManager[HttpClient]]


class StreamHttp:
    """Makes a source's requests; owns the session token and the list of names to request."""

    def __init__(self, kind: StreamKind, options: StreamOptions, client: HttpClient, clock: Clock) -> None:
        self._kind = kind
        self._options = options
        self._client = client
        self._clock = clock
        self._token: str | None = options.session_token
        self._refused_logins = 0
        self._refusal = ""
        self._login_mono = -inf
        self._login = anyio.Lock()  # two tasks that need a token at the same time must not both log in
        self._unnamed: dict[str, None] = {}
        self._asked_mono: dict[str, float] = {}
        self._nameless: set[str] = set()  # requested from the catalogue, which does not have them
        self._names_wanted = anyio.Event()

    def redact(self, error: SourceError) -> None:
        """Replace the secrets in an error's message."""
        redact(error, filter(None, (*secrets_of(self._options), self._token)))

    async def token(self) -> str:
        """Return the session token, after a login if needed. Raises: TransportError or PayloadError."""
        async with self._login:
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
            wait_s = DENIED_RETRY_S
            if error.reason == "login":  # doubled each time: too many refused logins lock the account
                wait_s = min(wait_s * 2.0 ** min(self._refused_logins, 32), LONGEST_LOGIN_RETRY_S)
                self._refused_logins += 1
            self._refusal = f"{error}; the next one is in {wait_s:g} s"
            self._login_mono = self._clock.now().mono + wait_s
            raise TransportError(self._refusal, wait_s, reason=error.reason) from error
        self._refused_logins = 0
        return token

    def drop_token(self) -> bool:
        """Forget the token, if another can be had by a login; return whether it can."""
        if self._kind.login(self._options) is None:
            return False
        self._token = None
        return True

    async def keep_alive(self) -> None:
        """Renew the session. Raises: TransportError or PayloadError if it cannot be renewed."""
        token = self._token
        if token is not None and (request := self._kind.keep_alive(self._options, token)) is not None:
            renewed = self._kind.read_token(await self._ask(request))
            if self._token == token:  # otherwise a login meanwhile gave a newer token
                self._token = renewed

    def request_names(self, matches: Iterable[str], listed: frozenset[str] | None) -> None:
        """Queue the names of these matches; `listed`, if given, are all matches that still exist."""
        if listed is not None:
            self._asked_mono = {market: at for market, at in self._asked_mono.items() if market in listed}
            self._unnamed = {market: None for market in self._unnamed if market in listed}
            self._nameless &= listed
        now = self._clock.now().mono
        for match in matches:
            if now - self._asked_mono.get(match, -inf) >= ASK_AGAIN_S:
                self._unnamed[match] = None
        if self._unnamed:
            self._names_wanted.set()

    async def fetch_names(self) -> tuple[bytes, Mapping[str, Any], str | None]:
        """Wait until names are queued, and request some; after an error they stay queued.

        Return the raw answer, the names in it, and why names are still missing, or None. Raises:
        TransportError or PayloadError.
        """
        await self._names_wanted.wait()
        some = list(self._unnamed)[:NAMES_A_REQUEST]
        request = self._kind.names_of(self._options, await self.token(), some) if some else None
        body = b"" if request is None else await self._ask(request)
        names = {} if request is None else self._kind.read_names(body)
        self._nameless = (self._nameless | {*some}) - names.keys()
        why = "there is no catalogue to ask" if request is None else "the catalogue does not have them"
        now = self._clock.now().mono
        for match in some:
            self._unnamed.pop(match, None)
            self._asked_mono[match] = now
        if not self._unnamed:
            self._names_wanted = anyio.Event()
        return body, names, why if self._nameless else None

    async def nearest(self, count: int) -> list[str]:
        """Return the matches with the nearest kick-offs. Raises: TransportError or PayloadError."""
        request = self._kind.nearest(self._options, await self.token(), count)
        if request is None:
            message = "the subscription is too large, and there is no catalogue to choose from"
            raise TransportError(message, DENIED_RETRY_S, reason="catalogue")
        found = list(self._kind.read_names(await self._ask(request)))[:count]
        if not found:
            raise PayloadError("the catalogue named no match", "catalogue")
        return found

    async def _ask(self, request: Request) -> bytes:
        return await self._client.ask(request.method, request.url, request.headers, request.body)


class StreamTasks:
    """Background tasks of a stream source; `refused_tokens` counts refusals since its last confirmation."""

    def __init__(
        self,
        kind: StreamKind,
        context: SourceContext[StreamOptions],
        delivery: StreamDelivery,
        client: HttpClient,
    ) -> None:
        self.http = StreamHttp(kind, context.options, client, context.clock)
        self._context = context
        self._delivery = delivery
        self._max_matches = context.options.max_markets
        self._sized_mono = 0.0
        self._selected: list[str] = []
        self.refused_tokens = 0
        self._log = context.logger()

    async def run(self) -> None:
        """Run all tasks, for ever."""
        async with anyio.create_task_group() as tasks:
            for task in (self._name, self._keep_alive, self._reselect, self._delivery.handle_refreshes):
                tasks.start_soon(contained, task, name=self._context.status.actor.name)

    async def prepare_retry(self, error: StreamError) -> float:
        """Try to remove the cause of `error`; return the least seconds until the next connection."""
        if error.is_login and self.http.drop_token():
            self.refused_tokens += 1
            return 0.0 if self.refused_tokens <= 1 else DENIED_RETRY_S
        if not error.is_too_much:
            return 0.0 if error.is_passing else DENIED_RETRY_S
        if self._selected:
            self._resize(max(len(self._selected) // 2, 1))
        return 0.0 if await self._select() else DENIED_RETRY_S

    async def _name(self) -> None:
        while True:
            try:
                body, names, why = await self.http.fetch_names()
            except SourceError as error:
                self.http.redact(error)
                self._context.status.names_error = str(error)
                await self._failed(error)
            else:
                self._context.status.names_error = why
                async with self._delivery.lock:
                    if body:
                        self._context.record_payload(NAMES_SCOPE, self._context.clock.now(), body)
                    self._delivery.deliver(self._delivery.feed.names(names))

    async def _keep_alive(self) -> None:
        while True:
            await anyio.sleep(KEEP_ALIVE_S)
            try:
                await self.http.keep_alive()
            except SourceError as error:
                self.http.drop_token()
                await self._failed(error)

    async def _reselect(self) -> None:
        """While the account allows only a part of the matches, follow those with the nearest kick-offs."""
        while True:
            await anyio.sleep(SELECT_S)
            most, now = self._context.options.max_markets, self._context.clock.now().mono
            if self._max_matches < most and now - self._sized_mono >= GROW_S:
                self._resize(min(2 * self._max_matches, most))  # the account's limit may have been raised
            before = self._selected
            if before and await self._select() and self._selected != before:
                self._delivery.is_image_requested = True

    def _resize(self, max_matches: int) -> None:
        self._max_matches = max_matches
        self._sized_mono = self._context.clock.now().mono

    async def _select(self) -> bool:
        """Subscribe to the nearest matches only; return False if the catalogue does not name them."""
        try:
            nearest = await self.http.nearest(self._max_matches)
        except SourceError as error:
            await self._failed(error)
            return False
        if not self._selected:
            announce(self._log, "stream.narrowed", matches=len(nearest))
        if nearest != self._selected:
            self._selected = nearest
            self._delivery.feed.session.narrow(nearest)
        return True

    async def _failed(self, error: SourceError) -> None:
        if error.reason == "login":
            self.http.drop_token()
        self._context.status.failed_by.add(f"errand_{error.reason}")
        asked_for_s = error.retry_after_s if isinstance(error, TransportError) else None
        await anyio.sleep(max(asked_for_s or 0.0, RETRY_S))
