"""Fixtures in sorted chunks: a change replaces only the chunks that it falls into. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping
from heapq import merge
from itertools import islice
from operator import attrgetter
from typing import TypeAlias

from actors.core.cooperative import SLICE, Sliced
from actors.matches.model import Fixture, FixtureChunk, Place
from actors.matching.event import FixtureId

CHUNK_SIZE = 128  # as the board's chunks, in entries: so some thirty kilobytes of JSON, whoever lists
_MAX_SIZE = CHUNK_SIZE * 3 // 2
_MIN_SIZE = CHUNK_SIZE // 4

Chunks: TypeAlias = tuple[FixtureChunk, ...]
Firsts: TypeAlias = tuple[Place, ...]
Replaced: TypeAlias = Mapping[int, Mapping[FixtureId, Fixture | None]]
"""By number of a chunk what becomes of some of its fixtures: another of the same place, None if it goes."""

_place = attrgetter("place")


def changed(
    chunks: Chunks, firsts: Firsts, replaced: Replaced, added: Collection[Fixture]
) -> Sliced[tuple[Chunks, Firsts]]:
    """Return chunks with other fixtures, and those added; with the first place of each."""
    row, loose = _Row(chunks, firsts), dict[int, list[Fixture]]()
    for count, (at, some) in enumerate(replaced.items(), 1):
        chunk = _with_replaced(row.chunks[at], some)
        if chunk.size == row.chunks[at].size or _MIN_SIZE <= chunk.size <= _MAX_SIZE:
            row.set(at, chunk)
        else:
            loose[at] = [*chunk.fixtures.values()]
        if count % (SLICE // 4) == 0:
            yield
    for count, one in enumerate((yield from _sorted(added)), 1):
        at = max(bisect_right(row.firsts, one.place) - 1, 0)
        if at not in loose:
            loose[at] = [*row.chunks[at].fixtures.values()] if chunks else []
        loose[at].append(one)
        if count % SLICE == 0:
            yield
    if not loose:
        return tuple(row.chunks), tuple(row.firsts)
    return (yield from _cut_anew(row, loose))


def _with_replaced(chunk: FixtureChunk, some: Mapping[FixtureId, Fixture | None]) -> FixtureChunk:
    """Return a chunk, which may be empty, with these in place of those with their ids."""
    fixtures, size, surebets = {**chunk.fixtures}, chunk.size, chunk.surebets
    first = chunk.first
    for fixture_id, new in some.items():
        old = fixtures[fixture_id]
        surebets -= old.surebet is not None
        if new is None:
            size -= _size(old)
            del fixtures[fixture_id]
        else:
            size += len(new.listed) - len(old.listed)
            surebets += new.surebet is not None
            fixtures[fixture_id] = new  # its place among the others stays the same
    if fixtures and first.id not in fixtures:
        first = next(iter(fixtures.values())).place
    return FixtureChunk(fixtures, first, size, surebets)


def _sorted(fixtures: Collection[Fixture]) -> Sliced[list[Fixture]]:
    """Sort by place, in slices."""
    rest, runs = iter(fixtures), list[list[Fixture]]()
    while some := [*islice(rest, SLICE)]:
        runs.append(sorted(some, key=_place))
        yield
    if len(runs) <= 1:
        return runs[0] if runs else []
    ordered, result = merge(*runs, key=_place), list[Fixture]()
    while some := [*islice(ordered, SLICE)]:
        result += some
        yield
    return result


def _cut_anew(row: _Row, loose: Mapping[int, list[Fixture]]) -> Sliced[tuple[Chunks, Firsts]]:
    """Return the chunks of a row with new ones of these fixtures in place of those of their numbers."""
    result, done = _Row(), 0
    for at in sorted(loose):
        result.extend(row.chunks[done:at], row.firsts[done:at])
        done = at + 1
        yield from _append(result, sorted(loose[at], key=_place))
        yield
    result.extend(row.chunks[done:], row.firsts[done:])
    return tuple(result.chunks), tuple(result.firsts)


def _append(row: _Row, fixtures: list[Fixture]) -> Sliced[None]:
    """Add `fixtures` in chunks; a few join the chunk before them, so that none becomes too small."""
    left = sum(map(_size, fixtures))
    if fixtures and left < _MIN_SIZE and row.chunks:
        before = row.pop()
        fixtures, left = [*before.fixtures.values(), *fixtures], left + before.size
    begin = size = 0
    for at, one in enumerate(fixtures if left > _MAX_SIZE else (), 1):
        size += _size(one)
        if size >= CHUNK_SIZE and left > _MAX_SIZE and left - size >= _MIN_SIZE:
            row.add(_chunk(fixtures[begin:at], size))
            left -= size
            begin, size = at, 0
            yield
    if begin < len(fixtures):
        row.add(_chunk(fixtures[begin:], left))
        yield


def _size(fixture: Fixture) -> int:
    """Return the length of its JSON in entries: names and best prices are as long as one more."""
    return len(fixture.listed) + 1


def _chunk(fixtures: list[Fixture], size: int) -> FixtureChunk:
    surebets = len([one for one in fixtures if one.surebet is not None])
    return FixtureChunk({one.id: one for one in fixtures}, fixtures[0].place, size, surebets)


class _Row:
    """Chunks in the making, with the first place of each."""

    def __init__(self, chunks: Iterable[FixtureChunk] = (), firsts: Iterable[Place] = ()) -> None:
        self.chunks = [*chunks]
        self.firsts = [*firsts]

    def set(self, at: int, chunk: FixtureChunk) -> None:
        """Put a chunk in place of another one."""
        self.chunks[at], self.firsts[at] = chunk, chunk.first

    def add(self, chunk: FixtureChunk) -> None:
        """Add a chunk at the end."""
        self.chunks.append(chunk)
        self.firsts.append(chunk.first)

    def extend(self, chunks: Iterable[FixtureChunk], firsts: Iterable[Place]) -> None:
        """Add some at the end."""
        self.chunks.extend(chunks)
        self.firsts.extend(firsts)

    def pop(self) -> FixtureChunk:
        """Remove the last one and return it."""
        self.firsts.pop()
        return self.chunks.pop()
