"""The edges of a source: down after two failures in a row, up again with the first success."""

from __future__ import annotations

import pytest
import structlog
from structlog.testing import capture_logs

from actors.clock import Instant
from actors.errors import PayloadError, TransportError
from actors.source_edges import failed, succeeded
from actors.status import SourceStatus
from tests.support.supervision import source_record
from tests.support.virtual import WALL_0

LOG = structlog.get_logger()


def _play(script: str, status: SourceStatus) -> list[tuple[str, ...]]:
    """Play one attempt every ten seconds, "x" for a failure and "." for a success; give what is logged."""
    with capture_logs() as logs:
        for number, attempt in enumerate(script):
            now = Instant(10.0 * number, WALL_0 + 10.0 * number)
            if attempt == "x":
                failed(status, TransportError(f"failure {number}"), now, LOG)
            else:
                succeeded(status, now, LOG)
    return [tuple(str(line[key]) for key in sorted(line)) for line in logs]


DOWN = ("2", "failure 1", "source.down", "warning")
"""attempts, error, event, level"""


@pytest.mark.parametrize(
    ("script", "logged"),
    [
        pytest.param("....", [], id="all is well"),
        pytest.param("x.x.x.", [], id="single failures"),
        pytest.param("xx", [DOWN], id="two in a row"),
        pytest.param("xxxxxxx", [DOWN], id="repeats are not logged"),
        pytest.param("xx.", [DOWN, ("3", "20.0", "source.recovered", "info")], id="back at the third"),
        pytest.param("xxxxx...", [DOWN, ("6", "50.0", "source.recovered", "info")], id="back for good"),
        pytest.param(
            ".x.xx.",
            [("2", "failure 4", "source.down", "warning"), ("3", "20.0", "source.recovered", "info")],
            id="only failures in a row count",
        ),
    ],
)
def test_only_the_edges_are_logged(script: str, logged: list[tuple[str, ...]]) -> None:
    """Once down at the second failure in a row, once up with `attempts` and `down_for_s`."""
    assert logged == _play(script, source_record())


def test_a_failing_source_says_so() -> None:
    """The record counts the row, keeps the last error, and dates the failing from its first failure."""
    status = source_record()

    _play(".xxx", status)

    assert (3, 3, True) == (status.failures, status.failures_total, status.is_down)
    assert ("failure 3", WALL_0 + 10, WALL_0) == (
        status.last_error,
        status.failing_since,
        status.last_success_at,
    )


def test_one_failure_is_not_down() -> None:
    """After a single failure the source is failing, and not down yet."""
    status = source_record()

    _play("x", status)

    assert (1, False, WALL_0) == (status.failures, status.is_down, status.failing_since)


def test_a_success_forgets_the_failures_but_not_their_number() -> None:
    """Afterwards nothing is wrong; only the total remembers."""
    status = source_record()

    _play("xxx.", status)

    assert (0, 3, False) == (status.failures, status.failures_total, status.is_down)
    assert (None, None, WALL_0 + 30) == (status.last_error, status.failing_since, status.last_success_at)


def test_an_unreadable_payload_is_a_failure_like_any_other() -> None:
    """The source is as good as down when what it gives cannot be read."""
    status = source_record()

    for number in range(2):
        failed(status, PayloadError("it is HTML"), Instant(number, WALL_0 + number), LOG)

    assert (True, "it is HTML") == (status.is_down, status.last_error)


@pytest.mark.parametrize("step_s", [-3600.0, 3600.0])
def test_how_long_it_was_down_does_not_go_by_the_wall_clock(step_s: float) -> None:
    """Durations are monotonic: a clock that is put back or forward changes no `down_for_s` (C12)."""
    status = source_record()
    for mono in (0.0, 10.0):
        failed(status, TransportError("refused"), Instant(mono, WALL_0 + mono), LOG)

    with capture_logs() as logs:
        succeeded(status, Instant(25.0, WALL_0 + 25.0 + step_s), LOG)

    assert [25.0] == [line["down_for_s"] for line in logs]
