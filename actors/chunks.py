"""Finding and changing entries in the sorted chunks of one bookmaker.

Pure. A change rebuilds only the chunks that it falls into; all others are handed on as the same
objects, with everything that was derived from them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter

from actors.messages import SourceMatchId
from actors.slices import SLICE, Steps, finish
from actors.snapshot import Chunk, Entry

CHUNK_SIZE = 128
"""Entries a chunk is cut to: some 30 kB of JSON, whose deflating is well below a millisecond."""

_MAX_SIZE = CHUNK_SIZE * 3 // 2
_MIN_SIZE = CHUNK_SIZE // 4

Changes = Mapping[SourceMatchId, Entry | None]
"""What becomes of some matches: a new entry, or None for one that goes."""

_first = attrgetter("first")
_key = attrgetter("match.source_match_id")


def find(chunks: tuple[Chunk, ...], wanted: SourceMatchId) -> Entry | None:
    """Give the entry of that match, or None."""
    at = bisect_right(chunks, wanted, key=_first) - 1
    if at < 0:
        return None
    entries = chunks[at].entries
    place = bisect_left(entries, wanted, key=_key)
    if place < len(entries) and entries[place].match.source_match_id == wanted:
        return entries[place]
    return None


def entries_of(chunks: tuple[Chunk, ...]) -> Iterator[Entry]:
    """Go through all entries in order."""
    for chunk in chunks:
        yield from chunk.entries


def changed(chunks: tuple[Chunk, ...], changes: Changes) -> Steps[tuple[Chunk, ...]]:
    """Give the chunks after `changes`, in slices; untouched chunks stay the same objects."""
    per_chunk = yield from _by_chunk(chunks, changes)
    result: list[Chunk] = []
    done = 0
    for at in sorted(per_chunk):
        result.extend(chunks[done:at])
        done = at + 1
        old = chunks[at].entries if chunks else ()
        for _ in _append(result, _merged(old, per_chunk[at])):
            yield
    result.extend(chunks[done:])
    return tuple(result)


def without(chunks: tuple[Chunk, ...], goes: Callable[[Entry], bool]) -> tuple[Chunk, ...]:
    """Give the chunks without the entries for which `goes` is true, at once."""
    result: list[Chunk] = []
    for chunk in chunks:
        kept = [entry for entry in chunk.entries if not goes(entry)]
        if len(kept) == len(chunk.entries):
            result.append(chunk)
        else:
            finish(_append(result, kept))
    return tuple(result)


def _by_chunk(
    chunks: tuple[Chunk, ...], changes: Changes
) -> Steps[dict[int, dict[SourceMatchId, Entry | None]]]:
    per_chunk: dict[int, dict[SourceMatchId, Entry | None]] = {}
    for count, (match_id, entry) in enumerate(changes.items()):
        if count % SLICE == 0:
            yield
        at = max(bisect_right(chunks, match_id, key=_first) - 1, 0)
        per_chunk.setdefault(at, {})[match_id] = entry
    return per_chunk


def _merged(old: tuple[Entry, ...], changes: Changes) -> list[Entry]:
    merged: dict[SourceMatchId, Entry | None] = {entry.match.source_match_id: entry for entry in old}
    merged.update(changes)
    return [entry for _, entry in sorted(merged.items()) if entry is not None]


def _append(result: list[Chunk], entries: list[Entry]) -> Steps[None]:
    """Cut `entries` into chunks; a small rest joins its neighbour, so that chunks do not wither."""
    if entries and len(entries) < _MIN_SIZE and result:
        entries = [*result.pop().entries, *entries]
    at = 0
    while at < len(entries):
        left = len(entries) - at
        size = left if left <= _MAX_SIZE else CHUNK_SIZE
        result.append(Chunk.of(tuple(entries[at : at + size])))
        at += size
        yield
