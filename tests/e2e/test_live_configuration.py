"""The shipped mixed configuration: three bookmakers over a file, a polled API and a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.builders.betfair import catalogue, image, market, token
from tests.support.builders.football_data import sheet
from tests.support.builders.the_odds_api import event, serve
from tests.support.builders.the_odds_api import market as listed
from tests.support.peers.http import HttpPeer, http_peer, respond
from tests.support.peers.plain_http import NO_TLS
from tests.support.peers.stream import StreamPeer, stream_peer
from tests.support.systems.process import ROOT, Service, service
from tests.support.time.waiting import eventually

SECRETS = {
    "THE_ODDS_API_KEY": "the-key-of-the-odds-api",
    "BETFAIR_APP_KEY": "the-key-of-betfair",
    "BETFAIR_USERNAME": "somebody-with-an-account",
    "BETFAIR_PASSWORD": 'pass "word" & more',
}
CATALOGUE, LOGIN = "/rpc", "/api/login"
KICK_OFF = "2099-05-30T14:00:00Z"


def _local(rest: HttpPeer, stream: StreamPeer) -> str:
    """Return the shipped configuration with the addresses of servers on this machine."""
    text = (ROOT / "config" / "live-accounts.toml").read_text("utf-8")
    text = text.replace("https://www.football-data.co.uk/fixtures.csv", rest.url("/fixtures.csv"))
    text = text.replace('kind = "the_odds_api"', f'kind = "the_odds_api"\nurl = "{rest.url("")}"')
    addresses = {
        "stream_url": stream.url,
        "catalogue_url": rest.url(CATALOGUE),
        "login_url": rest.url(LOGIN),
    }
    lines = "\n".join(f'{name} = "{url}"' for name, url in addresses.items())
    return text.replace('kind = "betfair_stream"', f'kind = "betfair_stream"\n{lines}')


@pytest.fixture
def live(tmp_path: Path) -> Iterator[tuple[Service, StreamPeer]]:
    """Run it against a file, an API and a stream with one match each."""
    with stream_peer() as stream, http_peer() as rest:
        rest.answers["/fixtures.csv"] = respond(sheet("B365", (2.1, 3.4, 3.6)))
        odds = event(
            "e1",
            "Alder",
            "Birch",
            {"pinnacle": [listed("Alder", "Birch", (2.2, 3.4, 3.6))]},
            kick_off=KICK_OFF,
        )
        serve(rest, {"soccer_epl": json.dumps([odds]).encode()})
        rest.answers[CATALOGUE] = respond(catalogue("1.1"))
        rest.answers[LOGIN] = respond(token("the-token-of-a-login"))
        stream.answer = lambda _: [image(market("1.1", (2.3, 3.4, 3.6), marketTime=KICK_OFF))]
        config = tmp_path / "live-accounts.toml"
        config.write_text(_local(rest, stream), "utf-8")
        with service(config, SECRETS) as running:
            yield running, stream


def _odds(base: str) -> dict[str, Any]:
    answer = httpx2.get(f"{base}/api/v2/odds", trust_env=False, verify=NO_TLS)
    matches = answer.json().get("matches", []) if answer.status_code == 200 else []
    return {match["bookmaker"]: match["odds"]["1"] for match in matches}


def test_three_kinds_of_source_make_one_board(live: tuple[Service, StreamPeer]) -> None:
    """Each bookmaker has its own price, and no credential is in any answer or log line."""
    running, stream = live
    expected = {"Bet365": 2.1, "Pinnacle": 2.2, "Betfair Exchange": 2.3}
    eventually(lambda: _odds(running.base) == expected, "all three are on the board")
    stream.push({"op": "mcm", "clk": "2", "pt": 1, "status": 503})
    eventually(
        lambda: set(_odds(running.base)) == {"Bet365", "Pinnacle"}, "the late stream is off the board"
    )

    answers = [running.get(path).text for path in ("/health", "/monitor", "/api/stats")]
    text = repr((running.log, answers))
    assert [] == [secret for secret in (*SECRETS.values(), "the-token-of-a-login") if secret in text]
