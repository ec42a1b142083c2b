"""A book made of entries and list states that outlived a process. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from math import inf

from actors.board.chunks import entries_of
from actors.board.snapshot import Book, Chunk, Entry, ListState
from actors.core.cooperative import run_now
from actors.core.messages import ListId, Scope

RESTORED = ListId("\0restored")
"""The id of a list from before a restart: its first complete list replaces it, nothing else changes it."""


def restored_book(
    entries: Sequence[Entry],
    lists: Mapping[Scope, ListState],
    v1_version: int,
    v2_version: int,
    cuts: Iterable[int] = (),
) -> Book:
    """Return the book of these entries, of which none has kicked off; `lists` has the scope of each.

    `cuts` has the number of entries of each chunk, nothing if they may be cut anew.
    """
    ids = [entry.source_match_id for entry in entries]
    ends = [0, *accumulate(cuts)]
    chunks = tuple([Chunk.of(ids[a:b], entries[a:b]) for a, b in pairwise(ends)])
    if ends[-1] != len(entries):
        chunks = run_now(Chunk.changed((), dict(zip(ids, entries, strict=True))))
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
