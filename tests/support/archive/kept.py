"""Boards that an archive keeps while a block runs, and the content of its days."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actors.archive.archive import Archive, open_archive
from actors.archive.days.day import Reached
from actors.archive.days.reading import Reader, Row
from actors.archive.folder import ArchiveSettings, Folder
from actors.archive.past import Days, Listed
from actors.archive.restart import Configured, Machine
from actors.board.validity import BoardRules
from actors.core.messages import BookmakerId, Match, SourceName
from actors.markets.market import Kind, parsed
from actors.matches.model import BookmakerInfo, FixtureSettings, roster_of
from actors.matches.update import FixtureUpdater
from actors.monitoring.status import ArchiveStatus
from tests.support.archive.boards import archived_boards
from tests.support.builders.messages import match
from tests.support.systems.committing import Committing
from tests.support.time.virtual import ManualClock

ALDER, BIRCH = BookmakerId("alder"), BookmakerId("birch")
NAMES = {ALDER: "Alder", BIRCH: "Birch"}
TERMS = FixtureSettings(roster_of({name: BookmakerInfo(SourceName(f"of-{name}")) for name in NAMES}))
OTHERS = tuple(kind for kind in Kind if kind is not Kind.ONE_X_TWO)
GOALS, HANDICAP = "over_under:2.5", "asian_handicap:-0.75"
MARKETS = {"goals": GOALS, "handicap": HANDICAP, "btts": "btts", "chance": "double_chance"}
"""Markets by names that Python allows."""


@dataclass
class Kept:
    """An archived board, with boards of other markets; the archive writes a commit in `steps` steps."""

    board: Committing
    archive: Archive
    clock: ManualClock
    steps: int

    @property
    def days(self) -> Days:
        """Return the reader of the archive."""
        return Days(self.archive.folder, lambda: self.archive.writer.live_day)

    @property
    def version(self) -> int:
        """The newest version of any board."""
        return self.board.newest_of_any.version

    def put(self, *names: str, bookmaker: str = ALDER, **more: Any) -> int:
        """Commit a list of matches with the same fields and other markets, and write it."""
        markets = {name: more.pop(name) for name in MARKETS if name in more}
        return self.put_all(
            [each for name in names for each in listed(match(name, **more), markets)], bookmaker
        )

    def put_all(
        self, matches: Sequence[Match], bookmaker: str = ALDER, *, stale_after_s: float = 60.0
    ) -> int:
        """Commit a list as it is, a second later, and write it; return the version."""
        self.clock.pass_(1)
        self.board.put(bookmaker, *matches, stale_after_s=stale_after_s)
        self.write(self.steps)
        return self.version

    def write(self, steps: int = 9) -> None:
        """Let the thread that writes take `steps` steps; the default seals all days that are over."""
        for _ in range(steps):
            self.archive.writer.step()

    def ids(self, version: int) -> list[str]:
        """Return the ids of a list in the archive."""
        found = self.days.at_version(None, version)
        assert isinstance(found, Listed), found
        return [of.id for of in found.entries]

    def gaps(self) -> list[str]:
        """Return the reason of each gap."""
        return [gap.reason for gap in self.days.gaps(self.days.held())]


@contextmanager
def kept(
    folder: Path,
    clock: ManualClock,
    kinds: Sequence[Kind] = (),
    *,
    digests: Mapping[BookmakerId, str] = {ALDER: "a", BIRCH: "b"},
    boot_id: str = "boot",
    is_orderly: bool = True,
    look_again_s: float = 0.0,
    reached: Reached = lambda _: None,
) -> Iterator[Kept]:
    """Archive boards of 1X2 and of other `kinds` while the block runs.

    The machine was started when the clock showed 0.
    """
    archive = open_archive(
        ArchiveSettings(str(folder)),
        ArchiveStatus(),
        clock,
        terms=TERMS,
        configured={name: Configured(digest, NAMES[name]) for name, digest in digests.items()},
        names=lambda _: NAMES,
        kinds=kinds,
        on_machine=lambda: Machine(boot_id, clock.mono),
        look_again_s=look_again_s,
        reached=reached,
    )
    try:
        if kinds:
            yield Kept(archived_boards(archive, clock, TERMS, kinds), archive, clock, steps=3)
        else:
            yield Kept(_alone(archive, clock), archive, clock, steps=1)
    finally:
        archive.close(is_orderly=is_orderly)


def _alone(archive: Archive, clock: ManualClock) -> Committing:
    """Return a board of 1X2 without any other board."""
    board = Committing(archive.beginning.snapshot, BoardRules(), clock, advance=FixtureUpdater(TERMS))
    board.admit = archive.admit
    board.follow(archive.follow)
    return board


def listed(of: Match, markets: Mapping[str, Sequence[float]]) -> list[Match]:
    """Return a match and its other markets, by the names of `MARKETS`."""
    return [of, *(of.of_market(parsed(MARKETS[name]), tuple(odds)) for name, odds in markets.items())]


def shown(folder: Path, version: int) -> dict[str, tuple[float, ...]]:
    """Return the prices of all other markets at a version, by id."""
    for path in sorted(folder.glob("*.db"), reverse=True):
        with Reader.open(path, is_written=True) as reader:
            if reader.base <= version <= reader.last:
                return {of.id: of.entry.match.odds for of in reader.market_entries(version) if of.entry}
    raise AssertionError(f"no day has {version}")


def rows_of(folder: Path) -> list[Row]:
    """Return all rows about other markets."""
    found = list[Row]()
    for path in sorted(folder.glob("*.db")):
        with Reader.open(path, is_written=True) as reader:
            found += reader.market_rows(reader.base - 1, reader.last, None)
    return found


def left(folder: Path) -> list[tuple[str, int, str | None]]:
    """Return the other markets that left, when and why."""
    gone = (row.past for row in rows_of(folder) if row.past.entry is None)
    return [(past.id, past.version, past.reason) for past in gone]


def gaps_of(folder: Path) -> list[str]:
    """Return the reason of each gap."""
    days = Days(Folder.reading(folder), lambda: None)
    return [gap.reason for gap in days.gaps(days.held())]


def queried(path: Path, sql: str) -> list[tuple[Any, ...]]:
    """Return all rows of a query, which SQLite answers without code of the archive."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return connection.execute(sql).fetchall()
