"""The data of The Odds API: one list of matches with their bookmakers, as JSON."""

from __future__ import annotations

import json
import time
from typing import Any

from boards import NOW

from actors.messages import Scope

BOOKMAKERS = 14
KEYS = tuple(f"bookmaker_{number}" for number in range(BOOKMAKERS))
SCOPE = Scope("soccer_league")
UPDATED = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(NOW.wall))


def odds_body(matches: int, shift: int = 0, bookmakers: int = BOOKMAKERS) -> bytes:
    """Give the odds of that many matches by that many bookmakers; `shift` moves every price."""
    return json.dumps([_match(number, shift, KEYS[:bookmakers]) for number in range(matches)]).encode()


def _match(number: int, shift: int, keys: tuple[str, ...]) -> dict[str, Any]:
    home, away = f"Home Town {number}", f"Away United {number * 7919 % 10_007}"
    start = NOW.wall + 86_400 + number % 2000 * 300
    return {
        "id": f"{number * 2654435761 % 2**32:032x}",
        "sport_key": str(SCOPE),
        "sport_title": f"League {number % 40}",
        "commence_time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(start)),
        "home_team": home,
        "away_team": away,
        "bookmakers": [_lines(key, at, (home, away), number, shift) for at, key in enumerate(keys)],
    }


def _lines(key: str, at: int, teams: tuple[str, str], number: int, shift: int) -> dict[str, Any]:
    home = round(1.8 + (number * 7 + at * 3 + shift) % 60 / 100, 2)  # a book sum that is believed
    draw, away = round(3.2 + number % 20 / 100, 2), round(3.9 + (number + at) % 30 / 100, 2)
    prices = {teams[1]: away, "Draw": draw, teams[0]: home}
    outcomes = [{"name": name, "price": price} for name, price in prices.items()]
    market = {"key": "h2h", "last_update": UPDATED, "outcomes": outcomes}
    return {"key": key, "title": key.title(), "last_update": UPDATED, "markets": [market]}
