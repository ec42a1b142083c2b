"""SIGHUP to a real process: what of a configuration changes at once, and what is named instead."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
ODDS = {"ba": (2.2, 3.6, 3.5), "bb": (2.1, 3.7, 3.8)}  # which agree, and are a surebet of 1.2 %
TOKEN = "a-token-nobody-may-see"  # noqa: S105 - of this test
ONE_MATCH = '[[must]]\nevents = ["ba:m", "bb:m"]\nreason = "r"\n'
APART = ONE_MATCH.replace("must", "must_not")
CLIENT = {"X-Forwarded-For": "198.51.100.7"}


@dataclass(frozen=True)
class Change:
    """What is replaced in the configuration, by what; what is named; and what a client or the log shows."""

    old: str
    new: str
    applied: tuple[str, ...] = ()
    needs_restart: tuple[str, ...] = ()
    event: str = "configuration.read"
    shown: Callable[[Service], bool] = lambda running: _limit(running) == USUAL
    links: str = ONE_MATCH


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


CHANGES = {
    "nothing": Change("", ""),
    "a comment": Change("[server]", "# as before\n[server]"),
    "how many at once": Change(
        "burst = 100", "burst = 7", ("limits.burst",), shown=lambda it: _limit(it) == '"client";q=7;w=1'
    ),
    "how many a second": Change(
        "requests_per_s = 50",
        "requests_per_s = 1",
        ("limits.requests_per_s",),
        shown=lambda it: _limit(it) == '"client";q=100;w=100',
    ),
    "trusted proxies": Change(
        '["127.0.0.1"]', "[]", ("limits.trusted_proxies",), shown=lambda it: _limit(it) == "none"
    ),
    "clients that are known": Change(
        "burst",
        "max_clients = 1\nburst",
        ("limits.max_clients",),
        shown=lambda it: _known_clients(it) == "oddsboard_http_known_clients 1.0",
    ),
    "streams of a client": Change(
        "burst",
        "max_streams_per_client = 0\nburst",
        ("limits.max_streams_per_client",),
        shown=lambda it: _refusal(it) == "too_many_client_streams",
    ),
    "streams": Change(
        "drain_s",
        "max_streams = 0\ndrain_s",
        ("server.max_streams",),
        shown=lambda it: _refusal(it) == "too_many_streams",
    ),
    "requests of a connection": Change(
        "burst",
        "max_requests_per_connection = 1\nburst",
        ("limits.max_requests_per_connection",),
        shown=_is_one_each,
    ),
    "a lower level": Change(
        "drain_s", 'log_level = "debug"\ndrain_s', ("server.log_level",), shown=_is_debugged
    ),
    "a higher level": Change(
        "drain_s",
        'log_level = "error"\ndrain_s',
        ("server.log_level",),
        shown=lambda it: not _is_debugged(it),
    ),
    "rules of surebets": Change(
        "[limits]",
        "[surebets]\nmax_profit = 0.001\n[limits]",
        ("surebets.max_profit",),
        shown=lambda it: _surebets(it) == 0,
    ),
    "a short name": Change(
        'name = "Book ba"',
        'name = "Book ba"\nshort = "BX"',
        ("bookmakers.ba.short",),
        shown=lambda it: it.check("ba")["short"] == "BX",
    ),
    "a name": Change(
        'name = "Book ba"',
        'name = "Another"',
        needs_restart=("bookmakers.ba.name",),
        shown=lambda it: _names(it) == {"Book ba", "Book bb"},
    ),
    "a bookmaker less": Change(
        "{bb}",
        "",
        needs_restart=("sources.bb", "bookmakers.bb"),
        shown=lambda it: _names(it) == {"Book ba", "Book bb"},
    ),
    "options of a source": Change(
        '"-S"', '"-S", "-B"', needs_restart=("sources.ba.command",), shown=lambda it: it.has("live", "ba")
    ),
    "a token": Change(
        "[limits]",
        f'[operators]\ntoken = "{TOKEN}"\n[limits]',
        needs_restart=("operators.token",),
        shown=lambda it: it.get("/monitor").status_code == 200,
    ),
    "fair odds": Change("[limits]", '[fair]\nmethod = "shin"\n[limits]', needs_restart=("fair.method",)),
    "two at once": Change(
        "drain_s = 0.0\n[links]",
        'drain_s = 1.0\nlog_level = "debug"\n[links]',
        ("server.log_level",),
        ("server.drain_s",),
        shown=_is_debugged,
    ),
    "a broken file": Change("[server]", "[server", event="configuration.rejected"),
    "a folder in its place": Change("", "{folder}", event="configuration.rejected"),
    "a value that is not allowed beside one that is": Change(
        "burst = 100", "burst = 7\nmax_clients = 0", event="configuration.rejected"
    ),
    "a variable that is not set": Change(
        "[limits]", '[operators]\ntoken = "${{NOWHERE}}"\n[limits]', event="configuration.rejected"
    ),
    "a broken file of links": Change(
        "burst = 100", "burst = 7", event="links.rejected", links="[[must_not]]\n"
    ),
    "another decision": Change("", "", shown=lambda it: _fixtures(it) == len(ODDS), links=APART),
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


def _tag(running: Service) -> str:
    """Return the tag of the surebets, once what a reload started anew is linked."""
    return eventually(lambda: running.get("/api/v2/surebets").headers.get("etag"), "they have a tag")


def _hung_up(running: Service, event: str) -> dict[str, Any]:
    """Have the service read again, and return its line."""
    before = len(running.events(event))
    running.process.send_signal(signal.SIGHUP)
    eventually(lambda: len(running.events(event)) > before, f"the log has {event}")
    return running.events(event)[-1]


@pytest.mark.timeout(300)
def test_what_can_change_does_and_the_rest_is_named(tmp_path: Path) -> None:
    """Each change is made and taken back, in one process."""
    path, links = tmp_path / "mine.toml", tmp_path / "links.toml"
    with _running(tmp_path) as (running, text):
        second = text[text.index("\n[sources.bb]") :]
        eventually(lambda: _surebets(running) == 1, "there is a surebet")
        tag = _tag(running)
        for name, change in CHANGES.items():
            old, new = change.old.replace("{bb}", second), change.new.format(folder=tmp_path)
            if change.new == "{folder}":
                path.unlink()
                path.mkdir()
            else:
                path.write_text(text.replace(old, new, 1) if old else text, "utf-8")
            links.write_text(change.links, "utf-8")
            line = _hung_up(running, change.event)
            named = tuple(line.get("applied", ())), tuple(line.get("needs_restart", ()))
            assert (change.applied, change.needs_restart) == named, name
            eventually(lambda change=change: change.shown(running), name)  # type: ignore[misc]

            if path.is_dir():
                path.rmdir()
            path.write_text(text, "utf-8")
            links.write_text(ONE_MATCH, "utf-8")
            line = _hung_up(running, "configuration.read")
            assert (list(change.applied), []) == (line["applied"], line["needs_restart"]), name
            eventually(lambda: _limit(running) == USUAL, f"all is as before: {name}")
            eventually(lambda: _surebets(running) == 1, f"so are surebets: {name}")
        later = _tag(running)
        code = running.stop()

    assert tag != later
    assert TOKEN not in str(running.log)
    assert 0 == code


def test_many_hangups_are_as_good_as_one(tmp_path: Path) -> None:
    """The last file holds, whichever of them were read."""
    path = tmp_path / "mine.toml"
    with _running(tmp_path) as (running, text):
        for burst in range(1, 21):
            path.write_text(text.replace("burst = 100", f"burst = {burst}"), "utf-8")
            running.process.send_signal(signal.SIGHUP)
        path.write_text(text.replace("burst = 100", "burst = 9"), "utf-8")
        running.process.send_signal(signal.SIGHUP)
        eventually(lambda: _limit(running) == '"client";q=9;w=1', "the last holds")
