"""Reads the markets other than 1X2 in a program's match; each market is checked by itself. Pure.

{"over_under:2.5":{"over":1.9,"under":"1.95"},"asian_handicap:-0.75":{"home":2.02,"away":1.88},
"btts":{"yes":1.8,"no":2.0},"double_chance":{"1X":1.3,"12":1.25,"X2":1.75}}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta, Raw, Struct

from actors.core.errors import UNREADABLE
from actors.core.messages import Match, SourceMatchId, market_id
from actors.core.validation import Bounds, Reason, fault
from actors.markets.lines import are_contradictory
from actors.markets.market import FORMS, Kind, Market, parsed
from actors.markets.odds import book_sum

NO_ID = "its id must be 1 to 128 of A-Z, a-z, 0-9 and . _ ~ -"
MAX_MARKETS = 250  # markets of a match; there are fewer lines of all kinds

Price = Annotated[str, Meta(pattern=r"^[0-9]{1,9}(\.[0-9]{1,20})?$")] | float

_MARKETS = msgspec.json.Decoder(dict[str, Raw])
_ODDS = msgspec.json.Decoder(dict[str, Price])
_SHOWN_CHARS = 60


class Rejected(Struct, frozen=True):
    """A match, or a market of it, that may not be shown; its id is None if unreadable."""

    match_id: SourceMatchId | None
    reason: Reason
    why: str
    is_market: bool = False


def read_markets(
    content: bytes | Raw, event: Match, bounds: Bounds
) -> tuple[list[Match | Rejected], Counter[Kind]]:
    """Return the markets of `event` in order, and the numbers of markets of kinds that are not configured.

    If only 1X2 is configured, no content of the other markets is an error.
    """
    of_event, passed_over = f"markets of match {event.source_match_id[:_SHOWN_CHARS]}", Counter[Kind]()
    is_asked = len(bounds.kinds) > 1
    try:
        given = _MARKETS.decode(content)
    except UNREADABLE:
        why = f'{of_event} must be an object such as {{"btts":{{"yes":1.8,"no":2.0}}}}'
        return [Rejected(None, Reason.TYPE, why, is_market=True)] * is_asked, passed_over
    if len(given) > MAX_MARKETS:
        why = f"{of_event} are {len(given)}, must be at most {MAX_MARKETS}"
        return [Rejected(None, Reason.TOO_MANY, why, is_market=True)] * is_asked, passed_over
    read: list[Match | Rejected] = []
    for name, odds in given.items():
        kind = name.partition(":")[0]
        if kind in _OTHERS and kind not in bounds.kinds:
            passed_over[Kind(kind)] += 1
        elif is_asked:
            read.append(_named(name, odds, event, bounds))
    return _without_contradictions(read), passed_over


def _named(name: str, odds: Raw, event: Match, bounds: Bounds) -> Match | Rejected:
    try:
        market = _market(name)
    except ValueError as error:
        why = f"a market of match {event.source_match_id[:_SHOWN_CHARS]} {error}"
        return Rejected(None, Reason.UNREADABLE, why, is_market=True)
    return _read(odds, event, market, bounds)


_OTHERS = frozenset(Kind) - {Kind.ONE_X_TWO}


def _market(name: str) -> Market:
    """Return the market of a name. Raises: ValueError with the allowed names."""
    market = parsed(name)
    if market.kind is Kind.ONE_X_TWO:
        raise ValueError("was '1x2', whose prices must be in odds, as one, draw and two")
    return market


def _read(content: Raw, event: Match, market: Market, bounds: Bounds) -> Match | Rejected:
    needed = " and ".join(market.outcomes)
    try:
        odds = _ODDS.decode(content)
    except UNREADABLE:
        why = f'must have {needed}, each a number, or a text like "2.10"'
        return _rejected(event, market, Reason.PRICE, why)
    for name in market.outcomes:
        if name not in odds:
            return _rejected(event, market, Reason.INCOMPLETE, f"has no {name}, must have {needed}")
    if more := odds.keys() - {*market.outcomes}:
        why = f"has {min(more)[:_SHOWN_CHARS]!r}, must have {needed} alone"
        return _rejected(event, market, Reason.OUTCOME, why)
    match = event.of_market(market, tuple(float(odds[name]) for name in market.outcomes))
    reason = fault(match, bounds)
    return match if reason is None else _rejected(match, market, reason, explained(match, bounds, reason))


def _without_contradictions(read: list[Match | Rejected]) -> list[Match | Rejected]:
    """Reject the lines of every kind of market that contradict each other."""
    wrong = set[Kind]()
    for kind, form in FORMS.items():
        lines = [
            (it.market.quarters or 0, it.odds)
            for it in read
            if isinstance(it, Match) and it.market.kind is kind
        ]
        if form.lines is not None and are_contradictory(kind, lines):
            wrong.add(kind)
    if not wrong:
        return read
    why = "contradicts another line: over and away odds rise with the line, under and home odds fall"
    return [
        _rejected(it, it.market, Reason.LINES, why)
        if isinstance(it, Match) and it.market.kind in wrong
        else it
        for it in read
    ]


def _rejected(event: Match, market: Market, reason: Reason, why: str) -> Rejected:
    return Rejected(market_id(event.event_id, market), reason, why, is_market=True)


def explained(match: Match, bounds: Bounds, reason: Reason) -> str:
    """Return in words the rejected value of a match, and the allowed values."""
    match reason:
        case Reason.BOOK_SUM:
            one_x_two = bounds.book_sum_min, bounds.book_sum_max
            least, most = bounds.book_sums[match.market.kind] if match.odds else one_x_two
            return f"the sum of 1/price is {book_sum(match.prices):.3f}, must be {least:g} to {most:g}"
        case Reason.PRICE:
            return f"the odds are {', '.join(f'{price:g}' for price in match.prices)}, must be above 1"
        case Reason.MATCH_ID:
            return NO_ID
        case _:
            return f"the start is {match.start_time}, must be from 1970 to 2100"


def schema() -> Mapping[str, object]:
    """Return the JSON Schema of the markets of a match."""
    price, _ = msgspec.json.schema_components([Price])
    kinds = {}
    for kind in _OTHERS:
        outcomes = list(FORMS[kind].outcomes)
        line = r":-?(0|[1-9][0-9]?)(\.25|\.5|\.75)?" if FORMS[kind].lines else ""
        kinds[f"^{kind}{line}$"] = {
            "type": "object",
            "properties": dict.fromkeys(outcomes, price[0]),
            "required": outcomes,
            "additionalProperties": False,
        }
    return {
        "type": "object",
        "patternProperties": dict(sorted(kinds.items())),
        "additionalProperties": False,
    }
