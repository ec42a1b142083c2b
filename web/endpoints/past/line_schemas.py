"""The public JSON of lines, the movements of prices (docs/api.md), encoded in steps because it is long."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from actors.core.messages import BookmakerId
from actors.lines.closing import Close, NoClose
from actors.lines.consensus import FairPoint, NoConsensus
from actors.lines.line import Absence, Break, Point
from actors.lines.told import Line, Lines, Membership
from actors.markets.market import Market
from actors.markets.odds import Odds, of_all_winners
from actors.matches.fair import Method
from actors.matching.event import Chances
from actors.matching.rules import Certainty
from web.encoding.csv_text import by_outcome, table, utc
from web.encoding.schemas import Version
from web.protocol.negotiation import Format

Seconds = Annotated[float, Meta(description="Unix seconds")]
T = TypeVar("T")
ENCODED = 500
"""Points encoded in a step: some tenths of a millisecond, during which no other thread runs."""
_encode = msgspec.json.Encoder().encode


class LinePoint(Struct, frozen=True, omit_defaults=True):
    """The price by outcome from this version on, or why there is none.

    With `state` the price is older: it is the first known price, or the first price after a gap.
    """

    version: Version | None
    time: Seconds
    odds: Mapping[str, float] | UnsetType = UNSET
    absent: Absence | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    state: bool = False


class Extreme(Struct, frozen=True):
    """The highest or the lowest price, and when it was first shown."""

    odds: float
    version: Version | None
    time: Seconds


class Closing(Struct, frozen=True):
    """The last price before the kick-off, shown from `time` until `closed_at`, at most the kick-off.

    `on_offer` says whether it was still shown at the kick-off; if not, `left` says why.
    """

    version: Version
    time: Seconds
    odds: Mapping[str, float]
    closed_at: Seconds
    on_offer: bool
    left: str | UnsetType = UNSET


class LinkedSince(Struct, frozen=True):
    """Whether the entry was a member of the fixture from this version on, and how sure its link was.

    The certainty is null if it was not kept.
    """

    version: Version
    time: Seconds
    is_member: bool
    certainty: Certainty | None


class LineV2(Struct, frozen=True):
    """The line of an entry; `points` are `points_count` unless it is `thinned`.

    `closing` is null without a closing price, and `closing_reason` says why.
    """

    bookmaker: str
    name: str
    id: str
    prices: Literal["live", "collected", "kind_unknown"]
    first_seen: LinePoint | None
    newest: LinePoint | None
    closing: Closing | None
    highest: Mapping[str, Extreme]
    lowest: Mapping[str, Extreme]
    points_count: int
    thinned: bool
    points: Sequence[LinePoint]
    closing_reason: NoClose | UnsetType = UNSET
    linked: Sequence[LinkedSince] | UnsetType = UNSET


class ConsensusPoint(Struct, frozen=True, omit_defaults=True):
    """The consensus of a number of `bookmakers`, by outcome, from this version on, or why there is none."""

    version: Version | None
    time: Seconds
    bookmakers: int
    fair: Mapping[str, float] | UnsetType = UNSET
    absent: NoConsensus | UnsetType = UNSET
    reason: str | UnsetType = UNSET


class ConsensusLine(Struct, frozen=True):
    """The consensus over time: the median of bookmakers with live prices and a sure link at the time."""

    method: Method
    points_count: int
    thinned: bool
    points: Sequence[ConsensusPoint]


class GapV2(Struct, frozen=True):
    """A gap: changes between these two known versions, and between their times, are not kept, and why."""

    after_version: Version
    until_version: Version
    after_time: Seconds
    until_time: Seconds
    reason: str


class LineList(Struct, frozen=True):
    """The lines of an entry, or of the entries of a fixture, between two versions.

    They come from the `archive`, or only from `memory` since the start of the service.
    """

    id: str
    market: str
    kept: Literal["archive", "memory"]
    from_version: Version
    from_time: Seconds
    to_version: Version
    to_time: Seconds
    start_time: int | None
    lines: Sequence[LineV2]
    consensus: ConsensusLine | None
    gaps: Sequence[GapV2]


class Form(Struct, frozen=True):
    """Settings of the public form: display names, the method of the consensus."""

    names: Mapping[BookmakerId, str]
    method: Method
    kept: Literal["archive", "memory"] = "archive"
    format: Format = Format.JSON


def csv_of(lines: Lines, form: Form) -> Iterator[bytes]:
    """Yield lines as CSV, a row for each point.

    The rows of the consensus are the last rows; they have the id of the fixture, and no bookmaker.
    """
    of_each = (f"{name}_{outcome}" for name in ("odds", "fair") for outcome in lines.market.outcomes)
    about = ("id", "bookmaker", "name", "prices", "version", "time_utc")
    columns = (*about, *of_each, "bookmakers_count", "absent", "reason", "state")
    return table(columns, _records(lines, form))


def _records(lines: Lines, form: Form) -> Iterator[dict[str, object]]:
    for line in lines.lines:
        about = {"id": line.id, "bookmaker": line.bookmaker, "name": form.names.get(line.bookmaker)}
        for of in line.points:
            point = _point(of, lines.market.outcomes)
            yield (
                about | {"prices": line.prices or "kind_unknown"} | _record(point) | {"state": point.state}
            )
    for fair in lines.consensus or ():
        told = _fair_point(lines.market, fair)
        yield {"id": lines.id, "bookmakers_count": told.bookmakers} | _record(told)


def _record(of: LinePoint | ConsensusPoint) -> dict[str, object]:
    when = {"version": of.version, "time_utc": utc(of.time), "absent": of.absent, "reason": of.reason}
    values = by_outcome("odds", of.odds) if isinstance(of, LinePoint) else by_outcome("fair", of.fair)
    return when | values


def shown(lines: Lines, form: Form) -> LineList:
    """Return the public form; its long lists are already encoded."""
    outcomes = lines.market.outcomes
    consensus = None
    if lines.consensus is not None:
        is_thinned = len(lines.consensus) < lines.consensus_count
        points = _in_steps(lines.consensus, lambda of: _fair_point(lines.market, of))
        consensus = ConsensusLine(form.method, lines.consensus_count, is_thinned, points)
    first, last = lines.first, lines.last
    return LineList(
        *(lines.id, str(lines.market), form.kept),
        *(first.version, first.at_ms / 1000),
        *(last.version, last.at_ms / 1000),
        lines.kick_off,
        [_line(line, outcomes, form.names) for line in lines.lines],
        consensus,
        [_gap(gap) for gap in lines.gaps],
    )


def _line(line: Line, outcomes: Sequence[str], names: Mapping[BookmakerId, str]) -> LineV2:
    no_close = line.close if isinstance(line.close, NoClose) else UNSET
    extremes = line.extremes
    return LineV2(
        *(line.bookmaker, names.get(line.bookmaker, line.bookmaker), line.id),
        "kind_unknown" if line.prices is None else line.prices.value,
        None if line.first_seen is None else _point(line.first_seen, outcomes),
        None if line.newest is None else _point(line.newest, outcomes),
        closing(line.close, outcomes) if isinstance(line.close, Close) else None,
        {} if extremes is None else _extremes(extremes.highest, outcomes),
        {} if extremes is None else _extremes(extremes.lowest, outcomes),
        *(line.count, len(line.points) < line.count),
        _in_steps(line.points, lambda point: _point(point, outcomes)),
        no_close,
        [_linked(of) for of in line.members] if line.members else UNSET,
    )


def _point(point: Point, outcomes: Sequence[str]) -> LinePoint:
    at = point.version or None, point.at_ms / 1000
    if point.odds is not None:
        return LinePoint(*at, dict(zip(outcomes, point.odds, strict=True)), UNSET, UNSET, point.is_state)
    absent: Any = UNSET if point.absent is None else point.absent
    return LinePoint(*at, UNSET, absent, point.reason or UNSET, point.is_state)


def _extremes(points: Sequence[Point], outcomes: Sequence[str]) -> dict[str, Extreme]:
    return {
        outcome: Extreme(point.odds[place], point.version or None, point.at_ms / 1000)
        for place, (outcome, point) in enumerate(zip(outcomes, points, strict=True))
        if point.odds is not None
    }


def closing(close: Close, outcomes: Sequence[str]) -> Closing:
    """Return the public form of a closing price."""
    odds: Odds = close.odds
    return Closing(
        *(close.version, close.since_ms / 1000, dict(zip(outcomes, odds, strict=True))),
        *(close.closed_ms / 1000, close.on_offer, close.left or UNSET),
    )


def _linked(of: Membership) -> LinkedSince:
    return LinkedSince(of.version, of.at_ms / 1000, of.is_member, of.certainty)


def fair_of(market: Market, chances: Chances) -> dict[str, float]:
    """Return the public form of the probabilities of a market's outcomes."""
    rounded = [round(chance, 6) for chance in of_all_winners(market, chances)]
    return dict(zip(market.outcomes, rounded, strict=True))


def _fair_point(market: Market, of: FairPoint) -> ConsensusPoint:
    fair = UNSET if of.chances is None else fair_of(market, of.chances)
    absent: Any = UNSET if of.absent is None else of.absent
    return ConsensusPoint(
        of.version or None, of.at_ms / 1000, of.bookmakers, fair, absent, of.reason or UNSET
    )


def _gap(gap: Break) -> GapV2:
    return GapV2(gap.after, gap.until, gap.after_ms / 1000, gap.until_ms / 1000, gap.reason)


def _in_steps(values: Sequence[T], form: Callable[[T], object]) -> Any:
    """Return a list that is already encoded."""
    return msgspec.Raw(b"[" + b",".join(_steps(values, form)) + b"]")


def _steps(values: Sequence[T], form: Callable[[T], object]) -> Iterator[bytes]:
    for begin in range(0, len(values), ENCODED):
        yield _encode([form(value) for value in values[begin : begin + ENCODED]])[1:-1]
