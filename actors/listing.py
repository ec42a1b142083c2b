"""What a batch changes in one bookmaker's book: the differences, and nothing else.

Pure, in slices. A complete list is compared with everything its scope has on the board, a delta
only with the matches that it names. Content that stays equal keeps its entry and its `updated`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from actors.chunks import find
from actors.clock import Instant
from actors.messages import Batch, Match, Scope, SourceMatchId
from actors.slices import SLICE, Steps
from actors.snapshot import Book, Entry

MIN_LOST = 20
"""A list that loses at most this many matches is never doubted."""


class Verdict(StrEnum):
    """What became of a batch."""

    ACCEPTED = "accepted"
    CONFIRMED = "confirmed"
    WITHDRAWN = "withdrawn"  # by its source, which no longer vouches for it
    SUSPECT = "suspect"  # lost too much at once to be believed at first sight
    LATE = "late"  # stale before it was applied
    OUTDATED = "outdated"  # older than what the board has
    UNFOUNDED = "unfounded"  # changes or confirms a list that is not on the board


Left = Mapping[SourceMatchId, Entry | None]


class Found(Struct):
    """The differences that a batch makes: by id the entry before and after, None where there is none.

    `finished` counts matches that were past their time on the way in.
    """

    before: dict[SourceMatchId, Entry | None] = {}
    after: dict[SourceMatchId, Entry | None] = {}
    finished: int = 0

    def note(self, match_id: SourceMatchId, old: Entry | None, new: Entry | None) -> None:
        """Keep one difference."""
        self.before[match_id] = old
        self.after[match_id] = new


def is_other(old: Entry | None, new: Entry | None) -> bool:
    """Tell whether readers see a difference; that an entry moved to another scope nobody sees."""
    if old is None or new is None:
        return old is not new
    return old.updated != new.updated or not is_same(old.match, new.match)


def named(entry: Entry | None) -> Entry | None:
    """Give what v2 shows of an entry: nothing if a team has no name."""
    return entry if entry is not None and entry.is_named else None


def complete_changes(book: Book, batch: Batch, left: Left, last_start: float) -> Steps[Found]:
    """Compare a complete list with what its scope has on the board.

    Matches that kicked off by `last_start` (Unix seconds) are over. `left` holds entries that readers
    still see and that an earlier batch of the same commit took off: one that comes back is the same.
    """
    found = Found()
    gone = yield from entries_in(book, batch.scope)
    for count, match in enumerate(batch.matches):
        if count % SLICE == 0:
            yield
        old = gone.pop(match.source_match_id, None) or find(book.chunks, match.source_match_id)
        if has_kicked_off(match, last_start):
            _note_finished(found, old, match)
        else:
            _compare(found, old, match, batch, left)
    for count, (match_id, entry) in enumerate(gone.items()):
        if count % SLICE == 0:
            yield
        found.note(match_id, entry, None)
    return found


def delta_changes(book: Book, batch: Batch, left: Left, last_start: float) -> Steps[Found]:
    """Compare a delta's matches one by one; arguments as of `complete_changes`."""
    found = Found()
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
        if has_kicked_off(match, last_start):
            _note_finished(found, old, match)
        else:
            _compare(found, old, match, batch, left)
    return found


def is_doubtful(book: Book, batch: Batch, now: Instant) -> Steps[bool]:
    """Tell whether a complete list lost more than half and more than 20 of the matches still to come.

    Matches that have kicked off vanish normally; one that the list names and that was rejected is
    not lost.
    """
    present = yield from entries_in(book, batch.scope)
    if len(present) <= MIN_LOST:
        return False
    listed = {match.source_match_id for match in batch.matches}
    yield
    listed.update(removal.source_match_id for removal in batch.removals)
    yield
    ahead = lost = 0
    for count, (match_id, entry) in enumerate(present.items()):
        if count % SLICE == 0:
            yield
        start = entry.match.start_time
        if start is None or start > now.wall:
            ahead += 1
            lost += match_id not in listed
    return lost > MIN_LOST and lost * 2 > ahead


def entries_in(book: Book, scope: Scope) -> Steps[dict[SourceMatchId, Entry]]:
    """Give what a scope has on the board, by id, in slices."""
    present: dict[SourceMatchId, Entry] = {}
    for chunk in book.chunks:
        present.update(
            [(entry.match.source_match_id, entry) for entry in chunk.entries if entry.scope == scope]
        )
        yield
    return present


def has_kicked_off(match: Match, by: float) -> bool:
    """Tell whether the match is known to have kicked off by that time (Unix seconds)."""
    return match.start_time is not None and match.start_time <= by


def _note_finished(found: Found, old: Entry | None, match: Match) -> None:
    found.finished += 1
    if old is not None:
        found.note(match.source_match_id, old, None)


def _compare(found: Found, old: Entry | None, match: Match, batch: Batch, left: Left) -> None:
    seen = left.get(match.source_match_id) if old is None else old
    if seen is None or not is_same(seen.match, match):
        entry_id = f"{batch.bookmaker}_{match.source_match_id}" if seen is None else seen.id
        found.note(match.source_match_id, old, Entry(entry_id, batch.scope, match, _updated(match, batch)))
    elif old is None or old.scope != batch.scope:
        new = Entry(seen.id, batch.scope, seen.match, seen.updated)
        found.note(match.source_match_id, old, new)


def is_same(a: Match, b: Match) -> bool:
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
