"""A naive board to compare the real one with: dicts of dicts, and every entry examined at every step.

It follows the documents alone. One naive book is one bookmaker's part; the caller keeps the versions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple, TypeAlias

from actors.core.clock import Instant
from actors.core.messages import Batch, Match, Scope, SourceMatchId

Shown: TypeAlias = tuple[object, ...]
"""One entry as a client sees it: id, content, `updated`."""


class Row(NamedTuple):
    """One match of the naive board."""

    scope: Scope
    match: Match
    updated: float

    @property
    def content(self) -> Shown:
        """All public fields except the id and the time."""
        match = self.match
        return (match.home, match.away, match.league, match.prices, match.start_time)

    @property
    def begun_by(self) -> int | None:
        """The moment at which it has kicked off, at the latest."""
        return _known_by(self.match)


@dataclass
class NaiveList:
    """The state of one scope on the naive board."""

    list_id: str
    confirmed: float
    stale_after_s: float
    withdrawn: bool = False
    listed: dict[SourceMatchId, Match] = field(default_factory=dict)

    @property
    def deadline(self) -> float:
        """The monotonic second at which the list is stale."""
        return self.confirmed + self.stale_after_s


@dataclass
class NaiveBook:
    """One bookmaker: rows by id, lists by scope; `seen` holds the rows that readers see until a commit."""

    expire_after_s: float
    in_play_max_age_s: float = 1e10
    rows: dict[SourceMatchId, Row] = field(default_factory=dict)
    seen: dict[SourceMatchId, Row] = field(default_factory=dict)
    lists: dict[Scope, NaiveList] = field(default_factory=dict)

    def take(self, batch: Batch, now: Instant) -> str:
        """Apply a batch with simple code and return the verdict; no list is ever suspect."""
        known = self.lists.get(batch.scope)
        if now.mono >= batch.received_mono + batch.stale_after_s:
            if known is not None and batch.received_mono > known.confirmed:
                self._end({batch.scope})
            return "late"
        if known is not None and batch.received_mono < known.confirmed:
            return "outdated"
        if not batch.complete and (known is None or known.withdrawn or known.list_id != batch.list_id):
            return "unfounded"
        kept = {} if known is None or batch.complete else known.listed
        self.lists[batch.scope] = NaiveList(
            batch.list_id, batch.received_mono, batch.stale_after_s, listed=kept
        )
        if not batch.complete and not batch.matches and not batch.removals:
            return "confirmed"
        gone = {removal.source_match_id for removal in batch.removals}
        listed = {match.source_match_id: match for match in batch.matches}
        rest = {name: match for name, match in kept.items() if name not in gone}
        self.lists[batch.scope].listed = {**rest, **listed}
        for name, row in list(self.rows.items()):
            if row.scope == batch.scope and (name in gone or (batch.complete and name not in listed)):
                del self.rows[name]
        for match in batch.matches:
            self._upsert(match, batch)
        self.expire(now)
        return "accepted"

    def _upsert(self, match: Match, batch: Batch) -> None:
        time = batch.received_at if match.source_time is None else min(match.source_time, batch.received_at)
        name, new = match.source_match_id, Row(batch.scope, match, round(time, 3))
        old = self.rows.get(name, self.seen.get(name))
        if old is not None and old.content == new.content:
            new = new._replace(updated=old.updated)
        self.rows[name] = new

    def commit(self) -> None:
        """Publish the current rows."""
        self.seen = dict(self.rows)

    def withdraw(self, scope: Scope) -> None:
        """Withdraw one list until a complete one is applied."""
        if scope in self.lists:
            self.lists[scope].withdrawn = True
            self._keep(lambda row: row.scope != scope)

    def go_stale(self, now: Instant) -> None:
        """Withdraw all lists that have reached their deadline."""
        on_board = {scope: known for scope, known in self.lists.items() if not known.withdrawn}
        self._end({scope for scope, known in on_board.items() if now.mono >= known.deadline})

    def _end(self, stale: set[Scope]) -> None:
        """Withdraw stale lists; forget an empty list beside another list."""
        full = {row.scope for row in self.rows.values()}
        if any(scope not in stale and not known.withdrawn for scope, known in self.lists.items()):
            for scope in stale - full:
                del self.lists[scope]
        for scope in stale & self.lists.keys():
            self.withdraw(scope)

    def expire(self, now: Instant) -> None:
        """Remove all matches that kicked off too long ago, or were not confirmed in time after kick-off."""
        over, wall = now.wall - self.expire_after_s, now.wall
        self._keep(lambda row: row.begun_by is None or row.begun_by > over)
        self._keep(lambda row: row.begun_by is None or row.begun_by > wall or now.mono < self._young(row))

    def _young(self, row: Row) -> float:
        """Return until when the price of a row is young enough for a match in play."""
        if row.match.start_time is not None and row.match.latest_start == row.match.start_time:
            return -inf  # the price is only for the time before the kick-off
        return self.lists[row.scope].confirmed + self.in_play_max_age_s

    def bounds(self) -> list[tuple[float, float]]:
        """Return each known kick-off, with the time until which the price is young enough in play."""
        rows = self.rows.values()
        return [(row.begun_by, self._young(row)) for row in rows if row.begun_by is not None]

    def in_play(self, now: Instant) -> list[float]:
        """Return until when the prices of the matches in play are young enough."""
        return [self._young(row) for row in self.rows.values() if row.begun_by and row.begun_by <= now.wall]

    def lacks(self, scope: Scope, now: Instant) -> list[SourceMatchId]:
        """Return the ids of a list that are not over and not on the board in its scope."""
        over = now.wall - self.expire_after_s
        return [
            name
            for name, match in self.lists[scope].listed.items()
            if ((start := _known_by(match)) is None or start > over)
            and (name not in self.rows or self.rows[name].scope != scope)
        ]

    def deadlines(self) -> list[float]:
        """Return the deadlines of the lists that are on the board."""
        return [known.deadline for known in self.lists.values() if not known.withdrawn]

    def starts(self) -> list[float]:
        """Return the known kick-offs, or the last possible moments for them."""
        return [row.begun_by for row in self.rows.values() if row.begun_by is not None]

    def view(self, *, is_v2: bool) -> list[Shown]:
        """Return the entries of a view, in order; v2 leaves out entries with an empty name."""
        return [
            (name, *row.content, row.updated)
            for name, row in sorted(self.rows.items())
            if not is_v2 or (row.match.home and row.match.away)
        ]

    def _keep(self, stays: Callable[[Row], bool]) -> None:
        self.rows = {name: row for name, row in self.rows.items() if stays(row)}


def _known_by(match: Match) -> int | None:
    return match.latest_start if match.start_time is None else match.start_time
