"""One match with any offers, as a fixture with the books of these offers."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from actors.board.snapshot import Book, Entry
from actors.board.validity import ListState
from actors.core.clock import Instant
from actors.core.messages import BookmakerId, ListId, Prices, Scope, SourceMatchId, SourceName
from actors.markets.market import ONE_X_TWO, Market
from actors.markets.odds import Odds
from actors.matches.fair import Method
from actors.matches.model import (
    BookmakerInfo,
    Fixture,
    FixtureSettings,
    Highest,
    Place,
    roster_of,
)
from actors.matches.surebets import SurebetRules
from actors.matching.event import EventKey, FixtureId
from actors.matching.rules import Certainty, Member, Rule
from actors.value.values import Value, ValueTerms, values_of
from tests.support.builders.messages import match

NOW = Instant(1000.0, 1_700_000_000.0)
START = int(NOW.wall) + 3600
SCOPE = Scope("all")


class Offer(Struct, frozen=True):
    """A bookmaker's prices for a match, confirmed `age_s` ago, and the state of its list and link."""

    prices: Odds
    age_s: float = 1.0
    stale_after_s: float = 30.0
    commission: float = 0.0
    fee_rate: float = 0.0
    company: str = ""
    is_sure: bool = True
    is_live: bool = True
    is_trusted: bool = True
    in_play: bool | None = None


Offers = Mapping[str, Offer]


def fixture_of(offers: Offers, market: Market = ONE_X_TWO, start: int = START) -> Fixture:
    """Return the fixture of these offers, each from a source of its own."""
    listed, members = list[Entry](), list[Member]()
    for name, offer in offers.items():
        plain = replace(match(name, start_time=start, in_play=offer.in_play), fee_rate=offer.fee_rate)
        priced = plain.of_market(market, offer.prices)
        listed.append(Entry(f"{name}_{priced.source_match_id}", SCOPE, priced, NOW.wall))
        key = EventKey(SourceName(name), SourceMatchId(name))
        members.append(
            Member(key, Rule.SAME, certainty=Certainty.SURE if offer.is_sure else Certainty.LIKELY)
        )
    names = tuple(BookmakerId(name) for name in offers)
    fixture_id = FixtureId("fx1")
    return Fixture(
        fixture_id,
        1,
        tuple(members),
        names,
        tuple(listed),
        names[0],
        Place(float(start), fixture_id),
        Highest(),
        market=market,
    )


def books_of(offers: Offers) -> dict[BookmakerId, Book]:
    """Return the books with the lists of these offers."""
    return {
        BookmakerId(name): Book(
            1,
            1,
            lists={
                SCOPE: ListState(
                    ListId("1"), NOW.mono - offer.age_s, offer.stale_after_s, int(not offer.is_trusted)
                )
            },
        )
        for name, offer in offers.items()
    }


def terms_of(
    offers: Offers,
    method: Method = Method.POWER,
    rules: SurebetRules | None = None,
    reference: str | None = None,
) -> ValueTerms:
    """Return the terms for the bookmakers of these offers."""
    roster = roster_of(
        {
            BookmakerId(name): BookmakerInfo(
                SourceName(name),
                Prices.LIVE if offer.is_live else Prices.COLLECTED,
                offer.commission,
                offer.company,
            )
            for name, offer in offers.items()
        }
    )
    named = None if reference is None else BookmakerId(reference)
    return ValueTerms(FixtureSettings(roster, method, rules or SurebetRules()), reference=named)


def values_among(
    offers: Offers, market: Market = ONE_X_TWO, terms: ValueTerms | None = None, now: Instant = NOW
) -> list[Value]:
    """Return the values of a match with these offers."""
    return values_of(fixture_of(offers, market), books_of(offers), terms or terms_of(offers), now)
