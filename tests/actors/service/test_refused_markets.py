"""The Odds API refuses one of the configured markets: one log line, and the other markets go on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import httpx2
import pytest
from structlog.testing import capture_logs

from tests.support.builders.the_odds_api import ALL_MARKETS, config, event, market, spreads, totals
from tests.support.peers.web import Answer, Web, serving
from tests.support.systems.virtual_service import VirtualService, configured, events, pass_to

pytestmark = pytest.mark.anyio

LEAGUES = tuple(f"soccer_league_{number}" for number in range(4))
KEY = "some"
NAMED = "Markets not supported by this endpoint: spreads"


def refusing(bad: str, message: str) -> Answer:
    """Return answers with the markets that a request asks for, or a refusal if they include `bad`."""
    offered = {
        "h2h": market("Home", "Away", (1.9, 3.4, 4.2)),
        "totals": totals((2.5, 1.9, 1.95)),
        "spreads": spreads("Home", "Away", (-0.5, 1.9, 1.95)),
    }

    async def answer(request: httpx2.Request) -> httpx2.Response:
        sport, markets = request.url.path.split("/")[3], asked_for(request)
        if bad in markets:
            said = json.dumps({"message": message, "error_code": "INVALID_MARKET"}).encode()
            return await serving(said, 422)(request)
        listed = {KEY: [offered[key] for key in markets]}
        return await serving(events(event(f"m-{sport}", "Home", "Away", listed, sport=sport)))(request)

    return answer


def asked_for(request: httpx2.Request) -> list[str]:
    """Return the markets that a request asks for."""
    (markets,) = parse_qs(request.url.query.decode())["markets"]
    return markets.split(",")


def refusals(logs: list[Any]) -> list[tuple[str, str]]:
    """Return the level and the error of the lines that say that a market is refused."""
    return [(line["log_level"], line["error"]) for line in logs if line["event"] == "markets.refused"]


def troubles(logs: list[Any]) -> set[str]:
    """Return the other kinds of trouble that were logged for a source."""
    wanted = {"source.down", "source.recovered", "scope.lost", "scope.recovered", "bookmaker.lost"}
    return {line["event"] for line in logs} & wanted


def published(service: VirtualService) -> set[str]:
    """Return the kinds of market in the lists that bookmakers published."""
    return {match.market.kind for batch in service.published for match in batch.matches}


async def test_refused_market_is_told_once_and_the_others_go_on(tmp_path: Path) -> None:
    """The log has one line at level error and no outage; within 0.5 s the other markets are asked for."""
    web = Web(refusing("spreads", NAMED))
    with capture_logs() as logs:
        async with configured(tmp_path, config(LEAGUES, [KEY], markets=[*ALL_MARKETS]), web=web) as service:
            await pass_to(120)
            failed_by = dict(service.source("api").failed_by)

    ((level, error),) = refusals(logs)
    assert ("error", True) == (level, error.startswith("not asked for any more: spreads: "))
    assert NAMED in error
    assert set() == troubles(logs)
    assert {"1x2", "over_under"} == published(service)
    assert {("h2h", "totals")} == {tuple(asked_for(request)) for request in web.requests[4:]}
    assert {"invalid_market"} == {*failed_by}
    again = [request.url.path for request in web.requests].index(web.requests[0].url.path, 1)
    assert web.asked[again] - web.asked[0] < 0.6


async def test_refusals_in_a_row_are_no_outage(tmp_path: Path) -> None:
    """If the first market is refused and not named, two refusals are needed to find out which one it is."""
    web = Web(refusing("h2h", "bad market"))
    with capture_logs() as logs:
        text = config(LEAGUES[:1], [KEY], markets=[*ALL_MARKETS])
        async with configured(tmp_path, text, web=web) as service:
            await pass_to(120)

    assert ["h2h,totals,spreads", "h2h", "totals", "totals,spreads"] == [
        ",".join(asked_for(request)) for request in web.requests[:4]
    ]
    assert (1, set()) == (len(refusals(logs)), troubles(logs))
    assert {"over_under", "asian_handicap"} == published(service)


async def test_refusal_of_the_only_market_is_an_outage(tmp_path: Path) -> None:
    """No other market is left to ask for, so the refusal stays a failure of the source."""
    web = Web(refusing("h2h", "Markets not supported by this endpoint: h2h"))
    with capture_logs() as logs:
        async with configured(tmp_path, config(LEAGUES, [KEY]), web=web):
            await pass_to(60)

    assert ([], {"source.down"}) == (refusals(logs), troubles(logs))
