"""The form of numbers, times, texts and file names in the archive."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.archive.days.format import (
    begin_of,
    day_named,
    day_of,
    exact,
    exact_time,
    name_of,
    number,
    text,
    time_of,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)
TIMES = st.one_of(FINITE, st.integers(0, 2**41).map(lambda ms: ms / 1000))


@given(st.one_of(FINITE, st.integers(1001, 10**7).map(lambda price: price / 1000)))
def test_a_number_is_stored_exactly(value: float) -> None:
    """Reading the stored number gives the very same number."""
    stored = exact(value)

    assert (value, float) == (number(stored), type(number(stored)))


@pytest.mark.parametrize("price", [1.01, 2.0, 3.45, 153.0])
def test_a_usual_price_is_a_whole_number(price: float) -> None:
    """A price with up to three decimals is stored as a whole number of thousandths."""
    assert round(price * 1000) == exact(price)
    assert isinstance(exact(price), int)


@given(TIMES, st.integers(0, 2**41))
def test_a_time_is_stored_exactly(at: float, origin_ms: int) -> None:
    """Reading the stored time gives the very same time, whatever origin the stored time counts from."""
    assert at == time_of(exact_time(at, origin_ms), origin_ms)


def test_a_day_begins_and_ends_at_midnight_utc() -> None:
    """The moment before midnight belongs to the previous day."""
    day = date(2026, 11, 25)

    assert (day, date(2026, 11, 24)) == (day_of(begin_of(day)), day_of(begin_of(day) - 1))


@pytest.mark.parametrize(
    "name", ["2026-11-25.db.bad", "2026-13-25.db", "x2026-11-25.db", "lock", "2026-11-25"]
)
def test_another_name_is_no_day(name: str) -> None:
    """Only the name of a day's own file is read as a day."""
    assert day_named(name) is None
    assert date(2026, 11, 25) == day_named(name_of(date(2026, 11, 25)))


def test_a_text_that_is_none_can_be_stored() -> None:
    """Half of a surrogate pair becomes a question mark, and all other characters stay."""
    assert ("a?", "Ünión 足球") == (text("a\ud800"), text("Ünión 足球"))
