"""Other markets in a table: columns of a market, a line in a column, faults that cost one market only."""

from __future__ import annotations

import json
from typing import Any

import pytest

from actors.core.messages import Removal
from actors.core.validation import Reason
from actors.markets.market import FORMS, Kind
from actors.sources.table.kind import keys_in
from tests.support.builders.table import (
    HEADER,
    MARKETS,
    MORE,
    ROW,
    decoded,
    extracted,
    options_of,
    shown,
    table,
)

ID = "Liga-20261205-Alder.Town-Birch.United"
WIDER = f"{HEADER},{MORE}"
NO_1X2 = ROW.replace("2.10,3.40,3.60", ",,")
FIRST = {"": (2.1, 3.4, 3.6)}
TOTALS = {" over_under:2.5": (1.9, 1.95)}
HANDICAP = {" asian_handicap:-0.75": (2.02, 1.88)}


def _read(*more: str, row: str = ROW, **some: Any) -> dict[str, tuple[float, ...]]:
    """Return the prices by market of rows that have these cells after `row`."""
    body = table(*(f"{row},{cells}" for cells in more), header=WIDER)
    return {it.source_match_id.removeprefix(ID): it.prices for it in shown(body, markets=MARKETS, **some)}


LINES = {"over_under": {"line": "L", "over": "O", "under": "U"}}


@pytest.mark.parametrize(
    ("rows", "more", "markets", "shown_"),
    [
        pytest.param(
            [f"{ROW},1.9,1.95,-0.75,2.02,1.88"],
            *(MORE, MARKETS, FIRST | TOTALS | HANDICAP),
            id="the line is in the name of the market, or in a column",
        ),
        pytest.param([f"{NO_1X2},1.9,1.95,,,"], MORE, MARKETS, TOTALS, id="a row needs no 1X2"),
        pytest.param(
            [f"{ROW.replace('2.10', '0.9')},1.9,1.95,,,"],
            MORE,
            MARKETS,
            TOTALS,
            id="a bad 1X2 costs itself",
        ),
        pytest.param([f"{ROW},,,-0.75,,"], MORE, MARKETS, FIRST, id="a line alone says nothing"),
        pytest.param(
            [f"{ROW},,,", f"{NO_1X2},2.5,1.9,1.95", f"{NO_1X2},3,2.4,1.55"],
            *("L,O,U", LINES, FIRST | TOTALS | {" over_under:3": (2.4, 1.55)}),
            id="a row for each line is one match",
        ),
        pytest.param(
            [f"{ROW},1.9,1.95,,,,2.50,1.8,2"],
            *(f"{MORE},L,O,U", {**MARKETS, **LINES}, FIRST),
            id="two columns of one market cost it",
        ),
        pytest.param(
            [f"{ROW},1.9,1.95,,,,1.8,2.05"],
            *(f"{MORE},O3,U3", {**MARKETS, "over_under:3": {"over": "O3", "under": "U3"}}, FIRST),
            id="lines that contradict each other are rejected",
        ),
    ],
)
def test_markets_of_a_match(
    rows: list[str], more: str, markets: dict[str, Any], shown_: dict[str, tuple[float, ...]]
) -> None:
    """Each market has the teams and times of its row."""
    found = shown(table(*rows, header=f"{HEADER},{more}"), markets=markets)

    assert shown_ == {it.source_match_id.removeprefix(ID): it.prices for it in found}
    assert 1 == len({(it.listing, it.event_id, it.source_time) for it in found})


def test_a_row_without_prices_is_withdrawn() -> None:
    """If a row has other markets only, its 1X2 is not withdrawn: 1X2 may be in another row."""
    read, some = (
        extracted(table(f"{NO_1X2},{cells}", header=WIDER), markets=MARKETS)
        for cells in (",,-0.75,,", "1.9,1.95,,,")
    )

    assert ((Removal(read.removals[0].source_match_id, "withdrawn"),), ()) == (read.removals, read.notes)
    assert () == some.removals


def test_the_kinds_are_those_of_the_tables() -> None:
    """Without other markets the only kind is 1X2, so that a table is read as before."""
    assert (Kind.ONE_X_TWO,) == options_of().kinds
    assert (Kind.ONE_X_TWO, Kind.OVER_UNDER, Kind.ASIAN_HANDICAP) == options_of(markets=MARKETS).kinds


@pytest.mark.parametrize(
    ("cells", "others", "reason", "note"),
    [
        ("1.9,,-0.75,2.02,1.88", HANDICAP, "incomplete", "line 2: U2.5 was '', must be a decimal number"),
        (
            "1.9,x,-0.75,2.02,1.88",
            HANDICAP,
            "price",
            "line 2: U2.5 was 'x', must be a decimal number above 1",
        ),
        ("1.9,1.0,-0.75,2.02,1.88", HANDICAP, "price", "line 2: U2.5 was '1.0', must be a decimal number"),
        ("1.9,1.95,,2.02,1.88", TOTALS, "", "line 2: Line: the line was '', must be a number like 2.5"),
        ("1.9,1.95,-0.8,2.02,1.88", TOTALS, "", "must be a multiple of 0.25 from -10 to 10"),
        (
            "1.9,1.95,12,2.02,1.88",
            TOTALS,
            "",
            "the line of asian_handicap was 12, must be a multiple of 0.25",
        ),
        ('1.9,1.95,"-0.5,-1",2.02,1.88', TOTALS, "", "the line was '-0.5,-1', must be a number like 2.5"),
        ("1.9,1.95,-075,2.02,1.88", TOTALS, "", "the line was '-075', must be a number like 2.5"),
        ('1.9,1.95,"-0,75",2.02,1.88', TOTALS, "", "the line was '-0,75', must be a number like 2.5"),
        ("1.9,1.95,nan,2.02,1.88", TOTALS, "", "the line was 'nan', must be a number like 2.5"),
        ("150,1.95,-0.75,2.02,1.88", HANDICAP, "", "line 2: O2.5 was '150', read as decimal"),
    ],
)
def test_a_bad_market_is_told_and_costs_itself(
    cells: str, others: dict[str, tuple[float, ...]], reason: str, note: str
) -> None:
    """The 1X2 of the row and its other markets stay."""
    read = extracted(table(f"{ROW},{cells}", header=WIDER), markets=MARKETS)

    assert FIRST | others == _read(cells)
    assert note in read.notes[0]
    if reason:
        assert [Removal(f"{ID} over_under:2.5", reason)] == [*read.removals]  # type: ignore[arg-type]
    elif others is TOTALS:
        assert {Reason.UNREADABLE: 1} == read.passed_over


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("-0.75", "-0.75"),
        ("+0.50", "0.5"),
        ("-0", "0"),
        ("2", "2"),
        ("\u22121.25", "-1.25"),
        (" 0.0 ", "0"),
    ],
)
def test_a_line_is_any_number_of_quarters(cell: str, line: str) -> None:
    """The line may be written in any usual way."""
    assert f" asian_handicap:{line}" in _read(f",,{cell},1.9,1.95")


@pytest.mark.parametrize(("cell", "last"), [("-0,75", "asian_handicap:-0.75"), ("-0.75", "over_under:2.5")])
def test_a_line_has_the_decimal_comma_of_the_prices(cell: str, last: str) -> None:
    """With decimal commas, a line with a point is invalid."""
    row = f"Liga;2026-12-05;15:30;Alder Town;Birch United;2,1;3,4;3,6;1,9;1,95;{cell};2,02;1,88"
    body = table(row, header=WIDER.replace(",", ";"))
    (*_, match) = shown(body, delimiter=";", decimal_comma=True, markets=MARKETS)

    assert last == str(match.market)


def test_a_number_of_json_has_a_point_all_the_same() -> None:
    """Lines and prices that are JSON numbers have a point, even if texts have a comma."""
    row: dict[str, object] = dict(zip(HEADER.split(","), ROW.replace(".", ",").split(","), strict=False))
    row |= {"1": 2.1, "X": 3.4, "2": "3,6", "Line": -0.75, "AH 1": "2,02", "AH 2": 1.88}
    body = json.dumps(row) + "\n"
    some = {"asian_handicap": MARKETS["asian_handicap"]}
    found = shown(body, format="jsonl", decimal_comma=True, markets=some)

    assert ["1x2", "asian_handicap:-0.75"] == [str(match.market) for match in found]


def test_each_bookmaker_has_its_columns_and_one_line_for_all() -> None:
    """The name of a line's column may have {key} or not."""
    some = {
        **{name: f"{{key}} {side}" for name, side in zip(("one", "draw", "two"), "1X2", strict=True)},
        "markets": {"asian_handicap": {"line": "Line", "home": "{key} H", "away": "{key} A"}},
    }
    header = "League,Date,Time,Home,Away,Line,N 1,N X,N 2,N H,N A,S 1,S X,S 2,S H,S A"
    body = table(
        "Liga,2026-12-05,15:30,Alder Town,Birch United,-0.25,2.1,3.4,3.6,1.9,1.9,2.2,3.4,3.5,1.95,1.85",
        header=header,
    )

    for key, odds in (("N", (1.9, 1.9)), ("S", (1.95, 1.85))):
        (*_, match) = shown(body, key, **some)
        assert ("asian_handicap:-0.25", odds) == (str(match.market), match.odds)


def test_a_table_may_have_no_1x2_at_all() -> None:
    """Such a table leaves out `one`, `draw` and `two`; {key} is found in the other markets' columns."""
    some: dict[str, Any] = {"one": None, "draw": None, "two": None}
    some["markets"] = {"btts": {"yes": "{key} y", "no": "{key} n"}}
    cells = "Liga,2026-12-05,15:30,Alder Town,Birch United,1.8,2"
    body = table(cells, header="League,Date,Time,Home,Away,N y,N n")
    (match,) = shown(body, "N", **some)

    assert (f"{ID} btts", (1.8, 2.0)) == (match.source_match_id, match.prices)
    assert ["N"] == [*keys_in(decoded(body, options_of(**some)))]


def test_a_market_without_its_columns_costs_itself() -> None:
    """A note has the nearest column; 1X2 and the other markets are read."""
    body = table(f"{ROW},1.9,1.95,-0.75,2.02,1.88", header=WIDER.replace("U2.5", "U2_5"))
    read = extracted(body, markets=MARKETS)

    assert (
        "over_under:2.5 is not read: column not in this table: U2.5; did you mean 'U2_5'?",
    ) == read.notes
    assert [ID, f"{ID} asian_handicap:-0.75"] == [match.source_match_id for match in read.matches]


def test_objects_have_markets_by_their_keys() -> None:
    """Nested objects work as well, three deep; an object without the keys has only its 1X2."""
    row = dict(zip(HEADER.split(","), ROW.split(","), strict=True))
    nested = {"a": {"b": {"c": {"yes": 1.8, "no": 2.0}}}}
    lines = [json.dumps({**row, **nested}), json.dumps({**row, "Home": "Dale"})]
    found = shown(
        "\n".join(lines) + "\n", format="jsonl", markets={"btts": {"yes": "a.b.c.yes", "no": "a.b.c.no"}}
    )

    assert [(2.1, 3.4, 3.6), (1.8, 2.0), (2.1, 3.4, 3.6)] == [match.prices for match in found]


@pytest.mark.parametrize(
    "name", ["over_under:2.5", "over_under", "asian_handicap:-0.25", "btts", "double_chance"]
)
def test_every_kind_has_columns(name: str) -> None:
    """Columns are those of its outcomes, and of its line if the line is in no name."""
    kind = Kind(name.partition(":")[0])
    columns = {outcome: f"c{outcome}" for outcome in FORMS[kind].outcomes}
    price = len(columns) / FORMS[kind].winners / 1.05
    line = {"line": "line"} if name == "over_under" else {}
    header = f"{HEADER},{','.join(columns.values())},line"
    body = table(f"{ROW},{','.join(f'{price:.4f}' for _ in columns)},3.25", header=header)
    (*_, match) = shown(body, markets={name: columns | line})

    assert name + (":3.25" if line else "") == str(match.market)
