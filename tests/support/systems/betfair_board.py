"""The path of the exchange's lines to the board, without the actors."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import msgspec

from actors.board.board import Board
from actors.board.chunks import entries_of
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import Batch, BookmakerId, SourceName
from actors.core.validation import Bounds, admit
from actors.pipeline.stream_feed import LineResult, StreamFeed
from actors.sources.betfair.session import BetfairSession
from tests.support.builders.betfair import OPTIONS, SUCCESS, TOKEN, Json, line, prices_of
from tests.support.builders.boards import START
from tests.support.time.virtual import WALL_0

EXCHANGE = BookmakerId("exchange")
STALE_AFTER_S = 1e6
ALL_KICK_OFFS = BoardRules(expire_after_kickoff_s=1e10)


class Follower:
    """A subscription, its feed, the integrity gate and a board, with a clock that advances by itself."""

    def __init__(self, *, is_historic: bool = False, **options: Any) -> None:
        changed = msgspec.structs.replace(OPTIONS, **options)
        self.session = BetfairSession(changed, is_historic=is_historic)
        self.feed = StreamFeed(self.session, SourceName("stream"), (EXCHANGE,), STALE_AFTER_S)
        self.snapshot = Snapshot.empty(1000, (EXCHANGE,))
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
        heard = run_now(self.feed.line(raw, self.now))
        self.sent += map(json.loads, heard.reaction.send)
        self.apply(heard.batches)
        return heard

    def apply(self, batches: tuple[Batch, ...]) -> None:
        """Validate batches and apply them to the board."""
        board = Board(self.snapshot, ALL_KICK_OFFS)
        for batch in batches:
            admission = run_now(admit(batch, Bounds()))
            self.rejected.update(admission.rejected)
            run_now(board.apply(admission.batch, self.now))
        self.snapshot = run_now(board.finish(START))

    def shown(self) -> dict[str, tuple[float, float, float]]:
        """Return the prices on the board, by match."""
        return prices_of(entry.match for entry in entries_of(self.snapshot.books[EXCHANGE].chunks))
