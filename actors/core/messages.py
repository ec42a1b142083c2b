"""What travels between the parts of the service: payloads, documents, matches, batches.

The lowest layer: everything may import it, it imports nothing of ours. Frozen values only;
constraints are checked where data enters, never in these constructors.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NewType

from msgspec import Struct

BookmakerId = NewType("BookmakerId", str)
"""Lower-case id of a bookmaker, ``[a-z0-9-]{1,32}``: the first part of every match id."""

SourceName = NewType("SourceName", str)
"""The name of a source: its table in the configuration."""

Scope = NewType("Scope", str)
"""The part of a source that one payload speaks for: a file, a league key, a subscription."""

ListId = NewType("ListId", str)
"""Names one complete list of a scope, so that a later confirmation can say what it vouches for."""

SourceMatchId = NewType("SourceMatchId", str)
"""A source's own id of a match, ``[A-Za-z0-9._~-]{1,128}``, stable while the match is listed."""


class Prices(StrEnum):
    """What a source vouches for when it confirms a list."""

    LIVE = "live"  # the prices: they are on offer now
    COLLECTED = "collected"  # the file alone: its prices were on offer when it was made


NOT_MODIFIED = 304
"""The status of a payload without a body: what was delivered before still holds (RFC 9110, 15.4.5)."""


class Payload(Struct, frozen=True):
    """One raw unit received from a source, or its word that the last one still holds.

    `received_at` is Unix seconds. `received_mono` is the moment that the source vouches for: when a
    poll was sent, when a message was read, in monotonic seconds; it holds for `stale_after_s`.
    `source_time` is the source's own time for the content, `answered_at` its clock when it answered
    (both Unix seconds), where it gives them. Without `is_framed` nobody said how long it is, so that
    it may have been cut. With status 304 there is no body: the list named `list_id` is confirmed.
    `headers` are those of the answer that matter, names in lower case.
    """

    source: SourceName
    scope: Scope
    list_id: ListId
    body: bytes
    received_at: float
    received_mono: float
    source_time: float | None = None
    is_framed: bool = True
    stale_after_s: float = 30.0
    answered_at: float | None = None
    status: int = 200
    headers: Mapping[str, str] = {}


class Document(Struct, frozen=True):
    """A decoded payload, not yet split by bookmaker; `content` is what the source's decoder made."""

    scope: Scope
    list_id: ListId
    content: object
    received_at: float
    received_mono: float
    stale_after_s: float


class Match(Struct, frozen=True, gc=False):
    """One football match as one bookmaker lists it, with its three decimal prices.

    `league` and `start_time` (whole Unix seconds, UTC) are None when unknown; `source_time` is the
    source's own time (Unix seconds) for this content, where it has one. Where the start is unknown,
    `latest_start` (whole Unix seconds) may tell the last moment for it, such as the end of its day: the
    match ends by that. It is not public.
    """

    source_match_id: SourceMatchId
    home: str
    away: str
    league: str | None
    home_price: float
    draw_price: float
    away_price: float
    start_time: int | None
    source_time: float | None = None
    latest_start: int | None = None

    @property
    def begun_by(self) -> int | None:
        """The moment (Unix seconds) at which it has kicked off for certain; None if that is unknown."""
        return self.latest_start if self.start_time is None else self.start_time


class Removal(Struct, frozen=True, gc=False):
    """A match that leaves the board, and why: a reason of a rejection, `suspended`, `withdrawn`."""

    source_match_id: SourceMatchId
    reason: str


class Extract(Struct, frozen=True):
    """What one document says about one bookmaker: its matches, and those that could not be read.

    `title` is the bookmaker's display name, where the source gives one. `passed_over` counts by
    reason what is none of ours and takes no match off, such as another market of a match. `lag_s`
    tells by how many seconds its newest price is older than the answer, which came at `answered_at`,
    both by the source's clock: a match whose `source_time` is too long before that is not live.
    """

    matches: tuple[Match, ...]
    removals: tuple[Removal, ...] = ()
    title: str | None = None
    passed_over: Mapping[str, int] = {}
    lag_s: float | None = None
    answered_at: float | None = None


class Batch(Struct, frozen=True):
    """What one document says about one bookmaker in one scope.

    Complete: `matches` is the whole list, `removals` only say why something is not in it. Otherwise
    a change of the list named `list_id`: upserts and removals; with neither, its confirmation.
    `received_mono` is when the source vouched for it, `stale_after_s` how long that holds. With
    `withdrawn` the source takes back its word: the list goes, until a complete one comes. A complete
    list with `is_image` is the state of a source that tells every change itself: what is missing
    from it has gone, and was not lost on the way.
    """

    bookmaker: BookmakerId
    scope: Scope
    list_id: ListId
    complete: bool
    matches: tuple[Match, ...]
    removals: tuple[Removal, ...]
    received_at: float
    received_mono: float
    stale_after_s: float
    withdrawn: bool = False
    is_image: bool = False

    @property
    def is_confirmation(self) -> bool:
        """Whether it changes nothing and only vouches for the list that is there."""
        return not (self.complete or self.matches or self.removals or self.withdrawn)
