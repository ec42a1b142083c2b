r"""The lines that a program prints, protocol 1: UTF-8, a JSON object a line. Pure.

{"type":"list","list":"epl","id":"17","matches":[M, M]}
{"type":"begin","list":"epl","id":"18"}
{"type":"match","list":"epl","id":"18","match":"1234","home":"Leeds","away":"Hull",
"league":"Premier League","start":"2026-11-22T15:00:00Z","updated":"2026-11-22T14:00:00Z",
"odds":{"one":"2.10","draw":"3.40","two":"3.60"},
"markets":{"over_under:2.5":{"over":"1.90","under":"1.95"}}}
{"type":"end","list":"epl","id":"18","count":1}
{"type":"upsert","list":"epl", ... as a match, without id}
{"type":"remove","list":"epl","match":"1234"}
{"type":"alive","list":"epl"}
{"type":"withdraw","list":"epl","reason":"login lost"}

`list`, `begin` and `alive` may have "as_of", `list` and `begin` "collected":true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from actors.core.errors import UNREADABLE, PayloadError
from actors.core.messages import Match, SourceMatchId
from actors.core.validation import Bounds, Reason, fault
from actors.markets.market import Kind
from actors.source_api.parsing import unix_time
from actors.sources.program.markets import NO_ID, Price, Rejected, explained, read_markets

Name = Annotated[str, Meta(min_length=1, max_length=64)]
Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]


class Line(Struct, frozen=True, tag_field="type", rename={"scope": "list"}):
    """Any line: it is about a list."""

    scope: Name


class CompleteList(Line, frozen=True, tag="list"):
    """A complete list: a match that is not in it is withdrawn.

    It was on offer at `as_of`, by default now. If `collected`, its prices may be older than `as_of`.
    """

    id: Name
    matches: tuple[Raw, ...]
    as_of: Time | None = None
    collected: bool = False


class Begin(Line, frozen=True, tag="begin"):
    """The first line of a complete list in several lines, which replaces a begun list that has not ended.

    `as_of` and `collected` have the same meaning as in a complete list.
    """

    id: Name
    as_of: Time | None = None
    collected: bool = False


class ListedMatch(Line, frozen=True, tag="match"):
    """A match of a begun list, with the fields of an `Item`."""

    id: Name


class End(Line, frozen=True, tag="end"):
    """The end of a begun list, which must have `count` matches."""

    id: Name
    count: Annotated[float, Meta(ge=0, multiple_of=1)]


class Upsert(Line, frozen=True, tag="upsert"):
    """A match that is new or has changed, with the fields of an `Item`."""


class Remove(Line, frozen=True, tag="remove"):
    """A match that is no longer offered."""

    match: str


class Alive(Line, frozen=True, tag="alive"):
    """The present list is still on offer, or was on offer at `as_of`."""

    as_of: Time | None = None


class Withdraw(Line, frozen=True, tag="withdraw"):
    """The program can no longer confirm the list."""

    reason: str = ""


AnyLine = CompleteList | Begin | ListedMatch | End | Upsert | Remove | Alive | Withdraw


class Odds(Struct, frozen=True, rename={"home": "one", "away": "two"}):
    """Decimal odds of home, draw and away."""

    home: Price
    draw: Price
    away: Price


class Event(Struct, frozen=True):
    """A match without its 1X2 prices; `updated` is the source's own time of the content."""

    match: str
    home: str
    away: str
    league: str | None = None
    start: Time | None = None
    updated: Time | None = None
    markets: Raw = field(default_factory=Raw)


class Item(Event, frozen=True):
    """A match; `updated` is the source's own time of the content.

    `odds` are the 1X2 prices. It must have `odds` or `markets`.
    """

    odds: Odds | UnsetType = UNSET


class Said(Struct, frozen=True):
    """A match in a line: its markets, 1X2 first, of which some may be rejected, and its id if known.

    `passed_over` counts markets of kinds that are not configured.
    """

    match_id: SourceMatchId | None
    records: tuple[Match | Rejected, ...]
    passed_over: Mapping[Kind, int] = {}


class _Id(Struct, frozen=True):
    match: str


_LINE = msgspec.json.Decoder(AnyLine)
_ITEM = msgspec.json.Decoder(Item)
_NULL = Raw(b"null")
_EVENT = msgspec.json.Decoder(Event)
_ID = msgspec.json.Decoder(_Id)
_SHOWN_BYTES = 60
_TIME = "must have an offset, like 2026-11-22T15:00:00Z or 2026-11-22T16:00:00+01:00"
_NO_PRICE = 'each of one, draw and two in odds must be a number, or a text like "2.10"'


def read_line(line: bytes) -> AnyLine:
    """Decode a line. Raises: PayloadError, with reason `unreadable` if it is not JSON, or `protocol`."""
    try:
        read: AnyLine = _LINE.decode(line)
    except msgspec.ValidationError as error:
        raise PayloadError(f"{error}, in the line {_shown(line)}", "protocol") from error
    except UNREADABLE as error:
        raise PayloadError(f"a line is not JSON: {error}: {_shown(line)}") from error
    return read


def read_as_of(line: CompleteList | Begin | Alive) -> float | None:
    """Return the time of a list as Unix seconds, None if it has none. Raises: PayloadError."""
    at = unix_time(line.as_of)
    if at is None and line.as_of is not None:
        raise broken(line, f"has the as_of {line.as_of[:_SHOWN_BYTES]!r}, {_TIME}")
    return at


def broken(line: AnyLine, why: str) -> PayloadError:
    """Return the error of a line that breaks the protocol."""
    return PayloadError(f"{line.__struct_config__.tag} of list {line.scope!r} {why}", "protocol")


def read_item(content: bytes | Raw, bounds: Bounds, as_of: float | None = None) -> Said:
    """Return a match, checked by the board's rules; `as_of` is the time of a match without `updated`."""
    first: Match | Rejected | None = None
    try:
        item: Event = _ITEM.decode(content)
    except UNREADABLE as error:
        broken = _reason_of(str(error))
        match_id = _id_of(content)
        first = Rejected(match_id, broken, _NO_PRICE if broken is Reason.PRICE else str(error))
        if broken not in {Reason.PRICE, Reason.INCOMPLETE} or len(bounds.kinds) == 1:
            return Said(match_id, (first,))
        try:
            item = _EVENT.decode(content)  # faulty 1X2 prices must not affect its other markets
        except UNREADABLE:
            return Said(match_id, (first,))
    match = _match_of(item, as_of)
    if isinstance(match, Rejected):
        return Said(match.match_id, (match,))
    if first is None and isinstance(item, Item) and item.odds is not UNSET:
        match_id, reason = match.source_match_id, fault(match, bounds)
        first = match if reason is None else Rejected(match_id, reason, explained(match, bounds, reason))
    return _with_markets(first, item.markets, match, bounds)


def _match_of(item: Event, as_of: float | None) -> Match | Rejected:
    """Return a match, with 1X2 prices if it has any; rejected if a time is unreadable."""
    match_id = SourceMatchId(item.match)
    if " " in match_id:
        return Rejected(_unless_of_market(match_id), Reason.MATCH_ID, NO_ID)
    odds = item.odds if isinstance(item, Item) else UNSET
    start, updated = unix_time(item.start), unix_time(item.updated)
    for name, given, read in (("start", item.start, start), ("updated", item.updated, updated)):
        if read is None and given is not None:
            return Rejected(match_id, Reason.START_TIME, f"{name} was {given[:_SHOWN_BYTES]!r}, {_TIME}")
    return Match(
        match_id,
        item.home,
        item.away,
        item.league,
        *((0.0, 0.0, 0.0) if odds is UNSET else (float(odds.home), float(odds.draw), float(odds.away))),
        None if start is None else int(start),
        as_of if updated is None else updated,
    )


def _with_markets(first: Match | Rejected | None, content: Raw, event: Match, bounds: Bounds) -> Said:
    """Return a match with its other markets; `first` is its 1X2 market."""
    match_id = event.source_match_id
    if len(content) == 0 or content == _NULL:
        others, passed_over = list[Match | Rejected](), Counter[Kind]()
    else:
        others, passed_over = read_markets(content, event, bounds)
    if first is not None:
        others.insert(0, first)
    elif not (others or passed_over):
        others.append(Rejected(match_id, Reason.INCOMPLETE, "Object missing required field `odds`"))
    return Said(match_id, tuple(others), passed_over)


def _id_of(content: bytes | Raw) -> SourceMatchId | None:
    try:
        return _unless_of_market(SourceMatchId(_ID.decode(content).match))
    except UNREADABLE:
        return None


def _unless_of_market(match_id: SourceMatchId) -> SourceMatchId | None:
    """Return the id, or None if it is another match's market, which this line must not remove."""
    return None if match_id.partition(" ")[2].partition(":")[0] in {*Kind} else match_id


def _reason_of(error: str) -> Reason:
    """Return the reason for an error of msgspec by the place at its end: "... - at `$.odds.one`"."""
    if "missing required field" in error and ("`odds`" in error or "`$.odds`" in error):
        return Reason.INCOMPLETE
    if "`$.odds" in error:
        return Reason.PRICE
    return Reason.START_TIME if "`$.start`" in error or "`$.updated`" in error else Reason.TYPE


def _shown(line: bytes) -> str:
    return line[:_SHOWN_BYTES].decode("utf-8", "replace")
