"""The JSON of `/monitor/entries/{id}` (docs/operations.md). Times are Unix seconds; null: not known."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from actors.board.snapshot import Entry, RemovalReason
from actors.core.messages import Match
from actors.markets.market import Market
from actors.matching.rules import Objection, Rule
from actors.monitoring.rejections import KeptRejected
from actors.monitoring.status import BookmakerState
from actors.review.trace import Absence, Left
from web.encoding.link_schemas import LinkEvent
from web.encoding.schemas import OddsV2, Version


class AbsentEntry(Struct, frozen=True):
    """Why version 2 of the list does not show the entry (as a code and in words), and since when."""

    reason: Absence
    why: str
    since: float | None


class EntryStep(Struct, frozen=True):
    """The prices that the board showed from a commit on, or (without odds) the reason why the entry left.

    `updated` is the public time, `source_time` the source's own time; the rest are receipt and commit.
    """

    version: Version | None
    committed_at: float | None
    odds: OddsV2 | None
    updated: float | None
    source_time: float | None
    received_at: float | None
    reason: RemovalReason | None


class EntryList(Struct, frozen=True):
    """The entry's list: when its source last vouched for it, and when it becomes stale otherwise."""

    scope: str
    confirmed_at: float | None
    stale_at: float | None
    withdrawn: bool
    doubted: int


class EntryRejected(Struct, frozen=True):
    """Why the match is rejected now; if known, also the prices (null: no number) and the time."""

    reason: str
    at: float | None
    prices: tuple[float | None, float | None, float | None] | None


class EntryMarketStep(Struct, frozen=True):
    """An `EntryStep` for another market: `odds` are by the names of its outcomes."""

    version: Version | None
    committed_at: float | None
    odds: Mapping[str, float] | None
    updated: float | None
    source_time: float | None
    received_at: float | None
    reason: RemovalReason | None


class EntryMarket(Struct, frozen=True):
    """Another market of the match at the bookmaker: on the board, `rejected` for that reason, or gone.

    Its `odds` are by the names of its outcomes, null for an odd that is no number. For a rejected market
    they are null if they are not kept, and `updated` is the time of the rejection. `list` is the market's
    list. `steps` are newest first; a market that is gone has only steps, and the first says why it left.
    """

    market: str
    odds: Mapping[str, float | None] | None
    updated: float | None
    received_at: float | None
    list: EntryList | None
    rejected: str | None = None
    steps: tuple[EntryMarketStep, ...] = ()


class EntryBookmaker(Struct, frozen=True):
    """The entry's bookmaker."""

    id: str
    name: str
    state: BookmakerState
    since: float | None
    matches: int
    last_error: str | None


class EntrySource(Struct, frozen=True):
    """The source of the entry's bookmaker."""

    name: str
    kind: str
    simulated: bool
    prices: str
    delayed_s: float | None
    state: str
    failing_since: float | None
    last_success_at: float | None
    next_attempt_at: float | None
    last_error: str | None


class EntryLink(Struct, frozen=True):
    """An event of the entry's fixture, the rule of its link, and the event that it is linked `to`."""

    event: LinkEvent
    rule: Rule
    to: str | None


class EntryCandidate(Struct, frozen=True):
    """The event that resembles the entry's most but is not linked with it, and the reason."""

    event: LinkEvent
    reason: Objection


class EntryFixture(Struct, frozen=True):
    """The entry's fixture with all its events; the nearest candidate if the entry's event is alone.

    If `linking` is false the linker does not run: nothing new is linked, and no candidate is known.
    """

    id: str
    linking: bool
    links: tuple[EntryLink, ...]
    nearest: EntryCandidate | None


class NearEntry(Struct, frozen=True):
    """An entry that is on the board."""

    id: str
    home: str
    away: str


class LeftEntry(Struct, frozen=True):
    """An entry that is not on the board any more; since when and why, if known."""

    id: str
    home: str
    away: str
    since: float | None
    reason: RemovalReason | None


class TracedMatch(Struct, frozen=True):
    """The bookmaker's names for the match, and its kick-off."""

    home: str
    away: str
    league: str | None
    start_time: int | None


class EntryTrace(Struct, frozen=True):
    """Where an entry's price comes from, at `now`, or why there is none; `steps` are newest first.

    `match` has the entry's current or last names, league and kick-off. If there is no such entry, `near`
    has similar entries on the board, and `left` has entries with such teams that have left. `markets` are
    the bookmaker's markets of the match besides 1X2, by line, then markets that have left. `archived` says
    whether `steps` include the archive's; null without an archive.
    """

    version: Version
    epoch: str
    now: float
    id: str
    absent: AbsentEntry | None
    match: TracedMatch | None
    steps: tuple[EntryStep, ...]
    archived: bool | None
    list: EntryList | None
    rejected: EntryRejected | None
    bookmaker: EntryBookmaker | None
    source: EntrySource | None
    fixture: EntryFixture | None
    near: tuple[NearEntry, ...]
    left: tuple[LeftEntry, ...] = ()
    markets: tuple[EntryMarket, ...] = ()


def step(
    entry: Entry | None,
    version: int | None = None,
    committed_at: float | None = None,
    reason: RemovalReason | None = None,
) -> EntryStep:
    """Return the step of an entry at a commit."""
    if entry is None:
        return EntryStep(version, _time(committed_at), None, None, None, None, reason)
    odds = OddsV2(*entry.match.prices)
    return EntryStep(version, _time(committed_at), odds, *_times(entry), None)


def market_step(
    entry: Entry | None,
    version: int | None = None,
    committed_at: float | None = None,
    reason: RemovalReason | None = None,
) -> EntryMarketStep:
    """Return the step at a commit of an entry of a market other than 1X2."""
    if entry is None:
        return EntryMarketStep(version, _time(committed_at), None, None, None, None, reason)
    odds = dict(zip(entry.match.market.outcomes, entry.match.prices, strict=True))
    return EntryMarketStep(version, _time(committed_at), odds, *_times(entry), None)


def _times(entry: Entry) -> tuple[float, float | None, float | None]:
    """Return an entry's public time, its source's own time, and the time of its receipt."""
    source_time = entry.match.source_time
    # Without a source's own time, `updated` is the time of the receipt.
    received_at = entry.updated if source_time is None else entry.received_at
    return entry.updated, _time(source_time), _time(received_at)


def left_market(of: Market) -> EntryMarket:
    """Return how a trace shows a market, other than 1X2, that has left the board."""
    return EntryMarket(str(of), None, None, None, None)


def market(entry: Entry, listed: EntryList | None) -> EntryMarket:
    """Return how a trace shows a market, other than 1X2, that is on the board."""
    match = entry.match
    odds = dict[str, float | None](zip(match.market.outcomes, match.prices, strict=True))
    received_at = entry.updated if match.source_time is None else entry.received_at
    return EntryMarket(str(match.market), odds, entry.updated, _time(received_at), listed)


def rejected_market(of: Market, reason: str, kept: KeptRejected | None) -> EntryMarket:
    """Return how a trace shows a market, other than 1X2, that is rejected now."""
    if kept is None:
        return EntryMarket(str(of), None, None, None, None, reason)
    odds = dict[str, float | None](zip(of.outcomes, kept.match.prices, strict=True))
    return EntryMarket(str(of), odds, _time(kept.at), None, None, reason)


def traced_match(match: Match) -> TracedMatch:
    """Return the names and the kick-off of a match."""
    return TracedMatch(*match.listing)


def near_entry(entry: Entry) -> NearEntry:
    """Return the short form of an entry."""
    return NearEntry(entry.id, entry.match.home, entry.match.away)


def left_entry(left: Left) -> LeftEntry:
    """Return the short form of an entry that has left the board."""
    match = left.entry.match
    return LeftEntry(left.entry.id, match.home, match.away, _time(left.at), left.reason)


def _time(at: float | None) -> float | None:
    return None if at is None else round(at, 3)
