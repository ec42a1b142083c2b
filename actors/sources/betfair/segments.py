"""Joining the segments of a message of the exchange's stream.

Pure. Nothing of a message counts before its last segment has come, neither its markets nor its clocks.
"""

from __future__ import annotations

import msgspec

from actors.core.errors import PayloadError
from actors.sources.betfair.wire import MarketChange, Message

MAX_MARKETS = 10_000
"""Markets that one message or subscription may hold: far more than any account may subscribe to."""


class SegmentedMessage:
    """The segments so far of the message under way, if there is one."""

    def __init__(self) -> None:
        self._changes: list[MarketChange] | None = None
        self._ct: str | None = None
        self._clk: str | None = None
        self._initial_clk: str | None = None

    def clear(self) -> None:
        """Drop the message under way."""
        self._changes = None

    def join(self, message: Message) -> Message | None:
        """Return a whole message: `message` itself, or all its segments with the last; None before that.

        A segment without a kind (`ct`) has that of the first. Raises: PayloadError for segments that are
        out of order, of two kinds or too many.
        """
        match message.segmentType:
            case None:
                if self._changes is None:
                    return message
                if message.ct == "HEARTBEAT":
                    return None  # it can only confirm what is whole
                raise PayloadError("a segmented message was not ended", "segments")
            case "SEG_START" if self._changes is None:
                self._changes, self._ct = [], message.ct
                self._clk = self._initial_clk = None
            case "SEG" | "SEG_END" if self._changes is not None:
                if message.ct not in {None, self._ct}:
                    raise PayloadError("a segmented message is of two kinds", "segments")
            case other:
                raise PayloadError(f"segmentType {other[:32]!r} came out of order", "segments")
        changes = self._changes
        changes.extend(message.mc or ())
        self._clk = message.clk or self._clk
        self._initial_clk = message.initialClk or self._initial_clk
        if len(changes) > MAX_MARKETS:
            raise PayloadError(f"a message of more than {MAX_MARKETS} markets", "too_big")
        if message.segmentType != "SEG_END":
            return None
        self._changes = None
        clocks = {"clk": self._clk, "initialClk": self._initial_clk}
        return msgspec.structs.replace(message, ct=self._ct, mc=changes, **clocks)
