"""The oracle of the record: a season's earlier prices against closing prices, by csv and arithmetic.

Run it alone with files of football-data.co.uk: python tests/support/oracles/closing_value.py FILE...
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path

SIDES = "HDA"


def fair(odds: list[float]) -> list[float]:
    """Return the probabilities by the power method, by bisection."""
    low, high = 0.0, 100.0
    for _ in range(100):
        k = (low + high) / 2
        low, high = (k, high) if sum((1 / price) ** k for price in odds) > 1 else (low, k)
    chances = [(1 / price) ** high for price in odds]
    return [chance / sum(chances) for chance in chances]


def middle(of_others: list[list[float]]) -> list[float]:
    """Return the median of each outcome, scaled to 1."""
    found = []
    for place in range(3):
        some = sorted(chances[place] for chances in of_others)
        half = len(some) // 2
        found.append(some[half] if len(some) % 2 else (some[half - 1] + some[half]) / 2)
    return [chance / sum(found) for chance in found]


def is_believed(odds: list[float], own: list[float], others: list[float], ratio: float) -> bool:
    """Return whether prices are neither too high, nor exchanged, nor of another match."""
    apart = max(abs(own[place] - others[place]) for place in range(3))
    crossed = max(abs(own[place] - others[2 - place]) for place in range(3))
    is_crossed = crossed <= 0.06 and apart - crossed > 0.02
    return (
        not is_crossed and apart <= 0.12 and all(odds[place] * others[place] <= ratio for place in range(3))
    )


def prices(row: dict[str, str], names: list[str], mark: str) -> dict[str, list[float]]:
    """Return the prices of a row by bookmaker; `mark` is `C` for closing prices."""
    found = {}
    for name in names:
        cells = [row.get(f"{name}{mark}{side}", "") for side in SIDES]
        if all(cells):
            found[name] = [float(cell) for cell in cells]
    return found


def read(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Return the bookmakers that have earlier and closing prices, and the rows of a file."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    names = [cell[:-2] for cell in rows[0] if cell.endswith("CH") and f"{cell[:-2]}H" in rows[0]]
    return [name for name in names if name not in {"Max", "Avg", "BFE"}], rows


def values(path: Path, ratio: float = 1.25) -> dict[str, list[tuple[int, float, float]]]:
    """Return by bookmaker the match, expected value and closing line value of each price with value."""
    names, rows = read(path)
    found: dict[str, list[tuple[int, float, float]]] = defaultdict(list)
    for number, row in enumerate(rows):
        early, late = prices(row, names, ""), prices(row, names, "C")
        fair_early = {name: fair(odds) for name, odds in early.items()}
        fair_late = {name: fair(odds) for name, odds in late.items()}
        for name, odds in early.items():
            others = [chances for other, chances in fair_early.items() if other != name]
            closing = [chances for other, chances in fair_late.items() if other != name]
            if len(others) < 3 or len(closing) < 3:
                continue
            then, close = middle(others), middle(closing)
            if is_believed(odds, fair_early[name], then, ratio):
                found[name] += [
                    (number, odds[place] * then[place] - 1, odds[place] * close[place] - 1)
                    for place in range(3)
                    if odds[place] * then[place] > 1
                ]
    return found


def mean_and_error(some: list[tuple[int, float]]) -> tuple[float, float]:
    """Return the mean of values over matches, and its standard error over matches."""
    mean = sum(value for _, value in some) / len(some)
    totals: dict[int, float] = defaultdict(float)
    for match, value in some:
        totals[match] += value - mean
    squares = sum(total**2 for total in totals.values())
    return mean, (squares * len(totals) / (len(totals) - 1)) ** 0.5 / len(some)


if __name__ == "__main__":
    for given in sys.argv[1:]:
        for bookmaker, some in values(Path(given)).items():
            clv, error = mean_and_error([(match, value) for match, _, value in some])
            expected = sum(value for _, value, _ in some) / len(some)
            sys.stdout.write(
                f"{given} {bookmaker}: {len(some)}, {expected:.4f} -> {clv:.4f} +- {error:.4f}\n"
            )
