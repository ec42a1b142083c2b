"""Thins the points of a line: keeps its ends, extremes and absences, and evenly some other points. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

T = TypeVar("T")


def thinned(
    points: Sequence[T], most: int, kept: Collection[int], is_absent: Callable[[T], bool]
) -> Sequence[T]:
    """Return at most `most` of the points, in order; more if more must stay.

    The first and the last point stay, the points at the places `kept`, and every absence. A thinned line
    shows some prices for longer, but never shows a price where there was none.
    """
    if len(points) <= most:
        return points
    stay = {0, len(points) - 1, *kept}
    stay.update([place for place, point in enumerate(points) if is_absent(point)])
    others = [place for place in range(len(points)) if place not in stay]
    room = max(most - len(stay), 0)
    chosen = [others[number * len(others) // room] for number in range(room)] if others else []
    return [points[place] for place in sorted(stay.union(chosen))]
