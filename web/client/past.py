"""The values of answers about the past: lines, closing prices, moves, the archive."""

from __future__ import annotations

from msgspec import Struct

from .values import Odds


class Point(Struct, frozen=True, kw_only=True):
    """The odds of an entry from a version on, or why they are `absent`; with `state` this was so before."""

    version: int | None
    time: float
    odds: Odds | None = None
    absent: str | None = None
    reason: str | None = None
    state: bool = False


class Extreme(Struct, frozen=True, kw_only=True):
    """The highest or lowest price of an outcome, at its first time."""

    odds: float
    version: int | None
    time: float


class Close(Struct, frozen=True, kw_only=True):
    """The last price before the kick-off; `left` says why it was not `on_offer` at the kick-off."""

    version: int
    time: float
    odds: Odds
    closed_at: float
    on_offer: bool
    left: str | None = None


class Linked(Struct, frozen=True, kw_only=True):
    """Whether an entry was a member of the fixture from a version on, and how sure its link was."""

    version: int
    time: float
    is_member: bool
    certainty: str | None


class Line(Struct, frozen=True, kw_only=True):
    """How the prices of an entry moved."""

    bookmaker: str
    name: str
    id: str
    prices: str
    first_seen: Point | None
    newest: Point | None
    closing: Close | None
    highest: dict[str, Extreme]
    lowest: dict[str, Extreme]
    points_count: int
    thinned: bool
    points: tuple[Point, ...]
    closing_reason: str | None = None
    linked: tuple[Linked, ...] = ()


class ConsensusPoint(Struct, frozen=True, kw_only=True):
    """The consensus probabilities from a version on, or (`absent`) why there are none."""

    version: int | None
    time: float
    bookmakers: int
    fair: dict[str, float] | None = None
    absent: str | None = None
    reason: str | None = None


class Consensus(Struct, frozen=True, kw_only=True):
    """The consensus of a fixture over time."""

    method: str
    points_count: int
    thinned: bool
    points: tuple[ConsensusPoint, ...]


class Gap(Struct, frozen=True, kw_only=True):
    """Versions between these two are not kept, and why."""

    after_version: int
    until_version: int
    after_time: float
    until_time: float
    reason: str


class LineList(Struct, frozen=True, kw_only=True):
    """The lines of an entry, or of the entries of a fixture, from the `archive` or from `memory`."""

    id: str
    market: str
    kept: str
    from_version: int
    from_time: float
    to_version: int
    to_time: float
    start_time: int | None
    lines: tuple[Line, ...]
    consensus: Consensus | None
    gaps: tuple[Gap, ...]


class FirstSeen(Struct, frozen=True, kw_only=True):
    """The first version with a price of an entry."""

    version: int
    time: float
    state: bool = False


class EntryClosing(Struct, frozen=True, kw_only=True):
    """The closing price of an entry, or the `reason` why it has none."""

    bookmaker: str
    name: str
    id: str
    first_seen: FirstSeen
    odds: Odds | None = None
    closed_at: float | None = None
    on_offer: bool | None = None
    left: str | None = None
    fair: dict[str, float] | None = None
    reason: str | None = None


class Member(Struct, frozen=True, kw_only=True):
    """A member of a fixture at the kick-off."""

    source: str
    id: str
    rule: str
    link: str | None


class FixtureClosing(Struct, frozen=True, kw_only=True):
    """The closing prices of a fixture; `fair` is the consensus at the kick-off."""

    id: str
    home: str
    away: str
    league: str
    start_time: int
    fair: dict[str, float] | None
    members: tuple[Member, ...]
    closings: tuple[EntryClosing, ...]
    fair_reason: str | None = None
    reason: str | None = None
    into: str | None = None


class ClosingList(Struct, frozen=True, kw_only=True):
    """Closing prices; if `next_from` is given, ask again with this `from_`."""

    market: str
    method: str
    fixtures: tuple[FixtureClosing, ...]
    fixtures_count: int
    next_from: int | None


class MoverEntry(Struct, frozen=True, kw_only=True):
    """An entry of a fixture that moved, and when it was seen to follow."""

    bookmaker: str
    name: str
    id: str
    odds_before: float | None
    odds_now: float | None
    followed_at: float | None
    followed_version: int | None
    compared: bool
    first: bool


class Mover(Struct, frozen=True, kw_only=True):
    """The largest move of an outcome of a fixture."""

    id: str
    home: str
    away: str
    league: str
    league_id: str
    start_time: int | None
    outcome: str
    move: float
    fair_before: dict[str, float]
    fair_now: dict[str, float]
    since_version: int
    since_time: float
    compared_count: int
    bookmakers: tuple[MoverEntry, ...]


class MoverList(Struct, frozen=True, kw_only=True):
    """The fixtures whose consensus moved most."""

    market: str
    method: str
    window_s: int
    from_version: int
    from_time: float
    to_version: int
    to_time: float
    fixtures: tuple[Mover, ...]
    fixtures_count: int


class Interval(Struct, frozen=True, kw_only=True):
    """A range of versions without a gap."""

    from_version: int
    to_version: int
    from_time: float
    to_time: float


class Archive(Struct, frozen=True, kw_only=True):
    """The content of the archive."""

    days: int
    intervals: tuple[Interval, ...]
    gaps: tuple[Gap, ...]
    written_version: int
    lag_s: float
    error: str | None
