"""An error is damage only if a second look says so; a file that may hold commits is never removed."""

from __future__ import annotations

import resource
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import date, timedelta
from errno import EIO
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from actors.archive.archive import open_followed
from actors.archive.checking import verdicts
from actors.archive.days.commit import list_view
from actors.archive.days.reading import may_be_damage
from actors.archive.folder import BAD, ArchiveSettings, Folder
from actors.archive.past import Days, Held, Unknown
from actors.core.errors import ConfigError
from actors.monitoring.status import ArchiveStatus
from tests.actors.archive.test_export import exported
from tests.support.archive.checked import Lives
from tests.support.archive.disk_faults import OPEN, READ, library
from tests.support.archive.kept import ALDER, NAMES, kept
from tests.support.time.virtual import ManualClock

needs_library = pytest.mark.skipif(library() is None, reason="needs a C compiler (cc)")


def _two_days(folder: Path) -> tuple[ManualClock, int, int]:
    """Archive a version in a sealed day and one in the next day; return the clock and both versions."""
    clock = ManualClock()
    with kept(folder, clock) as life:
        first = life.put("m1")
        clock.pass_(86_400)
        second = life.put("m2")
        life.write(5)
    return clock, first, second


@contextmanager
def _full_disk() -> Iterator[None]:
    """Within the block, let no file of this process grow."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize(
    ("name", "may_be"),
    [
        *(
            (name, True)
            for name in ("SQLITE_CORRUPT", "SQLITE_CORRUPT_INDEX", "SQLITE_NOTADB", "SQLITE_ERROR")
        ),
        *((name, False) for name in ("SQLITE_IOERR_READ", "SQLITE_IOERR_SHORT_READ", "SQLITE_CANTOPEN")),
        *((name, False) for name in ("SQLITE_PROTOCOL", "SQLITE_NOLFS", "SQLITE_BUSY", "SQLITE_NOMEM")),
        *((name, False) for name in ("SQLITE_READONLY_ROLLBACK", "SQLITE_AUTH", "SQLITE_INTERNAL")),
    ],
)
def test_only_what_was_read_may_be_damage(name: str, *, may_be: bool) -> None:
    """Other errors are passing: errors of the disk, the network, locks or this process."""
    error = sqlite3.OperationalError("an error")
    error.sqlite_errorcode = getattr(sqlite3, name)

    assert may_be == may_be_damage(error)


def test_a_day_that_reads_wrong_for_a_moment_stays(tmp_path: Path) -> None:
    """The first failed read fails only that answer; a later read of the same day succeeds."""
    clock, version, _ = _two_days(tmp_path)
    sealed = tmp_path / "2026-05-28.db"
    whole = sealed.read_bytes()
    with kept(tmp_path, clock, look_again_s=1e9) as life:
        sealed.write_bytes(bytes(len(whole)))
        with pytest.raises(OSError, match="looked at again"):
            life.ids(version)
        sealed.write_bytes(whole)

        assert ["alder_m1"] == life.ids(version)
        assert 0 == life.archive.status.gaps
    assert [] == [*tmp_path.glob("*.bad*")]


def test_a_second_look_that_finds_it_whole_ends_the_doubt(tmp_path: Path) -> None:
    """If a day has a digest, the digest decides, whatever was read before."""
    clock, version, _ = _two_days(tmp_path)
    with kept(tmp_path, clock) as life:
        settled = life.archive.folder.settle(life.days.held()[0].day, "it read wrong for a moment")

        assert (True, ["alder_m1"]) == (settled, life.ids(version))
    assert [] == [*tmp_path.glob("*.bad*")]


def test_a_day_whose_sealing_was_cut_off_is_not_damaged(tmp_path: Path) -> None:
    """The digest belongs to the sealed file, which the killed process did not put in the day's place."""

    def stop(boundary: str) -> None:
        if boundary == "digest renamed":
            raise OSError(EIO, "killed there")

    clock = ManualClock()
    with kept(tmp_path, clock, reached=stop) as life:
        version = life.put("m1")
        clock.pass_(86_400)
        life.put("m2")
        life.write(5)
        settled = life.archive.folder.settle(life.days.held()[0].day, "it read wrong for a moment")

        assert (True, ["alder_m1"]) == (settled, life.ids(version))
    assert (tmp_path / "2026-05-28.sum").exists()
    assert [] == [*tmp_path.glob("*.bad*")]


def test_days_of_an_earlier_release_are_read_and_sealed(tmp_path: Path) -> None:
    """These days lack links, bookmakers and the view of prices; one is half sealed, the other goes on."""

    def stop(boundary: str) -> None:
        if boundary == "sealed file written":
            raise OSError(EIO, "killed there")

    clock = ManualClock()
    with kept(tmp_path, clock, reached=stop) as life:
        first = life.put("m1")
        clock.pass_(86_400)
        second = life.put("m1", "m2")
    days = sorted(tmp_path.glob("*.db"))
    for day in days:
        with closing(sqlite3.connect(day)) as connection:
            connection.executescript("DROP VIEW prices; DROP TABLE links; DROP TABLE rosters")
    before = exported(tmp_path)
    with kept(tmp_path, clock) as life:
        third = life.put("m3")
        life.write(5)
        ids = [life.ids(version) for version in (first, second, third)]

    assert [["alder_m1"], ["alder_m1", "alder_m2"], ["alder_m3"]] == ids
    assert (before, 2) == (exported(tmp_path)[: len(before)], len(days))
    with closing(sqlite3.connect(days[0])) as connection:
        assert connection.execute("SELECT count(*) FROM prices").fetchone()[0] > 0


def test_a_newest_day_that_may_be_damaged_hinders_no_start(tmp_path: Path) -> None:
    """Commits wait for the second look at the day; nothing is lost, whatever the second look finds."""
    clock, _, version = _two_days(tmp_path)
    newest = tmp_path / "2026-05-29.db"
    whole = newest.read_bytes()
    newest.write_bytes(b"x" * len(whole))
    with kept(tmp_path, clock, look_again_s=1e9) as life:
        first = life.put("m3")
        stalled = life.archive.status.error
        newest.write_bytes(whole)
        life.archive.folder.look_again_s = 0.0
        second = life.put("m4")

        assert (["alder_m2"], ["alder_m3"], ["alder_m4"]) == (*map(life.ids, (version, first, second)),)
        assert ["unread"] == life.gaps()[-1:]
        assert life.days.changes(None, version, second) is None
        assert (0, None) == (life.archive.status.gaps, life.archive.status.error)
    assert "looked at again" in str(stalled)


def test_what_is_beside_a_damaged_day_moves_with_it(tmp_path: Path) -> None:
    """The day's log may hold commits, so it moves too; files that were set aside before stay."""
    clock, _, _ = _two_days(tmp_path)
    sealed = tmp_path / "2026-05-28.db"
    contents = {"": b"damaged", "-wal": b"a log", "-journal": b"a journal"}
    for number in ("", "1"):
        for end, content in contents.items():
            Path(f"{sealed}{end}").write_bytes(content + number.encode())
        sealed.with_suffix(".sum").write_text(f"digest{number}", "ascii")
        folder = Folder.hold(tmp_path, look_again_s=0.0)
        folder.set_aside(folder.days()[0], "damaged")
        folder.release()

    for number in ("", "1"):
        bad = f"{sealed}.bad{number}"
        moved = {end: Path(f"{bad}{end}").read_bytes() for end in (*contents, ".sum")}
        assert {end: content + number.encode() for end, content in contents.items()} | {
            ".sum": f"digest{number}".encode()
        } == moved
    with kept(tmp_path, clock) as life:
        assert 2 == len(life.archive.folder.bad())


def test_a_log_without_its_day_is_not_taken_into_another(tmp_path: Path) -> None:
    """If only the day's file is removed, SQLite would write the log's pages into the new file."""
    with kept(tmp_path, ManualClock(), look_again_s=0.0) as life:
        life.put("m1")
        day = tmp_path / "2026-05-28.db"
        log = Path(f"{day}-wal").read_bytes()
        day.unlink()
        life.put("m2")
        Path(f"{day}-wal").write_bytes(log)
        version = life.put("m3")

        assert ["alder_m3"] == life.ids(version)
        assert log == Path(f"{day}.bad-wal").read_bytes()


def interrupt(path: Path) -> None:
    """Leave a file as after a kill in a transaction: half changed, with a hot journal."""
    other = path.with_name("interrupted")
    shutil.copy(path, other)
    connection = sqlite3.connect(other, isolation_level=None)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("CREATE TABLE filler (content)")
    connection.executemany("INSERT INTO filler VALUES (?)", [(bytes(2000),)] * 50)
    connection.execute("DROP TABLE filler")
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE commits SET at = 0")
    connection.execute("CREATE TABLE filler (content)")
    connection.executemany("INSERT INTO filler VALUES (?)", [(b"x" * 2000,)] * 50)
    shutil.copy(other, path)
    shutil.copy(f"{other}-journal", f"{path}-journal")
    connection.execute("ROLLBACK")
    connection.close()
    other.unlink()


@pytest.mark.parametrize("name", ["2026-05-28.db", "2026-05-29.db"])
def test_a_hot_journal_is_rolled_back(tmp_path: Path, name: str) -> None:
    """After a kill while a day was closed, nothing is damaged, and the earlier life ends as stopped."""
    clock, first, second = _two_days(tmp_path)
    (tmp_path / "2026-05-28.sum").unlink()
    interrupt(tmp_path / name)
    with kept(tmp_path, clock) as life:
        assert (["alder_m1"], ["alder_m2"]) == (life.ids(first), life.ids(second))
        assert ["stopped"] == life.gaps()
        assert life.days.changes(ALDER, first, life.version) is not None
    assert not (tmp_path / f"{name}-journal").exists()


def test_a_start_on_a_disk_that_is_full_loses_nothing(tmp_path: Path) -> None:
    """The first version of the life is written as soon as possible, and follows the last version before."""
    clock, _, before = _two_days(tmp_path)
    with ExitStack() as stack, capture_logs():  # the log is on the full disk, too
        with _full_disk():
            life = stack.enter_context(kept(tmp_path, clock))
            during = life.put("m3")
            stalled = life.archive.status.error
        after = life.put("m4")

        assert (["alder_m3"], ["alder_m4"]) == (life.ids(during), life.ids(after))
        assert ["stopped"] == life.gaps()
        assert life.days.changes(None, before, after) is not None
        assert (0, None) == (life.archive.status.gaps, life.archive.status.error)
    assert stalled is not None


def test_a_first_version_that_begins_a_day_is_written_once(tmp_path: Path) -> None:
    """The new day's file cannot be made at first, so the version is already in the previous day's file."""
    clock, _, before = _two_days(tmp_path)
    clock.pass_(86_400)
    left = [3]

    def fail_thrice(boundary: str) -> None:
        if boundary == "day written" and left[0]:
            left[0] -= 1
            raise OSError(EIO, "failing")

    with kept(tmp_path, clock, reached=fail_thrice) as life:
        versions = [life.put(f"m{number}", start_time=None) for number in range(5)]

        assert [[f"alder_m{number}"] for number in range(5)] == [*map(life.ids, versions)]
        assert ["stopped"] == life.gaps()
        assert life.days.changes(None, before, versions[-1]) is not None
        assert (0, None) == (life.archive.status.gaps, life.archive.status.error)
    assert [0] == left


def test_a_time_before_a_damaged_day_is_before_the_first(tmp_path: Path) -> None:
    """Times in the damaged day or after it are unknown because of the damage."""
    clock, version, _ = _two_days(tmp_path)
    with kept(tmp_path, clock) as life:
        life.archive.folder.set_aside(life.days.held()[0].day, "damaged")
        at_ms = 1_780_000_000_000
        found = [life.days.at_time(None, ms) for ms in (at_ms - 10 * 86_400_000, at_ms)]
        of_version = life.days.at_version(None, version)

    assert [Unknown, Unknown, Unknown] == [type(of) for of in (*found, of_version)]
    assert ["before_first", "damaged", "damaged"] == [
        getattr(of, "reason", None) for of in (*found, of_version)
    ]


@pytest.mark.parametrize(("day", "reason"), [(0, "damaged"), (1, "before_first")])
def test_a_damaged_day_explains_what_is_missing_before_it_alone(
    tmp_path: Path, day: int, reason: str
) -> None:
    """A damaged file of the first kept day explains older versions; a file of a later day does not."""
    clock, version, _ = _two_days(tmp_path)
    with kept(tmp_path, clock) as life:
        file = life.archive.folder.file(life.days.held()[day].day)
        Path(f"{file}{BAD}").touch()
        found = life.days.at_version(None, version - 2)

    assert reason == getattr(found, "reason", None)


@pytest.mark.parametrize(
    ("day", "reason"), [(-1, "missing"), (0, "damaged"), (1, "damaged"), (2, "damaged"), (3, "missing")]
)
def test_a_damaged_day_explains_a_gap_that_it_may_have_been_in(
    tmp_path: Path, day: int, reason: str
) -> None:
    """The damaged day explains the gap if it lies between the gap's first and last day, both included."""
    first = date(2026, 5, 28)
    Path(f"{Folder.reading(tmp_path).file(first + timedelta(days=day))}{BAD}").touch()
    before = Held(first, 1000, 1005, 1, 2, 1, ())
    after = Held(first + timedelta(days=2), 1010, 1015, 8, 9, 8, ())
    (gap,) = Days(Folder.reading(tmp_path), lambda: None).gaps([before, after])

    assert (1005, 1010, reason) == (gap.after, gap.until, gap.reason)


@needs_library
@pytest.mark.parametrize("kinds", [READ, OPEN], ids=["reads", "opening"])
def test_a_start_that_can_read_nothing_changes_nothing(tmp_path: Path, kinds: int) -> None:
    """Each file stays as it was, also the newest day's log; versions only rise; all can be read later."""
    folder = tmp_path / "archive"
    lives = Lives(folder, tmp_path / "control")
    try:
        lives.run(1, midnight=5, kill_at="after write", nth=9)
        passing = {".db-shm", ".new"}  # files of a sealing that a slow machine has not ended
        before = {
            path.name: path.read_bytes() for path in folder.glob("2026-*") if path.suffix not in passing
        }
        lives.run(2, kinds=kinds, fails=10**9)
        after = {name: (folder / name).read_bytes() for name in before}
        lives.run(3)
    finally:
        lives.close()
    days = Days(Folder.reading(folder), lambda: None)
    held = days.held()

    assert before == after
    assert any(name.endswith("-wal") for name in before)
    assert {"lost", "damaged", "missing"}.isdisjoint(gap.reason for gap in days.gaps(held))
    versions = [of.version for of in lives.journal.served if of.view is None]
    assert sorted(versions) == versions
    with days.reader(held[-1].day) as reader:
        assert reader.view_version(list_view(None), held[-1].last) == versions[-1]


@needs_library
def test_no_version_falls_though_nothing_can_be_read_and_the_clock_is_set_back(tmp_path: Path) -> None:
    """Each of several starts begins above all versions that may have been published before."""
    folder = tmp_path / "archive"
    lives = Lives(folder, tmp_path / "control")
    try:
        for seed in range(4):
            lives.run(seed, kinds=READ, fails=10**9, down_s=-90_000.0)
        lives.run(4, down_s=-90_000.0)
    finally:
        lives.close()
    versions = [of.version for of in lives.journal.served if of.view is None]

    assert sorted(versions) == versions


def _open(folder: Path, clock: ManualClock) -> None:
    with kept(folder, clock):
        pass


def _follow(folder: Path, clock: ManualClock) -> None:
    open_followed(ArchiveSettings(str(folder)), ArchiveStatus(), clock, NAMES)


@pytest.mark.parametrize("start", [_open, _follow], ids=["alone", "in a cluster"])
@pytest.mark.parametrize("day", ["2026-05-28", "2026-05-29"])
def test_a_newer_format_is_refused_and_stays(
    tmp_path: Path, day: str, start: Callable[[Path, ManualClock], None]
) -> None:
    """One line names the format; no file is changed, renamed or made, and the folder is unlocked again."""
    clock, _, _ = _two_days(tmp_path)
    with closing(sqlite3.connect(tmp_path / f"{day}.db")) as connection:
        connection.execute("PRAGMA user_version = 3")
    (tmp_path / f"{day}.sum").unlink(missing_ok=True)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for _ in range(2):
        with pytest.raises(ConfigError) as refused:
            start(tmp_path, clock)

    said = "its format is 3, of a newer release; this one reads 1 and 2"
    assert f"{tmp_path / day}.db: {said}" == str(refused.value)
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert [said] == [of.fault for of in verdicts(Folder.reading(tmp_path)) if of.fault]
