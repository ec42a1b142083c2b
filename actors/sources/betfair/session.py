"""The protocol of the exchange's stream as a state machine: lines in, reactions out.

Pure. One object a subscription, which outlives connections: it keeps the markets and the clocks with
which the next connection resumes. It reads no clock and writes to no socket; its actor does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from actors.core.cooperative import Sliced, run_now
from actors.core.errors import PayloadError, StreamError
from actors.core.messages import Extract, Match, Removal, SourceMatchId
from actors.source_api.stream import Reaction
from actors.sources.betfair.lines import FEW, read_message
from actors.sources.betfair.market import CLOSED, MATCH_ODDS, OPEN, SOCCER, Market, Names, Terms
from actors.sources.betfair.options import HEARTBEATS_TO_BE_SILENT
from actors.sources.betfair.segments import MAX_MARKETS, Segments
from actors.sources.betfair.wire import Message

UNRELIABLE_STATUS = 503
NEEDS_LOGIN = frozenset({"NO_SESSION", "INVALID_SESSION_INFORMATION"})
PASSING = frozenset({"INVALID_CLOCK", "CONNECTION_FAILED", "TIMEOUT", "UNEXPECTED_ERROR"})
ERRORS = frozenset(
    {
        *("NO_APP_KEY", "INVALID_APP_KEY", "NOT_AUTHORIZED", "INVALID_INPUT", "INVALID_REQUEST"),
        *("MAX_CONNECTION_LIMIT_EXCEEDED", "SUBSCRIPTION_LIMIT_EXCEEDED", "TOO_MANY_REQUESTS"),
        *NEEDS_LOGIN,
        *PASSING,
    }
)
"""Codes that are counted by name; there cannot be more names than these."""
SLOWEST_HEARTBEAT_MS, FASTEST_HEARTBEAT_MS = 30_000, 500
"""Between these is the server's pace, whatever was asked for."""
MATCH_ODDS_ONLY = {"eventTypeIds": [SOCCER], "marketTypes": [MATCH_ODDS]}


class Phase(StrEnum):
    """Where a connection is."""

    CONNECTING = "connecting"
    AUTHENTICATING = "authenticating"
    SUBSCRIBING = "subscribing"  # the first image or patch is still to come
    LIVE = "live"
    UNRELIABLE = "unreliable"  # the server says that its stream is late


class Subscription(Struct, frozen=True):
    """What is asked for: all matches, or these markets alone; the server's pace in milliseconds.

    Offers come with virtual bets or without: those that other bets of the market would make.
    """

    app_key: str
    heartbeat_ms: int
    conflate_ms: int
    is_virtual: bool = False
    market_ids: tuple[str, ...] | None = None


class BetfairSession:
    """One subscription: its markets, its clocks and the phase of its connection.

    With `is_historic` there is no connection: the first line counts as an image, all others as deltas.
    """

    def __init__(self, subscription: Subscription, terms: Terms, *, is_historic: bool = False) -> None:
        self.phase = Phase.LIVE if is_historic else Phase.CONNECTING
        self.subscription = subscription
        self.markets: dict[str, Market] = {}
        self.slow_messages = 0
        self._terms = terms
        self._asked = subscription
        self._names: dict[str, Names] = {}
        self._initial_clk: str | None = None
        self._clk: str | None = None
        self._id = 0
        self._token = ""
        self._heartbeat_ms: int | None = None
        self._conflate_ms = subscription.conflate_ms
        self._segments = Segments()
        self._is_first = is_historic

    @property
    def is_unreliable(self) -> bool:
        """Whether the server says that its stream is late."""
        return self.phase is Phase.UNRELIABLE

    @property
    def silence_s(self) -> float | None:
        """Seconds for which this connection may be silent by the server's word; None without one."""
        return None if self._heartbeat_ms is None else HEARTBEATS_TO_BE_SILENT * self._heartbeat_ms / 1000

    def connect(self, token: str) -> None:
        """Begin a connection with that session token; the server speaks first."""
        self.phase = Phase.CONNECTING
        self._token = token
        self._heartbeat_ms = None
        self._conflate_ms = self.subscription.conflate_ms
        self._segments.clear()

    def refresh(self) -> Reaction:
        """Ask for an image in place of what is subscribed to; nothing while that is under way."""
        if self.phase is not Phase.LIVE:
            return Reaction()
        self.forget()
        return self._subscribe()

    def narrow(self, wanted: Sequence[str]) -> None:
        """Subscribe to these markets alone, and from an image on, at the next occasion."""
        self.subscription = msgspec.structs.replace(self.subscription, market_ids=tuple(wanted))
        self.forget()

    def forget(self) -> None:
        """Resume nothing: the next connection begins with an image."""
        self._initial_clk = self._clk = None

    def receive(self, line: bytes) -> Sliced[Reaction]:
        """Take one line, a long one in slices, until whose end nobody else may ask or tell anything.

        Raises: PayloadError for what is no message, after which nothing that follows can be trusted;
        StreamError when the server refuses.
        """
        message = yield from read_message(line)
        told_ms = message.heartbeatMs
        if told_ms is not None and FASTEST_HEARTBEAT_MS <= told_ms <= SLOWEST_HEARTBEAT_MS:
            self._heartbeat_ms = told_ms
        if message.conflateMs is not None:
            self._conflate_ms = message.conflateMs
        match message.op:
            case "connection":
                return self._connected()
            case "status":
                return self._answered(message)
            case "mcm":
                return (yield from self._changed(message))
            case _:
                raise PayloadError(f"op was {message.op[:32]!r}, must be connection, status or mcm", "op")

    def image(self) -> Extract:
        """Return the complete list as it is known now."""
        return run_now(self._extract(self.markets.values()))

    def name(self, names: Mapping[str, Names]) -> Extract:
        """Take the names of markets, and give what changes by them."""
        known = [market for market in names if market in self.markets]
        self._names.update((market, names[market]) for market in known)
        return run_now(self._extract(self.markets[market] for market in known))

    def _connected(self) -> Reaction:
        if self.phase is not Phase.CONNECTING:
            raise PayloadError("a second session began on one connection", "protocol")
        self.phase = Phase.AUTHENTICATING
        login = {"appKey": self.subscription.app_key, "session": self._token}
        return self._sending({"op": "authentication", **login})

    def _answered(self, message: Message) -> Reaction:
        if message.statusCode == "SUCCESS":
            is_due = self.phase is Phase.AUTHENTICATING and message.id in {None, self._id}
            return self._subscribe() if is_due else Reaction()
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
        """Subscribe, in place of what was subscribed before; resume where there is a clock."""
        self.phase = Phase.SUBSCRIBING
        self._segments.clear()
        wanted = self._asked = self.subscription
        offers = "EX_BEST_OFFERS_DISP" if wanted.is_virtual else "EX_BEST_OFFERS"
        request: dict[str, Any] = {
            "op": "marketSubscription",
            "segmentationEnabled": True,
            "conflateMs": wanted.conflate_ms,
            "heartbeatMs": wanted.heartbeat_ms,
            "marketFilter": (
                MATCH_ODDS_ONLY
                if wanted.market_ids is None
                else {**MATCH_ODDS_ONLY, "marketIds": list(wanted.market_ids)}
            ),
            "marketDataFilter": {"fields": [offers, "EX_MARKET_DEF"], "ladderLevels": 1},
        }
        if self._clk is not None and self._initial_clk is not None:
            request |= {"initialClk": self._initial_clk, "clk": self._clk}
        return self._sending(request)

    def _changed(self, message: Message) -> Sliced[Reaction]:
        if message.id is not None and message.id < self._id:
            return self._ended(message)  # of a subscription that this one has replaced
        if self.phase in {Phase.CONNECTING, Phase.AUTHENTICATING}:
            raise PayloadError("market data came before a subscription", "protocol")
        if message.status == UNRELIABLE_STATUS:
            is_news = self.phase is not Phase.UNRELIABLE
            self.phase = Phase.UNRELIABLE
            return Reaction(withdraw=is_news)
        if self.phase is Phase.UNRELIABLE:  # it is reliable again, but what was said meanwhile is not
            self.forget()
            return self._subscribe()
        whole = self._segments.joined(message)
        return Reaction() if whole is None else (yield from self._applied(whole))

    def _ended(self, message: Message) -> Reaction:
        """Take off what is not open, as the one thing that counts while the image is still to come."""
        if self.phase is not Phase.SUBSCRIBING:
            return Reaction()
        removals: list[Removal] = []
        for one in message.mc or ():
            if one.id in self.markets and one.marketDefinition and one.marketDefinition.status != OPEN:
                self.markets[one.id].definition = one.marketDefinition  # names do not bring it back
                status = (one.marketDefinition.status or "undefined").lower()
                removals.append(Removal(SourceMatchId(one.id), status))
        return Reaction(changes=Extract((), tuple(removals))) if removals else Reaction()

    def _applied(self, message: Message) -> Sliced[Reaction]:
        match message.ct:
            case "SUB_IMAGE":
                yield from self._clear()
                is_image = True
            case "RESUB_DELTA":
                if self._clk is None:
                    raise PayloadError("a patch came where nothing is known", "protocol")
                is_image = True
            case None | "HEARTBEAT":
                if self.phase is not Phase.LIVE:
                    return self._ended(message)  # before the image nothing is patched, nor vouched for
                is_image = self._is_first
            case other:
                raise PayloadError(f"ct was {other[:32]!r}", "protocol")
        self.phase = Phase.LIVE
        self._is_first = False
        changed = yield from self._patched(message)
        if self._asked is self.subscription:
            self._initial_clk = message.initialClk or self._initial_clk
            self._clk = message.clk or self._clk
        if is_image:
            extract = yield from self._extract(self.markets.values())
            self._names = {market: one for market, one in self._names.items() if market in self.markets}
            unnamed = yield from self._unnamed(self.markets.values())
            return Reaction(image=extract, vouches=True, unnamed=unnamed)
        if not changed:
            return Reaction(vouches=True)
        extract = yield from self._extract(changed)
        return Reaction(changes=extract, vouches=True, unnamed=(yield from self._unnamed(changed)))

    def _clear(self) -> Sliced[None]:
        while self.markets:
            if len(self.markets) % FEW == 0:
                yield
            self.markets.popitem()

    def _patched(self, message: Message) -> Sliced[list[Market]]:
        """Lay the changes over the markets; give those that changed, each once."""
        changed: dict[str, Market] = {}
        changes = message.mc or []
        changes.reverse()
        while changes:
            if len(changes) % FEW == 0:
                yield
            one = changes.pop()  # to be freed one by one: all at once would take as long as reading them
            self.slow_messages += one.con is True and not self._conflate_ms  # else it is meant to be so
            known = self.markets.get(one.id)
            if known is None and one.marketDefinition is None:
                continue  # a change of a market that nobody has told us of
            market = known
            if market is None or one.img:
                market = self.markets[one.id] = Market(one.id)
                market.was_ours = known is not None and known.was_ours
            market.apply(one, message.pt)
            changed[one.id] = market
        if len(self.markets) > MAX_MARKETS:
            raise PayloadError(f"a subscription of more than {MAX_MARKETS} markets", "too_big")
        return list(changed.values())

    def _extract(self, markets: Iterable[Market]) -> Sliced[Extract]:
        """Read what these markets offer, and let go of those that are closed."""
        matches: list[Match] = []
        removals: list[Removal] = []
        for count, market in enumerate(list(markets)):
            if count % FEW == 0:
                yield
            if market.was_ours:
                one = market.odds(self._terms, self._names.get(market.market_id))
                if isinstance(one, Match):
                    matches.append(one)
                else:
                    removals.append(one)
            if market.status == CLOSED:
                self.markets.pop(market.market_id, None)
                self._names.pop(market.market_id, None)
        return Extract(tuple(matches), tuple(removals))

    def _unnamed(self, markets: Iterable[Market]) -> Sliced[tuple[str, ...]]:
        unnamed: list[str] = []
        for count, market in enumerate(markets):
            if count % FEW == 0:
                yield
            if market.is_unnamed_by(self._names.get(market.market_id)):
                unnamed.append(market.market_id)
        return tuple(unnamed)

    def _sending(self, request: dict[str, Any]) -> Reaction:
        self._id += 1
        return Reaction(send=(msgspec.json.encode({**request, "id": self._id}) + b"\r\n",))
