"""The Odds API: totals and handicaps by exact key, the sign of a line, and markets that are not read."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from actors.core.messages import Extract
from actors.core.validation import Admission, Reason
from actors.markets.market import Kind
from actors.sources.the_odds_api.kind import KIND
from tests.support.builders import reading
from tests.support.builders.the_odds_api import (
    ALL_MARKETS,
    event,
    market,
    options_of,
    spreads,
    totals,
)

HOME, AWAY = "Alder Town", "Birch United"
H2H = market(HOME, AWAY, (2.1, 3.4, 3.6))
TOTALS, SPREADS = totals((2.5, 1.9, 1.95)), spreads(HOME, AWAY, (-0.25, 1.88, 2.02))
RESULT = ("1x2", (2.1, 3.4, 3.6))
OVER_UNDER, HANDICAP = ("over_under:2.5", (1.9, 1.95)), ("asian_handicap:-0.25", (1.88, 2.02))


def offered(*markets: Any, key: str = "some", match_id: str = "m1", **fields: Any) -> Any:
    """Return a match with these markets of a bookmaker."""
    return event(match_id, HOME, AWAY, {key: markets}) | fields


def read(*events: Any, markets: tuple[str, ...] = ALL_MARKETS, **given: Any) -> Extract:
    """Read a bookmaker's part of an answer with these matches."""
    return read_text(json.dumps(events), markets, **given)


def read_text(text: str, markets: tuple[str, ...] = ALL_MARKETS, **given: Any) -> Extract:
    """Read a bookmaker's part of an answer."""
    body = text.encode()
    return reading.extracted(KIND, "some", options_of(markets=markets), body, "soccer_epl", **given)


def judged(*events: Any, markets: tuple[str, ...] = ALL_MARKETS) -> Admission:
    """Return the result of the integrity gate for the bookmaker's part."""
    return reading.judged(KIND, "some", options_of(markets=markets), read(*events, markets=markets))


def listed(*events: Any, markets: tuple[str, ...] = ALL_MARKETS) -> dict[str, tuple[float, ...]]:
    """Return the prices that the board would show of a match, by market."""
    return {str(match.market): match.prices for match in judged(*events, markets=markets).batch.matches}


def altered(listed_market: Any, at: int, **changes: Any) -> Any:
    """Return a market in which an outcome has other fields; None removes a field."""
    outcomes = [{**outcome} for outcome in listed_market["outcomes"]]
    outcomes[at] = {name: value for name, value in {**outcomes[at], **changes}.items() if value is not None}
    return {**listed_market, "outcomes": outcomes}


def test_each_market_has_the_page_of_its_bookmaker() -> None:
    """The link to the match at the bookmaker stands once, beside its markets."""
    found = offered(H2H, TOTALS, SPREADS)
    found["bookmakers"][0]["link"] = "https://some.example/7"

    assert ["https://some.example/7"] * 3 == [match.url for match in read(found).matches]


def test_bookmaker_has_three_markets_of_one_match() -> None:
    """The markets have the match's id with the market behind it, its names, and their own refresh time."""
    later = totals((2.5, 1.9, 1.95), updated="2026-05-28T20:21:00Z")
    result, over_under, handicap = read(offered(H2H, later, SPREADS)).matches

    assert dict([RESULT, OVER_UNDER, HANDICAP]) == listed(offered(H2H, TOTALS, SPREADS))
    assert ["m1", "m1 over_under:2.5", "m1 asian_handicap:-0.25"] == [
        match.source_match_id for match in (result, over_under, handicap)
    ]
    assert {result.listing} == {over_under.listing, handicap.listing}
    assert (60.0, 0.0) == tuple(
        (match.source_time or 0) - (result.source_time or 0) for match in (over_under, handicap)
    )


def test_other_markets_are_read_if_they_are_asked_for() -> None:
    """Without the option 1X2 alone is read, and no other market is counted."""
    every = offered(H2H, TOTALS, SPREADS, totals((1.5, 1.3, 3.3), key="totals_h1"))

    assert read(offered(H2H), markets=("h2h",)) == read(every, markets=("h2h",))
    assert dict([RESULT, OVER_UNDER]) == listed(every, markets=("h2h", "totals"))
    assert {Reason.MARKET: 2} == read(every, markets=("h2h", "totals")).passed_over
    assert dict([HANDICAP]) == listed(offered(SPREADS), markets=("spreads",))


def test_options_have_the_kinds_of_their_markets() -> None:
    """1X2 is always one of the kinds, and a market counts once."""
    options = options_of(markets=("spreads", "totals", "spreads"))

    assert (Kind.ONE_X_TWO, Kind.OVER_UNDER, Kind.ASIAN_HANDICAP) == options.kinds
    assert ("totals", "spreads") == options.asked
    assert ((Kind.ONE_X_TWO,), ("h2h",)) == (options_of().kinds, options_of().asked)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_line_of_a_handicap_is_that_of_the_home_team(order: tuple[int, ...]) -> None:
    """In any order a point belongs to the team that its outcome names; the two teams share two points."""
    made = spreads(HOME, AWAY, (-0.25, 1.88, 2.02), (0.25, 1.6, 2.4))
    made["outcomes"] = [made["outcomes"][at] for at in order]

    assert {
        "1x2": RESULT[1],
        "asian_handicap:-0.25": (1.88, 2.02),
        "asian_handicap:0.25": (1.6, 2.4),
    } == listed(offered(H2H, made))


LINES = ((2, 1.5, 2.6), (2.5, 1.9, 1.95), (2.75, 2.1, 1.75))
SEVERAL = {"over_under:2": (1.5, 2.6), "over_under:2.5": (1.9, 1.95), "over_under:2.75": (2.1, 1.75)}


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        pytest.param([totals(*LINES)], SEVERAL, id="several lines together"),
        pytest.param([*map(totals, LINES)], SEVERAL, id="apart"),
        *(
            pytest.param(
                [spreads(HOME, AWAY, (zero, 1.57, 2.41))], {"asian_handicap:0": (1.57, 2.41)}, id="0"
            )
            for zero in (0, 0.0, -0.0)
        ),
        pytest.param(
            [totals((2.5, 1.9, 1.95), (3.5, 1.6, 2.4)), SPREADS],
            dict([HANDICAP]),
            id="of lines that contradict each other nobody knows which is wrong",
        ),
        pytest.param(
            [TOTALS, totals((2.5, 1.8, 2.0), (3.5, 3.2, 1.35))],
            {"over_under:3.5": (3.2, 1.35)},
            id="a line in two markets",
        ),
    ],
)
def test_lines_of_a_bookmaker(made: list[Any], shown: dict[str, tuple[float, ...]]) -> None:
    """Lines may be in one list of outcomes or several; a point may be whole, and 0 has one spelling."""
    assert dict([RESULT]) | shown == listed(offered(H2H, *made))


def _pointed(point: Any) -> Any:
    return {**TOTALS, "outcomes": [{**outcome, "point": point} for outcome in TOTALS["outcomes"]]}


@pytest.mark.parametrize(
    "made",
    [
        *map(
            _pointed, (2.3, 2.6, 0, -2.5, 20.25, 1e30, "2.5", None, True, [2.5], {"point": 2.5}, "Over 2.5")
        ),
        altered(altered(TOTALS, 0, point=None), 1, point=None),
        *(spreads(HOME, AWAY, (line, 1.9, 1.95)) for line in (10.25, -10.25, 0.1, -1.4)),
    ],
    ids=lambda made: str(made["outcomes"][0].get("point", "absent")),
)
def test_market_without_a_possible_line_is_refused(made: Any) -> None:
    """The market is counted once, not for each outcome, and the other markets stay."""
    other, left = (SPREADS, HANDICAP) if made["key"] == "totals" else (TOTALS, OVER_UNDER)
    answer = offered(H2H, made, other)

    assert dict([RESULT, left]) == listed(answer)
    assert {Reason.LINE: 1} == read(answer).passed_over


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(altered(SPREADS, 0, name="Draw"), id="a European handicap"),
        pytest.param(altered(SPREADS, 0, name="Birch Utd"), id="another name for a team"),
        pytest.param(altered(TOTALS, 0, name="over"), id="another word for over"),
        pytest.param(altered(TOTALS, 0, description=HOME), id="a total of a team"),
        pytest.param(altered(SPREADS, 1, description="Corners"), id="a description"),
        pytest.param(altered(TOTALS, 1, description=7), id="a description of another type"),
        pytest.param({**TOTALS, "outcomes": []}, id="none"),
        pytest.param({**SPREADS, "outcomes": TOTALS["outcomes"]}, id="outcomes of totals"),
    ],
)
def test_outcome_of_another_bet_refuses_its_market(made: Any) -> None:
    """The market is counted, and 1X2 stays."""
    assert dict([RESULT]) == listed(offered(H2H, made))
    assert {Reason.OUTCOME: 1} == read(offered(H2H, made)).passed_over


@pytest.mark.parametrize(
    ("made", "reasons"),
    [
        pytest.param({**TOTALS, "outcomes": TOTALS["outcomes"][:1]}, {Reason.INCOMPLETE: 1}, id="one side"),
        pytest.param(altered(TOTALS, 0, point=3.5), {Reason.INCOMPLETE: 2}, id="two half lines"),
        pytest.param(altered(SPREADS, 0, point=-0.25), {Reason.INCOMPLETE: 2}, id="equal points"),
        pytest.param(totals((2.5, 1.9, 1.95), (2.5, 1.8, 2.0)), {Reason.DUPLICATE: 1}, id="a line twice"),
        pytest.param(totals((2.5, 1.9, 1.95), (3.5, 1.6, 2.4)), {Reason.LINES: 2}, id="contradictions"),
        pytest.param(totals((2.5, 1.9, 1.0)), {Reason.PRICE: 1}, id="a price of 1"),
        pytest.param(altered(TOTALS, 0, price="1.9"), {Reason.PRICE: 1}, id="a price as text"),
        pytest.param(totals((2.5, 1.5, 1.6)), {Reason.BOOK_SUM: 1}, id="a sum above"),
        pytest.param(totals((2.5, 2.2, 2.2)), {Reason.BOOK_SUM: 1}, id="a sum below"),
    ],
)
def test_bad_line_is_rejected_alone(made: Any, reasons: dict[Reason, int]) -> None:
    """The line becomes a removal of its own id; 1X2 and other markets stay."""
    other = SPREADS if made["key"] == "totals" else TOTALS
    admission = judged(offered(H2H, made, other))

    assert 2 == len(admission.batch.matches)
    assert reasons == admission.rejected
    assert all(removal.source_match_id.startswith("m1 ") for removal in admission.batch.removals)


FIRST, SECOND = offered(H2H, TOTALS), offered(H2H, totals((3.5, 3.2, 1.35)), SPREADS)


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param((FIRST, SECOND), id="match twice"),
        pytest.param(
            ({**FIRST, "bookmakers": FIRST["bookmakers"] + SECOND["bookmakers"]},), id="bookmaker"
        ),
    ],
)
def test_match_that_is_there_twice_has_no_market(answers: tuple[Any, ...]) -> None:
    """Lines that only one of the two has are not shown either: they may be old."""
    assert {} == listed(*answers)
    assert 4 == judged(*answers).rejected[Reason.DUPLICATE]


@pytest.mark.parametrize(
    "key",
    [
        *(
            "totals_h1",
            "spreads_h1",
            "h2h_h1",
            "h2h_3_way",
            "alternate_totals",
            "alternate_spreads",
            "btts",
        ),
        *("team_totals", "alternate_totals_corners", "Totals", "totals ", "to_qualify", "totals_lay"),
    ],
)
def test_market_that_looks_alike_is_counted_and_named(key: str) -> None:
    """Only the exact keys are read."""
    extract = read(offered(H2H, TOTALS, {**SPREADS, "key": key}))

    assert ["1x2", "over_under:2.5"] == [str(match.market) for match in extract.matches]
    assert {Reason.MARKET: 1} == extract.passed_over
    assert (f"markets that are not read: {key!r}",) == extract.notes


@pytest.mark.parametrize("markets", [("h2h",), ALL_MARKETS])
def test_lay_prices_are_counted(markets: tuple[str, ...]) -> None:
    """Lay prices come with 1X2 without being asked for; lay prices do not affect 1X2, and cause no note."""
    lay = market(HOME, AWAY, (9.0, 9.0, 9.0), key="h2h_lay")
    extract = read(offered(lay, H2H, lay), markets=markets)

    assert ([RESULT[1]], (), {Reason.LAY: 2}, ()) == (
        *([match.prices for match in extract.matches], extract.removals),
        *(extract.passed_over, extract.notes),
    )


def test_match_without_1x2_has_its_other_markets() -> None:
    """Missing 1X2 is counted if it was asked for; the newest refresh time of any market gives the lag."""
    admission = judged(offered(TOTALS, SPREADS))
    old = totals((2.5, 1.9, 1.95), updated="2026-05-28T20:19:00Z")

    assert dict([OVER_UNDER, HANDICAP]) == listed(offered(TOTALS, SPREADS))
    assert {Reason.NO_RESULT: 1} == admission.rejected
    assert {} == judged(offered(TOTALS, SPREADS), markets=("totals", "spreads")).rejected
    assert 30.0 == read(offered(old, SPREADS), answered_at=1_779_999_630.0).lag_s


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"sport_key": "americanfootball_nfl"}, Reason.SPORT),
        ({"commence_time": "soon"}, Reason.START_TIME),
        ({"commence_time": 7}, Reason.TYPE),
        ({"away_team": HOME}, Reason.OUTCOME),
        ({"home_team": ""}, Reason.OUTCOME),
    ],
)
def test_match_that_is_not_fit_has_no_market(fields: dict[str, Any], reason: Reason) -> None:
    """The match's other markets are counted under its reason."""
    extract = read(offered(H2H, TOTALS, SPREADS, **fields))

    assert () == extract.matches
    assert {reason: 2} == extract.passed_over


def test_part_with_a_repeated_field_is_left_out() -> None:
    """Nobody knows which value is right; a market with two keys is counted."""
    text = json.dumps([offered(H2H, TOTALS, SPREADS)])
    for field, lost, passed_over in [
        ('"point": 2.5', "over_under", {}),
        ('"point": 3.5', "over_under", {}),
        ('"key": "totals"', "over_under", {Reason.UNREADABLE: 1}),
        ('"key": "spreads"', "asian_handicap", {Reason.UNREADABLE: 1}),
    ]:
        name = '"key": "spreads"' if "spreads" in field else field.replace("3.5", "2.5")
        extract = read_text(text.replace(name, f"{name}, {field}", 1))

        assert {"1x2", "over_under", "asian_handicap"} - {lost} == {
            match.market.kind for match in extract.matches
        }, field
        assert passed_over == extract.passed_over, field
