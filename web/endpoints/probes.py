"""For operators: liveness, readiness, health, the supervision tree, the counters, all metrics.

A request computes only the numbers of fixtures and links from the board. `null` means not measured, never
zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from prometheus_client import ProcessCollector

from actors.board.snapshot import Readable, Snapshot
from actors.core.clock import Clock
from actors.core.cooperative import Sliced
from actors.matches.model import fixtures_of
from actors.matching.rules import Rule
from actors.monitoring.present import Present
from actors.monitoring.status import ServiceStatus
from actors.review.review import Review
from actors.review.survey import counts
from web.encoding import probe_schemas as schemas
from web.encoding.exposition import OPENMETRICS, TEXT, exposition
from web.endpoints.health import health as health_of
from web.endpoints.health import liveness, readiness
from web.endpoints.monitor import (
    actor_view,
    bookmaker_view,
    data_view,
    fixtures_view,
    loop_view,
    source_view,
)
from web.endpoints.pages import page
from web.endpoints.release import release
from web.feeds.own_bodies import OwnBodies
from web.protocol.contract import ACCEPT_ENCODING, CLOSED, HTML, IF_NONE_MATCH, Answer, Operation
from web.protocol.negotiation import prefers_html, prefers_openmetrics
from web.protocol.responses import Asked, Handler, HttpCounters, Prepared, prepared, prepared_json

_HEALTHY = ("Cache-Control",)
OPERATIONS = {
    **{
        path: Operation(
            summary,
            description,
            (
                Answer(200, "It passes.", body, headers=_HEALTHY),
                Answer(
                    503,
                    "It fails; the body is the same, and there is no `Retry-After`.",
                    body,
                    headers=_HEALTHY,
                ),
            ),
            problems=(),
        )
        for path, summary, description, body in (
            ("/health", "The state of every bookmaker", "It fails if none is serving.", schemas.Health),
            ("/health/live", "Whether the process works", "If not, restart it.", schemas.LiveProbe),
            ("/health/ready", "Whether there are odds to serve", "If not, send no clients.", schemas.Ready),
        )
    },
    "/monitor": Operation(
        "Every actor, source and bookmaker",
        "JSON, or a page for a client that prefers HTML.",
        (
            Answer(200, "The records.", schemas.Monitor, headers=("Cache-Control", "Vary"), also=HTML),
            Answer(304, "The client has the page already.", headers=("ETag", "Cache-Control", "Vary")),
        ),
        (IF_NONE_MATCH, ACCEPT_ENCODING),
        CLOSED,
    ),
    "/api/stats": Operation(
        "Counters",
        "Since the start.",
        (Answer(200, "The counters.", schemas.Stats, headers=_HEALTHY),),
        problems=CLOSED,
    ),
    "/metrics": Operation(
        "All metrics, for Prometheus",
        "Text, or OpenMetrics for a client that names `application/openmetrics-text`.",
        (
            Answer(
                200,
                "The metrics.",
                str,
                TEXT.partition(";")[0],
                headers=("Cache-Control", "Vary"),
                also=OPENMETRICS.partition(";")[0],
            ),
        ),
        problems=CLOSED,
    ),
}
OPEN = ("/health", "/health/live", "/health/ready")
"""The probes that everybody may read, even if operators need a token."""


def handlers(
    board: Readable,
    status: ServiceStatus,
    counters: HttpCounters,
    clock: Clock,
    own: OwnBodies,
    *,
    review: Review | None,
    is_operator: Callable[[Asked], bool],
) -> dict[str, Handler]:
    """Return the handlers by path; long answers count as work in `own`.

    `/health` shows texts of errors only to operators.
    """
    of_fixtures, of_people = partial(fixtures_view, review or Review()), page("monitor.html", Vary="Accept")
    what_runs, registry = release(), status.metrics.registry
    probes = _Probes(board, status, counters, clock, own, of_fixtures, of_people, what_runs, is_operator)
    registry.register(Present(status, board, clock, what_runs))
    ProcessCollector(registry=registry)
    return {
        "/health/live": probes.live,
        "/health/ready": probes.ready,
        "/health": probes.health,
        "/monitor": probes.monitor,
        "/api/stats": probes.stats,
        "/metrics": probes.metrics,
    }


@dataclass(frozen=True, slots=True)
class _Probes:
    board: Readable
    status: ServiceStatus
    counters: HttpCounters
    clock: Clock
    own: OwnBodies
    fixtures: Callable[[Snapshot], Sliced[schemas.FixturesReport]]
    page: Handler
    release: str
    is_operator: Callable[[Asked], bool]

    async def live(self, _: Asked) -> Prepared:
        content = liveness(self.status, self.clock.now())
        return prepared_json(content, ok=content.status == "pass")

    async def ready(self, _: Asked) -> Prepared:
        content = readiness(self.status, self.board.newest, self.clock.now())
        return prepared_json(content, ok=content.status == "pass")

    async def health(self, request: Asked) -> Prepared:
        content = health_of(self.status, self.board.newest, self.clock.now())
        if not self.is_operator(request):
            content = content.without_errors()
        return prepared_json(content, ok=content.status != "fail")

    async def monitor(self, request: Asked) -> Prepared:
        if prefers_html(request.header(b"accept")):
            return await self.page(request)
        return await self.own.charged(self._monitor(), request.client)

    def _monitor(self) -> Sliced[Prepared]:
        snapshot = self.board.newest
        of_fixtures = yield from self.fixtures(snapshot)
        status, now = self.status, self.clock.now()
        books = snapshot.books
        content = schemas.Monitor.of(
            status,
            now=now.wall,
            release=self.release,
            ready=readiness(status, snapshot, now),
            health=health_of(status, snapshot, now),
            loop=loop_view(status.loop),
            version=snapshot.version,
            epoch=snapshot.epoch,
            actors=[actor_view(actor) for actor in status.actors.values()],
            sources=[source_view(source, status.cluster) for source in status.sources.values()],
            bookmakers=[bookmaker_view(it, books[it.id], now) for it in status.bookmakers.values()],
            fixtures=of_fixtures,
            markets={kind: schemas.MarketReport.of(found) for kind, found in status.markets().items()},
            http=self._http(),
            log=schemas.LogCounters.of(status.log),
            events=status.log.journal.events[-schemas.MAX_EVENTS :],
        )
        return prepared_json(content, Vary="Accept")

    async def stats(self, _: Asked) -> Prepared:
        data = data_view(self.board.newest, self.status, self.clock.now())
        return prepared_json(schemas.Stats(data, self._http(), schemas.LogCounters.of(self.status.log)))

    async def metrics(self, request: Asked) -> Prepared:
        is_openmetrics = prefers_openmetrics(request.header(b"accept"))
        text = await self.own.charged(self._metrics(is_openmetrics=is_openmetrics), request.client)
        headers = {"Content-Type": OPENMETRICS if is_openmetrics else TEXT, "Cache-Control": "no-store"}
        return prepared(200, {**headers, "Vary": "Accept"}, (text,))

    def _metrics(self, *, is_openmetrics: bool) -> Sliced[bytes]:
        snapshot, levels = self.board.newest, self.status.metrics.levels
        if snapshot.fixtures is not None:
            state = fixtures_of(snapshot)
            found = yield from counts(state)
            levels["oddsboard_fixtures"].set(found.fixtures)
            levels["oddsboard_linked_fixtures"].set(found.linked)
            levels["oddsboard_surebets"].set(found.surebets)
            levels["oddsboard_link_events_pending"].set(state.pending)
            for rule in Rule:
                levels["oddsboard_links"].labels(rule).set(found.links.get(rule, 0))
        return (yield from exposition(self.status.metrics.registry, is_openmetrics=is_openmetrics))

    def _http(self) -> schemas.HttpReport:
        counts, levels = self.status.metrics.counts, self.status.metrics.levels
        by_route = self.counters.by_route()
        return schemas.HttpReport(
            by_route,
            answers_total=sum(sum(of_route.values()) for of_route in by_route.values()),
            body_bytes=counts["oddsboard_http_response_body_bytes_total"].number,
            streams=levels["oddsboard_stream_clients"].number,
            clients=levels["oddsboard_http_known_clients"].number,
            throttled=counts["oddsboard_http_throttled_total"].number,
            turned_away=counts["oddsboard_http_turned_away_total"].number,
            client_errors=dict(self.status.log.client_errors),
        )
