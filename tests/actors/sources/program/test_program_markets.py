"""Other markets than 1X2 in a program's lines: each market is read, rejected and withdrawn by itself."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from actors.core.errors import PayloadError
from actors.core.messages import Scope
from actors.core.validation import Reason
from actors.markets.market import FORMS, Kind
from actors.source_api.program import ListChange
from actors.sources.program.lists import MAX_REJECTED
from actors.sources.program.markets import MAX_MARKETS
from tests.support.builders.programs import (
    MARKETS,
    OPTIONS,
    WITH_MARKETS,
    Speaker,
    item,
    line,
    listed,
    removed,
    upsert,
    without_odds,
)
from tests.support.builders.reading import prices_of

TWO = {"over": 1.9, "under": 1.95}


def prices(change: ListChange) -> dict[str, tuple[float, ...]]:
    """Return the prices of each market."""
    return prices_of(change.extract.matches)


def _why(program: Speaker) -> list[str]:
    return [f"{it.match_id} {it.reason}: {it.why}" for it in program.rejected]


def _with(name: str, odds: Any, *, other: str = "btts") -> bytes:
    """Return a list of a match with this market and another one."""
    return listed(item("1", markets={name: odds, other: MARKETS[other]}))


def test_a_match_has_its_markets_beside_it() -> None:
    """Prices are in the order of the outcomes; without 1X2 a market has the match's teams and times."""
    said = {**MARKETS, "btts": {"no": "2.0", "yes": 1.8}}

    assert {
        "1": (2.1, 3.4, 3.6),
        "1 over_under:2.5": (1.9, 1.95),
        "1 over_under:3": (2.4, 1.55),
        "1 asian_handicap:-0.75": (2.02, 1.88),
        "1 btts": (1.8, 2.0),
        "1 double_chance": (1.3, 1.3, 1.75),
    } == prices(Speaker(WITH_MARKETS).change(listed(item("1", markets=said))))
    alone = listed(without_odds("1", markets={"btts": MARKETS["btts"]}))
    (match,) = Speaker(WITH_MARKETS).change(alone).extract.matches
    assert ("1 btts", "1", "Home 1", "Away 1", 1_780_326_000) == (
        *(match.source_match_id, match.event_id, match.home, match.away),
        match.start_time,
    )


@pytest.mark.parametrize("markets", [{}, {"markets": {}}, {"markets": None}])
def test_a_match_without_any_market_is_incomplete(markets: dict[str, Any]) -> None:
    """The reason says that `odds` are missing, as in releases without other markets."""
    program = Speaker(WITH_MARKETS)
    program.change(listed(without_odds("1", **markets), item("2")))

    assert ["1 incomplete: Object missing required field `odds`"] == _why(program)


def test_unread_1x2_prices_cost_themselves() -> None:
    """The other markets of the match do not depend on the 1X2 prices."""
    program = Speaker(WITH_MARKETS)
    change = program.change(
        listed(
            item("1", home="2,10", markets={"btts": MARKETS["btts"]}),
            item("2", odds={"one": 2.0}, markets={"btts": MARKETS["btts"]}),
            item("3", home=0.9, markets={"btts": MARKETS["btts"]}),
        )
    )

    assert {"1 btts", "2 btts", "3 btts"} == prices(change).keys()
    assert {"1": "price", "2": "incomplete", "3": "price"} == removed(change)


@pytest.mark.parametrize(
    ("name", "odds", "why"),
    [
        (
            "over_under:2.5",
            {"over": 1.9},
            "1 over_under:2.5 incomplete: has no under, must have over and under",
        ),
        (
            "over_under:2.5",
            {**TWO, "exactly": 9},
            "1 over_under:2.5 outcome: has 'exactly', must have over and under alone",
        ),
        ("over_under:2.5", {"over": 1.9, "under": 1.0}, "price: the odds are 1.9, 1, must be above 1"),
        ("over_under:2.5", {"over": 3, "under": 3}, "the sum of 1/price is 0.667, must be 0.97 to 1.2"),
        ("double_chance", {"1X": 1.9, "12": 1.9, "X2": 1.9}, "is 1.579, must be 1.94 to 2.6"),
        (
            "over_under:2.5",
            {"over": "1,9", "under": 1.9},
            '1 over_under:2.5 price: must have over and under, each a number, or a text like "2.10"',
        ),
        ("over_under:2.5", {"over": None, "under": 1.9}, "price: must have over and under, each a number"),
        ("over_under:2.5", [1.9, 1.9], "price: must have over and under, each a number"),
        (
            "over_under:2.50",
            TWO,
            "a market of match 1 was 'over_under:2.50', must be spelled over_under:2.5",
        ),
        ("over_under:+2.5", TWO, "must be spelled over_under:2.5"),
        ("over_under", TWO, "a market of match 1 over_under needs a line, as in over_under:10"),
        (
            "over_under:2.4",
            TWO,
            "the line of over_under was 2.4, must be a multiple of 0.25 from 0.25 to 20",
        ),
        ("over_under:2,5", TWO, "the line of over_under was '2,5', must be a number like 2.5"),
        ("asian_handicap:-0", {"home": 1.9, "away": 1.9}, "must be spelled asian_handicap:0"),
        ("corners:9.5", TWO, "must be 1x2, over_under:LINE, asian_handicap:LINE, btts, double_chance"),
        (
            "1x2",
            {"1": 2.1, "X": 3.4, "2": 3.6},
            "was '1x2', whose prices must be in odds, as one, draw and two",
        ),
    ],
)
def test_a_bad_market_is_told_and_costs_itself(name: str, odds: Any, why: str) -> None:
    """The reason has the found value and what is allowed; the match and its other markets stay."""
    program = Speaker(WITH_MARKETS)
    change = program.change(_with(name, odds))

    assert {"1", "1 btts"} == prices(change).keys()
    assert why in _why(program)[0]
    assert [True] == [it.is_market for it in program.rejected]


@pytest.mark.parametrize("markets", [[], "btts", 7, {f"btts{n}": {} for n in range(MAX_MARKETS + 1)}])
def test_markets_that_are_none_leave_the_match(markets: Any) -> None:
    """A wrong type or very many names only cost the other markets, and are reported once."""
    program = Speaker(WITH_MARKETS)
    change = program.change(listed(item("1", markets=markets)))

    assert {"1"} == prices(change).keys()
    assert 1 == len(_why(program))


def test_there_may_be_every_line_at_once() -> None:
    """A match with all lines of all kinds has no more markets than may be read."""
    count = sum(form.lines[1] - form.lines[0] + 1 if form.lines else 1 for form in FORMS.values())

    assert count <= MAX_MARKETS


def test_lines_that_contradict_each_other_are_all_rejected() -> None:
    """Nobody knows which of the lines is wrong; markets of another kind stay."""
    program = Speaker(WITH_MARKETS)
    wrong = {"over_under:2.5": {"over": 1.9, "under": 1.95}, "over_under:3": {"over": 1.8, "under": 2.05}}
    change = program.change(listed(item("1", markets={**wrong, "btts": MARKETS["btts"]})))

    assert {"1", "1 btts"} == prices(change).keys()
    assert {"1 over_under:2.5": "lines", "1 over_under:3": "lines"} == removed(change)


BTTS = {"btts": MARKETS["btts"]}
OF_1, OF_2 = ({name, *(f"{name} {market}" for market in MARKETS)} for name in "12")
WITHOUT_BTTS = {"1", *(f"1 {name}" for name in MARKETS if name != "btts")}
TOTAL_AND_BTTS = {"over_under:2.5": TWO, **BTTS}


@pytest.mark.parametrize(
    ("before", "said", "shown", "gone"),
    [
        pytest.param(
            [listed(item("1", markets=MARKETS), item("2", markets=MARKETS))],
            line("upsert", **without_odds("1", markets=BTTS)),
            *({"1 btts"}, dict.fromkeys(WITHOUT_BTTS, "withdrawn")),
            id="an upsert replaces all markets of its match",
        ),
        pytest.param(
            [listed(item("1", markets=TOTAL_AND_BTTS))],
            upsert("1", markets={"over_under:2.50": TWO, "btts": {"yes": 1.0, "no": 9.0}}),
            *({"1"}, {"1 over_under:2.5": "withdrawn", "1 btts": "price", "": "unreadable"}),
            id="a market that turns bad leaves, however its name was spelled",
        ),
        pytest.param(
            [listed(item("1", markets=MARKETS), item("2", markets=MARKETS))],
            line("remove", match="1"),
            *(set(), dict.fromkeys(OF_1, "withdrawn")),
            id="a removed match leaves with its markets",
        ),
        pytest.param(
            [listed(item("1", markets=MARKETS)), line("remove", match="1")],
            *(upsert("1", markets=BTTS), {"1", "1 btts"}, {}),
            id="and comes back with those that it has then",
        ),
        pytest.param(
            [listed(item("1", markets=BTTS))],
            *(upsert("1", start="yesterday"), set(), {"1": "start_time", "1 btts": "withdrawn"}),
            id="a rejected match leaves with its markets",
        ),
        pytest.param(
            [listed(item("1", markets=MARKETS)), listed(item("1", markets=BTTS))],
            *(line("remove", match="1"), set(), dict.fromkeys(("1", "1 btts"), "withdrawn")),
            id="a complete list forgets the markets before",
        ),
        pytest.param(
            [listed(item("1", markets=MARKETS)), listed(item("1", markets=MARKETS), name="other")],
            *(line("remove", match="1"), set(), dict.fromkeys(OF_1, "withdrawn")),
            id="lists are told apart",
        ),
    ],
)
def test_markets_come_and_leave_with_their_match(
    before: list[bytes], said: bytes, shown: set[str], gone: dict[str, str]
) -> None:
    """A market that a line does not have any more is withdrawn; other matches stay."""
    program = Speaker(WITH_MARKETS)
    for each in before:
        program.change(each)
    change = program.change(said)

    assert (Scope("epl"), shown, gone) == (change.scope, {*prices(change)}, removed(change))


def test_markets_that_are_stale_alone_leave_alone() -> None:
    """A match stays, with all its markets, for the usual time after its own line."""
    program = Speaker(WITH_MARKETS)
    program.change(listed(item("1", markets=MARKETS), item("2", markets=MARKETS)))
    program.change(upsert("1", markets=BTTS), at=10.0)

    assert dict.fromkeys(OF_2, "stale") == removed(program.change(at=29.5))
    (image,) = program.lists.images()
    assert {"1", "1 btts"} == prices(image).keys()


@pytest.mark.parametrize("match_id", ["1 btts", "1 over_under:2.5", "1 ", "a b"])
def test_an_id_with_a_space_is_no_market_of_another_match(match_id: str) -> None:
    """The id is rejected, whatever else is wrong with its match, and removes nothing."""
    program = Speaker(WITH_MARKETS)
    program.change(listed(item("1", markets=MARKETS)))
    for changes in ({}, {"home": 0.9}, {"odds": None}, {"markets": MARKETS}, {"start": "x"}):
        change = program.change(upsert(match_id, **changes), upsert("2"))
        assert {"2"} == prices(change).keys()
        assert not {"1", *(f"1 {name}" for name in MARKETS)} & removed(change).keys()


def test_kinds_that_are_not_asked_for_are_counted() -> None:
    """Each market of these kinds counts once; it is no error of the program, whatever its spelling is."""
    options = msgspec.structs.replace(OPTIONS, markets=(Kind.BTTS,))
    program = Speaker(options)
    change = program.change(listed(item("1", markets={**MARKETS, "over_under:x": 7})))

    assert {"1", "1 btts"} == prices(change).keys()
    assert {"over_under": 3, "asian_handicap": 1, "double_chance": 1} == program.lists.passed_over
    assert [Reason.MARKET] * 5 == [removal.reason for removal in change.extract.removals]
    assert [] == _why(program)


@pytest.mark.parametrize("markets", [[], "btts", {"corners": TWO}, {"1x2": {}}])
def test_1x2_alone_takes_no_offence_at_other_fields(markets: Any) -> None:
    """Other markets are then ignored like every unknown field."""
    program = Speaker(OPTIONS)
    change = program.change(listed(item("1", markets=markets)))

    assert [{"1"}, set(), set()] == [{*prices(change)}, {*removed(change)}, {*_why(program)}]


def test_matches_of_other_kinds_alone_do_not_end_the_program() -> None:
    """Matches with other kinds alone are counted, but not as rejected matches in a row."""
    program = Speaker(OPTIONS)
    many = [without_odds(str(n), markets={"btts": MARKETS["btts"]}) for n in range(MAX_REJECTED + 2)]
    change = program.change(listed(*many))

    assert {} == prices(change)
    assert MAX_REJECTED + 2 == program.lists.passed_over[Kind.BTTS]


def test_matches_of_which_every_market_is_rejected_end_the_program() -> None:
    """These matches count in a row, like matches with rejected 1X2 prices; one good market is enough."""
    bad = [without_odds(str(n), markets={"btts": {}}) for n in range(MAX_REJECTED + 1)]
    good = [item(str(n), home=0.5, markets={"btts": MARKETS["btts"]}) for n in range(MAX_REJECTED + 1)]
    Speaker(WITH_MARKETS).change(listed(*good))

    with pytest.raises(
        PayloadError, match="101 matches in a row were rejected, the last as incomplete: has no"
    ):
        Speaker(WITH_MARKETS).change(listed(*bad))


def test_a_sum_that_is_configured_is_believed() -> None:
    """The bounds in the table of the source hold for the program's lines as well as at the gate."""
    options = msgspec.structs.replace(WITH_MARKETS, two_way_book_sum_min=0.6)

    change = Speaker(options).change(listed(item("1", markets={"btts": {"yes": 3, "no": 3}})))

    assert {"1", "1 btts"} == prices(change).keys()
