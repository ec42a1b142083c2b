"""The path of the exchange's lines to the integrity gate, and on to the board, without the actors."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from actors.board.board import Board
from actors.board.chunks import entries_of
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import Batch, BookmakerId, Match, Removal, SourceMatchId, SourceName
from actors.core.validation import Bounds, admit
from actors.markets.market import Kind
from actors.pipeline.stream_feed import LineResult, StreamFeed
from actors.source_api.kinds import bounds_of
from actors.sources.betfair.kind import KIND
from actors.sources.betfair.session import BetfairSession
from tests.support.builders.betfair import OPTIONS, SUCCESS, TOKEN, Json, line, prices_of
from tests.support.builders.boards import START
from tests.support.time.virtual import WALL_0

EXCHANGE = BookmakerId("exchange")
STALE_AFTER_S = 1e6
ALL_KICK_OFFS = BoardRules(expire_after_kickoff_s=1e10)
HANDICAPS = (Kind.ONE_X_TWO, Kind.ASIAN_HANDICAP)


class Gated:
    """A subscription, its feed and the integrity gate, with a clock that advances by itself.

    `matches` are all matches that the gate accepts, by id.
    """

    def __init__(
        self, markets: tuple[Kind, ...] = HANDICAPS, *, is_historic: bool = False, **options: Any
    ) -> None:
        changed = msgspec.structs.replace(OPTIONS, markets=markets, **options)
        self.session = BetfairSession(changed, is_historic=is_historic)
        self.feed = StreamFeed(self.session, SourceName("stream"), (EXCHANGE,), STALE_AFTER_S)
        self.bounds = bounds_of(KIND, EXCHANGE, changed)
        self.matches: dict[SourceMatchId, Match] = {}
        self.removals: tuple[Removal, ...] = ()
        self.rejected: Counter[str] = Counter()
        self.sent: list[Json] = []
        self._mono = 0.0

    @property
    def now(self) -> Instant:
        """The present moment."""
        return Instant(self._mono, WALL_0 + self._mono)

    def connect(self) -> None:
        """Begin a connection and go on until the subscription is granted."""
        self.session.connect(TOKEN)
        self.take(line({"op": "connection", "connectionId": "1"}))
        self.take(line({**SUCCESS, "id": self.sent[-1]["id"]}))
        self.take(line({**SUCCESS, "id": self.sent[-1]["id"]}))

    def take(self, raw: bytes) -> LineResult:
        """Process one line. Raises: PayloadError, StreamError."""
        self._mono += 0.001
        result = run_now(self.feed.line(raw, self.now))
        self.sent += map(json.loads, result.reaction.send)
        self.apply(result.batches)
        return result

    def apply(self, batches: Sequence[Batch]) -> None:
        """Pass batches through the gate; `removals` has their removals."""
        self.removals = ()
        for batch in batches:
            self._admit(batch)

    def _admit(self, batch: Batch) -> Batch:
        admission = run_now(admit(batch, self.bounds))
        self.rejected.update(admission.rejected)
        self.removals += admission.batch.removals
        if batch.complete or batch.withdrawn:
            self.matches.clear()
        for removal in admission.batch.removals:
            self.matches.pop(removal.source_match_id, None)
        self.matches.update((match.source_match_id, match) for match in admission.batch.matches)
        return admission.batch

    def shown(self) -> dict[str, tuple[float, ...]]:
        """Return all prices, by id."""
        return {str(name): match.prices for name, match in self.matches.items()}

    def odds(self, kind: Kind) -> dict[str, tuple[float, ...]]:
        """Return the prices of a kind of market, by id."""
        return {
            str(name): match.prices for name, match in self.matches.items() if match.market.kind is kind
        }


class Follower(Gated):
    """A `Gated` of 1X2 alone, with a board; it believes book sums as those of a bookmaker."""

    def __init__(self, *, is_historic: bool = False, **options: Any) -> None:
        super().__init__((Kind.ONE_X_TWO,), is_historic=is_historic, **options)
        self.bounds = Bounds()
        self.snapshot = Snapshot.empty(1000, (EXCHANGE,))

    def apply(self, batches: Sequence[Batch]) -> None:
        """Pass batches through the gate to the board."""
        board = Board(self.snapshot, ALL_KICK_OFFS)
        for batch in batches:
            run_now(board.apply(self._admit(batch), self.now))
        self.snapshot = run_now(board.finish(START))

    def shown(self) -> dict[str, tuple[float, ...]]:
        """Return the prices on the board, by match."""
        return {**prices_of(entry.match for entry in entries_of(self.snapshot.books[EXCHANGE].chunks))}
