"""football-data.co.uk: which columns and rows are read, kick-offs in London time, leagues, ids."""

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
from actors.core.errors import PayloadError
from actors.core.validation import Reason
from actors.source_api.match_ids import match_id_of
from actors.sources.football_data.fixtures import LEAGUES
from actors.sources.football_data.kind import KIND, FootballDataOptions, check_key
from tests.support.builders.boards import START
from tests.support.builders.football_data import COLUMNS, ROW, changed, csv_bytes, extracted, judged, shown
from tests.support.builders.messages import BOOKMAKER

COLLIDING = dict(
    re.findall(
        r"(\S+)=(\S+)",
        "BFH=2.02 BFD=3.02 BFA=4.02 BFDH=2.03 BFDD=3.03 BFDA=4.03 BFEH=2.04 BFED=3.04 BFEA=4.04 "
        "VCH=2.05 VCD=3.05 VCA=4.05 B365H=2.06 B365D=3.06 B365A=4.06 BVH=2.07 BVD=3.07 BVA=4.07 "
        "BFCH=9.1 BFCD=9.2 BFCA=9.3 VCCH=9.4 VCCD=9.5 VCCA=9.6 B365AHH=9.7 B365AHA=9.8 B365>2.5=9.9 AHh=-1",
    )
)
PRICES = {
    "BF": (2.02, 3.02, 4.02),
    "BFD": (2.03, 3.03, 4.03),
    "BFE": (2.04, 3.04, 4.04),
    "VC": (2.05, 3.05, 4.05),
    "B365": (2.06, 3.06, 4.06),
    "BV": (2.07, 3.07, 4.07),
}
CELLS = {**dict(zip(COLUMNS[1:5], ROW[1:5], strict=True)), **COLLIDING}


def _suggested(error: PayloadError) -> str:
    _, found, name = str(error).partition("; did you mean ")
    return found + name


@given(st.permutations(sorted(CELLS)))
def test_columns_are_found_by_their_whole_name_in_any_order(names: list[str]) -> None:
    """A bookmaker's prices are in its three columns, in any position and beside any similar names."""
    body = csv_bytes(("XX", *(CELLS[name] for name in names)), header=("Div", *names))

    assert {key: [match.prices for match in shown(body, key)] for key in PRICES} == {
        key: [prices] for key, prices in PRICES.items()
    }


def test_file_without_the_three_columns_is_an_error_of_that_bookmaker() -> None:
    """A prefix, a suffix or another case makes another column; the error names the missing columns."""
    for key, header in [
        ("BF", ("BFDH", "BFDD", "BFDA")),
        ("BFD", ("BFH", "BFD", "BFA")),
        ("VC", ("VCCH", "VCCD", "VCCA")),
        ("B365", ("B365AHH", "B365AHA", "B365>2.5")),
        ("B365", ("B365H", "B365A", "B365AHA")),
        ("B365", ("b365h", "b365d", "b365a")),
    ]:
        body = csv_bytes((*ROW[:5], "2.1", "3.4", "3.6"), header=(*COLUMNS[:5], *header))

        with pytest.raises(PayloadError, match="column not in this file"):
            extracted(body, key)


@pytest.mark.parametrize("source_time", [None, 1_771_000_000.0])
def test_row_becomes_a_match(source_time: float | None) -> None:
    """Teams, league, kick-off and prices come from the row; the source time is the time of the file."""
    (match,) = extracted(csv_bytes(ROW), source_time=source_time).matches

    assert (match.home, match.away, match.league) == ("Alder Town", "Birch United", "XX")
    assert (match.start_time, match.prices) == (1_771_081_200, (2.1, 3.4, 3.6))
    assert match.source_time == source_time


def test_prices_of_a_file_may_be_of_any_age() -> None:
    """The site makes a new file only now and then, so its prices count as collected."""
    assert extracted(csv_bytes(ROW)).is_collected


@pytest.mark.parametrize(
    "body",
    [
        csv_bytes(ROW, end="\n"),
        csv_bytes(ROW, end="\r"),
        csv_bytes(ROW).rstrip(),
        b"\xef\xbb\xbf" + csv_bytes(ROW),
        csv_bytes(("",) * 8, ROW, (), (" ",) * 3, ("",) * 40),
        csv_bytes((*ROW, "", ""), header=(*COLUMNS, "", " ")),
        csv_bytes((*ROW, '"Oliver, M"'), header=(*COLUMNS, "Referee")),
        csv_bytes((*ROW, "9.1", "9.2"), header=(*COLUMNS, "B365H", "HomeTeam")),
        csv_bytes(tuple(f" {cell} " for cell in ROW), header=tuple(f"{name} " for name in COLUMNS)),
        csv_bytes(tuple(f'"{cell}"' for cell in ROW), header=tuple(f'"{name}"' for name in COLUMNS)),
    ],
    ids=[
        "LF",
        "CR",
        "unended",
        "BOM",
        "blank",
        "unnamed",
        "a comma in a cell",
        "repeated",
        "padded",
        "quoted",
    ],
)
def test_form_of_a_file_does_not_matter(body: bytes) -> None:
    """Line ends, BOM, blank rows, unnamed or repeated columns give the same list."""
    assert shown(body) == shown(csv_bytes(ROW))


@pytest.mark.parametrize(
    ("columns", "key", "league", "start"),
    [
        (
            "Country=Nowhere League=First+Division Time=15:00 Home Away HG AG PSH=2.1 PSD=3.4 PSA=3.6",
            *("PS", "Nowhere First Division", 1_771_081_200),
        ),
        ("Div=XX HT AT FTHG HTHG B365H=2.1 B365D=3.4 B365A=3.6", "B365", "XX", None),
    ],
    ids=["extra leagues", "HT and AT, without a time"],
)
def test_other_files_have_other_columns(columns: str, key: str, league: str, start: int | None) -> None:
    """Columns of leagues and teams have other names; files before 2019/20 have the day only."""
    cells = {name: cell for name, _, cell in (each.partition("=") for each in columns.split())}
    cells |= {"Date": "14/02/2026"}
    cells |= dict(zip(("Home", "Away") if "Home" in cells else ("HT", "AT"), ROW[3:5], strict=True))
    row = tuple(cell.replace("+", " ") for cell in cells.values())
    (match,) = shown(csv_bytes(row, header=tuple(cells)), key)

    assert ("Alder Town", "Birch United") == (match.home, match.away)
    assert (league, start, (2.1, 3.4, 3.6)) == (match.league, match.start_time, match.prices)


def test_prefix_that_is_no_bookmaker_is_refused() -> None:
    """Malformed keys, aggregates and closing prices are refused; the codes of the site are accepted."""
    for key in (
        "B365",
        "BFD",
        "BFE",
        "PS",
        "WH",
        "1XB",
        "BF",
        "VC",
        "BMGM",
        "CL",
        "LB",
        "PP",
        "SKB",
        "ZZC",
    ):
        check_key(key)
    for key in [
        *("", "B365 ", "B365\n", "B365>2", "BÄR", "TOOLONG99"),
        *("Max", "Avg", "BbMx", "BbAv", "MaxC", "AvgC"),
        *("B365C", "PSC", "VCC", "BFEC", "1XBC", "WHC", "PPC", "SKBC"),
    ]:
        with pytest.raises(ValueError, match="key was"):
            check_key(key)


@pytest.mark.parametrize("beside", [("ZZH", "ZZD", "ZZA"), ("ZZA",)])
def test_closing_prices_of_a_bookmaker_of_the_file_are_refused(beside: tuple[str, ...]) -> None:
    """A key names closing prices if the file has columns of the same prefix without the C."""
    header = (*COLUMNS[:5], *beside, "ZZCH", "ZZCD", "ZZCA")
    body = csv_bytes((*ROW[:5], *("2.1",) * len(beside), "1.7", "3.9", "4.8"), header=header)

    with pytest.raises(
        PayloadError, match="key was 'ZZC', which names closing prices; 'ZZ' names the live"
    ):
        extracted(body, "ZZC")


def test_bookmaker_whose_prefix_ends_in_c_is_shown() -> None:
    """Without columns of the shorter prefix, these prices are live, beside the key's own closing prices."""
    header = (*COLUMNS[:5], "ZCH", "ZCD", "ZCA", "ZCCH", "ZCCD", "ZCCA")
    body = csv_bytes((*ROW[:5], "2.1", "3.4", "3.6", "1.7", "3.9", "4.8"), header=header)

    assert [(2.1, 3.4, 3.6)] == [match.prices for match in shown(body, "ZC")]


@pytest.mark.parametrize(
    ("key", "near"),
    [
        pytest.param("zz", "; did you mean 'ZZ'?", id="in another case"),
        pytest.param("zzc", "; did you mean 'ZZ'?", id="not its closing prices"),
        pytest.param("Maxi", "", id="not an aggregate"),
        pytest.param("ZZAH", "; did you mean 'ZZ'?", id="not a handicap"),
        pytest.param("YY", "", id="not a bookmaker without all three columns"),
    ],
)
def test_only_bookmakers_of_the_file_are_suggested(key: str, near: str) -> None:
    """The suggestion for a prefix without columns is an accepted prefix, and never the same one."""
    triples = [f"{prefix}{side}" for prefix in ("ZZ", "ZZC", "Max", "MaxC") for side in "HDA"]
    header = (*COLUMNS[:5], *triples, "ZZAHH", "ZZAHA", "YYH", "YYD")

    with pytest.raises(PayloadError) as error:
        extracted(csv_bytes((*ROW[:5], *("2.9",) * (len(header) - 5)), header=header), key)
    assert ["column not in this file", near] == [
        str(error.value).partition(":")[0],
        _suggested(error.value),
    ]


def test_scope_is_the_file() -> None:
    """The scope is public: only a plain file name becomes one, and nothing else of the address."""
    for url, scope in [
        ("https://feed.example/fixtures.csv", "fixtures.csv"),
        ("https://feed.example/new/ARG.csv?season=1", "ARG.csv"),
        ("https://feed.example", "file"),
        ("https://feed.example/s3cret", "file"),
        ("https://feed.example/file.csv?key=s3cret", "file.csv"),
        ("https://feed.example/s3cret/", "file"),
    ]:
        (target,) = KIND.plan(FootballDataOptions(kind="football_data", url=url), ()).targets()

        assert (target.scope, target.url) == (scope, url), (url, scope)


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
    """With or without prices, the reason of its removal is `finished`, not a missing offer."""
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
    """A corrected time or another spelling of the date does not change the id."""
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
    """No two fixtures share an id; each id has a valid form, however long or similar the names are."""
    first, second = match_id_of(*row), match_id_of(*other)

    assert (first == second) == (row == other)
    assert all(re.fullmatch(r"[A-Za-z0-9._~-]{1,128}", match_id) for match_id in (first, second))
