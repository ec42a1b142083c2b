"""The registry of metrics as text: Prometheus' format 0.0.4, or OpenMetrics 1.0. Pure.

https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.openmetrics import exposition as openmetrics

from actors.core.cooperative import Sliced

TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
_END = b"# EOF\n"


@dataclass(frozen=True, slots=True)
class _Only:
    """A registry with only this metric, for the writer of one metric."""

    metric: Metric

    def collect(self) -> Iterable[Metric]:
        return (self.metric,)


def exposition(registry: CollectorRegistry, *, is_openmetrics: bool) -> Sliced[bytes]:
    """Return all metrics, without the start times of counters."""
    write = openmetrics.generate_latest if is_openmetrics else generate_latest
    parts: list[bytes] = []
    for metric in registry.collect():
        metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
        parts.append(write(_Only(metric)).removesuffix(_END))
        yield
    return b"".join([*parts, _END] if is_openmetrics else parts)
