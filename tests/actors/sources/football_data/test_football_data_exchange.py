"""football-data.co.uk: an exchange in a file of bookmakers is held to a narrower book sum than these."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from actors.core.validation import Reason
from tests.support.builders.football_data import COLUMNS, ROW, csv_bytes, judged

HEADER = (*COLUMNS, "BFEH", "BFED", "BFEA", "BWH", "BWD", "BWA")
THIN, FAIR = ("2.80", "3.20", "1.50"), ("2.80", "3.30", "2.66")  # sums of 1.34 and 1.04


def _judged(key: str, prices: Sequence[str]) -> tuple[int, dict[str, int]]:
    admission = judged(csv_bytes((*ROW, *prices, *prices), header=HEADER), key)
    return len(admission.batch.matches), dict(admission.rejected)


@pytest.mark.parametrize("prices", [THIN, ("1.75", "2.20", "5.00"), ("1.40", "3.90", "3.30")])
def test_placeholder_bids_are_no_prices(prices: Sequence[str]) -> None:
    """The bids of an empty market are rejected, where a bookmaker's prices of that sum are believed."""
    assert (0, {Reason.BOOK_SUM: 1}) == _judged("BFE", prices)
    assert (1, {}) == _judged("BW", prices)


def test_prices_of_an_exchange_that_trades_are_shown() -> None:
    """Its usual sum is a few per cent."""
    assert (1, {}) == _judged("BFE", FAIR)
