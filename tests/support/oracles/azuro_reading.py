"""Azuro's offers by the rules of its page, read from its answers; changes of its tables.

An independent reading: it shares nothing with the source, and takes only what `peers/azuro.py` sends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tests.support.peers.azuro import Azuro, polled

Choose = Callable[[Sequence[Any]], Any]
Odds = tuple[float, ...]

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
FLAGS = {"Prematch": "isPrematchEnabled", "Live": "isLiveEnabled"}
OVER = {"Resolved", "Canceled", "Removed"}
RESULT = ("29", "30", "31")
BOOK_SUM = (0.95, 1.40)


def change(venue: Azuro, name: str, part: str, choose: Choose) -> None:
    """Have a game, its condition or an outcome of the condition say something else."""
    result = venue.result(name)
    changed, choices = {
        "game": (venue.games[name], GAME),
        "condition": (result, CONDITION),
        "outcome": (result["outcomes"][0], OUTCOME),
    }[part]
    key = choose(sorted(choices))
    changed[key] = choose(choices[key])


def expected(venue: Azuro) -> dict[str, Odds]:
    """Return the odds of each match that is offered now."""
    found = {}
    for name, game in venue.games.items():
        listed = result_of(venue.conditions[name])
        sent = listed if listed is None or venue.repeats else polled(listed)
        odds = odds_of(game, sent, listed) if is_listed(game) else None
        if odds is not None:
            found[name] = odds
    return found


def is_listed(game: Mapping[str, Any]) -> bool:
    """Return whether a game's odds may be asked for."""
    return game["state"] in FLAGS


def result_of(conditions: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the only condition of a game's result that is not over; None if there is no such condition."""
    found = [
        condition
        for condition in conditions
        if _outcomes(condition) == RESULT
        and condition["state"] not in OVER
        and condition["hidden"] is not True
    ]
    return found[0] if len(found) == 1 else None


def odds_of(
    game: Mapping[str, Any], condition: Mapping[str, Any] | None, listed: Mapping[str, Any] | None
) -> Odds | None:
    """Return the odds of a listed game in a polled condition, None if the condition offers none.

    Fields that the poll leaves out have their `listed` values.
    """
    if condition is None or listed is None or _outcomes(condition) != RESULT:
        return None
    outcomes = {outcome["outcomeId"]: outcome for outcome in condition["outcomes"]}
    known = {outcome["outcomeId"]: outcome for outcome in listed["outcomes"]}
    is_open = condition["state"] == "Active" and _said("hidden", condition, listed) is not True
    is_open &= _said(FLAGS[game["state"]], condition, listed) is not False
    for name, outcome in outcomes.items():
        is_open &= _said("state", outcome, known.get(name, {})) in {None, "Active"}
        is_open &= not _said("hidden", outcome, known.get(name, {}))
    if not is_open:
        return None
    odds = tuple(float(outcomes[outcome]["odds"]) for outcome in RESULT)
    is_fair = min(odds) > 1 and BOOK_SUM[0] <= sum(1 / price for price in odds) <= BOOK_SUM[1]
    return odds if is_fair else None


def flags_of(listed: Mapping[str, Any] | None) -> tuple[Any, ...]:
    """Return all fields of a condition in a list except its odds, its id last; empty for None."""
    if listed is None:
        return ()
    outcomes = sorted(
        (each["outcomeId"], each.get("state"), each.get("hidden")) for each in listed["outcomes"]
    )
    flags = (listed["hidden"], listed["isPrematchEnabled"], listed["isLiveEnabled"], listed["state"])
    return (*map(str, (outcomes, flags)), listed["conditionId"])


def _said(key: str, polled: Mapping[str, Any], listed: Mapping[str, Any]) -> Any:
    value = polled.get(key)
    return listed.get(key) if value is None else value


def _outcomes(condition: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(sorted(outcome["outcomeId"] for outcome in condition["outcomes"]))
