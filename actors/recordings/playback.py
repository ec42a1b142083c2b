"""Plays recordings on their own boards, moment by moment, by the clock of the recordings.

Each kind of market that the recorded sources read has a board; the boards share a version counter. Each
payload, and each deadline between two payloads, is a commit at its own time, so the same recordings give
the same versions and content every time. Uses no event loop and no actors, and conflates nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from hashlib import blake2b
from heapq import merge
from math import inf, nextafter

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.board.board import Applied
from actors.board.history import HistoryLimits
from actors.board.published import Overdue, Published, Request
from actors.board.snapshot import Book, Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Instant
from actors.core.cooperative import Sliced, run_now
from actors.core.errors import PayloadError, SourceError
from actors.core.messages import Batch, BookmakerId, ListId, Payload, Scope, SourceName, Venue
from actors.core.validation import RefusedMatch
from actors.market_fixtures.boards import Drafts, market_boards, of_batch
from actors.market_fixtures.linking import SideLinking
from actors.market_fixtures.model import markets_of
from actors.market_fixtures.sides import SideLinks
from actors.markets.market import Kind as MarketKind
from actors.matches.history import FixtureHistory
from actors.matches.linking import Linking, Links, Partition, Waiting
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
from actors.source_api.options import every_kind
from actors.source_api.program import ProgramKind
from actors.source_api.stream import StreamKind


class Moment(Struct, frozen=True):
    """A moment at which a board may change: an Arrival, otherwise a deadline."""

    at: Instant


class Arrival(Moment, frozen=True):
    """The receipt of a source's payload."""

    source: RecordedSource
    payload: Payload


class BookmakerResult(Struct, frozen=True):
    """The outcome of a payload for a bookmaker: a batch and its rejections by reason, or an error."""

    bookmaker: BookmakerId
    batch: Batch | None = None
    rejected: Mapping[str, int] = {}
    title: str = ""
    error: str | None = None
    applied: Applied | None = None
    refused: tuple[RefusedMatch, ...] = ()


class MomentResult(Struct, frozen=True):
    """The outcome of a payload for each bookmaker; `error` if the payload is unreadable."""

    parts: tuple[BookmakerResult, ...] = ()
    error: SourceError | None = None


class Playback:
    """Recordings, their boards and their clock. `published` is the board of 1X2 as of the last moment.

    `markets` are the boards of the other `kinds` of market, by default of all kinds that the sources read.
    """

    def __init__(
        self,
        sources: tuple[RecordedSource, ...],
        linker: Callable[[], Partition] | None = None,
        kinds: Collection[MarketKind] | None = None,
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
        epoch = blake2b(headers, digest_size=4).hexdigest()  # equal recordings have an equal epoch
        terms = FixtureSettings(_roster_of(sources))
        self._begin(first_snapshot(int(self._now.wall * 1000), terms, epoch), terms, kinds)
        self.review, start = Review(), linker
        made = self.review.new_matcher() if start is None else start()
        self.review.matcher = made if isinstance(made, Matcher) else None
        self._linking = Linking(made, terms.roster)
        self._side_linking = SideLinking(start or self.review.new_matcher, terms.roster)

    def _begin(self, first: Snapshot, terms: FixtureSettings, kinds: Collection[MarketKind] | None) -> None:
        """Open the boards of all kinds of market."""
        if kinds is None:
            kinds = every_kind(kind for source in self._sources for kind in source.options.kinds)
        limits, request = HistoryLimits(), self._take
        self._advancing, self._waiting = FixtureUpdater(terms), Waiting()
        self.published = Published(first, self._rules, self, limits, request)
        self.fixture_history = FixtureHistory(first, limits)
        self.published.follow(self.fixture_history.add, self.fixture_history.digest)
        self.published.follow(self._waiting.add)
        made = market_boards(
            first, terms, kinds, rules=self._rules, clock=self, limits=limits, request=request
        )
        self.markets = replace(made, committed=self._tell)
        others = {kind: self.markets.published[kind] for kind in self.markets.updaters}
        self._boards = {MarketKind.ONE_X_TWO: self.published, **others}
        self._noted: dict[MarketKind, Snapshot] = {}
        self._followers: list[Callable[[Mapping[MarketKind, Snapshot]], None]] = []
        for kind, board in self._boards.items():
            board.follow(partial(self._noted.__setitem__, kind))

    def follow(self, follower: Callable[[Mapping[MarketKind, Snapshot]], None]) -> None:
        """Call `follower` at each commit with a dict of the new snapshots by kind of market."""
        self._followers.append(follower)

    def _tell(self) -> None:
        noted = dict(self._noted)
        self._noted.clear()
        for follower in self._followers if noted else ():
            follower(noted)

    def digest(self) -> Sliced[None]:
        """Add all commits so far to the histories."""
        for board in self._boards.values():
            yield from board.digest()

    def now(self) -> Instant:
        """Return the time of the last played moment; before any is played, that of the first payload."""
        return self._now

    @property
    def snapshot(self) -> Snapshot:
        """The board of 1X2 as of the last moment."""
        return self.published.newest

    @property
    def books(self) -> dict[BookmakerId, tuple[Book, ...]]:
        """The books of each bookmaker as of the last moment, the book of 1X2 first."""
        boards = [board.newest.books for board in self._boards.values()]
        return {name: tuple([books[name] for books in boards]) for name in self.snapshot.books}

    @property
    def version(self) -> int:
        """The version of the last commit of any kind of market."""
        return max(board.newest.version for board in self._boards.values())

    def _take(self, request: Request) -> None:
        """Withdraw a list with an entry that cannot be shown."""
        if isinstance(request, Overdue):  # nothing is overdue after a moment; reads must not add versions
            return
        drafts = self._drafts()
        run_now(drafts.reject(request.bookmaker, request.entry))
        run_now(self._publish(drafts))
        self._end_turn()

    def _end_turn(self) -> None:
        for board in self._boards.values():
            board.end_turn()

    def moments(self) -> Iterator[Moment]:
        """Yield the moments in order; play each before taking the next, because it may set a deadline."""
        for arrival in self._arrivals():
            at = Instant(max(arrival.at.mono, self._now.mono), arrival.at.wall)
            while (deadline := self._deadline()).mono <= at.mono:
                yield Moment(deadline)
            yield msgspec.structs.replace(arrival, at=at)

    def play(self, moment: Moment) -> Sliced[MomentResult]:
        """Withdraw overdue entries and publish, then apply the arrival.

        The caller may then `link` the changes, and add them to the histories (`digest`).
        """
        yield from self.digest()
        drafts = self._drafts()
        yield from drafts.expire(moment.at)
        yield from drafts.finish(moment.at)
        self._now = moment.at  # only now: an earlier read would find the board overdue
        drafts.publish()
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
        """Return the deliveries of a payload. Raises: PayloadError or StreamError."""
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
        """Return whether every board with this scope shows this list."""
        boards = [board for board in self._boards.values() if scope in board.newest.books[bookmaker].lists]
        return bool(boards) and all(
            board.newest.holds(bookmaker, scope, list_id, self._now.wall, board.rules.max_matches)
            for board in boards
        )

    def _apply(
        self, source: RecordedSource, offered: list[tuple[BookmakerId, Delivery]]
    ) -> Sliced[tuple[BookmakerResult, ...]]:
        drafts, options, keys = self._drafts(), source.options, source.keys
        results = []
        for bookmaker, delivery in offered:
            extract = extractor(source.kind, keys[bookmaker], options)
            bounds = bounds_of(source.kind, keys[bookmaker], options)
            try:
                read = yield from read_delivery(bookmaker, delivery, extract, bounds)
            except PayloadError as error:
                results.append(BookmakerResult(bookmaker, error=str(error)))
            else:
                by_kind = yield from drafts.apply(read.batch, self._now)
                applied = of_batch(by_kind) if by_kind else None
                found = (read.batch, read.rejected, read.title)
                results.append(BookmakerResult(bookmaker, *found, applied=applied, refused=read.refused))
        yield from self._publish(drafts)
        return tuple(results)

    def link(self) -> Sliced[None]:
        """Link all changed events before the next payload, so that all replays give the same versions.

        Events without 1X2 prices are linked after those that have them.
        """
        keys = self._waiting.get_nowait()
        while True:
            if keys != {}:
                portions = yield from self._linking.update(fixtures_of(self.snapshot), keys)
                for links in portions:
                    yield from self._commit(links)
            if fixtures_of(self.snapshot).pending:
                yield from self._end_pending()
            state, sides = fixtures_of(self.snapshot), self.markets.sides
            side_links = yield from self._side_linking.update(state, sides, keys)
            if side_links is not None:
                yield from self._commit(side_links)
            if (keys := self._waiting.get_nowait()) == {}:
                return

    def _end_pending(self) -> Sliced[None]:
        """Set the number of events that wait for links to 0, after an update without links.

        This is a new version only if there are other markets, so that the versions of recordings with 1X2
        alone are unchanged.
        """
        if self.markets.updaters:
            yield from self._commit(Links((), {}))
            return
        state = msgspec.structs.replace(fixtures_of(self.snapshot), pending=0, pendings={})
        self.published.publish(msgspec.structs.replace(self.snapshot, fixtures=state))

    def _commit(self, links: Links | SideLinks) -> Sliced[None]:
        drafts = self._drafts()
        drafts.link(links)
        yield from self._publish(drafts)

    def _drafts(self) -> Drafts:
        return Drafts(self.published, self._advancing, self.markets)

    def _publish(self, drafts: Drafts) -> Sliced[None]:
        yield from drafts.finish(self._now)
        drafts.publish()

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
        """Return the time of the next deadline of a list, match or surebet; infinity if there is none.

        A board of a market other than 1X2 may also have the begin of a match as a deadline.
        """
        now, boards = self._now, [board.newest for board in self._boards.values()]
        stale = min(min(board.valid_until, fixtures_of(board).candidates.due) for board in boards)
        due_mono = max(stale, now.mono)
        # One float up, so that subtracting the period again cannot give less than the kick-off by rounding.
        first_start = min(board.first_start for board in boards)
        over_at = nextafter(first_start + self._rules.expire_after_kickoff_s, inf)
        begins = [markets_of(board).next_start for board in boards[1:]]
        over_at = min([over_at, *begins, *(board.next_start for board in boards)])
        over_mono = now.mono + max(over_at - now.wall, 0.0)
        if due_mono <= over_mono:
            return Instant(due_mono, now.wall + (due_mono - now.mono))
        return Instant(over_mono, over_at)


def rules_of(header: Header) -> BoardRules:
    """Return the board's rules at the time of the recording."""
    return BoardRules(header.expire_after_kickoff_s, header.max_matches, header.in_play_max_age_s)


def _roster_of(sources: tuple[RecordedSource, ...]) -> Roster:
    """Return the bookmakers in the order of the recorded configuration."""
    found = sorted(
        (
            (bookmaker.position, bookmaker.id, bookmaker.key, source)
            for source in sources
            for bookmaker in source.header.bookmakers
        ),
        key=lambda item: item[:2],
    )
    return roster_of(
        {
            name: BookmakerInfo(
                source.header.source,
                prices_of(source.kind, source.options),
                counts_from_now=source.kind.offer_of(key, source.options).venue is Venue.BOOKMAKER,
            )
            for _, name, key, source in found
        }
    )
