"""What a turn of the board leaves in the records, and one log line for each withdrawal.

Shared by who applies batches: the aggregator, and the replay of a recording.
"""

from __future__ import annotations

from collections.abc import Iterable

import structlog

from actors.board.board import Applied
from actors.board.diff import Verdict
from actors.board.snapshot import Snapshot
from actors.core.clock import Instant
from actors.core.messages import Batch
from actors.monitoring.status import ServiceStatus

Log = structlog.typing.FilteringBoundLogger


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
    """Note how long each accepted batch was on its way: from its receipt to its commit at `now`."""
    for batch, one in zip(batches, applied, strict=True):
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
