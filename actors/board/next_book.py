"""One bookmaker's book in the making: collects changes, then makes the book once.

Pure, in slices. A book has two bounds that save reading its entries: each entry kicks off at `next_start`
or later, or its price in play is young enough until `in_play_until`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf

from msgspec import Struct, field
from msgspec.structs import replace

from actors.board.chunks import entries_where
from actors.board.diff import Diff, seen_of
from actors.board.snapshot import Book, Chunk, Differences, Entry, RemovalReason
from actors.board.validity import ListState, has_kicked_off
from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.core.messages import Batch, Match, Scope, SourceMatchId


class NextBook:
    """The changing parts of a book; `noted` has the differences from the book that readers see."""

    def __init__(self, book: Book, noted: Differences | None) -> None:
        self._book = book
        self._chunks, self._lists = book.chunks, book.lists
        self._bounds = book.in_play_until, book.next_start
        self.noted = noted

    def made(self, base: Book, version: int) -> Book:
        """Return the book, or the same object if equal; views that differ from `base` get the version."""
        book, chunks, lists = self._book, self._chunks, self._lists
        in_play_until, next_start = self._bounds
        are_same = chunks is book.chunks
        if are_same and lists is book.lists and self._bounds == (book.in_play_until, book.next_start):
            return book
        noted = self.noted
        by_v1, by_v2 = (False, False) if noted is None else seen_of(noted.before, noted.after)
        return replace(
            book,
            v1_version=version if by_v1 else base.v1_version,
            v2_version=version if by_v2 else base.v2_version,
            chunks=chunks,
            lists=lists,
            count=book.count if are_same else sum([len(chunk.entries) for chunk in chunks]),
            named=book.named if are_same else sum([chunk.named for chunk in chunks]),
            deadline=min([state.deadline for state in lists.values()], default=inf),
            first_start=book.first_start
            if are_same
            else min([chunk.first_start for chunk in chunks], default=inf),
            is_serving=any(not state.withdrawn for state in lists.values()),
            in_play_until=in_play_until,
            next_start=next_start,
        )

    def put(self, lists: Mapping[Scope, ListState]) -> None:
        """Replace the lists of these scopes."""
        self._lists = {**self._lists, **lists}

    def change(self, diff: Diff) -> Sliced[None]:
        """Apply the differences of a batch, which may take matches from other lists."""
        if diff.after:
            yield from self._change(Differences(diff.before, diff.after, diff.reasons))
            self._lack(diff.taken_from, inf)

    def restore(self, lists: Mapping[Scope, ListState], entries: Iterable[Entry]) -> Sliced[None]:
        """Put lists and entries into an empty book; none of the matches has kicked off."""
        after: dict[SourceMatchId, Entry | None] = {entry.source_match_id: entry for entry in entries}
        yield from self._change(Differences(dict.fromkeys(after), after, {}))
        self.put(lists)
        self._bounds = inf, min([chunk.first_start for chunk in self._chunks], default=inf)

    def confirm(self, batch: Batch, state: ListState, max_age_s: float, now: Instant) -> None:
        """Put the list of a batch into its new state."""
        old = self._lists.get(batch.scope)
        self.put({batch.scope: state})
        if old is not None and state.delay_s > old.delay_s:  # all its prices are older than assumed
            self._bounds = -inf, self._bounds[1]
        self._bounds = bounds_with(self._bounds, batch.matches, state, max_age_s, now)

    def withdraw(self, scopes: set[Scope], reason: RemovalReason) -> Sliced[None]:
        """Withdraw lists, and remove their entries.

        A stale list without a match is forgotten, unless it was the last one of its bookmaker.
        """
        if not scopes:
            return
        gone = yield from entries_where(self._chunks, lambda entry: entry.scope in scopes)
        yield from self._remove(gone, reason)
        lists = self._lists
        if reason is RemovalReason.STALE and any(
            scope not in scopes and not state.withdrawn for scope, state in lists.items()
        ):
            # The list of a past day, which is neither missed nor requested again.
            over = scopes - {entry.scope for entry in gone.values()}
            lists = {scope: state for scope, state in lists.items() if scope not in over}
            scopes = scopes - over
        withdrawn = {scope: replace(lists[scope], withdrawn=True, doubted=0) for scope in scopes}
        self._lists = {**lists, **withdrawn}

    def expire(self, last_start: float, max_age_s: float, now: Instant) -> Sliced[None]:
        """Withdraw stale lists, matches begun by `last_start` (Unix seconds), and old prices in play."""
        stale = {scope for scope, state in self._lists.items() if state.deadline <= now.mono}
        yield from self.withdraw(stale, RemovalReason.STALE)
        over = yield from begun_by(self._chunks, last_start)
        yield from self._remove(over, RemovalReason.FINISHED)
        self._lack({entry.scope for entry in over.values()}, now.wall)
        yield from self.end_old(max_age_s, now)

    def end_old(self, max_age_s: float, now: Instant) -> Sliced[None]:
        """Remove the matches in play with too old prices; only a newly requested list brings them back."""
        in_play_until, next_start = self._bounds
        if in_play_until > now.mono and next_start > now.wall:
            return
        found = yield from look(self._chunks, self._lists, max_age_s, now)
        yield from self._remove(found.too_old, RemovalReason.STALE)
        self._lack(found.without, now.wall)
        self._lack(found.lacking, inf)
        self._bounds = found.until, found.next_start

    def _remove(self, gone: Mapping[SourceMatchId, Entry], reason: RemovalReason) -> Sliced[None]:
        if gone:
            reasons = dict.fromkeys(gone, reason)
            yield from self._change(Differences(gone, dict.fromkeys(gone), reasons))

    def _change(self, new: Differences) -> Sliced[None]:
        """Change entries, and keep for each match the entry that readers saw before and will see."""
        self._chunks = yield from Chunk.changed(self._chunks, new.after)
        if not self._chunks:
            self._bounds = inf, inf
        if (old := self.noted) is not None:
            before, after = {**new.before, **old.before}, {**old.after, **new.after}
            new = Differences(before, after, {**old.reasons, **new.reasons})
        self.noted = new

    def _lack(self, scopes: set[Scope], whole_from: float) -> None:
        """Record that lists are not whole before that time (Unix seconds)."""
        lists = {scope: self._lists[scope] for scope in scopes}
        for scope, state in lists.items():
            lists[scope] = replace(state, whole_from=max(whole_from, state.whole_from))
        if lists:
            self.put(lists)


def begun_by(chunks: Iterable[Chunk], last_start: float) -> Sliced[dict[SourceMatchId, Entry]]:
    """Return the entries of matches that have certainly kicked off by then, by id, in order."""
    some = [chunk for chunk in chunks if chunk.first_start <= last_start]
    return entries_where(some, lambda entry: has_kicked_off(entry.match, last_start))


class Look(Struct):
    """The entries of a book that are too old, and the times until which the other entries can stay.

    A confirmation of the `lacking` lists would show these entries again. A confirmation of the lists
    `without` would not, because the source itself dates their prices too far back.
    """

    too_old: dict[SourceMatchId, Entry] = field(default_factory=dict)
    lacking: set[Scope] = field(default_factory=set)
    without: set[Scope] = field(default_factory=set)
    until: float = inf
    next_start: float = inf


def look(
    chunks: Iterable[Chunk], lists: Mapping[Scope, ListState], max_age_s: float, now: Instant
) -> Sliced[Look]:
    """Return the entries in play with prices from before the kick-off, or confirmed too long ago."""
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
            if entry.match.ends_at_start:
                found.too_old[entry.source_match_id] = entry
                found.lacking.add(entry.scope)
                continue
            state = lists[entry.scope]
            until = state.in_play_until(entry.source_match_id, max_age_s)
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
    """Return the bounds of a book, extended to these matches of a list in that state."""
    until, next_start = bounds
    for match in matches:
        start = match.begun_by
        if start is None:
            continue
        if start > now.wall:
            next_start = min(next_start, start)
        elif match.ends_at_start:
            until = -inf
        else:
            until = min(until, state.in_play_until(match.source_match_id, max_age_s))
    return until, next_start
