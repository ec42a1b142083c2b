"""Shows the service's present state as metrics, computed whenever the registry is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from platform import python_version
from typing import Any, cast

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric

from actors.board.snapshot import Readable, Snapshot
from actors.core.clock import Clock, Instant
from actors.monitoring.metrics import METRICS, plain
from actors.monitoring.receivers import AlertsStatus
from actors.monitoring.status import ArchiveStatus, BookmakerState, ServiceStatus
from actors.runtime.actor import ActorState
from actors.runtime.membership import ClusterStatus

QUOTAS = {
    "requests_remaining": "oddsboard_source_credits_left",
    "credits_left_today": "oddsboard_source_credits_left_today",
    "credits_per_day": "oddsboard_source_credits_per_day",
}
"""The metric of each shown entry of a source's quota."""

_FAMILIES = {"counter": CounterMetricFamily, "gauge": GaugeMetricFamily, "info": InfoMetricFamily}

_Values = Iterator[tuple[str, Any]]
"""Pairs of a metric's name and a number (None while unknown), or pairs of labels and such numbers."""


@dataclass(eq=False, slots=True)
class Present:
    """A Prometheus collector that reads the records, and the newest snapshot of `board`."""

    status: ServiceStatus
    board: Readable
    clock: Clock
    release: str

    def collect(self) -> Iterator[Metric]:
        """Return the metrics as they are now, without those whose value is unknown."""
        snapshot, now = self.board.newest, self.clock.now()
        self.status.observe(snapshot, now)
        for name, values in self._values(snapshot, now):
            if isinstance(values, Iterable):
                yield _family(name, values)
            elif values is not None:
                yield _family(name, [((), values)])

    def _markets(self) -> _Values:
        every = self.status.markets()
        entries = [
            ((kind, name), count) for kind, found in every.items() for name, count in found.entries.items()
        ]
        if entries:
            yield "oddsboard_market_entries", iter(entries)
        if every:
            yield "oddsboard_market_fixtures", (((kind,), found.fixtures) for kind, found in every.items())

    def _values(self, snapshot: Snapshot, now: Instant) -> _Values:
        yield from self._bookmakers(snapshot, now)
        yield from self._sources()
        yield from self._actors()
        yield from self._service(snapshot, now)
        yield from self._markets()
        if self.status.archive is not None:
            yield from _of_archive(self.status.archive, now)
        if self.status.cluster is not None:
            yield from _of_cluster(self.status.cluster, now)
        if self.status.alerts is not None:
            yield from _of_alerts(self.status.alerts)

    def _bookmakers(self, snapshot: Snapshot, now: Instant) -> _Values:
        books, records = snapshot.books, [*self.status.bookmakers.items()]
        yield "oddsboard_bookmaker_up", ((of, books[of].serves(now.mono)) for of, _ in records)
        states = (
            ((of, state), state is record.state) for of, record in records for state in BookmakerState
        )
        yield "oddsboard_bookmaker_state", states
        infos = ((of, {"source": record.source.name, "name": plain(record.name)}) for of, record in records)
        yield "oddsboard_bookmaker_info", infos
        yield "oddsboard_entries", ((of, books[of].count) for of, _ in records)
        rejected = ((of, record.rejections.now(books[of].scopes).values()) for of, record in records)
        numbers = ((of, sum(reason.count for reason in found)) for of, found in rejected)
        yield "oddsboard_bookmaker_rejected_now", numbers
        accepted = ((of, record.accepted_at) for of, record in records)
        yield "oddsboard_bookmaker_last_accepted_timestamp_seconds", accepted
        confirmed = ((of, record.confirmed_at(books[of], now)) for of, record in records)
        yield "oddsboard_bookmaker_last_confirmed_timestamp_seconds", confirmed
        changed = ((of, record.changed_at) for of, record in records)
        yield "oddsboard_bookmaker_last_change_timestamp_seconds", changed

    def _sources(self) -> _Values:
        of = self.status.sources.items()
        yield "oddsboard_source_up", ((name, not record.is_down) for name, record in of)
        succeeded = ((name, record.last_success_at) for name, record in of)
        yield "oddsboard_source_last_success_timestamp_seconds", succeeded
        for key, metric in QUOTAS.items():
            yield metric, [(name, (record.quota or {}).get(key)) for name, record in of]

    def _actors(self) -> _Values:
        of = self.status.actors.items()
        yield "oddsboard_actor_restarts_total", ((name, max(actor.starts - 1, 0)) for name, actor in of)
        yield "oddsboard_actor_crashes_total", ((name, actor.crashes) for name, actor in of)
        quarantined = ((name, actor.state is ActorState.QUARANTINED) for name, actor in of)
        yield "oddsboard_actor_quarantined", quarantined
        depths = ((name, actor.mailbox_depth and actor.mailbox_depth()) for name, actor in of)
        yield "oddsboard_actor_mailbox_depth", depths

    def _service(self, snapshot: Snapshot, now: Instant) -> _Values:
        status, board = self.status, self.status.board
        yield "oddsboard_version", snapshot.version
        yield "oddsboard_commits_total", board.versions()
        yield "oddsboard_batches_received_total", board.received()
        yield "oddsboard_batches_conflated_total", board.conflated()
        is_serving = any(book.serves(now.mono) for book in snapshot.books.values())
        yield "oddsboard_ready", is_serving and not status.is_draining
        yield "oddsboard_draining", status.is_draining
        yield "oddsboard_start_time_seconds", status.started_at
        yield "oddsboard_build_info", [((), {"version": self.release, "python": python_version()})]


def _of_archive(archive: ArchiveStatus, now: Instant) -> _Values:
    yield "oddsboard_archive_up", archive.error is None
    yield "oddsboard_archive_written_version", archive.written
    yield "oddsboard_archive_bytes", archive.size_bytes
    yield "oddsboard_archive_lag_seconds", archive.lag_s(now.wall)
    yield "oddsboard_archive_gaps_total", archive.gaps


def _of_cluster(cluster: ClusterStatus, now: Instant) -> _Values:
    yield "oddsboard_cluster_up", cluster.error is None
    yield "oddsboard_cluster_lag_versions", max(cluster.head - cluster.version, 0)
    yield "oddsboard_cluster_lag_seconds", cluster.lag_s(now.mono)
    roles, collector = ",".join(cluster.roles), cluster.collector or ""
    about = {"roles": roles, "collector": collector, "epoch": cluster.epoch}
    yield "oddsboard_cluster_info", [((), about)]
    yield "oddsboard_cluster_resets_total", cluster.resets
    own = ((source, collector == cluster.collector) for source, collector in cluster.leases.items())
    yield "oddsboard_cluster_lease", own


def _of_alerts(alerts: AlertsStatus) -> _Values:
    of = alerts.receivers.items()
    yield "oddsboard_alerts_waiting", ((name, alerts.waiting(name)) for name, _ in of)
    yield "oddsboard_alerts_receiver_up", ((name, not receiver.is_down) for name, receiver in of)
    yield "oddsboard_alerts_queue_up", alerts.error is None


def _family(name: str, values: Iterable[tuple[str | tuple[str, ...], Any]]) -> Metric:
    """Return a metric of the table with its known samples."""
    row = METRICS[name]
    family: Any = _FAMILIES[row.kind.split()[0]](
        name.removesuffix("_info"), row.help, labels=row.labels.split()
    )
    for of, value in values:
        if value is not None:
            family.add_metric((of,) if isinstance(of, str) else of, value)
    return cast("Metric", family)
