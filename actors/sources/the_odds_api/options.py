"""The options of The Odds API, its requests and their costs. Pure."""

from __future__ import annotations

from math import ceil
from typing import Annotated, Literal
from urllib.parse import quote, urlencode

from msgspec import Meta, Struct

from actors.core.messages import Scope
from actors.markets.market import Kind
from actors.source_api.options import PolledOptions, Seconds, Secret, every_kind
from actors.source_api.plan import Target
from actors.sources.the_odds_api.lines import KINDS

SportKey = Annotated[
    str, Meta(pattern="^soccer_[a-z0-9_]{1,64}$", title='the key of a football league, like "soccer_epl"')
]
Region = Annotated[str, Meta(pattern="^[a-z0-9]{2,8}$", title='a region of the API, like "eu"')]
Credits = Annotated[float, Meta(gt=0, le=1e9)]
MarketKey = Literal["h2h", "totals", "spreads"]

BOOKMAKERS_A_CREDIT = 10  # the API's documentation of v4, "Usage Quota Costs"
SPORTS_SCOPE = Scope("sports")


class TheOddsApiOptions(PolledOptions, frozen=True, kw_only=True):
    """Options of The Odds API.

    `sports` are keys of its football leagues, or "football" for all leagues in season. Without
    `credits_per_day` every sport is requested each `poll_interval_s`; with a daily limit this is the
    shortest interval. All configured bookmakers must belong to `regions`, if any are set.
    """

    api_key: Annotated[Secret, Meta(description='The key, from the environment: "${THE_ODDS_API_KEY}".')]
    sports: Annotated[
        Annotated[tuple[SportKey, ...], Meta(min_length=1)] | Literal["football"],
        Meta(description='The leagues to poll; "football" is all in season.'),
    ]
    url: Annotated[str, Meta(description="The address of the API.")] = "https://api.the-odds-api.com"
    regions: Annotated[
        tuple[Region, ...],
        Meta(description="Regions to poll instead of the bookmakers, where that costs fewer credits."),
    ] = ()
    poll_interval_s: Annotated[
        Seconds, Meta(description="The shortest time between two polls of a league.")
    ] = 60.0
    credits_per_day: Annotated[
        Credits | None,
        Meta(description="Credits of a UTC day that a run never exceeds; not set, there is no limit."),
    ] = None
    markets: Annotated[
        tuple[MarketKey, ...],
        Meta(
            description="The markets to ask for: 1X2, totals, Asian handicaps. Each costs credits.",
            min_length=1,
        ),
    ] = ("h2h",)
    links: Annotated[
        bool,
        Meta(
            description="Whether to ask for the bookmakers' pages of the matches, which costs no credits."
        ),
    ] = False

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of market to read, 1X2 first."""
        return every_kind(KINDS[market] for market in self.markets)

    @property
    def asked(self) -> tuple[str, ...]:
        """The keys of the markets, each once, in the order of requests."""
        return tuple(market for market in KINDS if market in self.markets)


class Call(Struct, frozen=True):
    """A way to request the odds of these markets, and its credits for each market."""

    parameter: str
    value: str
    markets: tuple[str, ...]
    credits_a_market: int

    @property
    def credits(self) -> int:
        """The credits of a whole call."""
        return self.credits_a_market * len(self.markets)


def cheapest_call(
    options: TheOddsApiOptions, keys: tuple[str, ...], markets: tuple[str, ...]
) -> tuple[Call, Call | None]:
    """Return the cheaper way to request these markets of these bookmakers, and the other way, if any."""
    by_name = Call("bookmakers", ",".join(keys), markets, ceil(len(keys) / BOOKMAKERS_A_CREDIT))
    if not options.regions:
        return by_name, None
    by_region = Call("regions", ",".join(options.regions), markets, len(options.regions))
    return (by_region, by_name) if by_region.credits < by_name.credits else (by_name, by_region)


def sports_target(options: TheOddsApiOptions) -> Target:
    """Return the request for the free list of all sports."""
    query = urlencode({"apiKey": options.api_key})
    return Target(SPORTS_SCOPE, f"{_base(options)}/sports?{query}", is_catalogue=True)


def odds_target(options: TheOddsApiOptions, call: Call, sport: str) -> Target:
    """Return the request for the odds of a sport, all markets in one call."""
    query = {
        "apiKey": options.api_key,
        call.parameter: call.value,
        "markets": ",".join(call.markets),
        "oddsFormat": "decimal",
        "dateFormat": "iso",
        **({"includeLinks": "true"} if options.links else {}),
    }
    return Target(Scope(sport), f"{_base(options)}/sports/{quote(sport)}/odds?{urlencode(query, safe=',')}")


def _base(options: TheOddsApiOptions) -> str:
    return options.url.rstrip("/").removesuffix("/v4") + "/v4"
