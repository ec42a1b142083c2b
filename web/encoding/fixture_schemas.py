"""The public JSON of fixtures (docs/api.md), independent of the types inside."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field
from msgspec.structs import replace

from actors.board.snapshot import Entry
from actors.core.messages import BookmakerId, Match, Prices, event_id_of
from actors.markets.market import ONE_X_TWO, Market, may_return
from actors.markets.odds import book_sum, of_all_winners
from actors.markets.stakes import NoStakes
from actors.matches.entries import sure_legs
from actors.matches.fair import Method
from actors.matches.history import Gone
from actors.matches.leagues import FixtureLeague, league_of_fixture
from actors.matches.model import Fixture, FixtureRemoval, FixtureSettings, Roster
from actors.matches.surebets import Best, Surebet, best
from actors.matching.event import Chances, Event, EventKey, FixtureId
from actors.matching.evidence import Evidence
from actors.matching.matcher import Member
from actors.matching.rules import Rule, price_gap
from web.encoding.schemas import Cursor, Names, OddsV2, Price, Version
from web.encoding.surebet_schemas import DoubtedSurebet, StakesV2, SurebetV2, surebet_v2

Probability = Annotated[float, Meta(ge=0, le=1)]
T = TypeVar("T")

UNKNOWN = "Unknown"  # the name of an unknown league


class Link(StrEnum):
    """The certainty that an entry belongs to the fixture's match; surebets do not use likely links."""

    SURE = "sure"
    LIKELY = "likely"


class FixtureEntry(Struct, frozen=True):
    """A bookmaker's entry: `id` and `odds` are as in the list, `rule` says why its match is the same.

    Names, league and kick-off are present if they differ from the fixture's. With `superseded` another
    bookmaker of its company was confirmed later, and this price does not count. With `doubts` a price is
    far above the fair price of the other bookmakers, and none of the entry's prices is best. `url` is the
    bookmaker's page of the match: https, at most 2 kB.
    """

    id: str
    bookmaker: str
    odds: OddsV2
    updated: float
    prices: Prices
    rule: Rule
    link: Link
    home: str | UnsetType = UNSET
    away: str | UnsetType = UNSET
    league: str | UnsetType = UNSET
    start_time: int | UnsetType | None = UNSET
    superseded: Literal[True] | UnsetType = UNSET
    url: str | UnsetType = UNSET
    doubts: tuple[Literal["price"], ...] | UnsetType = UNSET


class BestPrice(Struct, frozen=True):
    """The highest gross price, the bookmakers that offer it, and the `ids` of their entries.

    `prices` is present only if none of these prices is live.
    """

    odds: Price
    bookmakers: tuple[str, ...]
    ids: tuple[str, ...]
    prices: Literal["collected"] | UnsetType = UNSET


class BestPrices(Struct, frozen=True):
    """The best price of each outcome; null if all bookmakers' prices are in doubt."""

    home: BestPrice | None = field(name="1")
    draw: BestPrice | None = field(name="X")
    away: BestPrice | None = field(name="2")


class FairOdds(Struct, frozen=True):
    """The probabilities without margin.

    With `conditional` the whole or half of a stake may be returned; the probabilities are for the part that
    is not returned.
    """

    method: Method
    home: Probability = field(name="1")
    draw: Probability = field(name="X")
    away: Probability = field(name="2")
    conditional: Literal["not_returned"] | UnsetType = UNSET


class FairReason(StrEnum):
    """Why there are no fair odds."""

    TOO_FEW = "too_few"  # too few bookmakers with live prices for a consensus
    NOT_LISTED = "not_listed"  # the bookmaker does not list the match
    NOT_LIVE = "not_live"  # its prices are collected
    LIKELY_LINK = "likely_link"  # its entry may be of another match
    IN_PLAY_RULE = "in_play_rule"  # in play, bookmakers count different goals


class Reference(Struct, frozen=True):
    """The fair odds of a single bookmaker, or why there are none."""

    reference: FairOdds | None
    reference_reason: FairReason | UnsetType


class FixtureV2(Struct, frozen=True):
    """One match at all bookmakers, with the names of its first source. Times are Unix seconds.

    `league_id` is the same for all labels of a league; `country` is null if unknown. `book_sum` is the sum
    of 1 / best price, null without best prices. `fair` is the median of the bookmakers with live prices,
    `reference` has the fair odds of the requested bookmaker; each has a reason if there are none. `doubted`
    is a surebet that is not believed. With `total`, `stakes` or the reason for their absence is present.
    `in_play` is present if a source says whether the match is in play. For a `market` other than 1X2, odds
    and probabilities are by the names of its outcomes. The `main` line of a match is the line that most
    bookmakers list. With the `in_play_rule` "from_now" some of the bookmakers count only goals after the
    bet: their prices cannot be compared with others.
    """

    id: str
    home: str
    away: str
    league: str
    league_id: str
    country: str | None
    start_time: int | None
    updated: float
    entries: tuple[FixtureEntry, ...]
    bookmakers_count: int
    best: BestPrices
    book_sum: float | None
    fair: FairOdds | None
    surebet: SurebetV2 | None
    fair_reason: FairReason | UnsetType = UNSET
    reference: FairOdds | UnsetType | None = UNSET
    reference_reason: FairReason | UnsetType = UNSET
    doubted: DoubtedSurebet | UnsetType = UNSET
    stakes: StakesV2 | UnsetType | None = UNSET
    stakes_reason: NoStakes | UnsetType = UNSET
    in_play: bool | UnsetType = UNSET
    market: str | UnsetType = UNSET
    in_play_rule: Literal["from_now"] | UnsetType = UNSET
    main: Literal[True] | UnsetType = UNSET


class LinkingState(Struct, frozen=True):
    """The number of events that are not compared yet: each may be linked with others, or stay alone."""

    pending: int


class FixtureList(Struct, frozen=True):
    """Fixtures by kick-off and id; fixtures with an unknown kick-off are last.

    `league_id` is the id of the requested `league`. A `note` says if the league has no match at all:
    perhaps it is misspelled. `total` and `step` belong to the stakes.
    """

    version: Version
    fixtures: tuple[FixtureV2, ...]
    fixtures_count: int
    linking: LinkingState
    cursor: Cursor
    note: str | UnsetType = UNSET
    league_id: str | UnsetType = UNSET
    total: float | UnsetType = UNSET
    step: float | UnsetType = UNSET


class RemovedFixture(Struct, frozen=True):
    """A fixture that left the view, at which version and why; it may be merged `into` another."""

    id: str
    reason: FixtureRemoval
    version: Version
    into: str | UnsetType = UNSET


class FixtureChangesV2(Struct, frozen=True):
    """The changes from the fixtures at `since` to the fixtures at `version`.

    `conflated` is only in the stream, `cursor` only in answers. `league_id` is the id of the requested
    `league`.
    """

    version: Version
    since: Version
    fixtures: tuple[FixtureV2, ...]
    removed: tuple[RemovedFixture, ...]
    linking: LinkingState
    cursor: Cursor | UnsetType = UNSET
    conflated: bool | UnsetType = UNSET
    league_id: str | UnsetType = UNSET


class FixtureLink(Struct, frozen=True):
    """An event as its source lists it, with the rule and the evidence of its link to the event `to`."""

    source: str
    source_match_id: str
    home: str
    away: str
    league: str
    start_time: int | None
    rule: Rule
    to: tuple[str, str] | None
    evidence: Evidence | None


class OneFixture(Struct, frozen=True):
    """A fixture and the links of its events."""

    version: Version
    fixture: FixtureV2
    links: tuple[FixtureLink, ...]
    cursor: Cursor


EVENTS = {"snapshot": FixtureList, "changes": FixtureChangesV2}
"""The data of the stream's events that differ with `view`."""

Entries = dict[BookmakerId, Entry]


BestOfAll: TypeAlias = tuple[Best, ...]
"""The best price of each outcome, in the order of the outcomes."""


class Part(Struct, frozen=True):
    """Some entries of a fixture, and their surebet."""

    entries: Entries
    surebet: Surebet | None


def fixture_v2(
    fixture: Fixture,
    names: Names,
    terms: FixtureSettings,
    fair: Chances | None,
    doubted: Collection[BookmakerId],
    *,
    part: Part | None = None,
    league: FixtureLeague | None = None,
    encoded: Raw | None = None,
    prices: BestOfAll | None = None,
) -> FixtureV2:
    """Return the public form of a fixture, or of a part of it with the names and fair odds of the whole.

    `names` are display names, `fair` is the consensus, `doubted` are bookmakers whose prices it doubts.
    Pass `league`, `encoded` (the entries as JSON) and `prices` (the best prices) if they are known.
    """
    match, league = fixture.match, league or league_of_fixture(fixture)
    entries, surebet = (fixture.entries, fixture.surebet) if part is None else (part.entries, part.surebet)
    roster, prices = terms.roster, prices or best_of(fixture, entries, doubted)
    listed: Any = encoded or entries_v2(fixture, entries, names, roster, doubted=doubted, among=entries)
    made = FixtureV2(
        fixture.match_id,
        match.home,
        match.away,
        match.league or UNKNOWN,
        league.id,
        league.country,
        match.start_time,
        max([entry.updated for entry in entries.values()]),
        listed,
        len(entries),
        _best_prices(fixture.market, prices, entries, names, roster),
        None if prices is None else round(book_sum([price.price for price in prices]), 6),
        None if fair is None else fair_odds(terms.method, fair, fixture.market),
        None if surebet is None else surebet_v2(surebet, fixture, names, terms),
        FairReason.TOO_FEW if fair is None else UNSET,
        in_play=any(said) if (said := _in_play_values(fixture)) else UNSET,
    )
    return made if fixture.market is ONE_X_TWO else _of_market(made, fixture, roster)


def _is_other_bet(fixture: Fixture, roster: Roster) -> bool:
    """Return whether a bookmaker of the fixture now counts only goals after the bet."""
    return fixture.has_begun and any(roster[name].counts_from_now for name in fixture.bookmakers)


def _of_market(made: FixtureV2, fixture: Fixture, roster: Roster) -> FixtureV2:
    """Return the fixture with the fields for markets other than 1X2."""
    made = replace(made, market=str(fixture.market), main=True if fixture.is_main else UNSET)
    if not _is_other_bet(fixture, roster):
        return made
    nobody: Any = dict.fromkeys(fixture.market.outcomes)
    made = replace(made, best=nobody, book_sum=None, fair=None, fair_reason=FairReason.IN_PLAY_RULE)
    return replace(made, in_play_rule="from_now")


def best_of(
    fixture: Fixture, entries: Mapping[BookmakerId, Entry], doubted: Collection[BookmakerId]
) -> BestOfAll | None:
    """Return the best prices among some entries of a fixture; None if no price counts."""
    unwanted = fixture.superseded(entries).union(doubted)
    return best({name: entry.match.prices for name, entry in entries.items() if name not in unwanted})


def _in_play_values(fixture: Fixture) -> list[bool]:
    """Return the values of `in_play` from the sources that have it."""
    said = [said for entry in fixture.listed if (said := entry.match.in_play) is not None]
    if fixture.head is not None and fixture.head.in_play is not None:
        said.append(fixture.head.in_play)
    return said


def fair_odds(method: Method, chances: Chances, market: Market = ONE_X_TWO) -> FairOdds:
    """Return the public form of a market's fair odds; `chances` count as of a market with one winner."""
    rounded = [round(chance, 6) for chance in of_all_winners(market, chances)]
    if market is ONE_X_TWO:
        home, draw, away = rounded
        return FairOdds(method, home, draw, away)
    of_market: Any = {"method": method, **dict(zip(market.outcomes, rounded, strict=True))}
    if may_return(market):
        of_market["conditional"] = "not_returned"
    return of_market  # type: ignore[no-any-return]


def removed_fixture(fixture_id: FixtureId, gone: Gone) -> RemovedFixture:
    """Return the public form of a removal."""
    into = UNSET if gone.into is None else _match_id(gone.into)
    return RemovedFixture(_match_id(fixture_id), gone.reason, gone.version, into)


def _match_id(fixture_id: FixtureId) -> str:
    """Return the id of the match to which a market's fixture belongs."""
    return fixture_id.partition(" ")[0]


def link(member: Member, events: Mapping[EventKey, Event]) -> FixtureLink:
    """Return the public form of a member's link; `events` are the fixture's events."""
    event, evidence, to = events[member.key], member.evidence, None
    if member.to is not None:
        to = member.to.source, member.to.source_match_id
        if evidence is not None:  # the evidence has the prices at the time of linking
            gap = price_gap(event.chances, events[member.to].chances)
            evidence = replace(evidence, price_gap=gap)
    names = event.home, event.away, event.league or UNKNOWN
    key = event.source, event.source_match_id
    return FixtureLink(*key, *names, event.start_time, member.rule, to, evidence)


def entries_v2(
    fixture: Fixture,
    some: Entries,
    names: Names,
    roster: Roster,
    *,
    doubted: Collection[BookmakerId],
    among: Collection[BookmakerId],
) -> tuple[FixtureEntry, ...]:
    """Return the public form of some entries of a fixture that is shown with the bookmakers `among`."""
    of_fixture = fixture.match
    listed, superseded = of_fixture.listing, fixture.superseded(among)
    rules = {member.key.source: member.rule for member in fixture.members}
    sure = sure_legs(fixture, roster)
    found = []
    for name, entry in some.items():
        match = entry.match
        found.append(
            FixtureEntry(
                event_id_of(entry.id),
                names[name],
                odds_v2(match),
                entry.updated,
                roster[name].prices,
                rules[roster[name].source],
                Link.SURE if sure[name] else Link.LIKELY,
                *(_differences(match, of_fixture) if match.listing != listed else (UNSET,) * 4),
                True if name in superseded else UNSET,
                match.url or UNSET,
                ("price",) if name in doubted else UNSET,
            )
        )
    return tuple(found)


def _differences(
    match: Match, of_fixture: Match
) -> tuple[str | UnsetType, str | UnsetType, str | UnsetType, int | UnsetType | None]:
    """Return the bookmaker's names, league and kick-off where they differ from the fixture's."""
    return (
        _if_other(match.home, of_fixture.home),
        _if_other(match.away, of_fixture.away),
        _if_other(match.league or UNKNOWN, of_fixture.league or UNKNOWN),
        _if_other(match.start_time, of_fixture.start_time),
    )


def _if_other(value: T, of_fixture: T) -> T | UnsetType:
    return UNSET if value == of_fixture else value


def odds_v2(match: Match) -> OddsV2:
    """Return the public form of the prices of a match, by outcome."""
    if match.market is ONE_X_TWO:
        return OddsV2(*match.prices)
    of_market: Any = dict(zip(match.market.outcomes, match.odds, strict=True))
    return of_market  # type: ignore[no-any-return]


def _best_prices(
    market: Market, prices: BestOfAll | None, entries: Entries, names: Names, roster: Roster
) -> BestPrices:
    best = [_best(price, entries, names, roster) for price in prices or (None,) * len(market.outcomes)]
    if market is ONE_X_TWO:
        return BestPrices(*best)
    of_market: Any = dict(zip(market.outcomes, best, strict=True))
    return of_market  # type: ignore[no-any-return]


def _best(price: Best | None, entries: Entries, names: Names, roster: Roster) -> BestPrice | None:
    if price is None:
        return None
    is_live = any(roster[name].prices is Prices.LIVE for name in price.bookmakers)
    return BestPrice(
        price.price,
        tuple(names[name] for name in price.bookmakers),
        tuple(event_id_of(entries[name].id) for name in price.bookmakers),
        UNSET if is_live else "collected",
    )
