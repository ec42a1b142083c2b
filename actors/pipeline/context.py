"""Dependencies and state of a source that outlive one actor instance."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Generic, TypeVar

import structlog
from structlog.typing import FilteringBoundLogger

from actors.board.published import Published
from actors.core.clock import Clock, Instant
from actors.core.errors import SourceError
from actors.core.messages import BookmakerId, Failure, ListId, Payload, Scope
from actors.market_fixtures.boards import MarketBoards
from actors.monitoring.status import SourceStatus
from actors.runtime.conflation import Inbox
from actors.runtime.mailbox import Bus, PoisonGuard
from actors.source_api.options import SourceOptions

log: FilteringBoundLogger = structlog.get_logger()

MAX_ERROR_CHARS = 300

Options = TypeVar("Options", bound=SourceOptions)


@dataclass(frozen=True, slots=True)
class SourceContext(Generic[Options]):
    """One source's context, with `keys` and `inboxes` by bookmaker.

    `refresh` is set to request a new list. `wake` is set to check the clock and the schedule again, as
    after the machine has slept. `record`, if given, gets every payload as received.
    """

    options: Options
    keys: Mapping[BookmakerId, str]
    inboxes: Mapping[BookmakerId, Inbox]
    status: SourceStatus
    refresh: asyncio.Event
    published: Published
    clock: Clock
    random: Random
    poison_guard: PoisonGuard = field(default_factory=PoisonGuard)
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    record: Callable[[Payload], None] | None = None
    bus: Bus = field(default_factory=Bus)
    markets: MarketBoards = field(default_factory=MarketBoards)

    def holds(self, bookmaker: BookmakerId, scope: Scope, list_id: ListId) -> bool:
        """Return whether every board with this scope (each kind of market has a board) shows this list."""
        every = (self.published, *self.markets.published.values())
        boards = [board for board in every if scope in board.newest.books[bookmaker].lists]
        return bool(boards) and all(board.holds(bookmaker, scope, list_id) for board in boards)

    @contextmanager
    def attempt(self, scope: Scope) -> Iterator[None]:
        """Report a failure to each bookmaker's board if the block, an attempt to get a list, fails."""
        is_done = False
        try:
            yield
            is_done = True
        finally:
            if not is_done:
                self.report_failure(scope)

    def report_failure(self, scope: Scope) -> None:
        """Report to each bookmaker's board that an attempt to get a list failed."""
        for bookmaker in self.inboxes:
            self.bus.publish(Failure(bookmaker, scope, self.clock.now().mono))

    def record_payload(self, scope: Scope, now: Instant, body: bytes = b"", list_id: str = "") -> None:
        """Record received bytes, or an action of the source itself, at `now`."""
        if self.record is not None:
            name, listed, stale_after_s = self.status.name, ListId(list_id), self.options.staleness_s
            self.record(Payload(name, scope, listed, body, now.wall, now.mono, stale_after_s=stale_after_s))

    def logger(self) -> FilteringBoundLogger:
        """Return a logger that adds the actor and the source to its lines."""
        return log.bind(actor=self.status.actor.name, source=self.status.name)


def redact(error: SourceError, secrets: Iterable[str]) -> None:
    """Replace the secrets in an error's message, and cut it to `MAX_ERROR_CHARS`."""
    error.args = (redacted(str(error), secrets),)


def redacted(message: str, secrets: Iterable[str]) -> str:
    """Return a message without the secrets, cut to `MAX_ERROR_CHARS`."""
    for secret in secrets:
        message = message.replace(secret, "***")
    return message[:MAX_ERROR_CHARS]
