"""Moves of the prices of fixtures, computed from the list of all published states, one after another.

Nothing of `actors/lines` is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from actors.matches.fair import Method, fair
from tests.support.oracles.naive_lines import DOWN, Naive, Prices, fair_of


@dataclass
class State:
    """The published content of a version: prices by entry, and each fixture's entries in order."""

    version: int
    at_ms: int
    board: dict[str, Prices]
    members: dict[str, dict[str, bool]]

    def counted(self, fixture: str) -> dict[str, Prices]:
        """Return the prices of a fixture that count."""
        ids = self.members.get(fixture, {})
        return {entry: self.board[entry] for entry, counts in ids.items() if counts and entry in self.board}


def states_of(naive: Naive) -> list[State]:
    """Return all published states that are known."""
    found: list[State] = []
    for version in sorted(naive.times):
        members = {
            fixture: {
                entry: kind == "live" and certainty == "sure"
                for entry, (_, kind, certainty) in naive.ids(of, version).items()
            }
            for fixture, of in naive.at(naive.members, version).items()
        }
        found.append(State(version, naive.times[version], naive.at(naive.boards, version), members))
    return found


def window(naive: Naive, states: list[State], from_ms: int) -> list[State]:
    """Return the states since a time, but only those after the last unknown state."""
    begin = max((of.version for of in states if of.at_ms <= from_ms), default=states[0].version)
    for gap in naive.gaps:
        if gap.after == begin or (gap.after > begin and gap.reason not in DOWN):
            begin = gap.until
    return [of for of in states if of.version >= begin]


def move(states: list[State], fixture: str) -> dict[str, Any] | None:
    """Return the move of a fixture over these states; None without any."""
    now = states[-1].counted(fixture)
    begin = next((place for place, of in enumerate(states) if len(of.counted(fixture)) >= 3), None)
    if begin is None:
        return None
    then = states[begin].counted(fixture)
    both = [entry for entry in then if entry in now]
    before, after = fair_of([then[it] for it in both]), fair_of([now[it] for it in both])
    if before is None or after is None or before == after:
        return None
    changes = [late - early for early, late in zip(before, after, strict=True)]
    outcome = max(range(len(changes)), key=lambda of: abs(changes[of]))
    followed = {
        entry: _followed(states[begin:], entry, outcome, changes[outcome])
        for entry in states[-1].members[fixture]
        if entry in states[begin].board or entry in states[-1].board
    }
    first = min((at for entry, at in followed.items() if at is not None and entry in both), default=None)
    return {
        "begin": (states[begin].version, states[begin].at_ms),
        "outcome": outcome,
        "before": before,
        "after": after,
        "entries": {
            entry: (
                states[begin].board.get(entry),
                states[-1].board.get(entry),
                at,
                entry in both,
                entry in both and at is not None and at == first,
            )
            for entry, at in followed.items()
        },
    }


def _followed(states: list[State], entry: str, outcome: int, change: float) -> tuple[int, int] | None:
    if entry not in states[0].board:
        return None
    own = fair(Method.POWER, states[0].board[entry])[outcome]
    for state in states[1:]:
        if entry in state.board:
            moved = fair(Method.POWER, state.board[entry])[outcome] - own
            if moved * change > 0 and abs(moved) >= abs(change) / 2:
                return state.version, state.at_ms
    return None
