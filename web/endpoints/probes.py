"""For operators: liveness, readiness, health, the supervision tree and the counters.

Read from the records that the actors keep and from the sums in the snapshot; nothing is computed
over the board when somebody asks. `null` means not measured, never zero.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from quart import Blueprint, Response

from actors.board.snapshot import Book, Readable, Snapshot
from actors.core.clock import Clock
from actors.monitoring.status import BookmakerState, BookmakerStatus, ServiceStatus
from web.endpoints.monitor import actor_view, bookmaker_view, loop_view, meter_view, source_view, time_view
from web.endpoints.pages import page
from web.protocol.middleware import HttpCounters
from web.protocol.negotiation import prefers_html
from web.protocol.responses import Asked, Handler, Prepared, header, prepared_json, response_of

MAX_TURN_AGE_S = 10.0
MONITOR = "/monitor"


Probe = Callable[[], Awaitable[Prepared]]


def probes(
    board: Readable, status: ServiceStatus, counters: HttpCounters, clock: Clock
) -> dict[str, Probe]:
    """Return by path what answers each probe."""
    one = _Probes(board, status, counters, clock)
    return {
        "/health/live": one.live,
        "/health/ready": one.ready,
        "/health": one.health,
        MONITOR: one.monitor,
        "/api/stats": one.stats,
    }


def handlers(answers: Mapping[str, Probe]) -> dict[str, Handler]:
    """Return the same for the layer in front of Quart, which knows nothing of HTML."""

    def handler(answer: Probe) -> Handler:
        def handle(asked: Asked) -> Awaitable[Prepared]:
            del asked
            return answer()

        return handle

    return {path: handler(answer) for path, answer in answers.items() if path != MONITOR}


def blueprint(answers: Mapping[str, Probe]) -> Blueprint:
    """Return the same as Quart's routes; at /monitor a page to who prefers that."""
    routes = Blueprint("probes", __name__)

    def route(answer: Probe) -> Callable[[], Awaitable[Response]]:
        async def view() -> Response:
            return response_of(await answer())

        return view

    for path, answer in answers.items():
        view = _monitor_view(answer) if path == MONITOR else route(answer)
        routes.add_url_rule(path, endpoint=path.replace("/", "-"), view_func=view)
    return routes


def _monitor_view(answer: Probe) -> Callable[[], Awaitable[Response]]:
    monitor = page("monitor.html", vary="Accept")

    async def view() -> Response:
        if prefers_html(header("Accept")):
            return monitor.answer()
        response = response_of(await answer())
        response.headers["Vary"] = "Accept"
        return response

    return view


class _Probes:
    def __init__(
        self, board: Readable, status: ServiceStatus, counters: HttpCounters, clock: Clock
    ) -> None:
        self._read = board.read
        self._status = status
        self._counters = counters
        self._clock = clock

    async def live(self) -> Prepared:
        last, now = self._status.board.last_turn_mono, self._clock.now().mono
        age = None if last is None else round(now - last, 3)
        is_alive = age is None or age < MAX_TURN_AGE_S
        status = "pass" if is_alive else "fail"
        return prepared_json({"status": status, "last_turn_age_s": age}, ok=is_alive)

    async def ready(self) -> Prepared:
        reason = _unready(await self._read(), self._status)
        return prepared_json({"status": "fail" if reason else "pass", "reason": reason}, ok=reason is None)

    async def health(self) -> Prepared:
        snapshot = await self._read()
        states = self._status.observe(snapshot, self._clock.now())
        bookmakers = self._status.bookmakers.items()
        checks = {bookmaker: _check(one, snapshot.books[bookmaker]) for bookmaker, one in bookmakers}
        overall = _overall(set(states.values()), snapshot)
        said = {"status": overall, "epoch": snapshot.epoch, "checks": checks}
        return prepared_json(said, ok=overall != "fail")

    async def monitor(self) -> Prepared:
        status, snapshot, now = self._status, await self._read(), self._clock.now()
        status.observe(snapshot, now)
        books = snapshot.books
        return prepared_json(
            {
                "started_at": time_view(status.started_at),
                "draining": status.is_draining,
                "loop": loop_view(status.loop),
                "version": snapshot.version,
                "epoch": snapshot.epoch,
                "actors": [actor_view(actor) for actor in status.actors.values()],
                "sources": [source_view(source) for source in status.sources.values()],
                "bookmakers": [
                    bookmaker_view(one, books[one.id], now.mono) for one in status.bookmakers.values()
                ],
            }
        )

    async def stats(self) -> Prepared:
        data = _data(await self._read(), self._status, self._clock)
        return prepared_json({"data": data, "http": self._counters.view()})


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
        "prices": status.source.prices,
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
        "loop": loop_view(status.loop),
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
