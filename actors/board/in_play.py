"""How old a price may be once its match has kicked off: which entries are too old, and when to look again.

Pure, in slices. A book has two bounds, so that its entries are read only when one of them may be too old:
each entry kicks off at `next_start` or later, or is young enough until `in_play_until`.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from msgspec import Struct, field
from msgspec.structs import replace

from actors.board.snapshot import Book, Entry, ListState
from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.core.messages import Match, Scope, SourceMatchId


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


def look(book: Book, max_age_s: float, now: Instant) -> Sliced[Look]:
    """Return the entries of matches that have kicked off and that were vouched for too long ago."""
    found = Look()
    for chunk in book.chunks:
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
            state = book.lists[entry.scope]
            until = state.vouched_at(entry.source_match_id) + max_age_s
            if until > now.mono:
                found.until = min(found.until, until)
                continue
            found.too_old[entry.source_match_id] = entry
            own = state.vouched.get(entry.source_match_id, now.mono)
            would_do = min(own, now.mono) - state.delay_s + max_age_s > now.mono
            (found.lacking if would_do else found.without).add(entry.scope)
    return found


def bounded(book: Book, matches: Iterable[Match], state: ListState, max_age_s: float, now: Instant) -> Book:
    """Return the book with bounds that also hold for these matches of a list in that state."""
    until, next_start = book.in_play_until, book.next_start
    for match in matches:
        start = match.begun_by
        if start is None:
            continue
        if start > now.wall:
            next_start = min(next_start, start)
        else:
            until = min(until, state.vouched_at(match.source_match_id) + max_age_s)
    if (until, next_start) == (book.in_play_until, book.next_start):
        return book
    return replace(book, in_play_until=until, next_start=next_start)
