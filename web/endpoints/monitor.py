"""Makes the probes' reports on actors, sources and bookmakers; times are Unix seconds, null if unknown."""

from __future__ import annotations

from typing import Literal

from actors.board.snapshot import Book, Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.matches.model import fixtures_of
from actors.monitoring.meter import Summary
from actors.monitoring.rejections import KeptRejected
from actors.monitoring.status import BookmakerStatus, LoopStatus, ServiceStatus, SourceStatus
from actors.review.review import Review
from actors.review.survey import counts
from actors.runtime.actor import ActorStatus
from actors.runtime.membership import ClusterStatus
from web.encoding.probe_schemas import (
    ActorReport,
    BookmakerCounters,
    BookmakerReport,
    DataCounters,
    Durations,
    FixturesReport,
    ListOfScope,
    Loop,
    RatesReport,
    RejectedReport,
    Scope,
    Source,
    SourceCounters,
)


def time_view(at: float | None) -> float | None:
    """Return a time or a duration in seconds, rounded to milliseconds."""
    return None if at is None else round(at, 3)


def actor_view(status: ActorStatus) -> ActorReport:
    """Return the report on an actor of the supervision tree."""
    depth = None if status.mailbox_depth is None else status.mailbox_depth()
    return ActorReport.of(status, restarts=max(status.starts - 1, 0), mailbox_depth=depth)


def loop_view(status: LoopStatus) -> Loop:
    """Return how often the event loop was blocked, and the longest time; null if it never was blocked."""
    return Loop.of(status, longest_s=status.longest_s or None)


def source_view(status: SourceStatus, cluster: ClusterStatus | None = None) -> Source:
    """Return the report on a source."""
    is_elsewhere = cluster is not None and cluster.is_elsewhere(status.name)
    state = "elsewhere" if is_elsewhere else _source_state(status)
    scopes = {scope: Scope.of(record) for scope, record in status.scopes.items()}
    return Source.of(status, state=state, scopes=scopes)


def _source_state(status: SourceStatus) -> Literal["down", "ended", "retrying", "starting", "up"]:
    if status.ended_at is not None:
        return "ended"
    if status.is_down:
        return "down"
    if status.failures:
        return "retrying"
    return "starting" if status.last_success_at is None else "up"


def data_view(snapshot: Snapshot, status: ServiceStatus, now: Instant) -> DataCounters:
    """Return the counters of the data since the start."""
    board, books, records = status.board, snapshot.books, status.bookmakers.items()
    return DataCounters.of(
        board,
        version=snapshot.version,
        uptime_s=now.wall - status.started_at,
        matches=sum(book.count for book in books.values()),
        commits=board.versions(),
        commit_ms=durations_view(board.commits.summary(now.mono)),
        loop=loop_view(status.loop),
        batches=board.verdicts,
        batches_dropped=board.dropped,
        batches_received=board.received(),
        batches_conflated=board.conflated(),
        matches_upserted=board.changes["upserted"],
        matches_removed=board.changes["removed"],
        matches_finished=board.changes["finished"],
        sources={name: SourceCounters.of(record) for name, record in status.sources.items()},
        bookmakers={
            name: BookmakerCounters.of(record, matches=books[name].count, named_matches=books[name].named)
            for name, record in records
        },
    )


def fixtures_view(review: Review, snapshot: Snapshot) -> Sliced[FixturesReport]:
    """Return the numbers of fixtures and links, and the last survey's results (null before the first)."""
    found = yield from counts(fixtures_of(snapshot))
    survey = review.survey
    return FixturesReport.of(
        found,
        surveyed_version=None if survey is None else survey.version,
        abstentions=None if survey is None else dict(survey.reasons),
        absent=None if survey is None else survey.absent,
    )


def durations_view(summary: Summary) -> Durations:
    """Return durations in milliseconds."""
    quantiles = {"p50": summary.p50_s, "p95": summary.p95_s, "p99": summary.p99_s}
    return Durations.of(summary, **{name: value and value * 1e3 for name, value in quantiles.items()})


def bookmaker_view(status: BookmakerStatus, book: Book, now: Instant) -> BookmakerReport:
    """Return the report on a bookmaker and its lists at `now`."""
    summary, source = status.meter.summary(now.mono), status.source
    return BookmakerReport.of(
        status,
        source=source.name,
        prices=source.prices,
        offered_by=status.offer.venue,
        fees=status.offer.fees,
        delayed_s=source.delayed_s,
        confirmed_at=status.confirmed_at(book, now),
        matches=book.named,
        rejected_now=dict(sorted(status.rejections.now(book.scopes).items())),
        last_error=status.last_error(book),
        rates=RatesReport.of(summary, batches_per_s=summary.per_s, changes_per_s=summary.sizes_per_s),
        latency_ms=durations_view(summary),
        rejected_newest=[_rejected_view(found) for found in status.newest_rejected],
        lists={scope: ListOfScope.of(state) for scope, state in book.lists.items()},
    )


def _rejected_view(found: KeptRejected) -> RejectedReport:
    match = found.match
    names = {"match_id": match.source_match_id, "home": match.home, "away": match.away}
    return RejectedReport.of(found, **names, prices=[*match.prices])
