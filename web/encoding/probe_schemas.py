"""The JSON of the probes for operators (docs/operations.md). Times are Unix seconds; null: not measured.

A field that a record has by that name is taken from there (`Report.of`); `web/endpoints` add the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import UNSET, UnsetType, field
from msgspec.structs import replace

from actors.core.messages import Fees, Prices, Venue
from actors.monitoring.log_events import EventReport
from actors.monitoring.metrics import Report
from actors.monitoring.rejections import RejectedNow
from actors.monitoring.status import BookmakerState
from actors.runtime.actor import ActorState

Grade = Literal["pass", "warn", "fail"]


class LiveProbe(Report, frozen=True):
    """Whether the process works: seconds since the aggregator's last turn."""

    status: Literal["pass", "fail"]
    last_turn_age_s: float | None


class Ready(Report, frozen=True):
    """Whether there are odds to serve, and if not, why."""

    status: Literal["pass", "fail"]
    reason: str | None


class Check(Report, frozen=True):
    """One bookmaker in `/health`; `company` pays, several bookmakers may be of one.

    No two have the same `short`.

    `matches` are those that version 2 shows, `not_shown` counts listed matches that it does not, by reason.
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
    """The linker in `/health`; it warns while nothing new is linked, or 100 events and more are to be.

    What is linked stays. It warns as well of a file of links that was refused, or that has no tables.
    """

    status: Literal["pass", "warn"]
    pending: int
    state: ActorState
    since: float | None
    last_error: str | None


class ArchiveCheck(Report, frozen=True):
    """The archive in `/health`: it warns while it cannot be written, or is late, or after a gap.

    `lag_s` is how old the newest version is that is not written; `gaps` counts gaps since the start, and
    days that were found damaged since then.
    """

    status: Literal["pass", "warn"]
    written: int = field(name="written_version")
    lag_s: float
    gaps: int
    error: str | None = field(name="last_error")


class ClusterCheck(Report, frozen=True):
    """This process in its cluster, in `/health`: it warns while the server, or a collector, is silent.

    `collector` is the name of the process as one, `leases` has that of the collector of each source, and of
    the links. The board is `lag_versions` behind what the server told last; `lag_s` seconds ago it was not
    behind. `resets` counts how often the board began anew. Nothing was heard of `silent` collectors, while
    the server answers.
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


class Health(Report, frozen=True):
    """The state of every bookmaker by id, of the linker, of an archive, and of the cluster.

    503 if and only if it fails.
    """

    status: Grade
    epoch: str
    checks: dict[str, Check]
    links: LinksCheck
    archive: ArchiveCheck | UnsetType = UNSET
    cluster: ClusterCheck | UnsetType = UNSET

    def without_errors(self) -> Health:
        """Return the same states and counts, without a text of an error."""
        return replace(
            self,
            checks={name: replace(check, last_error=None) for name, check in self.checks.items()},
            links=replace(self.links, last_error=None),
            archive=UNSET if self.archive is UNSET else replace(self.archive, error=None),
            cluster=UNSET if self.cluster is UNSET else replace(self.cluster, warning=None),
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
    """How often the event loop was blocked, and how long at most."""

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
    """Percentiles in milliseconds, of the last one to two minutes."""

    count: int
    p50: float | None
    p95: float | None
    p99: float | None


class RatesReport(Report, frozen=True):
    """Of the last one to two minutes."""

    batches_per_s: float
    changes_per_s: float


class RejectedReport(Report, frozen=True):
    """A match that was rejected, as it was then: its prices are those of home, draw and away."""

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
    """The entries of a kind of market, by bookmaker, and its fixtures; each line is one."""

    entries: Mapping[str, int]
    fixtures: int


class FixturesReport(Report, frozen=True):
    """Fixtures, `linked` those with two events or more, links by rule.

    `abstentions` by reason, and what is known by hand but not on the board (`absent`), are of the last
    survey, which `oddsboard links stats` and `suggest` ask for; null before it.
    """

    fixtures: int
    linked: int
    surebets: int
    links: dict[str, int]
    surveyed_version: int | None
    abstentions: dict[str, int] | None
    absent: list[str] | None


class SourceCounters(Report, frozen=True):
    """What a source did since the start."""

    attempts: int
    payloads: int
    failed_by: dict[str, int]
    quota: Mapping[str, float | None] | None


class BookmakerCounters(Report, frozen=True):
    """What a bookmaker did since the start."""

    matches: int
    named_matches: int
    batches: int
    last_batch_at: float | None
    rejected: dict[str, int]


class DataCounters(Report, frozen=True):
    """What the board did since the start."""

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
    """Lines of the log that were lost."""

    dropped: int
    failed: int


class Monitor(Report, frozen=True):
    """Every actor, source and bookmaker, the fixtures, the clients, and the newest lines of the log.

    `ready` and `health` are as those two probes, `http` and `log` as `/api/stats`.
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
    """Counters."""

    data: DataCounters
    http: HttpReport
    log: LogCounters
