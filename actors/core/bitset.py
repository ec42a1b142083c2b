"""Sets of small numbers as bits of an integer: bit i is number i. Pure."""

from __future__ import annotations

from collections.abc import Iterator

MOST_STEPS = 1000  # of one search for a clique


def bits(mask: int) -> Iterator[int]:
    """Yield the numbers of the bits of a set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def connect(sets: list[int], a: int, b: int) -> None:
    """Record in both sets that the numbers `a` and `b` are adjacent."""
    sets[a] |= 1 << b
    sets[b] |= 1 << a


def largest_clique(adjacent: list[int], every: int) -> int:
    """Return the largest set of numbers of `every` that are all adjacent to each other.

    The first of several equally large sets is returned. The search ends after `MOST_STEPS` with the
    largest set found so far; up to about ten numbers need fewer steps.
    """
    best, steps = 0, 0
    rest = [(0, every)]
    while rest and steps < MOST_STEPS:
        steps += 1
        chosen, candidates = rest.pop()
        if (chosen | candidates).bit_count() <= best.bit_count():
            continue
        if not candidates:
            best = chosen
            continue
        first = candidates & -candidates
        among = adjacent[first.bit_length() - 1]
        rest += [(chosen, candidates ^ first), (chosen | first, candidates & among)]
    return best
