"""Matches with several markets at the exchange, and the lines of the markets other than the result. Pure.

All markets of a match share its id. This is the id of the market of its result, so that it is the same with
and without other markets; without a result it is the id of the exchange's event.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from actors.core.messages import Match, Removal, SourceMatchId, event_id_of, market_id
from actors.core.validation import Reason
from actors.markets.market import Kind
from actors.source_api.parsing import unix_time
from actors.sources.betfair.lines import MARKET_TYPES, Lines, MarketType, Pair
from actors.sources.betfair.market import FOOTBALL, OPEN, Market, MarketNames, Sides, name_of, sides_of
from actors.sources.betfair.options import BetfairStreamOptions
from actors.sources.betfair.wire import MarketDefinition

_EVENT_ID = re.compile("[0-9]{1,32}", re.ASCII).fullmatch
_FAULTS = frozenset(
    {Reason.UNREADABLE, Reason.MATCH_ID, Reason.OUTCOME, Reason.START_TIME, Reason.NO_RESULT}
)


class Event(Struct, gc=False, eq=False):
    """A match: its market of the result, with sides and names, and the ids of all its markets."""

    event_id: str
    result_id: str | None = None
    sides: Sides | None = None
    names: MarketNames | None = None
    market_ids: dict[str, None] = {}

    @property
    def match_id(self) -> SourceMatchId:
        """The id that its markets share."""
        return SourceMatchId(self.result_id or self.event_id)


class Events:
    """The matches of a subscription; empty unless markets other than the result are configured."""

    def __init__(self, kinds: Iterable[Kind]) -> None:
        asked = {*kinds}
        self.types = {name: row for name, row in MARKET_TYPES.items() if row.kind in asked}
        self._events: dict[str, Event] = {}
        self._event_of: dict[str, Event] = {}  # by market id
        self._touched: dict[str, None] = {}

    def clear(self) -> None:
        """Forget everything, before an image."""
        self._events.clear()
        self._event_of.clear()
        self._touched.clear()

    def note(self, market: Market, names: MarketNames | None) -> None:
        """Take a changed market, and its names from a catalogue."""
        definition = market.definition
        if not self.types or definition is None:
            return
        is_part = market.is_ours or self.type_of(market) is not None
        event_id = _event_id(definition) if is_part else None
        event = self._event_of.get(market.market_id)
        is_no_result = event is not None and event.result_id == market.market_id and not market.is_ours
        if event is not None and (event.event_id != event_id or is_no_result):
            self._leave(market, event)
            event = None
        if event_id is None:
            return
        event = event or self._events.setdefault(event_id, Event(event_id))
        self._event_of[market.market_id] = event
        event.market_ids[market.market_id] = None
        if market.is_ours and (
            event.result_id == market.market_id or event.result_id not in event.market_ids
        ):
            self._set(event, market.market_id, sides_of(definition) or event.sides, names or event.names)

    def prepare(self, market: Market, definition: MarketDefinition | None) -> None:
        """Forget the prices of a market whose type changes, because they belong to other bets."""
        known = market.definition
        if not self.types or known is None or definition is None:
            return
        if known.marketType != definition.marketType:
            market.runners.clear()

    def name(self, market: str, names: MarketNames) -> None:
        """Take the names of a market from a catalogue."""
        event = self._event_of.get(market)
        if event is not None and event.result_id == market:
            self._set(event, market, event.sides, names)

    def close(self, market: Market) -> None:
        """Remove a closed market; a match with further markets keeps its id and names."""
        event = self._event_of.pop(market.market_id, None)
        if event is not None:
            del event.market_ids[market.market_id]
            if not event.market_ids:
                del self._events[event.event_id]

    def take_touched(self) -> tuple[str, ...]:
        """Return the markets whose match got another id, sides or names since the last call."""
        touched = tuple(self._touched)
        self._touched.clear()
        return touched

    def type_of(self, market: Market) -> MarketType | None:
        """Return the type of a market other than the result; None if it is the result or not read."""
        it = market.definition
        is_football = it is not None and it.eventTypeId in FOOTBALL
        return self.types.get(it.marketType or "") if it is not None and is_football else None

    def is_unnamed(self, market: Market, names: MarketNames | None) -> bool:
        """Return whether an open market needs names of its outcomes, or of a match without a result."""
        kind, event = self.type_of(market), self._event_of.get(market.market_id)
        if kind is None or event is None or market.definition is None or market.status != OPEN:
            return False
        lines = kind.read(market.definition, event.sides, names)
        if lines is None or lines.teams is None:
            return lines is not None and not lines.is_named
        return event.sides is None and not all(name_of(team, names) for team in lines.teams)

    def offers(
        self, market: Market, options: BetfairStreamOptions, names: MarketNames | None
    ) -> tuple[list[Match], list[Removal]]:
        """Return the lines that a market offers, and removals of lines that it dropped or that are refused.

        A line without both prices was never on offer. A fault of a whole market without a line on offer is
        reported under the market's id.
        """
        is_lost = market.is_unread and not market.was_ours
        if not market.listed and not is_lost and self.type_of(market) is None:
            return [], []
        found = self._read(market, options, names)
        if isinstance(found, str):
            ids = market.listed or ({SourceMatchId(market.market_id)} if found in _FAULTS else ())
            market.listed = frozenset()
            return [], [Removal(each, found) for each in sorted(ids)]
        matches, reasons = found
        gone = market.listed - {match.source_match_id for match in matches}
        match_id = self._event_of[market.market_id].match_id
        removed: dict[SourceMatchId, str] = {
            each: Reason.INCOMPLETE
            if event_id_of(each) == match_id
            else "withdrawn"  # the match has another id now
            for each in sorted(gone)
        }
        removed.update(reasons)
        market.listed = frozenset([match.source_match_id for match in matches])
        return matches, [Removal(each, reason) for each, reason in removed.items()]

    def _read(
        self, market: Market, options: BetfairStreamOptions, names: MarketNames | None
    ) -> tuple[list[Match], dict[SourceMatchId, Reason]] | str:
        """Return the lines on offer, and faults of other lines with both prices; or the market's fault."""
        definition, kind = market.definition, self.type_of(market)
        if definition is None or kind is None:
            return Reason.UNREADABLE if market.is_unread else "undefined"
        if definition.status != OPEN:
            return market.removal_reason
        event = self._event_of.get(market.market_id)
        if event is None:
            return Reason.MATCH_ID
        lines = _lines(definition, kind, event, names)
        if isinstance(lines, Reason):
            return lines
        start_time = unix_time(definition.marketTime)
        if definition.marketTime is not None and start_time is None:
            return Reason.START_TIME
        match = _match(market, event, lines, names, start_time)
        matches, reasons = list[Match](), dict[SourceMatchId, Reason]()
        for pair in lines.pairs:
            prices = _prices(market, pair, options)
            if isinstance(prices, Reason):
                reasons[market_id(event.match_id, pair.line)] = prices
            elif prices is not None:
                matches.append(match.of_market(pair.line, prices))
        return matches, reasons

    def _set(self, event: Event, market: str, sides: Sides | None, names: MarketNames | None) -> None:
        if (event.result_id, event.sides, event.names) != (market, sides, names):
            event.result_id, event.sides, event.names = market, sides, names
            self._touched.update(event.market_ids)

    def _leave(self, market: Market, event: Event) -> None:
        """Remove a market from a match that it no longer belongs to."""
        if event.result_id == market.market_id:
            event.result_id = event.sides = event.names = None
            self._touched.update(event.market_ids)
        self.close(market)


def _event_id(definition: MarketDefinition) -> str | None:
    """Return the exchange's id of the match; None if it is missing or invalid."""
    text = definition.eventId
    text = str(text) if isinstance(text, int) else text
    return text if isinstance(text, str) and _EVENT_ID(text) else None


def _lines(
    definition: MarketDefinition, kind: MarketType, event: Event, names: MarketNames | None
) -> Lines | Reason:
    """Return the lines of a definition, or why none can be shown."""
    is_fit = definition.bettingType == kind.betting_type
    lines = kind.read(definition, event.sides, names) if is_fit else None
    if lines is None:
        return Reason.OUTCOME
    return Reason.NO_RESULT if lines.teams is None and event.sides is None else lines


def _match(
    market: Market, event: Event, lines: Lines, names: MarketNames | None, start_time: float | None
) -> Match:
    """Return the match of a market, without prices; names of its result come first."""
    home, away = (name_of(team, names) for team in lines.teams) if lines.teams is not None else ("", "")
    if event.sides is not None:
        home = name_of(event.sides[0], event.names) or home
        away = name_of(event.sides[2], event.names) or away
    leagues = [known.league for known in (event.names, names) if known is not None and known.league]
    definition = market.definition
    return Match(
        event.match_id,
        *(home, away, next(iter(leagues), None), 0.0, 0.0, 0.0),
        None if start_time is None else int(start_time),
        None if market.published_ms is None else market.published_ms / 1000,
        in_play=None if definition is None else definition.inPlay,
    )


def _prices(
    market: Market, pair: Pair, options: BetfairStreamOptions
) -> tuple[float, float] | Reason | None:
    """Return the prices of a line, or why they are implausible; None if a price is missing."""
    runners = [market.runners.get(key) for key in pair.keys]
    home, away = (None if runner is None else runner.price(options) for runner in runners)
    if home is None or away is None:
        return None
    if any(runner is not None and runner.is_unread for runner in runners):
        return Reason.UNREADABLE
    is_crossed = any(runner is not None and runner.is_crossed(options) for runner in runners)
    return Reason.CROSSED if is_crossed else (home, away)
