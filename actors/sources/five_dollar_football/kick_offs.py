"""The content of lists of matches by kick-off, as lists that are shown. Pure.

All matches of a kick-off are in one list. A list of matches speaks for each
kick-off of its window. Where two of them differ on a match, the one that was asked for later counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from math import inf

from msgspec import Struct

from actors.core.messages import Scope, SourceMatchId
from actors.source_api.plan import CatalogueList
from actors.sources.five_dollar_football.options import Window
from actors.sources.five_dollar_football.wire import Row, body_of

KICK_OFF = "kick-off."


class Said(Struct, frozen=True):
    """The matches of a kick-off as a list had them; they hold for `holds_s` from `since_mono`."""

    rows: tuple[Row, ...]
    since_mono: float
    holds_s: float


class KickOffs:
    """The newest that was said of each kick-off that is to come (Unix seconds)."""

    def __init__(self) -> None:
        self._said: dict[int, Said] = {}
        self._starts: dict[SourceMatchId, tuple[float, int]] = {}  # by when they were asked for
        self._begun: frozenset[SourceMatchId] = frozenset()

    def take(
        self,
        rows: Iterable[Row],
        window: Window,
        since_mono: float,
        holds_s: Callable[[int], float],
        wall: float,
    ) -> list[CatalogueList]:
        """Return the lists of a window that was read whole; a kick-off that has lost all matches has none.

        `holds_s` returns for how long a kick-off's prices hold; at `wall` (Unix seconds) it is now.
        """
        first, last = window
        found: dict[int, list[Row]] = {start: [] for start in self._said if first <= start < last}
        unread = []
        for row in rows:
            if row.fixture is None:
                unread.append(row)
                continue
            start = int(row.fixture.kickoff_ts)
            if first <= start < last:
                found.setdefault(start, []).append(row)
            if self._starts.get(_id(row), (-inf, 0))[0] <= since_mono:
                self._starts[_id(row)] = since_mono, start
        changed = []
        for start, of in sorted(found.items()):
            if start > wall and since_mono >= self._since(start):
                self._said[start] = Said((*of, *unread), since_mono, holds_s(start))
                unread = []
                changed.append(start)
        lists = [self._list(start) for start in changed]
        self._said = {start: said for start, said in self._said.items() if said.rows and start > wall}
        self._starts = {name: at for name, at in self._starts.items() if at[1] > wall}
        return lists

    def begin(self, names: Iterable[SourceMatchId]) -> list[CatalogueList]:
        """Take the matches that are in play; return the lists that have lost some of them."""
        self._begun = frozenset(names)
        return [
            self._list(start)
            for start, said in self._said.items()
            if any(row.fixture is not None and _id(row) in self._begun for row in said.rows)
        ]

    def _since(self, start: int) -> float:
        return self._said[start].since_mono if start in self._said else -inf

    def _list(self, start: int) -> CatalogueList:
        said = self._said[start]
        raws = tuple(
            row.raw for row in said.rows if row.fixture is None or self._is_there(row, start, said)
        )
        at = datetime.fromtimestamp(start, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return CatalogueList(Scope(f"{KICK_OFF}{at}"), body_of(raws), said.since_mono, said.holds_s)

    def _is_there(self, row: Row, start: int, said: Said) -> bool:
        if row.fixture is None:
            return True
        since_mono, newest = self._starts.get(_id(row), (-inf, start))
        return _id(row) not in self._begun and (newest == start or since_mono <= said.since_mono)


def _id(row: Row) -> SourceMatchId:
    return SourceMatchId("" if row.fixture is None else str(int(row.fixture.id)))
