"""The query parameters of values: the reference, the least expected value."""

from __future__ import annotations

import re
from typing import Final

from web.protocol.problems import Problem
from web.protocol.query import BOOKMAKERS, Parameter, Query

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
DOUBTED: Final = Parameter(
    "doubted", "Show also doubted values, with their doubts.", {"type": "string", "const": "1"}
)


class ValueQuery(Query):
    """The parameters of a request for values. Each method raises Problem 400 for a forbidden value."""

    def min_ev(self) -> float:
        """Return the least expected value to show."""
        must = "must be a number from 0, like 0.02"
        given = self._one(MIN_EV.name, must)
        if given is not None and not _EV.fullmatch(given):
            why = f"parameter '{MIN_EV.name}' was {given[:64]!r}, {must}"
            raise Problem(400, f"invalid_{MIN_EV.name}", why)
        return float(given or 0)

    def league(self) -> str | None:
        """Return the requested league, None if absent."""
        return self._one("league", "must be given once, or not at all")
