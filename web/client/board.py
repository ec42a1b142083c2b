"""A local board as its caller sees it: always a list that the service had, with its age."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Generic, TypeVar

from .state import Ledger
from .values import Fixture, Match

E = TypeVar("E", bound=Match | Fixture)


class BoardView(Generic[E]):
    """The content of a board, and whether it is current.

    An answer of the service is applied whole, or ignored whole if it is older than the board. Time also
    passes while the machine sleeps.
    """

    def __init__(self, ledger: Ledger[E]) -> None:
        self._ledger = ledger

    @property
    def entries(self) -> Mapping[str, E]:
        """The entries or fixtures by id; in no particular order."""
        return MappingProxyType(self._ledger.entries)

    def listed(self) -> list[E]:
        """Return the entries or fixtures in the order of the service's list."""
        return sorted(self._ledger.entries.values(), key=self._ledger.place)

    @property
    def version(self) -> int | None:
        """The version of the board, None before the first list; it counts only with its `epoch`."""
        return self._ledger.version

    @property
    def epoch(self) -> str:
        """A text that is new at each start of a service without an archive."""
        return self._ledger.epoch

    @property
    def cursor(self) -> str:
        """Version and epoch as the service takes them; empty before the first list."""
        return self._ledger.cursor

    @property
    def pending(self) -> int | None:
        """The number of events that are still to be compared; None while no fixtures are shown yet."""
        return self._ledger.pending

    @property
    def age_s(self) -> float:
        """Seconds since the service last said that this version is its newest; infinite if it never did."""
        return self._ledger.age_s

    @property
    def is_current(self) -> bool:
        """Whether `age_s` is at most `Policy.silence_s`; false while the board is not connected."""
        return not self._ledger.why and self._ledger.is_fresh

    @property
    def why(self) -> str:
        """Why the board is not current; empty if it is current."""
        if not self._ledger.why and not self._ledger.is_fresh:
            return f"nothing was read for {self.age_s:.0f} s"
        return self._ledger.why
