"""The main line of a match's market: the line that most bookmakers list. Pure.

All bookmakers count, whichever of them are shown: those with live prices, or if there are none those with
collected prices. One company counts once, with its last confirmed bookmaker.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TypeAlias

from actors.core.messages import Match
from actors.markets.market import FORMS
from actors.markets.odds import scaled
from actors.matches.model import Fixture, Roster
from actors.matching.event import FixtureId

_DIGITS = 12
_Unevenness: TypeAlias = tuple[float, int, int]


class MainLines:
    """Chooses main lines; caches the unevenness of a line, by match, while the line does not change."""

    def __init__(self) -> None:
        self._known: dict[FixtureId, dict[FixtureId, tuple[Fixture, _Unevenness]]] = {}

    def of(self, match_id: FixtureId, lines: Sequence[Fixture], roster: Roster) -> Fixture | None:
        """Return the main line among all lines of a match, None if it has none.

        It is the line that most bookmakers list. Ties go to the most even line by the median of its prices,
        then to the nearest to 2.5 goals or to 0, then to the lower one.
        """
        known = self._known.pop(match_id, {})
        counted = [(line, _counted(line, roster, is_live=True)) for line in lines]
        if not any(matches for _, matches in counted):
            counted = [(line, _counted(line, roster, is_live=False)) for line in lines]
        most = max([len(matches) for _, matches in counted], default=0)
        tied = [(line, matches) for line, matches in counted if len(matches) == most]
        if len(tied) <= 1:
            return tied[0][0] if tied else None
        found: dict[FixtureId, tuple[Fixture, _Unevenness]] = {}
        for line, matches in tied:
            of_line = known.get(line.id)
            if of_line is None or of_line[0] is not line:
                of_line = line, _unevenness(line, matches)
            found[line.id] = of_line
        self._known[match_id] = found
        return min(found.values(), key=lambda each: each[1])[0]


def _counted(line: Fixture, roster: Roster, *, is_live: bool) -> list[Match]:
    return [
        entry.match
        for name, entry in zip(line.bookmakers, line.listed, strict=True)
        if name not in line.outdone and (not is_live or name in roster.live)
    ]


def _unevenness(line: Fixture, matches: Sequence[Match]) -> _Unevenness:
    shares = [scaled([1 / price for price in match.prices])[0] for match in matches]
    quarters = line.market.quarters or 0
    uneven = round(abs(median(shares) - 0.5), _DIGITS) if shares else 1.0
    return uneven, abs(quarters - FORMS[line.market.kind].centre), quarters
