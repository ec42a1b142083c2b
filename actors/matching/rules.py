"""The rules by which two events are linked, in order, the reasons why they are not, and what they link.

Pure. Names are judged by the better and the worse of the two sides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from math import ceil, inf
from operator import sub
from typing import TypeAlias

from msgspec import Struct

from actors.matching.event import Chances, EventKey
from actors.matching.evidence import Evidence, LeagueEvidence, Likeness, NameEvidence

CLOSE = 0.03  # prices are close: half of what makes them agree
AGREE = 0.06  # prices agree: the largest difference of the three probabilities
OFF = 0.12  # more than that: they are off
FAR = 0.25  # more than that: they are far apart

MINUTE, HOUR, DAY = 60, 3600, 86_400
LONGEST = 4 * DAY  # between two kick-offs of one match
LONGEST_ALIKE = 30 * HOUR  # the same, unless both names are the same
LONGEST_FUZZY = 5 * MINUTE  # the same, if no name is the same
UNKNOWN_APART = 3 * HOUR  # assumed between two kick-offs that are both unknown
ON_TIME = 15 * MINUTE
SURE_WITHIN = 5 * MINUTE  # between two kick-offs of a match on which a surebet may rest


class Rule(StrEnum):
    """Why an event is a member of its fixture; the conditions are in `CONDITIONS`."""

    FIRST = "first"  # the fixture's first member
    MUST = "must"  # the operator says so
    SAME = "same"  # the same names and league
    SAME_NAMES = "same_names"  # the same names, the league is not known to be the same
    MOVED = "moved"  # the same names, the kick-off was moved
    DAY_MOVED = "day_moved"
    ONE_ALIKE = "one_alike"  # one name is the same, one alike
    ALIKE_MOVED = "alike_moved"
    BOTH_ALIKE = "both_alike"


class Certainty(StrEnum):
    """How sure it is that two events are one match, or one event with each of its group's sure core."""

    SURE = "sure"  # the same names and league, at one minute
    LIKELY = "likely"


class Objection(StrEnum):
    """Why two events that resemble each other are not linked."""

    CLASS = "class"  # women, youth, reserves
    LEAGUE = "league"
    PRICES = "prices"
    KICK_OFF = "kick-off"
    NAME = "name"
    TWO_CANDIDATES = "two candidates"
    SWAPPED = "swapped"  # home and away are the other way round
    MUST_NOT = "must not"  # the operator says so
    MEMBER = "member"  # another member of the fixture speaks against it


class Member(Struct, frozen=True, gc=False):
    """An event in its group, with the rule and the evidence that link it with the event `to`.

    The link holds while their prices are at most `max_price_gap` apart, and while those of this event and
    of each member in `limits` are at most so far apart. The links are those that made the group, the best
    first; all lead to the first member, perhaps through others. That has the rule `first` and no link. In
    the evidence this event is a, the other b.

    The sure core are the most events of a group of which each is sure with each other, compared directly:
    `certainty` is that with all of them, `likely` of an event that is not in it.
    """

    key: EventKey
    rule: Rule
    to: EventKey | None = None
    evidence: Evidence | None = None
    max_price_gap: float = inf
    certainty: Certainty = Certainty.SURE
    limits: Mapping[EventKey, float] = {}

    def __hash__(self) -> int:
        return hash(self.key)


Group: TypeAlias = tuple[Member, ...]  # two or more members, ordered by key


class Condition(Struct, frozen=True, gc=False):
    """One way in which a rule holds: what the evidence must be at least.

    `within_s` is between the kick-offs; prices that are known may differ by `gap`, and with `priced` they
    must be known. A different league is tolerated only by a condition with `any_league`; with `unlabelled`
    no two labels that may mean two competitions are; with `stated` labels say the league, not clubs.
    """

    rule: Rule
    better: Likeness
    worse: Likeness
    within_s: int
    gap: float
    same_league: bool = False
    stated: bool = False
    same_country: bool = False
    unlabelled: bool = False
    priced: bool = False
    any_league: bool = False


_SAME, _NEAR, _ALIKE = Likeness.SAME, Likeness.NEAR, Likeness.ALIKE
CONDITIONS = (
    Condition(Rule.SAME, _SAME, _SAME, 15 * MINUTE, inf, same_league=True, stated=True),
    Condition(Rule.SAME_NAMES, _SAME, _SAME, 15 * MINUTE, FAR, unlabelled=True),
    Condition(Rule.SAME_NAMES, _SAME, _SAME, 2 * MINUTE, AGREE, any_league=True, priced=True),
    Condition(Rule.MOVED, _SAME, _SAME, 3 * HOUR, FAR, same_league=True),
    Condition(Rule.MOVED, _SAME, _SAME, 3 * HOUR, AGREE, unlabelled=True, priced=True),
    Condition(Rule.DAY_MOVED, _SAME, _SAME, LONGEST, FAR, same_league=True),
    Condition(Rule.ONE_ALIKE, _SAME, _ALIKE, 15 * MINUTE, FAR, same_league=True),
    Condition(Rule.ONE_ALIKE, _SAME, _NEAR, 15 * MINUTE, OFF, unlabelled=True),
    Condition(Rule.ONE_ALIKE, _SAME, _ALIKE, 15 * MINUTE, OFF, same_country=True, unlabelled=True),
    Condition(Rule.ONE_ALIKE, _SAME, _ALIKE, 15 * MINUTE, AGREE, priced=True),
    Condition(Rule.ALIKE_MOVED, _SAME, _NEAR, LONGEST_ALIKE, OFF, same_league=True),
    Condition(Rule.ALIKE_MOVED, _SAME, _ALIKE, LONGEST_ALIKE, AGREE, same_league=True, priced=True),
    Condition(Rule.BOTH_ALIKE, _ALIKE, _ALIKE, LONGEST_FUZZY, OFF, same_league=True),
    Condition(Rule.BOTH_ALIKE, _ALIKE, _ALIKE, LONGEST_FUZZY, AGREE, same_country=True, priced=True),
    Condition(Rule.BOTH_ALIKE, _NEAR, _NEAR, LONGEST_FUZZY, AGREE, priced=True),
    Condition(Rule.BOTH_ALIKE, _NEAR, _ALIKE, LONGEST_FUZZY, CLOSE, priced=True),
)
LIMITS = (
    2 * MINUTE,
    5 * MINUTE,
    15 * MINUTE,
    3 * HOUR,
    30 * HOUR,
    LONGEST,
)  # all within_s, ascending
BONUS = {Rule.SAME: 1.0, Rule.SAME_NAMES: 1.0, Rule.MOVED: 0.5}  # to the rank, by rule
_SAID = frozenset({LeagueEvidence.SAME, LeagueEvidence.CONCLUDED})
_STEPS = 10_000


def price_gap(a: Chances | None, b: Chances | None) -> float | None:
    """Return the distance of two events' prices, rounded up to four decimals; None if one has no prices.

    It is above a limit of the conditions, which have fewer decimals, if and only if the distance is.
    """
    if a is None or b is None:
        return None
    return min(ceil(distance(a, b) * _STEPS - 1e-6), _STEPS) / _STEPS  # the rest is an error of floats


def distance(a: Chances, b: Chances) -> float:
    """Return the largest difference of the probabilities of an outcome."""
    gap: float = max(map(abs, map(sub, a, b)))
    return gap


class Relation(Struct, frozen=True, gc=False):
    """The relation of two descriptions, a and b.

    With prices further apart than `bearable` no condition can hold, whatever else becomes known; -1 if
    none can anyway. `reason` applies if no condition holds.
    """

    conditions: tuple[Condition, ...]
    bearable: float
    rank: float
    reason: Objection
    home: NameEvidence
    away: NameEvidence
    delta_s: int
    league: LeagueEvidence
    country: int

    def condition(self, gap: float | None) -> Condition | None:
        """Return the first condition that holds with that difference of prices."""
        for condition in self.conditions:
            if (gap is None and not condition.priced) or (gap is not None and gap <= condition.gap):
                return condition
        return None

    def bears(self, gap: float | None) -> bool:
        """Return whether the two may be one match, although perhaps nothing shows it."""
        return self.bearable >= (gap or 0.0)

    @property
    def certainty(self) -> Certainty:
        """How sure it is that the two are one match, whatever other events say."""
        is_same = min(self.home.likeness, self.away.likeness) is Likeness.SAME
        is_on_time = abs(self.delta_s) <= SURE_WITHIN
        is_sure = self.conditions and is_same and is_on_time and self.league is LeagueEvidence.SAME
        return Certainty.SURE if is_sure else Certainty.LIKELY


@lru_cache(maxsize=1 << 12)
def open_to(
    better: Likeness, worse: Likeness, within_s: int, league: LeagueEvidence, country: int
) -> tuple[tuple[Condition, ...], float]:
    """Return the conditions that hold but for prices, and the largest gap of prices that any could bear.

    The gap counts conditions that hold once unknown leagues and countries prove the same; -1 if none.
    `within_s` is one of `LIMITS`.
    """
    hoped = league if league is LeagueEvidence.DIFFERENT else LeagueEvidence.SAME
    ways = tuple(
        condition
        for condition in CONDITIONS
        if not lacks(condition, better, worse, within_s, league, country)
    )
    could = [
        condition.gap
        for condition in CONDITIONS
        if not lacks(condition, better, worse, within_s, hoped, country or 1)
    ]
    return ways, max(could, default=-1.0)


def lacks(  # noqa: PLR0917
    condition: Condition,
    better: Likeness,
    worse: Likeness,
    delta_s: float,
    league: LeagueEvidence,
    country: int,
) -> str:
    """Return what the evidence without prices lacks for the condition, empty if nothing."""
    if better < condition.better or worse < condition.worse:
        return "name"
    if delta_s > condition.within_s:
        return "kick-off"
    if league is LeagueEvidence.DIFFERENT and not (condition.any_league and country >= 0):
        return "league"
    is_same = league is LeagueEvidence.SAME or (league is LeagueEvidence.CONCLUDED and not condition.stated)
    if (condition.same_league and not is_same) or (condition.same_country and country < 1):
        return "league"
    return "league" if condition.unlabelled and league is LeagueEvidence.UNCLEAR else ""


def rank_of(
    home: NameEvidence, away: NameEvidence, far: int, league: LeagueEvidence, country: int
) -> float:
    """Return how much speaks for one match, without prices; the larger, the more. `far` is in seconds."""
    known = (league in _SAID) - (league is LeagueEvidence.DIFFERENT)
    return home.similarity + away.similarity - far / DAY / 2 + 0.3 * known + 0.1 * country


def rules_of(members: Iterable[Member]) -> set[tuple[object, ...]]:
    """Return each member's key, rule, whether it has evidence, certainty and limits, but not its `to`.

    Two groups of the same events differ in these. The choice of one of several equal links depends on the
    prices of the moment; each holds by itself.
    """
    return {
        (member.key, member.rule, member.evidence is None, member.certainty, tuple(member.limits.items()))
        for member in members
    }
