"""Values of exact types: values from foreign code are converted to plain ones, or rejected and counted."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import inf, isnan, nan
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.core.cooperative import run_now
from actors.core.exact import NotExactError, exact_extract, number, seconds, text, whole
from actors.core.messages import Batch, Extract, Match, Removal, SourceMatchId
from actors.core.validation import Bounds, admit
from tests.support.builders.messages import batch


class Float(float):
    """A subclass whose conversion returns another number than its value."""

    def __float__(self) -> float:
        return 99.0


class Int(int):
    """A subclass of int."""


class Str(str):
    """A subclass whose text differs from its value."""

    __slots__ = ()

    def __str__(self) -> str:
        return "another"


NUMBERS: list[Callable[[Any], Any]] = [float, Float, Fraction, np.float64, np.float32]
WHOLES: list[Callable[[Any], Any]] = [int, Int, np.int64, np.int32, np.float64, Fraction]
TEXTS: list[Callable[[Any], Any]] = [str, Str, np.str_]
JUNK: list[Any] = [None, True, np.bool_(True), b"2.5", "2.5", object(), [2.5], 2j, Decimal("sNaN"), 10**400]  # noqa: FBT003 - values


def _made(makers: list[Callable[[Any], Any]], values: list[Any]) -> st.SearchStrategy[Any]:
    return st.builds(lambda make, value: make(value), st.sampled_from(makers), st.sampled_from(values))


numbers = _made(NUMBERS, [2.5, 3.25, 4.0])
wholes = _made(WHOLES, [1, 2**30])
texts = _made(TEXTS, ["Alder", "é", "a\nb", ""])
junk = st.sampled_from(JUNK) | st.sampled_from([nan, inf, Float(nan), Decimal("NaN")])
ids = _made(TEXTS, [f"m{at}" for at in range(6)])
MATCHES = st.builds(
    Match,
    ids | junk,
    texts | junk,
    texts | junk,
    st.none() | texts | junk,
    numbers | st.builds(Decimal, st.sampled_from(["2.5", "4"])) | junk,
    numbers | junk,
    numbers | junk,
    st.none() | wholes | junk,
    st.none() | numbers | junk,
    st.none() | wholes | junk,
)
KINDS_OF_VALUE: dict[str, set[type]] = {
    "source_match_id": {str},
    "home": {str},
    "away": {str},
    "league": {str, type(None)},
    "home_price": {float},
    "draw_price": {float},
    "away_price": {float},
    "start_time": {int, type(None)},
    "source_time": {float, type(None)},
    "latest_start": {int, type(None)},
}


def _admitted(matches: list[Any]) -> Batch:
    extract = run_now(exact_extract(Extract(tuple(matches))))
    return run_now(admit(batch(extract.matches, removals=extract.removals), Bounds())).batch


@pytest.mark.parametrize("make", [*NUMBERS, Decimal])
def test_number_of_another_type_becomes_a_float(make: Callable[[Any], Any]) -> None:
    """The result is the real value, whatever a subclass returns."""
    made = number(make(2.5))

    assert (float, 2.5) == (type(made), made)


@pytest.mark.parametrize("make", WHOLES)
def test_whole_number_of_another_type_becomes_an_int(make: Callable[[Any], Any]) -> None:
    """A float without a fraction becomes an int as well."""
    made = whole(make(2**30))

    assert (int, 2**30) == (type(made), made)


@pytest.mark.parametrize("make", TEXTS)
def test_text_of_another_type_becomes_a_str(make: Callable[[Any], Any]) -> None:
    """A subclass of str becomes a str with its real value."""
    made = text(make("Alder"))

    assert (str, "Alder") == (type(made), made)


@pytest.mark.parametrize("value", JUNK)
def test_value_that_is_not_a_number_is_refused(value: Any) -> None:
    """Neither texts nor truth values are accepted as numbers, and no other exception is raised."""
    with pytest.raises(NotExactError, match="was a "):
        number(value)


@pytest.mark.parametrize("value", [1.5, nan, inf, Decimal("0.1"), "1", True])
def test_value_that_is_not_a_whole_number_is_refused(value: Any) -> None:
    """A kick-off cannot have a fraction of a second."""
    with pytest.raises(NotExactError):
        whole(value)


@pytest.mark.parametrize("value", [nan, np.float64(nan), "3", None, True])
def test_value_that_is_not_a_duration_is_refused_by_name(value: Any) -> None:
    """The error names the value; NaN is refused because no comparison with a deadline holds for it."""
    with pytest.raises(NotExactError, match="interval_s was "):
        seconds(value, "interval_s")


def test_infinity_is_a_duration() -> None:
    """Infinity is accepted, for a plan that never asks again."""
    assert inf == seconds(np.float64(inf), "interval_s")


@given(st.lists(MATCHES, max_size=6))
def test_admitted_values_have_exact_types(matches: list[Match]) -> None:
    """Every value of every admitted match has exactly the type that is published."""
    for match in _admitted(matches).matches:
        for name, kinds in KINDS_OF_VALUE.items():
            assert type(getattr(match, name)) in kinds
        assert not isnan(sum((match.home_price, match.draw_price, match.away_price)))
        assert msgspec.json.decode(msgspec.json.encode(match), type=Match) == match


@given(MATCHES, st.lists(MATCHES, max_size=300))
def test_other_matches_do_not_change_the_verdict(match: Match, neighbours: list[Match]) -> None:
    """A match with a unique id is admitted among others if and only if it is admitted alone."""
    own = msgspec.structs.replace(match, source_match_id=SourceMatchId("own"))
    alone, beside = _admitted([own]), _admitted([*neighbours, own])

    assert alone.matches == tuple(one for one in beside.matches if one.source_match_id == "own")


def test_match_that_cannot_be_exact_becomes_a_removal() -> None:
    """The match becomes a removal with a reason of its own, and the other matches pass."""
    good = Match(SourceMatchId("m1"), "A", "B", None, 2.5, 3.4, 3.1, None)
    bad: Any = Match(SourceMatchId("m2"), "A", "B", None, "2.5", 3.4, 3.1, None)  # type: ignore[arg-type]
    extract = run_now(exact_extract(Extract((good, bad))))

    assert ((good,), (Removal(SourceMatchId("m2"), "type"),)) == (extract.matches, extract.removals)


def test_removed_match_is_not_shown() -> None:
    """A match whose id is among the removals is not shown."""
    odd: Any = Match(SourceMatchId("m1"), "A", "B", None, 2.5, 3.4, 3.1, None)
    extract = run_now(exact_extract(Extract((), (odd,))))

    assert ((), (Removal(SourceMatchId("m1"), "type"),)) == (extract.matches, extract.removals)


@pytest.mark.parametrize("price", [nan, inf, Decimal("NaN")])
def test_price_that_is_not_finite_is_removed_before_recording(price: Any) -> None:
    """JSON cannot hold such a price, and a recording would lose the other matches as well."""
    odd = Match(SourceMatchId("m1"), "A", "B", None, 2.5, price, 3.1, None)
    extract = run_now(exact_extract(Extract((odd,))))

    assert ((), (Removal(SourceMatchId("m1"), "price"),)) == (extract.matches, extract.removals)


def test_match_without_an_id_is_counted() -> None:
    """Without an id there is no entry to remove, so the match is only counted."""
    nameless: Any = Match(7, "A", "B", None, 2.5, 3.4, 3.1, None)  # type: ignore[arg-type]
    extract = run_now(exact_extract(Extract((nameless, {"home": "A"}), (Removal(b"m", "x"),))))  # type: ignore[arg-type]

    assert ((), (), {"type": 3}) == (extract.matches, extract.removals, extract.passed_over)


def test_other_fields_of_an_extract_become_exact() -> None:
    """Title, counters and lag of an extract are converted too, since they are published or compared."""
    odd: Any = {"lag_s": Fraction(3, 2), "answered_at": Int(7), "passed_over": {Str("lay"): Int(2)}}
    given_ = Extract((), title=np.str_("Alder"), **odd)
    extract = run_now(exact_extract(given_))

    assert ("Alder", {"lay": 2}, 1.5, 7.0) == (
        *(extract.title, extract.passed_over),
        *(extract.lag_s, extract.answered_at),
    )
    ((name, count),) = extract.passed_over.items()
    values = (extract.title, name, count, extract.lag_s, extract.answered_at)
    assert [str, str, int, float, float] == [type(one) for one in values]


@pytest.mark.parametrize("given_", [None, {}, [], "x", (1, 2)])
def test_value_that_is_not_an_extract_is_refused(given_: Any) -> None:
    """A value of another type is an error."""
    with pytest.raises(NotExactError, match="must be an Extract"):
        run_now(exact_extract(given_))
