"""The JSON of the probes for operators (docs/operations.md). Times are Unix seconds; null: not measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NotRequired, TypedDict

from actors.core.messages import Fees, Prices, Venue
from actors.monitoring.status import BookmakerState
from actors.runtime.actor import ActorState

Grade = Literal["pass", "warn", "fail"]


class LiveProbe(TypedDict):
    """Whether the process works: seconds since the aggregator's last turn."""

    status: Literal["pass", "fail"]
    last_turn_age_s: float | None


class Ready(TypedDict):
    """Whether there are odds to serve, and if not, why."""

    status: Literal["pass", "fail"]
    reason: str | None


class Check(TypedDict):
    """One bookmaker in `/health`; `company` pays, several bookmakers may be of one.

    `matches` are those that version 2 shows, `not_shown` counts listed matches that it does not, by reason.
    """

    name: str
    company: str
    status: Grade
    state: BookmakerState
    since: float | None
    matches: int
    not_shown: dict[str, int]
    simulated: bool
    prices: Prices
    offered_by: Venue
    fees: Fees
    terms: str | None
    delayed_s: float | None
    last_error: str | None


class LinksCheck(TypedDict):
    """The linker in `/health`; it warns while nothing new is linked, or 100 events and more are to be.

    What is linked stays. It warns as well of a file of links that was refused, or that has no tables.
    """

    status: Literal["pass", "warn"]
    pending: int
    state: ActorState
    since: float | None
    last_error: str | None


class ArchiveCheck(TypedDict):
    """The archive in `/health`: it warns while it cannot be written, or is late, or after a gap.

    `lag_s` is how old the newest version is that is not written; `gaps` counts gaps since the start, and
    days that were found damaged since then.
    """

    status: Literal["pass", "warn"]
    written_version: int
    lag_s: float
    gaps: int
    last_error: str | None


class ClusterCheck(TypedDict):
    """This process in its cluster, in `/health`: it warns while the server, or a collector, is silent.

    `collector` is the name of the process as one, `leases` has that of the collector of each source, and of
    the links. The board is `lag_versions` behind what the server told last; `lag_s` seconds ago it was not
    behind. `resets` counts how often the board began anew. Nothing was heard of `silent` collectors, while
    the server answers.
    """

    status: Literal["pass", "warn"]
    roles: list[str]
    collector: str | None
    leases: dict[str, str]
    lag_versions: int
    lag_s: float | None
    resets: int
    silent: list[str]
    last_error: str | None


class Health(TypedDict):
    """The state of every bookmaker by id, of the linker, of an archive, and of the cluster.

    503 if and only if it fails.
    """

    status: Grade
    epoch: str
    checks: dict[str, Check]
    links: LinksCheck
    archive: NotRequired[ArchiveCheck]
    cluster: NotRequired[ClusterCheck]


class ActorReport(TypedDict):
    """One actor of the supervision tree."""

    name: str
    state: ActorState
    since: float | None
    restarts: int
    crashes: int
    backoff_until: float | None
    mailbox_depth: int | None
    last_error: str | None


class Loop(TypedDict):
    """How often the event loop was blocked, and how long at most."""

    stalls: int
    longest_s: float | None


class Scope(TypedDict):
    """One scope of a source."""

    interval_s: float | None
    stale_after_s: float | None
    failures_in_a_row: int
    last_success_at: float | None
    next_attempt_at: float | None
    last_error: str | None


class Source(TypedDict):
    """One source."""

    name: str
    kind: str
    simulated: bool
    prices: Prices
    delayed_s: float | None
    state: Literal["down", "elsewhere", "ended", "retrying", "starting", "up"]
    attempts: int
    failures_in_a_row: int
    failures: int
    failed_by: dict[str, int]
    payloads: int
    confirmations: int
    received_bytes: int
    slow_messages: int
    failing_since: float | None
    last_success_at: float | None
    next_attempt_at: float | None
    last_error: str | None
    quota: Mapping[str, float | None] | None
    scopes: dict[str, Scope]


class Durations(TypedDict):
    """Percentiles in milliseconds, of the last one to two minutes."""

    count: int
    p50: float | None
    p95: float | None
    p99: float | None


class RatesReport(TypedDict):
    """Of the last one to two minutes."""

    batches_per_s: float
    changes_per_s: float


class RejectedReport(TypedDict):
    """A match that was rejected, as it was then: its prices are those of home, draw and away."""

    at: float
    scope: str
    match_id: str
    home: str
    away: str
    prices: list[float | None]
    reason: str


class ListOfScope(TypedDict):
    """One list of a bookmaker."""

    withdrawn: bool
    doubted: int
    stale_after_s: float | None


class RejectedNow(TypedDict):
    """The matches that are rejected now for a reason: how many, and the source's ids of the first."""

    count: int
    match_ids: tuple[str, ...]


class BookmakerReport(TypedDict):
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


class FixturesReport(TypedDict):
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


class SourceCounters(TypedDict):
    """What a source did since the start."""

    attempts: int
    payloads: int
    failed_by: dict[str, int]
    quota: Mapping[str, float | None] | None


class BookmakerCounters(TypedDict):
    """What a bookmaker did since the start."""

    matches: int
    named_matches: int
    batches: int
    last_batch_at: float | None
    rejected: dict[str, int]


class DataCounters(TypedDict):
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


class HttpReport(TypedDict):
    """Answers since the start, by path and status."""

    answers: dict[str, dict[str, int]]
    answers_total: int
    body_bytes: int
    streams: int
    clients: int
    throttled: int
    turned_away: int
    client_errors: dict[str, int]


class LogCounters(TypedDict):
    """Lines of the log that were lost."""

    dropped: int
    failed: int


class EventReport(TypedDict):
    """A line of the log: a change of state."""

    at: float
    level: str
    event: str
    fields: dict[str, str]


class Monitor(TypedDict):
    """Every actor, source and bookmaker, the fixtures, the clients, and the newest lines of the log.

    `ready` and `health` are as those two probes, `http` and `log` as `/api/stats`.
    """

    now: float
    release: str
    started_at: float
    draining: bool
    ready: Ready
    health: Health
    loop: Loop
    version: int
    epoch: str
    actors: list[ActorReport]
    sources: list[Source]
    bookmakers: list[BookmakerReport]
    fixtures: FixturesReport
    http: HttpReport
    log: LogCounters
    events: list[EventReport]


class Stats(TypedDict):
    """Counters."""

    data: DataCounters
    http: HttpReport
    log: LogCounters
