"""Other markets than 1X2 in the archive: beside the lists, with the same versions and the same promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.archive.checking import verdicts
from actors.archive.days.reading import Reader, Row
from actors.archive.folder import Folder
from actors.archive.past import Elsewhere, Listed
from actors.markets.market import Kind, parsed
from tests.support.archive.kept import (
    ALDER,
    BIRCH,
    GOALS,
    HANDICAP,
    OTHERS,
    gaps_of,
    kept,
    left,
    listed,
    queried,
    rows_of,
    shown,
)
from tests.support.builders.messages import match
from tests.support.documents import blocks, document
from tests.support.time.virtual import ManualClock


def sql_blocks() -> list[str]:
    """Return the SQL queries in docs/archive.md."""
    found = blocks(document("docs/archive.md"))
    return ["\n".join(block.lines) for block in found if block.language == "sql"]


def test_a_market_alone_is_a_version_and_no_version_of_the_list(tmp_path: Path) -> None:
    """Asked for that version, the archive refers to the version of the 1X2 list, which did not change."""
    with kept(tmp_path, ManualClock(), OTHERS) as life:
        first = life.put("m1", goals=(1.9, 2.0))
        second = life.put("m1", goals=(1.95, 2.0))
        third = life.put("m1", "m2", goals=(1.95, 2.0))
        found = [life.days.at_version(None, version) for version in (first, second, third)]
        since = life.days.changes(None, first, third)

    assert (first + 1, first + 2) == (second, third)
    assert isinstance(found[0], Listed)
    assert Elsewhere(first) == found[1]
    assert isinstance(found[2], Listed)
    assert since is not None
    assert ["alder_m2"] == [of.id for of in since]
    assert {f"alder_m1 {GOALS}": (1.9, 2.0)} == shown(tmp_path, first)
    assert {f"alder_m1 {GOALS}": (1.95, 2.0)} == shown(tmp_path, second)
    assert {f"alder_{name} {GOALS}": (1.95, 2.0) for name in ("m1", "m2")} == shown(tmp_path, third)
    assert [] == gaps_of(tmp_path)


def test_a_market_leaves_with_its_reason(tmp_path: Path) -> None:
    """A market is withdrawn while its match stays, and it leaves as stale when its list is stale."""
    with kept(tmp_path, ManualClock(), OTHERS) as life:
        life.put("m1", goals=(1.9, 2.0), btts=(1.7, 2.2))
        went = life.put("m1", btts=(1.7, 2.2))
        life.clock.pass_(61)
        life.board.current()
        life.archive.writer.step()
        stale = life.board.newest.version

    assert [(f"alder_m1 {GOALS}", went, "withdrawn"), ("alder_m1 btts", stale, "stale")] == left(tmp_path)


def test_a_day_that_an_earlier_release_began_goes_on(tmp_path: Path) -> None:
    """From its first other market on, a day has another format; its older part can still be read.

    Until then its tables and format are those of earlier releases, even if sources may list other markets.
    """
    clock = ManualClock()
    with kept(tmp_path, clock, OTHERS) as life:
        first = life.put("m1")
    (day,) = tmp_path.glob("*.db")
    assert [(1,)] == queried(day, "PRAGMA user_version")
    assert [] == queried(day, "SELECT name FROM sqlite_master WHERE name LIKE 'market%' OR name = 'offers'")
    assert '"format":1,' in (tmp_path / "versions.json").read_text()
    with kept(tmp_path, clock, OTHERS) as life:
        second = life.put("m1", handicap=(1.8, 2.1))
        ids = [life.days.at_version(None, version) for version in (first,)]
    (day,) = tmp_path.glob("*.db")

    assert [(2,)] == queried(day, "PRAGMA user_version")
    assert isinstance(ids[0], Listed)
    assert ({}, {f"alder_m1 {HANDICAP}": (1.8, 2.1)}) == (shown(tmp_path, first), shown(tmp_path, second))


def test_sqlite_reads_prices_as_they_are(tmp_path: Path) -> None:
    """No arithmetic is needed: a price is a row with decimal odds, line in goals, version and Unix time."""
    clock = ManualClock()
    with kept(tmp_path, clock, OTHERS) as life:
        of = match("m1", source_time=clock.wall - 1.5)
        version = life.put_all(listed(of, {"handicap": (1.8, 2.1 + 1e-9), "chance": (1.2, 1.3, 1.9)}))
        at = clock.wall
    (day,) = tmp_path.glob("*.db")
    columns = "version, time, id, market, kind, line, outcome, odds, updated, source_time"
    sql = f"SELECT {columns} FROM market_prices"  # noqa: S608 - columns of the line above

    about = (of.source_time, of.source_time)
    handicap = (version, at, "alder_m1", HANDICAP, "asian_handicap", -0.75)
    chance = (version, at, "alder_m1", "double_chance", "double_chance", None)
    assert {
        (*handicap, "home", 1.8, *about),
        (*handicap, "away", 2.1 + 1e-9, *about),
        (*chance, "1X", 1.2, *about),
        (*chance, "12", 1.3, *about),
        (*chance, "X2", 1.9, *about),
    } == {*queried(day, sql)}


def test_the_query_of_the_documents_gives_the_prices(tmp_path: Path) -> None:
    """The query gives a row for each price of a kind, by line and outcome, and for each removed price."""
    with kept(tmp_path, ManualClock(), OTHERS) as life:
        first = life.put("m1", goals=(1.9, 2.0), btts=(1.7, 2.2))
        second = life.put("m1", btts=(1.7, 2.2))
    (day,) = tmp_path.glob("*.db")
    (query,) = (of for of in sql_blocks() if "over_under" in of)

    over, under = ("over_under", 2.5, "over"), ("over_under", 2.5, "under")
    assert [
        (first, "alder_m1", "Home", *over, 1.9, None),
        (first, "alder_m1", "Home", *under, 2.0, None),
        (second, "alder_m1", None, *over, None, "withdrawn"),
        (second, "alder_m1", None, *under, None, "withdrawn"),
    ] == [(row[0], row[3], row[4], *row[7:12]) for row in queried(day, query)]


def test_a_sealed_day_has_the_same_markets(tmp_path: Path) -> None:
    """Rows are in the order of offers, with a digest; the next day begins with the whole state."""
    clock = ManualClock()
    with kept(tmp_path, clock, OTHERS) as life:
        versions = [life.put("m1", goals=(1.9 + n / 100, 2.0), btts=(1.7, 2.2)) for n in range(4)]
        before = [shown(tmp_path, version) for version in versions]
        rows = rows_of(tmp_path)
        clock.pass_(86_400)
        after = life.put("m1", goals=(2.5, 1.5))
        life.write(5)
        sealed, live = sorted(tmp_path.glob("*.db"))
        with Reader.open(sealed, is_written=False) as reader:
            assert reader.is_sealed

    assert before == [shown(tmp_path, version) for version in versions]
    assert sorted(rows, key=_key) == sorted(rows_of(tmp_path), key=_key)[: len(rows)]
    assert {f"alder_m1 {GOALS}": (2.5, 1.5)} == shown(tmp_path, after)
    assert queried(live, "SELECT * FROM outcomes") == queried(sealed, "SELECT * FROM outcomes")
    assert [None, None] == [verdict.fault for verdict in verdicts(Folder.reading(tmp_path))]


def test_markets_are_the_same_by_marks(tmp_path: Path) -> None:
    """Markets are right before, at and after a mark, also markets from before the previous mark."""
    with kept(tmp_path, ManualClock(), OTHERS) as life:
        life.put("m1", bookmaker=BIRCH, goals=(1.9, 2.0))
        life.archive.writer.marked_after = 3
        versions = [life.put("m1", goals=(1.9 + n / 100, 2.0), btts=(1.7 + n / 100, 2.2)) for n in range(5)]
    (day,) = tmp_path.glob("*.db")

    of_birch = {f"birch_m1 {GOALS}": (1.9, 2.0)}
    assert [
        {f"alder_m1 {GOALS}": (1.9 + n / 100, 2.0), "alder_m1 btts": (1.7 + n / 100, 2.2)} | of_birch
        for n in range(5)
    ] == [shown(tmp_path, version) for version in versions]
    assert 1 < len(queried(day, "SELECT DISTINCT mark FROM market_marks"))


def test_after_a_gap_the_whole_state_has_all_markets(tmp_path: Path) -> None:
    """The whole state has also the markets of bookmakers for which no commit was lost."""
    with kept(tmp_path, ManualClock(), OTHERS) as life:
        life.put("m1", bookmaker=BIRCH, goals=(1.9, 2.0))
        life.archive.writer.max_waiting = 0
        lost = life.put("m1", goals=(1.8, 2.1))
        life.archive.writer.max_waiting = 1000
        after = life.put("m1", goals=(1.7, 2.1))
    of_birch = {f"birch_m1 {GOALS}": (1.9, 2.0)}

    assert of_birch | {f"alder_m1 {GOALS}": (1.8, 2.1)} == shown(tmp_path, lost)
    assert of_birch | {f"alder_m1 {GOALS}": (1.7, 2.1)} == shown(tmp_path, after)
    assert ["lost"] == gaps_of(tmp_path)


def test_what_is_listed_weighs_in_the_queue(tmp_path: Path) -> None:
    """Each listed market counts in the queue, whether it is 1X2 or another market."""
    with kept(tmp_path, ManualClock(), OTHERS) as life:
        life.put("m1")
        life.clock.pass_(1)
        life.board.put(ALDER, *listed(match("m1"), {"goals": (1.9, 2.0), "btts": (1.7, 2.2)}))

        assert 3 == life.archive.writer.waiting


def test_a_market_alone_that_is_not_reserved_begins_an_epoch(tmp_path: Path) -> None:
    """No version is used twice on any board; the lists of all kinds move to the new epoch together."""
    with kept(tmp_path, ManualClock(), OTHERS) as life:
        first = life.put("m1", goals=(1.9, 2.0))
        epoch, boards = life.board.newest.epoch, life.board.boards.values()
        life.archive.writer.reserved_until = first
        life.clock.pass_(1)
        life.board.put(ALDER, *listed(match("m1"), {"goals": (1.9, 2.1)}))
        second = life.board.newest_of_any.version
        begun = {board.newest.epoch for board in boards}
        life.clock.pass_(1)
        life.board.put(ALDER, *listed(match("m1"), {"goals": (1.9, 2.2), "btts": (1.7, 2.2)}))
        third = life.board.newest_of_any.version
        fourth = life.put("m1", "m2", goals=(1.9, 2.2))
    (day,) = tmp_path.glob("*.db")
    with Reader.open(day, is_written=True) as reader:
        epochs = [reader.epoch(version) for version in (first, second, third, fourth)]

    assert 1 == len(begun)
    assert [epoch, *[*begun] * 3] == epochs
    assert begun == {board.newest.epoch for board in boards} != {epoch}


def test_a_board_that_breaks_leaves_the_list_archived(tmp_path: Path) -> None:
    """The 1X2 list that readers could already see is written, and the next commit goes on after it."""

    def fail(_: object) -> None:
        raise RuntimeError("of another reader")

    with kept(tmp_path, ManualClock(), OTHERS) as life:
        life.put("m1", goals=(1.9, 2.0))
        broken = life.board.boards[Kind.OVER_UNDER]
        broken.admit = fail  # type: ignore[assignment]
        with pytest.raises(RuntimeError):
            life.put("m1", "m2", goals=(1.9, 2.1))
        broken.admit = lambda new: new
        version = life.put("m1", "m2", goals=(1.9, 2.2))
        ids = life.days.at_version(None, version - 1)

    assert isinstance(ids, Listed)
    assert ["alder_m1", "alder_m2"] == [of.id for of in ids.entries]
    assert [] == gaps_of(tmp_path)


def _key(row: Row) -> tuple[int, str]:
    return row.past.version, row.past.id


def test_a_market_that_stays_over_midnight_is_told_once(tmp_path: Path) -> None:
    """The whole state at the beginning of a day is not a change of the market."""
    with kept(tmp_path, ManualClock(), OTHERS) as life:
        for over in (1.9, 1.8):
            first = match("m1").of_market(parsed(GOALS), (over, 2.0))
            life.put_all([match("m1"), first], stale_after_s=1e6)
        life.clock.pass_(13_000)
        life.put_all([match("m1", prices=(2.2, 3.4, 3.9)), first], stale_after_s=1e6)
        told = life.days.last_of_markets("alder_m1", 8)

    (rows,) = told.values()
    assert [1.8, 1.9] == [row.past.entry.match.odds[0] for row in rows if row.past.entry is not None]
