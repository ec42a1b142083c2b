"""The public form of closing prices (docs/api.md), as JSON and as CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from actors.archive.lines.closings import AskedClosings, EntryClose, FixtureClose
from actors.core.messages import BookmakerId
from actors.lines.closing import Close, NoClose
from actors.markets.market import Market
from actors.matches.fair import Method
from web.encoding.csv_text import by_outcome, table, utc
from web.endpoints.past.line_schemas import fair_of

Seconds = Annotated[float, Meta(description="Unix seconds")]
Outcomes = Mapping[str, float]


class FirstSeen(Struct, frozen=True, omit_defaults=True):
    """The first version with a price of the entry; with `state` it is older than the searched time."""

    version: int
    time: Seconds
    state: bool = False


class EntryClosing(Struct, frozen=True, omit_defaults=True):
    """The closing price of an entry, or the `reason` why it has none.

    The price was shown until `closed_at`, at most the kick-off. `on_offer` says whether it was still shown
    at the kick-off; if not, `left` says why. `fair` are the bookmaker's own probabilities, without margin.
    """

    bookmaker: str
    name: str
    id: str
    first_seen: FirstSeen
    odds: Outcomes | UnsetType = UNSET
    closed_at: Seconds | UnsetType = UNSET
    on_offer: bool | UnsetType = UNSET
    left: str | UnsetType = UNSET
    fair: Outcomes | UnsetType = UNSET
    reason: NoClose | UnsetType = UNSET


class MemberThen(Struct, frozen=True):
    """A member at the kick-off; `link`, its certainty, is null if it was not kept."""

    source: str
    id: str
    rule: str
    link: str | None


class FixtureClosing(Struct, frozen=True):
    """The closing prices of a fixture with its last names; `fair` is the consensus at the kick-off.

    Without a consensus `fair_reason` says why. Before the kick-off `reason` is `not_started`. If the
    fixture was merged `into` another before the kick-off, the other has its entries.
    """

    id: str
    home: str
    away: str
    league: str
    start_time: int
    fair: Outcomes | None
    members: tuple[MemberThen, ...]
    closings: tuple[EntryClosing, ...]
    fair_reason: str | UnsetType = UNSET
    reason: NoClose | UnsetType = UNSET
    into: str | UnsetType = UNSET


class ClosingList(Struct, frozen=True):
    """Fixtures by kick-off and id; further fixtures, if any, kick off at `next_from` or later."""

    market: str
    method: Method
    fixtures: list[FixtureClosing]
    fixtures_count: int
    next_from: int | None


def fixture_closing(
    of: FixtureClose,
    asked: AskedClosings,
    names: Mapping[BookmakerId, str],
    bookmaker: BookmakerId | None,
) -> FixtureClosing:
    """Return the public form of a fixture's closing prices, all of them or those of one bookmaker."""
    listed, consensus = of.listed, of.consensus
    chances = None if consensus is None else consensus.chances
    entries = (it for it in of.entries if bookmaker in {None, it.bookmaker})
    return FixtureClosing(
        *(of.id, listed.home, listed.away, listed.league or "Unknown", listed.kick_off),
        None if chances is None else fair_of(asked.market, chances),
        tuple([MemberThen(it.source, it.source_match_id, it.rule, it.certainty) for it in of.members]),
        tuple([_entry(it, asked, names) for it in entries]),
        UNSET if consensus is None or consensus.absent is None else consensus.absent,
        UNSET if of.is_started else NoClose.NOT_STARTED,
        of.into or UNSET,
    )


def _entry(of: EntryClose, asked: AskedClosings, names: Mapping[BookmakerId, str]) -> EntryClosing:
    seen = FirstSeen(of.first_version, of.first_ms / 1000, of.is_state)
    about = of.bookmaker, names.get(of.bookmaker, of.bookmaker), of.id, seen
    close = of.close
    if not isinstance(close, Close):
        return EntryClosing(*about, reason=close)
    return EntryClosing(
        *about,
        dict(zip(asked.market.outcomes, close.odds, strict=True)),
        *(close.closed_ms / 1000, close.on_offer, close.left or UNSET),
        UNSET if of.chances is None else fair_of(asked.market, of.chances),
    )


def csv_of(fixtures: Iterable[FixtureClosing], market: Market) -> Iterator[bytes]:
    """Yield closing prices as CSV, a row for each entry."""
    of_each = [f"{name}_{of}" for name in ("odds", "fair", "consensus") for of in market.outcomes]
    about = ("id", "home", "away", "league", "start_time_utc", "market", "bookmaker", "name", "entry_id")
    columns = (*about, "first_seen_utc", *of_each, "closed_at_utc", "on_offer", "left", "reason", "into")
    return table(columns, (record for of in fixtures for record in _records(of, market)))


def _records(of: FixtureClosing, market: Market) -> Iterator[dict[str, object]]:
    """Yield each entry of a fixture as a row of CSV, by its columns; a fixture without any has one row."""
    names = ("id", "home", "away", "league", "reason", "into")
    about: dict[str, object] = {name: getattr(of, name) for name in names}
    about |= {"start_time_utc": utc(of.start_time), "market": market, **by_outcome("consensus", of.fair)}
    for it in of.closings:
        told = {name: getattr(it, name) for name in ("bookmaker", "name", "on_offer", "left")}
        when = {"first_seen_utc": utc(it.first_seen.time), "closed_at_utc": utc(it.closed_at)}
        values = {**by_outcome("odds", it.odds), **by_outcome("fair", it.fair)}
        yield about | told | when | values | {"entry_id": it.id, "reason": it.reason or of.reason}
    if not of.closings:
        yield about
