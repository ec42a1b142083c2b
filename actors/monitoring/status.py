"""The records of actors: only its actor writes a record, the probes read it. Times are Unix seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf, isfinite

from msgspec import Struct

from actors.board.snapshot import Book, Snapshot
from actors.core.clock import Instant
from actors.core.messages import BookmakerId, Offer, Prices, Scope, SourceName
from actors.monitoring.log_events import LogStatus
from actors.monitoring.meter import Meter
from actors.monitoring.metrics import Count, Counts, Metrics, Timing
from actors.monitoring.outages import Outage
from actors.monitoring.receivers import AlertsStatus
from actors.monitoring.rejections import NewestRejected, Rejections
from actors.runtime.actor import ActorState, ActorStatus
from actors.runtime.membership import ClusterStatus


class BookmakerState(StrEnum):
    """The states of a bookmaker."""

    STARTING = "starting"  # nothing accepted yet
    LIVE = "live"
    ENDED = "ended"  # its recording has ended
    RETRYING = "retrying"  # the last attempt failed
    SUSPECT = "suspect"  # the newest payload is doubted
    STALE = "stale"  # withdrawn
    QUARANTINED = "quarantined"


@dataclass(slots=True)
class ScopeStatus:
    """A scope of a source. `is_lost` after two consecutive `failures` while other scopes answer.

    `needs_operator`: trying again cannot mend the last error. `is_explained`: that error says why.
    """

    interval_s: float | None = None
    stale_after_s: float | None = None
    failures: int = 0
    is_lost: bool = False
    last_success_at: float | None = None
    next_attempt_at: float | None = None
    last_error: str | None = None
    needs_operator: bool = False
    is_explained: bool = False


@dataclass(slots=True)
class SourceStatus:
    """A source; written by its actor.

    `last_error` is cleared by a success, unless it says why the source withdrew a list. `prices` says what
    a confirmation means. `failures` counts consecutive failed polls while no other scope answered;
    `is_down` after two. `failed_by` counts all failures by reason. `quota` is its budget. `slow_messages`
    counts messages that a stream held back because we read slowly. `delayed_s` is the delay of its prices.
    At `ended_at` its recording ended. `keys_found` are the bookmakers' keys in its answers; `unlisted` has
    an error for each bookmaker whose key no answer had. `names_error` says why names are missing.
    """

    name: SourceName
    kind: str
    is_simulated: bool
    actor: ActorStatus
    metrics: Metrics = field(default_factory=Metrics)
    attempts: Count = field(init=False)
    payloads: Count = field(init=False)
    confirmations: Count = field(init=False)
    received_bytes: Count = field(init=False)
    slow_messages: Count = field(init=False)
    failed_by: Counts = field(init=False)
    failures: int = 0
    is_down: bool = False
    failing_since: float | None = None
    failing_since_mono: float | None = None
    last_success_at: float | None = None
    next_attempt_at: float | None = None
    last_error: str | None = None
    scopes: dict[Scope, ScopeStatus] = field(default_factory=dict)
    quota: Mapping[str, float | None] | None = None
    prices: Prices = Prices.LIVE
    delayed_s: float | None = None
    ended_at: float | None = None
    keys_found: set[str] = field(default_factory=set)
    unlisted: dict[BookmakerId, str] = field(default_factory=dict)
    names_error: str | None = None

    def __post_init__(self) -> None:
        counts = self.metrics.counts
        for of in ("attempts", "payloads", "confirmations", "received_bytes", "slow_messages"):
            setattr(self, of, counts[f"oddsboard_source_{of}_total"].labels(self.name))
        self.failed_by = Counts(counts["oddsboard_source_failures_total"], self.name)

    @property
    def failures_total(self) -> int:
        """The number of failures since the start."""
        return sum(self.failed_by.values())

    @property
    def error(self) -> str | None:
        """The present error: one that only the operator can mend, otherwise the source's, or a scope's."""
        others = [scope.last_error for scope in self.scopes.values() if scope.failures]
        return self.operator_error or (self.last_error if self.failures else next(iter(others), None))

    @property
    def operator_error(self) -> str | None:
        """The present error of a scope that only the operator can mend; an explained one comes first."""
        ours = [scope for scope in self.scopes.values() if scope.failures and scope.needs_operator]
        ours = [scope for scope in ours if scope.is_explained] or ours
        return ours[-1].last_error if ours else None


@dataclass(slots=True)
class BookmakerStatus:
    """A bookmaker; written by its actor, `state` by `observe`.

    `errors` has the scopes whose newest document cannot be read. `rejections` are the matches rejected now,
    `newest_rejected` the last ones with known prices; `rejected` counts since the start, by reason. `offer`
    is the kind of its offer, `short` its configured short name. Without `is_named` the name is the id until
    the source gives one. `meter` measures the time of its batches from receipt to commit, and the changed
    entries. `accepted_at` and `changed_at` are the times of receipt of the newest accepted batch, and of
    the newest batch that changed entries.
    """

    id: BookmakerId
    name: str
    source: SourceStatus
    actor: ActorStatus
    last_batch_at: float | None = None
    accepted_at: float | None = None
    changed_at: float | None = None
    batches: Count = field(init=False)
    rejected: Counts = field(init=False)
    errors: dict[Scope, str] = field(default_factory=dict)
    rejections: Rejections = field(default_factory=Rejections)
    state: BookmakerState = BookmakerState.STARTING
    since: float | None = None
    is_named: bool = True
    short: str | None = None
    offer: Offer = field(default_factory=Offer)
    meter: Meter = field(init=False)
    newest_rejected: NewestRejected = field(default_factory=NewestRejected)

    def __post_init__(self) -> None:
        counts, timings = self.source.metrics.counts, self.source.metrics.timings
        self.batches = counts["oddsboard_bookmaker_batches_total"].labels(self.id)
        self.rejected = Counts(counts["oddsboard_rejected_matches_total"], self.id)
        changes = counts["oddsboard_bookmaker_changes_total"].labels(self.id)
        self.meter = Meter(timings["oddsboard_source_to_commit_seconds"].labels(self.id), changes)

    def learn_name(self, title: str, *, is_in_use: bool) -> None:
        """Take the source's first non-empty display name, if none is configured or in use.

        A shown name stays, because its change would have no version.
        """
        if not self.is_named and (title or is_in_use):
            self.name, self.is_named = title or self.name, True

    def note_rejected(self, rejected: Mapping[str, int]) -> None:
        """Count rejected matches by reason."""
        for reason, number in rejected.items():
            self.rejected.add(reason, number=number)

    def observe(self, book: Book, at: Instant) -> BookmakerState:
        """Return the state of the bookmaker with this book; note a new state."""
        state = self._derived(book, at.mono)
        if state is not self.state or self.since is None:
            self.state, self.since = state, at.wall
        return state

    def confirmed_at(self, book: Book, now: Instant) -> float | None:
        """Return when the source last confirmed a shown list; None if unknown, or nothing is shown."""
        if self.source.prices is Prices.COLLECTED:
            return None
        shown = [state for state in book.lists.values() if not state.withdrawn]
        times = [state.confirmed_mono - state.delay_s - book.ahead_s for state in shown]
        newest = max(filter(isfinite, times), default=None)  # times of another process may not be known yet
        return None if newest is None else now.wall - max(now.mono - newest, 0.0)

    @property
    def error(self) -> str | None:
        """The error of an unreadable document of a scope that still exists, or None."""
        scopes = self.source.scopes
        return next((error for scope, error in self.errors.items() if scope in scopes or not scopes), None)

    def shows_nothing(self, book: Book) -> bool:
        """Return whether its source lists current matches, and none of them can be shown."""
        return not book.named and self.rejections.is_any_of_now(book.scopes)

    def last_error(self, book: Book | None = None) -> str | None:
        """Return the last error, None when nothing is wrong; with a book also why it shows nothing.

        An error that only the operator can mend comes first, then the nearest cause.
        """
        source = self.source
        if source.ended_at is not None:
            return "the recording is over: its last prices stay, but are not live"
        unlisted = source.unlisted.get(self.id)
        found = (source.operator_error, self.error, source.error, unlisted, source.last_error)
        if any(found):
            return next(filter(None, found))
        for actor in (self.actor, self.source.actor):
            if actor.state is ActorState.QUARANTINED:
                return actor.last_error
        lists, shown = (None, 1) if book is None else (book.scopes, book.named)
        return self.rejections.in_words(lists, shown, self.source.names_error)

    def _derived(self, book: Book, mono: float) -> BookmakerState:
        if ActorState.QUARANTINED in {self.actor.state, self.source.actor.state}:
            return BookmakerState.QUARANTINED
        if not book.lists:
            return BookmakerState.STARTING
        if not book.serves(mono):
            return BookmakerState.STALE
        if self.source.ended_at is not None:
            return BookmakerState.ENDED
        if any(state.doubted for state in book.lists.values()):
            return BookmakerState.SUSPECT
        is_failing = self.error is not None or self.source.error is not None
        return BookmakerState.RETRYING if is_failing else BookmakerState.LIVE


@dataclass(slots=True)
class BoardStatus:
    """The aggregator's record: batches by verdict, changes of entries by kind.

    `commits` measures the turns that changed entries; `versions` counts versions of the shown board.
    """

    actor: ActorStatus
    metrics: Metrics = field(default_factory=Metrics)
    last_turn_mono: float | None = None
    verdicts: Counts = field(init=False)
    changes: Counts = field(init=False)
    dropped: Count = field(init=False)
    commits: Meter = field(init=False)
    outages: dict[SourceName, Outage] = field(default_factory=dict)
    books: Mapping[BookmakerId, Book] = field(default_factory=dict)
    """The books at the last recorded turn."""
    look_at_all_mono: float = -inf
    versions: Callable[[], int] = lambda: 0
    received: Callable[[], int] = lambda: 0
    conflated: Callable[[], int] = lambda: 0

    def __post_init__(self) -> None:
        self.verdicts = Counts(self.metrics.counts["oddsboard_batches_total"])
        self.changes = Counts(self.metrics.counts["oddsboard_entry_changes_total"])
        self.dropped = self.metrics.counts["oddsboard_batches_dropped_total"]
        self.commits = Meter(self.metrics.timings["oddsboard_commit_duration_seconds"])


@dataclass(slots=True)
class LinksStatus:
    """The linker's record. While the linker does not run, commits only remove entries from fixtures.

    `file_warning` is the fault of the operator's file of links, or None.
    """

    actor: ActorStatus
    file_warning: str | None = None


MAX_LAG_S = 10.0
"""Seconds that the archive may be behind the board; it writes four times a second."""


@dataclass(slots=True)
class ArchiveStatus:
    """The archive's record, written by its thread; `error` is why it cannot be written now, or None.

    `written` is the newest version on disk. `gaps` counts gaps, and days found damaged, since the start.
    `size_bytes` is the size of the files. `lag_s` returns the age, at a time in Unix seconds, of the oldest
    version that waits to be written, also while the thread is stuck.
    """

    error: str | None = None
    written: int = 0
    gaps: int = 0
    size_bytes: int = 0
    lag_s: Callable[[float], float] = lambda _: 0.0

    def is_well(self, wall: float) -> bool:
        """Return whether the archive is up to date and has had no gap since the start."""
        return self.error is None and not self.gaps and self.lag_s(wall) < MAX_LAG_S

    def count_gap(self) -> None:
        """Count a gap; `/health` warns from now on."""
        self.gaps += 1


@dataclass(slots=True)
class LoopStatus:
    """The event loop's lag and its number of long stalls; written by `loop_watch`."""

    metrics: Metrics = field(default_factory=Metrics)
    longest_s: float = 0.0
    lag: Timing = field(init=False)
    stalls: Count = field(init=False)

    def __post_init__(self) -> None:
        self.lag = self.metrics.timings["oddsboard_loop_lag_seconds"]
        self.stalls = self.metrics.counts["oddsboard_loop_stalls_total"]


class MarketCounts(Struct, frozen=True):
    """Counts of a kind of market: entries by bookmaker, and fixtures; each line counts as one."""

    entries: Mapping[BookmakerId, int]
    fixtures: int


@dataclass(slots=True)
class ServiceStatus:
    """Everything that the probes read; bookmakers in configured order. `is_idle`: no batch is waiting.

    `markets` returns the counts of each kind of market, other than 1X2, that a source reads.
    """

    started_at: float
    board: BoardStatus
    sources: dict[SourceName, SourceStatus]
    bookmakers: dict[BookmakerId, BookmakerStatus]
    actors: dict[str, ActorStatus]
    links: LinksStatus = field(default_factory=lambda: LinksStatus(ActorStatus("linker")))
    is_draining: bool = False
    loop: LoopStatus = field(init=False)
    log: LogStatus = field(init=False)
    archive: ArchiveStatus | None = None
    cluster: ClusterStatus | None = None
    alerts: AlertsStatus | None = None
    is_idle: Callable[[], bool] | None = None
    markets: Callable[[], Mapping[str, MarketCounts]] = dict

    def __post_init__(self) -> None:
        self.loop, self.log = LoopStatus(self.metrics), LogStatus(self.metrics)

    @property
    def metrics(self) -> Metrics:
        """The registry of all records' counters."""
        return self.board.metrics

    @property
    def names(self) -> Mapping[BookmakerId, str]:
        """The present display names; a source may give further ones later."""
        return _Names(self.bookmakers)

    def observe(self, snapshot: Snapshot, now: Instant) -> dict[BookmakerId, BookmakerState]:
        """Return the state of every bookmaker at `now` with the books of `snapshot`."""
        return {name: of.observe(snapshot.books[name], now) for name, of in self.bookmakers.items()}


class _Names(Mapping[BookmakerId, str]):
    def __init__(self, bookmakers: Mapping[BookmakerId, BookmakerStatus]) -> None:
        self._bookmakers = bookmakers

    def __getitem__(self, bookmaker: BookmakerId) -> str:
        return self._bookmakers[bookmaker].name

    def __iter__(self) -> Iterator[BookmakerId]:
        return iter(self._bookmakers)

    def __len__(self) -> int:
        return len(self._bookmakers)
