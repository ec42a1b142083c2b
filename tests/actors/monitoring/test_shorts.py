"""Short names differ for any two bookmakers, are the same in every process, and fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.monitoring.shorts import MAX_SHORT, shorts_of

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zs", "Zl", "Zp")), min_size=1).map(
    lambda text: text[:128]
)


@pytest.mark.parametrize(
    ("names", "shorts"),
    [
        ("Bet365|bwin|Ladbrokes", "Bet365|bwin|Ladbrokes"),
        ("Alder (simulated)|Birch (simulated)", "Alder|Birch"),
        ("William Hill|Paddy Power|Marathonbet", "William|Paddy|Marathonb"),
        ("Betfair|Betfair Exchange|Betfair Sportsbook", "Betfair|BetfairE|BetfairS"),
        ("Betfair (UK)|Betfair (EU)", "BetfairU|BetfairE"),
        ("Superbetonline|Superbethouse", "Superbeto|Superbeth"),
        ("Superbetting.com|Superbetting.de", "Superbeom|Superbede"),
    ],
)
def test_a_short_name_is_the_first_form_that_is_nobody_elses(names: str, shorts: str) -> None:
    """Forms are the whole name, its first word, the word with initials, or its beginning with its end."""
    assert shorts.split("|") == list(shorts_of({name: name for name in names.split("|")}, {}).values())


def test_a_given_short_name_is_kept_and_no_other_is_called_so() -> None:
    """No other bookmaker gets that name, whether in upper or lower case."""
    names = {"a": "Bet365", "b": "B365"}

    assert {"a": "b365", "b": "B3651"} == shorts_of(names, {"a": "b365"})


@given(st.dictionaries(st.integers(0, 99).map(str), NAMES, max_size=40))
def test_short_names_differ_and_fit(names: dict[str, str]) -> None:
    """Short names differ and fit for any names, also for equal names."""
    shorts = shorts_of(names, {})

    assert list(names) == list(shorts)
    assert len(names) == len({short.casefold() for short in shorts.values()})
    assert all(0 < len(short) <= MAX_SHORT for short in shorts.values())


@given(st.lists(NAMES, max_size=20, unique_by=str.casefold))
def test_short_names_do_not_depend_on_the_order_of_bookmakers(names: list[str]) -> None:
    """The order matters only if no form of a name is unique."""
    there = shorts_of({name: name for name in names}, {})
    back = shorts_of({name: name for name in reversed(names)}, {})

    assert {name: short for name, short in there.items() if not short[-1].isdigit()} == {
        name: back[name] for name, short in there.items() if not short[-1].isdigit()
    }
