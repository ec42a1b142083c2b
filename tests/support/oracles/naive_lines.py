"""Lines, members and closing prices read naively: boards and members at every version, one after another.

Prices come from an export, gaps and links from the tables by SQL. Nothing of `actors/lines`
is used.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from statistics import median
from typing import Any

from actors.archive.days.format import Gap
from actors.archive.export import Chosen, rows
from actors.archive.folder import Folder
from actors.matches.fair import Method, fair

HOUR_MS = 3_600_000
DOWN = ("stopped", "killed")
Prices = tuple[float, ...]
_ABOUT = itemgetter("version", "kind", "id", "market")


@dataclass
class Naive:
    """All data of a folder about a market: boards by version, members by version, times, gaps.

    `starts` are the kick-offs of entries on the board of 1X2, whichever market is read.
    """

    folder: Folder
    market: str = "1x2"
    gaps: list[Gap] = field(default_factory=list)
    boards: dict[int, dict[str, Prices]] = field(default_factory=dict)
    reasons: dict[tuple[int, str], str] = field(default_factory=dict)
    starts: dict[int, dict[str, int | None]] = field(default_factory=dict)
    times: dict[int, int] = field(default_factory=dict)
    members: dict[int, dict[str, list[list[str]]]] = field(default_factory=dict)
    rosters: dict[int, list[tuple[str, str, str]]] = field(default_factory=dict)
    _keys: dict[int, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read all days."""
        self._read_prices()
        self._read_links()

    def _read_prices(self) -> None:
        board: dict[str, Prices] = {}
        starts: dict[str, int | None] = {}
        states: set[int] = set()
        exported = rows(self.folder, Chosen(0, 2**52, all_markets=True), lambda _: None)
        for (version, kind, entry, market), some in groupby(exported, key=_ABOUT):
            if kind == "state" and version not in states:
                states.add(version)
                board, starts = {}, {}
            row, *more = some
            odds: Any = tuple([each["odds"] for each in (row, *more)])
            if market == "1x2":
                starts = {key: of for key, of in starts.items() if key != entry}
                starts |= {} if kind == "removed" else {entry: row["start_time"]}
            if market == self.market and kind == "removed":
                board = {key: of for key, of in board.items() if key != entry}
                self.reasons[version, entry] = str(row["reason"])
            elif market == self.market:
                board = {**board, entry: odds}
            self.boards[version], self.starts[version] = board, starts

    def _read_links(self) -> None:
        shown: dict[str, list[list[str]]] = {}
        for path in sorted(Path(self.folder.path).glob("*.db")):
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
                whole = {version for (version,) in connection.execute("SELECT version FROM keyframes")}
                self.times |= dict(connection.execute("SELECT version, at FROM commits"))
                self.gaps += [Gap(*row) for row in connection.execute("SELECT * FROM gaps ORDER BY after")]
                sql = "SELECT version, bookmaker, source, prices FROM rosters ORDER BY version, place"
                found: dict[int, list[tuple[str, str, str]]] = {}
                for version, *of in connection.execute(sql):
                    found.setdefault(version, []).append((of[0], of[1], of[2]))
                self.rosters |= found
                links = {
                    (version, fixture): json.loads(members)
                    for version, fixture, members in connection.execute("SELECT * FROM links")
                }
                changes: dict[int, list[tuple[str, str | None]]] = {version: [] for version in whole}
                for version, fixture, members in connection.execute(
                    "SELECT version, fixture, members FROM fixtures"
                ):
                    changes.setdefault(version, []).append((fixture, members))
                for version in sorted(changes):
                    if version in whole:
                        shown = {}
                    for fixture, members in changes[version]:
                        shown = {key: of for key, of in shown.items() if key != fixture}
                        if members is not None:
                            shown[fixture] = links[version, fixture]
                    self.members[version] = shown

    @property
    def last(self) -> int:
        """The newest version."""
        return max(self.times)

    def at(self, table: Mapping[int, Any], version: int) -> Any:
        """Return a table's newest value that is not newer than a version; empty before all values."""
        if (keys := self._keys.get(id(table))) is None:
            keys = self._keys[id(table)] = sorted(table)
        place = bisect_right(keys, version)
        return table[keys[place - 1]] if place else {}

    def roster(self, version: int) -> list[tuple[str, str, str]]:
        """Return the bookmakers of a version: id, source, kind of prices."""
        found: list[tuple[str, str, str]] = self.at(self.rosters, version)
        return found

    def line(self, entry: str, first: int, last: int, until_ms: int = 2**62) -> list[tuple[Any, ...]]:
        """Return the points: version, time, prices, absence, reason, whether it is a state."""
        found: list[tuple[Any, ...]] = []
        ends_of_gaps = [end for gap in self.gaps for end in (gap.after, gap.until)]
        versions = sorted({*self.boards, *ends_of_gaps, first})
        begins = {gap.after: gap for gap in self.gaps if gap.after_at < until_ms}
        ends = {gap.until: gap for gap in self.gaps}
        before: Prices | None = None
        was_known = False
        for version in [version for version in versions if first <= version <= last]:
            now = self.at(self.boards, version).get(entry)
            at, gap, reason = self.times[version], ends.get(version), self.reasons.get((version, entry))
            hidden = gap is not None and was_known and not (gap.reason in DOWN and before is None)
            if version == first:
                if now is not None:
                    found.append((version, at, now, None, None, True))
            elif now is not None and (hidden or now != before):
                found.append((version, at, now, None, None, hidden))
            elif now is None and (hidden or before is not None):
                absent = "suspended" if reason == "suspended" else "removed"
                found.append((version, at, None, absent, reason or "unknown", False))
            was_known = was_known or now is not None
            after = begins.get(version)
            if after is not None and was_known and not (after.reason in DOWN and now is None):
                found.append((version, after.after_at, None, "gap", after.reason, False))
            before = now
        return found

    def first_of_fixtures(self) -> dict[str, tuple[int, list[list[str]]]]:
        """Return for each fixture the last version that had it, and its members at that version."""
        found: dict[str, tuple[int, list[list[str]]]] = {}
        for version in sorted(self.times):
            for fixture, members in self.at(self.members, version).items():
                found[fixture] = (version, members)
        return found

    def ids(self, members: Sequence[Sequence[str]], version: int) -> dict[str, tuple[str, str, str]]:
        """Return the entries that members may have: bookmaker, kind of prices, certainty."""
        return {
            f"{name}_{match_id}": (name, prices, certainty)
            for name, source, prices in self.roster(version)
            for of_source, match_id, _, certainty in members
            if of_source == source
        }

    def kick_off(self, fixture: str) -> int | None:
        """Return the final kick-off of a fixture."""
        version, members = self.first_of_fixtures()[fixture]
        roster = self.roster(version)
        sources = [source for _, source, _ in roster]
        names = [name for name, _, _ in roster]
        ids = self.ids(members, version)
        starts = self.at(self.starts, version)
        on = [entry for entry in ids if entry in starts]
        place = {name: (sources.index(source), names.index(name)) for name, source, _ in roster}
        lead = min(on, key=lambda entry: place[ids[entry][0]], default=None)
        return None if lead is None else starts[lead]

    def closes(self, fixture: str, kick_off: int, seen_ms: int) -> dict[str, Any]:
        """Return the close of each entry, or why it has none, and the consensus."""
        kick_off_ms = kick_off * 1000
        later = (version for version, at in self.times.items() if at >= kick_off_ms)
        cut = min(later, default=self.last + 1)
        held = [version for version in sorted(self.times) if version < cut]
        members: list[list[str]] = []
        for version in held:
            members = self.at(self.members, version).get(fixture, members)
        roster_at = max(held, default=min(self.times))
        ids = self.ids(members, roster_at)
        first = min(self.times)
        closes, counted = dict[str, Any](), list[Prices]()
        for entry, (_, kind, certainty) in ids.items():
            whole = [point for point in self.line(entry, first, self.last) if point[0] < cut]
            points = [point for point in whole if point[3] != "gap" or point[1] < kick_off_ms]
            priced = [point for point in points if point[2] is not None]
            if not priced:
                continue
            found = self._close(points, kick_off_ms)
            if seen_ms < kick_off_ms:
                found = "gap"
            if found[-1] == "on offer" and kind == "live" and certainty == "sure":
                counted.append(found[0])
            closes[entry] = ("collected" if kind == "collected" else found, *priced[0][:2])
        return {"closes": closes, "members": members, "fair": fair_of(counted)}

    def counted(self, fixture: str, version: int) -> list[Prices]:
        """Return the prices of a fixture that count for its consensus at a version."""
        board, members = self.at(self.boards, version), self.at(self.members, version).get(fixture, [])
        return [
            board[entry]
            for entry, (_, kind, certainty) in self.ids(members, version).items()
            if kind == "live" and certainty == "sure" and entry in board
        ]

    def _close(self, points: Sequence[tuple[Any, ...]], kick_off_ms: int) -> Any:
        last = points[-1]
        if last[3] == "gap":
            return "gap"
        if last[2] is not None:
            return (last[2], kick_off_ms, "on offer")
        number = max(number for number, point in enumerate(points) if point[2] is not None)
        until = points[number + 1][1]
        if kick_off_ms - until > HOUR_MS:
            return "too_old"
        why = next(point[4] for point in points[number + 1 :] if point[3] != "gap")
        return (points[number][2], until, why)


def fair_of(prices: Sequence[Prices]) -> Prices | None:
    """Return the median of fair chances by outcome, scaled; None for fewer than three."""
    if len(prices) < 3:
        return None
    medians = [median(of) for of in zip(*[fair(Method.POWER, odds) for odds in prices], strict=True)]
    return tuple(of / sum(medians) for of in medians)
