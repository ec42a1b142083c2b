"""The wire format of the Betfair Exchange stream: one JSON message a line.

Pure. A real delta and the start of an image (cut):

    {"op":"mcm","id":2,"clk":"AHMA","pt":1471370160471,"mc":[{"id":"1.18",
     "rc":[{"batb":[[0,4.7,4.33]],"id":33}]}]}
    {"op":"mcm","id":2,"ct":"SUB_IMAGE","initialClk":"ab","clk":"AA","mc":[{"id":"1.18","img":true,
     "marketDefinition":{"status":"OPEN","marketType":"MATCH_ODDS",
      "runners":[{"id":33,"sortPriority":1}, ...]}}]}

Absent and null mean unchanged, lists may be null, ids of runners are numbers or strings. Format:
Betfair's "Exchange Stream API", specification ESASwaggerSchema.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

SelectionId = int | Annotated[str, Meta(pattern="^[0-9]{1,18}$")]

Level = tuple[int, float, float]
"""Level (0 is the best), price, size."""

PriceSize = tuple[float, float]


class RunnerDefinition(Struct, frozen=True, gc=False):
    """One runner as its market defines it; `name` in historic files only."""

    id: SelectionId
    sortPriority: int | None = None  # noqa: N815 - as it is written on the wire, here and below
    hc: float | None = None
    status: str | None = None
    name: str | None = None


class MarketDefinition(Struct, frozen=True, gc=False):
    """A market; always whole."""

    status: str | None = None
    marketType: str | None = None  # noqa: N815
    bettingType: str | None = None  # noqa: N815
    eventTypeId: str | int | None = None  # noqa: N815
    marketTime: str | None = None  # noqa: N815
    eventId: str | None = None  # noqa: N815
    inPlay: bool | None = None  # noqa: N815
    runners: tuple[RunnerDefinition, ...] | None = None


class RunnerChange(Struct, frozen=True, gc=False):
    """What changed of one runner, keyed by (id, hc); `bdatb` is `batb` with virtual bets."""

    id: SelectionId
    hc: float | None = None
    ltp: float | None = None
    batb: tuple[Level, ...] | None = None
    bdatb: tuple[Level, ...] | None = None
    atb: tuple[PriceSize, ...] | None = None


class MarketChange(Struct, frozen=True, gc=False):
    """What changed of one market; with `img` it replaces what was known of it."""

    id: str
    img: bool | None = None
    marketDefinition: MarketDefinition | None = None  # noqa: N815
    rc: tuple[RunnerChange, ...] | None = None
    con: bool | None = None


class Frame(Struct, frozen=True):
    """Any message of the server but for its markets, told apart by `op`: connection, status or mcm."""

    op: str
    id: int | None = None
    ct: str | None = None
    clk: str | None = None
    initialClk: str | None = None  # noqa: N815
    pt: Annotated[int, Meta(ge=0, le=2**53)] | None = None
    segmentType: str | None = None  # noqa: N815
    status: int | None = None
    statusCode: str | None = None  # noqa: N815
    errorCode: str | None = None  # noqa: N815
    heartbeatMs: int | None = None  # noqa: N815
    conflateMs: int | None = None  # noqa: N815
    connectionClosed: bool | None = None  # noqa: N815


class Message(Frame, frozen=True):
    """Any message of the server, with its markets: a list, so that who takes them can let go of each."""

    mc: list[MarketChange] | None = None
