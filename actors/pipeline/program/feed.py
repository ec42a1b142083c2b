"""Turns the lines of a program into batches of its lists.

Pure. The actor of a live program and the replay of a recorded one call the same functions.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.core.errors import PayloadError
from actors.core.messages import Batch, BookmakerId, Document, Payload, Scope
from actors.pipeline.fanout import batch_of
from actors.source_api.program import ListChange, ProgramLists

# These scopes are in recordings only. Payloads of LINES_SCOPE have the lines as body, all others none.
LINES_SCOPE = Scope("lines")
START_SCOPE = Scope("start")  # a process started
EXIT_SCOPE = Scope("exit")  # a process ended, and its lists were withdrawn
EXPIRY_SCOPE = Scope("expiry")  # single stale matches were removed
REFRESH_SCOPE = Scope("refresh")  # all lists were sent again, because the board had lost some


class ReadLines(Struct, frozen=True):
    """The result of some lines: changes of lists, also as batches, and the error after `used_bytes`."""

    batches: tuple[Batch, ...]
    used_bytes: int
    error: PayloadError | None = None
    changes: tuple[ListChange, ...] = ()


class ProgramFeed:
    """A program's lists, and their bookmakers."""

    def __init__(
        self, lists: ProgramLists, bookmakers: Iterable[BookmakerId], stale_after_s: float
    ) -> None:
        self.lists = lists
        self._bookmakers = tuple(bookmakers)
        self._stale_after_s = stale_after_s

    def lines(self, body: bytes, now: Instant) -> Sliced[ReadLines]:
        """Read complete lines, received at `now`, up to the first that breaks the protocol."""
        self.lists.expire(now)
        used_bytes, error = 0, None
        while used_bytes < len(body):
            end = body.index(b"\n", used_bytes) + 1
            line = body[used_bytes:end]
            try:
                if not line.isspace():
                    yield from self.lists.receive(line, now)
            except PayloadError as found:
                error = found
                break
            used_bytes = end
            yield
        changes = self.lists.changes()
        return ReadLines(self._batches(changes, now), used_bytes, error, changes)

    def expire(self, now: Instant) -> tuple[Batch, ...]:
        """Remove the matches that are stale at `now`."""
        self.lists.expire(now)
        return self._batches(self.lists.changes(), now)

    def exit(self, now: Instant) -> tuple[Batch, ...]:
        """Withdraw all lists."""
        self.lists.withdraw()
        return self._batches(self.lists.changes(), now)

    def refresh(self, now: Instant) -> tuple[Batch, ...]:
        """Return every list again, with its age unchanged."""
        return self._batches((*self.lists.images(), *self.lists.changes()), now)

    def replay(self, payload: Payload) -> Sliced[tuple[Batch, ...]]:
        """Repeat a recorded payload. Raises: PayloadError for a line that breaks the protocol."""
        now = Instant(payload.received_mono, payload.received_at)
        match payload.scope:
            case "start":
                self.lists.begin()
            case "exit":
                return self.exit(now)
            case "expiry":
                return self.expire(now)
            case "refresh":
                return self.refresh(now)
            case _:
                taken = yield from self.lines(payload.body, now)
                if taken.error is not None:
                    raise taken.error
                return taken.batches
        return ()

    def _batches(self, changes: Iterable[ListChange], now: Instant) -> tuple[Batch, ...]:
        return tuple(
            batch_of(
                bookmaker,
                Document(
                    change.scope,
                    change.list_id,
                    None,
                    now.wall,
                    change.confirmed_mono,
                    self._stale_after_s,
                ),
                change.extract,
                complete=change.complete,
                is_image=change.complete,
                withdrawn=change.withdrawn,
            )
            for change in changes
            for bookmaker in self._bookmakers
        )
