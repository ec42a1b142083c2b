"""Values of the right type whose iteration has side effects or raises."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Self

import msgspec

from actors.core.messages import Batch, Match
from tests.support.builders.messages import batch, match


class Matches(tuple[Match, ...]):  # noqa: SLOT001 - a tuple cannot have slots of its own
    """Matches that call a function whenever an iteration over them begins."""

    _on_read: Callable[[], None]

    def __new__(cls, matches: Iterable[Match], on_read: Callable[[], None]) -> Self:
        """Return the tuple."""
        made = super().__new__(cls, matches)
        made._on_read = on_read
        return made

    def __iter__(self) -> Iterator[Match]:
        """Call the function, then iterate."""
        self._on_read()
        return super().__iter__()


def poison(bookmaker: str, scope: str, received_mono: float = 0.0) -> Batch:
    """Return a batch that crashes the code that applies it."""
    return with_matches(
        batch(bookmaker=bookmaker, scope=scope, received_mono=received_mono), Matches([match()], _crash)
    )


def with_matches(of: Batch, matches: Matches) -> Batch:
    """Return a copy of a batch with these matches, unchecked."""
    return msgspec.structs.replace(of, matches=matches)


def _crash() -> None:
    raise RuntimeError("poison")
