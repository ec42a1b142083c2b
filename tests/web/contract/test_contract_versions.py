"""The two versions of the odds list on a real socket, entry by entry (docs/api.md, 2.1 to 2.3, 9)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.builders.messages import match
from tests.support.systems.site import FIRST_VERSION, Site
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

V1, V2 = "/api/odds", "/api/v2/odds"
START = int(WALL_0) + 86_400
UPDATED = WALL_0 + 1.5
USUAL = {"home": "Home", "away": "Away", "start_time": START, "updated": UPDATED}


def _v2(entry_id: str, bookmaker: str, odds: tuple[float, float, float], **other: Any) -> dict[str, Any]:
    prices = dict(zip(("1", "X", "2"), odds, strict=True))
    common = {"id": entry_id, "sport": "football", "bookmaker": bookmaker, "odds": prices}
    return {**common, **USUAL, **other}


def _v1(entry_id: str, bookmaker: str, odds: tuple[float, float, float], **other: Any) -> dict[str, Any]:
    return {"id": entry_id, "bookmaker": bookmaker, "odds": list(odds), **USUAL, **other}


CEDAR, ALDER, BIRCH = "Cédar 足球", "Alder", "Birch & Söhne"
USUAL_ODDS = (2.0, 3.5, 4.0)
PAULO = {"home": "São Paulo", "away": "Grêmio", "league": "Série A"}

V2_MATCHES = [
    _v2("cedar_10", CEDAR, USUAL_ODDS, league="League"),
    _v2("cedar_9", CEDAR, USUAL_ODDS, league="K리그"),
    _v2("alder_B-1", ALDER, USUAL_ODDS, league="Unknown", start_time=None),
    _v2("alder_b-2", ALDER, (1.5, 4.25, 6.0), **PAULO),
]
V1_MATCHES = [
    _v1("cedar_10", CEDAR, USUAL_ODDS, league="League"),
    _v1("cedar_9", CEDAR, USUAL_ODDS, league="K리그"),
    _v1("alder_B-1", ALDER, USUAL_ODDS, league="", start_time=0),
    _v1("alder_a~3", ALDER, (1.01, 12.0, 34.0), league="League", home=""),
    _v1("alder_b-2", ALDER, (1.5, 4.25, 6.0), **PAULO),
    _v1("birch_x.1", BIRCH, USUAL_ODDS, league="League", away=""),
]


async def test_v2_shows_exactly_the_expected_entries(site: Site) -> None:
    """Every field of v2 is as specified, and entries with an empty team name are left out (2.1, 2.3)."""
    shown = await site.json(V2)

    assert {"version": FIRST_VERSION + 3, "matches": V2_MATCHES, "matches_count": 4} == shown


async def test_v1_shows_exactly_the_expected_entries(site: Site) -> None:
    """Every field of v1 is as specified, entries with an empty team name included (2.2, 2.3)."""
    shown = await site.json(V1)

    assert {"version": FIRST_VERSION + 3, "matches": V1_MATCHES, "matches_count": 6} == shown


@pytest.mark.parametrize("path", [V1, V2])
async def test_the_types_on_the_wire_are_the_specified_ones(site: Site, path: str) -> None:
    """Integers are integers where 2.3 demands them, and numbers are never booleans or strings."""
    shown = json.loads((await site.get(path)).content, parse_float=float, parse_int=int)

    assert {int} == {type(shown["version"]), type(shown["matches_count"])}
    for entry in shown["matches"]:
        odds = entry["odds"] if path == V1 else entry["odds"].values()
        assert {type(price) for price in odds} <= {float, int}
        assert type(entry["start_time"]) in ({int} if path == V1 else {int, type(None)})
        assert type(entry["updated"]) in {float, int}
        assert {str} == {type(entry[name]) for name in ("id", "bookmaker", "home", "away", "league")}


@pytest.mark.parametrize("path", [V1, V2])
async def test_the_body_is_utf_8_with_names_as_they_are(site: Site, path: str) -> None:
    """Non-ASCII names are not escaped, and the media type has no charset."""
    response = await site.get(path)

    assert "São Paulo".encode() in response.content
    assert "application/json" == response.headers["Content-Type"]


async def test_updated_changes_only_with_the_content(site: Site) -> None:
    """A later list with the same content leaves `updated` and the version as they were."""
    before = await site.get(V2)
    site.clock.pass_(5)

    site.publish("cedar", match("10"), match("9", league="K리그"))

    assert before.content == (await site.get(V2)).content


async def test_updated_is_the_receive_time_to_the_millisecond(site: Site) -> None:
    """Without a time from the source, `updated` is when the change was received."""
    site.clock.pass_(5.0004)

    site.publish("cedar", match("10", prices=(2.1, 3.5, 4.0)), match("9", league="K리그"))

    updated = {entry["id"]: entry["updated"] for entry in (await site.json(V2))["matches"]}
    assert (WALL_0 + 6.5, UPDATED) == (updated["cedar_10"], updated["cedar_9"])


async def test_a_match_past_its_time_is_not_shown(site: Site) -> None:
    """An entry leaves the board three hours after kick-off, even if nothing else happens."""
    site.clock.pass_(1)
    site.publish("cedar", match("late", start_time=int(WALL_0)), match("9"), stale_after_s=1e9)
    site.clock.wall = WALL_0 + 10_799
    before = [entry["id"] for entry in (await site.json(f"{V2}?bookmaker=cedar"))["matches"]]

    site.clock.wall = WALL_0 + 10_800

    after = [entry["id"] for entry in (await site.json(f"{V2}?bookmaker=cedar"))["matches"]]
    assert (["cedar_9", "cedar_late"], ["cedar_9"]) == (before, after)
