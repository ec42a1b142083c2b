"""football-data.co.uk: over/under 2.5 and the Asian handicap, by whole column names and their own line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.core.errors import PayloadError
from actors.core.messages import Extract, event_id_of
from actors.core.validation import Reason
from actors.markets.market import Kind
from actors.sources.football_data.kind import KIND, FootballDataOptions
from tests.support.builders.football_data import (
    ALL_MARKETS,
    COLUMNS,
    OPTIONS,
    ROW,
    URL,
    changed,
    csv_bytes,
    extracted,
    judged,
)


def cells(text: str) -> dict[str, str]:
    """Return cells that are written as NAME=CELL, with blanks between them."""
    return dict(each.split("=") for each in text.split())


LINED = cells("B365>2.5=1.90 B365<2.5=1.95 AHh=-0.25 B365AHH=1.88 B365AHA=2.02")
TOTALS, HANDICAP = ("over_under:2.5", (1.9, 1.95)), ("asian_handicap:-0.25", (1.88, 2.02))
RESULT = ("1x2", (2.1, 3.4, 3.6))
ALIKE = cells(
    "B365C>2.5=9.1 B365C<2.5=9.2 AHCh=-9 B365CAHH=9.3 B365CAHA=9.4 Max>2.5=9.5 Max<2.5=9.6 AvgAHH=9.7 "
    "AvgAHA=9.8 BFE>2.5=8.1 BFE<2.5=8.2 BFEAHH=8.3 BFEAHA=8.4 BbAHh=-8 BbMxAHH=8.5 AHW=7 B365>3.5=7.1 "
    "B365<3.5=7.2 AHH=7.3 AHA=7.4 BbOU=30 GBAH=7"
)
"""Column names that begin or end like the names in `LINED`, with prices that must not be read."""

Listed = dict[str, tuple[float, ...]]


def file_of(*rows: dict[str, str], main: tuple[str, ...] = ROW) -> bytes:
    """Return a file of rows with these cells beside the cells of the match and its 1X2 prices."""
    names = [*dict.fromkeys(name for row in rows for name in row)]
    cells = [(*main, *(row.get(name, "") for name in names)) for row in rows]
    return csv_bytes(*cells, header=(*COLUMNS[: len(main)], *names))


def read(body: bytes, key: str = "B365") -> Extract:
    """Read all markets of a bookmaker."""
    return extracted(body, key, options=ALL_MARKETS)


def listed(body: bytes, key: str = "B365") -> Listed:
    """Return the prices that the board would show of a file with one match, by market."""
    return {str(match.market): match.prices for match in judged(body, key, ALL_MARKETS).batch.matches}


def test_row_has_three_markets_of_one_match() -> None:
    """The other markets have the match's id with the market behind it, and the match's names and times."""
    result, totals, handicap = read(file_of(LINED)).matches

    assert dict([RESULT, TOTALS, HANDICAP]) == listed(file_of(LINED))
    assert [f"{result.event_id} over_under:2.5", f"{result.event_id} asian_handicap:-0.25"] == [
        totals.source_match_id,
        handicap.source_match_id,
    ]
    assert {result.listing} == {totals.listing, handicap.listing}
    assert (result.begun_by, result.source_time) == (handicap.begun_by, handicap.source_time)


def test_other_markets_are_read_if_they_are_asked_for() -> None:
    """Without the option 1X2 alone is read, as if the columns were not there; one kind may be asked for."""
    totals_alone = FootballDataOptions(kind="football_data", url=URL, markets=(Kind.OVER_UNDER,))

    assert extracted(csv_bytes(ROW)) == extracted(file_of({**LINED, **ALIKE}))
    assert (Kind.ONE_X_TWO,) == OPTIONS.kinds
    assert ["1x2", "over_under:2.5"] == [
        str(match.market) for match in extracted(file_of(LINED), options=totals_alone).matches
    ]


@given(st.permutations(sorted({**LINED, **ALIKE})))
def test_columns_are_found_by_their_whole_name_in_any_order(names: list[str]) -> None:
    """The row also has closing prices, aggregates, other bookmakers, lines and similar statistics."""
    row = {**LINED, **ALIKE}

    assert dict([RESULT, TOTALS, HANDICAP]) == listed(file_of({name: row[name] for name in names}))


def test_bookmakers_have_columns_of_their_own() -> None:
    """In older files each bookmaker has its own line; Pinnacle has another prefix than for 1X2."""
    row = cells(
        "GBAHH=1.90 GBAHA=1.94 GBAH=-0.5 LBAHH=2.02 LBAHA=1.83 LBAH=-0.75 "
        "GBH=1.9 GBD=3.3 GBA=3.8 LBH=1.9 LBD=3.3 LBA=3.8"
    )
    pinnacle = cells("PSH=2.1 PSD=3.4 PSA=3.6 P>2.5=1.90 P<2.5=1.95 AHh=-0.25 PAHH=1.88 PAHA=2.02")

    assert (1.9, 1.94) == listed(file_of(row), "GB")["asian_handicap:-0.5"]
    assert (2.02, 1.83) == listed(file_of(row), "LB")["asian_handicap:-0.75"]
    assert dict([RESULT, TOTALS, HANDICAP]) == listed(file_of(pinnacle), "PS")


def test_closing_line_is_that_of_no_earlier_price() -> None:
    """Without the earlier line there is no handicap, whatever the closing line is."""
    row = {name: cell for name, cell in LINED.items() if name != "AHh"} | {"AHCh": "-0.25"}
    extract = read(file_of(row))

    assert dict([RESULT, TOTALS]) == listed(file_of(row))
    assert ({Reason.LINE: 1}, ("column not in this file: AHh, the line of B365AHH",)) == (
        extract.passed_over,
        extract.notes,
    )


def test_closing_prices_and_other_lines_are_counted_and_not_read() -> None:
    """Closing prices are not read beside blank earlier prices either: a last offer is no offer now."""
    closing = {"B365C>2.5": "1.8", "B365C<2.5": "2.0", "AHCh": "-0.5", "B365CAHH": "1.9", "B365CAHA": "1.9"}
    row = {**dict.fromkeys(LINED, ""), **closing}

    assert dict([RESULT]) == listed(file_of(row))
    assert {Reason.MARKET: 1} == read(file_of(row)).passed_over
    assert ("columns that are not read: B365C>2.5, B365C<2.5, B365CAHH, B365CAHA",) == read(
        file_of(row)
    ).notes
    assert {} == read(file_of({**row, **dict.fromkeys(closing, "")})).passed_over
    other_line = file_of({**LINED, "B365>3.5": "3.1", "B365<3.5": "1.35"})
    assert dict([RESULT, TOTALS, HANDICAP]) == listed(other_line)
    assert {Reason.MARKET: 1} == read(other_line).passed_over


def test_key_of_closing_prices_is_refused_in_a_file_with_other_markets_alone() -> None:
    """The file has the live prices under the name without C, so the C means closing prices."""
    row = {"QQ>2.5": "1.9", "QQ<2.5": "1.9", "QQC>2.5": "1.8", "QQC<2.5": "2.0"}

    assert {"over_under:2.5": (1.9, 1.9)} == listed(file_of(row, main=ROW[:5]), "QQ")
    with pytest.raises(PayloadError, match="names closing prices"):
        read(file_of(row, main=ROW[:5]), "QQC")


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        *(("0", "0"), ("-0", "0"), ("0.00", "0"), ("-0.50", "-0.5"), ("+0.25", "0.25"), (" -1 ", "-1")),
        *(("-2.75", "-2.75"), ("10", "10"), ("-10.00", "-10")),
    ],
)
def test_multiple_of_a_quarter_goal_is_a_line(cell: str, line: str) -> None:
    """The cell may have a sign, decimals, or blanks around the number."""
    assert HANDICAP[1] == listed(file_of({**LINED, "AHh": cell}))[f"asian_handicap:{line}"]


@pytest.mark.parametrize(
    "cell",
    [
        *("1.85", "-0.390625", "1.2", "-0.245", "-225", "12.5", "10.25", "-10.25", "0.1", "0.24999"),
        *("", " ", "#", "x", "-", "+", ".5", "-.5", "1.", "00.5", "01", '"-1,-1.5"', '"0,5"', "1e0", "0x1"),
        *("\u22120.5", "\u0661", "--0.5", "- 0.5", "0.5 0.75", "nan", "inf", "1" * 400),
    ],
)
def test_handicap_without_a_possible_line_is_refused(cell: str) -> None:
    """The handicap is counted, and a note has the found cell; the other markets of the row stay."""
    body = file_of({**LINED, "AHh": cell})
    (note,) = read(body).notes

    assert dict([RESULT, TOTALS]) == listed(body)
    assert {Reason.LINE: 1} == read(body).passed_over
    assert note.startswith("Alder Town - Birch United: AHh was '")
    assert note.endswith("must be a multiple of 0.25 from -10 to 10")
    assert len(note) < 150


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"B365>2.5": ""}, Reason.INCOMPLETE),
        ({"B365<2.5": "#"}, Reason.PRICE),
        ({"B365>2.5": "1.0"}, Reason.PRICE),
        ({"B365>2.5": "1.45", "B365<2.5": "1.05"}, Reason.BOOK_SUM),
        ({"B365>2.5": "0.95", "B365<2.5": "0.9"}, Reason.PRICE),
    ],
)
def test_bad_prices_of_a_market_reject_it_alone(changes: dict[str, str], reason: Reason) -> None:
    """The market becomes a removal of its own id; the match and its handicap stay."""
    admission = judged(file_of({**LINED, **changes}), options=ALL_MARKETS)
    (removal,) = admission.batch.removals

    assert ["1x2", "asian_handicap:-0.25"] == [str(match.market) for match in admission.batch.matches]
    assert {reason: 1} == admission.rejected
    assert removal.source_match_id.endswith(" over_under:2.5")


def test_placeholders_of_the_exchange_are_no_prices() -> None:
    """The exchange's book sums are limited like sums of other people's offers, as for 1X2."""
    row = {"BFEH": "2.1", "BFED": "3.6", "BFEA": "3.8", "BFE>2.5": "1.70", "BFE<2.5": "1.75"}

    assert ["1x2"] == [*listed(file_of(row), "BFE")]
    assert Reason.BOOK_SUM in judged(file_of(row), "BFE", ALL_MARKETS).rejected


@pytest.mark.parametrize(
    "prices", [{"B365H": "", "B365D": "", "B365A": ""}, {"B365D": ""}, {"B365A": "#"}], ids=str
)
def test_match_without_1x2_prices_has_its_other_markets(prices: dict[str, str]) -> None:
    """The other markets have the id that the match would have."""
    body = file_of(LINED, main=changed(**prices))
    (other, *_) = read(file_of(LINED)).matches

    assert dict([TOTALS, HANDICAP]) == listed(body)
    assert {other.event_id} == {match.event_id for match in judged(body, "B365", ALL_MARKETS).batch.matches}


def test_file_without_the_1x2_columns_has_the_other_markets() -> None:
    """A note names missing columns; half a market is not read; without any column there is an error."""
    extract = read(file_of(LINED, main=ROW[:5]))

    assert ["over_under:2.5", "asian_handicap:-0.25"] == [str(match.market) for match in extract.matches]
    assert ("column not in this file: B365H, B365D, B365A",) == extract.notes
    half = read(file_of({name: cell for name, cell in LINED.items() if name != "B365AHA"}))
    assert ["1x2", "over_under:2.5"] == [str(match.market) for match in half.matches]
    assert ("column not in this file: B365AHA",) == half.notes
    with pytest.raises(PayloadError, match="column not in this file: BWH, BWD, BWA"):
        read(file_of(LINED), "BW")


@pytest.mark.parametrize("line", ["-0.25", "-0.5"])
def test_match_in_two_rows_has_no_other_market(line: str) -> None:
    """Nobody knows which row's line is right; if the last row alone counted, both lines would be shown."""
    body = file_of(LINED, {**LINED, "AHh": line})
    admission = judged(body, options=ALL_MARKETS)

    assert ["1x2"] == [str(match.market) for match in admission.batch.matches]
    assert 1 + 4 == admission.rejected[Reason.DUPLICATE]


def test_row_that_is_not_read_has_no_market() -> None:
    """A match that is over gives one removal; an impossible date counts for each market, as for 1X2."""
    (over,) = read(file_of({**LINED, "FTHG": "2"})).removals
    extract = read(file_of(LINED, main=changed(Date="31/02/2026")))

    assert ("finished", event_id_of(over.source_match_id)) == (over.reason, over.source_match_id)
    assert () == read(file_of({**LINED, "FTHG": "2"})).matches == extract.matches
    assert [(Reason.START_TIME, name) for name in ("", "over_under:2.5", HANDICAP[0])] == [
        (removal.reason, removal.source_match_id.partition(" ")[2]) for removal in extract.removals
    ]
    assert {} == listed(file_of(LINED).replace(b",-0.25,", b",-0.25,,"))  # a torn row


def test_kind_of_market_that_no_file_has_is_an_error() -> None:
    """The error says which kinds files have."""
    options = FootballDataOptions(kind="football_data", url=URL, markets=(Kind.BTTS, Kind.OVER_UNDER))

    with pytest.raises(ValueError, match="markets had btts, must be of 1x2, over_under, asian_handicap"):
        KIND.plan(options, ("B365",))
