"""Rules of alerts: the tables [[alert]] of a configuration, their checks, and each as a sentence.

Pure values. docs/rules.md has an example of each kind; `transitions.py` defines when a rule fires.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from msgspec import Meta, Struct

from actors.core.messages import BookmakerId
from actors.core.nearest import did_you_mean
from actors.markets.market import ONE_X_TWO, OUTCOMES, Kind, Market, parsed

Seconds = Annotated[float, Meta(ge=0, le=86_400)]
Text = Annotated[str, Meta(min_length=1, max_length=128)]
Id = Annotated[
    str,
    Meta(pattern=r"\A[a-z0-9_-]{1,32}\Z", title="text of 1 to 32 of a-z, 0-9, '-' and '_'"),
]
Odds = Annotated[float, Meta(gt=1, le=10_000, title="decimal odds, a number above 1, like 2.5")]
Points = Annotated[
    float, Meta(gt=0, le=100, title="percentage points, a number above 0 and at most 100, like 2.5")
]
Share = Annotated[float, Meta(ge=0, le=1, title="a number from 0 to 1, where 0.01 is 1 %")]
Margin = Annotated[float, Meta(ge=0, le=10_000)]
Window = Annotated[float, Meta(gt=0, le=3600)]
Before = Annotated[float, Meta(gt=0, le=604_800)]


class Limit(Struct, frozen=True):
    """A threshold, and the value from which the condition does not hold again.

    A condition holds from `on` on, upwards if it `is_above`, otherwise downwards. It does not hold beyond
    `off` in the other direction. Between the two it stays as it was.
    """

    on: float
    off: float
    is_above: bool = True

    def holds(self, value: float | None) -> bool:
        """Return whether the condition holds; without a value it does not."""
        return value is not None and (value >= self.on if self.is_above else value <= self.on)

    def is_off(self, value: float | None) -> bool:
        """Return whether the condition does not hold by the hysteresis."""
        return value is None or (value < self.off if self.is_above else value > self.off)


class _Rule(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The keys of every rule."""

    may_wait: ClassVar[bool] = True
    can_end: ClassVar[bool] = True

    name: Id
    to: Annotated[tuple[Id, ...], Meta(min_length=1)]
    cooldown_s: Seconds = 0.0


class _Match(_Rule, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A rule about matches; without `team` and `league` about all of them."""

    team: Text | None = None
    league: Text | None = None


class _Priced(_Match, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A rule about prices; a `market` that is a kind with lines means each of its lines."""

    market: Text = str(ONE_X_TWO)
    for_s: Seconds = 0.0
    hysteresis: Margin | None = None

    @property
    def kind(self) -> Kind:
        """The kind of the rule's market."""
        return Kind(self.market.partition(":")[0])

    @property
    def is_of_line(self) -> bool:
        """Whether the rule is about one line of a kind that has several."""
        return ":" in self.market

    def _limit(self, on: float, usual: float, *, is_above: bool = True) -> Limit:
        by = usual if self.hysteresis is None else self.hysteresis
        return Limit(on, on - by if is_above else on + by, is_above)


class PriceRule(_Priced, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A bookmaker's price of an outcome reaches `above`, or falls to `below`."""

    when: Literal["price"] = "price"
    bookmaker: Text | None = None
    outcome: Text | None = None
    in_play: bool | None = None
    above: Odds | None = None
    below: Odds | None = None

    @property
    def limit(self) -> Limit:
        """The limit of the price; the usual hysteresis is a hundredth of it."""
        if self.above is not None:
            return self._limit(self.above, self.above / 100)
        below = self.below or 1.0
        return self._limit(below, below / 100, is_above=False)


class MoveRule(_Priced, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The fair probability of an outcome moves by `min_move` percentage points within `window_s`."""

    can_end: ClassVar[bool] = False

    when: Literal["move"] = "move"
    outcome: Text | None = None
    in_play: bool | None = None
    min_move: Points
    window_s: Window = 60.0

    @property
    def limit(self) -> Limit:
        """The limit of the move as a probability; the usual hysteresis is half of it."""
        by = self.min_move / 2 if self.hysteresis is None else self.hysteresis
        return Limit(self.min_move / 100, (self.min_move - by) / 100)


class SurebetRule(_Priced, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A surebet that the board believes has a profit of `min_profit` or more."""

    when: Literal["surebet"] = "surebet"
    bookmaker: Text | None = None
    min_profit: Share = 0.0

    @property
    def limit(self) -> Limit:
        """The limit of the profit; the usual hysteresis is a tenth of it."""
        return self._limit(self.min_profit, self.min_profit / 10)


class ValueRule(_Priced, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A price has an expected value of `min_ev` or more, by the consensus of the others or a reference."""

    when: Literal["value"] = "value"
    bookmaker: Text | None = None
    outcome: Text | None = None
    min_ev: Share
    reference: Text | None = None

    @property
    def limit(self) -> Limit:
        """The limit of the expected value; the usual hysteresis is a tenth of it."""
        return self._limit(self.min_ev, self.min_ev / 10)


class KickoffRule(_Match, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A match begins in `before_s`."""

    may_wait: ClassVar[bool] = False
    can_end: ClassVar[bool] = False

    when: Literal["kickoff"] = "kickoff"
    before_s: Before


class SourceRule(_Rule, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A source fails, or prices of it are withdrawn."""

    when: Literal["source"] = "source"
    source: Id | None = None
    for_s: Seconds = 0.0


class LinkRule(_Rule, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The file of links cannot be used."""

    when: Literal["link"] = "link"
    for_s: Seconds = 0.0


PricedRule: TypeAlias = PriceRule | MoveRule | SurebetRule | ValueRule
MatchRule: TypeAlias = PricedRule | KickoffRule
Rule: TypeAlias = MatchRule | SourceRule | LinkRule

RULES: Final[Mapping[str, type[Rule]]] = {
    "price": PriceRule,
    "move": MoveRule,
    "surebet": SurebetRule,
    "value": ValueRule,
    "kickoff": KickoffRule,
    "source": SourceRule,
    "link": LinkRule,
}


def waits_s(rule: Rule) -> float:
    """Return for how long (seconds) the condition of a rule must hold before it fires."""
    return 0.0 if isinstance(rule, KickoffRule) else rule.for_s


def faults(rule: Rule, bookmakers: Collection[BookmakerId], sources: Collection[str]) -> Iterator[str]:
    """Yield each fault that a single key does not show, beginning with the key."""
    if isinstance(rule, SourceRule) and rule.source is not None and rule.source not in sources:
        yield f"source {_is_not(rule.source, sources)}"
    if isinstance(rule, PriceRule) and (rule.above is None) == (rule.below is None):
        found = "is missing" if rule.above is None else f"was {rule.above:g} beside below = {rule.below:g}"
        yield f"above {found}, must be given, or below, but not both"
    if not isinstance(rule, PriceRule | MoveRule | SurebetRule | ValueRule):
        return
    bookmaker = None if isinstance(rule, MoveRule) else rule.bookmaker
    if bookmaker is not None and bookmaker not in bookmakers:
        yield f"bookmaker {_is_not(bookmaker, bookmakers)}"
    if isinstance(rule, ValueRule) and rule.reference is not None and rule.reference not in bookmakers:
        yield f"reference {_is_not(rule.reference, bookmakers)}"
    try:
        kind = Kind(rule.market) if rule.market in {*Kind} else parsed(rule.market).kind
    except ValueError as error:
        yield f"market {error}; a kind alone means each of its lines"
        return
    outcome = None if isinstance(rule, SurebetRule) else rule.outcome
    if outcome is not None and outcome not in OUTCOMES[kind]:
        yield f"outcome {_is_not(outcome, OUTCOMES[kind])}"
    by = rule.hysteresis or 0.0
    if isinstance(rule, MoveRule) and by > rule.min_move:
        yield f"hysteresis was {by:g}, must be at most min_move ({rule.min_move:g})"
    if isinstance(rule, PriceRule) and rule.above is not None and by >= rule.above - 1:
        yield f"hysteresis was {by:g}, must be below {rule.above - 1:g}: no price is 1 or less"


def _is_not(found: str, known: Collection[str]) -> str:
    return f"was {found!r}, must be one of {', '.join(known)}{did_you_mean(found, known)}"


def sentence(rule: Rule) -> str:
    """Return a rule's name, and the rule as one English sentence, without a full stop."""
    parts = [f"alert {rule.name}: tells {' and '.join(rule.to)} when {_condition(rule)}"]
    if (for_s := waits_s(rule)) > 0:
        parts.append(f"and that holds for {for_s:g} s")
    if isinstance(rule, PriceRule | SurebetRule | ValueRule):
        parts.append(f"and again only after it was {_beyond(rule)}")
    if rule.cooldown_s:
        parts.append(f"but at most once in {rule.cooldown_s:g} s about the same {_subject(rule)}")
    return ", ".join(parts)


def _condition(rule: Rule) -> str:
    match rule:
        case PriceRule():
            reaches = f"reaches {rule.above:g}" if rule.above is not None else f"falls to {rule.below:g}"
            return f"a price of {_priced(rule)} {reaches}{_matches(rule)}"
        case MoveRule():
            moved = f"moves by {rule.min_move:g} percentage points within {rule.window_s:g} s"
            return f"the fair probability of {_priced(rule)} {moved}{_matches(rule)}"
        case SurebetRule():
            at = "" if rule.bookmaker is None else f" with a bet at {rule.bookmaker}"
            gains = f"gains {100 * rule.min_profit:g} % or more"
            return f"a surebet in {rule.market}{at} {gains}{_matches(rule)}"
        case ValueRule():
            against = "the other bookmakers" if rule.reference is None else rule.reference
            value = f"an expected value of {100 * rule.min_ev:g} % or more against {against}"
            return f"a price of {_priced(rule)} has {value}{_matches(rule)}"
        case KickoffRule():
            return f"a match begins in {rule.before_s:g} s{_matches(rule)}"
        case SourceRule() | LinkRule():
            return _trouble(rule)


def _trouble(rule: SourceRule | LinkRule) -> str:
    if isinstance(rule, LinkRule):
        return "the file of links cannot be used"
    return f"{'a source' if rule.source is None else f'source {rule.source}'} fails or loses prices"


def _priced(rule: PriceRule | MoveRule | ValueRule) -> str:
    outcome = "any outcome" if rule.outcome is None else rule.outcome
    at = "" if isinstance(rule, MoveRule) or rule.bookmaker is None else f" at {rule.bookmaker}"
    return f"{outcome} in {rule.market}{at}"


def _matches(rule: MatchRule) -> str:
    where = "" if rule.team is None else f" of {rule.team}"
    where += "" if rule.league is None else f" in {rule.league}"
    if isinstance(rule, PriceRule | MoveRule) and rule.in_play is not None:
        where += " in play" if rule.in_play else " before the kick-off"
    return f", in matches{where}" if where else ""


def _beyond(rule: PriceRule | SurebetRule | ValueRule) -> str:
    limit = rule.limit
    if isinstance(rule, PriceRule):
        return f"{'below' if limit.is_above else 'above'} {limit.off:g}"
    return f"below {100 * limit.off:g} %" if limit.off > 0 else "gone"


def _subject(rule: Rule) -> str:
    match rule:
        case PriceRule() | ValueRule():
            return "price"
        case MoveRule():
            return "outcome"
        case SurebetRule() | KickoffRule():
            return "match"
        case SourceRule():
            return "source"
        case LinkRule():
            return "trouble"


def is_about(rule: PricedRule, market: Market) -> bool:
    """Return whether a rule is about a market."""
    return str(market) == rule.market or (not rule.is_of_line and market.kind is rule.kind)
