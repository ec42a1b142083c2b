"""Plays recordings on a board of their own, moment by moment, on the clock of the recordings.

Pure but for reading its files: no loop, no waiting, no actors, nothing conflated. One commit a payload,
and one for each deadline that passes between two payloads, at its own time. So the same recordings
give the same versions and the same content, however fast and however often they are played.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from heapq import merge
from math import inf, nextafter

import msgspec
from msgspec import Struct

from actors.blocks import Ending
from actors.board import Applied, Board, BoardRules
from actors.clock import Instant
from actors.errors import PayloadError
from actors.integrity import Bounds, admit, clean_name
from actors.kinds import PolledKind
from actors.messages import Batch, BookmakerId, Payload, SourceName
from actors.offers import complete_batch, confirmation, document_of
from actors.recorded import RecordedSource
from actors.recording import Header, Recording
from actors.slices import Steps
from actors.snapshot import Snapshot

NOT_MODIFIED = 304

_BATCHES = msgspec.json.Decoder(tuple[Batch, ...])


class Event(Struct, frozen=True):
    """A payload that was received."""

    at: Instant
    source: RecordedSource
    payload: Payload


class Moment(Struct, frozen=True):
    """When something happens: a payload comes or, without one, something on the board is overdue."""

    at: Instant
    event: Event | None = None


class Part(Struct, frozen=True):
    """What a payload brought one bookmaker: what was rejected by reason, or why it could not be read."""

    bookmaker: BookmakerId
    rejected: Mapping[str, int] = {}
    title: str = ""
    error: str | None = None
    applied: Applied | None = None


class Played(Struct, frozen=True):
    """What became of a payload, for the records; `error` if it could not be read by anybody."""

    parts: tuple[Part, ...] = ()
    error: PayloadError | None = None


class Playback:
    """A board under recordings, in the order of their configuration; also the clock that they go by.

    `snapshot` is the board as of the moment that was worked off last; it changes at commits only.
    """

    def __init__(self, sources: tuple[RecordedSource, ...]) -> None:
        self.endings: dict[SourceName, Ending] = {}
        self._sources = sources
        self._began_at = min(source.header.started_at for source in sources)
        self._rules = BoardRules(sources[0].header.expire_after_kickoff_s)
        first = next(self._events(), None)
        self._now = Instant(0.0, self._began_at) if first is None else first.at
        bookmakers = sorted(
            (one for source in sources for one in source.header.bookmakers), key=lambda one: one.position
        )
        self.snapshot = Snapshot.empty(int(self._now.wall * 1000), tuple(one.id for one in bookmakers))

    def now(self) -> Instant:
        """Give the time of the recordings: that of the last moment, of the first payload before it."""
        return self._now

    def moments(self) -> Iterator[Moment]:
        """Give what happens next, in order; work it off before asking on, for it may set a deadline."""
        for event in self._events():
            at = Instant(max(event.at.mono, self._now.mono), event.at.wall)
            while (deadline := self._deadline()).mono <= at.mono:
                yield Moment(deadline)
            yield Moment(at, event)

    def work(self, moment: Moment) -> Steps[Played]:
        """Let a moment happen, in slices: first what is overdue, then what came."""
        self._now = moment.at
        board = Board(self.snapshot, self._rules)
        board.expire(self._now)
        self.snapshot = board.commit()
        if moment.event is None:
            return Played()
        try:
            offers = yield from self._offers(moment.event)
        except PayloadError as error:
            return Played(error=error)
        board = Board(self.snapshot, self._rules)
        parts: tuple[Part, ...] = ()
        for offer in offers:
            parts += ((yield from self._part(board, moment.event.source, offer)),)
        self.snapshot = board.commit()
        return Played(parts)

    def _events(self) -> Iterator[Event]:
        return merge(*map(self._events_of, self._sources), key=lambda event: event.at.mono)

    def _events_of(self, source: RecordedSource) -> Iterator[Event]:
        offset_s = source.header.started_at - self._began_at
        with source.path.open("rb") as file:
            recording = Recording(file)
            for one in recording:
                asked_mono = one.payload.received_mono + offset_s
                payload = msgspec.structs.replace(one.payload, received_mono=asked_mono)
                yield Event(Instant(one.received_s + offset_s, payload.received_at), source, payload)
            self.endings[source.header.source] = recording.ending or Ending.CUT

    def _deadline(self) -> Instant:
        """Give when the next list is stale or the next match past its time; infinity for never."""
        now, stale_mono = self._now, self.snapshot.valid_until
        # One step up, so that taking the time off again cannot end below the kick-off by rounding.
        over_at = nextafter(self.snapshot.first_start + self._rules.expire_after_kickoff_s, inf)
        over_mono = now.mono + max(over_at - now.wall, 0.0)
        if stale_mono <= over_mono:
            return Instant(stale_mono, now.wall + (stale_mono - now.mono))
        return Instant(over_mono, over_at)

    def _offers(self, event: Event) -> Steps[list[_Offer]]:
        kind = event.source.kind
        if isinstance(kind, PolledKind):
            return (yield from self._polled(event, kind))
        return [_Offer(one.bookmaker, one) for one in _computed(event.payload, event.source.header)]

    def _polled(self, event: Event, kind: PolledKind) -> Steps[list[_Offer]]:
        """Do what `Offering` does: who has the list hears that it holds, who lacks it gets its part."""
        payload, options = event.payload, event.source.options
        is_repeat = payload.status == NOT_MODIFIED
        offers, lacking = [], []
        for one in event.source.header.bookmakers:
            holds = self.snapshot.holds(one.id, payload.scope, payload.list_id)
            if holds and (is_repeat or kind.repeats_confirm):
                offers.append(_Offer(one.id, confirmation(one.id, payload)))
            elif not is_repeat:
                lacking.append(one)
        if not lacking:
            return offers
        document = document_of(payload, (yield from kind.decode(payload, options)))
        for one in lacking:
            try:
                extract = yield from kind.extract(document.content, one.key, options)
                batch = complete_batch(one.id, document, extract)
            except PayloadError as error:
                offers.append(_Offer(one.id, error=str(error)))
            else:
                offers.append(_Offer(one.id, batch, extract.passed_over, extract.title))
        return offers

    def _part(self, board: Board, source: RecordedSource, offer: _Offer) -> Steps[Part]:
        if offer.batch is None:
            return Part(offer.bookmaker, error=offer.error)
        bounds = Bounds(source.options.book_sum_min, source.options.book_sum_max)
        admission = yield from admit(offer.batch, bounds)
        applied = yield from board.apply(admission.batch, self._now)
        rejected = admission.rejected + Counter(offer.passed_over)
        return Part(offer.bookmaker, rejected, clean_name(offer.title or ""), applied=applied)


class _Offer(Struct, frozen=True):
    bookmaker: BookmakerId
    batch: Batch | None = None
    passed_over: Mapping[str, int] = {}
    title: str | None = None
    error: str | None = None


def _computed(payload: Payload, header: Header) -> list[Batch]:
    try:
        batches = _BATCHES.decode(payload.body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise PayloadError(f"a recorded tick cannot be read: {error}") from error
    own = {one.id for one in header.bookmakers}
    return [
        msgspec.structs.replace(batch, received_at=payload.received_at, received_mono=payload.received_mono)
        for batch in batches
        if batch.bookmaker in own
    ]
