"""Opens the delivery of a service's alerts."""

from __future__ import annotations

from pathlib import Path
from random import Random

from actors.alerts.delivery import GRACE_S, Delivery, Send
from actors.alerts.journal import Journal
from actors.core.clock import Clock
from actors.monitoring.receivers import AlertsStatus
from actors.monitoring.status import ServiceStatus
from actors.runtime.actor import ActorStatus
from actors.runtime.supervisor import ChildSpec
from actors.service.settings import Settings
from actors.transports import process
from actors.transports.paced_reads import default_context

ACTOR = "delivery"
STOPS_S = GRACE_S + process.GRACE_S + process.KILL_S + 0.5  # the delivery may be running a program


def open_delivery(
    settings: Settings, status: ServiceStatus, clock: Clock, random: Random, send: Send
) -> Delivery | None:
    """Return the delivery, with the messages that wait on disk; None without receivers.

    The caller starts it. Raises: QueueLockedError, ConfigError.
    """
    if not settings.receivers:
        return None
    default_context()  # reads certificates, which the first alert should not wait for
    status.alerts = AlertsStatus(status.metrics)
    status.actors[ACTOR] = ActorStatus(ACTOR)
    journal = None if settings.alerts.path is None else Journal(Path(settings.alerts.path))
    return Delivery(settings.receivers, status.alerts, clock, random, send, journal=journal)


def delivering(delivery: Delivery, status: ServiceStatus) -> ChildSpec:
    """Return how to run the delivery."""
    return ChildSpec(status.actors[ACTOR], lambda: delivery, is_leaf=True, stop_within_s=STOPS_S)
