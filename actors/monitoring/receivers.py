"""The record of the delivery of alerts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from actors.monitoring.metrics import Counts, Metrics


@dataclass(slots=True)
class ReceiverStatus:
    """A receiver: its last error, None after a success, and its consecutive failures; down after two."""

    failures: int = 0
    is_down: bool = False
    failing_since: float | None = None
    last_error: str | None = None
    last_sent_at: float | None = None


@dataclass(slots=True)
class AlertsStatus:
    """The delivery; `error` is why the queue cannot be written now, or None; `dropped` counts alerts.

    `waiting` returns the number of alerts that wait for a receiver.
    """

    metrics: Metrics = field(default_factory=Metrics)
    receivers: dict[str, ReceiverStatus] = field(default_factory=dict)
    error: str | None = None
    dropped: int = 0
    waiting: Callable[[str], int] = lambda _: 0
    fired: Counts = field(init=False)
    sent: Counts = field(init=False)
    failed: Counts = field(init=False)
    lost: Counts = field(init=False)

    def __post_init__(self) -> None:
        counts = self.metrics.counts
        self.fired = Counts(counts["oddsboard_alerts_fired_total"])
        self.sent = Counts(counts["oddsboard_alerts_sent_total"])
        self.failed = Counts(counts["oddsboard_alert_attempts_failed_total"])
        self.lost = Counts(counts["oddsboard_alerts_dropped_total"])

    @property
    def is_well(self) -> bool:
        """Whether every receiver answers, the queue is written, and nothing was dropped since the start."""
        return self.error is None and not self.dropped and not any(self.down)

    @property
    def down(self) -> Iterator[str]:
        """The receivers that are down."""
        return (name for name, status in self.receivers.items() if status.is_down)
