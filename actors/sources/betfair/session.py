"""The protocol of the exchange's stream as a state machine: lines in, reactions out. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from actors.core.cooperative import Sliced, run_now
from actors.core.errors import PayloadError, StreamError
from actors.core.messages import Extract, Match, Removal, SourceMatchId
from actors.core.validation import Reason
from actors.source_api.stream import Reaction
from actors.sources.betfair.events import Events
from actors.sources.betfair.lines import types_of
from actors.sources.betfair.market import CLOSED, OPEN, SOCCER, Market, MarketNames
from actors.sources.betfair.options import HEARTBEATS_TO_BE_SILENT, BetfairStreamOptions
from actors.sources.betfair.wire import (
    MAX_MARKETS,
    MarketChange,
    Message,
    SegmentedMessage,
    UnreadChange,
    read_message,
)

UNRELIABLE_STATUS = 503
NEEDS_LOGIN = frozenset({"NO_SESSION", "INVALID_SESSION_INFORMATION"})
PASSING = frozenset({"INVALID_CLOCK", "CONNECTION_FAILED", "TIMEOUT", "UNEXPECTED_ERROR"})
ERRORS = frozenset(  # error codes counted by name; all others count as REFUSED
    {
        *("NO_APP_KEY", "INVALID_APP_KEY", "NOT_AUTHORIZED", "INVALID_INPUT", "INVALID_REQUEST"),
        *("MAX_CONNECTION_LIMIT_EXCEEDED", "SUBSCRIPTION_LIMIT_EXCEEDED", "TOO_MANY_REQUESTS"),
        *NEEDS_LOGIN,
        *PASSING,
    }
)
HEARTBEAT_MS = range(500, 30_001)  # intervals that the server may announce; other intervals are ignored


class Phase(StrEnum):
    """The phases of a connection."""

    CONNECTING = "connecting"
    AUTHENTICATING = "authenticating"
    SUBSCRIBING = "subscribing"  # waiting for the first image or patch
    LIVE = "live"
    UNRELIABLE = "unreliable"  # the server says that its stream is late


class BetfairSession:
    """A subscription: its markets, the clocks for resuming it, and the phase of its connection.

    With `is_historic` there is no connection: the first line counts as an image, all other lines as deltas.
    """

    def __init__(self, options: BetfairStreamOptions, *, is_historic: bool = False) -> None:
        self.phase = Phase.LIVE if is_historic else Phase.CONNECTING
        self.markets: dict[str, Market] = {}
        self.slow_messages = 0
        self.silence_s: float | None = None  # announced by the server
        self._options = options
        self._market_ids: list[str] | None = None  # None for all matches
        self._is_narrowed = False  # whether the subscribed markets changed since the last request
        self._names: dict[str, MarketNames] = {}
        self._events = Events(options.kinds)
        self._initial_clk: str | None = None
        self._clk: str | None = None
        self._id = 0
        self._token = ""
        self._conflate_ms: float = options.conflate_ms
        self._segments = SegmentedMessage()
        self._is_first = is_historic
        self._versions: dict[str, float] = {}  # of closed markets, and of the markets before the image
        self._closed: dict[str, None] = {}
        self._unidentified = 0  # parts of this message without a readable market id
        self._is_image_whole = True  # every part of the newest image had a readable market id

    @property
    def is_unreliable(self) -> bool:
        """Whether the server says that its stream is late."""
        return self.phase is Phase.UNRELIABLE

    @property
    def delay_s(self) -> float:
        """The greatest delay of prices: the time for which the server says that it merges changes."""
        return max(self._conflate_ms, 0) / 1000

    def connect(self, token: str) -> None:
        """Begin a connection with this session token; the server sends the first line."""
        self.phase = Phase.CONNECTING
        self._token = token
        self.silence_s = None
        if self._clk is None:  # a resumed subscription keeps the announced values
            self._conflate_ms = self._options.conflate_ms
        self._segments.clear()

    def refresh(self) -> Reaction:
        """Ask for an image by a new subscription, unless one has begun already."""
        if self.phase is not Phase.LIVE:
            return Reaction()
        self.forget()
        return self._subscribe()

    def narrow(self, wanted: Sequence[str]) -> None:
        """Subscribe only to the `wanted` markets from the next `connect` or `refresh` on."""
        self._market_ids = list(wanted)
        self._is_narrowed = True
        self.forget()

    def forget(self) -> None:
        """Forget the clocks, so that the next connection begins with an image."""
        self._initial_clk = self._clk = None

    def receive(self, line: bytes) -> Sliced[Reaction]:
        """Read a line. Raises: PayloadError if it is not a message, StreamError for a refusal."""
        message = yield from read_message(line)
        if message.heartbeatMs is not None and message.heartbeatMs in HEARTBEAT_MS:
            self.silence_s = HEARTBEATS_TO_BE_SILENT * message.heartbeatMs / 1000
        if message.conflateMs is not None:
            self._conflate_ms = message.conflateMs
        match message.op:
            case "connection":
                return self._on_connection()
            case "status":
                return self._on_status(message)
            case "mcm":
                return (yield from self._on_market_data(message))
            case _:
                raise PayloadError(f"op was {message.op[:32]!r}, must be connection, status or mcm", "op")

    def image(self) -> Extract:
        """Return the complete present list."""
        return run_now(self._extract(self.markets.values()))[0]

    def name(self, names: Mapping[str, MarketNames]) -> Extract:
        """Take the names of markets and return the changes."""
        known = [market for market in names if market in self.markets]
        self._names.update((market, names[market]) for market in known)
        for market in known:
            self._events.name(market, names[market])
        changed = self._with_touched([self.markets[market] for market in known])
        return run_now(self._extract(changed))[0]

    @property
    def _is_whole(self) -> bool:
        """Whether all parts since the image were applied, so that the subscription can be resumed."""
        return self._is_image_whole and not any(market.is_lacking for market in self.markets.values())

    def _on_connection(self) -> Reaction:
        if self.phase is not Phase.CONNECTING:
            raise PayloadError("a second session began on one connection", "protocol")
        self.phase = Phase.AUTHENTICATING
        return self._send({"op": "authentication", "appKey": self._options.app_key, "session": self._token})

    def _on_status(self, message: Message) -> Reaction:
        if message.statusCode == "SUCCESS":
            is_login = self.phase is Phase.AUTHENTICATING and message.id in {None, self._id}
            return self._subscribe() if is_login else Reaction()
        code = message.errorCode if message.errorCode in ERRORS else "REFUSED"
        if code == "INVALID_CLOCK":
            self.forget()
            if not message.connectionClosed:
                return self._subscribe()
        raise StreamError(
            f"the server refused: {code.lower()}",
            code.lower(),
            is_login=code in NEEDS_LOGIN,
            is_too_much=code == "SUBSCRIPTION_LIMIT_EXCEEDED",
            is_passing=code in PASSING,
        )

    def _subscribe(self) -> Reaction:
        """Subscribe, in place of an earlier subscription; resume it if there is a clock."""
        self.phase = Phase.SUBSCRIBING
        self._segments.clear()
        self._is_narrowed = False
        chosen = {} if self._market_ids is None else {"marketIds": self._market_ids}
        types = types_of(self._options.kinds)
        offers = "EX_BEST_OFFERS_DISP" if self._options.virtual_bets else "EX_BEST_OFFERS"
        request: dict[str, Any] = {
            "op": "marketSubscription",
            "segmentationEnabled": True,
            "conflateMs": self._options.conflate_ms,
            "heartbeatMs": self._options.heartbeat_ms,
            "marketFilter": {"eventTypeIds": [SOCCER], "marketTypes": types, **chosen},
            "marketDataFilter": {"fields": [offers, "EX_MARKET_DEF"], "ladderLevels": 1},
        }
        if self._clk is not None and self._initial_clk is not None and self._is_whole:
            request |= {"initialClk": self._initial_clk, "clk": self._clk}
        return self._send(request)

    def _send(self, request: dict[str, Any]) -> Reaction:
        self._id += 1
        return Reaction(send=(msgspec.json.encode({**request, "id": self._id}) + b"\r\n",))

    def _on_market_data(self, message: Message) -> Sliced[Reaction]:
        if message.id is not None and message.id < self._id:
            return self._removals(message)  # the message belongs to a replaced subscription
        if self.phase in {Phase.CONNECTING, Phase.AUTHENTICATING}:
            raise PayloadError("market data came before a subscription", "protocol")
        if message.status == UNRELIABLE_STATUS:
            is_news = self.phase is not Phase.UNRELIABLE
            self.phase = Phase.UNRELIABLE
            return Reaction(withdraw=is_news)
        if self.phase is Phase.UNRELIABLE:  # reliable again, but changes sent meanwhile may be missing
            self.forget()
            return self._subscribe()
        whole = self._segments.join(message)
        return Reaction() if whole is None else (yield from self._apply(whole))

    def _removals(self, message: Message) -> Reaction:
        """Return removals of markets that are not open; before the image nothing else counts."""
        if self.phase is not Phase.SUBSCRIBING:
            return Reaction()
        removals: list[Removal] = []
        for change in message.mc or ():
            market = self.markets.get(change.id)
            if market is None or self._is_superseded(change):
                continue
            if isinstance(change, UnreadChange):
                removals += _removed(market, Reason.UNREADABLE)
                self.markets[change.id] = self._unread(change, market)
            elif change.marketDefinition and change.marketDefinition.status != OPEN:
                market.definition = change.marketDefinition  # so that new names do not list it again
                removals += _removed(market, market.removal_reason)
        return Reaction(changes=Extract((), tuple(removals))) if removals else Reaction()

    def _apply(self, message: Message) -> Sliced[Reaction]:
        match message.ct:
            case "SUB_IMAGE":
                self._note_versions(self.markets.values())
                self.markets.clear()
                self._events.clear()
                is_image = True
            case "RESUB_DELTA":
                if self._clk is None:
                    raise PayloadError("a patch came where nothing is known", "protocol")
                is_image = True
            case None | "HEARTBEAT":
                if self.phase is not Phase.LIVE:
                    return self._removals(message)  # before the image only removals count
                is_image = self._is_first
            case other:
                raise PayloadError(f"ct was {other[:32]!r}", "protocol")
        self.phase = Phase.LIVE
        self._is_first = False
        changed = yield from self._patch(message)
        if not self._is_narrowed:
            self._initial_clk = message.initialClk or self._initial_clk
            self._clk = message.clk or self._clk
        lacking = tuple(market.market_id for market in changed if market.is_lacking)
        changed = self._with_touched(changed)
        if is_image:
            self._is_image_whole = not self._unidentified
            extract, unnamed = yield from self._extract(self.markets.values())
            self._names = {market: names for market, names in self._names.items() if market in self.markets}
            return Reaction(image=extract, vouches=True, unnamed=unnamed, lacking=lacking)
        if not changed and not self._unidentified:
            return Reaction(vouches=True)
        is_any_unknown = self._unidentified > 0  # then every price is doubtful
        extract, unnamed = yield from self._extract(changed)
        again = self.refresh() if is_any_unknown and self._id else Reaction()
        vouches = not is_any_unknown
        return Reaction(again.send, changes=extract, vouches=vouches, unnamed=unnamed, lacking=lacking)

    def _patch(self, message: Message) -> Sliced[list[Market]]:
        """Apply the changes to the markets and return the changed markets, each once."""
        changed: dict[str, Market] = {}
        unread: set[str] = set()  # later copies of these markets may be older, and are ignored
        changes = message.mc or []
        self._unidentified = 0
        changes.reverse()
        while changes:
            yield
            change = changes.pop()  # `pop` frees its memory, which halves the time of an image
            # If we asked for conflation, `con` does not mean that we read slowly.
            self.slow_messages += change.con is True and not self._conflate_ms
            if not change.id:
                self._unidentified += 1
            elif change.id not in unread and not self._is_superseded(change):
                self._change(change, message.pt, changed)
                unread.update([change.id] if isinstance(change, UnreadChange) else ())
        if len(self.markets) > MAX_MARKETS:
            raise PayloadError(f"a subscription of more than {MAX_MARKETS} markets", "too_big")
        return list(changed.values())

    def _change(self, change: MarketChange, published_ms: float | None, changed: dict[str, Market]) -> None:
        market, is_unread = self.markets.get(change.id), isinstance(change, UnreadChange)
        is_undefined = change.marketDefinition is None and (market is None or change.img is True)
        if change.id in self._closed and is_undefined and not (change.img or is_unread):
            return
        if is_unread or is_undefined:
            market = self.markets[change.id] = self._unread(change, market)
        elif market is None:
            market = self.markets[change.id] = Market(change.id)
        elif change.img:
            was_ours, version, listed = market.was_ours, market.version, market.listed
            market = Market(change.id, was_ours=was_ours, version=version, listed=listed)
            self.markets[change.id] = market
        self._events.prepare(market, change.marketDefinition)
        market.apply(change, published_ms)
        if self._events.type_of(market) is not None:
            market.apply_lay(change)
        self._events.note(market, self._names.get(change.id))
        self._closed.pop(change.id, None)
        changed[change.id] = market

    def _unread(self, change: MarketChange, market: Market | None) -> Market:
        """Return a market without any data, except its version and its listed lines."""
        unread = Market(change.id, was_ours=True, is_unread=True, is_lacking=True)
        if market is not None:
            unread.version, unread.listed = market.version, market.listed
            has_lines = market.is_unread or self._events.type_of(market) is not None
            unread.was_ours = market.was_ours or not has_lines
        return unread

    def _is_superseded(self, change: MarketChange) -> bool:
        """Return whether a change has an older definition's version than the known market."""
        definition, market = change.marketDefinition, self.markets.get(change.id)
        known = self._versions.get(change.id) if market is None else market.version
        version = None if definition is None else definition.version
        return version is not None and known is not None and version < known

    def _with_touched(self, changed: list[Market]) -> list[Market]:
        """Return these markets, and other markets of the matches whose id or names they changed."""
        touched = self._events.take_touched()
        if not touched:
            return changed
        known = {market.market_id for market in changed}
        found = [
            self.markets[market] for market in touched if market in self.markets and market not in known
        ]
        return [*changed, *(market for market in found if self._events.type_of(market) is not None)]

    def _close(self, market: Market) -> None:
        self.markets.pop(market.market_id, None)
        self._names.pop(market.market_id, None)
        self._events.close(market)
        self._closed[market.market_id] = None
        while len(self._closed) > MAX_MARKETS:
            del self._closed[next(iter(self._closed))]
        self._note_versions((market,))

    def _note_versions(self, markets: Iterable[Market]) -> None:
        for market in markets:
            if market.version is not None:
                self._versions[market.market_id] = market.version
        while len(self._versions) > MAX_MARKETS:
            del self._versions[next(iter(self._versions))]

    def _extract(self, markets: Iterable[Market]) -> Sliced[tuple[Extract, tuple[str, ...]]]:
        """Return the offers of these markets, and ids of markets without names; drop closed markets."""
        matches: list[Match] = []
        removals: list[Removal] = []
        unnamed: list[str] = []
        for market in list(markets):
            yield
            names = self._names.get(market.market_id)
            lines, gone = self._events.offers(market, self._options, names)
            matches += lines
            removals += gone
            if market.was_ours:
                odds = market.odds(self._options, names)
                if isinstance(odds, Match):
                    matches.append(odds)
                else:
                    removals.append(odds)
            if market.is_unnamed_by(names) or self._events.is_unnamed(market, names):
                unnamed.append(market.market_id)
            if market.status == CLOSED:
                self._close(market)
        removals += [Removal(SourceMatchId(""), Reason.UNREADABLE)] * self._unidentified
        self._unidentified = 0
        return Extract(tuple(matches), tuple(removals)), tuple(unnamed)


def _removed(market: Market, reason: str) -> list[Removal]:
    """Return the removals of everything that a market may have on offer."""
    ids = sorted(market.listed) or [SourceMatchId(market.market_id)]
    return [Removal(each, reason) for each in ids]
