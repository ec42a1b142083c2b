"""A market is a question about one match, such as its result, or whether it has more than 2.5 goals.

Pure values. Goals are those of 90 minutes and stoppage time. The line of a handicap is added to the home
team's goals; the away team's opposite line is never named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

QUARTERS: Final = 4
"""The units of a line: quarters of a goal."""
_LINE = re.compile(r"[+-]?[0-9]{1,3}(\.[0-9]{1,4})?", re.ASCII)

Margin = Callable[[int, int, int], int]
"""Takes home goals, away goals and a line; returns by how much an outcome is won, in quarters of a goal.

Half a goal or more is won, a quarter is half won, nothing is returned; negative margins are lost likewise.
"""


class Kind(StrEnum):
    """A kind of market; some kinds are offered on several lines."""

    ONE_X_TWO = "1x2"
    OVER_UNDER = "over_under"
    ASIAN_HANDICAP = "asian_handicap"
    BTTS = "btts"
    DOUBLE_CHANCE = "double_chance"


class Form(Struct, frozen=True):
    """The outcomes of a kind in order, each with its margin; `lines` is their range, in quarters.

    `winners` is the number of outcomes that are won together. Among equally even lines the line nearest to
    `centre` (in quarters) is the main line. With `count_from_now` many bookmakers ignore goals before a bet
    in play.
    """

    outcomes: Mapping[str, Margin]
    lines: tuple[int, int] | None = None
    winners: int = 1
    centre: int = 0
    count_from_now: bool = False


def _if(is_won: Callable[[int, int], bool]) -> Margin:
    """Return the margin of an outcome without a line, which is won or lost."""
    return lambda home, away, _: QUARTERS if is_won(home, away) else -QUARTERS


FORMS: Final[Mapping[Kind, Form]] = {
    Kind.ONE_X_TWO: Form(
        {
            "1": _if(lambda home, away: home > away),
            "X": _if(lambda home, away: home == away),
            "2": _if(lambda home, away: home < away),
        }
    ),
    Kind.OVER_UNDER: Form(
        {
            "over": lambda home, away, line: QUARTERS * (home + away) - line,
            "under": lambda home, away, line: line - QUARTERS * (home + away),
        },
        lines=(1, 80),
        centre=10,
    ),
    Kind.ASIAN_HANDICAP: Form(
        {
            "home": lambda home, away, line: QUARTERS * (home - away) + line,
            "away": lambda home, away, line: QUARTERS * (away - home) - line,
        },
        lines=(-40, 40),
        count_from_now=True,
    ),
    Kind.BTTS: Form(
        {
            "yes": _if(lambda home, away: home > 0 and away > 0),
            "no": _if(lambda home, away: home == 0 or away == 0),
        }
    ),
    Kind.DOUBLE_CHANCE: Form(
        {
            "1X": _if(lambda home, away: home >= away),
            "12": _if(lambda home, away: home != away),
            "X2": _if(lambda home, away: home <= away),
        },
        winners=2,
    ),
}
"""The only definition of each kind: a new kind is a row here."""

OUTCOMES: Final = {kind: tuple(form.outcomes) for kind, form in FORMS.items()}
"""The names of the outcomes of each kind, in their order."""


class Market(Struct, frozen=True, order=True, gc=False):
    """A kind and, where it has lines, the line in quarters of a goal."""

    kind: Kind
    quarters: int | None = None

    @property
    def line(self) -> float | None:
        """The line in goals."""
        return None if self.quarters is None else self.quarters / QUARTERS

    @property
    def outcomes(self) -> tuple[str, ...]:
        """The names of its outcomes, in their order."""
        return OUTCOMES[self.kind]

    @property
    def is_possible(self) -> bool:
        """Whether its line is one of its kind's, or absent where the kind has no lines."""
        lines = FORMS[self.kind].lines
        if lines is None or self.quarters is None:
            return lines is None and self.quarters is None
        return lines[0] <= self.quarters <= lines[1]

    @property
    def winners(self) -> int:
        """The number of its outcomes that are won together."""
        return FORMS[self.kind].winners

    def __str__(self) -> str:
        """Return its only spelling, such as `1x2` or `asian_handicap:-0.75`."""
        return self.kind if self.quarters is None else f"{self.kind}:{self.quarters / QUARTERS:g}"


ONE_X_TWO: Final = Market(Kind.ONE_X_TWO)


def may_return(market: Market) -> bool:
    """Return whether the stake, or half of it, may come back: on all lines except half goals."""
    return market.quarters is not None and market.quarters % QUARTERS != QUARTERS // 2


def market_of(kind: Kind, line: float | None = None) -> Market:
    """Return the market of a kind on a line (goals). Raises: ValueError that says the allowed lines."""
    lines = FORMS[kind].lines
    if lines is None or line is None:
        if lines is not None:
            raise ValueError(f"{kind} needs a line, as in {kind}:{lines[1] / QUARTERS / 2:g}")
        if line is not None:
            raise ValueError(f"{kind} has no line")
        return Market(kind)
    quarters = line * QUARTERS
    if not lines[0] <= quarters <= lines[1] or quarters != int(quarters):
        least, most = (end / QUARTERS for end in lines)
        raise ValueError(
            f"the line of {kind} was {line:g}, must be a multiple of 0.25 from {least:g} to {most:g}"
        )
    return Market(kind, int(quarters))


def parsed(text: str) -> Market:
    """Return the market of a spelling. Raises: ValueError with the right spelling or allowed values."""
    name, colon, line = text.partition(":")
    if name not in {*Kind}:
        raise ValueError(f"was {text[:64]!r}, must be {', '.join(map(_spelling, Kind))}")
    if colon and not _LINE.fullmatch(line):
        raise ValueError(f"the line of {name} was {line[:64]!r}, must be a number like 2.5")
    found = market_of(Kind(name), float(line) if colon else None)
    if str(found) != text:
        raise ValueError(f"was {text[:64]!r}, must be spelled {found}")
    return found


def _spelling(kind: Kind) -> str:
    return kind if FORMS[kind].lines is None else f"{kind}:LINE"
