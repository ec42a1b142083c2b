"""From order books to prices: the cheapest shares of each outcome, for at least a stake. Pure.

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

from actors.core.messages import Match, Removal
from actors.core.validation import Reason
from actors.source_api.groups import Group, after_preface
from actors.source_api.parsing import Unread, read_each
from actors.sources.polymarket.listing import UNKNOWN_FEE, ListedMatch
from actors.sources.polymarket.wire import ORDER_BOOK, Level, OrderBook, elements

DOUBTED_BELOW, DOUBTED_ABOVE = 0.005, 0.995  # a match that is over still quotes 0.001 and 1
MAX_TIME_MS = 1e14
_NUMBER = re.compile(r"[0-9]{0,18}(\.[0-9]{1,18})?").fullmatch
_DIGITS = re.compile("[0-9]{1,15}").fullmatch


class Books(Struct, frozen=True):
    """A group and its order books by token: None for several of one token."""

    group: Group[ListedMatch]
    by_token: Mapping[str, OrderBook | None]
    unread: Unread = Unread()


_group = msgspec.json.Decoder(Group[ListedMatch])


def read_books(body: bytes) -> Books:
    """Read a group and the books after it. Raises: PayloadError if they cannot be read."""
    group, answer = after_preface(body, _group)
    books, unread = read_each(ORDER_BOOK, elements(answer, "order books"))
    by_token: dict[str, OrderBook | None] = {}
    for book in books:
        by_token[book.asset_id] = None if book.asset_id in by_token else book
    return Books(group, by_token, unread)


def offer(listed: ListedMatch, books: Books, min_stake: float, *, after_fees: bool) -> Match | Removal:
    """Return what is on offer of a match for at least `min_stake` USD, or why it is not shown."""
    found = [books.by_token.get(token) for token in listed.tokens]
    home, draw, away = (
        0.0 if book is None or not _is_of(book, condition) else best_ask(book.asks, min_stake)
        for book, condition in zip(found, listed.conditions, strict=True)
    )
    asks = (home, draw, away)
    if 0.0 in asks:
        return Removal(listed.id, Reason.INCOMPLETE)
    if min(asks) <= DOUBTED_BELOW or max(asks) >= DOUBTED_ABOVE:
        return Removal(listed.id, Reason.PRICE)
    if after_fees and listed.fee >= UNKNOWN_FEE:
        return Removal(listed.id, Reason.PRICE)
    rate = listed.fee if after_fees else 0.0
    return Match(
        listed.id,
        listed.home,
        listed.away,
        listed.league,
        odds_of(home, rate),
        odds_of(draw, rate),
        odds_of(away, rate),
        listed.start,
        max(
            [time for book in found if book is not None and (time := _time(book)) is not None], default=None
        ),
        in_play=listed.in_play,
        fee_rate=0.0 if after_fees else listed.fee,
        max_stake=min_stake,
        url=listed.url,
    )


def best_ask(asks: Iterable[Level], min_stake: float) -> float:
    """Return the price at which `min_stake` USD are on offer; 0 if they are not, or for a broken level.

    What is on offer at better prices counts, but the price is the worst of those that are needed.
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
    """Return the odds of a share, after a fee at that rate, rounded down to four places."""
    return floor(10_000 / (price + rate * price * (1 - price))) / 10_000


def _is_of(book: OrderBook, condition: str) -> bool:
    return book.market in {None, condition} and book.neg_risk is not False


def _number(text: str) -> float:
    """Read a plain number, with or without a zero before its point; 0 for anything else."""
    return float(text) if text and _NUMBER(text) else 0.0


def _time(book: OrderBook) -> float | None:
    """Return when a book changed last (Unix seconds)."""
    text = book.timestamp or ""
    return int(text) / 1000 if _DIGITS(text) and int(text) < MAX_TIME_MS else None
