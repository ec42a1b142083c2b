"""The transitions of a source: down after two failures in a row or a refusal, up with the first success."""

from __future__ import annotations

from itertools import product

import pytest
import structlog
from structlog.testing import capture_logs

from actors.board.board import Applied
from actors.board.diff import Verdict
from actors.core.clock import Instant
from actors.core.errors import TransportError
from actors.core.messages import Scope
from actors.monitoring.status import SourceStatus
from actors.monitoring.transitions import failed, record_latencies, scope_failed, scope_succeeded, succeeded
from tests.support.builders.messages import batch
from tests.support.systems.site import NAMES, site_status
from tests.support.systems.supervision import source_record
from tests.support.time.virtual import WALL_0

LOG = structlog.get_logger()


def _play(script: str, status: SourceStatus) -> list[tuple[str, ...]]:
    """Play one attempt every ten seconds, "x" for a failure and "." for a success; return the log lines."""
    with capture_logs() as logs:
        for number, attempt in enumerate(script):
            now = Instant(10.0 * number, WALL_0 + 10.0 * number)
            if attempt == "x":
                failed(status, TransportError(f"failure {number}"), now, LOG)
            else:
                succeeded(status, now, LOG)
    return [tuple(str(line[key]) for key in sorted(line)) for line in logs]


def test_only_transitions_are_logged() -> None:
    """Down is logged once at the second failure in a row, up once with `attempts` and `down_for_s`.

    Until the next success the record has the failures in a row, the time of the first and the last error.
    """
    for script in ("".join(letters) for letters in product("x.", repeat=7)):
        status, failures, since, success, lines = source_record(), 0, 0.0, None, list[tuple[str, ...]]()
        for number, attempt in enumerate(script):
            if attempt == "x":
                failures, since = failures + 1, since if failures else 10.0 * number
                if failures == 2:
                    lines.append(("2", f"failure {number}", "source.down", "warning"))
                continue
            if failures > 1:
                attempts, down_for_s = str(failures + 1), str(10.0 * number - since)
                lines.append((attempts, down_for_s, "source.recovered", "info"))
            failures, success = 0, WALL_0 + 10.0 * number

        assert lines == _play(script, status), script
        assert (failures, script.count("x"), failures > 1) == (
            *(status.failures, status.failures_total),
            status.is_down,
        )
        assert (f"failure {len(script) - 1}", WALL_0 + since) * bool(failures) == tuple(
            filter(None, (status.last_error, status.failing_since))
        )
        assert success == status.last_success_at, script


@pytest.mark.parametrize("step_s", [-3600.0, 3600.0])
def test_duration_of_an_outage_ignores_the_wall_clock(step_s: float) -> None:
    """Durations are monotonic: a step of the wall clock does not change `down_for_s` (C12)."""
    status = source_record()
    for mono in (0.0, 10.0):
        failed(status, TransportError("refused"), Instant(mono, WALL_0 + mono), LOG)

    with capture_logs() as logs:
        succeeded(status, Instant(25.0, WALL_0 + 25.0 + step_s), LOG)

    assert [25.0] == [line["down_for_s"] for line in logs]


def _play_scopes(script: str, status: SourceStatus) -> list[tuple[str, str | None, int]]:
    """Play attempts such as "a+ b- c!" (success, failed alone, failed with all); return the log lines."""
    with capture_logs() as logs:
        for number, attempt in enumerate(script.split()):
            scope, how = attempt[0], attempt[1]
            now = Instant(10.0 * number, WALL_0 + 10.0 * number)
            if how == "+":
                scope_succeeded(status, Scope(scope), now, LOG)
            else:
                error = TransportError(f"failure {number}", reason="connection")
                scope_failed(status, Scope(scope), error, now, LOG, alone=how == "-")
    return [(line["event"], line.get("scope"), line["attempts"]) for line in logs]


QUOTA = "out_of_usage_credits"


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("a:unknown_sport b:out_of_usage_credits", QUOTA),
        ("b:out_of_usage_credits a:unknown_sport", QUOTA),
        ("b:out_of_usage_credits a:unknown_sport a:unknown_sport", QUOTA),
        ("b:out_of_usage_credits a:invalid_key a:unknown_sport", QUOTA),
        ("a:unknown_sport b:timeout", "timeout"),
        ("a:unknown_sport b:out_of_usage_credits b:timeout", "timeout"),
    ],
)
@pytest.mark.parametrize("alone", [True, False])
def test_error_that_only_the_operator_can_mend_comes_first(script: str, told: str, *, alone: bool) -> None:
    """A spent quota or a refused key is shown before a league that nobody misses, until it is over."""
    status = source_record()
    for number, failure in enumerate(script.split()):
        scope, _, reason = failure.partition(":")
        at = Instant(float(number), WALL_0 + number)
        scope_failed(status, Scope(scope), TransportError(reason, reason=reason), at, LOG, alone=alone)

    expected = told if told == QUOTA or not alone else "unknown_sport"
    assert expected == status.error


@pytest.mark.parametrize("status_code", [401, 402, 403])
def test_refused_account_comes_first(status_code: int) -> None:
    """The HTTP status decides that the account is refused, whatever the body says."""
    status = source_record()
    refused, gone = TransportError("refused", status=status_code), TransportError("gone", status=404)
    for scope, error in (("a", gone), ("b", refused), ("a", gone)):
        scope_failed(status, Scope(scope), error, Instant(0.0, WALL_0), LOG, alone=False)

    assert "refused" == status.error


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_refusal_that_says_why_comes_before_a_mere_status(order: tuple[int, int]) -> None:
    """A 403 for one league, perhaps from a proxy, does not hide that the quota is spent."""
    status = source_record()
    errors = TransportError(QUOTA, reason=QUOTA, status=401), TransportError("refused", status=403)
    for at in order:
        scope_failed(status, Scope(f"scope {at}"), errors[at], Instant(0.0, WALL_0), LOG, alone=False)

    assert QUOTA == status.error


LOST, FOUND = ("scope.lost", "a", 2), ("scope.recovered", "a", 3)


@pytest.mark.parametrize(
    ("script", "logged"),
    [
        pytest.param("a+ b+ a+ b+", [], id="all is well"),
        pytest.param("a- a+ a- a+", [], id="single failures"),
        pytest.param("a- b+ a- b+ a- b+ a-", [LOST], id="two in a row, and repeats"),
        pytest.param("a- a- a+ a+", [LOST, FOUND], id="lost and found"),
        pytest.param("a- b- c- a+ b+", [], id="one each"),
        pytest.param("a! b!", [("source.down", None, 2)], id="all of them"),
        pytest.param("a! b! c! a! b!", [("source.down", None, 2)], id="all of them, repeatedly"),
        pytest.param(
            "a! b! c+ a+ b+", [("source.down", None, 2), ("source.recovered", None, 3)], id="and back"
        ),
        pytest.param(
            "a- a- b! c! b+ a+",
            [LOST, ("source.down", None, 2), ("source.recovered", None, 3), FOUND],
            id="one lost before all were",
        ),
    ],
)
def test_only_transitions_of_scopes_are_logged(
    script: str, logged: list[tuple[str, str | None, int]]
) -> None:
    """A scope that fails alone is lost; if all fail, the source is down; each is logged once each way."""
    assert logged == _play_scopes(script, source_record())


@pytest.mark.parametrize(("alone", "event"), [(False, "source.down"), (True, "scope.lost")])
def test_a_refusal_is_told_at_once(*, alone: bool, event: str) -> None:
    """A key that is refused is not tried again for a minute: an operator sees why nothing is shown."""
    error = TransportError("status was 401", status=401)
    with capture_logs() as logs:
        scope_failed(source_record(), Scope("a"), error, Instant(0.0, WALL_0), LOG, alone=alone)

    assert [event] == [line["event"] for line in logs]


def test_lost_scope_leaves_the_source_up() -> None:
    """A lost scope is counted by its reason, and the source as such does not fail."""
    status = source_record()

    _play_scopes("b+ a- a- b+ a-", status)

    record = status.scopes[Scope("a")]
    assert (3, True, "failure 4", None) == (
        *(record.failures, record.is_lost, record.last_error),
        record.last_success_at,
    )
    assert (0, False, 3, {"connection": 3}) == (
        *(status.failures, status.is_down, status.failures_total),
        dict(status.failed_by),
    )
    assert ("failure 4", None) == (status.error, status.failing_since)


def test_found_scope_has_no_failures() -> None:
    """After a success of the scope no error is left, and the time of the success is recorded."""
    status = source_record()

    _play_scopes("a- a- a+", status)

    record = status.scopes[Scope("a")]
    assert (0, False, None, WALL_0 + 20) == (
        *(record.failures, record.is_lost, record.last_error),
        record.last_success_at,
    )
    assert None is status.error


def test_matches_without_room_are_counted_as_rejected() -> None:
    """Matches above the limit are counted under the reason documented for operators."""
    status = site_status(NAMES, WALL_0)
    record_latencies(
        status,
        [batch(bookmaker="alder"), batch(bookmaker="birch")],
        [Applied(Verdict.ACCEPTED, upserted=3, too_many=2), Applied(Verdict.ACCEPTED, upserted=1)],
        Instant(0.0, WALL_0),
    )
    counted = {name: dict(bookmaker.rejected) for name, bookmaker in status.bookmakers.items()}

    assert {"cedar": {}, "alder": {"too_many": 2}, "birch": {}} == counted


def test_a_batch_that_changes_entries_is_noted() -> None:
    """A bookmaker's newest price is as old as the last batch that set an entry, not a later batch."""
    status = site_status(NAMES, WALL_0)
    batches = [batch(bookmaker="alder", received_mono=at) for at in (1.0, 2.0)]
    outcomes = [Applied(Verdict.ACCEPTED, upserted=1), Applied(Verdict.ACCEPTED, removed=1)]
    record_latencies(status, batches, outcomes, Instant(3.0, WALL_0 + 3))

    assert {"cedar": None, "alder": WALL_0 + 1, "birch": None} == {
        name: bookmaker.changed_at for name, bookmaker in status.bookmakers.items()
    }
