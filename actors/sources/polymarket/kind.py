"""The kind of Polymarket: prices of "Yes" for each result of a match; public, polled. Pure."""

from __future__ import annotations

from actors.core.cooperative import Sliced
from actors.core.messages import Extract, Fees, Match, Offer, Payload, Removal, Venue
from actors.source_api.kinds import PolledKind
from actors.source_api.parsing import Parts
from actors.sources.polymarket.catalogue import MarketsPage, Sports, read_markets, read_sports
from actors.sources.polymarket.options import SPORTS_SCOPE, PolymarketOptions, is_markets
from actors.sources.polymarket.plan import PolymarketPlan
from actors.sources.polymarket.prices import Books, line_offers, offer, read_books

KEY = "polymarket"
TERMS = "For your own use and display: do not resell these prices or pass them on as a feed."


def check_key(key: str) -> None:
    """Raise ValueError unless `key` is the only valid key."""
    if key != KEY:
        raise ValueError(f"key was {key!r}, must be {KEY!r}")


def decode(payload: Payload, options: PolymarketOptions) -> Sliced[Books | MarketsPage | Sports]:
    """Read an answer. Raises: PayloadError if it cannot be read."""
    del options
    yield
    if payload.scope == SPORTS_SCOPE:
        return read_sports(payload.body)
    if is_markets(payload.scope):
        return read_markets(payload.body)
    return read_books(payload.body)


def extract(books: Books, key: str, options: PolymarketOptions) -> Sliced[Extract]:
    """Return the prices of a group of matches."""
    del key
    offers: list[Match | Removal] = []
    for listed in books.group.matches:
        yield
        if listed.questions:
            offers += line_offers(listed, books, options.min_stake, after_fees=options.after_fees)
            continue
        offers.append(offer(listed, books, options.min_stake, after_fees=options.after_fees))
    return books.group.extract(offers, books.unread.count)


def parts(content: Books | MarketsPage | Sports) -> Parts:
    """Return the elements of an answer."""
    match content:
        case Sports(leagues=leagues, unread=unread):
            return Parts("leagues of football", leagues, unread)
        case MarketsPage(markets=markets, unread=unread):
            return Parts("markets", markets, unread)
        case Books(by_token=by_token, unread=unread):
            return Parts("order books", tuple(filter(None, by_token.values())), unread)


def offer_of(key: str, options: PolymarketOptions) -> Offer:
    """Return its offer: a prediction market, with or without the taker's fee, and its terms."""
    del key
    fees = Fees.INCLUDED if options.after_fees else Fees.NOT_INCLUDED
    return Offer(Venue.PREDICTION_MARKET, fees, TERMS)


KIND = PolledKind(
    name="polymarket",
    options=PolymarketOptions,
    check_key=check_key,
    plan=PolymarketPlan,
    decode=decode,
    extract=extract,
    repeats_confirm=False,
    has_fees=True,
    parts=parts,
    offer_of=offer_of,
)
