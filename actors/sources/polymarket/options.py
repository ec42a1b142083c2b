"""The options of Polymarket, and its requests. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, Literal
from urllib.parse import urlencode

import msgspec
from msgspec import Meta

from actors.core.messages import Scope
from actors.markets.market import Kind
from actors.source_api.catalogue import CatalogueOptions, FarSeconds, NearSeconds
from actors.source_api.options import Markets, Seconds
from actors.source_api.plan import Target

LeagueKey = Annotated[str, Meta(pattern="^[a-z0-9]{2,16}$", title='the key of a league, like "epl"')]
Dollars = Annotated[float, Meta(gt=0, le=1e6)]
Address = Annotated[str, Meta(pattern=r"^https?://[!-~]+$", title="http://HOST... or https://HOST...")]

SPORTS_SCOPE = Scope("sports")
PAGE = 100  # markets a page; requests for more returned only 100


class PolymarketOptions(CatalogueOptions, frozen=True, kw_only=True):
    """Options of Polymarket.

    `leagues` are Polymarket's keys of leagues, or "football" for all leagues. `min_stake` (USD) is the
    least amount that must be on offer for each outcome. With `after_fees` the taker's fee is deducted from
    the prices.
    """

    url: Annotated[str, Meta(description="The address of its matches.")] = (
        "https://gamma-api.polymarket.com"
    )
    prices_url: Annotated[Address, Meta(description="The address of its prices.")] = (
        "https://clob.polymarket.com"
    )
    leagues: Annotated[
        Annotated[tuple[LeagueKey, ...], Meta(min_length=1)] | Literal["football"],
        Meta(description='The leagues to poll; "football" is all.'),
    ] = "football"
    poll_interval_s: NearSeconds = 5.0
    far_interval_s: FarSeconds = 30.0
    timeout_s: Annotated[Seconds, Meta(description="Seconds for a whole answer.")] = 20.0
    markets: Markets = (Kind.ONE_X_TWO,)
    min_stake: Annotated[
        Dollars, Meta(description="The least amount in USD that must be on offer for each outcome.")
    ] = 10.0
    after_fees: Annotated[bool, Meta(description="Whether the taker's fee is deducted from prices.")] = (
        False
    )


def sports_target(options: PolymarketOptions) -> Target:
    """Return the request for the list of leagues."""
    return Target(SPORTS_SCOPE, f"{options.url.rstrip('/')}/sports", is_catalogue=True)


@lru_cache(maxsize=512)  # every call of `targets` asks for it, for some thirty leagues
def markets_target(
    options: PolymarketOptions, scope: Scope, tag: str, market_type: str, cursor: str
) -> Target:
    """Return the request for a page of a league's open markets of a type; the first page has no cursor."""
    query = {"tag_id": tag, "sports_market_types": market_type, "closed": "false", "limit": str(PAGE)}
    if cursor:
        query["after_cursor"] = cursor
    url = f"{options.url.rstrip('/')}/markets/keyset?{urlencode(query)}"
    return Target(scope, url, is_catalogue=True)


def markets_scope(league: str, market_type: str = "") -> Scope:
    """Return the scope of a league's list of results, or of markets of another type."""
    return Scope(f"{league}-{market_type}-markets" if market_type else f"{league}-markets")


def is_markets(scope: Scope) -> bool:
    """Return whether a scope is a league's list of markets."""
    return scope.endswith("-markets")


def books_target(options: PolymarketOptions, scope: Scope, tokens: Iterable[str], preface: bytes) -> Target:
    """Return the request for the order books of these tokens."""
    body = msgspec.json.encode([{"token_id": token} for token in tokens])
    return Target(scope, f"{options.prices_url.rstrip('/')}/books", body=body, preface=preface)
