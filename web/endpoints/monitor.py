"""Actors, sources and bookmakers as plain values for the probes; times as Unix seconds, null unknown."""

from __future__ import annotations

from typing import Literal

from actors.board.snapshot import Book, Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.matches.model import fixtures_of
from actors.monitoring.log_events import LoggedEvent, LogStatus
from actors.monitoring.meter import Summary
from actors.monitoring.rejections import KeptRejected
from actors.monitoring.status import BookmakerStatus, LoopStatus, ServiceStatus, SourceStatus
from actors.review.review import Review
from actors.review.survey import counts
from actors.runtime.actor import ActorStatus
from actors.runtime.membership import ClusterStatus
from web.encoding.probe_schemas import (
    ActorReport,
    BookmakerReport,
    DataCounters,
    Durations,
    EventReport,
    FixturesReport,
    LogCounters,
    Loop,
    RejectedReport,
    Source,
)


def time_view(at: float | None) -> float | None:
    """Return a time or a duration in seconds, to the millisecond."""
    return None if at is None else round(at, 3)


def actor_view(status: ActorStatus) -> ActorReport:
    """Return an actor of the supervision tree."""
    return {
        "name": status.name,
        "state": status.state,
        "since": time_view(status.since),
        "restarts": max(status.starts - 1, 0),
        "crashes": status.crashes,
        "backoff_until": time_view(status.quarantined_until),
        "mailbox_depth": None if status.mailbox_depth is None else status.mailbox_depth(),
        "last_error": status.last_error,
    }


def loop_view(status: LoopStatus) -> Loop:
    """Return how often the event loop was blocked, and how long at most; null before the first time."""
    return {"stalls": status.stalls.number, "longest_s": time_view(status.longest_s or None)}


def log_view(status: LogStatus) -> LogCounters:
    """Return how many lines of the log were lost."""
    return {"dropped": status.dropped.number, "failed": status.failed.number}


def event_view(event: LoggedEvent) -> EventReport:
    """Return a line of the log."""
    return {
        "at": round(event.at, 3),
        "level": event.level,
        "event": event.event,
        "fields": dict(event.fields),
    }


def source_view(status: SourceStatus, cluster: ClusterStatus | None = None) -> Source:
    """Return a source."""
    is_elsewhere = cluster is not None and cluster.is_elsewhere(status.name)
    return {
        "name": status.name,
        "kind": status.kind,
        "simulated": status.is_simulated,
        "prices": status.prices,
        "delayed_s": time_view(status.delayed_s),
        "state": "elsewhere" if is_elsewhere else _source_state(status),
        "attempts": status.attempts.number,
        "failures_in_a_row": status.failures,
        "failures": status.failures_total,
        "failed_by": dict(status.failed_by),
        "payloads": status.payloads.number,
        "confirmations": status.confirmations.number,
        "received_bytes": status.received_bytes.number,
        "slow_messages": status.slow_messages.number,
        "failing_since": time_view(status.failing_since),
        "last_success_at": time_view(status.last_success_at),
        "next_attempt_at": time_view(status.next_attempt_at),
        "last_error": status.error,
        "quota": status.quota,
        "scopes": {
            scope: {
                "interval_s": time_view(record.interval_s),
                "stale_after_s": time_view(record.stale_after_s),
                "failures_in_a_row": record.failures,
                "last_success_at": time_view(record.last_success_at),
                "next_attempt_at": time_view(record.next_attempt_at),
                "last_error": record.last_error,
            }
            for scope, record in status.scopes.items()
        },
    }


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
    board = status.board
    return {
        "version": snapshot.version,
        "uptime_s": round(now.wall - status.started_at, 3),
        "matches": sum(book.count for book in snapshot.books.values()),
        "commits": board.versions(),
        "commit_ms": durations_view(board.commits.summary(now.mono)),
        "loop": loop_view(status.loop),
        "batches": dict(board.verdicts),
        "batches_dropped": board.dropped.number,
        "batches_received": board.received(),
        "batches_conflated": board.conflated(),
        "matches_upserted": board.changes["upserted"],
        "matches_removed": board.changes["removed"],
        "matches_finished": board.changes["finished"],
        "sources": {
            name: {
                "attempts": record.attempts.number,
                "payloads": record.payloads.number,
                "failed_by": dict(record.failed_by),
                "quota": record.quota,
            }
            for name, record in status.sources.items()
        },
        "bookmakers": {
            bookmaker: {
                "matches": snapshot.books[bookmaker].count,
                "named_matches": snapshot.books[bookmaker].named,
                "batches": record.batches.number,
                "last_batch_at": time_view(record.last_batch_at),
                "rejected": dict(record.rejected),
            }
            for bookmaker, record in status.bookmakers.items()
        },
    }


def fixtures_view(review: Review, snapshot: Snapshot) -> Sliced[FixturesReport]:
    """Return how many fixtures and links there are, and what the last survey found, null before it."""
    found = yield from counts(fixtures_of(snapshot))
    survey = review.survey
    return {
        "fixtures": found.fixtures,
        "linked": found.linked,
        "surebets": found.surebets,
        "links": {str(rule): count for rule, count in found.links.items()},
        "surveyed_version": None if survey is None else survey.version,
        "abstentions": None if survey is None else {str(reason): n for reason, n in survey.reasons.items()},
        "absent": None if survey is None else list(survey.absent),
    }


def durations_view(summary: Summary) -> Durations:
    """Return durations in milliseconds."""
    p50, p95, p99 = (
        None if value is None else round(value * 1e3, 3)
        for value in (summary.p50_s, summary.p95_s, summary.p99_s)
    )
    return {"count": summary.count, "p50": p50, "p95": p95, "p99": p99}


def bookmaker_view(status: BookmakerStatus, book: Book, now: Instant) -> BookmakerReport:
    """Return a bookmaker and its lists at `now`."""
    summary = status.meter.summary(now.mono)
    return {
        "id": status.id,
        "name": status.name,
        "source": status.source.name,
        "prices": status.source.prices,
        "offered_by": status.offer.venue,
        "fees": status.offer.fees,
        "delayed_s": time_view(status.source.delayed_s),
        "state": status.state,
        "since": time_view(status.since),
        "confirmed_at": time_view(status.confirmed_at(book, now)),
        "changed_at": time_view(status.changed_at),
        "matches": book.named,
        "rejected": dict(status.rejected),
        "rejected_now": {
            reason: {"count": found.count, "match_ids": found.match_ids}
            for reason, found in sorted(status.rejections.now(book.scopes).items())
        },
        "last_error": status.last_error(book),
        "rates": {  # of the last one to two minutes
            "batches_per_s": round(summary.per_s, 3),
            "changes_per_s": round(summary.sizes_per_s, 3),
        },
        "latency_ms": durations_view(summary),
        "rejected_newest": [_rejected_view(found) for found in status.newest_rejected],
        "lists": {
            scope: {
                "withdrawn": state.withdrawn,
                "doubted": state.doubted,
                "stale_after_s": time_view(state.stale_after_s),
            }
            for scope, state in book.lists.items()
        },
    }


def _rejected_view(found: KeptRejected) -> RejectedReport:
    match = found.match
    return {
        "at": round(found.at, 3),
        "scope": found.scope,
        "match_id": match.source_match_id,
        "home": match.home,
        "away": match.away,
        "prices": [match.home_price, match.draw_price, match.away_price],
        "reason": found.reason,
    }
