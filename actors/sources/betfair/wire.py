"""The wire format of the Betfair Exchange stream: a JSON message a line.

Pure. A real delta and the start of an image (cut):

    {"op":"mcm","id":2,"clk":"AHMA","pt":1471370160471,"mc":[{"id":"1.18",
     "rc":[{"batb":[[0,4.7,4.33]],"id":33}]}]}
    {"op":"mcm","id":2,"ct":"SUB_IMAGE","initialClk":"ab","clk":"AA","mc":[{"id":"1.18","img":true,
     "marketDefinition":{"status":"OPEN","marketType":"MATCH_ODDS",
      "runners":[{"id":33,"sortPriority":1}, ...]}}]}

A change of another shape affects only its market. Absent and null mean unchanged, lists may be null, ids
of runners are numbers or strings. Format and field names: Betfair's "Exchange Stream API", specification
ESASwaggerSchema.
"""

# ruff: noqa: N815 - the names on the wire

from __future__ import annotations

import re
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct, structs

from actors.core.cooperative import Sliced
from actors.core.errors import UNREADABLE, PayloadError
from actors.source_api.json_parts import part, split
from actors.source_api.parsing import Whole

T = TypeVar("T")

WHOLE_BYTES = 512 * 1024  # the longest line that is decoded in one step, some 5 ms
MAX_MARKETS = 10_000  # in a message or subscription: far more than any account may subscribe to

SelectionId = Whole | Annotated[str, Meta(pattern="^[0-9]{1,18}$")]
Level = tuple[Whole, float, float]  # level (0 is the best), price, size
NOTHING = msgspec.Raw(b"null")


class RunnerDefinition(Struct, frozen=True, gc=False):
    """A runner in its market's definition; only historic files have `name`."""

    id: SelectionId
    sortPriority: Whole | None = None
    hc: float | None = None
    status: str | None = None
    name: str | None = None


class MarketDefinition(Struct, frozen=True, gc=False):
    """A market, complete. `bettingType` and `eventId` may have any shape: 1X2 needs neither."""

    status: str | None = None
    marketType: str | None = None
    bettingType: Any = None
    eventId: Any = None
    eventTypeId: str | Whole | None = None
    marketTime: str | None = None
    inPlay: bool | None = None
    version: Whole | None = None
    runners: tuple[RunnerDefinition, ...] | None = None


class RunnerChange(Struct, frozen=True, gc=False):
    """Changes of a runner: levels to back, with virtual bets in `bdatb`; `atb` are (price, size).

    `levels` and `prices` read the fields to lay, only for the markets that need them.
    """

    id: SelectionId
    hc: float | None = None
    ltp: float | None = None
    batb: tuple[Level, ...] | None = None
    bdatb: tuple[Level, ...] | None = None
    atb: tuple[tuple[float, float], ...] | None = None
    batl: msgspec.Raw = NOTHING
    bdatl: msgspec.Raw = NOTHING
    atl: msgspec.Raw = NOTHING


class MarketChange(Struct, frozen=True, gc=False):
    """Changes of a market; with `img` they replace all its data."""

    id: str
    img: bool | None = None
    marketDefinition: MarketDefinition | None = None
    rc: tuple[RunnerChange, ...] | None = None
    con: bool | None = None


class UnreadChange(MarketChange, frozen=True, gc=False):
    """A change of another shape; `id` is empty if the id is unreadable too."""


class Frame(Struct, frozen=True):
    """A message without its markets; `op` is connection, status or mcm."""

    op: str
    id: Whole | None = None
    ct: str | None = None
    clk: str | None = None
    initialClk: str | None = None
    pt: Annotated[float, Meta(ge=0, le=2**53)] | None = None
    segmentType: str | None = None
    status: Whole | None = None
    statusCode: str | None = None
    errorCode: str | None = None
    heartbeatMs: Whole | None = None
    conflateMs: Whole | None = None
    connectionClosed: bool | None = None


class Message(Frame, frozen=True):
    """A message with its markets."""

    mc: list[MarketChange] | None = None


class _Split(Frame, frozen=True):
    mc: list[msgspec.Raw] | None = None


class _Named(Struct, frozen=True):
    id: msgspec.Raw


_message = msgspec.json.Decoder(Message)
_frame = msgspec.json.Decoder(_Split)
_change = msgspec.json.Decoder(MarketChange)
_named = msgspec.json.Decoder(_Named)
_text = msgspec.json.Decoder(str)
_levels = msgspec.json.Decoder(tuple[Level, ...] | None)
_prices = msgspec.json.Decoder(tuple[tuple[float, float], ...] | None)
_NUMBER = re.compile(rb"[0-9.]{1,32}").fullmatch


def read_message(line: bytes) -> Sliced[Message]:
    """Read a line, in slices if it is long. Raises: PayloadError if it is not a message."""
    try:
        line.decode()  # msgspec does not check the encoding of skipped parts
        if len(line) <= WHOLE_BYTES and (message := _decoded(_message, line)) is not None:
            return message  # takes 4 ms of processor time at most
        yield
        frame = split(_frame, line)
    except UNREADABLE as error:
        raise PayloadError(f"the line is no message of the stream: {error}") from error
    changes: list[MarketChange] = []
    for raw in frame.mc or ():
        yield
        changes.append(part(_change, raw) or _unread(raw))
    return Message(**{**structs.asdict(frame), "mc": changes})


def levels(raw: msgspec.Raw) -> tuple[Level, ...]:
    """Read levels. Raises: one of UNREADABLE for another shape."""
    return _levels.decode(raw) or ()


def prices(raw: msgspec.Raw) -> tuple[tuple[float, float], ...]:
    """Read prices with their sizes. Raises: one of UNREADABLE for another shape."""
    return _prices.decode(raw) or ()


def _decoded(decoder: msgspec.json.Decoder[T], raw: bytes | msgspec.Raw) -> T | None:
    try:
        return decoder.decode(raw)
    except UNREADABLE:
        return None


def _unread(raw: msgspec.Raw) -> UnreadChange:
    """Return an unreadable change with the id of its market, which may be a number, if it is readable."""
    named = _decoded(_named, raw)
    if named is None:
        return UnreadChange("")
    found = bytes(named.id)
    return UnreadChange(found.decode() if _NUMBER(found) else _decoded(_text, found) or "")


class SegmentedMessage:
    """The segments of a message, which counts only after its last segment."""

    def __init__(self) -> None:
        self._so_far: Message | None = None

    def clear(self) -> None:
        """Drop the segments so far."""
        self._so_far = None

    def join(self, message: Message) -> Message | None:
        """Return a whole message: `message` itself, or all segments joined; None before the last segment.

        A segment without a kind (`ct`) has the kind of the first segment. Raises: PayloadError for segments
        that are out of order, of two kinds or subscriptions, or too many.
        """
        so_far = self._so_far
        match message.segmentType:
            case None:
                if so_far is None:
                    return message
                if message.ct == "HEARTBEAT":
                    return None  # a heartbeat between segments confirms only whole messages
                raise PayloadError("a segmented message was not ended", "segments")
            case "SEG_START" if so_far is None:
                so_far = structs.replace(message, mc=[])
            case "SEG" | "SEG_END" if so_far is not None:
                if message.ct not in {None, so_far.ct}:
                    raise PayloadError("a segmented message is of two kinds", "segments")
                if message.id not in {None, so_far.id}:
                    raise PayloadError("a segmented message is of two subscriptions", "segments")
            case other:
                raise PayloadError(f"segmentType {other[:32]!r} came out of order", "segments")
        changes = so_far.mc or []
        changes.extend(message.mc or ())
        if len(changes) > MAX_MARKETS:
            raise PayloadError(f"a message of more than {MAX_MARKETS} markets", "too_big")
        clocks = {"clk": message.clk or so_far.clk, "initialClk": message.initialClk or so_far.initialClk}
        joined = structs.replace(message, id=so_far.id, ct=so_far.ct, mc=changes, **clocks)
        is_whole = message.segmentType == "SEG_END"
        self._so_far = None if is_whole else joined
        return joined if is_whole else None
