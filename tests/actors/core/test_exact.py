"""Values of exact types: values from foreign code of any other type are refused and counted."""

from __future__ import annotations

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
from actors.core.exact import NotExactError, exact_extract, number, seconds, text
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


JUNK: list[Any] = [None, True, np.bool_(True), b"2.5", "2.5", object(), [2.5], 2j, Decimal("sNaN")]  # noqa: FBT003 - values
ODD: list[Any] = [
    *(*JUNK, 7, 10**400, nan, inf, Float(nan), Float(2.5), Int(2), Str("Alder"), Decimal("2.5")),
    Fraction(5, 2),
    *(np.float64(2.5), np.float32(2.5), np.int64(2), np.str_("Alder")),
]

prices = st.sampled_from([2.5, 3.25, 4.0])
texts = st.sampled_from(["Alder", "é", "a\nb", ""])
times = st.sampled_from([None, 1, 2**30])
EXACT = st.builds(
    Match,
    *(st.sampled_from([f"m{at}" for at in range(6)]), texts, texts, st.none() | texts),
    *(prices, prices, prices, times, st.none() | prices, times),
)
MATCHES = EXACT | st.builds(
    lambda match, field, value: msgspec.structs.replace(match, **{field: value}),
    *(EXACT, st.sampled_from(Match.__struct_fields__), st.sampled_from(ODD)),
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
    "in_play": {bool, type(None)},
    "fee_rate": {float},
    "max_stake": {float, type(None)},
}


def _admitted(matches: list[Any]) -> Batch:
    extract = exact_extract(Extract(tuple(matches)))
    return run_now(admit(batch(extract.matches, removals=extract.removals, kinds=()), Bounds())).batch


@pytest.mark.parametrize("value", [*JUNK, Float(2.5), Int(2), Fraction(2), np.float64(2.5), Decimal(2)])
def test_value_that_is_not_a_number_is_refused(value: Any) -> None:
    """Texts, truth values and numbers of other types are refused, with the name of the field."""
    with pytest.raises(NotExactError, match=r"^lag_s was a .*, must be a number$"):
        number(value, "lag_s")


@pytest.mark.parametrize(("value", "expected"), [(2.5, 2.5), (2, 2.0), (inf, inf)])
def test_number_is_a_plain_float(value: float, expected: float) -> None:
    """An int and infinity are numbers as well; infinity is for a plan that never asks again."""
    made = number(value, "lag_s")

    assert (float, expected, expected) == (type(made), made, seconds(value, "lag_s"))


@pytest.mark.parametrize("value", [Str("Alder"), np.str_("Alder"), b"Alder", None, 1])
def test_value_that_is_not_a_text_is_refused(value: Any) -> None:
    """A subclass of str may have another text than its value."""
    with pytest.raises(NotExactError, match=r"^title was a .*, must be a str$"):
        text(value, "title")


@given(st.lists(MATCHES, max_size=6))
def test_admitted_values_have_exact_types(matches: list[Match]) -> None:
    """Every value of every admitted match has exactly the type that is published."""
    for match in _admitted(matches).matches:
        for name, kinds in KINDS_OF_VALUE.items():
            assert type(getattr(match, name)) in kinds
        assert not isnan(sum((match.home_price, match.draw_price, match.away_price)))
        assert msgspec.json.decode(msgspec.json.encode(match), type=Match) == match


def test_match_that_cannot_be_exact_becomes_a_removal() -> None:
    """The match becomes a removal with a reason of its own, and the other matches pass."""
    good = Match(SourceMatchId("m1"), "A", "B", None, 2.5, 3.4, 3.1, None)
    bad: Any = Match(SourceMatchId("m2"), "A", "B", None, "2.5", 3.4, 3.1, None)  # type: ignore[arg-type]
    extract = exact_extract(Extract((good, bad)))

    assert ((good,), (Removal(SourceMatchId("m2"), "type"),)) == (extract.matches, extract.removals)


def test_removed_match_is_not_shown() -> None:
    """A match whose id is among the removals is not shown."""
    odd: Any = Match(SourceMatchId("m1"), "A", "B", None, 2.5, 3.4, 3.1, None)
    extract = exact_extract(Extract((), (odd,)))

    assert ((), (Removal(SourceMatchId("m1"), "type"),)) == (extract.matches, extract.removals)


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("field", ["home_price", "draw_price", "away_price"])
def test_price_of_another_type_is_refused(field: str, odd: Any) -> None:
    """The price is not converted: the reason shows the error to the plug-in, and nothing is raised."""
    good = Match(SourceMatchId("m1"), "A", "B", None, 2.5, 3.4, 3.1, None)
    extract = exact_extract(Extract((msgspec.structs.replace(good, **{field: odd}),)))
    reason = "price" if type(odd) is float else "type"

    assert ((), (Removal(SourceMatchId("m1"), reason),)) == (extract.matches, extract.removals)


def test_match_without_an_id_is_counted() -> None:
    """Without an id there is no entry to remove, so the match is only counted."""
    nameless: Any = Match(7, "A", "B", None, 2.5, 3.4, 3.1, None)  # type: ignore[arg-type]
    extract = exact_extract(Extract((nameless, {"home": "A"}), (Removal(b"m", "x"),)))  # type: ignore[arg-type]

    assert ((), (), {"type": 3}) == (extract.matches, extract.removals, extract.passed_over)


@pytest.mark.parametrize(
    "other", [{"title": Str("Alder")}, {"lag_s": Fraction(3, 2)}, {"answered_at": np.float64(7)}]
)
def test_extract_with_another_field_that_is_not_exact_is_refused(other: dict[str, Any]) -> None:
    """Title and times of an extract are published or compared, so they must be exact as well."""
    ((name, _),) = other.items()

    with pytest.raises(NotExactError, match=f"^{name} was a "):
        exact_extract(Extract((), **other))


def test_counts_that_are_not_exact_are_left_out() -> None:
    """The counts of a plug-in are published, but wrong counts remove no match."""
    counts: Any = {"lay": 2, Str("sport"): 1, "outcome": Int(1), "two_way": 1.0}

    assert {"lay": 2} == exact_extract(Extract((), passed_over=counts)).passed_over


@pytest.mark.parametrize("given_", [None, {}, [], "x", (1, 2)])
def test_value_that_is_not_an_extract_is_refused(given_: Any) -> None:
    """A value of another type is an error."""
    with pytest.raises(NotExactError, match="must be an Extract"):
        exact_extract(given_)
