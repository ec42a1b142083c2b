"""The lines of a program, and its options."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from actors.markets.market import Kind
from actors.source_api.program import ProgramOptions

OPTIONS = ProgramOptions(kind="program", command=("program",))
WITH_MARKETS = msgspec.structs.replace(OPTIONS, markets=tuple(Kind))
MARKETS = {
    "over_under:2.5": {"over": 1.9, "under": "1.95"},
    "over_under:3": {"over": 2.4, "under": 1.55},
    "asian_handicap:-0.75": {"home": 2.02, "away": 1.88},
    "btts": {"yes": 1.8, "no": 2.0},
    "double_chance": {"1X": 1.3, "12": 1.3, "X2": 1.75},
}


def item(match: str = "1", home: Any = "2.10", **changes: Any) -> dict[str, Any]:
    """Return a match with those prices for home, and others that suit it."""
    return {
        "match": match,
        "home": f"Home {match}",
        "away": f"Away {match}",
        "league": "Premier League",
        "start": "2026-06-01T15:00:00Z",
        "odds": {"one": home, "draw": "3.40", "two": 3.6},
        **changes,
    }


def without_odds(match: str = "1", **changes: Any) -> dict[str, Any]:
    """Return a match without 1X2 prices."""
    return {name: value for name, value in item(match, **changes).items() if name != "odds"}


def line(kind: str, name: str = "epl", **fields: Any) -> bytes:
    """Return a line of that type about a list."""
    return json.dumps({"type": kind, "list": name, **fields}).encode() + b"\n"


def listed(*items: dict[str, Any], name: str = "epl", list_id: str = "1", **fields: Any) -> bytes:
    """Return a complete list in a line."""
    return line("list", name, id=list_id, matches=items, **fields)


def upsert(match: str = "1", home: Any = "2.10", name: str = "epl", **changes: Any) -> bytes:
    """Return a match that has changed."""
    return line("upsert", name, **item(match, home, **changes))
