"""Rows E10 to E14 of docs/faults.md, one by one: gaps, epochs, the lock, damaged days, restored lists."""

from __future__ import annotations

import fcntl
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date
from errno import EIO, ENOLCK
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from actors.archive.archive import machine
from actors.archive.folder import Folder
from actors.archive.past import Elsewhere, Unknown
from actors.core.errors import ArchiveLockedError, ConfigError
from tests.support.archive.kept import ALDER, BIRCH, kept
from tests.support.builders.messages import match
from tests.support.time.virtual import ManualClock


def test_an_entry_of_before_the_two_newest_days_has_its_prices(tmp_path: Path) -> None:
    """The prices come from the whole state at the beginning of a day, and they are listed once."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        for number in range(6):
            life.board.put(ALDER, match("m1", start_time=None), match(f"o{number}"), stale_after_s=86_400.0)
            life.archive.writer.step()
            clock.pass_(43_200)
        found = life.days.last_of("alder_m1", 5)

    assert [(2.0, 3.5, 4.0)] == [row.past.entry and row.past.entry.match.prices for row in found]


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
    """The match leaves in the first version of the new life, and the changes since the old life list it."""
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
    """After a kill nothing is restored: a change that was not written may have been a suspension."""
    clock = ManualClock()
    with kept(tmp_path, clock, is_orderly=False) as life:
        version = life.put("m1")
    clock.pass_(1)
    with kept(tmp_path, clock) as life:
        assert 0 == life.board.newest.books[ALDER].count
        assert life.version > version + 1_000_000
        assert ["killed"] == life.gaps()


def test_a_match_that_may_have_kicked_off_is_not_restored(tmp_path: Path) -> None:
    """The list is restored without the match that may have begun, and this makes a new version."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        life.board.put(
            ALDER, match("m1", start_time=round(clock.wall) + 10), match("m2"), stale_after_s=60.0
        )
        version = life.version
    clock.pass_(20)
    with kept(tmp_path, clock) as life:
        book = life.board.newest.books[ALDER]

        assert (1, life.version) == (book.count, book.v2_version)
        assert life.version > version


def test_a_restored_price_leaves_when_its_match_is_in_play(tmp_path: Path) -> None:
    """A restored price leaves as every price in play does, when its source vouched for it too long ago."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        life.board.put(ALDER, match("m1", start_time=round(clock.wall) + 100), stale_after_s=600.0)
    clock.pass_(20)
    with kept(tmp_path, clock) as life:
        before = life.board.newest.books[ALDER].count
        clock.pass_(100)

        assert (1, 0) == (before, life.board.current().books[ALDER].count)


def test_lists_are_the_same_by_marks(tmp_path: Path) -> None:
    """Lists and changes are right before, at and after a mark, also for entries from before older marks."""
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
    """The archive goes on from a whole state, and records that the versions between are not known."""
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


def test_a_dropped_commit_is_not_written_yet(tmp_path: Path) -> None:
    """From the moment of a dropped commit the archive lags, although no commit waits in the queue."""
    with kept(tmp_path, ManualClock()) as life:
        life.put("m1")
        life.archive.writer.max_waiting = 0
        life.board.put(ALDER, match("m2"), stale_after_s=60.0)
        life.clock.pass_(7)

        assert 7.0 == life.archive.writer.lag_s(life.clock.now().wall)


def test_a_disk_that_hangs_is_said_once(tmp_path: Path) -> None:
    """The delay and its end are logged once each, and not by the thread that writes: that thread hangs."""
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
    """No version number is used twice: a version that was not reserved belongs to an epoch of its own."""
    with kept(tmp_path, ManualClock()) as life:
        epoch = life.board.newest.epoch
        life.archive.writer.reserved_until = life.version
        life.clock.pass_(1)
        life.board.put(ALDER, match("m1"))

        assert epoch != life.board.newest.epoch == life.board.history.epoch


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    """Only one process may use a folder."""
    with kept(tmp_path, ManualClock()), pytest.raises(ArchiveLockedError, match="another process"):
        Folder.hold(tmp_path)


def test_a_folder_for_reading_is_not_held(tmp_path: Path) -> None:
    """A reader may change nothing in it, whoever holds the lock."""
    with kept(tmp_path, ManualClock()) as life:
        assert [True, False] == [
            folder.is_held for folder in (life.archive.folder, Folder.reading(tmp_path))
        ]


def test_a_folder_that_cannot_be_locked_is_an_error_of_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a file system without locks the error does not blame another process."""

    def refuse(descriptor: int, operation: int) -> None:
        del descriptor, operation
        raise OSError(ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)

    with pytest.raises(ConfigError, match=r"archive\.path .* cannot be locked: No locks available"):
        Folder.hold(tmp_path)


def test_a_folder_that_cannot_be_is_an_error_of_the_configuration(tmp_path: Path) -> None:
    """The error names the key of the configuration."""
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(ConfigError, match=r"archive\.path"):
        Folder.hold(tmp_path / "file" / "folder")


def _of_no_format(day: Path) -> bytes:
    with closing(sqlite3.connect(day)) as connection:
        connection.execute("PRAGMA user_version = 0")
    return day.read_bytes()


@pytest.mark.parametrize(
    "damaged",
    [
        lambda _: b"",
        lambda day: day.read_bytes()[:5000],
        lambda _: b"x" * 5000,
        lambda _: b"SQLite format 3\0" + bytes(2000),
        _of_no_format,
    ],
    ids=["empty", "cut", "no database", "nothing behind its head", "another format"],
)
def test_a_damaged_day_is_set_aside(tmp_path: Path, damaged: Callable[[Path], bytes]) -> None:
    """The service starts and warns, versions go on, and the day is kept under another name.

    The service never guesses what a file of another format means.
    """
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        version = life.put("m1")
    (day,) = tmp_path.glob("*.db")
    content = damaged(day)
    day.write_bytes(content)
    clock.pass_(5)
    with kept(tmp_path, clock) as life:
        assert life.version > version
        assert ["alder_m2"] == life.ids(life.put("m2"))
        assert 1 == life.archive.status.gaps
    assert content == Path(f"{day}.bad").read_bytes()


def test_a_day_that_another_program_holds_is_not_damaged(tmp_path: Path) -> None:
    """The day is not sealed yet, and its file stays where it is, also at the next start."""
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


def test_a_sealed_day_that_is_the_last_again_is_verified(tmp_path: Path) -> None:
    """The day is checked before it is appended to, which ends its digest: no read may have checked it."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        life.put("m1", home="Kestrel")
        clock.pass_(86_400)
        life.put("m2")
        life.write(20)
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
    """A damaged day that cannot be set aside at the start is set aside a moment later."""
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


def test_the_clock_set_back_changes_no_day(tmp_path: Path) -> None:
    """The current day goes on; a time leads to the largest version at or before that time."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        life.put("m1")
        clock.wall -= 86_400
        version = life.put("m2")
        at_ms = round(clock.wall * 1000)

        assert Elsewhere(version) == life.days.at_time(None, at_ms)
        assert 1 == len([*tmp_path.glob("*.db")])


def test_a_sealed_day_may_be_the_newest_again(tmp_path: Path) -> None:
    """A sealed day, as from a backup, is appended to and does not count as damaged, also after a kill."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        version = life.put("m1")
        clock.pass_(86_400)
        life.put("m2")
        life.write(5)
    (tmp_path / "2026-05-29.db").unlink()
    with kept(tmp_path, clock) as life:
        at_once = life.ids(version)
    with kept(tmp_path, clock) as life:
        later = life.ids(version)

    assert [["alder_m1"]] * 2 == [at_once, later]


def test_a_folder_that_is_removed_is_said_for_as_long(tmp_path: Path) -> None:
    """The error stays; the folder is not made again, because another disk may belong in its place."""
    folder = tmp_path / "archive"
    with kept(folder, ManualClock()) as life:
        life.put("m1")
        folder.rename(tmp_path / "away")
        for name in ("m2", "m3"):
            life.put(name)

        assert str(folder) in str(life.archive.status.error)


def test_a_clock_that_was_ahead_makes_nothing_too_old(tmp_path: Path) -> None:
    """The age of days counts from the second newest day, because the newest may lie in the future."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        version = life.put("m1")
        clock.wall += 400 * 86_400
        life.put("m2")
        clock.wall -= 400 * 86_400
    with kept(tmp_path, clock) as life:
        life.put("m3")
        life.write(5)

        assert ["alder_m1"] == life.ids(version)


def test_a_flipped_bit_in_a_sealed_day_is_found_before_it_is_shown(tmp_path: Path) -> None:
    """Wherever the bit is, the day becomes a gap with a warning; the other days are still read."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        version = life.put("m1")
        clock.pass_(86_400)
        after = life.put("m2")
        life.write(5)
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
    """Without a boot id each start counts as a new boot: no price from before a boot may be restored."""
    first, second = (machine(tmp_path / "none") for _ in range(2))

    assert first.boot_id != second.boot_id
