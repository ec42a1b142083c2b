"""The JSON of one match in both versions of the API (docs/api.md, 2.1 and 2.2)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from actors.board.snapshot import Entry
from actors.core.messages import Match
from tests.support.builders.messages import SCOPE, match
from web.encoding.schemas import match_v1, match_v2

V2_FIELDS = ["id", "sport", "bookmaker", "home", "away", "league", "odds", "start_time", "updated"]
V1_FIELDS = ["id", "bookmaker", "home", "away", "league", "odds", "start_time", "updated"]


def _v1(listed: Match) -> dict[str, Any]:
    return _decoded(match_v1(_entry(listed), "Älder"))


def _v2(listed: Match) -> dict[str, Any]:
    return _decoded(match_v2(_entry(listed), "Älder"))


def _entry(listed: Match) -> Entry:
    return Entry(f"alder_{listed.source_match_id}", SCOPE, listed, 1780000000.125)


def _decoded(value: msgspec.Struct) -> dict[str, Any]:
    decoded: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(value))
    return decoded


def test_the_last_moment_for_an_unknown_kick_off_is_not_public() -> None:
    """The deadline that the board keeps for a match with unknown kick-off is not in the JSON."""
    of_a_day, unknown = match(start_time=None, latest_start=1780000000), match(start_time=None)

    assert (_v1(unknown), _v2(unknown)) == (_v1(of_a_day), _v2(of_a_day))


@pytest.mark.parametrize("league", [None, ""])
def test_an_unknown_league_is_unknown_in_v2_and_empty_in_v1(league: str | None) -> None:
    """An unknown league is `Unknown` in v2 (2.1) and an empty string in v1 (2.2)."""
    assert ("Unknown", "") == (_v2(match(league=league))["league"], _v1(match(league=league))["league"])
