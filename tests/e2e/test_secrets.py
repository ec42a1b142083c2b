"""The key of a source is never shown, whatever its server does with it (faults.md, I)."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from socket import socket
from typing import NamedTuple
from urllib.parse import quote_plus

import pytest

from tests.support.builders.the_odds_api import event, market
from tests.support.peers.http import Answer, Asked, http_peer, respond
from tests.support.systems.process import Service, service
from tests.support.time.waiting import eventually

KEY = 'k3y&that"nobody may+see%2'
"""A key with characters that are written differently in an address and in JSON."""
HINT = "nobody"
ENCODED = quote_plus(KEY)
SHOWN = (
    "/monitor",
    "/monitor/events",
    "/api/stats",
    "/health",
    "/health/ready",
    "/api/capabilities",
    "/api/v2/odds",
    "/nowhere",
)
SPORTS = ("soccer_a", "soccer_b")


def _echoing(status: int, code: str) -> Answer:
    """Answer with an error of the API that quotes the whole address, key included."""

    def answer(connection: socket, asked: Asked) -> None:
        body = json.dumps({"message": f"{asked.path} is wrong: {KEY}", "error_code": code})
        respond(body.encode(), status, {"X-Key": KEY, "Server": KEY})(connection, asked)

    return answer


def _redirecting(to: str) -> Answer:
    """Answer with a redirect that contains the key."""
    return respond(status=302, headers={"Location": f"{to}?apiKey={ENCODED}"})


def _abandoning(connection: socket, asked: Asked) -> None:
    """Answer with bytes that are not HTTP and contain the key."""
    connection.sendall(f"{KEY} {asked.path}\r\n\r\n".encode())


# What the server does, and what the shown error must still contain.
PEERS: dict[str, tuple[Answer, str]] = {
    "denies": (_echoing(401, "INVALID_KEY"), "invalid_key"),
    "is empty": (_echoing(401, "OUT_OF_USAGE_CREDITS"), "out_of_usage_credits"),
    "fails": (_echoing(500, "X"), "error_answer"),
    "errs with status 200": (_echoing(200, "MISSING_KEY"), "missing_key"),
    "redirects away": (_redirecting("http://elsewhere.example/"), "redirected to another host"),
    "redirects for ever": (_redirecting("/v4/sports/soccer_a/odds"), "redirects"),
    "redirects to nonsense": (_redirecting("http://[::1/"), "ValueError"),
    "talks nonsense": (_abandoning, "RemoteProtocolError"),
    "sends html": (respond(f"<html>{KEY}</html>".encode()), "no list of matches"),
}


def _config(folder: Path, urls: Mapping[str, str]) -> Path:
    """Write a configuration with one source and one bookmaker for each name and address."""
    path = folder / "secret.toml"
    lines = ["[server]", 'log_level = "debug"', "drain_s = 0"]
    for name, url in urls.items():
        lines += [f"[sources.{name}]", 'kind = "the_odds_api"', f'url = "{url}"']
        lines += ['api_key = "${SECRET_OF_THE_TEST}"', f"sports = {json.dumps(SPORTS)}"]
        lines += ["poll_interval_s = 0.2", "timeout_s = 1.0"]
        lines += [f"[bookmakers.{name}]", f'source = "{name}"', 'key = "some"']
    path.write_text("\n".join(lines), "utf-8")
    return path


def _everything(running: Service, ready: Callable[[str], bool]) -> str:
    """Return all that the service shows and logs, once `ready` is true of it."""
    with running.client() as client:

        def look() -> str:
            answers = [client.get(path) for path in SHOWN]
            return "\n".join(f"{answer.headers} {answer.text}" for answer in answers)

        eventually(lambda: ready(look()), "what is to be seen")
        return look() + repr(running.log)


class Echoed(NamedTuple):
    """One run with a source for each server: its errors and requests, and all that was shown."""

    errors: Mapping[str, str]
    asked: Mapping[str, Sequence[Asked]]
    text: str


@pytest.fixture(scope="module")
def echoed(tmp_path_factory: pytest.TempPathFactory) -> Echoed:
    """Run the service until every server has answered and every error is shown."""
    with contextlib.ExitStack() as cleanup:
        peers = {name.replace(" ", "-"): cleanup.enter_context(http_peer()) for name in PEERS}
        for peer, (answer, _) in zip(peers.values(), PEERS.values(), strict=True):
            peer.answers |= {f"/v4/sports/{sport}/odds": answer for sport in SPORTS}
        urls = {name: peer.url("") for name, peer in peers.items()}
        config = _config(tmp_path_factory.mktemp("echoed"), urls)
        running = cleanup.enter_context(service(config, {"SECRET_OF_THE_TEST": KEY}))

        def all_errors() -> Mapping[str, str] | None:
            checks = running.get("/health").json()["checks"]
            errors = {name: str(check["last_error"]) for name, check in checks.items()}
            is_complete = all(hint in errors[name.replace(" ", "-")] for name, (_, hint) in PEERS.items())
            return errors if is_complete else None

        errors = eventually(all_errors, "every error is shown")
        text = _everything(running, lambda _: True)
        return Echoed(errors, {name: tuple(peer.asked) for name, peer in peers.items()}, text)


@pytest.mark.parametrize("peer_that", PEERS)
def test_a_key_echoed_by_the_server_is_not_shown(echoed: Echoed, peer_that: str) -> None:
    """The error is in the probes and in the log, the key in neither."""
    name = peer_that.replace(" ", "-")

    assert PEERS[peer_that][1] in echoed.errors[name]
    is_sent = any(f"apiKey={ENCODED}" in asked.path for asked in echoed.asked[name])
    assert (True, False) == (is_sent, HINT in echoed.text)


def test_a_refused_connection_does_not_show_the_key(tmp_path: Path) -> None:
    """Without a listening server the error does not quote the address."""
    config = _config(tmp_path, {"some": "http://127.0.0.1:1"})
    with service(config, {"SECRET_OF_THE_TEST": KEY}) as running:
        eventually(lambda: running.events("source.down"), "it is down")
        text = _everything(running, lambda shown: "ConnectError" in shown)

    assert HINT not in text


def test_a_good_answer_does_not_show_the_key(tmp_path: Path) -> None:
    """While all is well no log level shows the key."""
    body = json.dumps([event("m1", "A", "B", {"some": [market("A", "B", (2.1, 3.4, 3.6))]})]).encode()
    with contextlib.ExitStack() as cleanup:
        peer = cleanup.enter_context(http_peer())
        peer.answers |= {f"/v4/sports/{sport}/odds": respond(body) for sport in SPORTS}
        running = cleanup.enter_context(
            service(_config(tmp_path, {"some": peer.url("")}), {"SECRET_OF_THE_TEST": KEY})
        )
        text = _everything(running, lambda shown: '"live"' in shown)

    assert (True, False) == ("source.planned" in text, HINT in text)


def test_a_key_in_a_name_is_not_shown(tmp_path: Path) -> None:
    """A match that repeats the key is rejected, in the lists, at what operators ask, and in the archive."""
    names = {"m1": ("Alphaville", "B"), "m2": (f"A {KEY}", "B"), "m3": ("A", KEY)}
    now = datetime.now(UTC)
    updated, kick_off = (f"{at:%Y-%m-%dT%H:%M:%SZ}" for at in (now, now + timedelta(days=1)))
    events = [
        event(of, *teams, {"some": [market(*teams, (2.1, 3.4, 3.6), updated=updated)]}, kick_off=kick_off)
        for of, teams in names.items()
    ]
    archive = tmp_path / "archive"
    with contextlib.ExitStack() as cleanup:
        peer = cleanup.enter_context(http_peer())
        peer.answers |= {
            f"/v4/sports/{sport}/odds": respond(json.dumps(events).encode()) for sport in SPORTS
        }
        config = _config(tmp_path, {"some": peer.url("")})
        config.write_text(f'{config.read_text()}\n[archive]\npath = "{archive}"\n')
        running = cleanup.enter_context(service(config, {"SECRET_OF_THE_TEST": KEY}))
        text = _everything(running, lambda shown: '"matches_count":1' in shown and '"secret":2' in shown)
        lists = ("/api/odds", "/api/v2/fixtures", *(f"/monitor/entries/some_{of}" for of in names))
        text += "".join(running.get(path).text for path in lists)
        eventually(lambda: b"Alphaville" in _content(archive), "the archive has the other match")
        kept = _content(archive)

    assert ('"secret":2' in text, HINT in text) == (True, False)
    assert HINT.encode() not in kept


def _content(folder: Path) -> bytes:
    found = b""
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):  # a folder, or a file that has gone meanwhile
            found += path.read_bytes()
    return found


def test_a_credential_equal_to_a_field_name_leaves_log_lines_intact(tmp_path: Path) -> None:
    """The credential is removed from values, never from the names of fields."""
    config = tmp_path / "words.toml"
    config.write_text(
        '[sources.api]\nkind = "the_odds_api"\nurl = "http://127.0.0.1:9"\napi_key = "source"\n'
        'sports = ["soccer_epl"]\n[bookmakers.pinnacle]\nsource = "api"\nkey = "pinnacle"\n',
        encoding="utf-8",
    )
    with service(config) as running:
        eventually(lambda: any("attempts" in line for line in running.log), "the source is down")
        (line,) = (entry for entry in running.log if "attempts" in entry)

    assert {"timestamp", "level", "event", "actor", "source", "error", "attempts"} == line.keys()
    assert ("20", "source.down", "warning") == (line["timestamp"][:2], line["event"], line["level"])
