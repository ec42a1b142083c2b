"""The options of Azuro, and its requests. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated
from urllib.parse import urlencode

import msgspec
from msgspec import Meta

from actors.core.messages import Scope
from actors.source_api.catalogue import CatalogueOptions, FarSeconds, NearSeconds
from actors.source_api.options import Seconds
from actors.source_api.plan import Target

Environment = Annotated[
    str, Meta(pattern="^[A-Za-z0-9]{1,32}$", title='1 to 32 letters and digits, like "PolygonUSDT"')
]


class _GamesAskedFor(msgspec.Struct, rename="camel"):
    environment: str
    game_ids: list[str]


GAMES, CONDITIONS = Scope("games"), Scope("conditions")
STATES = ("Prematch", "Live")  # in this order, so that a game that begins meanwhile is in both lists
PAGE = 100
IN_PLAY_INTERVAL_S = 3.0  # between two polls of games in play
IN_PLAY_FOR_S = 10.0  # the validity of a price in play, because a suspension may come at any moment


class AzuroOptions(CatalogueOptions, frozen=True, kw_only=True):
    """Options of Azuro."""

    url: Annotated[str, Meta(description="The address of its API.")] = (
        "https://api.onchainfeed.org/api/v1/public"
    )
    environment: Annotated[Environment, Meta(description="Its environment: chain and currency.")] = (
        "PolygonUSDT"
    )
    poll_interval_s: NearSeconds = 10.0
    far_interval_s: FarSeconds = 60.0
    timeout_s: Annotated[Seconds, Meta(description="Seconds for a whole answer.")] = 20.0

    def staleness_at(self, interval_s: float) -> float:
        """Return three intervals, or as configured; at most `IN_PLAY_FOR_S` in play."""
        stale_s = super().staleness_at(interval_s)
        return min(stale_s, IN_PLAY_FOR_S) if interval_s <= IN_PLAY_INTERVAL_S else stale_s


@lru_cache(maxsize=256)  # every call of `targets` asks for it
def games_target(options: AzuroOptions, state: str, page: int) -> Target:
    """Return the request for a page of the football games in a state; the first page is 1."""
    query = {
        "environment": options.environment,
        "gameState": state,
        "sportSlug": "football",
        "orderBy": "startsAt",
        "orderDirection": "asc",
        "page": str(page),
        "perPage": str(PAGE),
    }
    url = f"{_base(options)}/games-by-filters?{urlencode(query)}"
    return Target(GAMES, url, is_catalogue=True)


def conditions_target(options: AzuroOptions, games: Sequence[str]) -> Target:
    """Return the request for all markets of these games."""
    body = msgspec.json.encode(_GamesAskedFor(options.environment, [*games]))
    return Target(CONDITIONS, f"{_base(options)}/conditions-by-game-ids", is_catalogue=True, body=body)


def games_of(target: Target) -> list[str]:
    """Return the games whose markets a target asks for."""
    return msgspec.json.decode(target.body, type=_GamesAskedFor).game_ids


def odds_target(options: AzuroOptions, scope: Scope, conditions: Sequence[str], preface: bytes) -> Target:
    """Return the request for the odds of these markets."""
    body = msgspec.json.encode({"environment": options.environment, "conditionIds": conditions})
    return Target(scope, f"{_base(options)}/condition-batch", body=body, preface=preface)


def _base(options: AzuroOptions) -> str:
    return f"{options.url.rstrip('/')}/market-manager"
