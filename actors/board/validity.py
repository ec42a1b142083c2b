"""When a price is too old: its list is stale, its match is over, or it is in play and not confirmed.

Pure, in slices. The times are in `snapshot.py`: of a list (`ListState`), the earliest ones of a book and of
what a client reads (`Deadlines`). A book has two bounds, so that its entries are read only when one of them
may be too old in play: each entry kicks off at `next_start` or later, or is young enough until
`in_play_until`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import Annotated

from msgspec import Meta, Struct, field

from actors.board.chunks import entries_where
from actors.board.diff import has_kicked_off
from actors.board.snapshot import Book, Chunk, Deadlines, Entry, ListState
from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.core.messages import Match, Scope, SourceMatchId


class BoardRules(Struct, frozen=True, forbid_unknown_fields=True):
    """Seconds after its kick-off at which a match leaves the board; most matches of a bookmaker.

    Once a match has kicked off, its price leaves `in_play_max_age_s` after its source last vouched for it.
    """

    expire_after_kickoff_s: Annotated[float, Meta(gt=0, le=1e10)] = 10800.0
    max_matches: Annotated[int, Meta(ge=1, le=10_000_000)] = 20_000
    in_play_max_age_s: Annotated[float, Meta(gt=0, le=1e10)] = 60.0


def is_due(deadlines: Deadlines, rules: BoardRules, now: Instant, within_s: float = 0.0) -> bool:
    """Return whether any of these deadlines comes within that many seconds of `now`."""
    last_start = now.wall - rules.expire_after_kickoff_s
    return (
        deadlines.stale <= now.mono + within_s
        or deadlines.first_start <= last_start + within_s
        or deadlines.kick_off <= now.wall + within_s
    )


def vouched_mono(entry: Entry, book: Book) -> float:
    """Return when the source vouched for an entry of a book, at the earliest (monotonic seconds)."""
    return book.lists[entry.scope].vouched_at(entry.source_match_id) - book.ahead_s


def begun_by(chunks: Iterable[Chunk], last_start: float) -> Sliced[dict[SourceMatchId, Entry]]:
    """Return the entries of matches that have certainly kicked off by then, by id, in order."""
    some = [chunk for chunk in chunks if chunk.first_start <= last_start]
    return entries_where(some, lambda entry: has_kicked_off(entry.match, last_start))


class Look(Struct):
    """The entries that are too old, and the book's new bounds.

    `lacking` are the lists that would have them again if they were confirmed now; to those `without` them
    their source gave prices that were too old when it last gave any.
    """

    too_old: dict[SourceMatchId, Entry] = field(default_factory=dict)
    lacking: set[Scope] = field(default_factory=set)
    without: set[Scope] = field(default_factory=set)
    until: float = inf
    next_start: float = inf


def look(
    chunks: Iterable[Chunk], lists: Mapping[Scope, ListState], max_age_s: float, now: Instant
) -> Sliced[Look]:
    """Return the entries of matches that have kicked off and that were vouched for too long ago."""
    found = Look()
    for chunk in chunks:
        if chunk.first_start > now.wall:
            found.next_start = min(found.next_start, chunk.first_start)
            continue
        yield
        for entry in chunk.entries:
            start = entry.match.begun_by
            if start is None:
                continue
            if start > now.wall:
                found.next_start = min(found.next_start, start)
                continue
            state = lists[entry.scope]
            until = state.vouched_at(entry.source_match_id) + max_age_s
            if until > now.mono:
                found.until = min(found.until, until)
                continue
            found.too_old[entry.source_match_id] = entry
            own = state.vouched.get(entry.source_match_id, now.mono)
            would_do = min(own, now.mono) - state.delay_s + max_age_s > now.mono
            (found.lacking if would_do else found.without).add(entry.scope)
    return found


def bounds_with(
    bounds: tuple[float, float], matches: Iterable[Match], state: ListState, max_age_s: float, now: Instant
) -> tuple[float, float]:
    """Return the bounds of a book that also hold for these matches of a list in that state."""
    until, next_start = bounds
    for match in matches:
        start = match.begun_by
        if start is None:
            continue
        if start > now.wall:
            next_start = min(next_start, start)
        else:
            until = min(until, state.vouched_at(match.source_match_id) + max_age_s)
    return until, next_start
