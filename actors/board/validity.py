"""When a price is too old: all rules, on values. Pure.

Its list is stale, its match is over, or the match is in play and the price was not confirmed lately. A list
of another process also ends `HOLDS_S` after its last proof, and a surebet when its oldest price is too old.
A book has the earliest of these times (`snapshot.py`); `next_book.py` finds the entries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Annotated, Protocol

from msgspec import Meta, Struct

from actors.core.clock import Instant
from actors.core.messages import Batch, ListId, Match, SourceMatchId

HOLDS_S = 5.0
"""Seconds for which a replica shows what a collector has committed after it was in order."""


class BoardRules(Struct, frozen=True, forbid_unknown_fields=True):
    """Seconds after its kick-off at which a match leaves the board; most matches of a bookmaker.

    Once a match has kicked off, its price leaves `in_play_max_age_s` after its source last vouched for it.
    """

    expire_after_kickoff_s: Annotated[float, Meta(gt=0, le=1e10)] = 10800.0
    max_matches: Annotated[int, Meta(ge=1, le=10_000_000)] = 20_000
    in_play_max_age_s: Annotated[float, Meta(gt=0, le=1e10)] = 60.0


class ListState(Struct, frozen=True):
    """One list: its id, when it was confirmed (monotonic seconds), how long that holds.

    `doubted` counts complete lists in a row that were not believed. A withdrawn list has no entries until
    a complete one comes. `whole_from` (Unix seconds) is when a finished match last left it: if the wall
    clock is set back before that, it may lack some. Infinity if another scope took a match. `is_cut`:
    there was no room for some of its matches. `vouched` is when the source vouched for the prices of a
    match (monotonic seconds), where it says so of each. The newest attempt that failed was at
    `failed_mono`. Its source says that its prices may be `delay_s` older than their confirmation.
    A list that `is_foreign` is of another process, which alone ends it.
    """

    list_id: ListId
    confirmed_mono: float
    stale_after_s: float
    doubted: int = 0
    withdrawn: bool = False
    whole_from: float = -inf
    is_cut: bool = False
    vouched: Mapping[SourceMatchId, float] = {}
    failed_mono: float = -inf
    delay_s: float = 0.0
    is_foreign: bool = False

    @property
    def is_trusted(self) -> bool:
        """Whether the newest attempt to get it was accepted, or confirmed it."""
        return not self.doubted and self.failed_mono < self.confirmed_mono

    @property
    def deadline(self) -> float:
        """Monotonic second at which it is stale; infinity when it is withdrawn already, or foreign."""
        if self.withdrawn or self.is_foreign:
            return inf
        return self.confirmed_mono + self.stale_after_s - self.delay_s

    def vouched_at(self, match_id: SourceMatchId) -> float:
        """Return as of when the source vouched for the prices of one of its matches (monotonic seconds)."""
        return self.vouched.get(match_id, self.confirmed_mono) - self.delay_s

    def in_play_until(self, match_id: SourceMatchId, max_age_s: float) -> float:
        """Return until when (monotonic seconds) the price of one of its matches holds in play."""
        return self.vouched.get(match_id, self.confirmed_mono) - self.delay_s + max_age_s


def deadline_of(batch: Batch) -> float:
    """Return the monotonic second at which the list of a batch is stale, if nothing confirms it later."""
    return batch.received_mono + batch.stale_after_s - batch.delay_s


def has_kicked_off(match: Match, by: float) -> bool:
    """Return whether the match has certainly kicked off by that time (Unix seconds)."""
    start = match.begun_by
    return start is not None and start <= by


class Deadlines(Struct, frozen=True, gc=False):
    """When a view no longer holds: at `stale` (monotonic) a list is stale, a price too old, a surebet ends.

    `first_start` is the earliest kick-off of its matches, which leave some time after it; at `kick_off` a
    price may be too old for a match in play, or a surebet ends (Unix seconds both).
    """

    stale: float
    first_start: float
    kick_off: float = inf


def is_due(deadlines: Deadlines, rules: BoardRules, now: Instant, within_s: float = 0.0) -> bool:
    """Return whether any of these deadlines comes within that many seconds of `now`."""
    last_start = now.wall - rules.expire_after_kickoff_s
    return (
        deadlines.stale <= now.mono + within_s
        or deadlines.first_start <= last_start + within_s
        or deadlines.kick_off <= now.wall + within_s
    )


class Vouched(Protocol):
    """A price that was vouched for at `vouched_mono`; its list holds for `holds_s` seconds then."""

    @property
    def vouched_mono(self) -> float:
        """Monotonic seconds."""
        ...

    @property
    def holds_s(self) -> float:
        """Seconds."""
        ...


def until(prices: Sequence[Vouched], max_age_s: float | None) -> float:
    """Return the monotonic second at which one of several prices is too old for a surebet."""
    return min([price.vouched_mono for price in prices]) + max_age(prices, max_age_s)


def max_age(prices: Sequence[Vouched], max_age_s: float | None) -> float:
    """Return how old (seconds) the prices of a surebet may be; None: as their lists hold."""
    return min([price.holds_s for price in prices]) if max_age_s is None else max_age_s


def is_skewed(prices: Sequence[Vouched], max_skew_s: float | None) -> bool:
    """Return whether prices were vouched for at times too far apart for a surebet."""
    times = [price.vouched_mono for price in prices]
    return max_skew_s is not None and max(times) - min(times) > max_skew_s
