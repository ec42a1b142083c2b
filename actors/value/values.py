"""Values: prices whose expected value by a reference is above 0, for one market of a fixture at a moment.

Pure. The reference is the consensus of the other companies, or the fair odds of one bookmaker. Only prices
that could be a leg of a surebet are compared, each by its newest confirmation. docs/fixtures.md has the
formulas and reasons.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isfinite
from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

from actors.board.snapshot import Book, Entry
from actors.core.clock import Instant
from actors.core.messages import BookmakerId, Match
from actors.markets.market import may_return
from actors.markets.odds import Odds, after_fee, of_all_winners, of_one_winner
from actors.matches.candidates import Books
from actors.matches.entries import start_of, sure_legs
from actors.matches.fair import MIN_BOOKMAKERS, Quote, fair, medians_of_others
from actors.matches.model import MAX_KELLY, BookmakerInfo, Fixture, FixtureSettings
from actors.matches.surebets import Doubt, doubted_legs
from actors.matching.event import Chances
from actors.matching.rules import OFF, distance


class ValueRules(Struct, frozen=True, forbid_unknown_fields=True):
    """The largest share of the bank that a Kelly stake may have."""

    max_kelly: Annotated[float, Meta(gt=0, le=1, title="a number above 0 and at most 1")] = MAX_KELLY


class ValueTerms(Struct, frozen=True):
    """How prices are valued: the settings of fixtures, and the reference.

    Without a bookmaker as `reference` it is the consensus of the other companies.
    """

    fixtures: FixtureSettings
    reference: BookmakerId | None = None


class Value(Struct, frozen=True, gc=False):
    """A price above the fair price: a won stake of 1 returns `net`, after commission and fee.

    `chance` is the fair probability by the reference, which `members` made: on a line that may return the
    stake, the probability that the part not returned is won. `expected` is chance x net - 1, and `kelly` a
    share of the bank. With `doubts` the value is not believed.
    """

    bookmaker: BookmakerId
    outcome: str
    price: float
    net: float
    chance: float
    expected: float
    kelly: float
    members: tuple[BookmakerId, ...]
    doubts: tuple[Doubt, ...] = ()


Counted: TypeAlias = Mapping[BookmakerId, bool]
"""The bookmakers of a fixture whose prices are compared, and whether each was confirmed lately."""


Quoted: TypeAlias = Mapping[BookmakerId, tuple[Entry, Odds, Chances]]
"""The entry, prices and fair chances of each bookmaker with live prices, converted to one winner."""


def values_of(fixture: Fixture, books: Books, terms: ValueTerms, now: Instant) -> list[Value]:
    """Return the values of a fixture's market at `now`, the highest first; none once it may have begun.

    `books` are the books of the fixture's version or newer, with the times of the last confirmations. With
    equal values the order is that of outcomes, then of bookmakers.
    """
    kick_off, has_begun = start_of(fixture, terms.fixtures.roster.live)
    if has_begun or kick_off <= now.wall:
        return []
    compared = counted(fixture, books, terms.fixtures, now)
    return judged(fixture, quoted(fixture, terms.fixtures), compared, terms)


def counted(fixture: Fixture, books: Books, terms: FixtureSettings, now: Instant) -> Counted:
    """Return the bookmakers that are compared at `now`, each with whether its prices are young enough.

    Their prices are live, and the newest attempt to get their list succeeded. Among a company's
    bookmakers only the bookmaker counts whose prices were confirmed last. Young prices were confirmed less
    than `max_age_s` ago; without that setting, less than the smallest `stale_after_s` of these lists ago.
    """
    latest: dict[str, tuple[float, BookmakerId]] = {}
    live = [(name, entry) for name, entry in fixture.entries.items() if name in terms.roster.live]
    for name, entry in live:
        confirmed, company = _confirmed(books[name], entry), terms.roster[name].company
        if company not in latest or confirmed > latest[company][0]:
            latest[company] = confirmed, name
    newest = {name: confirmed for confirmed, name in latest.values() if confirmed < inf}
    lists = {name: books[name].lists[entry.scope] for name, entry in live if name in newest}
    trusted = {name: state.stale_after_s for name, state in lists.items() if state.is_trusted}
    limit_s = terms.surebets.max_age_s or min(trusted.values(), default=0.0)
    return {name: now.mono < newest[name] + limit_s for name in trusted}


def quoted(fixture: Fixture, terms: FixtureSettings, known: Quoted | None = None) -> Quoted:
    """Return the prices of each bookmaker with live prices; `known` prices of the same entry are reused."""
    found, known = dict[BookmakerId, tuple[Entry, Odds, Chances]](), known or {}
    for name, entry in fixture.entries.items():
        if name in known and known[name][0] is entry:
            found[name] = known[name]
        elif name in terms.roster.live:
            prices = of_one_winner(fixture.market, entry.match.prices)
            found[name] = entry, prices, fair(terms.method, prices)
    return found


def judged(fixture: Fixture, quoted: Quoted, compared: Counted, terms: ValueTerms) -> list[Value]:
    """Return the values among the prices that are compared, whatever the time."""
    sure, market = sure_legs(fixture, terms.fixtures.roster), fixture.market
    quotes = {
        name: Quote(*quoted[name][1:], is_young and sure[name]) for name, is_young in compared.items()
    }
    found = list[Value]()
    wrong: frozenset[BookmakerId] | None = None
    for name, chances in _references(quotes, terms.reference).items():
        match = quoted[name][0].match
        if not (gains := _gains(match, of_all_winners(market, chances), terms.fixtures.roster[name])):
            continue
        wrong = doubted_legs(quotes, terms.fixtures.surebets, market) if wrong is None else wrong
        is_off = name in wrong or distance(quotes[name].chances, chances) > OFF
        in_doubt = {Doubt.AGE: not compared[name], Doubt.LINK: not sure[name], Doubt.PRICE: is_off}
        doubts = tuple([doubt for doubt, is_so in in_doubt.items() if is_so])
        members = [other for other, quote in quotes.items() if quote.counts and other != name]
        about = ((terms.reference,) if terms.reference else tuple(members)), doubts
        for outcome, net, chance in gains:
            price, share = match.prices[outcome], kelly(chance, net, terms.fixtures.max_kelly)
            at = name, market.outcomes[outcome], price, net
            found.append(Value(*at, chance, expected_value(chance, net), share, *about))
    places = market.outcomes.index
    return sorted(found, key=lambda value: (-value.expected, places(value.outcome)))


def expected_value(chance: float, won: float) -> float:
    """Return the expected gain of a stake of 1 that returns `won` with that probability, otherwise 0."""
    return chance * won - 1


def kelly(chance: float, won: float, most: float) -> float:
    """Return the share of the bank with the largest expected logarithm, from 0 to `most`.

    The source: Kelly, Bell System Technical Journal 35, 1956.
    """
    return min(max(expected_value(chance, won) / (won - 1), 0.0), most) if won > 1 else 0.0


def _confirmed(book: Book, entry: Entry) -> float:
    """Return when a price was confirmed (monotonic seconds); infinity if another process has not said."""
    confirmed = book.vouched_mono(entry) if entry.scope in book.lists else inf
    return confirmed if isfinite(confirmed) else inf


def _references(
    quotes: Mapping[BookmakerId, Quote], reference: BookmakerId | None
) -> dict[BookmakerId, Chances]:
    """Return the fair chances with which each bookmaker's prices are compared."""
    if reference is None:
        return medians_of_others(quotes, MIN_BOOKMAKERS)
    if reference not in quotes or not quotes[reference].counts:
        return {}
    return {name: quotes[reference].chances for name in quotes if name != reference}


def _members(quotes: Mapping[BookmakerId, Quote], judged: BookmakerId) -> tuple[BookmakerId, ...]:
    return tuple([name for name, quote in quotes.items() if quote.counts and name != judged])


def _gains(match: Match, chances: Odds, info: BookmakerInfo) -> list[tuple[int, float, float]]:
    """Return the outcomes with an expected gain, each with the return of a won stake and its chance."""
    if match.fee_rate and may_return(match.market):
        return []  # a fee is not returned with the stake
    found = list[tuple[int, float, float]]()
    for outcome, (price, chance) in enumerate(zip(match.prices, chances, strict=True)):
        if price * chance > 1:
            net = 1 + (after_fee(price, match.fee_rate) - 1) * (1 - info.commission)
            if expected_value(chance, net) > 0:
                found.append((outcome, net, chance))
    return found
