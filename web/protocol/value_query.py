"""The query parameters of values: the reference, the least expected value."""

from __future__ import annotations

import re
from typing import Final

from actors.markets.market import ONE_X_TWO, Market, parsed
from web.protocol.problems import Problem
from web.protocol.query import (
    BOOKMAKERS,
    FAIR,
    MAX_MARKETS,
    MIN_PROFIT,
    STEP,
    TO,
    TOTAL,
    VIEW,
    WEAK,
    Parameter,
)
from web.protocol.span import FROM, Span, SpanQuery

_EV = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,9})?", re.ASCII)
MIN_EV: Final = Parameter(
    "min_ev",
    "Show only values of this or more: 0.02 is 2 % of the stake; default: 0.",
    {"type": "string", "pattern": f"^{_EV.pattern}$"},
)
REFERENCE: Final = Parameter(
    "reference",
    "Compare prices with the fair odds of this bookmaker, whose prices must be live; default: with the"
    " consensus of the other companies.",
)
JUDGED: Final = Parameter(
    BOOKMAKERS.name, "Show only values of this bookmaker, or of two to twenty.", BOOKMAKERS.schema
)
MAX_DAYS: Final = 366
DAY_MS: Final = 86_400_000
MARKETS: Final = Parameter(
    "market",
    "The record of this market, such as over_under:2.5, or of up to ten with commas; default: 1x2.",
)
DOUBTED: Final = Parameter(
    "doubted", "Show also doubted values, with their doubts.", {"type": "string", "const": "1"}
)

VALUE: Final = "value"
"""The name of the values' view at the changes and the stream."""
OF_VALUES: Final = (MIN_EV, REFERENCE)
NOT_OF_VALUES: Final = (FROM, TO, MIN_PROFIT, FAIR, TOTAL, STEP, WEAK)
"""Parameters of lists that do not choose values."""


class ValueQuery(SpanQuery):
    """The parameters of a request for values. Each method raises Problem 400 for a forbidden value."""

    def watches_values(self) -> bool:
        """Return whether the client wants the changes of values.

        Raises: Problem 400 for a parameter that does not choose these changes.
        """
        watches = self._values.get(VIEW.name) == [VALUE]
        why, must = "is only for values", f"must come with view={VALUE}"
        if watches:
            why, must = "is not for values", f"must not be given with view={VALUE}"
        for choice in NOT_OF_VALUES if watches else OF_VALUES:
            if choice.name in self._values:
                raise Problem(400, f"invalid_{choice.name}", f"parameter '{choice.name}' {why}, {must}")
        return watches

    def min_ev(self) -> float:
        """Return the least expected value to show."""
        must = "must be a number from 0, like 0.02"
        given = self._one(MIN_EV.name, must)
        if given is not None and not _EV.fullmatch(given):
            why = f"parameter '{MIN_EV.name}' was {given[:64]!r}, {must}"
            raise Problem(400, f"invalid_{MIN_EV.name}", why)
        return float(given or 0)

    def markets(self) -> tuple[Market, ...]:
        """Return the requested markets, each with its line; 1X2 if absent."""
        given = self._one(MARKETS.name, "must be given once, or not at all")
        if given is None:
            return (ONE_X_TWO,)
        names = given.split(",")
        try:
            found = tuple([parsed(name) for name in names[:MAX_MARKETS]])
        except ValueError as error:
            raise Problem(400, "invalid_market", f"parameter '{MARKETS.name}' {error}") from error
        if len({*found}) < len(names):
            why = f"names one twice, or more than {MAX_MARKETS}, must be {MAX_MARKETS} at most, with commas"
            raise Problem(400, "invalid_market", f"parameter '{MARKETS.name}' {why}")
        return found

    def record_span(self, now_ms: int, default_ms: int) -> Span:
        """Return the requested span of kick-offs; it ends now at the latest, and has at most a year."""
        span = self.span(now_ms, default_ms)
        if span.until_ms - span.from_ms > MAX_DAYS * DAY_MS:
            why = f"is more than {MAX_DAYS} days before the end, must be later"
            raise Problem(400, f"invalid_{FROM.name}", f"parameter '{FROM.name}' {why}")
        return span
