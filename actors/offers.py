"""What a payload becomes on its way to the board: documents, complete lists, confirmations.

Pure, and the one place where their times are set: everything that comes of a payload vouches for
the moment of the payload, however late it is made.
"""

from __future__ import annotations

from actors.errors import PayloadError
from actors.messages import Batch, BookmakerId, Document, Extract, Payload


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
