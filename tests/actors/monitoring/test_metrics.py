"""Counters by the values of a label, readable as numbers, with a limited number of values."""

from __future__ import annotations

from collections import Counter

from prometheus_client import CollectorRegistry

from actors.monitoring.metrics import MAX_VALUES, Count, Counts, Level, Timing


def _counts(*fixed: str, labels: tuple[str, ...] = ("reason",)) -> tuple[Count, Counts]:
    metric = Count("failures", "Failures.", labels, registry=None)
    return metric, Counts(metric, *fixed)


def test_counts_are_a_mapping_of_what_was_counted() -> None:
    """A value that was not counted reads as 0, as in a Counter, and is not listed."""
    _, counts = _counts()
    counts.add("timeout", number=2)
    counts.add("refused", number=0)

    assert Counter(timeout=2) == counts
    assert (2, 0, 0, False) == (counts["timeout"], counts["refused"], counts["x"], "x" in counts)


def test_counts_of_a_metric_differ_by_the_fixed_label() -> None:
    """Two records share a metric, and neither sees what the other counts."""
    metric = Count("failures", "Failures.", ("source", "reason"), registry=None)
    first, second = Counts(metric, "first"), Counts(metric, "second")

    first.add("timeout")

    assert ({"timeout": 1}, {}, 1) == (dict(first), dict(second), metric.labels("first", "timeout").number)


def test_labels_that_are_not_fixed_are_summed() -> None:
    """The mapping has one number per value of the last label; the metric keeps all labels apart."""
    metric, counts = _counts(labels=("bookmaker", "outcome"))
    counts.add("alder", "accepted", number=2)
    counts.add("birch", "accepted")

    assert {"accepted": 3} == counts
    assert [2, 1] == [metric.labels(name, "accepted").number for name in ("alder", "birch")]


def test_a_value_is_known_for_each_of_the_other_labels() -> None:
    """The limit counts different values, however many bookmakers have them."""
    _, counts = _counts(labels=("bookmaker", "outcome"))
    for number in range(2 * MAX_VALUES):
        counts.add(f"bookmaker-{number}", "accepted")

    assert {"accepted": 2 * MAX_VALUES} == counts


def test_what_is_read_is_what_is_shown() -> None:
    """Counters, gauges and histograms are read without their samples, in a twentieth of the time."""
    registry = CollectorRegistry()
    count, level = (
        Count("failures", "Failures.", registry=registry),
        Level("depth", "D.", registry=registry),
    )
    timing = Timing("took_seconds", "Durations.", buckets=(0.1, 1.0), registry=registry)
    count.inc(3)
    level.set_function(lambda: 7)
    for took_s in (0.05, 0.5, 0.5, 5.0):
        timing.observe(took_s)

    shown = [
        registry.get_sample_value("took_seconds_bucket", {"le": end}) for end in ("0.1", "1.0", "+Inf")
    ]
    assert (count.number, level.number) == tuple(
        map(registry.get_sample_value, ("failures_total", "depth"))
    )
    assert [1, 3, 4] == timing.counted() == shown
