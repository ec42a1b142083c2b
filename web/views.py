"""What /monitor shows of an actor, a source and a bookmaker: plain values, times as Unix seconds."""

from __future__ import annotations

from typing import Any

from actors.snapshot import Book
from actors.status import ActorStatus, BookmakerStatus, SourceStatus


def actor_view(status: ActorStatus) -> dict[str, Any]:
    """Show one actor of the supervision tree."""
    return {
        "name": status.name,
        "state": status.state,
        "since": status.since,
        "restarts": max(status.starts - 1, 0),
        "crashes": status.crashes,
        "backoff_until": status.quarantined_until,
        "mailbox_depth": None if status.mailbox_depth is None else status.mailbox_depth(),
        "last_error": status.last_error,
    }


def source_view(status: SourceStatus) -> dict[str, Any]:
    """Show one source."""
    return {
        "name": status.name,
        "kind": status.kind,
        "simulated": status.is_simulated,
        "state": "down" if status.is_down else "retrying" if status.failures else "up",
        "attempts": status.attempts,
        "failures_in_a_row": status.failures,
        "failures": status.failures_total,
        "payloads": status.payloads,
        "confirmations": status.confirmations,
        "received_bytes": status.received_bytes,
        "failing_since": status.failing_since,
        "last_success_at": status.last_success_at,
        "next_attempt_at": status.next_attempt_at,
        "last_error": status.last_error,
    }


def bookmaker_view(status: BookmakerStatus, book: Book) -> dict[str, Any]:
    """Show one bookmaker and its lists."""
    return {
        "id": status.id,
        "name": status.name,
        "source": status.source.name,
        "state": status.state,
        "since": status.since,
        "matches": book.count,
        "rejected": dict(status.rejected),
        "last_error": status.last_error(),
        "lists": {
            scope: {
                "withdrawn": state.withdrawn,
                "doubted": state.doubted,
                "stale_after_s": state.stale_after_s,
            }
            for scope, state in book.lists.items()
        },
    }
