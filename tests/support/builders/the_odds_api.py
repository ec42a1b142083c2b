"""The Odds API for tests: hand-written answers, a configuration, and a simple parser of answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from email.utils import formatdate
from pathlib import Path
from typing import Any, Final

from actors.core.clock import Instant
from actors.sources.the_odds_api.kind import KIND
from actors.sources.the_odds_api.options import TheOddsApiOptions
from actors.sources.the_odds_api.plan import TheOddsApiPlan
from tests.support.peers.http import HttpPeer, respond

ALL_MARKETS: Final = ("h2h", "totals", "spreads")
API_KEY = "k3y-that-nobody-may-see"
UPDATED = "2026-05-28T20:20:00Z"
KICK_OFF = "2026-05-30T14:00:00Z"

DAY_S, HOUR = 86_400.0, 3600.0
MIDNIGHT = 20_000 * DAY_S
MORNING = MIDNIGHT + 6 * HOUR
LEAGUES = ("soccer_a", "soccer_b", "soccer_c")
Row = tuple[str, str, str, float, float, float]
"""Match id, home, away, and the three prices in the order home, draw, away."""


def market(home: str, away: str, prices: Iterable[float], key: str = "h2h", updated: str = UPDATED) -> Any:
    """Return a market as the API writes it: outcomes by name, in alphabetical order."""
    outcomes = [
        {"name": name, "price": price} for name, price in zip((home, "Draw", away), prices, strict=True)
    ]
    return {
        "key": key,
        "last_update": updated,
        "outcomes": sorted(outcomes, key=lambda outcome: str(outcome["name"])),
    }


def totals(*lines: tuple[Any, float, float], key: str = "totals", updated: str = UPDATED) -> Any:
    """Return a market of totals: each line has its point and the prices of over and under."""
    outcomes = [
        {"name": name, "price": price, "point": point}
        for point, *prices in lines
        for name, price in zip(("Over", "Under"), prices, strict=True)
    ]
    return {"key": key, "last_update": updated, "outcomes": outcomes}


def spreads(
    home: str,
    away: str,
    *lines: tuple[float, float, float],
    key: str = "spreads",
    updated: str = UPDATED,
) -> Any:
    """Return a market of handicaps: each line has the home team's point, and prices of home and away."""
    outcomes = [
        {"name": name, "price": price, "point": side}
        for point, *prices in lines
        for name, price, side in zip((home, away), prices, (point, -point), strict=True)
    ]
    return {"key": key, "last_update": updated, "outcomes": outcomes[::-1]}


def event(
    match_id: str,
    home: str,
    away: str,
    bookmakers: Mapping[str, Iterable[Any]],
    *,
    sport: str = "soccer_epl",
    kick_off: str = KICK_OFF,
) -> Any:
    """Return a match; `bookmakers` gives the markets by bookmaker key."""
    return {
        "id": match_id,
        "sport_key": sport,
        "sport_title": sport.removeprefix("soccer_").upper(),
        "commence_time": kick_off,
        "home_team": home,
        "away_team": away,
        "bookmakers": [
            {"key": key, "title": key.title(), "last_update": UPDATED, "markets": list(markets)}
            for key, markets in bookmakers.items()
        ],
    }


def odds_path(sport: str) -> str:
    """Return the path of the request for the odds of a sport."""
    return f"/v4/sports/{sport}/odds"


def serve(peer: HttpPeer, answers: Mapping[str, bytes]) -> None:
    """Make the peer answer with these bodies, by sport."""
    for sport, body in answers.items():
        peer.answers[odds_path(sport)] = respond(body, headers=dated(body))


def dated(body: bytes) -> dict[str, str]:
    """Return a Date for which no price of the answer counts as late."""
    times = re.findall(rb'"last_update": ?"([^"]+)"', body)
    oldest = min((datetime.fromisoformat(time.decode()).timestamp() for time in times), default=0.0)
    return {"Date": formatdate(oldest, usegmt=True)}


def recorded(files: Iterable[Path]) -> dict[str, bytes]:
    """Return recorded answers by sport; the sport is part of the file name."""
    return {file.stem.removeprefix("data_"): file.read_bytes() for file in files}


def config(
    sports: Iterable[str] | str, keys: Iterable[str], url: str = "http://api.example", /, **options: Any
) -> str:
    """Return a configuration with these bookmakers, named by the API; matches never expire."""
    options = {"poll_interval_s": 10.0, "timeout_s": 5.0, **options}
    listed = json.dumps(sports if isinstance(sports, str) else list(sports))
    lines = [
        "[board]",
        "expire_after_kickoff_s = 1_000_000_000",
        "in_play_max_age_s = 1_000_000_000",
        "[sources.api]",
        'kind = "the_odds_api"',
    ]
    lines += [f'url = "{url}"', f'api_key = "{API_KEY}"', f"sports = {listed}"]
    lines += [f"{name} = {value!r}" for name, value in options.items()]
    for key in keys:
        lines += [f"[bookmakers.{bookmaker_id(key)}]", 'source = "api"', f'key = "{key}"']
    return "\n".join(lines)


def bookmaker_id(key: str) -> str:
    """Return the bookmaker id of a key of the API."""
    return key.lower().replace("_", "-")


def keys_in(answers: Mapping[str, bytes]) -> list[str]:
    """Return the keys of all bookmakers in these answers, in order."""
    events = (match for body in answers.values() for match in json.loads(body))
    return sorted({lines["key"] for entry in events for lines in entry["bookmakers"]})


def highest_book_sum(key: str) -> float:
    """Return the highest book sum at which the prices of a recorded bookmaker are believed."""
    return 1.12 if key in {"matchbook", "smarkets"} or key.startswith("betfair_ex_") else 1.4


def plain_rows(body: bytes, key: str) -> dict[str, Row]:
    """Read the offers of one bookmaker, by match id, with simple code: the oracle of the tests."""
    rows, highest = {}, highest_book_sum(key)
    for match in json.loads(body):
        teams = (match["home_team"], "Draw", match["away_team"])
        for lines in match["bookmakers"]:
            for listed in lines["markets"]:
                prices = {outcome["name"]: outcome["price"] for outcome in listed["outcomes"]}
                is_ours = (
                    lines["key"] == key
                    and listed["key"] == "h2h"
                    and match["sport_key"].startswith("soccer_")
                    and set(prices) == set(teams)
                    and len(listed["outcomes"]) == 3
                    and min(prices.values()) > 1
                    and 0.95 <= sum(1 / price for price in prices.values()) <= highest
                )
                if is_ours:
                    home, draw, away = (prices[team] for team in teams)
                    rows[match["id"]] = (match["id"], teams[0], teams[2], home, draw, away)
    return rows


def options_of(**given: Any) -> TheOddsApiOptions:
    """Return options, by default with three leagues."""
    return TheOddsApiOptions(kind=KIND.name, api_key=API_KEY, **{"sports": LEAGUES, **given})


def plan(keys: tuple[str, ...] = ("some",), **given: Any) -> TheOddsApiPlan:
    """Return a plan. Raises: ValueError."""
    return TheOddsApiPlan(options_of(**given), keys)


def at(wall: float) -> Instant:
    """Return a moment by both clocks; the monotonic clock begins at midnight."""
    return Instant(wall - MIDNIGHT, wall)
