"""Plays recordings on a board of their own, moment by moment, on the clock of the recordings.

Pure but for reading its files: no loop, no waiting, no actors, nothing conflated. One commit a payload,
and one for each deadline that passes between two payloads, at its own time. So the same recordings
give the same versions and the same content, however fast and however often they are played.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from heapq import merge
from math import inf, nextafter

import msgspec
from msgspec import Struct

from actors.board.board import Applied, Board, BoardRules, is_overdue
from actors.board.history import History, HistoryLimits
from actors.board.snapshot import Entry, Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import Sliced, run_now
from actors.core.errors import SourceError
from actors.core.messages import BookmakerId, Payload, SourceName
from actors.core.validation import Bounds, admit, clean_name
from actors.recordings.decode import Offer, RecordedOffers
from actors.recordings.reader import RecordedSource
from actors.recordings.zstd_blocks import Ending


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
    error: SourceError | None = None


class Playback:
    """A board under recordings, in the order of their configuration; also the clock that they go by.

    `snapshot` is the board as of the moment that was worked off last; it changes at commits only.
    `history` tells what changed since older versions.
    """

    def __init__(self, sources: tuple[RecordedSource, ...]) -> None:
        self.endings: dict[SourceName, Ending] = {}
        self._offers = RecordedOffers()
        self._sources = sources
        self._began_at = min(source.header.started_at for source in sources)
        header = sources[0].header
        self._rules = BoardRules(header.expire_after_kickoff_s, header.max_matches)
        first = next(self._events(), None)
        self._now = Instant(0.0, self._began_at) if first is None else first.at
        bookmakers = sorted(
            (one for source in sources for one in source.header.bookmakers), key=lambda one: one.position
        )
        names = tuple(one.id for one in bookmakers)
        self.snapshot = Snapshot.empty(int(self._now.wall * 1000), names, _epoch(sources))
        self.history = History(self.snapshot, HistoryLimits())

    def now(self) -> Instant:
        """Return the time of the recordings: that of the last moment, of the first payload before it."""
        return self._now

    async def read(self) -> Snapshot:
        """Return the board as of that moment."""
        return self.snapshot

    async def reject(self, bookmaker: BookmakerId, entry: Entry, why: str) -> None:
        """Withdraw the list of an entry that cannot be shown."""
        del why
        board = Board(self.snapshot, self._rules)
        if run_now(board.reject(bookmaker, entry)) is not None:
            self._publish(board)

    def is_valid(self, snapshot: Snapshot) -> bool:
        """Return whether nothing in `snapshot` was overdue at that moment."""
        return not is_overdue(snapshot, self._rules, self._now)

    def moments(self) -> Iterator[Moment]:
        """Return what happens next, in order; work it off before asking on, for it may set a deadline."""
        for event in self._events():
            at = Instant(max(event.at.mono, self._now.mono), event.at.wall)
            while (deadline := self._deadline()).mono <= at.mono:
                yield Moment(deadline)
            yield Moment(at, event)

    def work(self, moment: Moment) -> Sliced[Played]:
        """Let a moment happen, in slices: first what is overdue, then what came.

        What it changed is digested by the caller or, at the latest, by the next moment.
        """
        yield from self.history.digest()
        board = Board(self.snapshot, self._rules)
        yield from board.expire(moment.at)
        self._now = moment.at  # not before: a read in between would find the board overdue
        self._publish(board)
        if moment.event is None:
            return Played()
        try:
            offers = yield from self._offers.of(moment.event.source, moment.event.payload, self.snapshot)
        except SourceError as error:
            return Played(error=error)
        board = Board(self.snapshot, self._rules)
        parts: tuple[Part, ...] = ()
        for offer in offers:
            parts += ((yield from self._part(board, moment.event.source, offer)),)
        self._publish(board)
        return Played(parts)

    def _publish(self, board: Board) -> None:
        new = board.commit()
        if new is not self.snapshot:
            self.snapshot = new
            self.history.add(new)

    def _events(self) -> Iterator[Event]:
        return merge(*map(self._events_of, self._sources), key=lambda event: event.at.mono)

    def _events_of(self, source: RecordedSource) -> Iterator[Event]:
        offset_s = source.header.started_at - self._began_at
        records = source.records()
        while True:
            try:
                one = next(records)
            except StopIteration as done:
                self.endings[source.header.source] = done.value
                return
            asked_mono = one.payload.received_mono + offset_s
            payload = msgspec.structs.replace(one.payload, received_mono=asked_mono)
            yield Event(Instant(one.received_s + offset_s, payload.received_at), source, payload)

    def _deadline(self) -> Instant:
        """Return when the next list is stale or the next match past its time; infinity for never."""
        now, stale_mono = self._now, self.snapshot.valid_until
        # One step up, so that taking the time off again cannot end below the kick-off by rounding.
        over_at = nextafter(self.snapshot.first_start + self._rules.expire_after_kickoff_s, inf)
        over_mono = now.mono + max(over_at - now.wall, 0.0)
        if stale_mono <= over_mono:
            return Instant(stale_mono, now.wall + (stale_mono - now.mono))
        return Instant(over_mono, over_at)

    def _part(self, board: Board, source: RecordedSource, offer: Offer) -> Sliced[Part]:
        if offer.batch is None:
            return Part(offer.bookmaker, error=offer.error)
        bounds = Bounds(source.options.book_sum_min, source.options.book_sum_max)
        admission = yield from admit(offer.batch, bounds)
        applied = yield from board.apply(admission.batch, self._now)
        rejected = admission.rejected + Counter(offer.passed_over)
        return Part(offer.bookmaker, rejected, clean_name(offer.title or ""), applied=applied)


def _epoch(sources: tuple[RecordedSource, ...]) -> str:
    """Make the same epoch of the same recordings every time, and another one of others."""
    return blake2b(msgspec.json.encode([one.header for one in sources]), digest_size=4).hexdigest()
