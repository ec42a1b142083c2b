"""Fair probabilities as a spreadsheet has them: 1 / price, its share, the median of all, scaled to 1."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from statistics import median


def fair_shares(prices: Sequence[Sequence[float]]) -> list[Decimal]:
    """Return the probabilities of a market's outcomes from the prices of some bookmakers."""
    inverse = [[1 / Decimal(str(price)) for price in of] for of in prices]
    medians = [median(of) for of in zip(*[[each / sum(of) for each in of] for of in inverse], strict=True)]
    return [each / sum(medians) for each in medians]
