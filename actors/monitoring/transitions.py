"""The way down and the way up of a source and of its scopes: their records, and one log line for each.

Shared by all actors of sources. A source is down after two failed polls in a row that nothing else
of it contradicts; while the others answer, it is a scope that is lost. What fails in between is only
counted.

What a turn of the board leaves in the records, and one log line for each withdrawal.

Shared by who applies batches: the aggregator, and the replay of a recording.
"""

from __future__ import annotations

from collections.abc import Iterable

import structlog

from actors.board.board import Applied
from actors.board.diff import Verdict
from actors.board.snapshot import Snapshot
from actors.core.clock import Instant
from actors.core.errors import SourceError
from actors.core.messages import Batch, Scope
from actors.core.validation import Reason
from actors.monitoring.status import ScopeStatus, ServiceStatus, SourceStatus

FAILURES_TO_BE_DOWN = 2

Log = structlog.typing.FilteringBoundLogger


def failed(
    status: SourceStatus, error: SourceError, now: Instant, log: Log, *, at_once: bool = False
) -> None:
    """Note a failed attempt; log `source.down` at the second in a row, or `at_once`."""
    _count(status, error)
    status.failures += 1
    status.last_error = str(error)
    if status.failing_since is None:
        status.failing_since, status.failing_since_mono = now.wall, now.mono
    if (at_once or status.failures >= FAILURES_TO_BE_DOWN) and not status.is_down:
        status.is_down = True
        log.warning("source.down", error=status.last_error, attempts=status.failures)


def scope_failed(
    status: SourceStatus, scope: Scope, error: SourceError, now: Instant, log: Log, *, alone: bool
) -> None:
    """Note a failed poll of `scope`; `alone` when the rest of the source answers."""
    record = status.scopes.setdefault(scope, ScopeStatus())
    record.failures += 1
    record.last_error = str(error)
    if not alone:
        failed(status, error, now, log)
        return
    _count(status, error)
    if record.failures >= FAILURES_TO_BE_DOWN and not record.is_lost:
        record.is_lost = True
        log.warning("scope.lost", scope=scope, error=record.last_error, attempts=record.failures)


def succeeded(status: SourceStatus, now: Instant, log: Log) -> None:
    """Note a good attempt; log `source.recovered` if the source was down."""
    if status.is_down:
        down_for_s = now.mono - (
            now.mono if status.failing_since_mono is None else status.failing_since_mono
        )
        log.info("source.recovered", down_for_s=round(down_for_s, 3), attempts=status.failures + 1)
    status.failures = 0
    status.is_down = False
    status.failing_since = status.failing_since_mono = None
    status.last_error = None
    status.last_success_at = now.wall


def scope_succeeded(status: SourceStatus, scope: Scope, now: Instant, log: Log) -> None:
    """Note a good poll of `scope`; log `scope.recovered` if it was lost."""
    succeeded(status, now, log)
    record = status.scopes.setdefault(scope, ScopeStatus())
    if record.is_lost:
        log.info("scope.recovered", scope=scope, attempts=record.failures + 1)
    record.failures = 0
    record.is_lost = False
    record.last_error = None
    record.last_success_at = now.wall


def _count(status: SourceStatus, error: SourceError) -> None:
    status.failures_total += 1
    status.failed_by[error.reason] += 1


def turned(
    status: ServiceStatus, snapshot: Snapshot, applied: Iterable[Applied], now: Instant, log: Log
) -> None:
    """Note a turn that ended at `now` with `snapshot`; log `bookmaker.withdrawn` once for each list."""
    board = status.board
    board.last_turn_mono = now.mono
    for one in applied:
        board.verdicts[one.verdict] += 1
        board.upserted += one.upserted
        board.removed += one.removed
        board.finished += one.finished
    _note_withdrawals(status, snapshot, log)
    status.observe(snapshot, now)


def measured(
    status: ServiceStatus, batches: Iterable[Batch], applied: Iterable[Applied], now: Instant
) -> None:
    """Note how long each accepted batch was on its way, from its receipt to its commit at `now`.

    And for how many of its matches there was no room.
    """
    for batch, one in zip(batches, applied, strict=True):
        if one.too_many:
            status.bookmakers[batch.bookmaker].rejected[Reason.TOO_MANY] += one.too_many
        if one.verdict is Verdict.ACCEPTED:
            way_s = max(now.wall - batch.received_at, 0.0)
            status.bookmakers[batch.bookmaker].meter.add(way_s, one.upserted + one.removed, now.mono)


def _note_withdrawals(status: ServiceStatus, snapshot: Snapshot, log: Log) -> None:
    for bookmaker, record in status.bookmakers.items():
        lists = snapshot.books[bookmaker].lists
        withdrawn = {scope for scope, state in lists.items() if state.withdrawn}
        if fresh := sorted(withdrawn - record.withdrawn):
            log.warning("bookmaker.withdrawn", bookmaker=bookmaker, scopes=fresh)
        record.withdrawn = withdrawn
