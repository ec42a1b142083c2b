"""A suggestion for a name that somebody wrote: another name, from the most important list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.core.nearest import did_you_mean

_NAMES = st.lists(st.text("abAB_ ", max_size=4), max_size=5)


@given(st.text("abAB_ ", max_size=4), _NAMES, _NAMES)
def test_suggestion_is_never_what_was_written(written: str, first: list[str], second: list[str]) -> None:
    """Whatever the lists have, the suggestion is one of their names, and not the written name."""
    others = ({*first} | {*second}) - {written}

    assert did_you_mean(written, first, second) in {"", *(f"; did you mean {name!r}?" for name in others)}


@pytest.mark.parametrize(
    ("written", "lists", "suggested"),
    [
        pytest.param("alder", [["alder"]], None, id="only itself"),
        pytest.param("", [[""]], None, id="nothing"),
        pytest.param("alder", [["alder", "alder_fr"]], "alder_fr", id="the next after itself"),
        pytest.param("Alder", [["alder"]], "alder", id="in another case"),
        pytest.param("ALDER", [["ALDER", "alder"]], "alder", id="itself, and in another case"),
        pytest.param("alder", [["birch", "alder_fr"], ["alders"]], "alder_fr", id="of the first list"),
        pytest.param("alder", [["birch"], ["alders"]], "alders", id="else of the next"),
        pytest.param("alder", [["birch"], ["cedar tree"]], None, id="none is near"),
    ],
)
def test_suggestion_is_the_nearest_other_name(
    written: str, lists: list[list[str]], suggested: str | None
) -> None:
    """The suggestion is the nearest name in the first list that has a near name."""
    expected = "" if suggested is None else f"; did you mean {suggested!r}?"

    assert expected == did_you_mean(written, *lists)
