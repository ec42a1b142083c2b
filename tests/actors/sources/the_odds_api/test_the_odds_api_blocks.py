"""The Odds API: a long answer is read in blocks, and is the same list as if it were read at once."""

from __future__ import annotations

import json
from itertools import chain
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.core.cooperative import run_now
from actors.core.errors import UNREADABLE, PayloadError
from actors.sources.the_odds_api.answers import read_slate
from actors.sources.the_odds_api.blocks import BLOCK_BYTES, LONGEST, Block, read_events, split
from actors.sources.the_odds_api.wire import read_event
from tests.support.builders.the_odds_api import event, market

ODD_PARTS: st.SearchStrategy[Any] = st.sampled_from(
    [1, None, "},{", {"id": 1}, {"id": "n", "bookmakers": 1}, {"name": "m"}, [], [{}]]
)
IDS = st.sampled_from(["m1", 'a"},{"id', "}", "],[", "\\", "é"])
NESTED = st.lists(st.fixed_dictionaries({"id": IDS, "key": IDS}), max_size=2)
EVENTS = st.fixed_dictionaries({"id": IDS, "bookmakers": NESTED})
FORMS: list[dict[str, Any]] = [{}, {"separators": (",", ":")}, {"indent": 1}]


def _at_once(body: bytes) -> Block | None:
    try:
        return [read_event(item) for item in split(body)]
    except UNREADABLE:
        return None


def _in_blocks(body: bytes, block_bytes: int) -> Block | None:
    try:
        return list(chain.from_iterable(read_events(body, block_bytes)))
    except UNREADABLE:
        return None


def _long(count: int = 2000) -> list[Any]:
    return [
        event(f"m{at}", "Home", "Away", {"some": [market("Home", "Away", (2.1, 3.4, 3.6))]})
        for at in range(count)
    ]


@given(st.lists(EVENTS | ODD_PARTS, max_size=6), st.sampled_from(FORMS), st.integers(0, 60))
@example([{"id": "a", "bookmakers": [{"id": "b", "key": "c"}, {"id": "d", "key": "e"}]}] * 2, FORMS[1], 0)
def test_blocks_are_the_list(items: list[Any], form: dict[str, Any], block_bytes: int) -> None:
    """Whatever its items hold, and wherever they seem to end: the same matches in the same order."""
    body = json.dumps(items, **form).encode()

    assert _at_once(body) == _in_blocks(body, block_bytes)


@given(
    st.lists(EVENTS, min_size=1, max_size=4), st.integers(0, 400), st.binary(max_size=3), st.integers(0, 60)
)
@example([{"id": "a"}] * 3, 12, b"\x0b", 0)
@example([{"id": "a"}] * 3, 13, b"\xff", 0)
def test_a_broken_list_is_broken_in_blocks(
    items: list[Any], at: int, put_in: bytes, block_bytes: int
) -> None:
    """Bytes put in anywhere: an error where there was one, and else the same list."""
    body = json.dumps(items).encode()
    body = body[: at % len(body)] + put_in + body[at % len(body) :]

    assert _at_once(body) == _in_blocks(body, block_bytes)


@given(st.integers(0, 10_000))
def test_a_list_cut_anywhere_is_refused_whole(length: int) -> None:
    """Also where the last match that came is whole: nobody knows what is missing."""
    body = json.dumps(_long(40)).encode()

    with pytest.raises(PayloadError):
        run_now(read_slate(body[: length % len(body)], None))


@pytest.mark.parametrize("form", FORMS, ids=["spaced", "dense", "indented"])
def test_a_long_answer_is_read_in_short_blocks(form: dict[str, Any]) -> None:
    """None of them is longer than a few dozen kilobytes."""
    body = json.dumps(_long(), **form).encode()
    counts = [len(block) for block in read_events(body)]

    assert 2000 == sum(counts)
    assert max(counts) * len(body) / 2000 <= 2 * BLOCK_BYTES


@pytest.mark.parametrize("field", ["sport_key", "bookmakers"])
def test_an_answer_in_another_order_is_read_in_slices_too(field: str) -> None:
    """Where no match begins with its id, the reader splits the list, and the matches are read in slices."""
    body = json.dumps([{field: one[field], **one} for one in _long()]).encode()
    counts = [len(block) for block in read_events(body)]

    assert len(body) > LONGEST * BLOCK_BYTES
    assert (2000, True) == (sum(counts), len(counts) >= 100)
