"""Rows E10 to E14 of docs/faults.md, one by one: gaps, epochs, the lock, damaged days, restored lists."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date
from errno import EIO
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from actors.archive.archive import Archive, machine, open_archive
from actors.archive.days.day import Reached
from actors.archive.folder import ArchiveSettings, Folder
from actors.archive.past import Days, Elsewhere, Listed, NotYet, Reach, Unknown
from actors.archive.restart import Configured, Machine
from actors.board.history import HistoryLimits
from actors.board.validity import BoardRules
from actors.core.errors import ArchiveLockedError, ConfigError
from actors.core.messages import BookmakerId, SourceName
from actors.matches.model import BookmakerInfo, FixtureSettings, fixtures_of, roster_of
from actors.matches.update import FixtureUpdater
from actors.monitoring.status import ArchiveStatus
from tests.support.builders.messages import match
from tests.support.systems.committing import Committing
from tests.support.time.virtual import ManualClock

ALDER, BIRCH = BookmakerId("alder"), BookmakerId("birch")
NAMES = {ALDER: "Alder", BIRCH: "Birch"}
TERMS = FixtureSettings(roster_of({name: BookmakerInfo(SourceName(f"of-{name}")) for name in NAMES}))


@dataclass
class Kept:
    """An archived board; `days` reads the archive."""

    board: Committing
    archive: Archive
    clock: ManualClock

    @property
    def days(self) -> Days:
        """Return what reads it."""
        return Days(self.archive.folder, lambda: self.archive.writer.live_day)

    @property
    def version(self) -> int:
        """The newest version."""
        return self.board.newest.version

    def put(self, *names: str, bookmaker: str = ALDER, **more: Any) -> int:
        """Commit a list and write it; return its version."""
        self.clock.pass_(1)
        self.board.put(bookmaker, *(match(name, **more) for name in names), stale_after_s=60.0)
        self.archive.writer.step()
        return self.version

    def ids(self, version: int) -> list[str]:
        """Return the ids of a list in the archive."""
        found = self.days.at_version(None, version)
        assert isinstance(found, Listed), found
        return [of.id for of in found.entries]


@contextmanager
def kept(
    folder: Path,
    clock: ManualClock,
    *,
    digests: Mapping[BookmakerId, str] = {ALDER: "a", BIRCH: "b"},
    boot_id: str = "boot",
    is_orderly: bool = True,
    look_again_s: float = 0.0,
    reached: Reached = lambda _: None,
) -> Iterator[Kept]:
    """Archive a board while the block runs; the machine was started when the clock showed 0."""
    archive = open_archive(
        ArchiveSettings(str(folder)),
        ArchiveStatus(),
        clock,
        terms=TERMS,
        configured={name: Configured(digest, NAMES[name]) for name, digest in digests.items()},
        names=lambda _: NAMES,
        on_machine=lambda: Machine(boot_id, clock.mono),
        look_again_s=look_again_s,
        reached=reached,
    )
    first = archive.beginning.snapshot
    board = Committing(first, BoardRules(), clock, HistoryLimits(), advance=FixtureUpdater(TERMS))
    board.admit = archive.admit
    board.follow(archive.follow)
    try:
        yield Kept(board, archive, clock)
    finally:
        archive.close(is_orderly=is_orderly)


def test_a_version_is_found_and_any_other_leads_to_it(tmp_path: Path) -> None:
    """A version of the view is its list; another leads to the last before, a later is not there yet."""
    with kept(tmp_path, ManualClock()) as life:
        first = life.put("m1")
        second = life.put("m2", "m3", bookmaker=BIRCH)
        ids = life.ids(second)
        of_alder = life.days.at_version(ALDER, second)
        later = life.days.at_version(None, second + 1)

    assert ["alder_m1", "birch_m2", "birch_m3"] == ids
    assert (Elsewhere(first), NotYet(second)) == (of_alder, later)


def test_all_changes_since_the_first_version_are_known(tmp_path: Path) -> None:
    """That version included; before it nothing is."""
    with kept(tmp_path, ManualClock()) as life:
        first = life.version
        last = life.put("m1")
        found = [life.days.reach(asked, last) for asked in (first - 1, first)]

    assert [Reach(first, has=False), Reach(first, has=True)] == found


def test_an_entry_of_before_the_two_newest_days_has_its_prices(tmp_path: Path) -> None:
    """They come from the whole state at the begin of a day, once."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        for number in range(6):
            life.board.put(ALDER, match("m1", start_time=None), match(f"o{number}"), stale_after_s=86_400.0)
            life.archive.writer.step()
            clock.pass_(43_200)
        found = life.days.last_of("alder_m1", 5)

    assert [(2.0, 3.5, 4.0)] == [row.past.entry and row.past.entry.match.prices for row in found]


def test_a_time_leads_to_the_version_of_that_time(tmp_path: Path) -> None:
    """To the last before it; a time before the archive begins is not known."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        version = life.put("m1")
        at_ms = round(clock.wall * 1000)
        life.put("m2")
        found = life.days.at_time(None, at_ms + 999)
        before = life.days.at_time(None, at_ms - 10_000)

    assert Elsewhere(version) == found
    assert isinstance(before, Unknown)
    assert "before_first" == before.reason


def test_a_young_list_is_restored_after_an_orderly_end(tmp_path: Path) -> None:
    """Its entries, its version and the epoch go on; fixtures begin anew."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        version, epoch = life.put("m1"), life.board.newest.epoch
    clock.pass_(20)
    with kept(tmp_path, clock) as life:
        book = life.board.newest.books[ALDER]
        fixtures = fixtures_of(life.board.newest)

        assert (version, 1, True) == (book.v2_version, book.count, book.is_serving)
        assert (epoch, True) == (life.board.newest.epoch, life.version > version)
        assert (1, 1) == (len([*fixtures]), fixtures.pending)


@pytest.mark.parametrize(
    ("down_s", "more"),
    [
        (70.0, {}),
        (20.0, {"digests": {ALDER: "other", BIRCH: "b"}}),
        (20.0, {"boot_id": "another"}),
    ],
    ids=["too old", "configured otherwise", "the machine was started again"],
)
def test_a_list_that_may_not_hold_leaves_as_stale(tmp_path: Path, down_s: float, more: Any) -> None:
    """In the first version of the new life, with what changed since the version before."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        version = life.put("m1")
    clock.pass_(down_s)
    with kept(tmp_path, clock, **more) as life:
        changes = life.days.changes(None, version, life.version)

        assert 0 == life.board.newest.books[ALDER].count
        assert changes is not None
        assert [("alder_m1", life.version, None, "stale")] == [
            (of.id, of.version, of.entry, of.reason) for of in changes
        ]


def test_nothing_is_restored_after_any_other_end(tmp_path: Path) -> None:
    """What was not written may have been a suspension."""
    clock = ManualClock()
    with kept(tmp_path, clock, is_orderly=False) as life:
        version = life.put("m1")
    clock.pass_(1)
    with kept(tmp_path, clock) as life:
        assert 0 == life.board.newest.books[ALDER].count
        assert life.version > version + 1_000_000
        assert ["killed"] == [gap.reason for gap in life.days.gaps(life.days.held())]


def test_a_match_that_may_have_kicked_off_is_not_restored(tmp_path: Path) -> None:
    """Its list is, without it, and has a version of its own."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        version = life.put("m1", start_time=round(clock.wall) + 10)
    clock.pass_(20)
    with kept(tmp_path, clock) as life:
        book = life.board.newest.books[ALDER]

        assert (0, True) == (book.count, book.v2_version > version)


def test_a_restored_price_leaves_when_its_match_is_in_play(tmp_path: Path) -> None:
    """As any other does: its source has vouched for it too long ago."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        life.board.put(ALDER, match("m1", start_time=round(clock.wall) + 100), stale_after_s=600.0)
    clock.pass_(20)
    with kept(tmp_path, clock) as life:
        before = life.board.newest.books[ALDER].count
        clock.pass_(100)

        assert (1, 0) == (before, life.board.current().books[ALDER].count)


def test_lists_are_the_same_by_marks(tmp_path: Path) -> None:
    """Before, at and after a mark, also of what was changed last before the mark before; `since`, too."""
    with kept(tmp_path, ManualClock()) as life:
        life.put("m1", "m2", bookmaker=BIRCH)
        life.archive.writer.marked_after = 3
        versions = [life.put("m1", *names) for names in ((), ("m2",), ("m2", "m3"), ("m3",), ("m4",))]
        since = life.days.changes(None, versions[1], versions[4])
        found = [life.ids(version) for version in versions]
        (day,) = tmp_path.glob("*.db")
        with closing(sqlite3.connect(day)) as connection:
            marks = [mark for (mark,) in connection.execute("SELECT DISTINCT mark FROM marks")]

    of_birch = ["birch_m1", "birch_m2"]
    of_alder = ((1,), (1, 2), (1, 2, 3), (1, 3), (1, 4))
    assert [[*(f"alder_m{n}" for n in of), *of_birch] for of in of_alder] == found
    assert since is not None
    assert {"alder_m2", "alder_m3", "alder_m4"} == {of.id for of in since}
    assert 1 < len(marks)


def test_commits_that_find_no_room_are_a_gap(tmp_path: Path) -> None:
    """The archive goes on from a whole state; what was between is known not to be known."""
    with kept(tmp_path, ManualClock()) as life:
        before = life.put("m1")
        life.archive.writer.max_waiting = 0
        lost = life.put("m1", "m2")
        life.archive.writer.max_waiting = 1000
        after = life.put("m1", "m2", "m3")
        gaps = [(gap.after, gap.until, gap.reason) for gap in life.days.gaps(life.days.held())]

        assert [(before, lost, "lost")] == gaps
        assert ["alder_m1", "alder_m2", "alder_m3"] == life.ids(after)
        assert life.days.changes(None, before, after) is None
        assert 1 == life.archive.status.gaps


def test_a_disk_that_hangs_is_said_once(tmp_path: Path) -> None:
    """And that it goes on again: the thread that writes could say neither."""
    with kept(tmp_path, ManualClock()) as life, capture_logs() as logs:
        for name in ("m1", "m2", "m3", "m4"):
            life.clock.pass_(6)
            life.board.put(ALDER, match(name), stale_after_s=60.0)
        life.archive.writer.step()
        life.put("m5")
        life.put("m6")

    said = [line["event"] for line in logs if line["event"].startswith("archive.")]
    assert ["archive.delayed", "archive.caught_up"] == said


def test_the_epoch_ends_where_versions_cannot_be_reserved(tmp_path: Path) -> None:
    """No version means two things: what was never reserved is of an epoch of its own."""
    with kept(tmp_path, ManualClock()) as life:
        epoch = life.board.newest.epoch
        life.archive.writer.reserved_until = life.version
        life.clock.pass_(1)
        life.board.put(ALDER, match("m1"))

        assert epoch != life.board.newest.epoch == life.board.history.epoch


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    """One process a folder."""
    with kept(tmp_path, ManualClock()), pytest.raises(ArchiveLockedError, match="another process"):
        Folder.hold(tmp_path)


def test_a_folder_that_cannot_be_is_an_error_of_the_configuration(tmp_path: Path) -> None:
    """It names the key."""
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(ConfigError, match=r"archive\.path"):
        Folder.hold(tmp_path / "file" / "folder")


@pytest.mark.parametrize("content", [b"", b"x" * 5000, b"SQLite format 3\0" + bytes(2000)])
def test_a_damaged_day_is_set_aside(tmp_path: Path, content: bytes) -> None:
    """The service starts and warns, versions go on, and the day is kept under another name."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        version = life.put("m1")
    (day,) = tmp_path.glob("*.db")
    day.write_bytes(content)
    clock.pass_(5)
    with kept(tmp_path, clock) as life:
        assert life.version > version
        assert ["alder_m2"] == life.ids(life.put("m2"))
        assert 1 == life.archive.status.gaps
    assert content == Path(f"{day}.bad").read_bytes()


def test_a_day_that_another_program_holds_is_not_damaged(tmp_path: Path) -> None:
    """It is not sealed yet, and stays where it is, also at the next start."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        version = life.put("m1")
        held = sqlite3.connect(tmp_path / "2026-05-28.db", isolation_level=None)
        held.execute("BEGIN")
        held.execute("SELECT * FROM changes").fetchone()
        clock.pass_(86_400)
        life.put("m2")
    with kept(tmp_path, clock) as life:
        during = life.ids(version)
        held.close()

    assert ["alder_m1"] == during
    assert [] == [*tmp_path.glob("*.bad")]


def test_a_day_of_another_format_is_set_aside(tmp_path: Path) -> None:
    """It is never guessed what it means."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        life.put("m1")
    (day,) = tmp_path.glob("*.db")
    connection = sqlite3.connect(day)
    connection.execute("PRAGMA user_version = 0")
    connection.close()
    with kept(tmp_path, clock) as life:
        assert Path(f"{day}.bad").exists()
        assert ["alder_m2"] == life.ids(life.put("m2"))


def test_a_sealed_day_that_is_the_last_again_is_verified(tmp_path: Path) -> None:
    """Before it is written on, which ends its digest: what it has may never have been shown."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        life.put("m1", home="Kestrel")
        clock.pass_(86_400)
        life.put("m2")
        for _ in range(20):
            life.archive.writer.step()
    sealed, newest = sorted(tmp_path.glob("*.db"))
    sealed.write_bytes(sealed.read_bytes().replace(b"Kestrel", b"Kestrem"))
    newest.write_bytes(b"damaged")
    with kept(tmp_path, clock) as life:
        assert [f"{sealed.name}.bad", f"{newest.name}.bad"] == sorted(
            path.name for path in tmp_path.glob("*.bad")
        )
        assert ["alder_m3"] == life.ids(life.put("m3"))


def test_a_disk_that_fails_at_the_start_hinders_no_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged day that cannot be set aside then is set aside a moment later."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        life.put("m1")
        clock.pass_(86_400)
        life.put("m2")
    day = min(tmp_path.glob("*.db"))
    with closing(sqlite3.connect(day)) as connection:
        connection.execute("PRAGMA user_version = 0")
    tries = []

    def fails_once(folder: Folder, at: date, why: str) -> None:
        tries.append(at)
        if len(tries) == 1:
            raise OSError(EIO, "failing")
        set_aside(folder, at, why)

    set_aside = Folder.set_aside
    monkeypatch.setattr(Folder, "set_aside", fails_once)
    with kept(tmp_path, clock) as life:
        assert Path(f"{day}.bad").exists()
        assert ["alder_m3"] == life.ids(life.put("m3"))


def test_a_day_that_is_over_is_sealed_and_reads_the_same(tmp_path: Path) -> None:
    """In the order of entries, with its digest beside it, without a log of SQLite's."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        first, second = life.put("m1"), life.put("m1", "m2", prices=(2.2, 3.4, 3.9))
        before = [life.days.at_version(None, version) for version in (first, second)]
        clock.pass_(86_400)
        third = life.put("m3")
        for _ in range(5):
            life.archive.writer.step()
        after = [life.days.at_version(None, version) for version in (first, second)]
        names = sorted(path.name for path in tmp_path.iterdir())

        assert before == after
        assert ["alder_m3"] == life.ids(third)
        assert ["2026-05-28.db", "2026-05-28.sum", "2026-05-29.db"] == [
            name for name in names if name.startswith("2026") and not name.endswith(("-wal", "-shm"))
        ]
        assert not (tmp_path / "2026-05-28.db-wal").exists()


def test_the_clock_set_back_changes_no_day(tmp_path: Path) -> None:
    """The day that is written goes on; a time leads to the largest version at or before it."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        life.put("m1")
        clock.wall -= 86_400
        version = life.put("m2")
        at_ms = round(clock.wall * 1000)

        assert Elsewhere(version) == life.days.at_time(None, at_ms)
        assert 1 == len([*tmp_path.glob("*.db")])


def test_a_sealed_day_may_be_the_newest_again(tmp_path: Path) -> None:
    """As from a backup: what is appended to is not damaged then, also after a kill."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        version = life.put("m1")
        clock.pass_(86_400)
        life.put("m2")
        for _ in range(5):
            life.archive.writer.step()
    (tmp_path / "2026-05-29.db").unlink()
    with kept(tmp_path, clock) as life:
        at_once = life.ids(version)
    with kept(tmp_path, clock) as life:
        later = life.ids(version)

    assert [["alder_m1"]] * 2 == [at_once, later]


def test_a_day_that_is_removed_while_it_is_written_is_a_gap(tmp_path: Path) -> None:
    """Nothing is written where nobody finds it: another file begins, and `/health` warns."""
    with kept(tmp_path, ManualClock()) as life:
        life.put("m1")
        for path in tmp_path.glob("*.db*"):
            path.unlink()
        life.put("m2")
        failed = life.archive.status.error
        version = life.put("m3")

        assert ["alder_m3"] == life.ids(version)
        assert (None, 1) == (life.archive.status.error, life.archive.status.gaps)
    assert failed is not None
    assert "2026-05-28.db" in failed


def test_a_folder_that_is_removed_is_said_for_as_long(tmp_path: Path) -> None:
    """It is not made again: another disk may belong there."""
    folder = tmp_path / "archive"
    with kept(folder, ManualClock()) as life:
        life.put("m1")
        folder.rename(tmp_path / "away")
        for name in ("m2", "m3"):
            life.put(name)

        assert str(folder) in str(life.archive.status.error)


def test_a_clock_that_was_ahead_makes_nothing_too_old(tmp_path: Path) -> None:
    """What is too old counts from the day before the newest, which is in a year that has not come."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        version = life.put("m1")
        clock.wall += 400 * 86_400
        life.put("m2")
        clock.wall -= 400 * 86_400
    with kept(tmp_path, clock) as life:
        life.put("m3")
        for _ in range(5):
            life.archive.writer.step()

        assert ["alder_m1"] == life.ids(version)


def test_a_flipped_bit_in_a_sealed_day_is_found_before_it_is_shown(tmp_path: Path) -> None:
    """Wherever it is, its time is a gap from then on, of which is warned; the other days are read."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        version = life.put("m1")
        clock.pass_(86_400)
        after = life.put("m2")
        for _ in range(5):
            life.archive.writer.step()
        sealed = tmp_path / "2026-05-28.db"
        content = bytearray(sealed.read_bytes())
        content[-1] ^= 1
        sealed.write_bytes(content)
        days = life.days
        with pytest.raises(FileNotFoundError):
            days.at_version(None, version)
        again = days.at_version(None, version)

        assert isinstance(again, Unknown)
        assert "damaged" == again.reason
        assert ["alder_m2"] == life.ids(after)
        assert Path(f"{sealed}.bad").exists()
        assert 1 == life.archive.status.gaps


def test_without_boot_ids_no_two_starts_are_in_one_boot(tmp_path: Path) -> None:
    """So that nothing is restored that may be from before the boot."""
    first, second = (machine(tmp_path / "none") for _ in range(2))

    assert first.boot_id != second.boot_id
