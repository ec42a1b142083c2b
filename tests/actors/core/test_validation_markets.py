"""The integrity gate and other markets than 1X2: their kinds, sums, ids and lines."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from actors.core.cooperative import run_now
from actors.core.messages import Match, SourceMatchId
from actors.core.validation import Admission, Bounds, Reason, admit, fault
from actors.markets.market import Kind, Market, parsed
from actors.markets.odds import Odds
from tests.support.builders.messages import batch, match

ALL = Bounds(kinds=tuple(Kind))
BASE = match("m1")


def _of(market: str, *odds: float) -> Match:
    return BASE.of_market(parsed(market), odds)


def _admitted(matches: Iterable[Match], kinds: tuple[Kind, ...] = ()) -> Admission:
    return run_now(admit(replace(batch(matches), kinds=kinds), ALL))


@pytest.mark.parametrize(
    ("market", "odds", "expected"),
    [
        ("over_under:2.5", (1.9, 1.9), None),
        ("over_under:2.5", (1.5, 1.5), Reason.BOOK_SUM),
        ("over_under:2.5", (2.2, 2.2), Reason.BOOK_SUM),
        ("over_under:2.5", (1.9, 1.0), Reason.PRICE),
        ("over_under:2.5", (1.9,), Reason.INCOMPLETE),
        ("over_under:2.5", (3.0, 3.0, 3.0), Reason.INCOMPLETE),
        ("double_chance", (1.3, 1.3, 1.6), None),
        ("double_chance", (2.6, 3.0, 3.2), Reason.BOOK_SUM),
    ],
)
def test_prices_of_a_market_are_believed_within_its_bounds(
    market: str, odds: Odds, expected: Reason | None
) -> None:
    """1/odds of two outcomes sum to about 1; the three of double chance sum to about 2."""
    assert expected is fault(_of(market, *odds), ALL)


@pytest.mark.parametrize(
    "market",
    [
        Market(Kind.OVER_UNDER),
        Market(Kind.OVER_UNDER, 0),
        Market(Kind.OVER_UNDER, 81),
        Market(Kind.ASIAN_HANDICAP, -41),
        Market(Kind.BTTS, 4),
    ],
    ids=str,
)
def test_market_that_cannot_be_is_refused(market: Market) -> None:
    """A kind with lines needs a line within its range; a kind without lines must have none."""
    assert Reason.MARKET is fault(BASE.of_market(market, (1.9, 1.9)), ALL)


def test_id_has_the_market_behind_that_of_the_match() -> None:
    """Another id is refused: it would be taken for an id of another market."""
    made = _of("btts", 1.9, 1.9)

    for name in ("m1", "m1 btts:", "m1 over_under:2.5", "m 1 btts"):
        assert Reason.MATCH_ID is fault(replace(made, source_match_id=SourceMatchId(name)), ALL)


def test_kind_that_is_not_asked_for_is_refused() -> None:
    """A kind is refused if the source is not asked for it, or if this list was not asked for it."""
    of_source = fault(_of("btts", 1.9, 1.9), Bounds(kinds=(Kind.ONE_X_TWO, Kind.OVER_UNDER)))
    admission = _admitted([BASE, _of("btts", 1.9, 1.9)], (Kind.BTTS,))

    assert Reason.MARKET is of_source
    assert ({"market": 1}, (Kind.BTTS,)) == (admission.rejected, admission.batch.kinds)
    assert ["m1 btts"] == [each.source_match_id for each in admission.batch.matches]


def test_lines_that_contradict_each_other_are_refused_all() -> None:
    """All lines of the same kind and match are refused; another kind, another match and 1X2 stay."""
    other = match("m2")
    admission = _admitted(
        [
            BASE,
            _of("over_under:1.5", 1.5, 2.7),
            _of("over_under:2.5", 1.45, 2.9),
            _of("over_under:3.5", 3.5, 1.32),
            _of("asian_handicap:-0.5", 2.0, 1.85),
            other.of_market(parsed("over_under:2.5"), (1.4, 3.0)),
        ]
    )

    assert {"lines": 3} == admission.rejected
    assert ["m1", "m1 asian_handicap:-0.5", "m2 over_under:2.5"] == [
        each.source_match_id for each in admission.batch.matches
    ]
    assert {"lines"} == {removal.reason for removal in admission.batch.removals}


def test_lines_may_have_equal_odds() -> None:
    """Home odds fall and away odds rise with the handicap's line; equal odds of two lines are allowed."""
    lines = (_of("asian_handicap:-1", 2.2, 1.7), _of("asian_handicap:-0.75", 2.2, 1.72))

    assert {} == _admitted(lines).rejected
    assert {"lines": 2} == _admitted([lines[0], _of("asian_handicap:-0.75", 2.21, 1.72)]).rejected
