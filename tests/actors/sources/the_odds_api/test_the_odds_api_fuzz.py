"""The Odds API with hostile bytes: a PayloadError or a valid list, nothing else."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.core.messages import ListId, Match, Payload, Scope, SourceName
from actors.core.validation import Bounds, admit
from actors.sources.the_odds_api.kind import KIND
from actors.sources.the_odds_api.options import SPORTS_SCOPE, TheOddsApiOptions
from tests.support.builders.messages import batch
from tests.support.builders.the_odds_api import API_KEY, event, market

OPTIONS = TheOddsApiOptions(kind=KIND.name, api_key=API_KEY, sports="football")
KEYS = ("some", "other", "")
VALID = [
    event(
        f"m{number}",
        f"Home {number}",
        f"Away {number}",
        {
            "some": [market(f"Home {number}", f"Away {number}", (2.1, 3.4, 3.6))],
            "other": [
                market(f"Home {number}", f"Away {number}", (1.9, 3.5, 4.2)),
                market(f"Home {number}", f"Away {number}", (2.0, 3.7, 4.5), key="h2h_lay"),
            ],
        },
    )
    for number in range(3)
]
BODY = json.dumps(VALID).encode()
PLACES = st.integers(0, len(BODY))
TOKENS = st.sampled_from(
    [
        *(b"null", b"true", b"NaN", b"-Infinity", b"1e400", b"-1", b"0", b"1.0", b"9" * 27, b'"2,50"'),
        *(
            b"{",
            b"}",
            b"[",
            b"]",
            b",",
            b":",
            b'"',
            b"\\",
            b"\\u0000",
            b"\\ud800",
            b"\xff",
            b"\xef\xbb\xbf",
        ),
        *(b'"price": 1e308,', b'"name": "Draw",', b'"key": "h2h",', b'"id": "m1",', b'"message": "x"'),
        *(b"\0", b"\xe2\x80\xae", b"[" * 5000, b'{"a":' * 5000, b'"9999-12-31T23:59:59Z"', b"0001-01-01"),
    ]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(
        [
            *("Draw", "Home 1", "h2h", "soccer_epl", "m1", "some", 10**27, "2,50", "1e400", "x" * 5000),
            *("0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "\u202eHome"),
        ]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
PATHS = st.lists(st.integers(0, 9), max_size=9)


def _breaks_a_rule(match: Match) -> bool:
    prices = (match.home_price, match.draw_price, match.away_price)
    return not (
        all(isfinite(price) and price > 1.0 for price in prices)
        and 0.95 <= sum(1 / price for price in prices) <= 1.40
        and (match.start_time is None or 0 < match.start_time <= 4_102_444_800)
        and (match.source_time is None or isfinite(match.source_time))
    )


def _check(body: bytes) -> None:
    for scope in ("soccer_epl", SPORTS_SCOPE):
        payload = Payload(SourceName("api"), Scope(scope), ListId("l"), body, 0.0, 0.0, answered_at=1e9)
        try:
            content = run_now(KIND.decode(payload, OPTIONS))
        except PayloadError:
            continue
        if scope == SPORTS_SCOPE:
            assert all(key.startswith("soccer_") for key in content.keys)
            continue
        for key in KEYS:
            extract = run_now(KIND.extract(content, key, OPTIONS))
            assert extract.lag_s is None or isfinite(extract.lag_s)
            accepted = run_now(admit(batch(extract.matches, removals=extract.removals), Bounds())).batch
            assert [one for one in accepted.matches if _breaks_a_rule(one)] == []
            assert len({one.source_match_id for one in accepted.matches}) == len(accepted.matches)


def _put(content: Any, path: list[int], value: Any) -> Any:
    """Put a value somewhere into a structure; the path has the index of an item at each level."""
    if not path or not isinstance(content, list | dict) or not content:
        return value
    keys = list(range(len(content))) if isinstance(content, list) else sorted(content)
    key = keys[path[0] % len(keys)]
    content[key] = _put(content[key], path[1:], value)
    return content


@given(st.binary(max_size=300))
@example(BODY)
@example(BODY.decode().encode("utf-16"))
def test_any_bytes_are_an_error_or_a_list(body: bytes) -> None:
    """Bytes that are no JSON never crash the parser."""
    _check(body)


@given(st.integers(0, len(BODY) - 1))
def test_answer_cut_anywhere_is_an_error(length: int) -> None:
    """A truncated answer is never read as a shorter list."""
    payload = Payload(SourceName("api"), Scope("soccer_epl"), ListId("l"), BODY[:length], 0.0, 0.0)

    with pytest.raises(PayloadError):
        run_now(KIND.decode(payload, OPTIONS))


@given(st.lists(st.tuples(PLACES, st.integers(0, 7)), max_size=8))
def test_flipped_bits_are_an_error_or_a_list(flips: list[tuple[int, int]]) -> None:
    """Flipped bits change names, numbers and structure, but every shown match is valid."""
    body = bytearray(BODY)
    for place, bit in flips:
        body[place % len(body)] ^= 1 << bit

    _check(bytes(body))


@given(st.lists(st.tuples(PLACES, TOKENS, st.integers(0, 12)), min_size=1, max_size=4))
def test_inserted_hostile_parts_are_an_error_or_a_list(pieces: list[tuple[int, bytes, int]]) -> None:
    """With brackets, huge numbers, surrogates and NULs anywhere, every shown match is valid."""
    body = BODY
    for place, token, replaced in pieces:
        body = body[:place] + token + body[place + replaced :]

    _check(body)


@given(st.lists(st.tuples(PATHS, VALUES), min_size=1, max_size=4))
@example([([0, 1], "0001-01-01T00:00:00+23:59")])
@example([([0, 0, 0, 2, 0, 2, 0, 1], 10**400)])
def test_any_value_anywhere_is_an_error_or_a_list(changes: list[tuple[list[int], Any]]) -> None:
    """With any value anywhere in a well-formed answer, every shown match is valid."""
    content = json.loads(BODY)
    for path, value in changes:
        content = _put(content, path, value)

    _check(json.dumps(content).encode())
