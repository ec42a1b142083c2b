"""Plays recordings on a board of their own, moment by moment, on the clock of the recordings.

Each payload, and each deadline between two, is a commit at its own time, so the same
recordings give the same versions and content every time. No loop, no actors, nothing conflated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from heapq import merge
from math import inf, nextafter

import msgspec
from msgspec import Struct

from actors.board.board import Applied, Board
from actors.board.history import HistoryLimits, ListHistory
from actors.board.kinds import parts
from actors.board.snapshot import Entry, Snapshot
from actors.board.validity import BoardRules, Deadlines, is_due
from actors.core.clock import Instant
from actors.core.cooperative import Sliced, run_now
from actors.core.errors import PayloadError, SourceError
from actors.core.messages import Batch, BookmakerId, ListId, Payload, Scope, SourceName
from actors.core.validation import RefusedMatch
from actors.markets.market import Kind as MarketKind
from actors.matches.history import FixtureHistory
from actors.matches.linking import Linking, Partition, Waiting
from actors.matches.model import (
    BookmakerInfo,
    FixtureSettings,
    Roster,
    first_snapshot,
    fixtures_of,
    roster_of,
)
from actors.matches.update import FixtureUpdater
from actors.matching.matcher import Matcher
from actors.pipeline.fanout import (
    Delivery,
    batches_of_tick,
    deliveries,
    extractor,
    needing_document,
    read_delivery,
)
from actors.pipeline.program.feed import ProgramFeed
from actors.pipeline.stream_feed import StreamFeed
from actors.recordings.format import Ending, Header
from actors.recordings.reader import RecordedSource
from actors.review.review import Review
from actors.source_api.kinds import PolledKind, TickingKind, bounds_of, prices_of
from actors.source_api.program import ProgramKind
from actors.source_api.stream import StreamKind


class Moment(Struct, frozen=True):
    """A moment at which the board may change: a deadline passes, unless it is an arrival."""

    at: Instant


class Arrival(Moment, frozen=True):
    """A payload of a source is received."""

    source: RecordedSource
    payload: Payload


class BookmakerResult(Struct, frozen=True):
    """The outcome of a payload for a bookmaker: a batch, rejections by reason, or why it has none."""

    bookmaker: BookmakerId
    batch: Batch | None = None
    rejected: Mapping[str, int] = {}
    title: str = ""
    error: str | None = None
    applied: Applied | None = None
    refused: tuple[RefusedMatch, ...] = ()


class MomentResult(Struct, frozen=True):
    """The outcome of a payload for each bookmaker; `error` if it could not be read at all."""

    parts: tuple[BookmakerResult, ...] = ()
    error: SourceError | None = None


class Playback:
    """Recordings on one board; also their clock. `snapshot` is the board as of the last moment played."""

    def __init__(
        self, sources: tuple[RecordedSource, ...], linker: Callable[[], Partition] | None = None
    ) -> None:
        self.endings: dict[SourceName, Ending] = {}
        self._feeds: dict[SourceName, StreamFeed] = {}
        self._programs: dict[SourceName, ProgramFeed] = {}
        self._sources = sources
        self._began_at = min(source.header.started_at for source in sources)
        header = sources[0].header
        self._rules = rules_of(header)
        first = next(self._arrivals(), None)
        self._now = Instant(0.0, self._began_at) if first is None else first.at
        headers = msgspec.json.encode([source.header for source in sources])
        epoch = blake2b(headers, digest_size=4).hexdigest()  # the same of the same recordings every time
        terms = FixtureSettings(_roster_of(sources))
        self.snapshot = first_snapshot(int(self._now.wall * 1000), terms, epoch)
        self._advancing = FixtureUpdater(terms)
        self.review = Review()
        made = self.review.new_matcher() if linker is None else linker()
        self.review.matcher = made if isinstance(made, Matcher) else None
        self._waiting = Waiting()
        self._linking = Linking(made, terms.roster)
        self._followers: list[Callable[[Snapshot], None]] = []
        self.history = ListHistory(self.snapshot, HistoryLimits())
        self.fixture_history = FixtureHistory(self.snapshot, HistoryLimits())

    def follow(self, follower: Callable[[Snapshot], None]) -> None:
        """Have `follower` called with each new snapshot."""
        self._followers.append(follower)

    def digest(self) -> Sliced[None]:
        """Let the histories take all commits so far."""
        yield from self.history.digest()
        yield from self.fixture_history.digest()

    def now(self) -> Instant:
        """Return the time of the recordings: that of the last moment, of the first payload before it."""
        return self._now

    @property
    def newest(self) -> Snapshot:
        """The board as of that moment."""
        return self.snapshot

    async def read(self, deadlines: object = None) -> Snapshot:
        """Return the board as of that moment, at which nothing of it is overdue."""
        del deadlines
        return self.snapshot

    async def reject(self, bookmaker: BookmakerId, entry: Entry, why: str) -> None:
        """Withdraw the list of an entry that cannot be shown."""
        del why
        board = self._board()
        if run_now(board.reject(bookmaker, entry)) is not None:
            run_now(self._publish(board))

    def is_valid(self, deadlines: Deadlines) -> bool:
        """Return whether an answer with these deadlines was not overdue at that moment."""
        return not is_due(deadlines, self._rules, self._now)

    def is_due(self, deadlines: Deadlines, within_s: float) -> bool:
        """Return whether any of these comes within so many recorded seconds."""
        return is_due(deadlines, self._rules, self._now, within_s)

    def moments(self) -> Iterator[Moment]:
        """Yield the moments in order; play each before taking the next: it may set a deadline."""
        for arrival in self._arrivals():
            at = Instant(max(arrival.at.mono, self._now.mono), arrival.at.wall)
            while (deadline := self._deadline()).mono <= at.mono:
                yield Moment(deadline)
            yield msgspec.structs.replace(arrival, at=at)

    def play(self, moment: Moment) -> Sliced[MomentResult]:
        """Withdraw overdue entries, then apply the arrival, without a yield after that.

        The caller may `link` the changes before the next moment, and let the histories `digest` them.
        """
        yield from self.digest()
        board = self._board()
        yield from board.expire(moment.at)
        new = yield from board.finish(moment.at)
        self._now = moment.at  # not before: a read in between would find the board overdue
        self._replace(new)
        if not isinstance(moment, Arrival):
            return MomentResult()
        try:
            offered = yield from self._deliveries(moment.source, moment.payload)
        except SourceError as error:
            return MomentResult(error=error)
        return MomentResult((yield from self._apply(moment.source, offered)))

    def _deliveries(
        self, source: RecordedSource, payload: Payload
    ) -> Sliced[list[tuple[BookmakerId, Delivery]]]:
        """Return what a payload is for each bookmaker. Raises: PayloadError or StreamError."""
        match source.kind:
            case PolledKind() as kind:
                needing = needing_document(payload, kind, source.keys, self._holds)
                content = (yield from kind.decode(payload, source.options)) if needing else None
                return deliveries(payload, content, needing, source.keys, self._holds)
            case StreamKind() as kind:
                feed = self._feeds.get(payload.source)
                if feed is None:
                    session = (kind.historic if source.is_historic else kind.session)(source.options)
                    feed = StreamFeed(session, payload.source, source.keys, payload.stale_after_s)
                    self._feeds[payload.source] = feed
                batches = yield from feed.replay(payload, kind.read_names)
            case ProgramKind() as kind:
                program = self._programs.get(payload.source)
                if program is None:
                    lists = kind.lists(source.options)
                    program = ProgramFeed(lists, source.keys, payload.stale_after_s)
                    self._programs[payload.source] = program
                batches = yield from program.replay(payload)
            case TickingKind():
                batches = batches_of_tick(payload, source.keys)
        return [(batch.bookmaker, batch) for batch in batches]

    def _holds(self, bookmaker: BookmakerId, scope: Scope, list_id: ListId) -> bool:
        return self.snapshot.holds(bookmaker, scope, list_id, self._now.wall, self._rules.max_matches)

    def _apply(
        self, source: RecordedSource, offered: list[tuple[BookmakerId, Delivery]]
    ) -> Sliced[tuple[BookmakerResult, ...]]:
        board, options, keys = self._board(), source.options, source.keys
        results = []
        for bookmaker, delivery in offered:
            extract = extractor(source.kind, keys[bookmaker], options)
            bounds = bounds_of(source.kind, keys[bookmaker], options)
            try:
                read = yield from read_delivery(bookmaker, delivery, extract, bounds)
            except PayloadError as error:
                results.append(BookmakerResult(bookmaker, error=str(error)))
            else:
                batch = (yield from parts(read.batch)).get(MarketKind.ONE_X_TWO)
                applied = None if batch is None else (yield from board.apply(batch, self._now))
                found = (read.batch, read.rejected, read.title)
                results.append(BookmakerResult(bookmaker, *found, applied=applied, refused=read.refused))
        yield from self._publish(board)
        return tuple(results)

    def link(self) -> Sliced[None]:
        """Link all changes, so that the same recordings give the same versions."""
        while (keys := self._waiting.get_nowait()) != {}:
            portions = yield from self._linking.update(fixtures_of(self.snapshot), keys)
            for links in portions:
                board = self._board()
                board.link(links)
                yield from self._publish(board)

    def _board(self) -> Board:
        return Board(self.snapshot, self._rules, self._advancing)

    def _publish(self, board: Board) -> Sliced[None]:
        self._replace((yield from board.finish(self._now)))

    def _replace(self, new: Snapshot) -> None:
        if new is not self.snapshot:
            self.snapshot = new
            self.history.add(new)
            self.fixture_history.add(new)
            self._waiting.add(new)
            for follower in self._followers:
                follower(new)

    def _arrivals(self) -> Iterator[Arrival]:
        return merge(*map(self._arrivals_of, self._sources), key=lambda arrival: arrival.at.mono)

    def _arrivals_of(self, source: RecordedSource) -> Iterator[Arrival]:
        offset_s = source.header.started_at - self._began_at
        records = source.records()
        while True:
            try:
                record = next(records)
            except StopIteration as done:
                self.endings[source.header.source] = done.value
                return
            asked_mono = record.payload.received_mono + offset_s
            payload = msgspec.structs.replace(record.payload, received_mono=asked_mono)
            yield Arrival(Instant(record.received_s + offset_s, payload.received_at), source, payload)

    def _deadline(self) -> Instant:
        """Return when the next list is stale, match over or too old, or surebet due; infinity for never."""
        now = self._now
        due_mono = max(min(self.snapshot.valid_until, fixtures_of(self.snapshot).candidates.due), now.mono)
        # One step up, so that taking the time off again cannot end below the kick-off by rounding.
        over_at = nextafter(self.snapshot.first_start + self._rules.expire_after_kickoff_s, inf)
        over_at = min(over_at, self.snapshot.next_start)
        over_mono = now.mono + max(over_at - now.wall, 0.0)
        if due_mono <= over_mono:
            return Instant(due_mono, now.wall + (due_mono - now.mono))
        return Instant(over_mono, over_at)


def rules_of(header: Header) -> BoardRules:
    """Return the rules of the board that a recording was made with."""
    return BoardRules(header.expire_after_kickoff_s, header.max_matches, header.in_play_max_age_s)


def _roster_of(sources: tuple[RecordedSource, ...]) -> Roster:
    """Return the bookmakers in the order of the configuration that was recorded."""
    found = sorted(
        (
            (bookmaker.position, bookmaker.id, source)
            for source in sources
            for bookmaker in source.header.bookmakers
        ),
        key=lambda item: item[:2],
    )
    return roster_of(
        {
            name: BookmakerInfo(source.header.source, prices_of(source.kind, source.options))
            for _, name, source in found
        }
    )
