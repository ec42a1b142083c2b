"""The archive of a board that several processes show: it fills in missed versions or has a gap."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from actors.archive.archive import FollowedArchive, open_archive, open_followed
from actors.archive.folder import ArchiveSettings
from actors.archive.past import Days, Elsewhere, Listed
from actors.archive.restart import Configured
from actors.board.snapshot import Snapshot
from actors.board.validity import BoardRules
from actors.core.messages import BookmakerId
from actors.markets.market import Kind
from actors.matches.model import first_snapshot
from actors.matches.update import FixtureUpdater
from actors.monitoring.status import ArchiveStatus
from tests.support.archive.kept import ALDER, BIRCH, NAMES, TERMS, shown
from tests.support.builders.fixtures import ROSTER
from tests.support.builders.market_records import MarketCluster
from tests.support.builders.markets import OU25, listed, of_markets
from tests.support.builders.messages import match
from tests.support.systems.committing import Committing
from tests.support.time.virtual import ManualClock

FIRST = 1_000


class _Board:
    """A board that the test makes; `shown` has all its versions, as they were published."""

    def __init__(self, clock: ManualClock, first: int = FIRST, epoch: str = "e1") -> None:
        self.clock = clock
        self.shown: list[Snapshot] = [first_snapshot(first, TERMS, epoch)]
        self._board = Committing(self.shown[0], BoardRules(), clock, advance=FixtureUpdater(TERMS))
        self._board.follow(self.shown.append)

    def put(self, *names: str, bookmaker: BookmakerId = ALDER) -> Snapshot:
        """Commit a list one second after the previous commit."""
        self.clock.pass_(1)
        self._board.put(bookmaker, *map(match, names), stale_after_s=1e6)
        return self.shown[-1]


@dataclass
class _Kept:
    """An archive that is open."""

    archive: FollowedArchive
    highest: int
    clock: ManualClock
    days: Days = field(init=False)

    def __post_init__(self) -> None:
        """Make the reader of the archive's days."""
        self.days = Days(self.archive.folder, lambda: self.archive.writer.live_day)

    def follow(self, *snapshots: Snapshot) -> None:
        """Have the archive write these snapshots."""
        for snapshot in snapshots:
            self.archive.note(Kind.ONE_X_TWO, snapshot)
            self.archive.commit()
            self.archive.writer.step()

    def begin(self, first: Snapshot, *then: Snapshot) -> None:
        """Let the archive go on from a whole board, then follow more snapshots."""
        self.archive.restart({Kind.ONE_X_TWO: first})
        self.archive.writer.step()
        self.follow(*then)

    def ids(self, version: int) -> list[str]:
        """Return the ids of the list at a version."""
        found = self.days.at_version(None, version)
        assert isinstance(found, Listed), found
        return [of.id for of in found.entries]

    def gaps(self) -> list[tuple[int, int, str]]:
        """Return the versions around each gap, and the reason of the gap."""
        return [(gap.after, gap.until, gap.reason) for gap in self.days.gaps(self.days.held())]


@contextmanager
def _kept(folder: Path, clock: ManualClock, names: Mapping[BookmakerId, str] = NAMES) -> Iterator[_Kept]:
    """Have an archive open while the block runs."""
    opened = open_followed(ArchiveSettings(str(folder)), ArchiveStatus(), clock, names)
    try:
        yield _Kept(*opened, clock)
    finally:
        opened[0].close(is_orderly=True)


@pytest.fixture
def clock() -> ManualClock:
    """Return the clock of all processes."""
    return ManualClock()


def test_each_version_is_kept_from_the_first_board_on(tmp_path: Path, clock: ManualClock) -> None:
    """There is no gap before the first board; a process that makes no versions reserves no versions."""
    board = _Board(clock)
    with _kept(tmp_path, clock) as life:
        life.begin(*board.shown)
        life.follow(board.put("m1"), board.put("m1", "m2"))

        assert [["alder_m1"], ["alder_m1", "alder_m2"]] == [life.ids(FIRST + n) for n in (1, 2)]
        assert [] == life.gaps()
    assert not (tmp_path / "versions.json").exists()


def test_versions_that_were_missed_are_filled(tmp_path: Path, clock: ManualClock) -> None:
    """After a restart from an older board, each missed version is written once, with its own time."""
    board = _Board(clock)
    for number in range(6):
        board.put(f"m{number}")
    with _kept(tmp_path, clock) as life:
        life.begin(*board.shown[:4])
    clock.pass_(100)
    with _kept(tmp_path, clock) as life:
        life.begin(*board.shown[2:])
        changes = life.days.changes(None, FIRST + 1, FIRST + 6)

        assert FIRST + 3 == life.highest
        assert [[f"alder_m{n}"] for n in range(6)] == [life.ids(FIRST + 1 + n) for n in range(6)]
        assert [] == life.gaps()
        assert changes is not None
        assert {f"alder_m{n}": FIRST + 2 + n for n in range(5)} == {
            of.id: of.version for of in changes if of.entry is None
        }
        found = [life.days.at_time(None, round(of.made_at * 1000)) for of in board.shown[1:]]
        assert [Elsewhere(of.version) for of in board.shown[1:]] == found


def test_a_list_from_before_the_first_version_of_a_life_is_of_the_same_epoch(
    tmp_path: Path, clock: ManualClock
) -> None:
    """The life begins at a later version of a new epoch; a list from the epoch's first version is shown."""
    board, anew = _Board(clock), _Board(clock, FIRST + 100, "e2")
    with _kept(tmp_path, clock) as life:
        life.begin(*board.shown, board.put("m1"))
        older = anew.put("m2")
        life.begin(anew.put("m3", bookmaker=BIRCH))
        found = life.days.at_version(ALDER, older.version)

        assert isinstance(found, Listed)
        assert (older.version, "e2", ["alder_m2"]) == (
            found.version,
            found.epoch,
            [of.id for of in found.entries],
        )


def test_the_newest_version_holds_as_long_as_it_is_known_to(tmp_path: Path, clock: ManualClock) -> None:
    """A process that cannot know of other processes' commits does not say that the version still holds."""
    board = _Board(clock)
    with _kept(tmp_path, clock) as life:
        life.begin(*board.shown, board.put("m1"))
        well_until = clock.wall + 30
        life.archive.writer.newest_until = lambda now: min(now.wall, well_until)
        clock.pass_(300)
        life.archive.writer.step()
        (held,) = life.days.held()

    assert round(well_until * 1000) == held.seen_ms


def test_times_of_lists_of_other_processes_are_not_kept(tmp_path: Path, clock: ManualClock) -> None:
    """The times that other processes give their lists come from other clocks."""
    board = _Board(clock)
    with _kept(tmp_path, clock) as life:
        life.begin(*board.shown, board.put("m1"))
        clock.pass_(5)
        life.archive.writer.step()
        (day,) = tmp_path.glob("*.db")
        with closing(sqlite3.connect(day)) as connection:
            lists = connection.execute("SELECT * FROM lists").fetchall()
        (held,) = life.days.held()

    assert (round(clock.wall * 1000), []) == (held.seen_ms, lists)


def test_versions_of_a_single_process_before_count_as_seen(tmp_path: Path, clock: ManualClock) -> None:
    """Versions that the single process may have published count, too; its lists are never restored."""
    alone = open_archive(
        ArchiveSettings(str(tmp_path)),
        ArchiveStatus(),
        clock,
        terms=TERMS,
        configured={name: Configured("same", title) for name, title in NAMES.items()},
        names=lambda _: NAMES,
    )
    alone.close(is_orderly=True)
    newest = alone.beginning.snapshot.version
    with _kept(tmp_path, clock) as life:
        anew = _Board(clock, life.highest + 1, "e2")
        life.begin(*anew.shown, anew.put("m1"))

        assert life.highest > newest + 1_000_000
        assert [(newest, life.highest + 1, "began_anew")] == life.gaps()
    assert not (tmp_path / "ending.msgpack").exists()


def test_other_markets_are_kept_with_the_version_that_they_are_of(
    tmp_path: Path, clock: ManualClock
) -> None:
    """Markets of a checkpoint after a gap are kept as well, though their records never arrived here."""
    cluster, base = MarketCluster(), match("m1")
    archived: list[int] = []
    with _kept(tmp_path, clock, {name: name for name in ROSTER}) as life:
        life.archive.restart(cluster.state.boards)
        for goals, is_there in ((1.9, True), (1.95, False), (2.0, True)):
            cluster.take(listed(base, *of_markets(base, OU25, odds=(goals, 1.9)), bookmaker="alder"))
            if not is_there:
                continue
            if archived:
                life.archive.restart(cluster.state.boards)
            for kind, board in cluster.state.boards.items():
                life.archive.note(kind, board)
            life.archive.commit()
            for _ in range(3):
                life.archive.writer.step()
            archived.append(cluster.state.at.version)

        assert [(1.9, 1.9), (2.0, 1.9)] == [
            shown(tmp_path, version)["alder_m1 over_under:2.5"] for version in archived
        ]
        assert [(archived[0], archived[1], "missed")] == life.gaps()
