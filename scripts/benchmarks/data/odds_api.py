"""An invented answer of The Odds API: a list of matches with their bookmakers, as JSON."""

from __future__ import annotations

import json
import time
from typing import Any

from actors.core.messages import Scope
from scripts.benchmarks.data.boards import NOW

BOOKMAKERS = 14
KEYS = tuple(f"bookmaker_{number}" for number in range(BOOKMAKERS))
SCOPE = Scope("soccer_league")


def odds_body(matches: int, shift: int = 0, bookmakers: int = BOOKMAKERS) -> bytes:
    """Return odds of that many matches and bookmakers, timed now; `shift` moves every price."""
    updated = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    each = [_match(number, shift, KEYS[:bookmakers], updated) for number in range(matches)]
    return json.dumps(each).encode()


def _match(number: int, shift: int, keys: tuple[str, ...], updated: str) -> dict[str, Any]:
    home, away = f"Home Town {number}", f"Away United {number * 7919 % 10_007}"
    start = NOW.wall + 86_400 + number % 2000 * 300
    return {
        "id": f"{number * 2654435761 % 2**32:032x}",
        "sport_key": str(SCOPE),
        "sport_title": f"League {number % 40}",
        "commence_time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(start)),
        "home_team": home,
        "away_team": away,
        "bookmakers": [
            {
                "key": key,
                "title": key.title(),
                "last_update": updated,
                "markets": [_market((home, away), number, number * 7 + at * 3 + shift, updated)],
            }
            for at, key in enumerate(keys)
        ],
    }


def _market(teams: tuple[str, str], number: int, moved: int, updated: str) -> dict[str, Any]:
    home, draw, away = 180 + moved % 60, 320 + number % 20, 390 + moved % 30  # a valid book sum
    prices = {teams[1]: away / 100, "Draw": draw / 100, teams[0]: home / 100}
    outcomes = [{"name": name, "price": price} for name, price in prices.items()]
    return {"key": "h2h", "last_update": updated, "outcomes": outcomes}
