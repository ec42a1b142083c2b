"""The progress of a process: the highest version seen, and links on their way to the board."""

from __future__ import annotations

from collections.abc import Callable

from actors.cluster.store import Position
from actors.market_fixtures.sides import SideLinks
from actors.matches.linking import Links


class LinksBox:
    """Holds the links that are not on the shown board yet. Outlives the actors that use it."""

    def __init__(self, arrived: Callable[[], None]) -> None:
        self.sides = SideLinksBox(arrived)
        self._arrived = arrived
        self._links: Links | None = None
        self._at: Position | None = None

    def put(self, links: Links) -> None:
        """Replace the links by newer ones."""
        self._forget()
        self._links = links
        self._arrived()

    @property
    def due(self) -> Links | None:
        """The links that are not committed yet."""
        return self._links if self._at is None else None

    def committed(self, at: Position) -> None:
        """Record the links' position in the log."""
        self._at = at

    def applied(self, at: Position) -> None:
        """Record the applied position; the linker waits until it includes the links."""
        if self._at is not None and self._at <= at:
            self._forget()
        self.sides.applied(at)

    def drop(self) -> None:
        """Forget the links, and the links of side events."""
        self._forget()
        self.sides.drop()

    def _forget(self) -> None:
        if self._links is not None:
            self._links.applied.set()
        self._links = self._at = None


class SideLinksBox:
    """Holds the links of side events that are not on the shown board yet. Outlives the actors that use it.

    The linker repeats the links that the board lacks: while some are in the log but not on the board, no
    other links are accepted.
    """

    def __init__(self, arrived: Callable[[], None]) -> None:
        self._arrived = arrived
        self._at: Position | None = None
        self.due: SideLinks | None = None
        """The links that are not committed yet."""

    def put(self, links: SideLinks) -> None:
        """Replace the links by newer ones, unless some are in the log already."""
        if self._at is None:
            self.due = links
            self._arrived()

    def committed(self, at: Position) -> None:
        """Record the links' position in the log."""
        self.due, self._at = None, at

    def applied(self, at: Position) -> None:
        """Record the applied position."""
        if self._at is not None and self._at <= at:
            self._at = None

    def drop(self) -> None:
        """Forget the links."""
        self.due = self._at = None


class Seen:
    """The highest version and round that any actor of a process has seen, in any epoch.

    With it no actor joins a board that has lost a version.
    """

    def __init__(self) -> None:
        self.version = self.round = 0
        self.is_new = True
        """Whether no actor has joined a board yet."""

    def note(self, version: int, number: int = 0) -> None:
        """Record a version, and perhaps a round, from the server."""
        self.version, self.round = max(self.version, version), max(self.round, number)
