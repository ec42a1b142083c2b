"""Sorted chunks: a change replaces only the chunks that it falls into; all others stay the same objects.

Pure. Entries of lists are sorted by id (`snapshot.py`), fixtures by place (`actors/matches/model.py`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, Generic, Self, TypeVar

from msgspec import Struct

from actors.core.cooperative import Sliced

# Entries of a chunk: some 30 kB of JSON, deflated in well below a millisecond. Half as many make a change
# a third cheaper and gzip bodies an eighth larger; twice as many save a tenth of the body and double the
# cost of scattered changes (100,000 matches, docs/figures.md).
CHUNK_SIZE = 128
_MAX_SIZE = CHUNK_SIZE * 3 // 2
_MIN_SIZE = CHUNK_SIZE // 4
_MAX_HIDDEN = CHUNK_SIZE * 8  # a chunk of more entries is cut, even if readers see no change
SORTED_AT_ONCE = 4096

K = TypeVar("K", bound=Hashable)
E = TypeVar("E")

_first = attrgetter("first")


class SortedChunk(Struct, Generic[K, E], frozen=True, eq=False, weakref=True):
    """Some neighbouring entries, sorted by their keys; never empty; compared by identity."""

    keys: tuple[K, ...]
    entries: tuple[E, ...]

    @property
    def first(self) -> K:
        """The key of its first entry."""
        return self.keys[0]

    @classmethod
    def of(cls, keys: Iterable[K], entries: Iterable[E]) -> Self:
        """Return a chunk of one or more sorted entries."""
        return cls(tuple(keys), tuple(entries))

    @classmethod
    def ends(cls, entries: Sequence[E]) -> Sequence[int]:
        """Return for each entry the length of the JSON up to its end, in units of a shown entry."""
        return range(1, len(entries) + 1)

    @classmethod
    def cuts(cls, entries: Iterable[E]) -> bool:
        """Return whether chunks may be cut at new places when these entries come or go."""
        del entries
        return True

    def replaced(self, entries: Sequence[E], places: Sequence[int]) -> Self:
        """Return a chunk with the same keys and these entries, which differ in these places."""
        del places
        return self.of(self.keys, entries)

    @classmethod
    def changed(cls, chunks: tuple[Self, ...], changes: Mapping[K, E | None]) -> Sliced[tuple[Self, ...]]:
        """Return the chunks after `changes`, where None removes an entry."""
        if not changes:
            return chunks
        wanted = yield from _in_order([*changes])
        result: list[Self] = []
        done = at = 0
        while at < len(wanted):
            yield
            place = max(bisect_right(chunks, wanted[at], key=_first) - 1, 0)
            is_last = place + 1 >= len(chunks)
            end = len(wanted) if is_last else bisect_left(wanted, chunks[place + 1].first, at)
            result.extend(chunks[done:place])
            yield from cls._merge(result, chunks[place] if chunks else None, wanted[at:end], changes)
            done, at = place + 1, end
        result.extend(chunks[done:])
        return tuple(result)

    @classmethod
    def _merge(
        cls, result: list[Self], old: Self | None, wanted: list[Any], changes: Mapping[K, E | None]
    ) -> Sliced[None]:
        """Add a chunk after the changes of these sorted keys."""
        keys: list[K] = [*old.keys] if old is not None else []
        entries: list[E] = [*old.entries] if old is not None else []
        replaced: list[int] = []
        moved: list[E] = []
        at = 0
        for key in wanted:
            at, new = bisect_left(keys, key, at), changes[key]
            is_there = at < len(keys) and keys[at] == key
            if new is None:
                if is_there:
                    moved.append(entries[at])
                    del keys[at], entries[at]
            elif is_there:
                entries[at] = new
                replaced.append(at)
            else:
                keys.insert(at, key)
                entries.insert(at, new)
                moved.append(new)
        if old is not None and not moved and cls._size(entries) == cls._size(old.entries):
            result.append(old.replaced(entries, replaced))
        elif old is not None and 0 < len(entries) <= _MAX_HIDDEN and moved and not cls.cuts(moved):
            result.append(cls.of(keys, entries))
        else:
            yield from cls._append(result, keys, entries)

    @classmethod
    def _append(cls, result: list[Self], keys: list[K], entries: list[E]) -> Sliced[None]:
        """Add entries in chunks; too few entries for a chunk join the previous one."""
        if result and entries and cls._size(entries) < _MIN_SIZE:
            before = result.pop()
            keys, entries = [*before.keys, *keys], [*before.entries, *entries]
        begin = done = 0
        ends = cls.ends(entries)
        while entries and ends[-1] - done > _MAX_SIZE:
            cut = bisect_left(ends, done + CHUNK_SIZE, begin) + 1
            if ends[-1] - ends[cut - 1] < _MIN_SIZE:
                break
            result.append(cls.of(keys[begin:cut], entries[begin:cut]))
            begin, done = cut, ends[cut - 1]
            yield
        if begin < len(entries):
            result.append(cls.of(keys[begin:], entries[begin:]))

    @classmethod
    def _size(cls, entries: Sequence[E]) -> int:
        return cls.ends(entries)[-1] if entries else 0


def _in_order(keys: list[Any]) -> Sliced[list[Any]]:
    """Return keys sorted: 50,000 keys take 25 ms in one piece, and the same total in short slices."""
    runs = []
    for at in range(0, len(keys), SORTED_AT_ONCE):
        runs.append(sorted(keys[at : at + SORTED_AT_ONCE]))
        yield
    while len(runs) > 1:
        merged = []
        for at in range(0, len(runs), 2):
            merged.append(sorted(chain.from_iterable(runs[at : at + 2])))
            yield
        runs = merged
    return runs[0]


def find(chunks: tuple[SortedChunk[K, E], ...], key: K) -> E | None:
    """Return the entry with that key, or None."""
    wanted: Any = key
    chunk = chunks[max(bisect_right(chunks, wanted, key=_first) - 1, 0)] if chunks else None
    if chunk is None:
        return None
    at = bisect_left(chunk.keys, wanted)
    return chunk.entries[at] if at < len(chunk.keys) and chunk.keys[at] == key else None


def beginning_with(chunks: tuple[SortedChunk[K, E], ...], text: str) -> Iterator[E]:
    """Iterate over the entries whose keys (texts) begin with a text, in order."""
    place = max(bisect_right(chunks, text, key=_first) - 1, 0)
    for chunk in chunks[place:]:
        keys: tuple[Any, ...] = chunk.keys
        for at in range(bisect_left(keys, text), len(keys)):
            if not keys[at].startswith(text):
                return
            yield chunk.entries[at]


def entries_of(chunks: Iterable[SortedChunk[Any, E]]) -> Iterator[E]:
    """Iterate over all entries in order."""
    return chain.from_iterable(chunk.entries for chunk in chunks)


def entries_where(
    chunks: Iterable[SortedChunk[K, E]], predicate: Callable[[E], bool]
) -> Sliced[dict[K, E]]:
    """Return the entries that satisfy `predicate`, by key, in order."""
    found: dict[K, E] = {}
    for chunk in chunks:
        pairs = zip(chunk.keys, chunk.entries, strict=True)
        found |= {key: entry for key, entry in pairs if predicate(entry)}
        yield
    return found
