"""The registry of a service: the counters and histograms of /metrics, /api/stats and /monitor.

`metrics.tsv` lists the metrics with labels and texts; `scripts/operations` writes the names in
docs/operations.md from it. Names and units follow Prometheus' conventions. Values of labels come from the
configuration or a closed set, never from a client or a match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any, Self

from msgspec import Struct
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

MAX_VALUES = 100
MAX_VALUE_CHARS = 64
OTHER = "other"

BUCKETS = {
    "commit": (5e-4, 1e-3, 1.5e-3, 2e-3, 3e-3, 5e-3, 7.5e-3, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.25, 1.0),
    "latency": (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
    "answer": (1e-4, 2.5e-4, 5e-4, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 10.0, 60.0),
}
"""The upper ends of the buckets of histograms, in seconds."""


class Count(Counter):
    """A counter that can be read."""

    @property
    def number(self) -> int:
        """The count so far."""
        return int(self._value.get())  # the public `collect` takes twenty times as long


class Level(Gauge):
    """A gauge that can be read."""

    @property
    def number(self) -> int:
        """The present number."""
        (family,) = self.collect()
        return int(family.samples[0].value)


class Timing(Histogram):
    """A histogram of durations that can be read."""

    @property
    def upper_ends(self) -> tuple[float, ...]:
        """The upper ends of its buckets in seconds, the last infinite."""
        return tuple(self._upper_bounds)

    def counted(self) -> list[int]:
        """Return for each upper end the number of durations up to it."""
        return [*accumulate(int(bucket.get()) for bucket in self._buckets)]


class Counts(Mapping[str, int]):
    """The counters of a metric that are above zero, by the value of its last label.

    A missing value reads as 0. The other labels are `fixed`, or given in each call. The last label may have
    any text; after a hundred different values, new ones count as `OTHER`.
    """

    def __init__(self, metric: Count, *fixed: str) -> None:
        self._metric = metric
        self._fixed = fixed
        self._values: set[str] = set()
        self._bound: dict[tuple[str, ...], Count] = {}

    def add(self, *values: str, number: int = 1) -> None:
        """Add to the counter with these values of the labels that are not fixed."""
        child = self._bound.get(values) or self._bind(*values)
        child.inc(number)

    def __getitem__(self, last: str) -> int:
        return self._numbers().get(last, 0)

    def __contains__(self, last: object) -> bool:
        return last in self._numbers()

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers())

    def __len__(self) -> int:
        return len(self._numbers())

    def _bind(self, *values: str) -> Count:
        *others, last = values
        if last not in self._values and (len(last) > MAX_VALUE_CHARS or len(self._values) >= MAX_VALUES):
            last = OTHER
        self._values.add(last)
        key = *others, last
        if key not in self._bound:
            self._bound[key] = self._metric.labels(*self._fixed, *others, plain(last))
        return self._bound[key]

    def _numbers(self) -> dict[str, int]:
        numbers: dict[str, int] = {}
        for (*_, last), child in self._bound.items():
            if number := child.number:
                numbers[last] = numbers.get(last, 0) + number
        return numbers


def plain(text: str) -> str:
    """Return a text that UTF-8 can encode: lone surrogates, as in a plug-in's text, become escapes."""
    return text.encode(errors="backslashreplace").decode()


class Described(Struct, frozen=True):
    """A metric: its public name, its labels, and its text in /metrics.

    `kind` is counter, gauge, histogram or info, followed by `read` (`present.py`) or the name of buckets.
    """

    name: str
    kind: str
    labels: str
    help: str


_ROWS = Path(__file__).with_suffix(".tsv").read_text("utf-8").splitlines()[1:]
METRICS: Mapping[str, Described] = {row.name: row for row in (Described(*row.split("\t")) for row in _ROWS)}


class Metrics:
    """All counters, gauges and histograms by name, in their own registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.counts: dict[str, Count] = {}
        self.levels: dict[str, Level] = {}
        self.timings: dict[str, Timing] = {}
        for row in METRICS.values():
            of = row.name, row.help, row.labels.split()
            match row.kind.split():
                case ["counter"]:
                    self.counts[row.name] = Count(*of, registry=self.registry)
                case ["gauge"]:
                    self.levels[row.name] = Level(*of, registry=self.registry)
                case ["histogram", buckets]:
                    self.timings[row.name] = Timing(*of, buckets=BUCKETS[buckets], registry=self.registry)


class Report(Struct, frozen=True):
    """A part of a probe's answer: takes the fields that a record has by the same names."""

    @classmethod
    def of(cls, record: object, **others: Any) -> Self:
        """Return the report of a record; `others` are further fields. Numbers have three decimals."""
        names = cls.__struct_fields__
        values = [others[name] if name in others else getattr(record, name) for name in names]
        return cls(*[plain(value) if (plain := _PLAIN.get(type(value))) else value for value in values])


_PLAIN: Mapping[type, Callable[[Any], Any]] = {
    float: lambda value: round(value, 3),
    Count: lambda value: value.number,
    Counts: dict,
}
