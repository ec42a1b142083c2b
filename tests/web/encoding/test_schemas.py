"""The JSON of one match in both versions of the API (docs/api.md, 2.1 and 2.2)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from actors.board.snapshot import Entry
from actors.core.messages import Match
from tests.support.builders.messages import SCOPE, match
from web.encoding.schemas import Capabilities, match_v1, match_v2

V2_FIELDS = ["id", "sport", "bookmaker", "home", "away", "league", "odds", "start_time", "updated"]
V1_FIELDS = ["id", "bookmaker", "home", "away", "league", "odds", "start_time", "updated"]


def _v1(one: Match) -> dict[str, Any]:
    return _decoded(match_v1(_entry(one), "Älder"))


def _v2(one: Match) -> dict[str, Any]:
    return _decoded(match_v2(_entry(one), "Älder"))


def _entry(one: Match) -> Entry:
    return Entry(f"alder_{one.source_match_id}", SCOPE, one, 1780000000.125)


def _decoded(value: msgspec.Struct) -> dict[str, Any]:
    decoded: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(value))
    return decoded


def test_v2_has_exactly_these_fields() -> None:
    """A v2 entry has nine fields (2.1)."""
    assert V2_FIELDS == list(_v2(match()))


def test_v1_has_exactly_these_fields() -> None:
    """A v1 entry has the fields of v2 without `sport` (2.2)."""
    assert V1_FIELDS == list(_v1(match()))


def test_the_last_moment_for_an_unknown_kick_off_is_not_public() -> None:
    """The deadline that the board keeps for a match with unknown kick-off is not in the JSON."""
    of_a_day, unknown = match(start_time=None, latest_start=1780000000), match(start_time=None)

    assert (_v1(unknown), _v2(unknown)) == (_v1(of_a_day), _v2(of_a_day))


def test_the_fields_that_both_versions_share_are_equal() -> None:
    """In a match without unknown values the versions differ in two fields only (2.2)."""
    v1, v2 = _v1(match()), _v2(match())

    assert {"odds"} == {name for name in V1_FIELDS if v1[name] != v2[name]}


def test_v2_odds_are_a_map_by_outcome() -> None:
    """v2 odds have exactly the keys 1 (home), X (draw) and 2 (away), with numbers."""
    assert {"1": 1.5, "X": 4.25, "2": 6.0} == _v2(match(prices=(1.5, 4.25, 6.0)))["odds"]


def test_v1_odds_are_an_array_in_the_order_home_draw_away() -> None:
    """v1 odds are three numbers (2.2)."""
    assert [1.5, 4.25, 6.0] == _v1(match(prices=(1.5, 4.25, 6.0)))["odds"]


@pytest.mark.parametrize("league", [None, ""])
def test_an_unknown_league_is_unknown_in_v2_and_empty_in_v1(league: str | None) -> None:
    """An unknown league is `Unknown` in v2 (2.1) and an empty string in v1 (2.2)."""
    assert ("Unknown", "") == (_v2(match(league=league))["league"], _v1(match(league=league))["league"])


def test_an_unknown_start_is_null_in_v2_and_zero_in_v1() -> None:
    """An unknown start is null in v2 (2.1) and 0 in v1 (2.2)."""
    assert (None, 0) == (
        _v2(match(start_time=None))["start_time"],
        _v1(match(start_time=None))["start_time"],
    )


def test_a_known_start_is_in_whole_seconds() -> None:
    """A known start is an integer, without a decimal point."""
    assert b'"start_time":1780000000,' in msgspec.json.encode(
        match_v2(_entry(match(start_time=1_780_000_000)), "A")
    )


def test_updated_keeps_its_milliseconds() -> None:
    """`updated` is in Unix seconds with a fraction."""
    assert (1780000000.125, 1780000000.125) == (_v2(match())["updated"], _v1(match())["updated"])


def test_names_are_written_as_they_are() -> None:
    """Non-ASCII names are not escaped; quotes and control characters are."""
    names = 'Grêmio "Ø"\u2028'

    assert (names, "Älder") == (_v2(match(home=names))["home"], _v2(match(home=names))["bookmaker"])


def test_the_capabilities_have_these_fields() -> None:
    """Capabilities have four fields, in this order (2.4)."""
    capabilities = _decoded(Capabilities(("/a",), {"/a": ("bookmaker",)}, ("alder",), "2.0"))

    assert {
        "endpoints": ["/a"],
        "filters": {"/a": ["bookmaker"]},
        "supported_bookmakers": ["alder"],
        "version": "2.0",
    } == capabilities
