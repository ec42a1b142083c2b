"""A report has the fields of a record by their names, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from actors.monitoring.metrics import Count, Counts, Metrics, Report

METRICS = Metrics()


@dataclass
class _Record:
    at: float = 1.23456
    number: Count = METRICS.counts["oddsboard_batches_dropped_total"]
    by_kind: Counts = field(
        default_factory=lambda: Counts(METRICS.counts["oddsboard_http_client_errors_total"])
    )
    is_shown: bool = True
    error: str | None = None


class _Shown(Report, frozen=True):
    at: float
    number: int
    by_kind: dict[str, int]
    is_shown: bool
    error: str | None
    more: float


def test_a_report_has_what_its_record_has() -> None:
    """Counters become numbers, times are rounded to ms; fields that the record lacks are arguments."""
    record = _Record()
    record.number.inc(3)
    record.by_kind.add("protocol")

    assert _Shown(1.235, 3, {"protocol": 1}, True, None, 0.124) == _Shown.of(record, more=0.12351)  # noqa: FBT003 - a field
    assert "gone" == _Shown.of(record, more=0.0, error="gone").error


def test_a_field_that_nothing_has_is_a_bug() -> None:
    """The first request finds the missing field, not a client that needs it."""
    with pytest.raises(AttributeError, match="more"):
        _Shown.of(_Record())
