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

BookmakerId = NewType("BookmakerId", str)  # [a-z0-9-]{1,32}: the first part of a match id
SourceName = NewType("SourceName", str)  # its table in the configuration
Scope = NewType("Scope", str)  # the part of a source in a payload: a file, a league key, a subscription
ListId = NewType("ListId", str)  # names a complete list of a scope; confirmations refer to it
SourceMatchId = NewType("SourceMatchId", str)
"""`[A-Za-z0-9._~-]{1,128}`, stable while the match is listed.

The id for another market than 1X2 ends with the market, as in `4711 over_under:2.5`: each market of a match
enters and leaves a list by itself.
"""


class Prices(StrEnum):
    """The meaning of a source's confirmation: live prices, or a file of collected prices."""

    LIVE = "live"  # the prices are on offer now
    COLLECTED = "collected"  # the file is current: its prices were on offer when it was made


class Venue(StrEnum):
    """The kind of place that offers a bookmaker's prices."""

    BOOKMAKER = "bookmaker"
    EXCHANGE = "exchange"
    PREDICTION_MARKET = "prediction market"


class Fees(StrEnum):
    """Whether the prices already include fees on bets and commissions on winnings."""

    NONE = "none"
    INCLUDED = "included"
    NOT_INCLUDED = "not included"


class Offer(Struct, frozen=True):
    """The kind of offer behind a bookmaker's prices; `terms` must be shown with them."""

    venue: Venue = Venue.BOOKMAKER
    fees: Fees = Fees.NONE
    terms: str = ""


OF_EXCHANGE = Offer(Venue.EXCHANGE, Fees.NOT_INCLUDED)

NOT_MODIFIED = 304  # no body: the last list still holds (RFC 9110, 15.4.5)


class Payload(Struct, frozen=True):
    """A raw unit received from a source, or its confirmation that the last payload still holds.

    `received_mono` (monotonic seconds) is when a poll was sent, less the time that a cache had held its
    answer, or when a message was read; the payload holds for `stale_after_s` from then. `received_at`,
    `source_time` (the source's own time for the content) and `answered_at` (the source's clock at
    `received_mono`) are Unix seconds. Without `is_framed` no length was announced, so that the body may be
    truncated. Status 304 confirms `list_id`. `headers` have names in lower case.
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
    """A decoded payload, not yet split by bookmaker; `content` is the result of the source's decoder."""

    scope: Scope
    list_id: ListId
    content: object
    received_at: float
    received_mono: float
    stale_after_s: float


class Match(Struct, frozen=True, gc=False, omit_defaults=True):
    """A football match as one bookmaker lists it, with the decimal prices of one market.

    Times are Unix seconds; `source_time` is the source's own for this content. Where the start is unknown,
    `latest_start` may be its latest possible time, such as the end of the day; it is not public. Where
    `latest_start` equals the start, the price is offered before the kick-off only, and leaves the board
    then. `in_play` says whether the source calls the match live, None if it does not say; fixtures show it,
    lists do not. Fixtures alone show `url`, too, the bookmaker's page of the match, and the fee: the prices
    of a prediction market are before a fee of `fee_rate` x p x (1 - p) for each share, where p is 1 /
    price. The prices are good for `max_stake` US dollars or more; None means unknown. The prices of a
    `market` other than 1X2 are in `odds`, and the three price fields are 0 (`of_market`).
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
        """The prices in the order of the outcomes; for 1X2 home, draw, away."""
        return self.odds or (self.home_price, self.draw_price, self.away_price)

    @property
    def event_id(self) -> SourceMatchId:
        """The id that all markets of the match share."""
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
        """Its teams, league and start, without prices."""
        return self.home, self.away, self.league, self.start_time

    @property
    def is_named(self) -> bool:
        """Whether both teams have a name."""
        return bool(self.home and self.away)

    @property
    def ends_at_start(self) -> bool:
        """Whether the price is offered before the kick-off only."""
        return self.start_time is not None and self.latest_start == self.start_time

    @property
    def begun_by(self) -> int | None:
        """The moment (Unix seconds) by which it has certainly kicked off; None if unknown."""
        return self.latest_start if self.start_time is None else self.start_time


def market_id(event_id: SourceMatchId, market: Market) -> SourceMatchId:
    """Return the id of a market of a match; for 1X2 the match's own id."""
    return event_id if market.kind is Kind.ONE_X_TWO else SourceMatchId(f"{event_id} {market}")


Id = TypeVar("Id", bound=str)


def event_id_of(match_id: Id) -> Id:
    """Return the match's id from the id of one of its markets; likewise for an entry."""
    return cast("Id", match_id.partition(" ")[0]) if " " in match_id else match_id


def kind_of(match_id: SourceMatchId) -> str:
    """Return the kind of market, as it is spelled in an id."""
    market = match_id.partition(" ")[2]
    return market.partition(":")[0] or Kind.ONE_X_TWO


class Removal(Struct, frozen=True, gc=False):
    """A match that leaves the board, and why: the reason of a rejection, `suspended`, `withdrawn`, ..."""

    source_match_id: SourceMatchId
    reason: str


class Extract(Struct, frozen=True):
    """The part of a document about one bookmaker: its matches, and the matches that could not be read.

    `passed_over` counts by reason the ignored elements that remove no match, such as other markets.
    `answered_at` is the time of the answer by the source's clock; its newest price was `lag_s` older. With
    `is_collected` the prices may be of any age, because their file is made only now and then. `notes` say
    to an operator which parts could not be read or are ambiguous, and where these are in the document. The
    document was requested for these `kinds` of market only; for all kinds of its source if empty.
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

    A complete batch has the whole list in `matches`; its `removals` only give reasons for missing matches.
    With `is_image` missing matches were removed, not lost. A batch that is not complete changes the list
    `list_id` by upserts and removals; without changes it confirms the list. With `withdrawn` the list
    leaves the board until a complete list comes. The source confirmed the list at `received_mono`, and the
    confirmation holds for `stale_after_s`. If `answered_at` (the source's clock at that time) is set, the
    `source_time` of a match is when the source confirmed the match's prices. The source says that its
    prices may be up to `delay_s` old. The batch covers these `kinds` of market only; other kinds are
    unaffected. Before the gate an empty `kinds` means all kinds of its source.
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
    """An attempt to get a list that failed: no answer, or an unreadable one.

    `at_mono` (monotonic seconds) is comparable with `received_mono` of a batch.
    """

    bookmaker: BookmakerId
    scope: Scope
    at_mono: float
