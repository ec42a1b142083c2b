"""A bookmaker's key that no answer has had, such as a misspelled one, is not silently an empty list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from actors.service.describe import configuration_lines
from actors.service.settings import load
from actors.sources.the_odds_api.kind import KIND
from tests.support.builders.the_odds_api import API_KEY, config, event, market
from tests.support.peers.web import Web, serving
from tests.support.systems.virtual_service import configured, events, pass_to

pytestmark = pytest.mark.anyio

LEAGUES = ("soccer_epl", "soccer_spl")
EPL, SPL = (f"/v4/sports/{league}/odds" for league in LEAGUES)
KEY, NEAR = "pinacle", "no answer has had the key 'pinacle' so far; did you mean 'pinnacle'?"


def _list(*keys: str, league: str = LEAGUES[0]) -> bytes:
    markets = {key: [market("Home", "Away", (1.9, 3.4, 4.2))] for key in keys}
    return events(event(f"m-{league}", "Home", "Away", markets, sport=league))


def _lines(logs: list[Any]) -> list[tuple[str, str, str | None]]:
    wanted = {"bookmaker.unlisted", "bookmaker.listed"}
    return [
        (line["event"], line["bookmaker"], line.get("error")) for line in logs if line["event"] in wanted
    ]


async def test_key_that_no_answer_has_had_is_a_warning_until_one_has(tmp_path: Path) -> None:
    """Once all leagues have answered it is logged once with the nearest key, and `/health` warns.

    A bookmaker without prices for now is found by the first answer that has it, in any league.
    """
    web = Web()
    web.answers = {EPL: serving(_list("unibet_fr")), SPL: serving(b"[]")}
    health = []
    with capture_logs() as logs:
        async with configured(tmp_path, config(LEAGUES, [KEY, "unibet_fr"]), web=web) as service:
            for second, answer in (
                (30, serving(_list(KEY, league=LEAGUES[1]))),
                (60, serving(b"[]")),
                (90, None),
            ):
                await pass_to(second)
                health.append(msgspec.json.decode((await service.get("/health")).body))
                web.answers[SPL] = answer or web.answers[SPL]

    assert [("bookmaker.unlisted", KEY, NEAR), ("bookmaker.listed", KEY, None)] == _lines(logs)
    assert ["warn", "pass", "pass"] == [each["status"] for each in health]
    found = [(check["status"], check["last_error"]) for check in health[0]["checks"].values()]
    assert [("warn", NEAR), ("pass", None)] == found


async def test_key_of_an_answer_is_suggested(tmp_path: Path) -> None:
    """Also one that no bookmaker here has, before any other that the API is known to have."""
    web = Web()
    web.answers = {EPL: serving(_list("pinacle_fr")), SPL: serving(b"[]")}
    async with configured(tmp_path, config(LEAGUES, [KEY]), web=web) as service:
        await pass_to(60)
        health = msgspec.json.decode((await service.get("/health")).body)

    assert (
        "no answer has had the key 'pinacle' so far; did you mean 'pinacle_fr'?"
        == (health["checks"][KEY]["last_error"])
    )


async def test_key_is_not_missed_before_all_leagues_have_answered(tmp_path: Path) -> None:
    """One league says nothing of the others."""
    web = Web()
    web.answers = {EPL: serving(_list("unibet_fr"))}
    with capture_logs() as logs:
        async with configured(tmp_path, config(LEAGUES, [KEY, "unibet_fr"]), web=web):
            await pass_to(60)

    assert [] == _lines(logs)


def test_unknown_key_and_cost_are_warned_of_before_a_start(tmp_path: Path) -> None:
    """`check-config` costs no credits: it names the nearest key that is known, and the credits of a day."""
    file = tmp_path / "some.toml"
    file.write_text(config(["soccer_epl"], [KEY, "unibet_fr"], poll_interval_s=20.0), "utf-8")
    lines = [*configuration_lines(file, load(file, {}))]

    unknown = f"warning: bookmakers.{KEY}.key was '{KEY}', which the_odds_api is not known to have"
    assert [
        "  warning: no credits_per_day: 4,320 credits a day; a free key has 500 a month",
        f"{unknown}; did you mean 'pinnacle'?",
    ] == [line for line in lines if "warning: " in line]
    assert API_KEY not in "".join(lines)


def test_key_that_another_bookmaker_has_is_not_suggested_before_a_start(tmp_path: Path) -> None:
    """Two bookmakers of a source cannot have one key."""
    file = tmp_path / "some.toml"
    file.write_text(config(["soccer_epl"], [KEY, "pinnacle"]), "utf-8")
    unknown = f"warning: bookmakers.{KEY}.key was '{KEY}', which the_odds_api is not known to have"

    assert unknown in [*configuration_lines(file, load(file, {}))]


@pytest.mark.parametrize("key", ["betclic_fr", "unibet_nl", "unibet_se", "unibet_uk", "betfred_uk"])
def test_keys_of_2026_are_known(key: str) -> None:
    """They are not warned of."""
    assert key in KIND.known_keys


@pytest.mark.parametrize("key", ["betclic", "unibet_eu", "livescorebet_eu"])
def test_keys_that_the_api_no_longer_has_are_not_known(key: str) -> None:
    """They are warned of before a start."""
    assert key not in KIND.known_keys
