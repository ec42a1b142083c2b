"""Makes prices from order books: the cheapest shares of each outcome, for at least a stake. Pure.

A share of "Yes" pays 1 USD, so its price is the inverse of odds. A taker pays a fee for each share:

    fee = rate x price x (1 - price)

and the stake on a level of the book is price x size, without the fee.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from math import floor

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.core.messages import Match, Removal, event_id_of, market_id
from actors.core.validation import Reason
from actors.markets.odds import Odds
from actors.source_api.groups import Group, after_preface
from actors.source_api.parsing import Unread, read_each
from actors.sources.polymarket.listing import UNKNOWN_FEE, ListedMatch
from actors.sources.polymarket.wire import ORDER_BOOK, Level, OrderBook, elements

DOUBTED_BELOW, DOUBTED_ABOVE = 0.005, 0.995  # a finished match still quotes 0.001 and 1
MAX_TIME_MS = 1e14
_NUMBER = re.compile(r"[0-9]{0,18}(\.[0-9]{1,18})?").fullmatch
_DIGITS = re.compile("[0-9]{1,15}").fullmatch


class Books(Struct, frozen=True):
    """A group and its order books by token; None for a token with several books."""

    group: Group[ListedMatch]
    by_token: Mapping[str, OrderBook | None]
    unread: Unread = Unread()


_group = msgspec.json.Decoder(Group[ListedMatch])


def read_books(body: bytes) -> Books:
    """Read a group and its books. Raises: PayloadError if they cannot be read."""
    group, answer = after_preface(body, _group)
    books, unread = read_each(ORDER_BOOK, elements(answer, "order books"))
    by_token: dict[str, OrderBook | None] = {}
    for book in books:
        by_token[book.asset_id] = None if book.asset_id in by_token else book
    return Books(group, by_token, unread)


def offer(listed: ListedMatch, books: Books, min_stake: float, *, after_fees: bool) -> Match | Removal:
    """Return a match with its odds for at least `min_stake` USD, or why it is not shown."""
    conditions = zip(listed.tokens, listed.conditions, strict=True)
    odds = _odds(conditions, books, min_stake, listed.fee, after_fees=after_fees, is_result=True)
    if isinstance(odds, Reason):
        return Removal(listed.id, odds)
    match = _match(listed, listed.tokens, books, min_stake, 0.0 if after_fees else listed.fee)
    home, draw, away = odds
    return replace(match, home_price=home, draw_price=draw, away_price=away)


def line_offers(
    listed: ListedMatch, books: Books, min_stake: float, *, after_fees: bool
) -> Iterable[Match | Removal]:
    """Return each question of a match with its odds, or why it is not shown."""
    event_id = event_id_of(listed.id)
    for question in listed.questions:
        conditions = ((token, question.condition) for token in question.tokens)
        odds = _odds(conditions, books, min_stake, question.fee, after_fees=after_fees, is_result=False)
        if isinstance(odds, Reason):
            yield Removal(market_id(event_id, question.market), odds)
        else:
            fee = 0.0 if after_fees else question.fee
            yield _match(listed, question.tokens, books, min_stake, fee).of_market(question.market, odds)


def _odds(
    conditions: Iterable[tuple[str, str]],
    books: Books,
    min_stake: float,
    fee: float,
    *,
    after_fees: bool,
    is_result: bool,
) -> Odds | Reason:
    """Return the odds of (token, condition) pairs, or why they are not shown."""
    asks = [
        best_ask(book.asks, min_stake)
        if (book := books.by_token.get(token)) is not None and _is_of(book, condition, is_result=is_result)
        else 0.0
        for token, condition in conditions
    ]
    if 0.0 in asks:
        return Reason.INCOMPLETE
    if min(asks) <= DOUBTED_BELOW or max(asks) >= DOUBTED_ABOVE:
        return Reason.PRICE
    if after_fees and fee >= UNKNOWN_FEE:
        return Reason.PRICE
    return tuple([odds_of(ask, fee if after_fees else 0.0) for ask in asks])


def _match(
    listed: ListedMatch, tokens: Iterable[str], books: Books, min_stake: float, fee_rate: float
) -> Match:
    """Return a match without prices; its time is the time of the newest of these books."""
    found = (books.by_token.get(token) for token in tokens)
    times = [time for book in found if book is not None and (time := _time(book)) is not None]
    return Match(
        listed.id,
        *(listed.home, listed.away, listed.league, 0.0, 0.0, 0.0, listed.start),
        max(times, default=None),
        in_play=listed.in_play,
        fee_rate=fee_rate,
        max_stake=min_stake,
        url=listed.url,
    )


def best_ask(asks: Iterable[Level], min_stake: float) -> float:
    """Return the price at which `min_stake` USD are on offer; 0 without such offers or for a broken level.

    The cheapest offers are added up to `min_stake`; the price is the worst price of these offers.
    """
    levels = sorted((_number(level.price), _number(level.size)) for level in asks)
    if any(not (0 < price < 1) or size <= 0 for price, size in levels):
        return 0.0
    staked = 0.0
    for price, size in levels:
        staked += price * size
        if staked >= min_stake:
            return price
    return 0.0


def odds_of(price: float, rate: float) -> float:
    """Return the odds of a share after a fee at this rate, rounded down to four places."""
    return floor(10_000 / (price + rate * price * (1 - price))) / 10_000


def _is_of(book: OrderBook, condition: str, *, is_result: bool) -> bool:
    return book.market in {None, condition} and book.neg_risk in {None, is_result}


def _number(text: str) -> float:
    """Read a plain number, with or without a zero before its point; 0 for anything else."""
    return float(text) if text and _NUMBER(text) else 0.0


def _time(book: OrderBook) -> float | None:
    """Return the time of a book's last change (Unix seconds)."""
    text = book.timestamp or ""
    return int(text) / 1000 if _DIGITS(text) and int(text) < MAX_TIME_MS else None
