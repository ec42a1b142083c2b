"""All entries of some chunks by id, looked up where they are.

Pure. A book that loses all that it has is withdrawn in a read, which must not take long: what that
changes is made of the chunks as they are, and gone through by whoever wants to know it, in slices.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping
from typing import TypeVar

from actors.board.chunks import entries_of, find
from actors.board.snapshot import Chunk, Departure, Differences, Entry
from actors.messages import SourceMatchId

V = TypeVar("V")


def all_gone(chunks: tuple[Chunk, ...], departure: Departure) -> Differences:
    """Give the differences by which all entries of `chunks` go."""
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
        """Give ids and values in order."""
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
