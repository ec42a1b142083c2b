"""The rules that link two events, in order; the reasons against a link; and the resulting members.

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

CLOSE = 0.03  # prices are close up to this difference: half of `AGREE`
AGREE = 0.06  # prices agree up to this difference of any probability
OFF = 0.12  # prices are off above this difference
FAR = 0.25  # prices are far apart above this difference

MINUTE, HOUR, DAY = 60, 3600, 86_400
LONGEST = 4 * DAY  # longest delay between two kick-offs of one match
LONGEST_ALIKE = 30 * HOUR  # the longest delay, unless both names are the same
LONGEST_FUZZY = 5 * MINUTE  # the longest delay, if neither name is the same
UNKNOWN_APART = 3 * HOUR  # assumed delay between two unknown kick-offs
ON_TIME = 15 * MINUTE
SURE_WITHIN = 5 * MINUTE  # longest delay in a match on which a surebet may rest


class Rule(StrEnum):
    """Why an event is a member of its fixture; the conditions are in `CONDITIONS`."""

    FIRST = "first"  # the fixture's first member
    MUST = "must"  # a decision by the operator
    SAME = "same"  # the same names and league
    SAME_NAMES = "same_names"  # the same names, without proof of the same league
    MOVED = "moved"  # the same names, and a changed kick-off
    DAY_MOVED = "day_moved"
    ONE_ALIKE = "one_alike"  # one name is the same, the other similar
    ALIKE_MOVED = "alike_moved"
    BOTH_ALIKE = "both_alike"


class Certainty(StrEnum):
    """The certainty that two events are one match; for a member, together with its group's sure core."""

    SURE = "sure"  # the same names and league, within minutes
    LIKELY = "likely"


class Objection(StrEnum):
    """Why two similar events are not linked."""

    CLASS = "class"  # women, youth, reserves
    LEAGUE = "league"
    PRICES = "prices"
    KICK_OFF = "kick-off"
    NAME = "name"
    TWO_CANDIDATES = "two candidates"
    SWAPPED = "swapped"  # home and away are exchanged
    MUST_NOT = "must not"  # a decision by the operator
    MEMBER = "member"  # another member of the fixture contradicts it


class Member(Struct, frozen=True, gc=False):
    """An event in its group, with the rule and the evidence that link it with the event `to`.

    The link holds while both events' prices differ by at most `max_price_gap`, and while the prices of this
    event and of each member in `limits` differ by at most that limit. The links are the best of those that
    made the group; all lead to the first member, directly or through others. The first member has the rule
    `first` and no link. In the evidence this event is a, the other event is b.

    The sure core is the largest set of events in a group that are all sure with each other, compared
    directly. An event outside it has the `certainty` `likely`.
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


Group: TypeAlias = tuple[Member, ...]  # two or more members, sorted by key


class Condition(Struct, frozen=True, gc=False):
    """One way to satisfy a rule: the least evidence.

    `within_s` limits the distance of the kick-offs, `gap` the difference of known prices; with `priced`
    prices must be known. Only a condition with `any_league` tolerates different leagues. With `unlabelled`
    the labels must not suggest two competitions. With `stated` labels must name the league, instead of
    clubs suggesting it.
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
)  # all `within_s`, ascending
BONUS = {Rule.SAME: 1.0, Rule.SAME_NAMES: 1.0, Rule.MOVED: 0.5}  # added to the rank, by rule
_SAID = frozenset({LeagueEvidence.SAME, LeagueEvidence.CONCLUDED})
_STEPS = 10_000


def price_gap(a: Chances | None, b: Chances | None) -> float | None:
    """Return the distance of two events' prices, rounded up to four decimals; None if one has no prices.

    The result exceeds a limit of the conditions, which have fewer decimals, if and only if the distance
    does.
    """
    if a is None or b is None:
        return None
    return min(ceil(distance(a, b) * _STEPS - 1e-6), _STEPS) / _STEPS  # 1e-6 absorbs errors of floats


def distance(a: Chances, b: Chances) -> float:
    """Return the largest difference, over all outcomes, between two sets of probabilities."""
    gap: float = max(map(abs, map(sub, a, b)))
    return gap


class Relation(Struct, frozen=True, gc=False):
    """The relation of two descriptions, a and b.

    `bearable` is the largest price gap with which any condition can still hold, whatever else becomes
    known; -1 if none can. `reason` applies if no condition holds.
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
        """Return the first condition that holds with that price gap."""
        for condition in self.conditions:
            if (gap is None and not condition.priced) or (gap is not None and gap <= condition.gap):
                return condition
        return None

    def bears(self, gap: float | None) -> bool:
        """Return whether the two descriptions may be one match, even if no condition holds."""
        return self.bearable >= (gap or 0.0)

    @property
    def certainty(self) -> Certainty:
        """The certainty that the two are one match, independent of other events."""
        is_same = min(self.home.likeness, self.away.likeness) is Likeness.SAME
        is_on_time = abs(self.delta_s) <= SURE_WITHIN
        is_sure = self.conditions and is_same and is_on_time and self.league is LeagueEvidence.SAME
        return Certainty.SURE if is_sure else Certainty.LIKELY


@lru_cache(maxsize=1 << 12)
def open_to(
    better: Likeness, worse: Likeness, within_s: int, league: LeagueEvidence, country: int
) -> tuple[tuple[Condition, ...], float]:
    """Return the conditions that hold apart from prices, and the largest price gap that any could bear.

    The gap includes conditions that would hold if unknown leagues and countries proved equal; it is -1 if
    there are no conditions. `within_s` is one of `LIMITS`.
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
    """Return which evidence, except prices, is missing for the condition; empty if nothing is missing."""
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
    """Return the rank of one match without prices; higher is more likely. `far` is in seconds."""
    known = (league in _SAID) - (league is LeagueEvidence.DIFFERENT)
    return home.similarity + away.similarity - far / DAY / 2 + 0.3 * known + 0.1 * country


def rules_of(members: Iterable[Member]) -> set[tuple[object, ...]]:
    """Return each member's key, rule, whether it has evidence, certainty and limits, but not its `to`.

    Two groups of the same events count as different if these values differ. `to` is left out, because the
    choice among equal links depends on current prices, and each of these links holds.
    """
    return {
        (member.key, member.rule, member.evidence is None, member.certainty, tuple(member.limits.items()))
        for member in members
    }
