"""The public JSON of v1 and v2 (docs/api.md, 2), independent of the messages inside."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field

from actors.board.snapshot import Entry, RemovalReason
from actors.core.messages import BookmakerId

Price = Annotated[float, Meta(gt=1.0, description="decimal odds")]
Names = dict[BookmakerId, str]
Version = Annotated[int, Meta(description="names what this URL shows, within an epoch")]
Cursor = Annotated[str, Meta(description="VERSION-EPOCH, as `since` takes it")]


class OddsV2(Struct, frozen=True):
    """Decimal odds by outcome: home win, draw, away win."""

    home: Price = field(name="1")
    draw: Price = field(name="X")
    away: Price = field(name="2")


class MatchV2(Struct, frozen=True):
    """2.1: one match entry. `start_time` and `updated` are Unix seconds."""

    id: str
    sport: str
    bookmaker: str
    home: str
    away: str
    league: str
    odds: OddsV2
    start_time: int | None
    updated: float


class MatchV1(Struct, frozen=True):
    """2.2: one legacy entry: `odds` are [home, draw, away]; unknown: `start_time` 0, `league` ""."""

    id: str
    bookmaker: str
    home: str
    away: str
    league: str
    odds: tuple[Price, Price, Price]
    start_time: int
    updated: float


class ResetReason(StrEnum):
    """Why a stream begins again with the whole list."""

    TOO_OLD = "too_old"
    FUTURE = "future"
    OTHER_EPOCH = "other_epoch"  # from before a restart
    MALFORMED = "malformed"


class Removed(Struct, frozen=True):
    """An entry that left the v2 list, at which version and why."""

    id: str
    bookmaker: str
    reason: RemovalReason
    version: Version


class ListV2(Struct, frozen=True):
    """2.3: the list, version 2."""

    version: Version
    matches: tuple[MatchV2, ...]
    matches_count: int


class ListV1(Struct, frozen=True):
    """2.3: the list, version 1."""

    version: Version
    matches: tuple[MatchV1, ...]
    matches_count: int


class Changes(Struct, frozen=True):
    """The changes from the v2 list at `since` to the list at `version`.

    `conflated` is only in the stream, `cursor` only in answers.
    """

    version: Version
    since: Version
    matches: tuple[MatchV2, ...]
    removed: tuple[Removed, ...]
    cursor: Cursor | UnsetType = UNSET
    conflated: bool | UnsetType = UNSET


class Reset(Struct, frozen=True):
    """Why changes since the client's version are not known; a snapshot follows."""

    reason: ResetReason
    version: Version


class Heartbeat(Struct, frozen=True):
    """A message that `version` is still the newest."""

    version: Version


class Bye(Struct, frozen=True):
    """A message that the service ends; reconnect after `retry` milliseconds."""

    version: Version
    retry: int


EVENTS = {"snapshot": ListV2, "changes": Changes, "reset": Reset, "heartbeat": Heartbeat, "bye": Bye}
"""The data of each event of the stream."""


class Capabilities(Struct, frozen=True):
    """2.4: the service's capabilities; `bookmaker_names` are display names by id, as in entries."""

    endpoints: tuple[str, ...]
    filters: dict[str, tuple[str, ...]]
    supported_bookmakers: tuple[str, ...]
    bookmaker_names: dict[str, str]
    version: str


def cursor_of(version: int, epoch: str) -> str:
    """Return a version and its epoch in the form of `since`, and of the ids of the stream's events."""
    return f"{version}-{epoch}"


def match_v2(entry: Entry, bookmaker: str) -> MatchV2:
    """Return the v2 form of an entry; `bookmaker` is the display name."""
    match = entry.match
    odds = OddsV2(*match.prices)
    league, start_time = match.league or "Unknown", match.start_time
    return MatchV2(
        entry.id, "football", bookmaker, match.home, match.away, league, odds, start_time, entry.updated
    )


def match_v1(entry: Entry, bookmaker: str) -> MatchV1:
    """Return the v1 form of an entry; `bookmaker` is the display name."""
    match = entry.match
    home, draw, away = match.prices
    odds, league, start_time = (home, draw, away), match.league or "", match.start_time or 0
    return MatchV1(entry.id, bookmaker, match.home, match.away, league, odds, start_time, entry.updated)
