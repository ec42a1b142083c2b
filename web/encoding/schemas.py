"""The public JSON of v1 and v2 (docs/interface.md, 2), which stays when the messages inside change."""

from __future__ import annotations

from msgspec import Struct, field

from actors.board.snapshot import Entry


class OddsV2(Struct, frozen=True):
    """Decimal odds by outcome: home win, draw, away win."""

    home: float = field(name="1")
    draw: float = field(name="X")
    away: float = field(name="2")


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
    odds: tuple[float, float, float]
    start_time: int
    updated: float


class Removed(Struct, frozen=True):
    """An entry that left the v2 list, at which version and why."""

    id: str
    bookmaker: str
    reason: str
    version: int


class Capabilities(Struct, frozen=True):
    """2.4: what the service supports."""

    endpoints: tuple[str, ...]
    filters: dict[str, tuple[str, ...]]
    supported_bookmakers: tuple[str, ...]
    version: str


def match_v2(entry: Entry, bookmaker: str) -> MatchV2:
    """Return the v2 form of an entry; `bookmaker` is the display name."""
    match = entry.match
    odds = OddsV2(match.home_price, match.draw_price, match.away_price)
    league, start_time = match.league or "Unknown", match.start_time
    return MatchV2(
        entry.id, "football", bookmaker, match.home, match.away, league, odds, start_time, entry.updated
    )


def match_v1(entry: Entry, bookmaker: str) -> MatchV1:
    """Return the v1 form of an entry; `bookmaker` is the display name."""
    match = entry.match
    odds = (match.home_price, match.draw_price, match.away_price)
    league, start_time = match.league or "", match.start_time or 0
    return MatchV1(entry.id, bookmaker, match.home, match.away, league, odds, start_time, entry.updated)
