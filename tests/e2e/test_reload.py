"""SIGHUP to a real process: some keys of a configuration change at once, and the log names the others."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders.programs import item, listed
from tests.support.systems.process import Service, service
from tests.support.time.waiting import eventually

PROGRAM = """
import sys, time
while True:
    sys.stdout.write(open(sys.argv[1]).read())
    sys.stdout.flush()
    time.sleep(1.0)
"""
SOURCE = """
[sources.{name}]
kind = "program"
command = ["{python}", "-S", "{folder}/program.py", "{folder}/{name}"]
[bookmakers.{name}]
name = "Book {name}"
source = "{name}"
key = "program"
"""
BASE = """
[server]
drain_s = 0.0
[links]
file = "{folder}/links.toml"
[limits]
requests_per_s = 50
burst = 100
trusted_proxies = ["127.0.0.1"]
"""
ODDS = {"ba": (2.2, 3.6, 3.5), "bb": (2.1, 3.7, 3.8)}  # the two agree, and make a surebet of 1.2 %
TOKEN = "a-token-nobody-may-see"  # noqa: S105 - used by this test alone
ONE_MATCH = '[[must]]\nevents = ["ba:m", "bb:m"]\nreason = "r"\n'
APART = ONE_MATCH.replace("must", "must_not")
CLIENT = {"X-Forwarded-For": "198.51.100.7"}


USUAL = '"client";q=100;w=2'


def _limit(running: Service) -> str:
    return running.get("/api/v2/odds", CLIENT).headers.get("ratelimit-policy", "none")


def _surebets(running: Service) -> int:
    return int(running.get("/api/v2/surebets").json().get("fixtures_count", 0))


def _fixtures(running: Service) -> int:
    return int(running.get("/api/v2/fixtures").json().get("fixtures_count", 0))


def _names(running: Service) -> set[str]:
    return {match["bookmaker"] for match in running.get("/api/v2/odds").json()["matches"]}


def _refusal(running: Service) -> Any:
    return running.get("/api/v2/stream", CLIENT).json()["code"]


def _is_debugged(running: Service) -> bool:
    before = len(running.events("request.served"))
    running.get("/api/v2/odds")
    return len(running.events("request.served")) > before


def _known_clients(running: Service) -> str:
    for number in range(3):
        running.get("/api/v2/odds", {"X-Forwarded-For": f"198.51.100.{number}"})
    lines = running.get("/metrics").text.splitlines()
    return next(line for line in lines if line.startswith("oddsboard_http_known_clients "))


def _is_one_each(running: Service) -> bool:
    with running.client() as client:
        return client.get("/health/live").headers.get("connection") == "close"


@dataclass(frozen=True)
class Change:
    """Replaced texts of the configuration, the keys that the log names, and the result for a client."""

    replaced: dict[str, str] = field(default_factory=dict)
    applied: set[str] = field(default_factory=set)
    needs_restart: set[str] = field(default_factory=set)
    event: str = "configuration.read"
    shown: tuple[Callable[[Service], bool], ...] = (lambda it: _limit(it) == USUAL,)
    links: str = ONE_MATCH


CHANGES = {
    "nothing": Change({"[server]": "# as before\n[server]"}),
    "what applies": Change(
        {
            "burst = 100": (
                "burst = 7\nmax_clients = 1\nmax_streams_per_client = 0\nmax_requests_per_connection = 1"
            ),
            "drain_s": 'log_level = "debug"\ndrain_s',
            "[limits]": "[surebets]\nmax_profit = 0.001\n[limits]",
            'name = "Book ba"': 'name = "Book ba"\nshort = "BX"',
        },
        {
            *("limits.burst", "limits.max_clients", "limits.max_streams_per_client"),
            *("limits.max_requests_per_connection", "server.log_level", "surebets.max_profit"),
            "bookmakers.ba.short",
        },
        shown=(
            lambda it: _limit(it) == '"client";q=7;w=1',
            lambda it: _known_clients(it) == "oddsboard_http_known_clients 1.0",
            lambda it: _refusal(it) == "too_many_client_streams",
            _is_one_each,
            _is_debugged,
            lambda it: _surebets(it) == 0,
            lambda it: it.check("ba")["short"] == "BX",
        ),
    ),
    "other values of these": Change(
        {
            "requests_per_s = 50": "requests_per_s = 1",
            "drain_s": 'max_streams = 0\nlog_level = "error"\ndrain_s',
        },
        {"limits.requests_per_s", "server.max_streams", "server.log_level"},
        shown=(
            lambda it: _limit(it) == '"client";q=100;w=100',
            lambda it: _refusal(it) == "too_many_streams",
            lambda it: not _is_debugged(it),
        ),
    ),
    "what needs a restart, beside what does not": Change(
        {
            '["127.0.0.1"]': "[]",
            "drain_s = 0.0": "drain_s = 1.0",
            'name = "Book ba"': 'name = "Another"',
            "{bb}": "",
            '"-S"': '"-S", "-B"',
            "[limits]": f'[operators]\ntoken = "{TOKEN}"\n[fair]\nmethod = "shin"\n[limits]',
        },
        {"limits.trusted_proxies"},
        {
            *("server.drain_s", "operators.token", "fair.method"),
            *("bookmakers.ba.name", "sources.ba.command", "sources.bb", "bookmakers.bb"),
        },
        shown=(
            lambda it: _limit(it) == "none",
            lambda it: _names(it) == {"Book ba", "Book bb"},
            lambda it: it.has("live", "ba"),
            lambda it: it.get("/monitor").status_code == 200,
        ),
    ),
    "a broken file": Change({"[server]": "[server"}, event="configuration.rejected"),
    "a value that is not allowed beside one that is": Change(
        {"burst = 100": "burst = 7\nmax_clients = 0"}, event="configuration.rejected"
    ),
    "a broken file of links": Change(
        {"burst = 100": "burst = 7"}, event="links.rejected", links="[[must_not]]\n"
    ),
    "another decision": Change(shown=(lambda it: _fixtures(it) == len(ODDS),), links=APART),
}


@contextmanager
def _running(folder: Path) -> Iterator[tuple[Service, str]]:
    """Run the configuration on two programs that list one match; also return its text."""
    (folder / "program.py").write_text(PROGRAM, "utf-8")
    (folder / "links.toml").write_text(ONE_MATCH, "utf-8")
    for name, prices in ODDS.items():
        odds = dict(zip(("one", "draw", "two"), prices, strict=True))
        match = item("m", start="2036-06-01T15:00:00Z", odds=odds)
        (folder / name).write_bytes(listed(match))
    sources = {name: SOURCE.format(name=name, python=sys.executable, folder=folder) for name in ODDS}
    text = BASE.format(folder=folder) + sources["ba"] + sources["bb"]
    (folder / "mine.toml").write_text(text, "utf-8")
    with service(folder / "mine.toml") as running:
        running.wait_ready()
        yield running, text


def _hung_up(running: Service, event: str) -> dict[str, Any]:
    """Have the service read its configuration again, and return the log line about it."""
    before = len(running.events(event))
    running.process.send_signal(signal.SIGHUP)
    eventually(lambda: len(running.events(event)) > before, f"the log has {event}")
    return running.events(event)[-1]


def _write(path: Path, text: str, change: Change) -> None:
    second = text[text.index("\n[sources.bb]") :]
    for old, new in change.replaced.items():
        text = text.replace(second if old == "{bb}" else old, new, 1)
    path.write_text(text, "utf-8")


@pytest.mark.timeout(600)
def test_what_can_change_does_and_the_rest_is_named(tmp_path: Path) -> None:
    """Each change is made and taken back, in one process. After many quick changes the last file holds."""
    path, links = tmp_path / "mine.toml", tmp_path / "links.toml"
    with _running(tmp_path) as (running, text):
        eventually(lambda: _surebets(running) == 1, "there is a surebet")
        tags = [running.get("/api/v2/surebets").headers["etag"]]
        for name, change in CHANGES.items():
            _write(path, text, change)
            links.write_text(change.links, "utf-8")
            line = _hung_up(running, change.event)
            named = {*line.get("applied", ())}, {*line.get("needs_restart", ())}
            assert (change.applied, change.needs_restart) == named, name
            for shown in change.shown:
                eventually(partial(shown, running), name)

            path.write_text(text, "utf-8")
            links.write_text(ONE_MATCH, "utf-8")
            line = _hung_up(running, "configuration.read")
            assert (change.applied, []) == ({*line["applied"]}, line["needs_restart"]), name
            eventually(lambda: _limit(running) == USUAL, f"all is as before: {name}")
            eventually(lambda: _surebets(running) == 1, f"so are surebets: {name}")
        tags.append(running.get("/api/v2/surebets").headers["etag"])
        for burst in range(1, 21):
            path.write_text(text.replace("burst = 100", f"burst = {burst}"), "utf-8")
            running.process.send_signal(signal.SIGHUP)
        path.write_text(text.replace("burst = 100", "burst = 9"), "utf-8")
        running.process.send_signal(signal.SIGHUP)
        eventually(lambda: _limit(running) == '"client";q=9;w=1', "the last holds")
        code = running.stop()

    assert 2 == len({*tags})
    assert TOKEN not in str(running.log)
    assert 0 == code
