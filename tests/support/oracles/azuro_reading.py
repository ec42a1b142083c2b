"""What a service shows of Azuro by the rules of its page, from its tables; and changes of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.support.peers.azuro import Azuro

Choose = Callable[[Sequence[Any]], Any]

PARTS = ("game", "condition", "outcome")
CONDITION: dict[str, tuple[Any, ...]] = {
    "state": ("Active", "Stopped", "Resolved", "Canceled", "Removed"),
    "hidden": (False, True, None),
    "isPrematchEnabled": (True, False, None),
    "isLiveEnabled": (True, False, None),
}
OUTCOME: dict[str, tuple[Any, ...]] = {
    "state": ("Active", "Stopped", None),
    "hidden": (False, True),
    "odds": ("1", "0.5", "1.9", "15.84", "nan"),
    "outcomeId": ("29", "30", "31", "32"),
}
GAME: dict[str, tuple[Any, ...]] = {"state": ("Prematch", "Live", "Stopped", "Finished", "Canceled")}


def change(venue: Azuro, name: str, part: str, choose: Choose) -> None:
    """Have a game, its condition or an outcome of that say something else."""
    result = venue.result(name)
    changed, choices = {
        "game": (venue.games[name], GAME),
        "condition": (result, CONDITION),
        "outcome": (result["outcomes"][0], OUTCOME),
    }[part]
    key = choose(sorted(choices))
    changed[key] = choose(choices[key])


def expected(venue: Azuro) -> dict[str, tuple[float, ...]]:
    """Return the odds of each match that is shown."""
    shown = {}
    for name, game in venue.games.items():
        result = venue.result(name)
        flag = {"Prematch": "isPrematchEnabled", "Live": "isLiveEnabled"}.get(game["state"])
        is_open = flag is not None and result[flag] is not False
        is_open &= result["state"] == "Active" and result["hidden"] is not True
        by_id = {outcome["outcomeId"]: outcome for outcome in result["outcomes"]}
        is_open &= by_id.keys() == {"29", "30", "31"}
        is_open &= all(outcome.get("state") in {None, "Active"} for outcome in by_id.values())
        is_open &= not any(outcome.get("hidden") for outcome in by_id.values())
        if is_open and by_id["29"]["odds"] != "nan":
            odds = tuple(float(by_id[outcome]["odds"]) for outcome in ("29", "30", "31"))
            if min(odds) > 1 and 0.95 <= sum(1 / price for price in odds) <= 1.40:
                shown[name] = odds
    return shown
