"""Logs withdrawn lists: one line when a source's outage begins and one when it ends, with counts.

The lists of a source become stale one after another, in the order of their confirmations. So a line waits
until all lists are withdrawn or all are back, or until no list has changed for `QUIET_S`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from structlog.typing import FilteringBoundLogger as Log

from actors.core.messages import BookmakerId, Scope, SourceName
from actors.runtime.facts import announce

QUIET_S, LONGEST_S = 10.0, 60.0  # since the last change; since the first one that is not logged
SHOWN_SCOPES = 3

List = tuple[BookmakerId, Scope]


@dataclass(slots=True)
class Outage:
    """The withdrawn lists of a source, and the changes that are not logged yet. Times are monotonic."""

    withdrawn: frozenset[List] = frozenset()
    _lost: set[List] = field(default_factory=set)
    _back: set[List] = field(default_factory=set)
    _since: float = 0.0
    _first: float = 0.0
    _last: float = 0.0
    _is_told: bool = False

    def note(
        self, source: SourceName, now: frozenset[List], lists: int, mono: float, log: Log, *, is_down: bool
    ) -> None:
        """Take the lists, of `lists` in all, that are withdrawn `now`; log a line if one is due.

        While the source `is_down` at most two lines are written: for the first lists, and for all of them.
        """
        if now != self.withdrawn:
            self._add(now, mono)
        if not (self._lost or self._back):
            return
        is_settled = mono - self._last >= QUIET_S or mono - self._first >= LONGEST_S
        if len(now) in {0, lists} or (is_settled and not (is_down and self._is_told)):
            self._write(source, lists, mono, log)
            self._is_told = is_down

    def _add(self, now: frozenset[List], mono: float) -> None:
        if not self.withdrawn:
            self._since = mono
        if not (self._lost or self._back):
            self._first = mono
        self._lost |= now - self.withdrawn
        self._back = (self._back | (self.withdrawn - now)) - now
        self._last = mono
        self.withdrawn = now

    def _write(self, source: SourceName, lists: int, mono: float, log: Log) -> None:
        counts = {"lists_withdrawn": len(self.withdrawn), "of_lists": lists}
        if self._lost:
            announce(log, "bookmaker.withdrawn", source=source, **_names(self._lost), **counts)
        if self._back:
            lasted_s = round(mono - self._since, 3)
            announce(
                log,
                "bookmaker.restored",
                **{"source": source, **_names(self._back), "lists_restored": len(self._back), **counts},
                withdrawn_for_s=lasted_s,
            )
        self._lost.clear()
        self._back.clear()


def _names(lists: Collection[List]) -> dict[str, list[str]]:
    """Return the bookmakers of these lists, and the first scopes."""
    bookmakers = sorted({bookmaker for bookmaker, _ in lists})
    scopes: list[str] = sorted({scope for _, scope in lists})
    if len(scopes) > SHOWN_SCOPES:
        scopes[SHOWN_SCOPES:] = [f"and {len(scopes) - SHOWN_SCOPES} more"]
    return {"bookmakers": [*bookmakers], "scopes": scopes}
