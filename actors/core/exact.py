"""Refuses values from plug-ins that are not of exactly Python's own types.

Pure. Fractions, NumPy's scalars and subclasses of float, int or str compare like plain values, but the JSON
encoder accepts plain values only.
"""

from __future__ import annotations

from collections import Counter
from math import isfinite, isnan

from actors.core.match_codec import is_exact
from actors.core.messages import Extract, Match, Removal
from actors.core.validation import Reason

MAX_COUNT = 1_000_000_000  # sums of such numbers are still exact in JSON


class NotExactError(ValueError):
    """A value of a wrong type."""


def text(value: object, what: str) -> str:
    """Return a plain str. Raises: NotExactError, naming `what`, for anything else, also a subclass."""
    if type(value) is not str:
        raise NotExactError(f"{what} was a {type(value).__name__}, must be a str")
    return value


def number(value: object, what: str) -> float:
    """Return a plain float, also for an int. Raises: NotExactError, naming `what`, for anything else."""
    if type(value) is not float and type(value) is not int:
        raise NotExactError(f"{what} was a {type(value).__name__}, must be a number")
    return float(value)


def seconds(value: object, what: str) -> float:
    """Return a plain float of a time span, 0 for a negative one; infinity is allowed.

    Raises: NotExactError, naming `what`, for other types and for NaN, which disorders timers.
    """
    if isnan(span_s := number(value, what)):
        raise NotExactError(f"{what} was nan, must be a number of seconds")
    return max(span_s, 0.0)


def exact_extract(given: object) -> Extract:
    """Return an extract that has exact values only. Raises: NotExactError if `given` is no extract.

    A match with any other value becomes a removal; if its id has a wrong type, the match is only counted.
    """
    if not isinstance(given, Extract):
        raise NotExactError(f"its result was a {type(given).__name__}, must be an Extract")
    parts: tuple[object, ...] = (given.matches, given.removals, given.notes)
    if not all(isinstance(part, tuple | list) for part in parts):  # a generator may never end
        raise NotExactError("its matches, removals and notes must be tuples")
    read = [_exact(match, Match) for match in given.matches]
    read += [_exact(removal, Removal) for removal in given.removals]
    counts = given.passed_over.items()
    passed_over = Counter({name: n for name, n in counts if type(name) is str and _is_count(n)})
    passed_over[Reason.TYPE] += read.count(None)
    return Extract(
        tuple(exact for exact in read if isinstance(exact, Match)),
        tuple(exact for exact in read if isinstance(exact, Removal)),
        None if given.title is None else text(given.title, "title"),
        +passed_over,
        None if given.lag_s is None else number(given.lag_s, "lag_s"),
        None if given.answered_at is None else number(given.answered_at, "answered_at"),
        given.is_collected is True,
        tuple(text(note, "note") for note in given.notes),
    )


def _is_count(number: object) -> bool:
    return type(number) is int and 0 < number <= MAX_COUNT


def _exact(given: object, needed: type[Match | Removal]) -> Match | Removal | None:
    """Return `given` if it is exact, otherwise its removal; None if its id is not exact."""
    if not isinstance(given, Match | Removal):
        return None
    if type(given.source_match_id) is not str:
        return None
    if type(given) is Match is needed and is_exact(given):
        if isfinite(sum(given.prices)):
            return given
        return Removal(given.source_match_id, Reason.PRICE)  # JSON cannot represent infinity
    if type(given) is Removal is needed and type(given.reason) is str:
        return given
    return Removal(given.source_match_id, Reason.TYPE)
