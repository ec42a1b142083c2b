"""Makes the lists of fixtures wait for the first links after a start.

Before its events are linked, one match is in several fixtures, each with its own best price.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from actors.board.lists import RESTORED
from actors.board.snapshot import Book, Readable, Snapshot
from actors.core.clock import Clock
from actors.matches.model import fixtures_of
from actors.monitoring.status import BookmakerStatus, ServiceStatus, SourceStatus
from web.protocol.problems import Problem

LONGEST_S = 60.0
"""Seconds after which fixtures are shown even if links are missing."""
AT_HAND_S = 10.0
"""Nobody waits for a source whose next request is more seconds away than this."""


class NotLinkedError(Problem):
    """Problem 503: the fixtures are not linked yet."""

    def __init__(self) -> None:
        detail = "what the sources deliver at the start is still being compared; try again"
        super().__init__(503, "linking", detail, {"Retry-After": "1"})


class FirstLinks:
    """Knows whether the first links of a board are made; a board that begins again needs new first links.

    The first links are made when each source has delivered, has failed once or makes its next request
    later, and all delivered events are compared. `is_idle` returns whether everything delivered is on the
    board.
    """

    def __init__(
        self, board: Readable, clock: Clock, status: ServiceStatus, is_idle: Callable[[], bool]
    ) -> None:
        self._board, self._clock, self._status = board, clock, status
        self._epoch, self._began_mono = board.newest.epoch, clock.now().mono
        self._is_idle = is_idle
        self._are_made = False

    def check(self) -> None:
        """Raise NotLinkedError until the first links are made."""
        snapshot = self._board.newest
        if self._are_made and snapshot.epoch == self._epoch:
            return
        now = self._clock.now()
        if snapshot.epoch != self._epoch:
            self._epoch, self._began_mono = snapshot.epoch, now.mono
        is_late = now.mono - self._began_mono >= LONGEST_S
        self._are_made = is_late or self._are_made_by(snapshot, now.wall)
        if not self._are_made:
            raise NotLinkedError

    def _are_made_by(self, snapshot: Snapshot, wall: float) -> bool:
        if fixtures_of(snapshot).pending or not self._is_idle():
            return False
        by_source: dict[str, list[BookmakerStatus]] = {name: [] for name in self._status.sources}
        for bookmaker in self._status.bookmakers.values():
            by_source[bookmaker.source.name].append(bookmaker)
        return all(
            _has_answered(source, by_source[name], [snapshot.books[of.id] for of in by_source[name]], wall)
            for name, source in self._status.sources.items()
        )


def _has_answered(
    source: SourceStatus, bookmakers: Iterable[BookmakerStatus], books: Iterable[Book], wall: float
) -> bool:
    """Return whether a source, in all its scopes, has delivered or failed once, or starts only later.

    For a source that another process of the cluster collects, only the lists are examined.
    """

    def waits(at: float | None) -> bool:
        return at is not None and at > wall + AT_HAND_S

    if any(
        scope.last_success_at is None and not scope.failures and not waits(scope.next_attempt_at)
        for scope in source.scopes.values()
    ):
        return False
    has_failed = (
        source.failures > 0
        or source.actor.crashes > 0
        or any(scope.failures for scope in source.scopes.values())
        or any(of.error is not None for of in bookmakers)
    )
    return has_failed or waits(source.next_attempt_at) or any(map(_is_delivered, books))


def _is_delivered(book: Book) -> bool:
    """Return whether a list has been delivered since the start."""
    return any(state.list_id != RESTORED for state in book.lists.values())
