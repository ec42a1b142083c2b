"""Opens and closes the parts of a service, and changes them when its configuration is read again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random

from actors.alerts.sending import Sender
from actors.core.clock import Clock
from actors.core.limits import Limits
from actors.monitoring.log_events import LogStatus
from actors.runtime.facts import conceal
from actors.service.clustering import Cluster
from actors.service.settings import ServerSettings, Settings, program_path
from actors.service.system import System
from web.feeds.subscribers import Audience
from web.protocol.throttle import ClientLimits
from web.server.connections import Caps
from web.server.descriptors import fitted
from web.server.lifecycle import Exit
from web.server.listener import Listener

QUEUE_CLOSES_S = 1.0
"""Seconds for the disk to take the rest of the queue of alerts."""


def opened(settings: Settings, clock: Clock, written: LogStatus) -> System:
    """Return everything below the web, not yet started.

    Raises: ArchiveLockedError, QueueLockedError, ConfigError.
    """
    cluster = None if settings.cluster.url is None else partial(Cluster, settings, clock)
    send = Sender(clock, {"PATH": program_path()}).send
    parts = (settings, clock, Random())
    return System(*parts, is_archived=True, log_status=written, cluster=cluster, send=send)


def close(system: System, code: Exit) -> None:
    """Close the files on disk, once the actors have stopped."""
    if system.delivery is not None:
        system.delivery.close(QUEUE_CLOSES_S)
    if system.archive is not None:
        system.archive.close(is_orderly=code is Exit.STOPPED)


def audience_of(system: System, max_streams: int, per_client: int) -> Audience:
    """Return the group of clients that follow the service, still empty."""
    fixtures, metrics = system.fixture_history, system.status.metrics
    histories = system.shown_markets.histories
    return Audience(system.shown.history, max_streams, per_client, fixtures, metrics, markets=histories)


@dataclass(frozen=True, slots=True)
class Running:
    """The parts of a service that change with its configuration."""

    system: System
    audience: Audience
    limits: ClientLimits
    sock: Listener

    def apply(self, old: Settings, new: Settings) -> None:
        """Apply the settings that differ; never waits."""
        if (old.limits, old.server.max_streams) != (new.limits, new.server.max_streams):
            caps, self.audience.max_clients = fitting(new.server, new.limits, len(new.sources))
            self.audience.max_per_client = new.limits.max_streams_per_client
            self.sock.held.change(caps)
        if old.limits != new.limits:
            self.limits.change(new.limits)
        if old.surebets != new.surebets:
            self.system.replace_rules(new.surebets)
        if self.system.delivery is not None and old.receivers != new.receivers:
            conceal(sorted({*old.secrets(), *new.secrets()}, key=len, reverse=True))
            self.system.delivery.replace(new.receivers)
        self.system.replace_alerts(new.alert)
        for name, bookmaker in new.bookmakers.items():
            self.system.status.bookmakers[name].short = bookmaker.short


def fitting(server: ServerSettings, limits: Limits, sources: int) -> tuple[Caps, int]:
    """Return the caps of connections, and how many clients may follow changes."""
    requests = limits.max_requests_per_connection
    return fitted(limits.max_connections, server.max_streams, requests, sources)
