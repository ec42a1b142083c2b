"""Changes the records of sources and bookmakers, and logs each outage's begin and end.

Single failures are only counted. Live actors and the replay of recordings share these functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import islice

from structlog.typing import FilteringBoundLogger as Log

from actors.board.board import Applied
from actors.board.diff import Verdict
from actors.board.snapshot import Snapshot
from actors.core.clock import Instant
from actors.core.errors import OF_ACCOUNT, SourceError
from actors.core.messages import Batch, BookmakerId, Scope, SourceName
from actors.core.nearest import did_you_mean
from actors.core.validation import Reason
from actors.monitoring.outages import Outage
from actors.monitoring.rejections import Rejections
from actors.monitoring.status import ScopeStatus, ServiceStatus, SourceStatus
from actors.runtime.facts import announce

FAILURES_TO_BE_DOWN = 2
EVERY_S = 1.0
MAX_KEYS = 200
"""Remembered keys of unconfigured bookmakers in a source's answers; The Odds API has half as many keys."""


def failed(
    status: SourceStatus, error: SourceError, now: Instant, log: Log, *, at_once: bool = False
) -> None:
    """Record a failed attempt; log `source.down` at the second consecutive failure, or `at_once`."""
    status.failed_by.add(error.reason)
    status.failures += 1
    status.last_error = str(error)
    if status.failing_since is None:
        status.failing_since, status.failing_since_mono = now.wall, now.mono
    if (at_once or status.failures >= FAILURES_TO_BE_DOWN) and not status.is_down:
        status.is_down = True
        announce(log, "source.down", error=status.error, attempts=status.failures)


def scope_failed(
    status: SourceStatus, scope: Scope, error: SourceError, now: Instant, log: Log, *, alone: bool
) -> None:
    """Record a failed poll of `scope`; if `alone` (other scopes answer) only the scope can be lost.

    An error that needs an operator, such as a refused key, is logged immediately: the next attempt is far
    off.
    """
    record = status.scopes.setdefault(scope, ScopeStatus())
    record.failures += 1
    record.last_error, record.needs_operator = str(error), error.needs_operator
    record.is_explained = error.reason in OF_ACCOUNT
    if not alone:
        failed(status, error, now, log, at_once=error.needs_operator)
        return
    status.failed_by.add(error.reason)
    if (error.needs_operator or record.failures >= FAILURES_TO_BE_DOWN) and not record.is_lost:
        record.is_lost = True
        announce(log, "scope.lost", scope=scope, error=record.last_error, attempts=record.failures)


def succeeded(status: SourceStatus, now: Instant, log: Log) -> None:
    """Record a successful attempt; log `source.recovered` if the source was down."""
    if status.is_down and status.failing_since_mono is not None:
        down_for_s = round(now.mono - status.failing_since_mono, 3)
        announce(log, "source.recovered", down_for_s=down_for_s, attempts=status.failures + 1)
    status.failures, status.is_down = 0, False
    status.failing_since = status.failing_since_mono = None
    status.last_error = None
    status.last_success_at = now.wall


def ended(status: SourceStatus, now: Instant, log: Log) -> None:
    """Record that the source's recording has ended; log `source.ended` the first time."""
    if status.ended_at is None:
        status.ended_at = now.wall
        announce(log, "source.ended", note="the recording is over: its last prices stay, but are not live")


def polling_stopped(status: ServiceStatus, source: SourceName) -> None:
    """Clear the state of a source that this process does not poll any more."""
    record = status.sources[source]
    record.failures, record.is_down = 0, False
    record.failing_since = record.failing_since_mono = None
    record.last_error = record.last_success_at = record.next_attempt_at = None
    record.scopes.clear()
    record.unlisted.clear()
    for bookmaker in status.bookmakers.values():
        if bookmaker.source is record:
            bookmaker.errors.clear()
            bookmaker.rejections = Rejections()
            bookmaker.accepted_at = bookmaker.changed_at = None


def scope_succeeded(status: SourceStatus, scope: Scope, now: Instant, log: Log) -> None:
    """Record a successful poll of `scope`; log `scope.recovered` if it was lost."""
    succeeded(status, now, log)
    record = status.scopes.setdefault(scope, ScopeStatus())
    if record.is_lost:
        announce(log, "scope.recovered", scope=scope, attempts=record.failures + 1)
    record.failures, record.is_lost, record.needs_operator = 0, False, False
    record.last_error = None
    record.last_success_at = now.wall


def note_found(
    status: SourceStatus, found: Iterable[str], keys: Mapping[BookmakerId, str], known: Collection[str]
) -> None:
    """Remember the keys of an answer: all configured ones, and up to `MAX_KEYS` others.

    New keys may change the suggestions in `status.unlisted`, so these are made again.
    """
    remembered, own, new = status.keys_found, {*keys.values()}, {*found} - status.keys_found
    room = MAX_KEYS - len(remembered - own)
    if kept := (new & own) | {*islice(sorted(new - own), room)}:
        remembered |= kept
        for bookmaker in status.unlisted:
            status.unlisted[bookmaker] = _unlisted(status, keys[bookmaker], keys, known)


def note_keys(
    status: SourceStatus, keys: Mapping[BookmakerId, str], known: Collection[str], log: Log
) -> None:
    """Log `bookmaker.unlisted` if all scopes have answered, some with keys, none with this bookmaker's key.

    `known` are the keys that such a source may have. Log `bookmaker.listed` if the key comes later.
    """
    has_all = all(scope.last_success_at is not None for scope in status.scopes.values())
    for bookmaker, key in keys.items():
        if key in status.keys_found:
            if status.unlisted.pop(bookmaker, None) is not None:
                announce(log, "bookmaker.listed", bookmaker=bookmaker, key=key)
        elif has_all and status.keys_found and bookmaker not in status.unlisted:
            status.unlisted[bookmaker] = _unlisted(status, key, keys, known)
            announce(log, "bookmaker.unlisted", bookmaker=bookmaker, error=status.unlisted[bookmaker])


def _unlisted(
    status: SourceStatus, key: str, keys: Mapping[BookmakerId, str], known: Collection[str]
) -> str:
    """Return the error for a key that no answer had.

    It suggests a similar key of the answers, otherwise (if the key is unknown) a known key, but never a key
    that a bookmaker has already.
    """
    taken = {*keys.values()}
    near = did_you_mean(key, status.keys_found - taken, () if key in known else {*known} - taken)
    return f"no answer has had the key {key!r} so far{near}"


def record_turn(
    status: ServiceStatus,
    snapshot: Snapshot,
    applied: Iterable[tuple[BookmakerId, Applied]],
    now: Instant,
    log: Log,
) -> None:
    """Record a turn of the board that ended at `now`; log lists that were withdrawn or came back.

    Sources without a changed list are checked every `EVERY_S`.
    """
    board = status.board
    board.last_turn_mono = now.mono
    for bookmaker, change in applied:
        board.verdicts.add(bookmaker, change.verdict)
        for name in ("upserted", "removed", "finished"):
            board.changes.add(name, number=getattr(change, name))
    withdrawn: dict[SourceName, list[tuple[BookmakerId, Scope]]] = {}
    counts: Counter[SourceName] = Counter()
    known, board.books = board.books, snapshot.books
    if now.mono >= board.look_at_all_mono:
        known, board.look_at_all_mono = {}, now.mono + EVERY_S
    records = status.bookmakers.items()
    changed = {
        record.source.name for name, record in records if snapshot.books[name] is not known.get(name)
    }
    for bookmaker, record in records:
        if record.source.name not in changed:
            continue
        if status.cluster is None:  # in a cluster another board is shown
            record.observe(snapshot.books[bookmaker], now)
        lists = snapshot.books[bookmaker].lists
        gone = [(bookmaker, scope) for scope, state in lists.items() if state.withdrawn]
        withdrawn.setdefault(record.source.name, []).extend(gone)
        counts[record.source.name] += len(lists)
    for source, of in withdrawn.items():
        outage, is_down = board.outages.setdefault(source, Outage()), status.sources[source].is_down
        outage.note(source, frozenset(of), counts[source], now.mono, log, is_down=is_down)


def record_latencies(
    status: ServiceStatus, batches: Iterable[Batch], applied: Iterable[Applied], now: Instant
) -> None:
    """Record the latency of each accepted batch up to its commit at `now`, and the time of changed entries.

    Also record the matches of a complete list that the board left out: matches without room, or long past.
    """
    for batch, change in zip(batches, applied, strict=True):
        record = status.bookmakers[batch.bookmaker]
        if change.too_many:
            record.rejected.add(Reason.TOO_MANY, number=change.too_many)
        if batch.complete and change.verdict is Verdict.ACCEPTED:
            record.rejections.note_left_out(batch.scope, left_out_of(change))
        if change.verdict is Verdict.ACCEPTED:
            latency_s = max(now.wall - batch.received_at, 0.0)
            record.accepted_at = batch.received_at
            record.meter.add(latency_s, change.upserted + change.removed, now.mono)
        if change.upserted:
            record.changed_at = batch.received_at


def left_out_of(change: Applied) -> dict[str, int]:
    """Return the number of matches that the board left out of a complete list, by reason."""
    return {Reason.TOO_MANY: change.too_many, Reason.PAST: change.finished}
