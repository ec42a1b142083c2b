"""Chunks of sorted entries: they have the content of a sorted dict and change only where needed."""

from __future__ import annotations

from math import inf
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from actors.board.chunks import CHUNK_SIZE, entries_of, entries_where, find
from actors.board.next_book import begun_by
from actors.board.snapshot import Chunk, Entry
from actors.core.cooperative import run_now
from actors.core.messages import Scope, SourceMatchId
from tests.support.builders.messages import match

Chunks: TypeAlias = tuple[Chunk, ...]
Oracle: TypeAlias = dict[SourceMatchId, Entry]

IDS = tuple(SourceMatchId(f"m{number:04}") for number in range(1200))
LARGEST, SMALLEST = CHUNK_SIZE * 3 // 2, CHUNK_SIZE // 4

RANGES = st.builds(
    lambda start, length, step: IDS[start : start + length * step : step],
    st.integers(0, len(IDS) - 1),
    st.integers(1, 400),
    st.integers(1, 40),
)
OPERATIONS = st.lists(st.tuples(st.booleans(), RANGES), min_size=1, max_size=8)


def _entry(match_id: str, updated: float = 0.0, start_time: int | None = None, home: str = "Home") -> Entry:
    return Entry(
        f"alder_{match_id}", Scope("s"), match(match_id, home=home, start_time=start_time), updated
    )


def _chunk(*entries: Entry) -> Chunk:
    return Chunk.of([entry.source_match_id for entry in entries], entries)


def _chunks(match_ids: tuple[SourceMatchId, ...]) -> Chunks:
    return run_now(Chunk.changed((), {match_id: _entry(match_id) for match_id in match_ids}))


def _applied(oracle: Oracle, changes: dict[SourceMatchId, Entry | None]) -> Oracle:
    return {match_id: entry for match_id, entry in sorted((oracle | changes).items()) if entry is not None}


def _owner(chunks: Chunks, match_id: str) -> int:
    return max([at for at, chunk in enumerate(chunks) if chunk.first <= match_id], default=0)


def _assert_sound(chunks: Chunks) -> None:
    sizes = [len(chunk.entries) for chunk in chunks]
    assert all(1 <= size <= LARGEST for size in sizes)
    assert all(size >= SMALLEST for size in sizes[1:])
    assert all([*chunk.keys] == [entry.source_match_id for entry in chunk.entries] for chunk in chunks)
    assert all(chunk.named == _chunk(*chunk.entries).named for chunk in chunks)
    assert all(chunk.first_start == _chunk(*chunk.entries).first_start for chunk in chunks)


@given(operations=OPERATIONS)
@settings(derandomize=True, deadline=None, max_examples=60)
def test_chunks_equal_a_sorted_dict(
    operations: list[tuple[bool, tuple[SourceMatchId, ...]]],
) -> None:
    """After any changes the entries equal the oracle's, in order, in chunks of bounded size."""
    chunks: Chunks = ()
    oracle: Oracle = {}
    for turn, (removes, match_ids) in enumerate(operations):
        changes = {match_id: None if removes else _entry(match_id, turn) for match_id in match_ids}
        before, chunks = chunks, run_now(Chunk.changed(chunks, changes))
        oracle = _applied(oracle, changes)

        assert list(oracle.values()) == list(entries_of(chunks))
        _assert_sound(chunks)
        _assert_others_are_kept(before, chunks, {_owner(before, match_id) for match_id in match_ids})


def _assert_others_are_kept(before: Chunks, after: Chunks, touched: set[int]) -> None:
    """Check that a chunk changes only if a change falls into it or the next chunk, which may join it."""
    kept = {id(chunk) for chunk in after}
    may_change = touched | {at - 1 for at in touched}
    assert all(id(chunk) in kept for at, chunk in enumerate(before) if at not in may_change)


@given(shown=RANGES, scopes=st.sets(st.sampled_from("abc")))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_entries_of_scopes_are_complete(shown: tuple[SourceMatchId, ...], scopes: set[Scope]) -> None:
    """For given scopes, exactly the entries of these scopes are found, in the board's order."""
    entries = {
        match_id: structs.replace(_entry(match_id), scope=Scope("abcd"[at % 4]))
        for at, match_id in enumerate(shown)
    }
    found = run_now(entries_where(run_now(Chunk.changed((), entries)), lambda entry: entry.scope in scopes))

    assert [(match_id, entry) for match_id, entry in entries.items() if entry.scope in scopes] == list(
        found.items()
    )


@given(shown=RANGES, starts=st.lists(st.none() | st.integers(0, 9), min_size=1, max_size=9))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_begun_matches_are_complete(shown: tuple[SourceMatchId, ...], starts: list[int | None]) -> None:
    """Begun matches include kick-offs at the asked moment, no unknown kick-offs, in the board's order."""
    entries = {
        match_id: _entry(match_id, start_time=starts[at % len(starts)]) for at, match_id in enumerate(shown)
    }
    found = run_now(begun_by(run_now(Chunk.changed((), entries)), 5.0))

    expected = {
        match_id for match_id, entry in entries.items() if entry.match.start_time in {0, 1, 2, 3, 4, 5}
    }
    assert [match_id for match_id in shown if match_id in expected] == list(found)


@given(shown=RANGES, wanted=st.one_of(st.sampled_from(IDS), st.text("m0129~", max_size=6)))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_find_returns_the_entry_or_none(shown: tuple[SourceMatchId, ...], wanted: str) -> None:
    """`find` returns an entry if and only if its id is present."""
    chunks = _chunks(shown)
    expected = {entry.source_match_id: entry for entry in entries_of(chunks)}.get(SourceMatchId(wanted))

    assert expected is find(chunks, SourceMatchId(wanted))


@pytest.mark.parametrize(
    ("starts", "expected"), [([5, 3, None], 3.0), ([None, None, None], inf), ([0, 7, 9], 0.0)]
)
def test_chunk_has_its_first_kick_off(starts: list[int | None], expected: float) -> None:
    """A chunk's first kick-off is the earliest known one, infinity if none is known."""
    entries = tuple(_entry(f"m{at}", start_time=start) for at, start in enumerate(starts))

    assert expected == _chunk(*entries).first_start


def test_chunk_counts_the_entries_of_v2() -> None:
    """Entries with an empty team name do not count as named."""
    chunk = _chunk(_entry("a"), _entry("b", home=""), _entry("c"))

    assert (2, "a") == (chunk.named, chunk.first)
