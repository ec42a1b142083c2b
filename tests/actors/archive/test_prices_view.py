"""The view `prices` of a day's file: all markets in plain numbers, for people who query the file."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from actors.archive.export import MARKET_COLUMNS, Chosen, rows
from tests.support.archive.kept import BIRCH, GOALS, OTHERS, Kept, kept, queried
from tests.support.builders.messages import match
from tests.support.time.virtual import ManualClock

DAY_S = 86_400.0
PRICES = (2.0, 3.5, 4.1 + 1e-9)
"""Two that are stored in thousandths, and one that is stored as it is."""
EVERY = Chosen(0, 2**52, all_markets=True)


def lived(life: Kept) -> None:
    """Archive two days with changes, absences, all forms of prices and times, and other markets."""
    clock = life.clock
    life.put_all([match("m1", prices=PRICES, source_time=clock.wall - 1.5)])
    life.put("m1", "m2", goals=(1.9, 2.0))
    life.put_all([match("m2", source_time=clock.wall - 1 / 3)], BIRCH)
    life.put("m2")
    clock.pass_(DAY_S)
    life.board.current()
    life.put("m1", "m2", goals=(1.9, 2.1))
    life.put("m1")
    life.write()


def test_the_view_has_every_change_that_an_export_has(tmp_path: Path) -> None:
    """The numbers are equal for sealed days and the current day, for 1X2 and other markets."""
    columns = [name for name in MARKET_COLUMNS if name != "kind"]
    with kept(tmp_path, ManualClock(), OTHERS) as life:
        lived(life)
        exported = [*rows(life.archive.folder, EVERY, lambda _: None)]
    days = sorted(tmp_path.glob("*.db"))
    sql = f"SELECT {', '.join(columns)} FROM prices WHERE NOT is_state"  # noqa: S608 - our own columns

    expected = sorted(
        json.dumps([row[name] for name in columns]) for row in exported if row["kind"] != "state"
    )
    assert 2 == len(days)
    assert len(expected) > 20
    assert expected == sorted(json.dumps(row) for day in days for row in queried(day, sql))


def test_of_a_day_without_other_markets_the_view_has_1x2(tmp_path: Path) -> None:
    """The rows of 1X2 have the columns line and kind as well, as the rows of any market do."""
    with kept(tmp_path, ManualClock(), OTHERS) as life:
        version = life.put_all([match("m1", prices=PRICES)])
    (day,) = tmp_path.glob("*.db")
    sql = "SELECT version, market, kind, line, place, outcome, odds, is_state FROM prices ORDER BY place"

    assert [
        (version, "1x2", "1x2", None, place, outcome, price, 0)
        for place, (outcome, price) in enumerate(zip(("1", "X", "2"), PRICES, strict=True), 1)
    ] == queried(day, sql)


def test_both_views_have_the_same_columns(tmp_path: Path) -> None:
    """A query of one view also works on the other view."""
    with kept(tmp_path, ManualClock(), OTHERS) as life:
        life.put("m1", goals=(1.9, 2.0))
    (day,) = tmp_path.glob("*.db")
    with closing(sqlite3.connect(day)) as connection:
        of_all, of_others = (
            [about[0] for about in connection.execute(f"SELECT * FROM {view}").description]  # noqa: S608 - our view
            for view in ("prices", "market_prices")
        )

    assert of_others == of_all
    assert 2 == len(queried(day, f"SELECT * FROM prices WHERE market = '{GOALS}'"))  # noqa: S608 - a constant


@pytest.mark.parametrize("table", ["links", "rosters"])
def test_a_sealed_day_keeps_what_the_consensus_is_made_of(tmp_path: Path, table: str) -> None:
    """The sealed day has the same rows as before it was sealed."""
    clock = ManualClock()
    with kept(tmp_path, clock, OTHERS) as life:
        life.put("m1")
        life.put("m1", "m2", bookmaker=BIRCH)
        (day,) = tmp_path.glob("*.db")
        before = queried(day, f"SELECT * FROM {table}")  # noqa: S608 - our own table
        clock.pass_(DAY_S)
        life.put("m1")
        life.write()

    assert day.with_suffix(".sum").exists()
    assert before
    assert [*before] == queried(day, f"SELECT * FROM {table}")[: len(before)]  # noqa: S608 - our own table
