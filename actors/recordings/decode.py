"""What a recorded payload offers its bookmakers, whatever kind of source it is of.

Pure; does what the actors of live sources do with their payloads, and keeps what those keep between
them: the protocol of a stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Struct

from actors.board.snapshot import Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.core.errors import PayloadError
from actors.core.messages import NOT_MODIFIED, Batch, BookmakerId, Payload, SourceName
from actors.pipeline import stream_feed
from actors.pipeline.fanout import complete_batch, confirmation, document_of
from actors.pipeline.stream_feed import StreamFeed
from actors.recordings.format import Header
from actors.recordings.reader import RecordedSource
from actors.source_api.kinds import PolledKind, TickingKind
from actors.source_api.stream import StreamKind

_BATCHES = msgspec.json.Decoder(tuple[Batch, ...])


class Offer(Struct, frozen=True):
    """A batch for one bookmaker with what it was read from, or why there is none."""

    bookmaker: BookmakerId
    batch: Batch | None = None
    passed_over: Mapping[str, int] = {}
    title: str | None = None
    error: str | None = None


class RecordedOffers:
    """Reads the payloads of some recordings, in the order of their receipt."""

    def __init__(self) -> None:
        self._feeds: dict[SourceName, StreamFeed] = {}

    def of(self, source: RecordedSource, payload: Payload, snapshot: Snapshot) -> Sliced[list[Offer]]:
        """Return what `payload` offers while `snapshot` is shown, in slices.

        Raises: PayloadError or StreamError if it cannot be read.
        """
        match source.kind:
            case PolledKind() as kind:
                return (yield from _polled(source, kind, payload, snapshot))
            case StreamKind() as kind:
                batches = yield from self._streamed(source, kind, payload)
            case TickingKind():
                batches = _computed(payload, source.header)
        return [Offer(batch.bookmaker, batch) for batch in batches]

    def _streamed(
        self, source: RecordedSource, kind: StreamKind, payload: Payload
    ) -> Sliced[Iterable[Batch]]:
        """Take a line, a catalogue's answer, or the beginning of a connection."""
        at = Instant(payload.received_mono, payload.received_at)
        feed = self._feeds.get(payload.source)
        if feed is None:
            session = (kind.historic if source.is_historic else kind.session)(source.options)
            bookmakers = [one.id for one in source.header.bookmakers]
            feed = StreamFeed(session, payload.source, bookmakers, payload.stale_after_s)
            self._feeds[payload.source] = feed
        match payload.scope:
            case stream_feed.CONNECTION_SCOPE:
                feed.session.connect("")
            case stream_feed.DISTRUST_SCOPE:
                return feed.distrust(at)
            case stream_feed.REFRESH_SCOPE:
                feed.session.refresh()
            case stream_feed.NAMES_SCOPE:
                return feed.names(kind.read_names(payload.body))
            case _:
                heard = yield from feed.line(payload.body, at)
                return heard.batches
        return ()


def _polled(
    source: RecordedSource, kind: PolledKind, payload: Payload, snapshot: Snapshot
) -> Sliced[list[Offer]]:
    """Do what `FanOut` does: who has the list hears that it holds, who lacks it gets its part."""
    is_repeat = payload.status == NOT_MODIFIED
    offers, lacking = [], []
    for one in source.header.bookmakers:
        holds = snapshot.holds(one.id, payload.scope, payload.list_id, payload.received_at)
        if holds and (is_repeat or kind.repeats_confirm):
            offers.append(Offer(one.id, confirmation(one.id, payload)))
        elif not is_repeat:
            lacking.append(one)
    if not lacking:
        return offers
    document = document_of(payload, (yield from kind.decode(payload, source.options)))
    for one in lacking:
        try:
            extract = yield from kind.extract(document.content, one.key, source.options)
            batch = complete_batch(one.id, document, extract)
        except PayloadError as error:
            offers.append(Offer(one.id, error=str(error)))
        else:
            offers.append(Offer(one.id, batch, extract.passed_over, extract.title))
    return offers


def _computed(payload: Payload, header: Header) -> list[Batch]:
    try:
        batches = _BATCHES.decode(payload.body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise PayloadError(f"a recorded tick cannot be read: {error}") from error
    own = {one.id for one in header.bookmakers}
    return [
        msgspec.structs.replace(
            batch,
            received_at=payload.received_at,
            received_mono=payload.received_mono,
            is_image=batch.complete,  # as all that are computed, also where a recording does not say so
        )
        for batch in batches
        if batch.bookmaker in own
    ]
