"""A book made of entries and list states that outlived a process. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf

from actors.board.chunks import entries_of
from actors.board.snapshot import Book, Chunk, Entry, ListState
from actors.core.cooperative import run_now
from actors.core.messages import ListId, Scope

RESTORED = ListId("\0restored")
"""The id of a list from before a restart: its first complete list replaces it, nothing else changes it."""


def restored_book(
    entries: Iterable[Entry], lists: Mapping[Scope, ListState], v1_version: int, v2_version: int
) -> Book:
    """Return the book of these entries, of which none has kicked off; `lists` has the scope of each."""
    changes: dict[str, Entry | None] = {entry.source_match_id: entry for entry in entries}
    chunks = run_now(Chunk.changed((), changes))  # type: ignore[arg-type]  # keys are ids of matches
    starts = [start for entry in entries_of(chunks) if (start := entry.match.begun_by) is not None]
    return Book(
        v1_version,
        v2_version,
        chunks,
        lists,
        sum([len(chunk.entries) for chunk in chunks]),
        sum([chunk.named for chunk in chunks]),
        min([state.deadline for state in lists.values()], default=inf),
        min([chunk.first_start for chunk in chunks], default=inf),
        any(not state.withdrawn for state in lists.values()),
        inf,
        min(starts, default=inf),
    )
