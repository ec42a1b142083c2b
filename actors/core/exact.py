"""Values of exactly Python's own types, converted from what a plug-in returns.

Pure. Fractions, NumPy's scalars and subclasses of float, int or str compare like plain values, but the
JSON encoder accepts plain ones only.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from itertools import chain
from math import isfinite, isnan
from numbers import Real
from typing import Any

from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import Extract, Match, Removal, SourceMatchId
from actors.core.validation import Reason


class NotExactError(ValueError):
    """A value that cannot be converted."""


def text(value: object) -> str:
    """Return a plain str of a str or a subclass of it. Raises: NotExactError for anything else."""
    if not isinstance(value, str):
        raise NotExactError(f"was a {type(value).__name__}, must be a str")
    return str.__str__(value)


def number(value: Any) -> float:
    """Return a plain float of any real number but a bool. Raises: NotExactError for anything else."""
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        raise NotExactError(f"was a {type(value).__name__}, must be a number")
    try:
        return float(value)
    except (TypeError, ValueError, ArithmeticError) as error:
        raise NotExactError(f"was a {type(value).__name__} that is no float: {error}") from error


def whole(value: Any) -> int:
    """Return a plain int of a real number without a fraction. Raises: NotExactError for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return int.__int__(value)
    as_float = number(value)
    if not as_float.is_integer():
        raise NotExactError(f"was {as_float}, must be a whole number")
    return int(as_float)


def seconds(value: Any, what: str) -> float:
    """Return a plain float of a time span, 0 for a negative one; infinity is allowed.

    Raises: NotExactError, naming `what`, for NaN, which disorders timers, and for what is no number.
    """
    try:
        span_s = number(value)
    except NotExactError as error:
        raise NotExactError(f"{what} {error}") from error
    if isnan(span_s):
        raise NotExactError(f"{what} was nan, must be a number of seconds")
    return max(span_s, 0.0)


def exact_extract(given: object) -> Sliced[Extract]:
    """Return an extract with exact values. Raises: NotExactError if `given` is no extract.

    A match with a value that cannot be converted becomes a removal; if that is its id, it is only counted.
    """
    if not isinstance(given, Extract):
        raise NotExactError(f"was a {type(given).__name__}, must be an Extract")
    matches: list[Match] = []
    removals: list[Removal] = []
    passed_over = _counts(given.passed_over)
    read = chain(map(_exact_match, given.matches), map(_exact_removal, given.removals))
    for count, exact in enumerate(read):
        if count % SLICE == 0:
            yield
        if isinstance(exact, Match):
            matches.append(exact)
        elif exact is not None:
            removals.append(exact)
        else:
            passed_over[Reason.TYPE] = passed_over.get(Reason.TYPE, 0) + 1
    return Extract(
        tuple(matches),
        tuple(removals),
        None if given.title is None else text(given.title),
        passed_over,
        None if given.lag_s is None else number(given.lag_s),
        None if given.answered_at is None else number(given.answered_at),
    )


def _exact_match(given: object) -> Match | Removal | None:
    if not isinstance(given, Match):
        return None
    try:
        match_id = SourceMatchId(text(given.source_match_id))
    except NotExactError:
        return None
    try:
        match = Match(
            match_id,
            text(given.home),
            text(given.away),
            None if given.league is None else text(given.league),
            number(given.home_price),
            number(given.draw_price),
            number(given.away_price),
            None if given.start_time is None else whole(given.start_time),
            None if given.source_time is None else number(given.source_time),
            None if given.latest_start is None else whole(given.latest_start),
        )
    except NotExactError:
        return Removal(match_id, Reason.TYPE)
    # A recording holds JSON, which has no such number.
    is_finite = isfinite(match.home_price + match.draw_price + match.away_price)
    return match if is_finite else Removal(match_id, Reason.PRICE)


def _exact_removal(given: object) -> Removal | None:
    """Return a removal with exact values, also of a match that is among the removals."""
    if isinstance(given, Match):
        match = _exact_match(given)
        return None if match is None else Removal(match.source_match_id, Reason.TYPE)
    if not isinstance(given, Removal):
        return None
    try:
        return Removal(SourceMatchId(text(given.source_match_id)), text(given.reason))
    except NotExactError:
        return None


def _counts(given: Mapping[Any, Any]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, count in given.items():
        try:
            found[text(name)] = whole(count)
        except NotExactError:
            continue
    return found
