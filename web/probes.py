"""For operators: liveness, readiness, health, the supervision tree and the counters.

Read from the records that the actors keep and from the sums in the snapshot; nothing is computed
over the board when somebody asks. `null` means not measured, never zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from quart import Blueprint, Response

from actors.clock import Clock
from actors.snapshot import Book, Snapshot
from actors.status import BookmakerState, BookmakerStatus, ServiceStatus
from web.negotiation import prefers_html
from web.pages import page
from web.requests import HttpCounters, header
from web.views import actor_view, bookmaker_view, meter_view, source_view, time_view

MAX_TURN_AGE_S = 10.0


def blueprint(
    read: Callable[[], Snapshot], status: ServiceStatus, counters: HttpCounters, clock: Clock
) -> Blueprint:
    """Give the routes of all probes."""
    routes = Blueprint("probes", __name__)
    probes = _Probes(read, status, counters, clock)
    routes.add_url_rule("/health/live", view_func=probes.live)
    routes.add_url_rule("/health/ready", view_func=probes.ready)
    routes.add_url_rule("/health", view_func=probes.health)
    routes.add_url_rule("/monitor", view_func=probes.monitor)
    routes.add_url_rule("/api/stats", view_func=probes.stats)
    return routes


class _Probes:
    def __init__(
        self, read: Callable[[], Snapshot], status: ServiceStatus, counters: HttpCounters, clock: Clock
    ) -> None:
        self._read = read
        self._status = status
        self._counters = counters
        self._clock = clock
        self._monitor_page = page("monitor.html", vary="Accept")

    async def live(self) -> Response:
        last, now = self._status.board.last_turn_mono, self._clock.now().mono
        age = None if last is None else round(now - last, 3)
        is_alive = age is None or age < MAX_TURN_AGE_S
        return _json({"status": "pass" if is_alive else "fail", "last_turn_age_s": age}, ok=is_alive)

    async def ready(self) -> Response:
        reason = _unready(self._read(), self._status)
        return _json({"status": "fail" if reason else "pass", "reason": reason}, ok=reason is None)

    async def health(self) -> Response:
        snapshot = self._read()
        states = self._status.observe(snapshot, self._clock.now())
        bookmakers = self._status.bookmakers.items()
        checks = {bookmaker: _check(one, snapshot.books[bookmaker]) for bookmaker, one in bookmakers}
        overall = _overall(set(states.values()), snapshot)
        return _json({"status": overall, "checks": checks}, ok=overall != "fail")

    async def monitor(self) -> Response:
        if prefers_html(header("Accept")):
            return self._monitor_page.answer()
        response = _json(self._monitor())
        response.headers["Vary"] = "Accept"
        return response

    def _monitor(self) -> dict[str, Any]:
        status, snapshot, now = self._status, self._read(), self._clock.now()
        status.observe(snapshot, now)
        books = snapshot.books
        return {
            "started_at": time_view(status.started_at),
            "draining": status.is_draining,
            "version": snapshot.version,
            "actors": [actor_view(actor) for actor in status.actors.values()],
            "sources": [source_view(source) for source in status.sources.values()],
            "bookmakers": [
                bookmaker_view(one, books[one.id], now.mono) for one in status.bookmakers.values()
            ],
        }

    async def stats(self) -> Response:
        data = _data(self._read(), self._status, self._clock)
        return _json({"data": data, "http": self._counters.view()})


def _overall(states: set[BookmakerState], snapshot: Snapshot) -> str:
    if not any(book.is_serving for book in snapshot.books.values()):
        return "fail"
    return "pass" if states == {BookmakerState.LIVE} else "warn"


def _check(status: BookmakerStatus, book: Book) -> dict[str, Any]:
    grade = "pass" if status.state is BookmakerState.LIVE else "warn" if book.is_serving else "fail"
    return {
        "name": status.name,
        "status": grade,
        "state": status.state,
        "since": time_view(status.since),
        "matches": book.count,
        "simulated": status.source.is_simulated,
        "last_error": status.last_error(),
    }


def _unready(snapshot: Snapshot, status: ServiceStatus) -> str | None:
    if status.is_draining:
        return "draining"
    if any(book.is_serving for book in snapshot.books.values()):
        return None
    return "no bookmaker is serving"


def _data(snapshot: Snapshot, status: ServiceStatus, clock: Clock) -> dict[str, Any]:
    board = status.board
    return {
        "version": snapshot.version,
        "uptime_s": round(clock.now().wall - status.started_at, 3),
        "matches": sum(book.count for book in snapshot.books.values()),
        "commits": snapshot.version - board.first_version,
        "commit_ms": meter_view(board.commits, clock.now().mono),
        "batches": dict(board.verdicts),
        "batches_dropped": board.dropped,
        "batches_received": board.received(),
        "batches_conflated": board.conflated(),
        "matches_upserted": board.upserted,
        "matches_removed": board.removed,
        "matches_finished": board.finished,
        "sources": {
            name: {
                "attempts": one.attempts,
                "payloads": one.payloads,
                "failed_by": dict(one.failed_by),
                "quota": one.quota,
            }
            for name, one in status.sources.items()
        },
        "bookmakers": {
            bookmaker: {
                "matches": snapshot.books[bookmaker].count,
                "named_matches": snapshot.books[bookmaker].named,
                "batches": one.batches,
                "last_batch_at": time_view(one.last_batch_at),
                "rejected": dict(one.rejected),
            }
            for bookmaker, one in status.bookmakers.items()
        },
    }


def _json(content: dict[str, Any], *, ok: bool = True) -> Response:
    return Response(
        msgspec.json.encode(content),
        200 if ok else 503,
        {"Cache-Control": "no-store"},
        content_type="application/json",
    )
