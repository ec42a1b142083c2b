"""Values: prices whose expected value by a reference is above 0, for one market of a fixture at a moment.

Pure. The reference is the consensus of the other companies, or the fair odds of one bookmaker. Only prices
that could be a leg of a surebet are compared, each by its newest confirmation. docs/fixtures.md has the
formulas and reasons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf, isfinite
from typing import Annotated, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

from actors.board.snapshot import Book, Entry
from actors.core.clock import Instant
from actors.core.messages import BookmakerId, Match
from actors.markets.market import may_return
from actors.markets.odds import after_fee, of_all_winners, of_one_winner
from actors.matches.candidates import Books
from actors.matches.entries import start_of, sure_legs
from actors.matches.fair import MIN_BOOKMAKERS, Quote, fair, medians_of_others
from actors.matches.model import Fixture, FixtureSettings
from actors.matches.surebets import Doubt, doubted_legs
from actors.matching.event import Chances
from actors.matching.rules import OFF, distance


class ValueRules(Struct, frozen=True, forbid_unknown_fields=True):
    """The largest share of the bank that a Kelly stake may have."""

    max_kelly: Annotated[float, Meta(gt=0, le=1, title="a number above 0 and at most 1")] = 0.05


class ValueTerms(Struct, frozen=True):
    """How prices are valued: the settings of fixtures and of values, and the reference.

    Without a bookmaker as `reference` it is the consensus of the other companies.
    """

    fixtures: FixtureSettings
    rules: ValueRules = ValueRules()
    reference: BookmakerId | None = None


class Value(Struct, frozen=True, gc=False):
    """A price above the fair price: a won stake of 1 returns `net`, after commission and fee.

    `chance` is the fair probability by the reference, which `members` made: on a line that may return the
    stake, that the part not returned is won. `expected` is chance x net - 1, and `kelly` a share of the
    bank. With `doubts` the value is not believed.
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


def values_of(fixture: Fixture, books: Books, terms: ValueTerms, now: Instant) -> list[Value]:
    """Return the values of a fixture's market at `now`, the highest first; none once it may have begun.

    `books` are those of the fixture's version or newer, with the times of the last confirmations. With
    equal values the order is that of outcomes, then of bookmakers.
    """
    kick_off, has_begun = start_of(fixture, terms.fixtures.roster.live)
    if has_begun or kick_off <= now.wall:
        return []
    return judged(fixture, counted(fixture, books, terms.fixtures, now), terms)


def counted(fixture: Fixture, books: Books, terms: FixtureSettings, now: Instant) -> Counted:
    """Return the bookmakers that are compared at `now`; True for prices that are young enough.

    Their prices are live, the last confirmed of their company, and the newest attempt to get their list
    succeeded. Young ones were confirmed less than `max_age_s` ago; without that rule, less than the
    smallest `stale_after_s` of all these.
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


def judged(fixture: Fixture, compared: Counted, terms: ValueTerms) -> list[Value]:
    """Return the values among the prices that are compared, whatever the time."""
    of_fixtures, market, entries = terms.fixtures, fixture.market, fixture.entries
    sure, quotes = sure_legs(fixture, of_fixtures.roster), dict[BookmakerId, Quote]()
    for name, is_young in compared.items():
        prices = of_one_winner(market, entries[name].match.prices)
        quotes[name] = Quote(prices, fair(of_fixtures.method, prices), is_young and sure[name])
    found = list[Value]()
    for name, chances in _references(quotes, terms.reference).items():
        doubts = [Doubt.AGE] * (not compared[name]) + [Doubt.LINK] * (not sure[name])
        doubts += [Doubt.PRICE] * (distance(quotes[name].chances, chances) > OFF)
        members = (terms.reference,) if terms.reference else _members(quotes, name)
        found += _of_bookmaker(name, entries[name].match, chances, terms, (members, tuple(doubts)))
    wrong = doubted_legs(quotes, of_fixtures.surebets, market) if found else ()
    places = market.outcomes.index
    found.sort(key=lambda value: (-value.expected, places(value.outcome)))
    return [_in_doubt(value) if value.bookmaker in wrong else value for value in found]


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


def _of_bookmaker(
    name: BookmakerId,
    match: Match,
    chances: Chances,
    terms: ValueTerms,
    about: tuple[tuple[BookmakerId, ...], tuple[Doubt, ...]],
) -> Iterator[Value]:
    """Yield the values of a bookmaker's prices; `about` has the members of the reference, and doubts."""
    if match.fee_rate and may_return(match.market):
        return  # a fee is not returned with the stake
    commission = terms.fixtures.roster[name].commission
    won = of_all_winners(match.market, chances)
    for outcome, price, chance in zip(match.market.outcomes, match.prices, won, strict=True):
        returns = 1 + (after_fee(price, match.fee_rate) - 1) * (1 - commission)
        if (expected := expected_value(chance, returns)) > 0:
            share = kelly(chance, returns, terms.rules.max_kelly)
            yield Value(name, outcome, price, returns, chance, expected, share, *about)


def _in_doubt(value: Value) -> Value:
    """Return a value with a doubt about its price."""
    return replace(value, doubts=tuple(dict.fromkeys((*value.doubts, Doubt.PRICE))))
