"""The Odds API: answers that are cut, or that take long to be refused."""

from __future__ import annotations

import json
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.sources.the_odds_api.answers import read_odds
from tests.support.builders.the_odds_api import event, market


def _long(count: int = 2000) -> list[Any]:
    return [
        event(f"m{at}", "Home", "Away", {"some": [market("Home", "Away", (2.1, 3.4, 3.6))]})
        for at in range(count)
    ]


@given(st.integers(0, 10_000))
def test_list_cut_anywhere_is_refused_entirely(length: int) -> None:
    """A truncated list is refused even if its last match is complete, since others may be missing."""
    body = json.dumps(_long(40)).encode()

    with pytest.raises(PayloadError):
        run_now(read_odds(body[: length % len(body)], None))


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
