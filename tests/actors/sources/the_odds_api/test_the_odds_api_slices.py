"""The Odds API: an answer gives the same list whether read at once or match by match."""

from __future__ import annotations

import json
from time import process_time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.core.cooperative import run_now
from actors.core.errors import UNREADABLE, PayloadError
from actors.source_api.parsing import WHOLE_BYTES, split
from actors.sources.the_odds_api.answers import read_odds
from actors.sources.the_odds_api.wire import OddsEvent, read_event, read_events
from tests.support.builders.the_odds_api import event, market

ODD_PARTS: st.SearchStrategy[Any] = st.sampled_from(
    [1, None, "},{", {"id": 1}, {"id": "n", "bookmakers": 1}, {"name": "m"}, [], [{}]]
)
IDS = st.sampled_from(["m1", 'a"},{"id', "}", "],[", "\\", "é"])
NESTED = st.lists(st.fixed_dictionaries({"id": IDS, "key": IDS}), max_size=2)
EVENTS = st.fixed_dictionaries({"id": IDS, "bookmakers": NESTED})
FORMS: list[dict[str, Any]] = [{}, {"separators": (",", ":")}, {"indent": 1}]


def _one_by_one(body: bytes) -> list[OddsEvent | None] | None:
    try:
        return [read_event(item) for item in split(body)]
    except UNREADABLE:
        return None


def _read(body: bytes) -> list[OddsEvent | None] | None:
    try:
        return list(read_events(body))
    except UNREADABLE:
        return None


def _long(count: int = 2000) -> list[Any]:
    return [
        event(f"m{at}", "Home", "Away", {"some": [market("Home", "Away", (2.1, 3.4, 3.6))]})
        for at in range(count)
    ]


@given(st.lists(EVENTS | ODD_PARTS, max_size=6), st.sampled_from(FORMS))
@example([{"id": "a", "bookmakers": [{"id": "b", "key": "c"}, {"id": "d", "key": "e"}]}] * 2, FORMS[1])
def test_list_equals_its_matches(items: list[Any], form: dict[str, Any]) -> None:
    """For any items, both ways give the same matches in the same order."""
    body = json.dumps(items, **form).encode()

    assert _one_by_one(body) == _read(body)


@given(st.lists(EVENTS, min_size=1, max_size=4), st.integers(0, 400), st.binary(max_size=3))
@example([{"id": "a"}] * 3, 12, b"\x0b")
@example([{"id": "a"}] * 3, 13, b"\xff")
def test_invalid_list_is_invalid_either_way(items: list[Any], at: int, put_in: bytes) -> None:
    """With bytes inserted anywhere, both ways raise an error, or both return the same list."""
    body = json.dumps(items).encode()
    body = body[: at % len(body)] + put_in + body[at % len(body) :]

    assert _one_by_one(body) == _read(body)


@given(st.integers(0, 10_000))
def test_list_cut_anywhere_is_refused_entirely(length: int) -> None:
    """A truncated list is refused even if its last match is complete, since others may be missing."""
    body = json.dumps(_long(40)).encode()

    with pytest.raises(PayloadError):
        run_now(read_odds(body[: length % len(body)], None))


@pytest.mark.parametrize("form", FORMS, ids=["spaced", "dense", "indented"])
def test_long_answer_is_read_like_short_ones(form: dict[str, Any]) -> None:
    """Each match of a long answer has the same result as in a short answer."""
    body = json.dumps(_long(), **form).encode()
    events = json.loads(body)

    assert len(body) > WHOLE_BYTES
    assert [_read(json.dumps([one]).encode()) for one in events] == [[one] for one in read_events(body)]


@pytest.mark.parametrize("field", ["sport_key", "bookmakers"])
def test_long_answer_in_another_order_is_read(field: str) -> None:
    """A match need not begin with its id."""
    body = json.dumps([{field: one[field], **one} for one in _long()]).encode()

    assert len(body) > WHOLE_BYTES
    assert 2000 == sum(one is not None for one in read_events(body))


@pytest.mark.parametrize(
    "body",
    [b'[{"id": "' + b'\\"' * 2**17, b'[{"id": "a"}, "' + b'"' * 2**20, b"[" * 2**20, b'[{"id":' * 2**18],
    ids=["marks in an unfinished text", "marks", "brackets", "matches in matches"],
)
def test_hostile_answer_is_refused_at_once(body: bytes) -> None:
    """A long text without an end or deep lists take no additional time."""
    began = process_time()
    with pytest.raises(PayloadError):
        run_now(read_odds(body, None))

    assert process_time() - began < 1.0
