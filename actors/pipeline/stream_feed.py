"""Turns the lines of a stream into batches of a list: images, changes, confirmations, withdrawals.

Pure. The actor of a live stream and the replay of a recorded stream call the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.core.errors import PayloadError
from actors.core.messages import Batch, BookmakerId, Document, Extract, ListId, Payload, Scope, SourceName
from actors.pipeline.fanout import batch_of
from actors.source_api.stream import Reaction, Session

CLOSED = "closed"  # the reason of a permanent removal
SCOPE = Scope("stream")

# Scopes in recordings only; only names have a body.
NAMES_SCOPE = Scope("names")  # an answer of the catalogue
CONNECTION_SCOPE = Scope("connection")  # a new connection
WITHDRAWAL_SCOPE = Scope("distrust")  # a withdrawal by ourselves
REFRESH_SCOPE = Scope("refresh")  # a request for an image


class LineResult(Struct, frozen=True):
    """The result of a line: the session's reaction, batches to deliver, and all matches of a new image."""

    reaction: Reaction
    batches: tuple[Batch, ...]
    listed: frozenset[str] | None


class StreamFeed:
    """A subscription; `list_id` names its present list, None before an image and after a withdrawal.

    The feed `is_too_late` while the server says that its prices are delayed by the list's validity or more.
    """

    def __init__(
        self, session: Session, source: SourceName, bookmakers: Iterable[BookmakerId], stale_after_s: float
    ) -> None:
        self.session = session
        self.list_id: ListId | None = None
        self.is_too_late = False
        self._source = source
        self._bookmakers = tuple(bookmakers)
        self._stale_after_s = stale_after_s
        self._names: dict[str, Any] = {}
        self._confirmed = Instant(0.0, 0.0)

    def withdraw(self, now: Instant) -> tuple[Batch, ...]:
        """Withdraw the list until the next image; also if it is withdrawn, as a withdrawal may be lost."""
        self.list_id = None
        return self._batches(Extract(()), now)

    def line(self, line: bytes, now: Instant) -> Sliced[LineResult]:
        """Read a line, received at `now`; call no other method before it is done.

        Raises: PayloadError for an invalid message, StreamError for a refusal.
        """
        try:
            reaction = yield from self.session.receive(line)
        except PayloadError:
            self.session.forget()  # so that the next connection begins with an image
            raise
        was_too_late, self.is_too_late = self.is_too_late, self.session.delay_s >= self._stale_after_s
        if self.is_too_late:
            reaction = Reaction(reaction.send, withdraw=not was_too_late)
        if reaction.vouches:
            self._confirmed = now
        batches = self._read(reaction, now)
        known = {match: self._names[match] for match in reaction.unnamed if match in self._names}
        if known:
            batches += self.names(known)
        listed = None if reaction.image is None else self._listed(reaction.image)
        return LineResult(reaction, batches, listed)

    def names(self, names: Mapping[str, Any]) -> tuple[Batch, ...]:
        """Take names, and return batches with the renamed matches; these confirm no price."""
        self._names.update(names)
        changes = self.session.name(names)
        is_news = bool(changes.matches or changes.removals)
        return self._batches(changes, self._confirmed) if is_news and self.list_id is not None else ()

    def replay(
        self, payload: Payload, read_names: Callable[[bytes], Mapping[str, Any]]
    ) -> Sliced[tuple[Batch, ...]]:
        """Repeat a recorded line, answer with names, or action of the live source. Raises: like `line`."""
        now = Instant(payload.received_mono, payload.received_at)
        if payload.scope == NAMES_SCOPE:
            return self.names(read_names(payload.body))
        if payload.scope == WITHDRAWAL_SCOPE:
            return self.withdraw(now)
        if payload.scope == CONNECTION_SCOPE:
            self.session.connect("")
        elif payload.scope == REFRESH_SCOPE:
            self.session.refresh()
        else:
            return (yield from self.line(payload.body, now)).batches
        return ()

    def _read(self, reaction: Reaction, now: Instant) -> tuple[Batch, ...]:
        if reaction.withdraw:
            return self.withdraw(now)
        if reaction.image is not None:
            self.list_id = ListId(f"{self._source}-{now.wall:.6f}")
            return self._batches(reaction.image, now, complete=True)
        changes = reaction.changes or Extract(())
        for removal in changes.removals:
            if removal.reason == CLOSED:
                self._names.pop(removal.source_match_id, None)
        if self.list_id is None or not (reaction.vouches or reaction.changes):
            return ()
        return self._batches(changes, self._confirmed)  # a change confirms only its own part of the list

    def _listed(self, image: Extract) -> frozenset[str]:
        """Return the matches of a new image; forget the names of all other matches."""
        listed = {match.source_match_id for match in image.matches}
        listed |= {removal.source_match_id for removal in image.removals}
        self._names = {match: names for match, names in self._names.items() if match in listed}
        return frozenset(listed)

    def _batches(
        self, extract: Extract, confirmed: Instant, *, complete: bool = False
    ) -> tuple[Batch, ...]:
        # A withdrawal has no list's id, so that a list that crashes its actor does not discard it.
        list_id, withdrawn = self.list_id or ListId(""), self.list_id is None
        origin = Document(SCOPE, list_id, None, confirmed.wall, confirmed.mono, self._stale_after_s)
        batches = (
            batch_of(bookmaker, origin, extract, complete=complete, is_image=complete, withdrawn=withdrawn)
            for bookmaker in self._bookmakers
        )
        return tuple(msgspec.structs.replace(batch, delay_s=self.session.delay_s) for batch in batches)
