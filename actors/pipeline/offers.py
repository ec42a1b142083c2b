"""What a payload becomes on its way to the board: documents, complete lists, confirmations.

Pure, and the one place where their times are set: everything that comes of a payload vouches for
the moment of the payload, however late it is made.
"""

from __future__ import annotations

from hashlib import blake2b

from actors.core.cooperative import Steps
from actors.core.errors import PayloadError
from actors.core.messages import Batch, BookmakerId, Document, Extract, ListId, Payload

HASHED_BYTES = 128 * 1024
"""Bytes that are hashed between two yields: a fraction of a millisecond."""


def list_id_of(body: bytes) -> Steps[ListId]:
    """Name the list that a body is, in slices: the same bytes are the same list."""
    digest, view = blake2b(digest_size=16), memoryview(body)
    for at in range(0, len(body), HASHED_BYTES):
        digest.update(view[at : at + HASHED_BYTES])
        yield
    return ListId(digest.hexdigest())


def document_of(payload: Payload, content: object) -> Document:
    """Give the document with that decoded content."""
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

    Raises: PayloadError if the list was already stale when the source answered.
    """
    if extract.lag_s is not None and extract.lag_s > document.stale_after_s:
        raise PayloadError(
            f"its newest price was {extract.lag_s:.0f} s older than the answer,"
            f" must be at most {document.stale_after_s:g} s",
            "lagging",
        )
    return Batch(
        bookmaker=bookmaker,
        scope=document.scope,
        list_id=document.list_id,
        complete=True,
        matches=extract.matches,
        removals=extract.removals,
        received_at=document.received_at,
        received_mono=document.received_mono,
        stale_after_s=document.stale_after_s,
    )
