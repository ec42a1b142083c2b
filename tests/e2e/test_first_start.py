"""A first start: with invented odds, and with accounts of bookmakers."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.builders.betfair import catalogue, image, market, token
from tests.support.builders.football_data import sheet
from tests.support.builders.the_odds_api import event, serve
from tests.support.builders.the_odds_api import market as listed
from tests.support.peers.http import http_peer, respond
from tests.support.peers.stream import stream_peer
from tests.support.systems.process import ROOT, service
from tests.support.time.waiting import eventually

IDS = ["alder", "birch", "cedar"]


def test_a_start_on_a_terminal_ends_with_directions() -> None:
    """Two lines of plain text say where to look and how to end, after the log of the start."""
    reading, writing = os.openpty()
    command = [sys.executable, "-m", "web", "serve", "--bind", "127.0.0.1:0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=writing, stderr=writing) as process:
        text = b""
        while b"Ctrl+C.\r\n" not in text:
            text += os.read(reading, 65536)
        process.send_signal(signal.SIGINT)
    os.close(writing)
    os.close(reading)
    look, end = [line for line in text.decode().splitlines() if line][-2:]

    assert re.fullmatch(r"To see the board, open http://127.0.0.1:[0-9]+ in a browser[.]", look)
    assert ("To end it, press Ctrl+C.", 0) == (end, process.returncode)


def test_invented_odds_are_served(tmp_path: Path) -> None:
    """Three bookmakers have plausible prices that move, and say that they are simulated."""
    config = tmp_path / "verbose.toml"
    text = (ROOT / "config/default.toml").read_text("utf-8")
    config.write_text(text.replace("[server]", '[server]\nlog_level = "debug"'), "utf-8")
    with service(config, {"ODDSBOARD_CONFIG": "/nowhere.toml"}) as running:
        eventually(lambda: running.get("/health").json()["status"] == "pass", "all bookmakers are live")
        checks = running.get("/health").json()["checks"]
        supported = running.get("/api/capabilities").json()["supported_bookmakers"]
        first, plain = running.get("/api/v2/odds"), running.get("/api/odds").json()["matches"]
        condition = {"If-None-Match": first.headers["ETag"]}

        def moved() -> Any:
            answer = running.get("/api/v2/odds", condition)
            return answer.json() if answer.status_code == 200 else None

        later = eventually(moved, "another version")
        refused = running.get("/api/odds?bookmaker=nobody").headers["X-Request-Id"]
        eventually(lambda: running.events("request.served", request_id=refused, status=400), "its line")
        running.process.send_signal(signal.SIGHUP)
        (again,) = eventually(lambda: running.events("configuration.read"), "the configuration, again")
        status = running.get("/health/live").status_code
        configured, (started,) = running.log[0], running.events("service.started")
        simulated = running.events("source.simulated")

    assert dict.fromkeys(IDS, ("live", True)) == {
        name: (check["state"], check["simulated"]) for name, check in checks.items()
    }
    matches = first.json()["matches"]
    for entries in (plain, matches):
        order = [entry["id"].partition("_")[0] for entry in entries]
        odds = [[*entry["odds"]] if entries is plain else [*entry["odds"].values()] for entry in entries]
        assert IDS == [*dict.fromkeys(order)] == supported
        assert min(order.count(bookmaker) for bookmaker in IDS) > 100
        assert all(0.95 <= sum(1 / price for price in prices) <= 1.40 for prices in odds)
        assert min(map(min, odds)) > 1.0
    assert later["version"] > first.json()["version"] > 1_700_000_000_000
    assert later["matches"] != matches
    assert ("service.configured", str(config), "--config") == (
        *(configured["event"], configured["file"]),
        configured["chosen"],
    )
    assert re.fullmatch(r"http://127\.0\.0\.1:[0-9]+", started["url"])
    assert (running.process.pid, IDS) == (started["pid"], [*started["bookmakers"]])
    assert (IDS, [], 200) == ([line["source"] for line in simulated], again["needs_restart"], status)


SECRETS = {
    "THE_ODDS_API_KEY": "the-key-of-the-odds-api",
    "BETFAIR_APP_KEY": "the-key-of-betfair",
    "BETFAIR_USERNAME": "somebody-with-an-account",
    "BETFAIR_PASSWORD": 'pass "word" & more',
}
KICK_OFF = "2099-05-30T14:00:00Z"


def test_three_kinds_of_source_make_one_board(tmp_path: Path) -> None:
    """A file, an API and a stream, as shipped, have their own prices, and no credential is ever shown."""
    config, text = tmp_path / "accounts.toml", (ROOT / "config/live-accounts.toml").read_text("utf-8")
    odds = {"pinnacle": [listed("Alder", "Birch", (2.2, 3.4, 3.6))]}
    with stream_peer() as stream, http_peer() as rest:
        rest.answers["/fixtures.csv"] = respond(sheet("B365", (2.1, 3.4, 3.6)))
        serve(
            rest,
            {"soccer_epl": json.dumps([event("e1", "Alder", "Birch", odds, kick_off=KICK_OFF)]).encode()},
        )
        rest.answers |= {"/rpc": respond(catalogue("1.1")), "/login": respond(token("a-token-of-a-login"))}
        stream.answer = lambda _: [image(market("1.1", (2.3, 3.4, 3.6), marketTime=KICK_OFF))]
        addresses = f'stream_url = "{stream.url}"\ncatalogue_url = "{rest.url("/rpc")}"'
        for old, new in (
            ("https://www.football-data.co.uk/fixtures.csv", rest.url("/fixtures.csv")),
            ('kind = "the_odds_api"', f'kind = "the_odds_api"\nurl = "{rest.url("")}"'),
            ('kind = "betfair_stream"', f'\\g<0>\n{addresses}\nlogin_url = "{rest.url("/login")}"'),
        ):
            text = re.sub(re.escape(old), new, text)
        config.write_text(text, "utf-8")
        with service(config, SECRETS) as running:

            def shown() -> dict[str, float]:
                matches = running.get("/api/v2/odds").json().get("matches", [])
                return {match["bookmaker"]: match["odds"]["1"] for match in matches}

            two = {"Bet365": 2.1, "Pinnacle": 2.2}
            eventually(lambda: shown() == {**two, "Betfair Exchange": 2.3}, "all three are on the board")
            stream.push({"op": "mcm", "clk": "2", "pt": 1, "status": 503})
            eventually(lambda: shown() == two, "the late stream is off the board")
            answers = [running.get(path).text for path in ("/health", "/monitor", "/api/stats")]
            said = repr((running.log, answers))

    assert [] == [secret for secret in (*SECRETS.values(), "a-token-of-a-login") if secret in said]
