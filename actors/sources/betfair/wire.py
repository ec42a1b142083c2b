"""The wire format of the Betfair Exchange stream: one JSON message a line.

Pure. A real delta and the start of an image (cut):

    {"op":"mcm","id":2,"clk":"AHMA","pt":1471370160471,"mc":[{"id":"1.18",
     "rc":[{"batb":[[0,4.7,4.33]],"id":33}]}]}
    {"op":"mcm","id":2,"ct":"SUB_IMAGE","initialClk":"ab","clk":"AA","mc":[{"id":"1.18","img":true,
     "marketDefinition":{"status":"OPEN","marketType":"MATCH_ODDS",
      "runners":[{"id":33,"sortPriority":1}, ...]}}]}

Absent and null mean unchanged, lists may be null, ids of runners are numbers or strings. Format:
Betfair's "Exchange Stream API", specification ESASwaggerSchema. Fields are named as there.
"""

# ruff: noqa: N815 - the names on the wire

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct, structs

from actors.core.cooperative import Sliced
from actors.core.errors import UNREADABLE, PayloadError
from actors.source_api.parsing import WHOLE_BYTES

SelectionId = int | Annotated[str, Meta(pattern="^[0-9]{1,18}$")]

Level = tuple[int, float, float]
"""Level (0 is the best), price, size."""


class RunnerDefinition(Struct, frozen=True, gc=False):
    """One runner as its market defines it; `name` in historic files only."""

    id: SelectionId
    sortPriority: int | None = None
    hc: float | None = None
    status: str | None = None
    name: str | None = None


class MarketDefinition(Struct, frozen=True, gc=False):
    """A market; always whole."""

    status: str | None = None
    marketType: str | None = None
    bettingType: str | None = None
    eventTypeId: str | int | None = None
    marketTime: str | None = None
    eventId: str | None = None
    inPlay: bool | None = None
    runners: tuple[RunnerDefinition, ...] | None = None


class RunnerChange(Struct, frozen=True, gc=False):
    """What changed of one runner, keyed by (id, hc).

    `batb` are levels to back, `bdatb` the same with virtual bets, `atb` pairs of price and size.
    """

    id: SelectionId
    hc: float | None = None
    ltp: float | None = None
    batb: tuple[Level, ...] | None = None
    bdatb: tuple[Level, ...] | None = None
    atb: tuple[tuple[float, float], ...] | None = None


class MarketChange(Struct, frozen=True, gc=False):
    """What changed of one market; with `img` it replaces what was known of it."""

    id: str
    img: bool | None = None
    marketDefinition: MarketDefinition | None = None
    rc: tuple[RunnerChange, ...] | None = None
    con: bool | None = None


class Frame(Struct, frozen=True):
    """Any message of the server without its markets, told apart by `op`: connection, status or mcm."""

    op: str
    id: int | None = None
    ct: str | None = None
    clk: str | None = None
    initialClk: str | None = None
    pt: Annotated[int, Meta(ge=0, le=2**53)] | None = None
    segmentType: str | None = None
    status: int | None = None
    statusCode: str | None = None
    errorCode: str | None = None
    heartbeatMs: int | None = None
    conflateMs: int | None = None
    connectionClosed: bool | None = None


class Message(Frame, frozen=True):
    """Any message of the server."""

    mc: list[MarketChange] | None = None


class _Split(Frame, frozen=True):
    mc: list[msgspec.Raw] | None = None


_message = msgspec.json.Decoder(Message)
_split = msgspec.json.Decoder(_Split)
_change = msgspec.json.Decoder(MarketChange)


def read_message(line: bytes) -> Sliced[Message]:
    """Read one line, the markets of a long one in slices.

    Raises: PayloadError if it is no message of the stream.
    """
    try:
        line.decode()  # msgspec does not check the encoding of what it skips
        if len(line) <= WHOLE_BYTES:
            return _message.decode(line)
        yield
        message = _split.decode(line)
        changes: list[MarketChange] = []
        for part in message.mc or ():
            yield
            changes.append(_change.decode(part))
    except UNREADABLE as error:
        raise PayloadError(f"the line is no message of the stream: {error}") from error
    return Message(**{**structs.asdict(message), "mc": changes})
