"""The record of values: the first price of each flag, judged by the consensus at the close.

Pure. The past has no confirmations: a price counts while it is on the board, and among a company's prices
the price counts that changed last. Commissions and companies are those of today; fees are not kept.
docs/archive.md has the definitions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from math import fsum, sqrt
from typing import Final

from msgspec import Struct

from actors.core.messages import BookmakerId
from actors.lines.closing import NoClose
from actors.lines.clv import clv_of
from actors.lines.consensus import NoConsensus, Past, Then, counting, states
from actors.markets.market import Market
from actors.markets.odds import Odds, of_all_winners, of_one_winner
from actors.matches.fair import (
    MIN_BOOKMAKERS,
    Quote,
    consensus,
    fair,
    may_be_overpriced,
    medians_of_others,
)
from actors.matches.model import FixtureSettings
from actors.matches.surebets import doubted_legs
from actors.matching.event import Chances, FixtureId
from actors.matching.rules import OFF, distance
from actors.value.values import expected_value

MINUTE_S, HOUR_S = 60.0, 3600.0


class Age(StrEnum):
    """For how long a price had stood when it was flagged."""

    NEW = "under_1_min"
    MINUTES = "1_to_10_min"
    LONGER = "10_to_60_min"
    HOURS = "over_1_h"


_UNTIL_S: Final = {Age.NEW: MINUTE_S, Age.MINUTES: 10 * MINUTE_S, Age.LONGER: HOUR_S}


class FlagTerms(Struct, frozen=True):
    """A market, the least expected value of a flag, and today's bookmakers and rules."""

    market: Market
    min_ev: float
    settings: FixtureSettings


class Flag(Struct, frozen=True, gc=False):
    """The first price of an outcome at a bookmaker with value; a won stake of 1 returns `net`."""

    bookmaker: BookmakerId
    outcome: int
    at_ms: int
    odds: float
    net: float
    expected: float
    age: Age


class Judged(Struct, frozen=True, gc=False):
    """A flag of a fixture with its closing line value, or the reason why it has none."""

    fixture: FixtureId
    kick_off: int
    market: Market
    flag: Flag
    clv: float | None = None
    reason: str | None = None


def flags_of(past: Past, until: tuple[int, int], terms: FlagTerms) -> list[Flag]:
    """Return the flags of a fixture's market before a version and a time (Unix milliseconds), by time.

    Each outcome is flagged at most once at each bookmaker.
    """
    cut, kick_off_ms = until
    found: dict[tuple[BookmakerId, int], Flag] = {}
    for version, at_ms, then in states(past, cut - 1):
        if version >= cut or at_ms >= kick_off_ms:
            break
        if then.gap is None and (prices := _prices(then, terms.settings)):
            for flag in _flags_at(prices, then, at_ms, (terms, found)):
                found[flag.bookmaker, flag.outcome] = flag
    return [*found.values()]


def judged(
    flag: Flag, market: Market, others: Sequence[Chances], why_none: str
) -> tuple[float | None, str | None]:
    """Return the closing line value of a flag, or the reason why there is none.

    `others` are the fair chances of the other companies that count at the close.
    """
    chances = consensus(others)
    if chances is None:
        return None, why_none
    return clv_of(of_all_winners(market, chances)[flag.outcome], flag.net), None


def why_none(closes: Iterable[NoClose | None], absent: NoConsensus | None) -> str:
    """Return why there is no closing consensus: the reason that all entries share, if any."""
    reasons = {*closes}
    common = next(iter(reasons)) if len(reasons) == 1 else None
    return common or absent or NoConsensus.TOO_FEW


def company_of(name: BookmakerId, settings: FixtureSettings) -> str:
    """Return a bookmaker's company today; its own id if it is no longer configured."""
    return settings.roster[name].company if name in settings.roster else name


class Group(Struct, frozen=True):
    """Some flags: their number, the means of the `judged`, and the reasons of the other flags.

    The standard error is the error of the mean closing line value, and counts flags of one match together.
    """

    flags: int
    judged: int
    matches: int
    mean_ev: float | None
    mean_clv: float | None
    standard_error: float | None
    unjudged: Mapping[str, int]


def grouped(found: Iterable[Judged], by: Callable[[Judged], str]) -> dict[str, Group]:
    """Return groups of judged flags by a key, in the order of keys."""
    groups: dict[str, list[Judged]] = {}
    for each in found:
        groups.setdefault(by(each), []).append(each)
    return {key: group_of(groups[key]) for key in sorted(groups)}


def group_of(found: Sequence[Judged]) -> Group:
    """Return the means of some flags."""
    values = [(each.fixture, each.clv) for each in found if each.clv is not None]
    expected = [each.flag.expected for each in found if each.clv is not None]
    mean, error = mean_by_match(values)
    return Group(
        len(found),
        len(values),
        len({fixture for fixture, _ in values}),
        fsum(expected) / len(expected) if expected else None,
        mean,
        error,
        dict(sorted(Counter(each.reason for each in found if each.reason is not None).items())),
    )


def mean_by_match(values: Sequence[tuple[str, float]]) -> tuple[float | None, float | None]:
    """Return the mean of values, each of a match, and its standard error; None without enough matches.

    Values of one match go together: with G matches and N values the error is the root of G / (G - 1) x the
    sum over the matches of (sum of value - mean)^2, divided by N (Liang and Zeger, Biometrika 73, 1986).
    With one value a match it is the usual standard error.
    """
    if not values:
        return None, None
    mean = fsum(value for _, value in values) / len(values)
    by_match: dict[str, float] = {}
    for match, value in values:
        by_match[match] = by_match.get(match, 0.0) + (value - mean)
    if (count := len(by_match)) == 1:
        return mean, None
    squares = fsum(total * total for total in by_match.values())
    return mean, sqrt(squares * count / (count - 1)) / len(values)


def _prices(then: Then, settings: FixtureSettings) -> dict[BookmakerId, tuple[str, Odds]]:
    """Return the prices that count, each with its entry: of a company the price that changed last."""
    newest: dict[str, str] = {}
    counted = counting(then.odds, then.links, then.bookmakers) or {}
    names = {entry_id: BookmakerId(entry_id.partition("_")[0]) for entry_id in counted}
    for entry_id, name in names.items():
        company = company_of(name, settings)
        if company not in newest or then.since_ms[entry_id] > then.since_ms[newest[company]]:
            newest[company] = entry_id
    return {names[entry_id]: (entry_id, counted[entry_id]) for entry_id in newest.values()}


def _flags_at(
    prices: Mapping[BookmakerId, tuple[str, Odds]],
    then: Then,
    at_ms: int,
    about: tuple[FlagTerms, Mapping[tuple[BookmakerId, int], Flag]],
) -> Iterator[Flag]:
    terms, known = about
    market, settings, quotes = terms.market, terms.settings, dict[BookmakerId, Quote]()
    for name, (_, odds) in prices.items():
        converted = of_one_winner(market, odds)
        quotes[name] = Quote(converted, fair(settings.method, converted))
    if not _may_flag(quotes, known, terms):
        return
    wrong = doubted_legs(quotes, settings.surebets, market)
    for name, chances in medians_of_others(quotes, MIN_BOOKMAKERS).items():
        if name in wrong or distance(quotes[name].chances, chances) > OFF:
            continue
        commission = settings.roster[name].commission if name in settings.roster else 0.0
        entry_id, odds = prices[name]
        for outcome, chance in enumerate(of_all_winners(market, chances)):
            net = 1 + (odds[outcome] - 1) * (1 - commission)
            expected = expected_value(chance, net)
            if (name, outcome) not in known and expected > 0 and expected >= terms.min_ev:
                age = _age((at_ms - then.since_ms[entry_id]) / 1000)
                yield Flag(name, outcome, at_ms, odds[outcome], net, expected, age)


def _may_flag(
    quotes: Mapping[BookmakerId, Quote],
    known: Mapping[tuple[BookmakerId, int], Flag],
    terms: FlagTerms,
) -> bool:
    """Return whether a price that was not flagged yet can have value; this check is fast."""
    if terms.market.winners > 1:
        return True
    outcomes = range(len(terms.market.outcomes))
    highest = [
        max([1.0, *[quote.prices[at] for name, quote in quotes.items() if (name, at) not in known]])
        for at in outcomes
    ]
    ordered = [sorted([quote.chances[at] for quote in quotes.values()]) for at in outcomes]
    return may_be_overpriced(ordered, highest, 1 + terms.min_ev)


def _age(seconds: float) -> Age:
    return next((age for age, until_s in _UNTIL_S.items() if seconds < until_s), Age.HOURS)
