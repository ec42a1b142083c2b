"""The lines of a program, and its options."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.markets.market import Kind
from actors.source_api.program import ListChange, ProgramOptions
from actors.sources.program.lists import Lists
from actors.sources.program.markets import Rejected
from tests.support.time.virtual import WALL_0

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
    """Return a match with these prices for home, and other prices that suit them."""
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
    """Return a line of a given type about a list."""
    return json.dumps({"type": kind, "list": name, **fields}).encode() + b"\n"


def listed(*items: dict[str, Any], name: str = "epl", list_id: str = "1", **fields: Any) -> bytes:
    """Return a line with a complete list."""
    return line("list", name, id=list_id, matches=items, **fields)


def upsert(match: str = "1", home: Any = "2.10", name: str = "epl", **changes: Any) -> bytes:
    """Return a line about a match that has changed."""
    return line("upsert", name, **item(match, home, **changes))


class Speaker:
    """The lists of a program that speaks at its own times, from second `start` on; and rejected matches."""

    def __init__(self, options: ProgramOptions = OPTIONS, start: float = 0.0) -> None:
        self.rejected: list[Rejected] = []
        self.lists = Lists(options, lambda _, rejected: self.rejected.append(rejected))
        self._start = start

    def say(self, *lines: bytes, at: float = 0.0, drift_s: float = 0.0) -> tuple[ListChange, ...]:
        """Take lines `at` seconds after the start; the wall clock is set by `drift_s` meanwhile."""
        now = Instant(self._start + at, WALL_0 + at + drift_s)
        self.lists.expire(now)
        for said in lines:
            run_now(self.lists.receive(said, now))
        return self.lists.changes()

    def change(self, *lines: bytes, at: float = 0.0) -> ListChange:
        """Take lines that change one list."""
        (change,) = self.say(*lines, at=at)
        return change


def removed(change: ListChange) -> dict[str, str]:
    """Return the reason of each removal by match."""
    return {str(removal.source_match_id): str(removal.reason) for removal in change.extract.removals}
