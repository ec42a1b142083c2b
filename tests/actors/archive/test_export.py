"""An export begins with a whole state: from any beginning a reader can play back each list as it was."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from actors.archive.export import COLUMNS, MARKET_COLUMNS, Chosen, Values, rows, write_csv
from actors.archive.folder import Folder
from actors.core.messages import BookmakerId
from actors.markets.market import parsed
from tests.support.archive.kept import ALDER, BIRCH, OTHERS, Kept, kept, shown
from tests.support.time.virtual import ManualClock

BEGAN_MS = 1_780_000_000_000
DAY_MS = 86_400_000
MIDNIGHT_MS = BEGAN_MS // DAY_MS * DAY_MS + DAY_MS


def _lists(some: list[Values]) -> dict[int, dict[str, object]]:
    """Play rows back: return the prices by id after each version. A whole state replaces all prices."""
    shown: dict[str, object] = {}
    found: dict[int, dict[str, object]] = {}
    state: object = None
    for row in some:
        if row["kind"] == "state" and state != row["version"]:
            state, shown = row["version"], {}
        if row["kind"] == "removed":
            shown.pop(str(row["id"]), None)
        elif row["id"] is not None:
            shown[str(row["id"])] = row["odds_1"]
        assert isinstance(row["version"], int)
        found[row["version"]] = dict(shown)
    return found


def exported(folder: Path, from_ms: int = 0, bookmaker: BookmakerId | None = None) -> list[Values]:
    """Return the rows of an export."""
    return [*rows(Folder.reading(folder), Chosen(from_ms, 2**60, bookmaker), lambda _: None)]


def _three_days(folder: Path) -> list[tuple[int, int]]:
    """Archive versions on three days, a few with empty lists; return each version and its time."""
    clock, found = ManualClock(), list[tuple[int, int]]()

    def put(life: Kept, *names: str, bookmaker: str = ALDER, price: float = 2.0) -> None:
        version = life.put(*names, bookmaker=bookmaker, prices=(price, 3.5, 4.0))
        found.append((version, round(clock.wall * 1000)))

    with kept(folder, clock) as life:
        for day in range(3):
            put(life, "m1", "m2", price=2.1 + day)
            put(life, "m3", bookmaker=BIRCH)
            put(life, "m2", price=2.2 + day)
            put(life, price=2.2)
            put(life, "m4", "m2", price=2.3 + day)
            put(life, bookmaker=BIRCH)
            life.board.current()
            clock.pass_(50.0)
            put(life, "m4", "m2", price=2.4 + day)
            clock.pass_(DAY_MS / 1000 - 50.0)
            put(life, "m4", price=2.5 + day)
            life.write(5)
    return found


@pytest.mark.parametrize("bookmaker", [None, BIRCH])
@pytest.mark.parametrize("at_most_ms", [0, 1])
def test_an_export_from_any_time_has_all_lists(
    tmp_path: Path, at_most_ms: int, bookmaker: BookmakerId | None
) -> None:
    """From just before, at or after each commit, or midnight, the lists equal those of a whole export."""
    times = _three_days(tmp_path)
    whole = _lists(exported(tmp_path, bookmaker=bookmaker))
    for _, at_ms in [*times, (0, MIDNIGHT_MS)]:
        for from_ms in (at_ms - at_most_ms, at_ms + at_most_ms):
            part = _lists(exported(tmp_path, from_ms, bookmaker))

            assert {version: whole[version] for version in part if version in whole} == {
                version: shown for version, shown in part.items() if version in whole
            }
            before = [version for version in whole if version <= min(part, default=0)]
            assert not part or next(iter(part.values())) == (whole[before[-1]] if before else {})
            assert {version for version in whole if version > min(part, default=2**60)} <= part.keys()


@pytest.mark.parametrize("how", ["removed", "set aside"])
def test_after_a_day_that_is_missing_the_whole_state_comes_again(tmp_path: Path, how: str) -> None:
    """Entries that left on the missing day are not shown after it."""
    _three_days(tmp_path)
    whole = _lists(exported(tmp_path))
    second = sorted(tmp_path.glob("*.db"))[1]
    first = exported(tmp_path)[0]
    second.unlink() if how == "removed" else second.rename(f"{second}.bad")
    second.with_suffix(".sum").unlink()
    part = _lists(exported(tmp_path))

    assert {version: whole[version] for version in part} == part
    assert max(whole) in part
    assert 5 < len(part) < len(whole)
    assert first == exported(tmp_path)[0]


def test_a_whole_state_that_shows_nothing_is_told(tmp_path: Path) -> None:
    """If all entries left in a gap, the whole state after the gap is one row without an id."""
    with kept(tmp_path, ManualClock()) as life:
        life.put("m1")
        life.archive.writer.max_waiting = 0
        lost = life.put()
        life.archive.writer.max_waiting = 1000
        life.put(bookmaker=BIRCH)
    (row,) = [row for row in exported(tmp_path) if row["kind"] == "state"]

    assert (lost, None, None) == (row["version"], row["id"], row["reason"])
    assert {} == _lists(exported(tmp_path))[lost]


def test_a_clock_that_was_set_back_leaves_nothing_out(tmp_path: Path) -> None:
    """The export has all versions up to the newest one in the asked time, whatever their own times are."""
    clock = ManualClock()
    with kept(tmp_path, clock) as life:
        first = life.put("m1")
        clock.wall += 100
        second = life.put("m2")
        clock.wall -= 90
        end_ms = round(clock.wall * 1000) + 2_000
        third = life.put("m3")
    chosen = Chosen(0, end_ms)
    found = [row["version"] for row in rows(Folder.reading(tmp_path), chosen, lambda _: None)]

    assert {first, second, third} == {*found}


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r", "\uff1d"])
def test_no_text_of_a_csv_is_a_formula(begin: str) -> None:
    """A text that a spreadsheet would run gets a leading quote; numbers and other texts are unchanged."""
    text, out = f'{begin}HYPERLINK("http://a.example","x")', StringIO(newline="")
    row: Values = dict.fromkeys(COLUMNS) | {"home": text, "away": "'s-Gravenzande", "odds_1": -1.5}
    write_csv(iter([row]), out)
    out.seek(0)
    (read,) = csv.DictReader(out)

    assert ("'" + text, "'s-Gravenzande", "-1.5") == (read["home"], read["away"], read["odds_1"])


def test_an_export_of_all_markets_has_a_row_a_price(tmp_path: Path) -> None:
    """Rows from any time give all prices at each version; without `--markets` there are no such rows."""
    clock, versions = ManualClock(), list[int]()
    with kept(tmp_path, clock, OTHERS) as life:
        versions.append(life.put("m1", "m2", goals=(1.9, 2.0)))
        versions.append(life.put("m1", goals=(1.9, 2.1), handicap=(1.8, 2.2)))
        versions.append(life.put("m3", bookmaker=BIRCH, chance=(1.2, 1.3, 1.9)))
        clock.pass_(40_000)
        versions.append(life.put("m1", bookmaker=BIRCH, btts=(1.7, 2.2)))
        found = [shown(tmp_path, version) for version in versions]
    played = _played(_priced(tmp_path))
    for from_ms in {round(float(str(row["time"])) * 1000) for row in _priced(tmp_path)}:
        part = _played(_priced(tmp_path, from_ms=from_ms))
        assert {version: played[version] for version in part} == part
        assert versions[-1] in part

    for version, of in zip(versions, found, strict=True):
        others = {
            (*entry_id.split(" "), outcome): odds
            for entry_id, all_odds in of.items()
            for outcome, odds in zip(_outcomes(entry_id), all_odds, strict=True)
        }
        assert others == {key: odds for key, odds in played[version].items() if key[1] != "1x2"}
        assert {"1", "X", "2"} == {key[2] for key in played[version] if key[1] == "1x2"}
    assert {"alder", "birch"} == {row["bookmaker"] for row in _priced(tmp_path) if row["bookmaker"]}
    assert {"birch"} == {row["bookmaker"] for row in _priced(tmp_path, BIRCH) if row["id"]}
    assert {COLUMNS} == {tuple(row) for row in exported(tmp_path)}


def _played(some: list[Values]) -> dict[int, dict[tuple[Any, ...], Any]]:
    """Return the prices of all markets after each version, as `_lists` does for 1X2."""
    found: dict[int, dict[tuple[Any, ...], Any]] = {}
    prices: dict[tuple[Any, ...], Any] = {}
    state: object = None
    for row in some:
        assert MARKET_COLUMNS == tuple(row)
        if row["kind"] == "state" and state != row["version"]:
            state, prices = row["version"], {}
        key = row["id"], row["market"], row["outcome"]
        prices[key] = row["odds"]
        assert isinstance(row["version"], int)
        found[row["version"]] = {key: odds for key, odds in prices.items() if odds is not None}
    return found


def _priced(folder: Path, bookmaker: BookmakerId | None = None, from_ms: int = 0) -> list[Values]:
    chosen = Chosen(from_ms, 2**60, bookmaker, all_markets=True)
    return [*rows(Folder.reading(folder), chosen, lambda _: None)]


def _outcomes(entry_id: str) -> tuple[str, ...]:
    return parsed(entry_id.partition(" ")[2]).outcomes
