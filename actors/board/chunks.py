"""Finding and changing entries in the sorted chunks of one bookmaker.

Pure. A change rebuilds only the chunks that it falls into; all others stay the same objects.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import TypeVar

from actors.board.snapshot import Chunk, Differences, Entry, RemovalReason
from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import SourceMatchId

# Entries a chunk is cut to: some 30 kB of JSON, deflated in well below a millisecond. Half as many make a
# change a third cheaper and gzip bodies an eighth larger; twice as many save a tenth of the body and double
# the cost of scattered changes (100,000 matches, docs/figures.md).
CHUNK_SIZE = 128
_MAX_SIZE = CHUNK_SIZE * 3 // 2
_MIN_SIZE = CHUNK_SIZE // 4

Changes = Mapping[SourceMatchId, Entry | None]  # None for a match that is removed

_first = attrgetter("first")
_key = attrgetter("match.source_match_id")


def find(chunks: tuple[Chunk, ...], wanted: SourceMatchId) -> Entry | None:
    """Return the entry of that match, or None."""
    at = bisect_right(chunks, wanted, key=_first) - 1
    if at < 0:
        return None
    entries = chunks[at].entries
    place = bisect_left(entries, wanted, key=_key)
    if place < len(entries) and entries[place].match.source_match_id == wanted:
        return entries[place]
    return None


def entries_of(chunks: tuple[Chunk, ...]) -> Iterator[Entry]:
    """Iterate over all entries in order."""
    for chunk in chunks:
        yield from chunk.entries


def entries_where(
    chunks: Iterable[Chunk], predicate: Callable[[Entry], bool]
) -> Sliced[dict[SourceMatchId, Entry]]:
    """Return the entries for which `predicate` holds, by id, in order."""
    found: dict[SourceMatchId, Entry] = {}
    for chunk in chunks:
        found |= {entry.match.source_match_id: entry for entry in chunk.entries if predicate(entry)}
        yield
    return found


def begun_by(chunks: Iterable[Chunk], last_start: float) -> Sliced[dict[SourceMatchId, Entry]]:
    """Return the entries of matches that have certainly kicked off by then, by id, in order."""
    return entries_where(
        [chunk for chunk in chunks if chunk.first_start <= last_start],
        lambda entry: (start := entry.match.begun_by) is not None and start <= last_start,
    )


def changed(chunks: tuple[Chunk, ...], changes: Changes) -> Sliced[tuple[Chunk, ...]]:
    """Return the chunks after `changes`, in slices; untouched chunks stay the same objects."""
    if not changes:
        return chunks
    wanted = sorted(changes)
    yield
    result: list[Chunk] = []
    done = at = 0
    while at < len(wanted):
        place = max(bisect_right(chunks, wanted[at], key=_first) - 1, 0)
        is_last = place + 1 >= len(chunks)
        end = len(wanted) if is_last else bisect_left(wanted, chunks[place + 1].first, at)
        result.extend(chunks[done:place])
        if chunks and (same := _replaced(chunks[place], wanted[at:end], changes)) is not None:
            result.append(same)
            yield
        else:
            old = chunks[place].entries if chunks else ()
            merged = yield from _merged(old, wanted[at:end], changes)
            yield from append(result, merged)
        done, at = place + 1, end
    result.extend(chunks[done:])
    return tuple(result)


def _replaced(chunk: Chunk, wanted: list[SourceMatchId], changes: Changes) -> Chunk | None:
    """Return the chunk with other prices of these matches; None if anything else changes."""
    entries = list(chunk.entries)
    for match_id in wanted:
        at, new = bisect_left(entries, match_id, key=_key), changes[match_id]
        if new is None or at == len(entries):
            return None
        a, b = entries[at].match, new.match
        if not (
            a.source_match_id == match_id
            and a.home == b.home
            and a.away == b.away
            and a.start_time == b.start_time
            and a.begun_by == b.begun_by
        ):
            return None
        entries[at] = new
    return Chunk(tuple(entries), chunk.first, chunk.named, chunk.first_start)


def _merged(old: tuple[Entry, ...], wanted: list[SourceMatchId], changes: Changes) -> Sliced[list[Entry]]:
    """Merge sorted `old` with the changes of the sorted ids `wanted`."""
    merged: list[Entry] = []
    position = 0
    for count, match_id in enumerate(wanted, 1):
        upto = position
        if position < len(old) and old[position].match.source_match_id < match_id:
            upto = bisect_left(old, match_id, position, key=_key)
            merged.extend(old[position:upto])
        is_known = upto < len(old) and old[upto].match.source_match_id == match_id
        position = upto + is_known
        if (entry := changes[match_id]) is not None:
            merged.append(entry)
        if count % SLICE == 0:
            yield
    merged.extend(old[position:])
    return merged


def append(result: list[Chunk], entries: list[Entry]) -> Sliced[None]:
    """Add `entries` in chunks; a few join the chunk before them, so that chunks do not become too small."""
    if entries and len(entries) < _MIN_SIZE and result:
        entries = [*result.pop().entries, *entries]
    at = 0
    while at < len(entries):
        left = len(entries) - at
        size = left if left <= _MAX_SIZE else CHUNK_SIZE
        result.append(Chunk.of(tuple(entries[at : at + size])))
        at += size
        yield


V = TypeVar("V")


def all_removed(chunks: tuple[Chunk, ...], reason: RemovalReason) -> Differences:
    """Return the differences when all entries are removed; takes no time, because a read may wait."""
    before = ChunkMapping(chunks, lambda entry: entry)
    return Differences(before, ChunkMapping(chunks, lambda _: None), ChunkMapping(chunks, lambda _: reason))


class ChunkMapping(Mapping[SourceMatchId, V]):
    """What `value` returns for each entry of some chunks, by match id, in order; nothing is copied."""

    def __init__(self, chunks: tuple[Chunk, ...], value: Callable[[Entry], V]) -> None:
        self._chunks = chunks
        self._value = value

    def __getitem__(self, match_id: SourceMatchId) -> V:
        """Look one up."""
        if (entry := find(self._chunks, match_id)) is None:
            raise KeyError(match_id)
        return self._value(entry)

    def __iter__(self) -> Iterator[SourceMatchId]:
        """Iterate over the ids in order."""
        return (entry.match.source_match_id for entry in entries_of(self._chunks))

    def __len__(self) -> int:
        """Count the entries."""
        return sum(len(chunk.entries) for chunk in self._chunks)

    def copied(self) -> dict[SourceMatchId, V]:
        """Return a dict of it, without looking each up."""
        return {entry.match.source_match_id: self._value(entry) for entry in entries_of(self._chunks)}


def merged(older: Mapping[SourceMatchId, V], newer: Mapping[SourceMatchId, V]) -> dict[SourceMatchId, V]:
    """Return both in one dict; where they have the same id the newer counts."""
    return {**copied(older), **copied(newer)}


def copied(mapping: Mapping[SourceMatchId, V]) -> Mapping[SourceMatchId, V]:
    """Return a mapping of which each value is at hand."""
    return mapping.copied() if isinstance(mapping, ChunkMapping) else mapping
