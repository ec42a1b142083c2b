"""The gate for requests with a key that other programs, or an earlier process, may have used as well."""

from __future__ import annotations

import pytest

from actors.core.clock import Instant
from actors.core.messages import Scope
from actors.sources.five_dollar_football.rate import REMAINING, SPACING_S, Gate, rate_of

SCOPE = Scope("fixtures")
NOW = Instant(0.0, 1_795_000_000.0)


def test_no_burst_is_sent_until_an_answer_tells_the_rest_of_the_rate() -> None:
    """An earlier process may just have sent its burst: until the answer, requests are an interval apart."""
    gate = Gate(rate_of(60))
    gate.on_asked(SCOPE, NOW)
    gate.on_answered(SCOPE, {}, NOW)
    without_headers_s = gate.wait_s(NOW)
    gate.on_answered(SCOPE, {REMAINING: "50"}, NOW)

    assert pytest.approx(60 / 48, abs=0.01) == without_headers_s  # a fifth of 60 requests is the burst
    assert SPACING_S == gate.wait_s(NOW)
