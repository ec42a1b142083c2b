"""football-data.co.uk: which columns, rows and cells of a file are read, and how."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.core.errors import PayloadError
from actors.sources.football_data.kind import KIND, FootballDataOptions, check_key
from tests.support.builders.football_data import COLUMNS, ROW, csv_bytes, extracted, shown

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
    """A prefix, a suffix or another case is another column, and the error names the missing ones."""
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
    """Teams, league, kick-off and prices are those of the row; the source time is that of the file."""
    (match,) = extracted(csv_bytes(ROW), source_time=source_time).matches

    assert (match.home, match.away, match.league) == ("Alder Town", "Birch United", "XX")
    assert (match.start_time, match.prices) == (1_771_081_200, (2.1, 3.4, 3.6))
    assert match.source_time == source_time


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
    """Of leagues and teams; files before 2019/20 have the day only."""
    cells = {name: cell for name, _, cell in (each.partition("=") for each in columns.split())}
    cells |= {"Date": "14/02/2026"}
    cells |= dict(zip(("Home", "Away") if "Home" in cells else ("HT", "AT"), ROW[3:5], strict=True))
    row = tuple(cell.replace("+", " ") for cell in cells.values())
    (match,) = shown(csv_bytes(row, header=tuple(cells)), key)

    assert ("Alder Town", "Birch United") == (match.home, match.away)
    assert (league, start, (2.1, 3.4, 3.6)) == (match.league, match.start_time, match.prices)


def test_prefix_that_is_no_bookmaker_is_refused() -> None:
    """Malformed keys, aggregates and closing prices; the codes of the site are accepted."""
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
    """A key is that of closing prices if the file has columns of the same prefix without the C."""
    header = (*COLUMNS[:5], *beside, "ZZCH", "ZZCD", "ZZCA")
    body = csv_bytes((*ROW[:5], *("2.1",) * len(beside), "1.7", "3.9", "4.8"), header=header)

    with pytest.raises(
        PayloadError, match="key was 'ZZC', which names closing prices; 'ZZ' names the live"
    ):
        extracted(body, "ZZC")


def test_bookmaker_whose_prefix_ends_in_c_is_shown() -> None:
    """Without columns of the shorter prefix its prices are live, beside closing prices of its own."""
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
    """What is suggested for a prefix without columns is one that is accepted, and never the same."""
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
