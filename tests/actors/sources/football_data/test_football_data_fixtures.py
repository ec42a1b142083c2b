"""football-data.co.uk rows: kick-offs in London time, finished matches, leagues, and ids."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.board.board import Board
from actors.board.snapshot import RemovalReason, Snapshot
from actors.board.validity import BoardRules
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.validation import Reason
from actors.source_api.match_ids import match_id_of
from actors.sources.football_data.fixtures import LEAGUES
from tests.support.builders.boards import START
from tests.support.builders.football_data import COLUMNS, ROW, changed, csv_bytes, judged, shown
from tests.support.builders.messages import BOOKMAKER

NAMES = st.text(max_size=12) | st.text("aA-~.% 2E_é", max_size=60)
FIXTURES = st.tuples(NAMES, NAMES, NAMES, NAMES)


def _start(date: str, time: str) -> datetime | None:
    (match,) = shown(csv_bytes(changed(Date=date, Time=time)))
    return None if match.start_time is None else datetime.fromtimestamp(match.start_time, UTC)


def _id(**cells: str) -> str:
    (match,) = shown(csv_bytes(changed(**cells)))
    return match.source_match_id


def test_kick_off_is_london_wall_time() -> None:
    """Every kick-off is in Europe/London time, an hour ahead of UTC in summer; no time means unknown."""
    for date, time, start in [
        ("14/02/2026", "15:00", datetime(2026, 2, 14, 15, 0, tzinfo=UTC)),
        ("15/08/2026", "15:00", datetime(2026, 8, 15, 14, 0, tzinfo=UTC)),
        ("28/03/2026", "23:59", datetime(2026, 3, 28, 23, 59, tzinfo=UTC)),
        ("29/03/2026", "00:59", datetime(2026, 3, 29, 0, 59, tzinfo=UTC)),
        ("29/03/2026", "02:00", datetime(2026, 3, 29, 1, 0, tzinfo=UTC)),
        ("25/10/2026", "00:30", datetime(2026, 10, 24, 23, 30, tzinfo=UTC)),
        ("25/10/2026", "02:00", datetime(2026, 10, 25, 2, 0, tzinfo=UTC)),
        ("14/02/26", "15:00", datetime(2026, 2, 14, 15, 0, tzinfo=UTC)),
        ("04/09/93", "15:00", datetime(1993, 9, 4, 14, 0, tzinfo=UTC)),
        ("1/2/2026", "9:05", datetime(2026, 2, 1, 9, 5, tzinfo=UTC)),
        ("29/02/2028", "00:00", datetime(2028, 2, 29, tzinfo=UTC)),
        ("14/02/2026", "", None),
        ("14/02/2026", " ", None),
    ]:
        assert _start(date, time) == start, (date, time)


def test_match_without_a_time_ends_with_its_day() -> None:
    """A match without a time has an unknown start, at the latest the end of that day in London."""
    for date, end in [
        ("14/02/2026", datetime(2026, 2, 15, tzinfo=UTC)),
        ("15/08/2026", datetime(2026, 8, 15, 23, tzinfo=UTC)),
        ("29/03/2026", datetime(2026, 3, 29, 23, tzinfo=UTC)),
        ("25/10/2026", datetime(2026, 10, 26, tzinfo=UTC)),
        ("31/12/26", datetime(2027, 1, 1, tzinfo=UTC)),
    ]:
        (match,) = shown(csv_bytes(changed(Date=date, Time="")))

        assert (None, int(end.timestamp())) == (match.start_time, match.latest_start), (date, end)


IMPOSSIBLE = (
    *("31/02/2026", "29/02/2027", "00/01/2026", "14/13/2026", "14/02/202", "14/02/20266", "14/02/0000"),
    *("2026-02-14", "14.02.2026", "14/02/2026 15:00", "Saturday", "#", "-1/02/2026", "01/01/9999"),
    *("", "\u0661\u0664/02/2026", "1" * 5000, "14/02/2126", "01/01/0001", "31/12/9999"),
)


def test_impossible_date_is_rejected() -> None:
    """A row with an impossible day is rejected and counted, with a time or without."""
    for date, time in product(IMPOSSIBLE, ("15:00", "")):
        admission = judged(csv_bytes(changed(Date=date, Time=time), ROW))

        assert [match.home for match in admission.batch.matches] == ["Alder Town"], (date, time)
        assert dict(admission.rejected) == {Reason.START_TIME: 1}, (date, time)


def test_impossible_time_is_rejected() -> None:
    """An unreadable start is not an unknown one: the match becomes a removal with its own id."""
    for time in (
        *("24:00", "15:60", "99:99", "15", "15:0", "15:00:00", "3pm", "-1:00", "15.00", "#", "15:00Z"),
        "\u0661\u0665:\u0660\u0660",
    ):
        admission = judged(csv_bytes(changed(Time=time)))

        assert (admission.batch.matches, dict(admission.rejected)) == ((), {Reason.START_TIME: 1}), time
        assert [removal.source_match_id for removal in admission.batch.removals] == [_id()], time


def test_match_with_a_result_is_over() -> None:
    """If the cells of the goals have a value, even 0, the match is over: not listed, and no error."""
    for goals, listed in [("", 1), (" ", 1), ("0", 0), ("3", 0)]:
        for column in ["FTHG", "HG"]:
            admission = judged(csv_bytes((*ROW, goals), header=(*COLUMNS, column)))

            assert (len(admission.batch.matches), dict(admission.rejected)) == (listed, {}), (goals, listed)


@pytest.mark.parametrize("prices", [ROW[5:], ("", "", "")])
def test_match_that_gets_its_result_leaves_as_finished(prices: tuple[str, ...]) -> None:
    """With or without prices, its removal has the reason `finished`, not that of a missing offer."""
    header = (*COLUMNS, "FTHG")
    snapshot = Snapshot.empty(1, (BOOKMAKER,))
    for row in ((*ROW, ""), (*ROW[:5], *prices, "2")):
        board = Board(snapshot, BoardRules())
        run_now(board.apply(judged(csv_bytes(row, header=header)).batch, Instant(0.0, 0.0)))
        snapshot = run_now(board.finish(START))

    assert {_id(): RemovalReason.FINISHED} == snapshot.differences[BOOKMAKER].reasons


def test_division_is_shown_by_its_name() -> None:
    """A code without a known name is shown unchanged, and an empty one as unknown."""
    for division, league in [
        *LEAGUES.items(),
        ("E0", "Premier League"),
        ("SC0", "Scottish Premiership"),
        ("Q9", "Q9"),
        ("", None),
    ]:
        assert [match.league for match in shown(csv_bytes(changed(Div=division)))] == [league], division


def test_id_is_that_of_division_day_and_teams() -> None:
    """A corrected time or another spelling of the date is the same match."""
    for cells in [{"Time": "17:45"}, {"Time": ""}, {"Date": "14/2/26"}, {"B365H": "2.2"}]:
        assert _id(**cells) == _id(), cells
    for cells in [
        *({"Div": "YY"}, {"Date": "15/02/2026"}, {"HomeTeam": "Alder City"}, {"AwayTeam": "Birch"}),
        {"HomeTeam": "Birch United", "AwayTeam": "Alder Town"},
        {"HomeTeam": "Alder", "AwayTeam": "Town-Birch United"},
        *({"HomeTeam": "Alder.Town"}, {"HomeTeam": "alder town"}),
    ]:
        assert _id(**cells) != _id(), cells


def test_id_is_the_same_in_every_release() -> None:
    """Clients store ids, so the test has a fixed plain id and a fixed shortened one."""
    for fixture, match_id in [
        (("E0", "20260214", "Nott'm Forest", "Man United"), "E0-20260214-Nott~27m.Forest-Man.United"),
        (
            ("Türkiye Süper Lig", "20260214", "a-b", "é"),
            "T~C3~BCrkiye.S~C3~BCper.Lig-20260214-a~2Db-~C3~A9",
        ),
        (
            ("XX", "20260214", "é" * 20, "Birch United"),
            f"XX-20260214-{'~C3~A9' * 15}~~5de4ba98d1b06598b1872f22",
        ),
    ]:
        assert match_id == match_id_of(*fixture), (fixture, match_id)


@given(FIXTURES, FIXTURES)
@example(("E0", "20260214", "a" * 127, "b"), ("E0", "20260214", "a" * 127, "c"))
@example(("E0", "1", "a b", "c"), ("E0", "1", "a", "b c"))
@example(("", "", "", ""), ("E0", "20260214", "é" * 128, "\U0001f3c0" * 128))
def test_different_fixtures_have_different_ids(
    row: tuple[str, str, str, str], other: tuple[str, str, str, str]
) -> None:
    """No two share an id, which has a valid form, however long or similar their names are."""
    first, second = match_id_of(*row), match_id_of(*other)

    assert (first == second) == (row == other)
    assert all(re.fullmatch(r"[A-Za-z0-9._~-]{1,128}", match_id) for match_id in (first, second))
