"""The main line of a kind of market of a match: that which most bookmakers list. Pure.

It is that of all bookmakers, whichever of them are shown: of live prices, or of collected ones where none
is live, without those of a company that another of it has confirmed later.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from actors.core.messages import Match
from actors.markets.market import FORMS
from actors.markets.odds import scaled
from actors.matches.model import Fixture, Roster

_DIGITS = 12


def main_line(lines: Sequence[Fixture], roster: Roster) -> Fixture:
    """Return the main line of one or more lines of a match.

    That is the line that most bookmakers have; of several the most even by the median of their prices, then
    the nearest to 2.5 goals or to 0, then the lower.
    """
    counted = [(line, _counted(line, roster, is_live=True)) for line in lines]
    if not any(matches for _, matches in counted):
        counted = [(line, _counted(line, roster, is_live=False)) for line in lines]
    most = max(len(matches) for _, matches in counted)
    tied = [(line, matches) for line, matches in counted if len(matches) == most]
    if len(tied) == 1:
        return tied[0][0]
    return min(tied, key=lambda each: _unevenness(*each))[0]


def _counted(line: Fixture, roster: Roster, *, is_live: bool) -> list[Match]:
    return [
        entry.match
        for name, entry in zip(line.bookmakers, line.listed, strict=True)
        if name not in line.outdone and (not is_live or name in roster.live)
    ]


def _unevenness(line: Fixture, matches: Sequence[Match]) -> tuple[float, int, int]:
    shares = [scaled([1 / price for price in match.prices])[0] for match in matches]
    quarters = line.market.quarters or 0
    uneven = round(abs(median(shares) - 0.5), _DIGITS) if shares else 1.0
    return uneven, abs(quarters - FORMS[line.market.kind].centre), quarters
