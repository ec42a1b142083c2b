"""Sources fail while others work: nothing wrong, old or secret is shown, and all sources come back."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest

from tests.support.builders.football_data import sheet
from tests.support.builders.the_odds_api import event, market
from tests.support.peers.http import Answer, Asked, conditional, drop, hang, http_peer, respond
from tests.support.systems.feed import configured, moving, watching
from tests.support.systems.moved_clock import MovedClocks
from tests.support.systems.process import Service, service
from tests.support.time.waiting import eventually

TRUE, FALSE = (1.9, 3.4, 4.2), (2.5, 3.3, 2.9)
GOOD_LIST, BAD_LIST = sheet("B365", TRUE), sheet("B365", FALSE, FALSE)
HTML = b"<!DOCTYPE html><html><body>Down for maintenance, B365H 2.5</body></html>"
TIMES = {"poll_interval_s": 0.25, "timeout_s": 5.0, "stale_after_s": 15.0}
"""These times are long, so that each step can be seen on a busy machine."""
# How the source fails, and a text that its error then contains.
FAULTS: dict[str, tuple[Callable[[threading.Event], Answer], str]] = {
    "drops the connection": (lambda _: drop, "disconnected"),
    "hangs": (hang, "no whole answer within 5 s"),
    "sends HTML": (lambda _: respond(HTML, headers={"Content-Type": "text/html"}), "header"),
    "cuts the body": (lambda _: respond(BAD_LIST[:-9], length=len(BAD_LIST)), "complete"),
    "throttles": (lambda _: respond(BAD_LIST, 429, {"Retry-After": "1"}), "429"),
    "fails": (lambda _: respond(BAD_LIST, 500), "500"),
}


def test_failing_sources_do_not_affect_the_others(tmp_path: Path) -> None:
    """Each list stays until stale, is withdrawn, and returns; no wrong price, each change in the log."""
    names = [f"bad{number}" for number in range(len(FAULTS))]
    over = threading.Event()
    with contextlib.ExitStack() as cleanup:
        peer = cleanup.enter_context(http_peer())
        peer.answers |= {f"/{name}.csv": respond(GOOD_LIST) for name in names}
        peer.answers["/good.csv"] = moving("B365")
        feed = cleanup.enter_context(service(configured(tmp_path, peer, ["good", *names], **TIMES)))
        eventually(lambda: all(feed.has("live", name) for name in ("good", *names)), "all are live")
        seen = cleanup.enter_context(watching(feed.base))
        cleanup.callback(over.set)

        for name, (answer, _) in zip(names, FAULTS.values(), strict=True):
            peer.answers[f"/{name}.csv"] = answer(over)
        noticed = [eventually(lambda: _not_live(feed, name), "it is noticed") for name in names]  # noqa: B023
        eventually(lambda: all(feed.has("stale", name) for name in names), "their lists are withdrawn")
        withdrawn = [feed.check(name) for name in names]
        alone = [feed.get(f"/api/v2/odds?bookmaker={name}") for name in names]
        monitor, versions = [feed.source(name) for name in names], len(set(seen.versions))
        peer.answers |= {f"/{name}.csv": respond(GOOD_LIST) for name in names}
        eventually(lambda: all(feed.has("live", name) for name in names), "they are live again")
        eventually(lambda: all(min(_edges(feed, name)) for name in names), "the log has all of it")
        shown = [_prices(feed.get(f"/api/v2/odds?bookmaker={name}")) for name in names]

    errors = [
        error in found["last_error"].lower()
        for found, (_, error) in zip(noticed, FAULTS.values(), strict=True)
    ]
    assert ([True] * len(names), [[TRUE]] * len(names)) == (errors, shown)
    assert {("retrying", "warn", 1)} == {_summary(found) for found in noticed}
    assert {("stale", "fail", 0)} == {_summary(found) for found in withdrawn}
    assert {(503, True)} == {(answer.status_code, "Retry-After" in answer.headers) for answer in alone}
    assert {("down", True)} == {(found["state"], found["failures_in_a_row"] >= 2) for found in monitor}
    assert {200} == seen.statuses
    assert {TRUE} == set().union(*(seen.odds[name.title()] for name in names))
    assert versions > 5 < len(seen.odds["Good"])
    assert sorted(seen.versions) == seen.versions
    assert [0, 0, 0] == _edges(feed, "good")


def _summary(check: Any) -> tuple[str, str, int]:
    return check["state"], check["status"], check["matches"]


def _not_live(feed: Service, name: str) -> Any:
    found = feed.check(name)
    return found if found["state"] != "live" else None


def _edges(feed: Service, name: str) -> list[int]:
    """Return how often the source went down, its list left, and the source came back."""
    edges = [
        feed.events("source.down", source=name),
        feed.events("bookmaker.withdrawn", bookmakers=[name]),
        feed.events("source.recovered", source=name),
    ]
    return [len(edge) for edge in edges]


def _prices(answer: Any) -> list[tuple[float, ...]]:
    return [tuple(match["odds"].values()) for match in answer.json()["matches"]]


def test_a_source_that_refuses_at_the_start_is_503_until_it_answers(tmp_path: Path) -> None:
    """The service starts, reports this source as starting, and is ready after its first answer."""
    with http_peer() as peer:
        peer.answers["/bad.csv"] = drop
        with service(configured(tmp_path, peer, ["bad"])) as feed:
            eventually(lambda: feed.events("source.down", source="bad"), "it is down")
            paths = ("/api/odds", "/api/v2/odds", "/health", "/health/ready", "/health/live", "/monitor")
            before = [feed.get(path).status_code for path in paths]
            peer.answers["/bad.csv"] = respond(GOOD_LIST)
            eventually(lambda: feed.get("/health/ready").status_code == 200, "it is ready")
            after = [feed.get(path).status_code for path in paths]

    assert ([503, 503, 503, 503, 200, 200], [200] * 6) == (before, after)


ASLEEP_S = 28_800.0
ASKED = ("/api/v2/odds", "/api/odds", "/api/v2/odds?bookmaker=only", "/health/ready", "/health")


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="no clock of this system counts sleep")
def test_the_first_answers_after_a_sleep_of_the_machine_have_no_old_prices(tmp_path: Path) -> None:
    """Requests that waited meanwhile are 503, and the file is requested immediately (C13)."""
    release, clocks = threading.Event(), MovedClocks(tmp_path / "clocks")

    def held(connection: socket.socket, asked: Asked) -> None:
        release.wait(60)
        conditional(sheet("B365", FALSE), '"two"')(connection, asked)

    with http_peer() as peer, contextlib.ExitStack() as cleanup:
        peer.answers["/only.csv"] = conditional(GOOD_LIST, '"one"')
        slow = {"poll_interval_s": 600.0, "stale_after_s": 1800.0, "timeout_s": 60.0}
        config = configured(tmp_path, peer, ["only"], **slow)
        feed = cleanup.enter_context(service(config, clocks.environment))
        cleanup.callback(release.set)
        eventually(lambda: feed.has("live", "only"), "it is live")
        peer.answers["/only.csv"] = held
        kept = [cleanup.enter_context(socket.create_connection(feed.address, 30)) for _ in ASKED]
        before = {_status(connection, "/health/live") for connection in kept}
        feed.process.send_signal(signal.SIGSTOP)
        for connection, path in zip(kept, ASKED, strict=True):
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        clocks.set_boot(ASLEEP_S)
        feed.process.send_signal(signal.SIGCONT)
        answers = {_status(connection) for connection in kept}
        later = [feed.get(path) for path in ASKED]
        eventually(lambda: len(peer.asked) == 2, "it is polled")
        release.set()
        eventually(lambda: feed.has("live", "only"), "it is back")
        shown = _prices(feed.get("/api/v2/odds"))

    assert ({200}, {503}) == (before, answers | {answer.status_code for answer in later})
    assert all("Retry-After" in answer.headers for answer in later[:3])
    assert [False, False] == ["if-none-match" in asked.headers for asked in peer.asked]
    assert ([FALSE], 1) == (shown, len(feed.events("bookmaker.withdrawn")))


def _status(connection: socket.socket, path: str | None = None) -> int:
    """Return the status of the next answer on a connection, after a request if there is a path."""
    if path is not None:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    with connection.makefile("rb") as lines:
        status, length = int(lines.readline().split()[1]), 0
        while (line := lines.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        lines.read(length)
    return status


KEY = 'k3y&that"nobody may+see%2'
"""A key with characters that are written differently in an address and in JSON."""
HINT, ENCODED = "nobody", quote_plus(KEY)
SHOWN = (
    *("/monitor", "/monitor/events", "/api/stats", "/health", "/health/ready", "/api/capabilities"),
    *("/api/odds", "/api/v2/odds", "/api/v2/fixtures", "/nowhere"),
    *(f"/monitor/entries/answers_{match}" for match in ("m1", "m2", "m3")),
)
SPORTS = ("soccer_a", "soccer_b")


def _echoing(status: int, code: str) -> Answer:
    """Answer with an error of the API that quotes the whole address, key included."""

    def answer(connection: socket.socket, asked: Asked) -> None:
        body = json.dumps({"message": f"{asked.path} is wrong: {KEY}", "error_code": code})
        respond(body.encode(), status, {"X-Key": KEY, "Server": KEY})(connection, asked)

    return answer


def _redirecting(to: str) -> Answer:
    return respond(status=302, headers={"Location": f"{to}?apiKey={ENCODED}"})


def _abandoning(connection: socket.socket, asked: Asked) -> None:
    connection.sendall(f"{KEY} {asked.path}\r\n\r\n".encode())


def _answering(connection: socket.socket, asked: Asked) -> None:
    """Answer with three matches at present prices; two of these matches have the key in a name."""
    names = {"m1": ("Alphaville", "B"), "m2": (f"A {KEY}", "B"), "m3": ("A", KEY)}
    now = datetime.now(UTC)
    updated, kick_off = (f"{at:%Y-%m-%dT%H:%M:%SZ}" for at in (now, now + timedelta(days=1)))
    events = [
        event(of, *teams, {"some": [market(*teams, (2.1, 3.4, 3.6), updated=updated)]}, kick_off=kick_off)
        for of, teams in names.items()
    ]
    respond(json.dumps(events).encode())(connection, asked)


# The behaviour of the server, and a part of the error that is shown.
ECHOES: dict[str, tuple[Answer, str]] = {
    "denies": (_echoing(401, "INVALID_KEY"), "invalid_key"),
    "is-empty": (_echoing(401, "OUT_OF_USAGE_CREDITS"), "out_of_usage_credits"),
    "fails": (_echoing(500, "X"), "error_answer"),
    "errs-with-200": (_echoing(200, "MISSING_KEY"), "missing_key"),
    "redirects-away": (_redirecting("http://elsewhere.example/"), "redirected to another host"),
    "redirects-for-ever": (_redirecting("/v4/sports/soccer_a/odds"), "redirects"),
    "redirects-to-nonsense": (_redirecting("http://[::1/"), "ValueError"),
    "talks-nonsense": (_abandoning, "RemoteProtocolError"),
    "sends-html": (respond(f"<html>{KEY}</html>".encode()), "no list of matches"),
    "is-not-there": (drop, "ConnectError"),
    "answers": (_answering, "None"),
}


def _secretive(folder: Path, urls: dict[str, str]) -> Path:
    """Write a configuration with one source and one bookmaker for each name and address."""
    lines = ["[server]", 'log_level = "debug"', "drain_s = 0", "[archive]", f'path = "{folder}/archive"']
    for name, url in urls.items():
        lines += [f"[sources.{name}]", 'kind = "the_odds_api"', f'url = "{url}"']
        lines += ['api_key = "${SECRET_OF_THE_TEST}"', f"sports = {json.dumps(SPORTS)}"]
        lines += ["poll_interval_s = 0.2", "timeout_s = 5.0"]
        lines += [f"[bookmakers.{name}]", f'source = "{name}"', 'key = "some"']
    config = folder / "secret.toml"
    config.write_text("\n".join(lines), "utf-8")
    return config


def test_a_key_is_never_shown_whatever_its_server_does(tmp_path: Path) -> None:
    """No answer, log line or file of the archive has the key, though the name of a team repeats it."""
    with contextlib.ExitStack() as cleanup:
        peers = {name: cleanup.enter_context(http_peer()) for name in ECHOES}
        for peer, (answer, _) in zip(peers.values(), ECHOES.values(), strict=True):
            peer.answers |= {f"/v4/sports/{sport}/odds": answer for sport in SPORTS}
        urls = {name: peer.url("") for name, peer in peers.items()} | {"is-not-there": "http://127.0.0.1:1"}
        environment = {"SECRET_OF_THE_TEST": KEY}
        feed = cleanup.enter_context(service(_secretive(tmp_path, urls), environment))

        seen = set[str]()

        def are_all_seen() -> bool:
            checks = feed.get("/health").json()["checks"]
            seen.update(
                name for name, (_, error) in ECHOES.items() if error in str(checks[name]["last_error"])
            )
            return seen == ECHOES.keys()

        eventually(are_all_seen, "every error is shown")
        archive = tmp_path / "archive"
        eventually(lambda: b"Alphaville" in _content(archive), "the archive has the good match")
        eventually(lambda: '"secret":2' in feed.get("/monitor").text, "the others are counted")
        answers = [feed.get(path) for path in SHOWN]
        text = "\n".join(f"{answer.headers} {answer.text}" for answer in answers) + repr(feed.log)
        kept = _content(archive)
        asked = [[request.path for request in peer.asked] for peer in peers.values() if peer.asked]

    assert all(f"apiKey={ENCODED}" in paths[0] for paths in asked)
    assert (len(ECHOES) - 1, "source.planned" in text) == (len(asked), True)
    assert (False, False) == (HINT in text, HINT.encode() in kept)


def _content(folder: Path) -> bytes:
    found = b""
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):  # a folder, or a file that has gone meanwhile
            found += path.read_bytes()
    return found
