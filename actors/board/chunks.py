"""Finding and changing entries in the sorted chunks of one bookmaker.

Pure. A change rebuilds only the chunks that it falls into; all others are handed on as the same
objects, with everything that was derived from them.

All entries of some chunks by id, looked up where they are.

Pure. A book that loses all that it has is withdrawn in a read, which must not take long: what that
changes is made of the chunks as they are, and gone through by whoever wants to know it, in slices.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, ItemsView, Iterator, Mapping
from operator import attrgetter
from typing import TypeVar

from actors.board.snapshot import Chunk, Departure, Differences, Entry
from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import Scope, SourceMatchId

CHUNK_SIZE = 128
"""Entries a chunk is cut to: some 30 kB of JSON, whose deflating is well below a millisecond.

Measured at 100,000 matches (docs/benchmarks.md): half as many make a change a third cheaper and every
gzip body an eighth larger; twice as many save a tenth of the body and double the cost of scattered changes.
"""

_MAX_SIZE = CHUNK_SIZE * 3 // 2
_MIN_SIZE = CHUNK_SIZE // 4

FEW = 8
"""Changes of a chunk up to which looking for their places is quicker than going through all of it."""

Changes = Mapping[SourceMatchId, Entry | None]
"""What becomes of some matches: a new entry, or None for one that goes."""

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
    """Go through all entries in order."""
    for chunk in chunks:
        yield from chunk.entries


def of_scopes(chunks: tuple[Chunk, ...], scopes: Collection[Scope]) -> Sliced[dict[SourceMatchId, Entry]]:
    """Return the entries of these scopes, in order, in slices."""
    found: dict[SourceMatchId, Entry] = {}
    for chunk in chunks:
        found.update((one.match.source_match_id, one) for one in chunk.entries if one.scope in scopes)
        yield
    return found


def begun_by(chunks: tuple[Chunk, ...], last_start: float) -> Sliced[dict[SourceMatchId, Entry]]:
    """Return the entries of matches that have certainly kicked off by then, in order, in slices."""
    found: dict[SourceMatchId, Entry] = {}
    for chunk in chunks:
        if chunk.first_start <= last_start:
            for entry in chunk.entries:
                start = entry.match.begun_by
                if start is not None and start <= last_start:
                    found[entry.match.source_match_id] = entry
            yield
    return found


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
        old = chunks[place].entries if chunks else ()
        merged = yield from _merged(old, wanted[at:end], changes)
        yield from append(result, merged)
        done, at = place + 1, end
    result.extend(chunks[done:])
    return tuple(result)


def _merged(old: tuple[Entry, ...], wanted: list[SourceMatchId], changes: Changes) -> Sliced[list[Entry]]:
    """Merge sorted `old` with the changes of the sorted ids `wanted`."""
    if len(wanted) <= FEW:
        return _put_in(old, wanted, changes)
    merged: list[Entry] = []
    position = 0
    for at in range(0, len(wanted), SLICE):
        yield
        last = wanted[at + SLICE - 1 : at + SLICE]
        upto = bisect_right(old, last[0], key=_key) if last else len(old)
        known = {entry.match.source_match_id: entry for entry in old[position:upto]}
        now: dict[SourceMatchId, Entry | None] = {**known}
        for match_id in wanted[at : at + SLICE]:
            now[match_id] = changes[match_id]
        in_order = now if len(now) == len(known) else sorted(now)
        merged += [entry for match_id in in_order if (entry := now[match_id]) is not None]
        position = upto
    return merged + list(old[position:])


def _put_in(old: tuple[Entry, ...], wanted: list[SourceMatchId], changes: Changes) -> list[Entry]:
    """Do the same for few changes: each finds its place by halving."""
    merged: list[Entry] = []
    position = 0
    for match_id in wanted:
        upto = bisect_left(old, match_id, position, key=_key)
        merged.extend(old[position:upto])
        position = upto
        if upto < len(old) and old[upto].match.source_match_id == match_id:
            position += 1
        if (entry := changes[match_id]) is not None:
            merged.append(entry)
    merged.extend(old[position:])
    return merged


def append(result: list[Chunk], entries: list[Entry]) -> Sliced[None]:
    """Add `entries` in chunks; a small rest joins its neighbour, so that chunks do not wither."""
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


def all_gone(chunks: tuple[Chunk, ...], departure: Departure) -> Differences:
    """Return the differences by which all entries of `chunks` go."""
    before = Whole(chunks, lambda entry: entry)
    return Differences(before, Whole(chunks, lambda _: None), Whole(chunks, lambda _: departure))


def over(below: Mapping[SourceMatchId, V], above: Mapping[SourceMatchId, V]) -> dict[SourceMatchId, V]:
    """Lay one over the other; what both have is that of `above`."""
    return {**_plain(below), **_plain(above)}


class Whole(Mapping[SourceMatchId, V]):
    """What `value` gives of each entry, by the id of its match, in order."""

    def __init__(self, chunks: tuple[Chunk, ...], value: Callable[[Entry], V]) -> None:
        self._chunks = chunks
        self._value = value

    def __getitem__(self, match_id: SourceMatchId) -> V:
        """Look one up."""
        if (entry := find(self._chunks, match_id)) is None:
            raise KeyError(match_id)
        return self._value(entry)

    def __iter__(self) -> Iterator[SourceMatchId]:
        """Go through the ids in order."""
        return (entry.match.source_match_id for entry in entries_of(self._chunks))

    def __len__(self) -> int:
        """Count the entries."""
        return sum(len(chunk.entries) for chunk in self._chunks)

    def items(self) -> ItemsView[SourceMatchId, V]:
        """Go through all of them without looking each up."""
        return _Items(self)

    def pairs(self) -> Iterator[tuple[SourceMatchId, V]]:
        """Return ids and values in order."""
        return ((entry.match.source_match_id, self._value(entry)) for entry in entries_of(self._chunks))


class _Items(ItemsView[SourceMatchId, V]):
    def __init__(self, whole: Whole[V]) -> None:
        super().__init__(whole)
        self._whole = whole

    def __iter__(self) -> Iterator[tuple[SourceMatchId, V]]:
        return self._whole.pairs()


def _plain(mapping: Mapping[SourceMatchId, V]) -> Mapping[SourceMatchId, V]:
    """Spare the looking up of each."""
    return dict(mapping.items()) if isinstance(mapping, Whole) else mapping
