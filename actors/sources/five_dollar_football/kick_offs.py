"""Splits the API's lists of matches into shown lists, one for each kick-off. Pure.

All matches with one kick-off are in one shown list. A list of the API is complete for each kick-off of its
window. If two of these lists differ on a match, the later requested list counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from math import inf

from msgspec import Struct

from actors.core.messages import Scope, SourceMatchId
from actors.source_api.plan import CatalogueList
from actors.sources.five_dollar_football.newest import Newest, id_of
from actors.sources.five_dollar_football.options import Window
from actors.sources.five_dollar_football.wire import Row, body_of

KICK_OFF = "kick-off."


class KickOff(Struct, frozen=True):
    """The matches of a kick-off in a list; they are valid for `holds_s` from `since_mono`."""

    rows: tuple[Row, ...]
    since_mono: float
    holds_s: float


class KickOffs:
    """The newest content of each future kick-off (Unix seconds)."""

    def __init__(self, newest: Newest) -> None:
        self._newest = newest
        self._said: dict[int, KickOff] = {}
        self._made: dict[int, tuple[Row, ...]] = {}
        self._begun: frozenset[SourceMatchId] = frozenset()

    def take(
        self,
        rows: Iterable[Row],
        window: Window,
        since_mono: float,
        holds_s: Callable[[int], float],
        wall: float,
    ) -> None:
        """Take a completely read window; `newest` has its matches already.

        `holds_s` returns the validity of a kick-off's prices; `wall` is the present time (Unix seconds).
        """
        first, last = window
        found: dict[int, list[Row]] = {start: [] for start in self._said if first <= start < last}
        unread = []
        for row in rows:
            if row.fixture is None:
                unread.append(row)
            elif first <= (start := int(row.fixture.kickoff_ts)) < last:
                found.setdefault(start, []).append(row)
        for start, of in sorted(found.items()):
            if start > wall and since_mono >= self._since(start):
                self._said[start] = KickOff((*of, *unread), since_mono, holds_s(start))
                self._made.pop(start, None)
                unread = []

    def begin(self, names: Iterable[SourceMatchId]) -> None:
        """Note the matches that are in play now."""
        self._begun = frozenset(names)

    def changed(self, wall: float) -> list[CatalogueList]:
        """Return the changed lists; the last list of a kick-off, after its matches have left, is empty."""
        lists = []
        for start, said in self._said.items():
            rows = tuple(row for row in said.rows if self._is_there(row))
            if self._made.get(start) != rows:
                self._made[start] = rows
                lists.append(_list(start, said, rows))
        self._said = {start: said for start, said in self._said.items() if said.rows and start > wall}
        self._made = {start: self._made[start] for start in self._said}
        return lists

    def names(self) -> set[SourceMatchId]:
        """Return the matches of all kick-offs."""
        rows = (row for said in self._said.values() for row in said.rows)
        return {id_of(row.fixture) for row in rows if row.fixture is not None}

    def _since(self, start: int) -> float:
        return self._said[start].since_mono if start in self._said else -inf

    def _is_there(self, row: Row) -> bool:
        if row.fixture is None:
            return True
        return id_of(row.fixture) not in self._begun and self._newest.has(row.fixture)


def _list(start: int, said: KickOff, rows: tuple[Row, ...]) -> CatalogueList:
    at = datetime.fromtimestamp(start, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    body = body_of(tuple(row.raw for row in rows))
    return CatalogueList(Scope(f"{KICK_OFF}{at}"), body, said.since_mono, said.holds_s)
