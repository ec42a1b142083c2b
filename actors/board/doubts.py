"""Whether a complete list can be believed: one that loses too much at once is doubted first.

Pure, in slices.
"""

from __future__ import annotations

from actors.board.diff import Found
from actors.board.snapshot import Book
from actors.clock import Instant
from actors.messages import Batch
from actors.slices import Steps

MIN_LOST = 20
"""A list that loses at most this many matches is never doubted."""


def is_doubtful(book: Book, batch: Batch, found: Found, now: Instant) -> Steps[bool]:
    """Tell whether a complete list lost more than half and more than 20 of the matches still to come.

    Matches that have kicked off vanish normally; one that the list names and that was rejected is
    not lost.
    """
    if found.removed <= MIN_LOST:
        return False
    named = {removal.source_match_id for removal in batch.removals}
    yield
    named.update(match.source_match_id for match in batch.matches)
    ahead = lost = 0
    for chunk in book.chunks:
        yield
        for entry in chunk.entries:
            start = entry.match.start_time
            if entry.scope == batch.scope and (start is None or start > now.wall):
                ahead += 1
                lost += entry.match.source_match_id not in named
    return lost > MIN_LOST and lost * 2 > ahead
