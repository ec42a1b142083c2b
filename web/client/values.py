"""The values of the service's answers, as docs/api.md of the service describes them.

A member that an answer may lack is None here, or UNSET where null has its own meaning. Members that a newer
service adds are ignored. Times are Unix seconds, odds are decimal prices by outcome.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Struct, UnsetType

Odds = dict[str, float]


class Capabilities(Struct, frozen=True, kw_only=True):
    """The service's capabilities: its paths, their parameters, its bookmakers and their display names."""

    endpoints: tuple[str, ...]
    filters: dict[str, tuple[str, ...]]
    supported_bookmakers: tuple[str, ...]
    bookmaker_names: dict[str, str] = {}
    version: str


class Match(Struct, frozen=True, kw_only=True):
    """A match as one bookmaker lists it, with its odds of 1X2."""

    id: str
    sport: str
    bookmaker: str
    home: str
    away: str
    league: str
    odds: Odds
    start_time: int | None
    updated: float


class Entry(Struct, frozen=True, kw_only=True):
    """A bookmaker's entry of a fixture; names, league and kick-off only where the fixture's differ."""

    id: str
    bookmaker: str
    odds: Odds
    updated: float
    prices: str
    rule: str
    link: str
    home: str | None = None
    away: str | None = None
    league: str | None = None
    start_time: int | UnsetType | None = UNSET
    superseded: bool = False
    url: str | None = None
    doubts: tuple[str, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether its prices may be best prices: they are not superseded and not in doubt."""
        return not (self.superseded or self.doubts)


class BestPrice(Struct, frozen=True, kw_only=True):
    """The highest gross price of an outcome, its bookmakers, and the ids of their entries."""

    odds: float
    bookmakers: tuple[str, ...]
    ids: tuple[str, ...]
    prices: str | None = None


class Leg(Struct, frozen=True, kw_only=True):
    """A leg of a surebet; `stake` is a share of the total."""

    outcome: str
    id: str
    bookmaker: str
    odds: float
    commission: float
    stake: float
    age_s: float
    fee_rate: float | None = None
    max_stake: float | None = None
    market: str | None = None


class Surebet(Struct, frozen=True, kw_only=True):
    """Prices that win whatever happens; with `doubts` it is not believed, and has no `since`."""

    profit: float
    book_sum: float
    until: float
    legs: tuple[Leg, ...]
    since: float | None = None
    doubts: tuple[str, ...] = ()
    weak: bool = False
    usual_profit: float | None = None


class Stakes(Struct, frozen=True, kw_only=True):
    """The stake of each leg in order, and the least return and gain of all results."""

    amounts: tuple[float, ...]
    staked: float
    returned: float
    gain: float
    usual_gain: float | None = None


class Market(Struct, frozen=True, kw_only=True):
    """The prices of one market of a fixture.

    `fair` has the `method` and the probability of each outcome. With several markets, a `Fixture` has these
    members in `markets` alone.
    """

    entries: tuple[Entry, ...] = ()
    bookmakers_count: int = 0
    best: dict[str, BestPrice | None] = {}
    book_sum: float | None = None
    fair: dict[str, Any] | None = None
    fair_reason: str | None = None
    surebet: Surebet | None = None
    reference: dict[str, Any] | None = None
    reference_reason: str | None = None
    doubted: Surebet | None = None
    stakes: Stakes | None = None
    stakes_reason: str | None = None
    market: str = "1x2"
    in_play_rule: str | None = None
    main: bool = False
    updated: float = 0.0


class Fixture(Market, frozen=True, kw_only=True):
    """One match with the entries of all bookmakers that list it."""

    id: str
    home: str
    away: str
    league: str
    league_id: str
    country: str | None
    start_time: int | None
    in_play: bool | None = None
    markets: dict[str, Market] = {}

    @property
    def by_market(self) -> Mapping[str, Market]:
        """Its markets by name, whether one or several are shown."""
        return ({self.market: self} if self.entries else {}) | self.markets


class Linking(Struct, frozen=True, kw_only=True):
    """The number of events of sources that are still to be compared; mostly 0."""

    pending: int


class MatchList(Struct, frozen=True, kw_only=True):
    """The list of odds at a version."""

    version: int
    matches: tuple[Match, ...]
    matches_count: int


class FixtureList(Struct, frozen=True, kw_only=True):
    """Fixtures, or fixtures with a surebet, at a version."""

    version: int
    fixtures: tuple[Fixture, ...]
    fixtures_count: int
    linking: Linking
    cursor: str
    note: str | None = None
    league_id: str | None = None
    total: float | None = None
    step: float | None = None


class SurebetList(FixtureList, frozen=True, kw_only=True):
    """Fixtures with a surebet at a version."""


class FixtureLink(Struct, frozen=True, kw_only=True):
    """An event as its source lists it, and the rule and the evidence of its link to another event."""

    source: str
    source_match_id: str
    home: str
    away: str
    league: str
    start_time: int | None
    rule: str
    to: tuple[str, str] | None
    evidence: dict[str, Any] | None


class OneFixture(Struct, frozen=True, kw_only=True):
    """A fixture and the links of its events."""

    version: int
    fixture: Fixture
    links: tuple[FixtureLink, ...]
    cursor: str


class EntryAge(Struct, frozen=True, kw_only=True):
    """When the source last confirmed a price (None for collected prices), and when it last changed."""

    confirmed_at: float | None
    updated: float


class FixtureAges(Struct, frozen=True, kw_only=True):
    """The ages of a fixture's prices by entry, at the time `at` of the service."""

    version: int
    at: float
    id: str
    entries: dict[str, EntryAge]
    market: str = "1x2"


class ListedMarket(Struct, frozen=True, kw_only=True):
    """A market on the board."""

    market: str
    kind: str
    line: float | None
    outcomes: tuple[str, ...]
    fixtures_count: int
    bookmakers: tuple[str, ...]
    updated: float


class MarketList(Struct, frozen=True, kw_only=True):
    """The markets on the board at a version."""

    version: int
    markets: tuple[ListedMarket, ...]
    markets_count: int
    cursor: str


class Value(Struct, frozen=True, kw_only=True):
    """A price above the fair price, which its source last `confirmed` at that time; no advice.

    `ev` is the expected value of a stake of 1, `kelly` a share of the bank; with `conditional` both are for
    the part of the stake that is not returned. With `doubts` the value is not believed.
    """

    fixture: str
    home: str
    away: str
    league: str
    league_id: str
    start_time: int | None
    market: str
    outcome: str
    id: str
    bookmaker: str
    odds: float
    net: float
    fair: float
    ev: float
    kelly: float
    confirmed: float
    reference: tuple[str, ...]
    doubts: tuple[str, ...] = ()
    max_stake: float | None = None
    conditional: str | None = None


class ValueList(Struct, frozen=True, kw_only=True):
    """The values of now: without doubts first, then the highest first; at most 200 of `values_count`."""

    reference: str
    min_ev: float
    max_kelly: float
    values: tuple[Value, ...]
    values_count: int
    note: str | None = None
    league_id: str | None = None


class Alert(Struct, frozen=True, kw_only=True):
    """A rule whose condition began to hold for a subject (`firing`), or ended (`resolved`)."""

    id: str
    rule: str
    when: str
    state: str
    version: int
    at: float
    subject: str
    title: str
    details: dict[str, Any]


class AlertList(Struct, frozen=True, kw_only=True):
    """Alerts, newest last; without `complete` some alerts before the first of these are forgotten."""

    cursor: str
    complete: bool
    alerts: tuple[Alert, ...]


class Check(Struct, frozen=True, kw_only=True):
    """The state of a bookmaker; `simulated` prices are invented, `collected` prices no offers of now."""

    name: str
    status: str
    state: str
    since: float | None
    matches: int
    simulated: bool
    prices: str
    short: str = ""
    company: str = ""
    not_shown: dict[str, int] = {}
    offered_by: str = ""
    fees: str = ""
    terms: str | None = None
    delayed_s: float | None = None
    last_error: str | None = None


class Health(Struct, frozen=True, kw_only=True):
    """The state of every bookmaker by id."""

    status: str
    epoch: str
    checks: dict[str, Check]


class Removal(Struct, frozen=True, kw_only=True):
    """An entry or a fixture that left a list, at which version and why; it may be merged `into` another."""

    id: str
    reason: str
    version: int
    bookmaker: str | None = None
    into: str | None = None


class Change(Struct, frozen=True, kw_only=True):
    """The changes of a list since a version, or a whole list; the board applies it.

    Exactly one of `matches` and `fixtures` is given. A whole list has no `since`.
    """

    version: int
    since: int | None = None
    matches: tuple[Match, ...] | None = None
    fixtures: tuple[Fixture, ...] | None = None
    removed: tuple[Removal, ...] = ()
    linking: Linking | None = None
    league_id: str | None = None
    cursor: str = ""
    conflated: bool = False

    @property
    def shown(self) -> tuple[Match | Fixture, ...]:
        """The entries or fixtures that it has."""
        return self.fixtures or self.matches or ()
