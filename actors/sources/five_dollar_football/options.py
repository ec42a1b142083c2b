"""The options of 5DollarFootballAPI, and its requests. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Literal
from urllib.parse import urlencode

from msgspec import Meta

from actors.core.messages import Scope
from actors.markets.market import Kind
from actors.source_api.catalogue import CatalogueOptions, FarSeconds, NearSeconds
from actors.source_api.options import Bytes, Markets, Seconds, Secret
from actors.source_api.plan import Target

LeagueId = Annotated[int, Meta(ge=1, le=10**12, title="the id of a league, like 39")]
LeagueName = Annotated[
    str, Meta(min_length=1, max_length=128, title='the name of a league, like "Premier League"')
]
Rate = Annotated[float, Meta(ge=0.1, le=1e6)]
Days = Annotated[int, Meta(ge=1, le=14)]

STATUS, LEAGUES, BOOKMAKERS = Scope("status"), Scope("leagues"), Scope("bookmakers")
LIVE, NEAR, AHEAD = Scope("list.in_play"), Scope("list.near"), "list.ahead."
IN_PLAY = Scope("in_play")  # the shown list made from `LIVE`
PAGE, LIVE_PAGE = 50, 500
KEY_VARIABLE = "FIVE_DOLLAR_FOOTBALL_KEY"
READ = (Kind.ONE_X_TWO, Kind.ASIAN_HANDICAP, Kind.OVER_UNDER, Kind.BTTS)

Window = tuple[int, int]
"""Begin (inclusive) and end (exclusive) of a range of kick-offs (Unix seconds); at most a day."""


class FiveDollarFootballOptions(CatalogueOptions, frozen=True, kw_only=True):
    """Options of 5DollarFootballAPI.

    All intervals are minima: if the key's rate is too small, they are longer.
    """

    api_key: Annotated[Secret, Meta(description=f'The key, from the environment: "${{{KEY_VARIABLE}}}".')]
    leagues: Annotated[
        Annotated[tuple[LeagueId | LeagueName, ...], Meta(min_length=1)] | Literal["all"],
        Meta(description='Ids or names of the leagues to show; "all" is every league of the key.'),
    ] = "all"
    url: Annotated[str, Meta(description="The address of the API.")] = (
        "https://api.5dollarfootballapi.com/v1"
    )
    markets: Markets = (Kind.ONE_X_TWO,)
    requests_per_minute: Annotated[
        Rate | None,
        Meta(
            description="Requests a minute that are never exceeded; not set, what the key may, by /status."
        ),
    ] = None
    days_ahead: Annotated[Days, Meta(description="Days ahead for which matches are listed.")] = 3
    poll_interval_s: NearSeconds = 20.0
    far_interval_s: FarSeconds = 600.0
    timeout_s: Annotated[Seconds, Meta(description="Seconds for a whole answer.")] = 20.0
    max_payload_bytes: Annotated[Bytes, Meta(description="The largest answer, as sent.")] = 8 * 1024 * 1024


def sent_headers(options: FiveDollarFootballOptions) -> Mapping[str, str]:
    """Return the header with the key, which is never part of an address."""
    return {"Authorization": f"Bearer {options.api_key}"}


def status_target(options: FiveDollarFootballOptions) -> Target:
    """Return the request for the key's account."""
    return Target(STATUS, f"{_base(options)}/status", is_catalogue=True)


def leagues_target(options: FiveDollarFootballOptions, page: int) -> Target:
    """Return the request for a page of all leagues."""
    query = urlencode({"page": page, "per_page": 100})
    return Target(LEAGUES, f"{_base(options)}/leagues?{query}", is_catalogue=True)


def bookmakers_target(options: FiveDollarFootballOptions) -> Target:
    """Return the request for the list of bookmakers."""
    return Target(BOOKMAKERS, f"{_base(options)}/bookmakers", is_catalogue=True)


@lru_cache(maxsize=256)  # every call of `targets` asks for it
def window_target(
    options: FiveDollarFootballOptions, scope: Scope, window: Window, page: int, per_page: int
) -> Target:
    """Return the request for a page of the matches of a window, with the odds of Bet365."""
    league = options.leagues[0] if len(options.leagues) == 1 else None
    query = {
        "start_time": window[0],
        "end_time": window[1],
        **({"league": league} if isinstance(league, int) else {}),
        "include": "odds",
        "page": page,
        "per_page": per_page,
    }
    return Target(scope, f"{_base(options)}/fixtures?{urlencode(query)}", is_catalogue=True)


@lru_cache(maxsize=16)
def live_target(options: FiveDollarFootballOptions, page: int, per_page: int) -> Target:
    """Return the request for a page of all matches in play, with Bet365's 1X2 odds, or all its odds."""
    include = "odds" if options.kinds == (Kind.ONE_X_TWO,) else "odds_full"
    query = urlencode({"status": "live", "include": include, "page": page, "per_page": per_page})
    return Target(LIVE, f"{_base(options)}/fixtures?{query}", is_catalogue=True)


def odds_target(
    options: FiveDollarFootballOptions, scope: Scope, match_id: str, keys: Sequence[str], preface: bytes
) -> Target:
    """Return the request for all odds of a match at these bookmakers."""
    query = {"bookmakers": ",".join(keys)}
    if options.kinds == (Kind.ONE_X_TWO,):
        query["market"] = "1x2"
    url = f"{_base(options)}/fixtures/{match_id}/odds?{urlencode(query, safe=',')}"
    return Target(scope, url, preface=preface)


def _base(options: FiveDollarFootballOptions) -> str:
    return options.url.rstrip("/")
