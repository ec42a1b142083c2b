"""Turns a payload into a document, a confirmation or a batch for each bookmaker of its source.

Pure. Live actors and replays call the same functions, so a replay gives the same batches as the live run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable
from hashlib import blake2b

import msgspec
from msgspec import Struct

from actors.core.cooperative import Sliced
from actors.core.errors import UNREADABLE, PayloadError
from actors.core.messages import (
    NOT_MODIFIED,
    Batch,
    BookmakerId,
    Document,
    Extract,
    ListId,
    Payload,
    Removal,
    Scope,
)
from actors.core.validation import Bounds, Reason, RefusedMatch, admit, clean_name, masked
from actors.source_api.kinds import Kind, PolledKind
from actors.source_api.options import SourceOptions

Delivery = Document | Batch  # an item from a source to a bookmaker
Extractor = Callable[[object], Sliced[Extract]]  # reads one bookmaker's part of a document's content
HasList = Callable[[BookmakerId, Scope, ListId], bool]  # whether the board shows this list

_BATCHES = msgspec.json.Decoder(tuple[Batch, ...])


class ReadBatch(Struct, frozen=True):
    """A batch that passed the integrity gate, counts of `rejected` matches, the bookmaker's name or "".

    `refused` comes from `Admission`, `notes` from `Extract`.
    """

    batch: Batch
    rejected: Counter[str]
    title: str = ""
    refused: tuple[RefusedMatch, ...] = ()
    notes: tuple[str, ...] = ()


def list_id_of(body: bytes) -> ListId:
    """Return the id of a body's list, a hash: equal bytes are the same list."""
    return ListId(blake2b(body, digest_size=16).hexdigest())


def needing_document(
    payload: Payload, kind: PolledKind, bookmakers: Iterable[BookmakerId], has_list: HasList
) -> list[BookmakerId]:
    """Return the bookmakers that need the payload decoded; none for a 304, which has no body."""
    if payload.status == NOT_MODIFIED:
        return []
    if not kind.repeats_confirm:
        return list(bookmakers)
    return [name for name in bookmakers if not has_list(name, payload.scope, payload.list_id)]


def deliveries(
    payload: Payload,
    content: object,
    needing: list[BookmakerId],
    bookmakers: Iterable[BookmakerId],
    has_list: HasList,
) -> list[tuple[BookmakerId, Delivery]]:
    """Return the delivery of each bookmaker: a document if it is in `needing`, otherwise a confirmation.

    A bookmaker whose list was withdrawn meanwhile gets no confirmation: only a complete list can restore
    it.
    """
    confirmed = [
        name
        for name in bookmakers
        if name not in needing and has_list(name, payload.scope, payload.list_id)
    ]
    document, unchanged = document_of(payload, content), Extract(())
    return [
        *((name, document) for name in needing),
        *((name, batch_of(name, payload, unchanged, complete=False)) for name in confirmed),
    ]


def document_of(payload: Payload, content: object) -> Document:
    """Return a document with the decoded content of a payload."""
    at, mono = payload.received_at, payload.received_mono
    return Document(payload.scope, payload.list_id, content, at, mono, payload.stale_after_s)


def extractor(kind: Kind, key: str, options: SourceOptions) -> Extractor:
    """Return the function that reads the part of a bookmaker's key; only polled sources have documents."""

    def extract(content: object) -> Sliced[Extract]:
        if not isinstance(kind, PolledKind):
            raise TypeError(f"this source offers batches, never a document of {type(content).__name__}")
        return kind.extract(content, key, options)

    return extract


def read_delivery(
    bookmaker: BookmakerId, delivery: Delivery, extract: Extractor, bounds: Bounds
) -> Sliced[ReadBatch]:
    """Return the batch of a delivery, checked by the integrity gate. Raises: PayloadError."""
    read = None
    if isinstance(delivery, Document):
        read = yield from extract(delivery.content)
        delivery = complete_batch(bookmaker, delivery, read)
    admission = yield from admit(delivery, bounds)
    if read is None:
        return ReadBatch(admission.batch, admission.rejected, refused=admission.refused)
    rejected = Counter(read.passed_over)
    rejected.update(admission.rejected)
    title = masked(clean_name(masked(read.title or "", bounds.secrets)), bounds.secrets)
    return ReadBatch(admission.batch, rejected, title, admission.refused, read.notes)


def complete_batch(bookmaker: BookmakerId, document: Document, extract: Extract) -> Batch:
    """Return the complete list that `extract` read from `document`.

    A match that was stale when the source answered becomes a removal. Raises: PayloadError if all were
    stale.
    """
    if extract.lag_s is not None and extract.lag_s > document.stale_after_s:
        raise PayloadError(
            f"its newest price was {extract.lag_s:.0f} s older than the answer,"
            f" must be at most {document.stale_after_s:g} s",
            Reason.LAGGING,
        )
    if extract.answered_at is not None and not extract.is_collected:
        oldest = extract.answered_at - document.stale_after_s
        times = {match.source_time for match in extract.matches}
        late = {time for time in times if time is not None and time < oldest}
        if late:
            matches = tuple(match for match in extract.matches if match.source_time not in late)
            gone = [match.source_match_id for match in extract.matches if match.source_time in late]
            removals = extract.removals + tuple(Removal(match_id, Reason.LAGGING) for match_id in gone)
            extract = msgspec.structs.replace(extract, matches=matches, removals=removals)
    return batch_of(bookmaker, document, extract, complete=True)


def batches_of_tick(payload: Payload, bookmakers: Container[BookmakerId]) -> tuple[Batch, ...]:
    """Return the batches of a computed source's recorded tick. Raises: PayloadError."""
    try:
        batches = _BATCHES.decode(payload.body)
    except UNREADABLE as error:
        raise PayloadError(f"a recorded tick cannot be read: {error}") from error
    return tuple(
        msgspec.structs.replace(
            batch,
            received_at=payload.received_at,
            received_mono=payload.received_mono,
            is_image=batch.complete,  # true for every computed source; old recordings do not say so
        )
        for batch in batches
        if batch.bookmaker in bookmakers
    )


def batch_of(
    bookmaker: BookmakerId,
    origin: Payload | Document,
    extract: Extract,
    *,
    complete: bool,
    is_image: bool = False,
    withdrawn: bool = False,
) -> Batch:
    """Return an extract as a batch of the bookmaker's list; the origin's content is ignored."""
    return Batch(
        bookmaker=bookmaker,
        scope=origin.scope,
        list_id=origin.list_id,
        complete=complete,
        matches=extract.matches,
        removals=extract.removals,
        received_at=origin.received_at,
        received_mono=origin.received_mono,
        stale_after_s=origin.stale_after_s,
        withdrawn=withdrawn,
        is_image=is_image,
        answered_at=extract.answered_at,
        kinds=extract.kinds,
    )
