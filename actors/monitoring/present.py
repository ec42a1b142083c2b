"""What is a state of the service and no count, as metrics of the moment in which the registry is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from platform import python_version

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    Metric,
)

from actors.board.snapshot import Readable, Snapshot
from actors.core.clock import Clock, Instant
from actors.monitoring.metrics import plain
from actors.monitoring.status import BookmakerState, ServiceStatus
from actors.runtime.actor import ActorState

QUOTAS = (
    ("requests_remaining", "oddsboard_source_credits_left", "Credits of the key, as its provider says."),
    ("credits_left_today", "oddsboard_source_credits_left_today", "Credits that may still be spent today."),
    ("credits_per_day", "oddsboard_source_credits_per_day", "Credits that may be spent a day."),
)
"""The entries of a source's quota that are shown."""


@dataclass(eq=False, slots=True)
class Present:
    """A collector of a registry: reads the records, and the newest snapshot of `board`."""

    status: ServiceStatus
    board: Readable
    clock: Clock
    release: str

    def collect(self) -> Iterator[Metric]:
        """Return the metrics of this moment; those that are not known yet are left out."""
        snapshot, now = self.board.newest, self.clock.now()
        self.status.observe(snapshot, now)
        yield from self._bookmakers(snapshot, now)
        yield from self._sources()
        yield from self._actors()
        yield from self._board(snapshot)
        yield from self._service(snapshot, now)
        yield from self._archive(now)
        yield from self._cluster(now)

    def _bookmakers(self, snapshot: Snapshot, now: Instant) -> Iterator[Metric]:
        records, books = self.status.bookmakers, snapshot.books
        yield _gauges(
            "oddsboard_bookmaker_up",
            "1 while a list of it is accepted and not stale.",
            "bookmaker",
            ((name, books[name].serves(now.mono)) for name in records),
        )
        states = GaugeMetricFamily(
            "oddsboard_bookmaker_state", "1 for its present state.", labels=("bookmaker", "state")
        )
        for name, record in records.items():
            for state in BookmakerState:
                states.add_metric((name, state), state is record.state)
        yield states
        info = InfoMetricFamily("oddsboard_bookmaker", "Its source and display name.", labels=["bookmaker"])
        for name, record in records.items():
            info.add_metric([name], {"source": record.source.name, "name": plain(record.name)})
        yield info
        entries = ((name, books[name].count) for name in records)
        yield _gauges("oddsboard_entries", "Entries on the board.", "bookmaker", entries)
        yield _gauges(
            "oddsboard_bookmaker_rejected_now",
            "Matches rejected of its newest lists.",
            "bookmaker",
            (
                (name, sum(found.count for found in record.rejections.now(books[name].scopes).values()))
                for name, record in records.items()
            ),
        )
        yield from self._times(snapshot, now)

    def _times(self, snapshot: Snapshot, now: Instant) -> Iterator[Metric]:
        records, books = self.status.bookmakers.items(), snapshot.books
        for what, text, times in (
            (
                "accepted",
                "When the newest list that was accepted was received.",
                ((name, record.accepted_at) for name, record in records),
            ),
            (
                "confirmed",
                "When its source last vouched for prices that are shown.",
                ((name, record.confirmed_at(books[name], now)) for name, record in records),
            ),
            (
                "change",
                "When the newest change of an entry was received.",
                ((name, record.changed_at) for name, record in records),
            ),
        ):
            yield _gauges(f"oddsboard_bookmaker_last_{what}_timestamp_seconds", text, "bookmaker", times)

    def _sources(self) -> Iterator[Metric]:
        sources = self.status.sources
        yield _gauges(
            "oddsboard_source_up",
            "0 while it is down: two failures in a row, or a lost stream.",
            "source",
            ((name, not record.is_down) for name, record in sources.items()),
        )
        yield _gauges(
            "oddsboard_source_last_success_timestamp_seconds",
            "When it answered well last.",
            "source",
            ((name, record.last_success_at) for name, record in sources.items()),
        )
        for key, metric, text in QUOTAS:
            quotas = ((name, (record.quota or {}).get(key)) for name, record in sources.items())
            yield _gauges(metric, text, "source", quotas)

    def _actors(self) -> Iterator[Metric]:
        actors = self.status.actors
        restarts = CounterMetricFamily("oddsboard_actor_restarts", "Restarts.", labels=["actor"])
        crashes = CounterMetricFamily("oddsboard_actor_crashes", "Crashes.", labels=["actor"])
        for name, actor in actors.items():
            restarts.add_metric([name], max(actor.starts - 1, 0))
            crashes.add_metric([name], actor.crashes)
        yield from (restarts, crashes)
        yield _gauges(
            "oddsboard_actor_quarantined",
            "1 while it is not started, because it crashed too often.",
            "actor",
            ((name, actor.state is ActorState.QUARANTINED) for name, actor in actors.items()),
        )
        yield _gauges(
            "oddsboard_actor_mailbox_depth",
            "Items that wait for it.",
            "actor",
            ((name, actor.mailbox_depth and actor.mailbox_depth()) for name, actor in actors.items()),
        )

    def _board(self, snapshot: Snapshot) -> Iterator[Metric]:
        board = self.status.board
        yield GaugeMetricFamily("oddsboard_version", "The version of the board.", snapshot.version)
        for name, text, number in (
            ("commits", "Commits that changed the board.", board.versions()),
            ("batches_received", "Batches that arrived at the aggregator.", board.received()),
            ("batches_conflated", "Batches merged with another that waited.", board.conflated()),
        ):
            yield CounterMetricFamily(f"oddsboard_{name}", text, number)

    def _service(self, snapshot: Snapshot, now: Instant) -> Iterator[Metric]:
        status = self.status
        is_serving = any(book.serves(now.mono) for book in snapshot.books.values())
        for name, text, value in (
            ("ready", "1 while /health/ready passes.", is_serving and not status.is_draining),
            ("draining", "1 once the service is about to end.", status.is_draining),
            ("start_time_seconds", "When the service started.", status.started_at),
        ):
            yield GaugeMetricFamily(f"oddsboard_{name}", text, value)
        of_build = {"version": self.release, "python": python_version()}
        yield InfoMetricFamily("oddsboard_build", "What runs.", of_build)

    def _archive(self, now: Instant) -> Iterator[Metric]:
        archive = self.status.archive
        if archive is None:
            return
        for name, text, value in (
            ("up", "0 while it cannot be written.", archive.error is None),
            ("written_version", "The newest version on disk.", archive.written),
            ("bytes", "Bytes of its files, looked at once a minute.", archive.size_bytes),
            ("lag_seconds", "Age of the oldest version that is not written.", archive.lag_s(now.wall)),
        ):
            yield GaugeMetricFamily(f"oddsboard_archive_{name}", text, value)
        yield CounterMetricFamily("oddsboard_archive_gaps", "Gaps.", archive.gaps)

    def _cluster(self, now: Instant) -> Iterator[Metric]:
        cluster = self.status.cluster
        if cluster is None:
            return
        for name, text, value in (
            ("up", "0 while the shared server does not answer.", cluster.error is None),
            ("lag_versions", "Versions that are not applied yet.", max(cluster.head - cluster.version, 0)),
            ("lag_seconds", "Since when the board is behind.", cluster.lag_s(now.mono)),
        ):
            if value is not None:
                yield GaugeMetricFamily(f"oddsboard_cluster_{name}", text, value)
        about = {
            "roles": ",".join(cluster.roles),
            "collector": cluster.collector or "",
            "epoch": cluster.epoch,
        }
        yield InfoMetricFamily("oddsboard_cluster", "What this process is in the cluster.", about)
        yield CounterMetricFamily("oddsboard_cluster_resets", "Begins of another board.", cluster.resets)
        own = ((source, collector == cluster.collector) for source, collector in cluster.leases.items())
        yield _gauges(
            "oddsboard_cluster_lease", "1 for a source that this process collects.", "source", own
        )


def _gauges(
    name: str, text: str, label: str, values: Iterable[tuple[str, float | None]]
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=[label])
    for of, value in values:
        if value is not None:
            family.add_metric([of], value)
    return family
