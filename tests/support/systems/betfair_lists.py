"""The path of the exchange's lines to what the integrity gate lets through, of all kinds of market."""

from __future__ import annotations

import json
from collections import Counter

import msgspec

from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Match, Removal, SourceMatchId, SourceName
from actors.core.validation import admit
from actors.markets.market import Kind
from actors.pipeline.stream_feed import StreamFeed
from actors.source_api.kinds import bounds_of
from actors.sources.betfair.kind import KIND
from actors.sources.betfair.session import BetfairSession
from tests.support.builders.betfair import OPTIONS, SUCCESS, TOKEN, Json, line

HANDICAPS = (Kind.ONE_X_TWO, Kind.ASIAN_HANDICAP)


class Gated:
    """A subscription, its feed and the integrity gate: `matches` are all that it lets through, by id."""

    def __init__(self, markets: tuple[Kind, ...] = HANDICAPS, *, is_historic: bool = False) -> None:
        options = msgspec.structs.replace(OPTIONS, markets=markets)
        self.session = BetfairSession(options, is_historic=is_historic)
        self.matches: dict[SourceMatchId, Match] = {}
        self.removals: tuple[Removal, ...] = ()
        self.rejected: Counter[str] = Counter()
        self.sent: list[Json] = []
        self._bounds = bounds_of(KIND, "exchange", options)
        self._feed = StreamFeed(self.session, SourceName("stream"), (BookmakerId("exchange"),), 1e6)
        self._mono = 0.0

    def connect(self) -> None:
        """Begin a connection and go on until the subscription is granted."""
        self.session.connect(TOKEN)
        self.take(line({"op": "connection", "connectionId": "1"}))
        self.take(line({**SUCCESS, "id": self.sent[-1]["id"]}))
        self.take(line({**SUCCESS, "id": self.sent[-1]["id"]}))

    def take(self, raw: bytes) -> None:
        """Process one line; `removals` are those of its batches. Raises: PayloadError, StreamError."""
        self._mono += 0.001
        result = run_now(self._feed.line(raw, Instant(self._mono, 1e9 + self._mono)))
        self.sent += map(json.loads, result.reaction.send)
        self.removals = ()
        for batch in result.batches:
            admission = run_now(admit(batch, self._bounds))
            self.rejected.update(admission.rejected)
            self.removals += admission.batch.removals
            if batch.complete or batch.withdrawn:
                self.matches.clear()
            for removal in admission.batch.removals:
                self.matches.pop(removal.source_match_id, None)
            self.matches.update((match.source_match_id, match) for match in admission.batch.matches)

    def shown(self) -> dict[str, tuple[float, ...]]:
        """Return all prices, by id."""
        return {str(name): match.prices for name, match in self.matches.items()}

    def odds(self, kind: Kind) -> dict[str, tuple[float, ...]]:
        """Return the prices of a kind of market, by id."""
        return {
            str(name): match.prices for name, match in self.matches.items() if match.market.kind is kind
        }
