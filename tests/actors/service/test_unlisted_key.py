"""A bookmaker's key that is in no answer, such as a misspelled one, is reported, not just an empty list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from tests.support.builders.the_odds_api import config, event, market
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
    """Once all leagues have answered, the log has one line with the nearest key, and `/health` warns.

    A bookmaker without prices for now is found by the first answer that has its key, in any league.
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
    """A key in an answer comes before a key of the API's known list, also if no bookmaker here has it."""
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
    """The answer for one league does not show which keys the other leagues have."""
    web = Web()
    web.answers = {EPL: serving(_list("unibet_fr"))}
    with capture_logs() as logs:
        async with configured(tmp_path, config(LEAGUES, [KEY, "unibet_fr"]), web=web):
            await pass_to(60)

    assert [] == _lines(logs)
