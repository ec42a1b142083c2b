"""How far a process is: the highest version that it has seen, and its links on their way to the board."""

from __future__ import annotations

from collections.abc import Callable

from actors.cluster.store import Position
from actors.matches.linking import Links


class LinksBox:
    """Holds the links that are not on the shown board yet. Outlives the actors that use it."""

    def __init__(self, arrived: Callable[[], None]) -> None:
        self._arrived = arrived
        self._links: Links | None = None
        self._at: Position | None = None

    def put(self, links: Links) -> None:
        """Take the newest links, in place of others."""
        self.drop()
        self._links = links
        self._arrived()

    @property
    def due(self) -> Links | None:
        """The links that are still to be committed."""
        return self._links if self._at is None else None

    def committed(self, at: Position) -> None:
        """Note where the log has them."""
        self._at = at

    def applied(self, at: Position) -> None:
        """Note how far the shown board is: the linker waits until it has the links."""
        if self._at is not None and self._at <= at:
            self.drop()

    def drop(self) -> None:
        """Forget them."""
        if self._links is not None:
            self._links.applied.set()
        self._links = self._at = None


class Seen:
    """The highest version and round that any actor of a process has seen, whatever epoch it was of.

    So none of them joins a board that has lost something.
    """

    def __init__(self) -> None:
        self.version = self.round = 0
        self.is_new = True
        """Whether no actor has joined a board yet."""

    def note(self, version: int, number: int = 0) -> None:
        """Take a version, and perhaps a round, that the server has told."""
        self.version, self.round = max(self.version, version), max(self.round, number)
