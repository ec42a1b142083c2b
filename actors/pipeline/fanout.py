"""Hands what a source received to its bookmakers: decoded once, whatever their number.

Shared by the actors that have payloads. Who has the very list on the board only hears that it still
holds; who lacks it gets the document.

What a payload becomes on its way to the board: documents, complete lists, confirmations.

Pure, and the one place where their times are set: everything that comes of a payload vouches for
the moment of the payload, however late it is made.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import anyio

from actors.core.cooperative import Sliced, run_sliced
from actors.core.errors import PayloadError
from actors.core.messages import (
    Batch,
    BookmakerId,
    Document,
    Extract,
    ListId,
    Payload,
    Removal,
    Scope,
)
from actors.core.validation import Reason
from actors.pipeline.context import SourceContext
from actors.source_api.kinds import PolledKind


class FanOut:
    """One source's payloads on their way to its bookmakers."""

    def __init__(self, kind: PolledKind, context: SourceContext[Any]) -> None:
        self._kind = kind
        self._context = context
        self._in_turn = anyio.Lock()  # one at a time, so that a crash tells whose it was

    def holds(self, bookmaker: BookmakerId, scope: Scope, list_id: ListId) -> bool:
        """Return whether the bookmaker has that very list on the board."""
        return self._context.published.holds(bookmaker, scope, list_id)

    def held_by_all(self, scope: Scope, list_id: ListId) -> bool:
        """Return whether every bookmaker has it."""
        return all(self.holds(bookmaker, scope, list_id) for bookmaker in self._context.inboxes)

    def confirm(self, payload: Payload) -> None:
        """Vouch again for the list that `payload` names, to every bookmaker that has it on the board."""
        self._context.status.confirmations += 1
        for bookmaker, inbox in self._context.inboxes.items():
            if self.holds(bookmaker, payload.scope, payload.list_id):
                inbox.put_nowait(confirmation(bookmaker, payload))

    def lacking(self, payload: Payload) -> list[BookmakerId]:
        """Return the bookmakers that need its document: all, where a repeat vouches for nothing."""
        if not self._kind.repeats_confirm:
            return list(self._context.inboxes)
        return [one for one in self._context.inboxes if not self.holds(one, payload.scope, payload.list_id)]

    def hand_out(self, payload: Payload, lacking: list[BookmakerId], content: object) -> None:
        """Return the document to who lacks it, and a confirmation to the others."""
        if len(lacking) < len(self._context.inboxes):
            self.confirm(payload)
        document = document_of(payload, content)
        for bookmaker in lacking:
            self._context.inboxes[bookmaker].put_nowait(document)

    async def decoded(self, payload: Payload) -> object:
        """Decode a payload. Raises: PayloadError if it cannot be read, or has crashed the decoder twice."""
        poison_guard = self._context.poison_guard
        async with self._in_turn:
            if not poison_guard.begin(payload.list_id):
                raise PayloadError(
                    f"set aside: payload {payload.list_id} has crashed the decoder twice", "set_aside"
                )
            try:
                content: object = await run_sliced(self._kind.decode(payload, self._context.options))
            except (PayloadError, anyio.get_cancelled_exc_class()):
                poison_guard.end()
                raise
            poison_guard.end()
        return content


HASHED_BYTES = 128 * 1024
"""Bytes that are hashed between two yields: a fraction of a millisecond."""


def list_id_of(body: bytes) -> Sliced[ListId]:
    """Name the list that a body is, in slices: the same bytes are the same list."""
    digest, view = blake2b(digest_size=16), memoryview(body)
    for at in range(0, len(body), HASHED_BYTES):
        digest.update(view[at : at + HASHED_BYTES])
        yield
    return ListId(digest.hexdigest())


def document_of(payload: Payload, content: object) -> Document:
    """Return the document with that decoded content."""
    return Document(
        scope=payload.scope,
        list_id=payload.list_id,
        content=content,
        received_at=payload.received_at,
        received_mono=payload.received_mono,
        stale_after_s=payload.stale_after_s,
    )


def confirmation(bookmaker: BookmakerId, payload: Payload) -> Batch:
    """Say that the list which the payload names still holds."""
    return Batch(
        bookmaker=bookmaker,
        scope=payload.scope,
        list_id=payload.list_id,
        complete=False,
        matches=(),
        removals=(),
        received_at=payload.received_at,
        received_mono=payload.received_mono,
        stale_after_s=payload.stale_after_s,
    )


def complete_batch(bookmaker: BookmakerId, document: Document, extract: Extract) -> Batch:
    """Make the complete list that `extract` read from `document`.

    A match that was already stale when the source answered becomes a removal.

    Raises: PayloadError if the whole list was.
    """
    if extract.lag_s is not None and extract.lag_s > document.stale_after_s:
        raise PayloadError(
            f"its newest price was {extract.lag_s:.0f} s older than the answer,"
            f" must be at most {document.stale_after_s:g} s",
            Reason.LAGGING,
        )
    matches, removals = extract.matches, extract.removals
    if extract.answered_at is not None:
        oldest = extract.answered_at - document.stale_after_s
        late = {time for time in {one.source_time for one in matches} if time is not None and time < oldest}
        if late:
            matches = tuple(one for one in extract.matches if one.source_time not in late)
            gone = [one.source_match_id for one in extract.matches if one.source_time in late]
            removals += tuple(Removal(match_id, Reason.LAGGING) for match_id in gone)
    return Batch(
        bookmaker=bookmaker,
        scope=document.scope,
        list_id=document.list_id,
        complete=True,
        matches=matches,
        removals=removals,
        received_at=document.received_at,
        received_mono=document.received_mono,
        stale_after_s=document.stale_after_s,
    )
