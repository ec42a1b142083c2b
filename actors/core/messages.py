"""The messages between the parts of the service: payloads, documents, matches, batches.

Frozen values only; constraints are checked where data enters, never in these constructors.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NewType, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from actors.markets.market import ONE_X_TWO, Kind, Market
from actors.markets.odds import Odds

BookmakerId = NewType("BookmakerId", str)  # [a-z0-9-]{1,32}: the first part of every match id
SourceName = NewType("SourceName", str)  # its table in the configuration
Scope = NewType("Scope", str)  # what a payload covers: a file, a league key, a subscription
ListId = NewType("ListId", str)  # a complete list of a scope, for its later confirmations
SourceMatchId = NewType("SourceMatchId", str)
"""`[A-Za-z0-9._~-]{1,128}`, stable while the match is listed.

The id of another market than 1X2 has the market behind it, as in `4711 over_under:2.5`: each market of a
match enters a list, and leaves it, by itself.
"""


class Prices(StrEnum):
    """The object of a source's confirmation: live prices, or a file of collected prices."""

    LIVE = "live"  # the prices: they are on offer now
    COLLECTED = "collected"  # only the file: its prices were on offer when it was made


class Venue(StrEnum):
    """Who offers the prices of a bookmaker."""

    BOOKMAKER = "bookmaker"
    EXCHANGE = "exchange"
    PREDICTION_MARKET = "prediction market"


class Fees(StrEnum):
    """Whether what a bet costs beside its stake, or what is kept of a win, is taken from the prices."""

    NONE = "none"
    INCLUDED = "included"
    NOT_INCLUDED = "not included"


class Offer(Struct, frozen=True):
    """The kind of offer that the prices of a bookmaker are; `terms` must be shown with them."""

    venue: Venue = Venue.BOOKMAKER
    fees: Fees = Fees.NONE
    terms: str = ""


OF_EXCHANGE = Offer(Venue.EXCHANGE, Fees.NOT_INCLUDED)

NOT_MODIFIED = 304  # a payload without a body: the last list still holds (RFC 9110, 15.4.5)


class Payload(Struct, frozen=True):
    """A raw unit received from a source, or its confirmation that the last payload still holds.

    `received_mono` (monotonic seconds) is when a poll was sent, less the time for which a cache had its
    answer, or when a message was read; it holds for `stale_after_s`. `received_at`, `source_time` (the
    source's own time for the content) and `answered_at` (its clock at `received_mono`) are Unix seconds.
    Without `is_framed` its length was not announced, so that it may be cut. With status 304 `list_id` is
    confirmed. `headers` have names in lower case.
    """

    source: SourceName
    scope: Scope
    list_id: ListId
    body: bytes
    received_at: float
    received_mono: float
    source_time: float | None = None
    is_framed: bool = True
    stale_after_s: float = 30.0
    answered_at: float | None = None
    status: int = 200
    headers: Mapping[str, str] = {}


class Document(Struct, frozen=True):
    """A decoded payload, not yet split by bookmaker; `content` is what the source's decoder made."""

    scope: Scope
    list_id: ListId
    content: object
    received_at: float
    received_mono: float
    stale_after_s: float


class Match(Struct, frozen=True, gc=False, omit_defaults=True):
    """A football match as one bookmaker lists it, with the decimal prices of one market.

    Times are Unix seconds; `source_time` is the source's own for this content. Where the start is unknown,
    `latest_start` may be the last moment for it, such as the end of its day; it is not public. `in_play` is
    what the source says of whether it is being played, None if nothing; lists do not show it, fixtures do.
    So is a fee of `fee_rate` x p x (1 - p) for each share of a prediction market, p being 1 / price: the
    prices are before it. They are offered for at least `max_stake` US dollars, and nothing is said of more.
    `url` is the bookmaker's page of the match, which only fixtures show. Where `latest_start` is the start,
    the price is of before the kick-off alone, and leaves the board at it.
    Of another `market` than 1X2 the prices are in `odds`, and the three others are 0 (`of_market`).
    """

    source_match_id: SourceMatchId
    home: str
    away: str
    league: str | None
    home_price: float
    draw_price: float
    away_price: float
    start_time: int | None
    source_time: float | None = None
    latest_start: int | None = None
    in_play: bool | None = None
    fee_rate: float = 0.0
    max_stake: float | None = None
    url: str | None = None
    market: Market = ONE_X_TWO
    odds: Odds = ()

    @property
    def prices(self) -> Odds:
        """The prices in the order of the outcomes: of 1X2 home, draw, away."""
        return self.odds or (self.home_price, self.draw_price, self.away_price)

    @property
    def event_id(self) -> SourceMatchId:
        """The id that all markets of the match have in common."""
        return event_id_of(self.source_match_id)

    def of_market(self, market: Market, odds: Odds) -> Match:
        """Return another market of the same match, with its prices in the order of its outcomes."""
        match_id = market_id(event_id_of(self.source_match_id), market)
        return replace(
            self,
            source_match_id=match_id,
            home_price=0.0,
            draw_price=0.0,
            away_price=0.0,
            market=market,
            odds=odds,
        )

    @property
    def listing(self) -> tuple[str, str, str | None, int | None]:
        """Its teams, league and start, without its prices."""
        return self.home, self.away, self.league, self.start_time

    @property
    def is_named(self) -> bool:
        """Whether both teams have a name."""
        return bool(self.home and self.away)

    @property
    def ends_at_start(self) -> bool:
        """Whether its price is of before the kick-off, and no longer on offer then."""
        return self.start_time is not None and self.latest_start == self.start_time

    @property
    def begun_by(self) -> int | None:
        """The moment (Unix seconds) by which it has certainly kicked off; None if that is unknown."""
        return self.latest_start if self.start_time is None else self.start_time


def market_id(event_id: SourceMatchId, market: Market) -> SourceMatchId:
    """Return the id of a market of a match; of 1X2 that of the match."""
    return event_id if market.kind is Kind.ONE_X_TWO else SourceMatchId(f"{event_id} {market}")


Id = TypeVar("Id", bound=str)


def event_id_of(match_id: Id) -> Id:
    """Return the id of the match of which this is a market; likewise of an entry."""
    return cast("Id", match_id.partition(" ")[0]) if " " in match_id else match_id


def kind_of(match_id: SourceMatchId) -> str:
    """Return the kind of the market of which this is the id, as it is spelled."""
    market = match_id.partition(" ")[2]
    return market.partition(":")[0] or Kind.ONE_X_TWO


class Removal(Struct, frozen=True, gc=False):
    """A match that leaves the board, and why: the reason of a rejection, `suspended`, `withdrawn`, ..."""

    source_match_id: SourceMatchId
    reason: str


class Extract(Struct, frozen=True):
    """The part of a document about one bookmaker: its matches, and those that could not be read.

    `passed_over` counts by reason ignored elements that remove no match, such as another market.
    By the source's clock the answer came at `answered_at`, and its newest price was `lag_s` older.
    With `is_collected` its prices may be of any age, as of a file that is only made now and then. `notes`
    say for an operator what could not be read, or may be read otherwise, each where it is in the document.
    The document was asked for these `kinds` of market alone, if any are named, else for all of its source.
    """

    matches: tuple[Match, ...]
    removals: tuple[Removal, ...] = ()
    title: str | None = None  # the bookmaker's display name
    passed_over: Mapping[str, int] = {}
    lag_s: float | None = None
    answered_at: float | None = None
    is_collected: bool = False
    notes: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()


class Batch(Struct, frozen=True):
    """The part of a document about one bookmaker in one scope.

    Complete: `matches` is the whole list, `removals` only say why something is not in it; with `is_image`,
    missing matches were removed, not lost. Otherwise a change of the list named `list_id`: upserts and
    removals; with neither, its confirmation. With `withdrawn` the list leaves the board until a complete
    list comes. `received_mono` is when the source confirmed it, which holds for `stale_after_s`. With
    `answered_at`, the source's clock then, the `source_time` of a match is when it confirmed its prices.
    `delay_s` is how old its prices may be by then, as the source says. It speaks for these `kinds` of
    market alone: what it has not of another says nothing. Before the gate none means all of its source.
    """

    bookmaker: BookmakerId
    scope: Scope
    list_id: ListId
    complete: bool
    matches: tuple[Match, ...]
    removals: tuple[Removal, ...]
    received_at: float
    received_mono: float
    stale_after_s: float
    withdrawn: bool = False
    is_image: bool = False
    answered_at: float | None = None
    delay_s: float = 0.0
    kinds: tuple[Kind, ...] = ()

    @property
    def is_confirmation(self) -> bool:
        """Whether it changes nothing and only confirms its list."""
        return not (self.complete or self.matches or self.removals or self.withdrawn)


class Failure(Struct, frozen=True):
    """An attempt to get a list that failed: no answer, or none that can be read.

    `at_mono` (monotonic seconds) is when, to be compared with `received_mono` of a batch.
    """

    bookmaker: BookmakerId
    scope: Scope
    at_mono: float
