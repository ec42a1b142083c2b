"""The whole log of an outage of a source: one line for its start and one for its end, with counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from structlog.testing import capture_logs

from tests.support.builders.the_odds_api import config, event, market
from tests.support.peers.web import Answer, Web, serving
from tests.support.systems.virtual_service import configured, events, pass_to

pytestmark = pytest.mark.anyio

LEAGUES = tuple(f"soccer_league_{number:02}" for number in range(36))
KEYS = ("betway", "coral", "pinnacle", "unibet", "skybet", "williamhill")


def _list(league: str) -> bytes:
    markets = {key: [market("Home", "Away", (1.9, 3.4, 4.2))] for key in KEYS}
    return events(event(f"match-{league}", "Home", "Away", markets, sport=league))


def _out(league: str, poll_interval_s: float) -> Answer:
    """Return answers that fail from the second interval to the tenth."""
    good = serving(_list(league))

    async def answer(request: httpx2.Request) -> httpx2.Response:
        if 2 <= anyio.current_time() / poll_interval_s < 10:
            raise httpx2.ConnectError("refused", request=request)
        return await good(request)

    return answer


async def _log_of_an_outage(folder: Path, poll_interval_s: float) -> list[dict[str, Any]]:
    web = Web()
    web.answers = {f"/v4/sports/{league}/odds": _out(league, poll_interval_s) for league in LEAGUES}
    text = config(LEAGUES, KEYS, poll_interval_s=poll_interval_s)
    with capture_logs() as logs:
        async with configured(folder, text, web=web) as service:
            await pass_to(2 * poll_interval_s)
            assert len(LEAGUES) * len(KEYS) == len(service.entries(*KEYS))
            logs.clear()
            await pass_to(16 * poll_interval_s)
            assert len(LEAGUES) * len(KEYS) == len(service.entries(*KEYS))
            return [dict(line) for line in logs if line["log_level"] != "debug"]


@pytest.mark.parametrize("poll_interval_s", [10.0, 60.0])
async def test_outage_of_many_lists_is_four_lines(poll_interval_s: float, tmp_path: Path) -> None:
    """The lines are: source down, its prices withdrawn, source up, its prices back."""
    lines = await _log_of_an_outage(tmp_path, poll_interval_s)

    named = {"bookmakers": sorted(KEYS), "source": "api"}
    lists = {"scopes": [*LEAGUES[:3], "and 33 more"], "of_lists": 216}
    prices = [line for line in lines if line["event"].startswith("bookmaker.")]
    assert ["source.down", "bookmaker.withdrawn", "source.recovered", "bookmaker.restored"] == [
        line["event"] for line in lines
    ]
    assert {**named, **lists, "lists_withdrawn": 216}.items() <= prices[0].items()
    assert {**named, **lists, "lists_withdrawn": 0, "lists_restored": 216}.items() <= prices[1].items()
    assert 8 > prices[1]["withdrawn_for_s"] / poll_interval_s > 4
