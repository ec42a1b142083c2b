"""What a batch changes in one bookmaker's book: the differences, and nothing else.

Pure, in slices. A complete list is compared with everything its scope has on the board, a delta
only with the matches that it names. Content that stays equal keeps its entry and its `updated`.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from actors.chunks import entries_of, find
from actors.clock import Instant
from actors.messages import Batch, Match, SourceMatchId
from actors.slices import SLICE, Steps
from actors.snapshot import Book, Entry

MIN_LOST = 20
"""A list that loses at most this many matches is never doubted."""


class Verdict(StrEnum):
    """What became of a batch."""

    ACCEPTED = "accepted"
    CONFIRMED = "confirmed"
    SUSPECT = "suspect"  # lost too much at once to be believed at first sight
    LATE = "late"  # stale before it was applied
    OUTDATED = "outdated"  # older than what the board has
    UNFOUNDED = "unfounded"  # changes or confirms a list that is not on the board


class Found(Struct):
    """The differences that a batch makes: changed entries by id, None for one that goes.

    `is_public`: v1 shows another list than before; `is_public_named`: so does v2. `finished` counts
    matches that were past their time on the way in.
    """

    changes: dict[SourceMatchId, Entry | None]
    is_public: bool = False
    is_public_named: bool = False
    finished: int = 0

    def note(self, match_id: SourceMatchId, old: Entry | None, new: Entry | None) -> None:
        """Keep one difference between what was shown and what will be."""
        self.changes[match_id] = new
        if old is not None and new is not None and _is_same(old.match, new.match):
            return  # it moved to another scope, which nobody sees
        self.is_public = True
        if (old is not None and old.is_named) or (new is not None and new.is_named):
            self.is_public_named = True


def complete_changes(book: Book, batch: Batch, last_start: float) -> Steps[Found]:
    """Compare a complete list with what its scope has on the board; `last_start`: see `delta_changes`."""
    found = Found({})
    gone: dict[SourceMatchId, Entry] = {}
    index: dict[SourceMatchId, Entry] = {}
    for chunk in book.chunks:
        for entry in chunk.entries:
            index[entry.match.source_match_id] = entry
            if entry.scope == batch.scope:
                gone[entry.match.source_match_id] = entry
        yield
    for count, match in enumerate(batch.matches):
        if count % SLICE == 0:
            yield
        match_id = match.source_match_id
        if has_kicked_off(match, last_start):
            found.finished += 1
            continue
        gone.pop(match_id, None)
        _compare(found, index.get(match_id), match, batch)
    for match_id, entry in gone.items():
        found.note(match_id, entry, None)
    return found


def delta_changes(book: Book, batch: Batch, last_start: float) -> Steps[Found]:
    """Compare a delta's matches one by one; those that kicked off by `last_start` (Unix s) are over."""
    found = Found({})
    for count, removal in enumerate(batch.removals):
        if count % SLICE == 0:
            yield
        old = find(book.chunks, removal.source_match_id)
        if old is not None and old.scope == batch.scope:
            found.note(removal.source_match_id, old, None)
    for count, match in enumerate(batch.matches):
        if count % SLICE == 0:
            yield
        old = find(book.chunks, match.source_match_id)
        if not has_kicked_off(match, last_start):
            _compare(found, old, match, batch)
            continue
        found.finished += 1
        if old is not None:
            found.note(match.source_match_id, old, None)
    return found


def is_doubtful(book: Book, batch: Batch, now: Instant) -> Steps[bool]:
    """Tell whether a complete list lost more than half and more than 20 of the matches still to come.

    Matches that have kicked off vanish normally; one that the list names and that was rejected is
    not lost.
    """
    listed = {match.source_match_id for match in batch.matches}
    listed.update(removal.source_match_id for removal in batch.removals)
    ahead = lost = 0
    for count, entry in enumerate(entries_of(book.chunks)):
        if count % SLICE == 0:
            yield
        start = entry.match.start_time
        if entry.scope == batch.scope and (start is None or start > now.wall):
            ahead += 1
            lost += entry.match.source_match_id not in listed
    return lost > MIN_LOST and lost * 2 > ahead


def has_kicked_off(match: Match, by: float) -> bool:
    """Tell whether the match is known to have kicked off by that time (Unix seconds)."""
    return match.start_time is not None and match.start_time <= by


def _compare(found: Found, old: Entry | None, match: Match, batch: Batch) -> None:
    if old is None or not _is_same(old.match, match):
        entry_id = f"{batch.bookmaker}_{match.source_match_id}" if old is None else old.id
        new = Entry(entry_id, batch.scope, match, _updated(match, batch))
        found.note(match.source_match_id, old, new)
    elif old.scope != batch.scope:
        found.note(match.source_match_id, old, Entry(old.id, batch.scope, old.match, old.updated))


def _is_same(a: Match, b: Match) -> bool:
    """Compare content: everything that is public, but not the time the source gives for it."""
    return (
        a.home_price == b.home_price
        and a.draw_price == b.draw_price
        and a.away_price == b.away_price
        and a.start_time == b.start_time
        and a.home == b.home
        and a.away == b.away
        and a.league == b.league
    )


def _updated(match: Match, batch: Batch) -> float:
    """The source's own time where there is one, never later than the receive time (design 5)."""
    if match.source_time is None:
        return round(batch.received_at, 3)
    return round(min(match.source_time, batch.received_at), 3)
