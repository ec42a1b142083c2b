"""The restart window: a limit as in OTP, and quarantines that double, compared with a model."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from actors.runtime.backoff import RestartWindow

# These are halves of a second, so that sums are exact and hit the edges of the windows.
GAPS = st.lists(
    st.one_of(st.integers(0, 80), st.sampled_from([119, 120, 121, 1199, 1200, 1201])), max_size=25
)


def quarantines(crashes: list[float]) -> list[float | None]:
    """Return the quarantine after each crash, as docs/operations.md describes it."""
    verdicts: list[float | None] = []
    counted: list[float] = []
    length, readmitted, calm_since = 60.0, None, 0.0
    for now in crashes:
        if now - calm_since > 600:
            length, readmitted = 60.0, None
        counted.append(now)
        within = sum(now - value <= 60 for value in counted)
        on_probation = readmitted is not None and now - readmitted <= 60
        if within <= 3 and not on_probation:
            verdicts.append(None)
            calm_since = now
            continue
        verdicts.append(length)
        readmitted = calm_since = now + length
        length = min(2 * length, 900.0)
        counted.clear()
    return verdicts


@given(GAPS)
@settings(max_examples=300, derandomize=True)
def test_every_verdict_equals_the_model(gaps: list[int]) -> None:
    """Each crash has the verdict that its whole history demands; no crash falls into a quarantine."""
    window, crashes, verdicts, now = RestartWindow(), list[float](), list[float | None](), 0.0
    for gap in gaps:
        now += gap / 2
        crashes.append(now)
        verdicts.append(window.crashed(now))
        now += verdicts[-1] or 0.0

    assert quarantines(crashes) == verdicts


def test_quarantine_by_order_counts_like_any_other() -> None:
    """Such a quarantine has a probation and doubles the next; ten crash-free minutes reset the duration."""
    window = RestartWindow()
    found = [window.quarantined(0.0), window.crashed(100.0), window.quarantined(300.0)]

    assert [60.0, 120.0, 240.0, 60.0] == [*found, window.quarantined(5000.0)]
