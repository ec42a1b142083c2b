"""Counters of lost log lines and of clients' errors, and which names are those of our own events."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from actors.monitoring.journal import Journal
from actors.monitoring.metrics import Count, Counts, Metrics

is_own = re.compile("[a-z]+[.][a-z_]+").fullmatch
"""Whether a text is the name of one of our events; other packages put values into their texts."""


@dataclass(slots=True)
class LogStatus:
    """Lines that did not reach the log; written by `log_writer` and `log_limits`.

    `dropped` counts lines for which the log's reader was too slow, `failed` lines that could not be
    written. `client_errors` counts clients' errors by kind; each kind is logged once a minute at most.
    `journal` has the newest transitions, whatever the level of the log.
    """

    metrics: Metrics = field(default_factory=Metrics)
    dropped: Count = field(init=False)
    failed: Count = field(init=False)
    client_errors: Counts = field(init=False)
    journal: Journal = field(default_factory=Journal)

    def __post_init__(self) -> None:
        lost = self.metrics.counts["oddsboard_log_lost_lines_total"]
        self.dropped, self.failed = lost.labels("dropped"), lost.labels("failed")
        self.client_errors = Counts(self.metrics.counts["oddsboard_http_client_errors_total"])
