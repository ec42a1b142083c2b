"""The JSON of the probes for operators (docs/operations.md). Times are Unix seconds; null: not measured.

A field that a record has by that name is taken from there (`Report.of`); `web/endpoints` add the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import UNSET, UnsetType, field
from msgspec.structs import replace

from actors.core.messages import Fees, Prices, Venue
from actors.monitoring.journal import EventReport
from actors.monitoring.metrics import Report
from actors.monitoring.rejections import RejectedNow
from actors.monitoring.status import BookmakerState
from actors.runtime.actor import ActorState

Grade = Literal["pass", "warn", "fail"]
MAX_EVENTS = 100
"""The most events in `/monitor`; `/monitor/events` has all kept events."""


class LiveProbe(Report, frozen=True):
    """Whether the process is alive: seconds since the aggregator's last turn."""

    status: Literal["pass", "fail"]
    last_turn_age_s: float | None


class Ready(Report, frozen=True):
    """Whether there are odds to serve; if not, why."""

    status: Literal["pass", "fail"]
    reason: str | None


class Check(Report, frozen=True):
    """One bookmaker in `/health`; `company` pays its bets. Bookmakers may share a company.

    No two have the same `short`.

    `matches` counts the matches in version 2 of the list, `not_shown` the listed matches that the list
    lacks, by reason.
    """

    name: str
    short: str
    company: str
    status: Grade
    state: BookmakerState
    since: float | None
    matches: int
    not_shown: dict[str, int]
    is_simulated: bool = field(name="simulated")
    prices: Prices
    offered_by: Venue
    fees: Fees
    terms: str | None
    delayed_s: float | None
    last_error: str | None


class LinksCheck(Report, frozen=True):
    """The linker in `/health`; it warns while nothing new is linked, or while 100 or more events wait.

    Existing links stay. It also warns of a file of links that was refused or has no tables.
    """

    status: Literal["pass", "warn"]
    pending: int
    state: ActorState
    since: float | None
    last_error: str | None


class ArchiveCheck(Report, frozen=True):
    """The archive in `/health`: it warns while it cannot be written or is late, and after a gap.

    `lag_s` is the age of the oldest unwritten version; `gaps` counts gaps, and days found damaged, since
    the start.
    """

    status: Literal["pass", "warn"]
    written: int = field(name="written_version")
    lag_s: float
    gaps: int
    error: str | None = field(name="last_error")


class ClusterCheck(Report, frozen=True):
    """This process in its cluster, in `/health`: it warns while the server, or a collector, is silent.

    `collector` is this process's name as a collector; `leases` has the collector's name for each source and
    for the links. The board lags `lag_versions` behind the server's newest version; it last did not lag
    `lag_s` seconds ago. `resets` counts how often the board began again. `silent` are collectors that send
    nothing although the server answers.
    """

    status: Literal["pass", "warn"]
    roles: tuple[str, ...]
    collector: str | None
    leases: dict[str, str]
    lag_versions: int
    lag_s: float | None
    resets: int
    silent: list[str]
    warning: str | None = field(name="last_error")


class AlertsCheck(Report, frozen=True):
    """The delivery of alerts in `/health`: it warns while a receiver is down, and after a drop.

    `waiting` and `dropped` count alerts, each once for each receiver; `down` are ids of receivers.
    """

    status: Literal["pass", "warn"]
    waiting: int
    dropped: int
    down: tuple[str, ...]
    error: str | None = field(name="last_error")


class Health(Report, frozen=True):
    """The state of every bookmaker by id, of the linker, of an archive, of the cluster and of alerts.

    The status is 503 if and only if it fails.
    """

    status: Grade
    epoch: str
    checks: dict[str, Check]
    links: LinksCheck
    archive: ArchiveCheck | UnsetType = UNSET
    cluster: ClusterCheck | UnsetType = UNSET
    alerts: AlertsCheck | UnsetType = UNSET

    def without_errors(self) -> Health:
        """Return the same states and counts without texts of errors."""
        return replace(
            self,
            checks={name: replace(check, last_error=None) for name, check in self.checks.items()},
            links=replace(self.links, last_error=None),
            archive=UNSET if self.archive is UNSET else replace(self.archive, error=None),
            cluster=UNSET if self.cluster is UNSET else replace(self.cluster, warning=None),
            alerts=UNSET if self.alerts is UNSET else replace(self.alerts, error=None),
        )


class ActorReport(Report, frozen=True):
    """One actor of the supervision tree."""

    name: str
    state: ActorState
    since: float | None
    restarts: int
    crashes: int
    quarantined_until: float | None = field(name="backoff_until")
    mailbox_depth: int | None
    last_error: str | None


class Loop(Report, frozen=True):
    """How often the event loop was blocked, and the longest time."""

    stalls: int
    longest_s: float | None


class Scope(Report, frozen=True):
    """One scope of a source."""

    interval_s: float | None
    stale_after_s: float | None
    failures: int = field(name="failures_in_a_row")
    last_success_at: float | None
    next_attempt_at: float | None
    last_error: str | None


class Source(Report, frozen=True):
    """One source."""

    name: str
    kind: str
    is_simulated: bool = field(name="simulated")
    prices: Prices
    delayed_s: float | None
    state: Literal["down", "elsewhere", "ended", "retrying", "starting", "up"]
    attempts: int
    failures: int = field(name="failures_in_a_row")
    failures_total: int = field(name="failures")
    failed_by: dict[str, int]
    payloads: int
    confirmations: int
    received_bytes: int
    slow_messages: int
    failing_since: float | None
    last_success_at: float | None
    next_attempt_at: float | None
    error: str | None = field(name="last_error")
    quota: Mapping[str, float | None] | None
    scopes: dict[str, Scope]


class Durations(Report, frozen=True):
    """Percentiles in milliseconds over the last one to two minutes."""

    count: int
    p50: float | None
    p95: float | None
    p99: float | None


class RatesReport(Report, frozen=True):
    """Rates over the last one to two minutes."""

    batches_per_s: float
    changes_per_s: float


class RejectedReport(Report, frozen=True):
    """A rejected match as it was then: its prices are home, draw and away."""

    at: float
    scope: str
    match_id: str
    home: str
    away: str
    prices: list[float | None]
    reason: str


class ListOfScope(Report, frozen=True):
    """One list of a bookmaker."""

    withdrawn: bool
    doubted: int
    stale_after_s: float | None


class BookmakerReport(Report, frozen=True):
    """One bookmaker and its lists."""

    id: str
    name: str
    source: str
    prices: Prices
    offered_by: Venue
    fees: Fees
    delayed_s: float | None
    state: BookmakerState
    since: float | None
    confirmed_at: float | None
    changed_at: float | None
    matches: int
    rejected: dict[str, int]
    rejected_now: dict[str, RejectedNow]
    last_error: str | None
    rates: RatesReport
    latency_ms: Durations
    rejected_newest: list[RejectedReport]
    lists: dict[str, ListOfScope]


class MarketReport(Report, frozen=True):
    """The numbers of a kind of market: entries by bookmaker, and fixtures. A line is an entry."""

    entries: Mapping[str, int]
    fixtures: int


class FixturesReport(Report, frozen=True):
    """Fixtures, `linked` those with two events or more, links by rule.

    `abstentions` by reason, and `absent` (lines of the file of links whose events are not on the board),
    come from the last survey, which `oddsboard links stats` and `suggest` start; null before the first.
    """

    fixtures: int
    linked: int
    surebets: int
    links: dict[str, int]
    surveyed_version: int | None
    abstentions: dict[str, int] | None
    absent: list[str] | None


class SourceCounters(Report, frozen=True):
    """Counters of a source since the start."""

    attempts: int
    payloads: int
    failed_by: dict[str, int]
    quota: Mapping[str, float | None] | None


class BookmakerCounters(Report, frozen=True):
    """Counters of a bookmaker since the start."""

    matches: int
    named_matches: int
    batches: int
    last_batch_at: float | None
    rejected: dict[str, int]


class DataCounters(Report, frozen=True):
    """Counters of the board since the start."""

    version: int
    uptime_s: float
    matches: int
    commits: int
    commit_ms: Durations
    loop: Loop
    batches: dict[str, int]
    batches_dropped: int
    batches_received: int
    batches_conflated: int
    matches_upserted: int
    matches_removed: int
    matches_finished: int
    sources: dict[str, SourceCounters]
    bookmakers: dict[str, BookmakerCounters]


class HttpReport(Report, frozen=True):
    """Answers since the start, by path and status."""

    answers: dict[str, dict[str, int]]
    answers_total: int
    body_bytes: int
    streams: int
    clients: int
    throttled: int
    turned_away: int
    client_errors: dict[str, int]


class LogCounters(Report, frozen=True):
    """Counts lost lines of the log."""

    dropped: int
    failed: int


class Monitor(Report, frozen=True):
    """All actors, sources and bookmakers, the fixtures, the clients, and the newest events.

    `ready` and `health` are as in these probes, `http` and `log` as in `/api/stats`.
    """

    now: float
    release: str
    started_at: float
    is_draining: bool = field(name="draining")
    ready: Ready
    health: Health
    loop: Loop
    version: int
    epoch: str
    actors: list[ActorReport]
    sources: list[Source]
    bookmakers: list[BookmakerReport]
    fixtures: FixturesReport
    markets: Mapping[str, MarketReport]
    http: HttpReport
    log: LogCounters
    events: tuple[EventReport, ...]


class Stats(Report, frozen=True):
    """All counters since the start."""

    data: DataCounters
    http: HttpReport
    log: LogCounters
