"""Explains refusals of 5DollarFootballAPI, and says when to ask again. Pure.

After the first refusal a target is asked again in a minute, because the API may have erred; after further
refusals in half an hour. All durations are in seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from urllib.parse import parse_qs, urlsplit

from actors.core.clock import Instant
from actors.core.errors import TransportError
from actors.core.messages import Scope
from actors.source_api.plan import Target
from actors.sources.five_dollar_football.options import (
    AHEAD,
    BOOKMAKERS,
    KEY_VARIABLE,
    LEAGUES,
    LIVE,
    NEAR,
    STATUS,
)

AGAIN_S, NOT_IN_PLAN_S = 60.0, 1800.0
DENIED, NOT_IN_PLAN, NOT_FOUND = 401, 403, 404
PLANS = "free: five leagues; pro: most leagues, Bet365; ultra: all leagues, other bookmakers too"
BY_MATCH = Scope("by match")
_NAMES = {
    STATUS: "the state of the account",
    LEAGUES: "the list of leagues",
    BOOKMAKERS: "the list of bookmakers",
    LIVE: "the list of matches in play",
    NEAR: "the list of matches of the next two hours",
}


class Refusals:
    """The targets refused since their last answer; `keys` are the requested bookmakers."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = keys
        self._refused: set[Scope] = set()
        self._denied_until_mono = -inf
        self._unplanned_until_mono = -inf  # until then no odds by match are requested

    def wait_s(self, target: Target, now: Instant) -> float:
        """Return the seconds until a target may be asked again."""
        until_mono = self._denied_until_mono
        if not target.is_catalogue:
            until_mono = max(until_mono, self._unplanned_until_mono)
        return max(until_mono - now.mono, 0.0)

    def on_answered(self, target: Target) -> None:
        """Note that a target is not refused."""
        self._refused.discard(_thing(target))

    def on_failed(self, target: Target, error: TransportError, plan: str, now: Instant) -> float:
        """Explain a refusal in the error, with the plan's name; return the seconds until a retry."""
        if error.status == DENIED:
            error.args = (f"{error}; the key is wrong: api_key, from {KEY_VARIABLE}",)
            self._denied_until_mono = now.mono + AGAIN_S
        elif error.status == NOT_IN_PLAN:
            of = f" {plan}" if plan else ""
            error.args = (f"{error}; not in your plan{of}: {self._name(target)} ({PLANS})",)
            again_s = self._again_s(_thing(target))
            if not target.is_catalogue:
                self._unplanned_until_mono = now.mono + again_s
            return again_s
        elif error.status == NOT_FOUND:
            league = parse_qs(urlsplit(target.url).query).get("league")
            asked = f"league {league[0]}" if league else self._name(target)
            error.args = (f"{error}; the venue has no {asked}",)
            return self._again_s(target.scope)
        return 0.0

    def _again_s(self, thing: Scope) -> float:
        again_s = NOT_IN_PLAN_S if thing in self._refused else AGAIN_S
        self._refused.add(thing)
        return again_s

    def _name(self, target: Target) -> str:
        if not target.is_catalogue:
            return f"odds by match of {', '.join(self._keys)}"
        is_ahead = target.scope.startswith(AHEAD)
        return "the list of matches of a day" if is_ahead else _NAMES.get(target.scope, target.scope)


def _thing(target: Target) -> Scope:
    return target.scope if target.is_catalogue else BY_MATCH
