"""What a commit has replaced: freed in slices, because a large board takes as long to free as to compare.

Pure. Nothing is freed that somebody else still holds.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from actors.board.chunks import Whole
from actors.board.snapshot import Chunk, Differences, Snapshot
from actors.core.cooperative import CHUNKS, SLICE, Sliced, let_go
from actors.core.messages import Batch


class Remains(Struct, frozen=True):
    """What was worked with: batches, the differences that they made, the chunks of books before them."""

    batches: list[Batch]
    differences: list[Differences]
    books: list[tuple[Chunk, ...]]

    @classmethod
    def of(cls, base: Snapshot, snapshot: Snapshot, batches: Iterable[Batch]) -> Remains:
        """Take hold of what goes with `base` and with the batches that made `snapshot` of it."""
        before = ((book.chunks, snapshot.books[name].chunks) for name, book in base.books.items())
        changed = [old for old, new in before if old is not new]
        return cls(list(batches), list(snapshot.differences.values()), changed)

    def let_go(self) -> Sliced[None]:
        """Free them, whole ones first taken apart: a list of all costs little, its elements much."""
        while self.batches:
            batch = self.batches.pop()
            matches = list(batch.matches)
            yield
            del batch
            yield from let_go(matches, SLICE)
        while self.differences:
            differences = self.differences.pop()
            before = differences.before
            entries = [] if isinstance(before, Whole) else list(before.values())
            yield
            del differences
            yield
            del before
            yield from let_go(entries, SLICE)
        while self.books:
            yield from let_go(list(self.books.pop()), CHUNKS)
