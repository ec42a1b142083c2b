"""The Odds API: 36 leagues with all their bookmakers, from JSON to the commit, next to decoding alone."""

from __future__ import annotations

import gc
import json
import time
import tracemalloc
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from boards import NOW
from tables import seconds, spread, table
from taking_in import Source, take_in

from actors.messages import BookmakerId, Scope
from actors.snapshot import Snapshot
from actors.sources.the_odds_api import KIND
from actors.sources.the_odds_api_options import TheOddsApiOptions

LEAGUES, MATCHES, BOOKMAKERS = 36, 9, 14
ROWS = LEAGUES * MATCHES * BOOKMAKERS
RUNS = 15
SOURCE = Source(KIND, TheOddsApiOptions(kind=KIND.name, api_key="key", sports="football"))
KEYS = tuple(f"bookmaker_{number}" for number in range(BOOKMAKERS))
UPDATED = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(NOW.wall))
KICK_OFF = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(NOW.wall + 86400))


def run() -> None:
    """Print rows per second and memory; a row is one bookmaker's prices of one match."""
    first, second = _bodies(0), _bodies(1)
    size = sum(map(len, first.values()))
    alone = seconds(lambda: [msgspec.json.decode(body) for body in first.values()], RUNS)
    base = _all_in(_empty(), first)
    rows = [_row("msgspec decoding alone, to dicts", alone, alone)]
    for what, bodies in (("all prices changed", second), ("polled again, nothing changed", first)):
        times = seconds(partial(_all_in, base, bodies), RUNS)
        rows.append(_row(f"payload to commit, {what}", times, alone))
    shape = f"{LEAGUES} leagues x {MATCHES} matches x {BOOKMAKERS} bookmakers, {size / 2**20:.1f} MiB"
    header = ["path", "ms: median (min to max)", "rows/s", "speed against msgspec"]
    table(f"The Odds API: {shape}", header, rows)
    held = _memory(first)
    each = f"{held / ROWS:,.0f} bytes an entry"
    print(f"\nMemory of that board, {ROWS:,} entries: {held / 2**20:.2f} MiB, {each}")


def _all_in(base: Snapshot, bodies: Mapping[Scope, bytes]) -> Snapshot:
    for scope, body in bodies.items():
        base = take_in(SOURCE, base, scope, body, KEYS)
    return base


def _empty() -> Snapshot:
    return Snapshot.empty(1, tuple(map(BookmakerId, KEYS)))


def _memory(bodies: Mapping[Scope, bytes]) -> int:
    gc.collect()
    tracemalloc.start()
    kept = _all_in(_empty(), bodies)
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return held


def _bodies(shift: int) -> dict[Scope, bytes]:
    return {Scope(f"soccer_{at}"): json.dumps(_league(at, shift)).encode() for at in range(LEAGUES)}


def _league(league: int, shift: int) -> list[Any]:
    return [
        {
            "id": f"{league:016x}{number:016x}",
            "sport_key": f"soccer_{league}",
            "sport_title": f"League {league}",
            "commence_time": KICK_OFF,
            "home_team": f"Home {number}",
            "away_team": f"Away {number}",
            "bookmakers": [_lines(key, number, shift) for key in KEYS],
        }
        for number in range(MATCHES)
    ]


def _lines(key: str, number: int, shift: int) -> dict[str, Any]:
    prices = {f"Away {number}": 4.1, "Draw": 3.4, f"Home {number}": 1.8 + (number * 7 + shift) % 90 / 100}
    outcomes = [{"name": name, "price": price} for name, price in prices.items()]
    market = {"key": "h2h", "last_update": UPDATED, "outcomes": outcomes}
    return {"key": key, "title": key.title(), "last_update": UPDATED, "markets": [market]}


def _row(what: str, times: Sequence[float], peer: Sequence[float]) -> list[str]:
    median, peer_median = times[len(times) // 2], peer[len(peer) // 2]
    shown = spread([one * 1e3 for one in times])
    return [what, shown, f"{ROWS / median:,.0f}", f"{peer_median / median:.2f}"]
