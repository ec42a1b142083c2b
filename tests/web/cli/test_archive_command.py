"""`oddsboard archive`: its output and its exit codes."""

from __future__ import annotations

import csv
import json
import sqlite3
import sys
from functools import partial
from pathlib import Path

import pytest

from actors.archive.export import MARKET_COLUMNS
from tests.actors.archive.test_passing_faults import interrupt
from tests.support.archive.kept import BIRCH, kept
from tests.support.documents import blocks, document
from tests.support.systems.process import Ended
from tests.support.time.virtual import ManualClock


@pytest.fixture
def ran(ended: Ended) -> Ended:
    """Return a function that runs the command and returns its exit code, output and errors."""
    return partial(ended, "archive")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an archive of two days, which two runs of the service wrote."""
    clock, path = ManualClock(), tmp_path / "archive"
    with kept(path, clock) as life:
        life.put("m1", source_time=clock.wall - 3)
        life.put("m1", "m2", bookmaker=BIRCH, league=None, start_time=None)
    clock.pass_(86_400)
    with kept(path, clock) as life:
        life.put("m1", prices=(2.5, 3.25, 3.1))
        life.write(5)
    return path


def test_a_full_disk_behind_a_pipe_is_not_the_archives(
    folder: Path, ran: Ended, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk of the output is an error 74: an error 78 would mean a fault of the configuration."""
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        code, _, err = ran("export", folder)

    assert (74, "oddsboard: the output: No space left on device\n") == (code, err)


def test_info_lists_days_and_gaps(folder: Path, ran: Ended) -> None:
    """Each day has its size and its times in UTC, and each gap has its reason."""
    code, out, _ = ran("info", folder)

    lines = out.splitlines()
    assert 0 == code
    assert ["2026-05-28", "2026-05-29", "gap:"] == [line.split()[0] for line in lines]
    assert "stopped" in lines[-1]
    assert lines[0].endswith("  2026-05-28T20:26:40Z to 2026-05-29T20:26:42Z")


def test_info_names_a_day_that_cannot_be_read(folder: Path, ran: Ended) -> None:
    """The unreadable day is listed with its size; `check` says what is wrong with it."""
    (folder / "2026-05-28.db").write_bytes(b"x" * 5000)
    code, out, _ = ran("info", folder)

    assert (0, "2026-05-28           5,000 bytes  cannot be read, check says why") == (
        code,
        out.splitlines()[0],
    )


def test_check_finds_a_flipped_bit(folder: Path, ran: Ended) -> None:
    """The changed bit is found in a sealed day, though SQLite may read the day; the exit code is 65."""
    whole, out, _ = ran("check", folder)
    sealed = folder / "2026-05-28.db"
    content = bytearray(sealed.read_bytes())
    content[-1] ^= 1
    sealed.write_bytes(content)
    damaged, found, _ = ran("check", folder)

    assert (0, ["2026-05-28.db: ok", "2026-05-29.db: ok"]) == (whole, out.splitlines())
    assert (65, "2026-05-28.db: it is not as it was sealed") == (damaged, found.splitlines()[0])
    assert sealed.exists()


def test_check_names_what_was_set_aside(folder: Path, ran: Ended) -> None:
    """A damaged day was set aside: the archive is not whole, although each other day is."""
    (folder / "2026-05-28.db").rename(folder / "2026-05-28.db.bad")
    code, out, _ = ran("check", folder)

    lines = out.splitlines()
    assert (65, ["2026-05-29.db: ok"], 2) == (code, lines[:1], len(lines))
    assert lines[1].startswith("2026-05-28.db.bad: it was damaged and is set aside")


def test_check_of_a_day_with_a_hot_journal_is_of_what_it_rolls_back_to(folder: Path, ran: Ended) -> None:
    """A kill while a day is closed leaves such a journal: all commands read the day as it was before."""
    before = ran("export", folder)
    interrupt(folder / "2026-05-29.db")
    checked, verdicts, _ = ran("check", folder)

    assert (0, ["2026-05-28.db: ok", "2026-05-29.db: ok"]) == (checked, verdicts.splitlines())
    assert before == ran("export", folder)


def test_export_has_every_change_in_order(folder: Path, ran: Ended) -> None:
    """Removed entries are exported, too; a second run of the service begins with the lists of the first."""
    code, out, _ = ran("export", folder)

    rows = [*csv.DictReader(out.splitlines())]
    assert 0 == code
    assert [
        ("change", "alder_m1", "2.0", ""),
        ("change", "birch_m1", "2.0", ""),
        ("change", "birch_m2", "2.0", ""),
        ("removed", "alder_m1", "", "stale"),
        ("removed", "birch_m1", "", "stale"),
        ("removed", "birch_m2", "", "stale"),
        ("change", "alder_m1", "2.5", ""),
    ] == [(row["kind"], row["id"], row["odds_1"], row["reason"]) for row in rows]
    assert float(rows[0]["time"]) > float(rows[0]["source_time"]) + 3


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_export_of_all_markets_has_columns_of_its_own(
    folder: Path, ran: Ended, tmp_path: Path, form: str
) -> None:
    """The export has one row for each price, in each format."""
    parquet = pytest.importorskip("pyarrow.parquet") if form == "parquet" else None
    out = tmp_path / "prices"
    code, _, _ = ran("export", folder, "--markets", "--format", form, "--out", out)
    found = (
        parquet.read_table(out).to_pylist() if parquet else [*csv.DictReader(out.read_text().splitlines())]
    )

    assert 0 == code
    assert [*MARKET_COLUMNS] == [*found[0]]
    assert [("1x2", "1", 2.0), ("1x2", "X", 3.5), ("1x2", "2", 4.0)] == [
        (row["market"], row["outcome"], float(row["odds"])) for row in found[:3]
    ]


def test_export_of_a_bookmaker_and_a_time(folder: Path, ran: Ended, tmp_path: Path) -> None:
    """JSON lines and Parquet have the same rows, with the documented types; a missing value is null."""
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow (oddsboard[parquet])")
    lines, out = tmp_path / "rows.ndjson", tmp_path / "rows.parquet"
    chosen = ("--bookmaker", "birch", "--to", "2026-05-29")
    printed = [
        ran("export", folder, *chosen, "--format", form, "--out", path)
        for form, path in (("ndjson", lines), ("parquet", out))
    ]

    found = parquet.read_table(out)
    kinds = {name: str(kind) for name, kind in zip(found.schema.names, found.schema.types, strict=True)}
    rows = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    assert [(0, "", "")] * 2 == printed
    assert [("birch_m1", None, None), ("birch_m2", None, None)] == [
        (row["id"], row["league"], row["start_time"]) for row in rows
    ]
    assert rows == found.to_pylist()
    assert ("int64", "double", "int64", "double", "string") == tuple(
        kinds[name] for name in ("version", "time", "start_time", "odds_x", "reason")
    )


@pytest.mark.parametrize(
    ("options", "said"), [((), "needs --out FILE"), (("--out", "rows.parquet"), "'oddsboard[parquet]'")]
)
def test_parquet_without_its_package_or_a_file_is_refused(
    folder: Path, ran: Ended, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], said: str
) -> None:
    """Without the package, or without a file, one line says what is missing, and no file is made."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.chdir(folder)
    code, out, err = ran("export", folder, "--format", "parquet", *options)

    assert (78, "", 1) == (code, out, len(err.splitlines()))
    assert said in err
    assert not (folder / "rows.parquet").exists()


@pytest.mark.parametrize(
    ("out", "code", "why"),
    [("missing/rows.csv", 78, "No such file or directory"), ("/dev/full", 74, "No space left on device")],
)
def test_a_file_that_cannot_be_written_is_named(
    folder: Path, ran: Ended, out: str, code: int, why: str
) -> None:
    """The error names the output file, not the archive; the error of a full disk itself names no file."""
    path = folder / out

    assert (code, "", f"oddsboard: {path}: {why}\n") == ran("export", folder, "--out", path)


def test_an_export_without_rows_says_so(folder: Path, ran: Ended) -> None:
    """A misspelled bookmaker has no row: a table with only a head would tell the user nothing."""
    code, out, err = ran("export", folder, "--bookmaker", "adler")

    assert (0, 1) == (code, len(out.splitlines()))
    assert f"oddsboard: no row; oddsboard archive info {folder} lists the times that there are\n" == err


def test_an_export_into_a_file_shows_its_progress(
    folder: Path, ran: Ended, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The progress is shown on a terminal, until all rows are written."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    code, _, err = ran("export", folder, "--out", folder / "rows.csv")

    assert 0 == code
    assert err.endswith(f"\r[{'#' * 30}] 100%\n")


def test_a_file_that_is_there_is_overwritten_if_that_is_asked_for(folder: Path, ran: Ended) -> None:
    """Without `--force` an existing file is kept, so that no file is lost by mistake."""
    out = folder / "rows.csv"
    out.write_text("something else", "ascii")
    refused, _, err = ran("export", folder, "--out", out)
    kept_text = out.read_text("ascii")
    forced, _, _ = ran("export", folder, "--out", out, "--force")

    assert (78, "something else", 0) == (refused, kept_text, forced)
    assert f"--out was {out}, which is there already; --force overwrites it" in err
    assert out.read_text("utf-8").startswith("version,")


def test_an_export_that_fails_leaves_what_was_there(folder: Path, ran: Ended) -> None:
    """Until the export is complete its file has a temporary name; after an error that file is removed."""
    out = folder / "rows.csv"
    out.write_text("before", "ascii")
    newest = folder / "2026-05-29.db"
    newest.write_bytes(newest.read_bytes()[:8192])
    code, _, _ = ran("export", folder, "--out", out, "--force")

    assert (78, [out], "before") == (code, [*folder.glob("rows.csv*")], out.read_text("ascii"))


def test_the_query_of_the_documents_gives_the_prices(tmp_path: Path) -> None:
    """The query also gives prices that are no whole thousandths, and marks the rows of a whole state."""
    prices, clock = (2.05, 3.0000000001, 4.0), ManualClock(wall=1_780_012_790.0)  # 10 s before midnight
    with kept(tmp_path, clock) as life:
        version = life.put("m1", prices=prices)
        clock.pass_(20)
        life.put("m1", "m2", prices=prices)
        life.put("m1", "m2", "m3", prices=prices)
    sql = (block for block in blocks(document("docs/archive.md")) if block.language == "sql")
    query = next(block for block in sql if any("FROM changes" in line for line in block.lines))
    found = []
    for day in ("2026-05-28", "2026-05-29"):
        connection = sqlite3.connect(tmp_path / f"{day}.db")
        found.append(connection.execute("\n".join(query.lines)).fetchall())
        connection.close()

    about = ("Home", "Away", *prices)
    assert [
        [(version, "alder_m1", *about, 0), (version + 1, "alder_m2", *about, 0)],
        [
            (version + 1, "alder_m1", *about, 1),
            (version + 1, "alder_m2", *about, 1),
            (version + 2, "alder_m3", *about, 0),
        ],
    ] == found


def test_seal_needs_the_folder_for_itself(folder: Path, ran: Ended) -> None:
    """While a service uses the folder, the exit code is 75."""
    with kept(folder, ManualClock(wall=1_780_100_000.0)):
        in_use, _, err = ran("seal", folder)
    free, _, _ = ran("seal", folder)

    assert (75, 0) == (in_use, free)
    assert "another process uses it" in err


def test_a_day_that_cannot_be_sealed_hinders_no_other(folder: Path, ran: Ended) -> None:
    """The command names the day and does not change it: one look cannot decide that the day is damaged."""
    damaged = folder / "2026-05-27.db"
    damaged.write_bytes(b"damaged")
    code, out, _ = ran("seal", folder)

    assert (65, b"damaged") == (code, damaged.read_bytes())
    assert out.startswith("2026-05-27.db: not sealed: ")


def test_a_backup_of_a_day_is_an_archive(folder: Path, ran: Ended, tmp_path: Path) -> None:
    """The files that the documents say to copy are enough for `check` and `export`."""
    backup = tmp_path / "backup"
    backup.mkdir()
    for path in folder.glob("2026-05-28.*"):
        (backup / path.name).write_bytes(path.read_bytes())
    checked, verdict, _ = ran("check", backup)
    exported, rows, _ = ran("export", backup)

    assert (0, "2026-05-28.db: ok\n") == (checked, verdict)
    assert (0, 7) == (exported, len(rows.splitlines()))


def test_another_folder_is_no_archive(tmp_path: Path, ran: Ended) -> None:
    """One line says that the folder is not the folder of an archive."""
    code, out, err = ran("info", tmp_path)

    assert (78, "") == (code, out)
    assert "is not the folder of an archive" in err
