"""The rules for when a price is too old, on values. Pure.

A price ends when its list is stale, its match is over, or the match is in play and the price was not
confirmed lately. A list of another process also ends `HOLDS_S` after its last proof, and a surebet when its
oldest price is too old. A book has the earliest of these times (`snapshot.py`); `next_book.py` finds the
entries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Annotated, Protocol

from msgspec import Meta, Struct

from actors.core.clock import Instant
from actors.core.messages import Batch, ListId, Match, SourceMatchId

HOLDS_S = 5.0
"""Seconds for which a replica shows a collector's commits after the collector was in order."""


class BoardRules(Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of a board: seconds from kick-off until a match leaves, and matches of one bookmaker.

    In play a price leaves `in_play_max_age_s` after its source's last confirmation.
    """

    expire_after_kickoff_s: Annotated[float, Meta(gt=0, le=1e10)] = 10800.0
    max_matches: Annotated[int, Meta(ge=1, le=10_000_000)] = 20_000
    in_play_max_age_s: Annotated[float, Meta(gt=0, le=1e10)] = 60.0


class ListState(Struct, frozen=True):
    """One list: its id, when it was confirmed (monotonic seconds), and for how long.

    `doubted` counts complete lists in a row that were not believed. A withdrawn list has no entries until a
    complete one comes. `whole_from` (Unix seconds) is when a finished match last left it: if the wall clock
    is set back before that, the list may lack matches. It is infinity if another scope took a match. With
    `is_cut` the list had more matches than room. `vouched` has the source's last confirmation of each
    match's prices (monotonic seconds), if the source says so. `failed_mono` is the newest failed attempt to
    get the list. The source says that prices may be `delay_s` older than their confirmation. A list that
    `is_foreign` belongs to another process, which alone ends it.
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
        """Whether the newest attempt to get the list succeeded."""
        return not self.doubted and self.failed_mono < self.confirmed_mono

    @property
    def deadline(self) -> float:
        """The monotonic second at which the list is stale; infinity if it is withdrawn or foreign."""
        if self.withdrawn or self.is_foreign:
            return inf
        return self.confirmed_mono + self.stale_after_s - self.delay_s

    def vouched_at(self, match_id: SourceMatchId) -> float:
        """Return when, by its source, a match's prices last held (monotonic seconds)."""
        return self.vouched.get(match_id, self.confirmed_mono) - self.delay_s

    def in_play_until(self, match_id: SourceMatchId, max_age_s: float) -> float:
        """Return until when (monotonic seconds) the price of a match is young enough in play."""
        return self.vouched.get(match_id, self.confirmed_mono) - self.delay_s + max_age_s


def deadline_of(batch: Batch) -> float:
    """Return the monotonic second at which the list of a batch is stale without a later confirmation."""
    return batch.received_mono + batch.stale_after_s - batch.delay_s


def has_kicked_off(match: Match, by: float) -> bool:
    """Return whether the match has certainly kicked off by that time (Unix seconds)."""
    start = match.begun_by
    return start is not None and start <= by


class Deadlines(Struct, frozen=True, gc=False):
    """When a view is no longer valid, by its earliest events.

    At `stale` (monotonic) a list or price is stale, or a surebet ends. `first_start` is the earliest
    kick-off of its matches, which leave some time after it. At `kick_off` a match begins, so that a price
    may be too old, or a surebet ends. Both are Unix seconds.
    """

    stale: float
    first_start: float
    kick_off: float = inf


def is_due(deadlines: Deadlines, rules: BoardRules, now: Instant, within_s: float = 0.0) -> bool:
    """Return whether any of these deadlines comes within `within_s` seconds of `now`."""
    last_start = now.wall - rules.expire_after_kickoff_s
    return (
        deadlines.stale <= now.mono + within_s
        or deadlines.first_start <= last_start + within_s
        or deadlines.kick_off <= now.wall + within_s
    )


class Vouched(Protocol):
    """A price confirmed by its source at `vouched_mono`; its list is then valid for `holds_s` seconds."""

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
    """Return the greatest age (seconds) of a surebet's prices; None: as long as all lists are valid."""
    return min([price.holds_s for price in prices]) if max_age_s is None else max_age_s


def is_skewed(prices: Sequence[Vouched], max_skew_s: float | None) -> bool:
    """Return whether prices were confirmed at times too far apart for a surebet."""
    times = [price.vouched_mono for price in prices]
    return max_skew_s is not None and max(times) - min(times) > max_skew_s
