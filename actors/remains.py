"""What a commit has replaced: freed in slices, because a large board takes as long to free as to compare.

Pure. Nothing is freed that somebody else still holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from msgspec import Struct

from actors.messages import Batch, Match
from actors.slices import SLICE, Steps, let_go
from actors.snapshot import Chunk, Differences, Entry, Snapshot
from actors.whole import Whole

CHUNKS = 4
"""Chunks let go of between two yields: a quarter of a millisecond."""


class Remains(Struct, frozen=True):
    """The chunks, entries, matches and differences that were worked with."""

    chunks: list[Chunk]
    entries: list[Entry | None]
    matches: list[Match]
    differences: list[Differences]

    @classmethod
    def of(cls, base: Snapshot, snapshot: Snapshot, batches: Iterable[Batch]) -> Remains:
        """Take hold of what goes with `base` and with the batches that made `snapshot` of it."""
        changed = [
            book.chunks for name, book in base.books.items() if book.chunks != snapshot.books[name].chunks
        ]
        before = [one.before for one in snapshot.differences.values()]
        return cls(
            list(chain.from_iterable(changed)),
            [entry for one in before if not isinstance(one, Whole) for entry in one.values()],
            [match for batch in batches for match in batch.matches],
            list(snapshot.differences.values()),
        )

    def let_go(self) -> Steps[None]:
        """Free them."""
        yield from let_go(self.matches, SLICE)
        yield from let_go(self.entries, SLICE)
        yield from let_go(self.chunks, CHUNKS)
        yield from let_go(self.differences, 1)
