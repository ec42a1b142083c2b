"""Many clients that wait for the same changes behind a proxy of ours are a single client of the service."""

from __future__ import annotations

import itertools
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.peers.http import Answer, Asked, HttpPeer, http_peer, respond
from tests.support.systems.process import service, simulated
from tests.support.systems.proxies import client_of, needs_nginx, needs_varnish, nginx, varnish
from tests.support.time.waiting import eventually, let_pass

PATH = "/api/v2/changes"
UNSHARED = {"Cache-Control": "no-store"}
CLIENTS = 30
Proxy = Callable[[str, Path], AbstractContextManager[str]]

pytestmark = pytest.mark.long


@pytest.fixture(
    params=[
        pytest.param(nginx, id="nginx", marks=needs_nginx),
        pytest.param(varnish, id="varnish", marks=needs_varnish),
    ]
)
def proxy(request: pytest.FixtureRequest) -> Proxy:
    """Return what runs a proxy in front of HOST:PORT."""
    found: Proxy = request.param
    return found


@pytest.fixture
def scripted(proxy: Proxy, tmp_path: Path) -> Iterator[tuple[HttpPeer, str]]:
    """Return a scripted service, and the address of a proxy in front of it."""
    with http_peer() as peer, proxy(f"127.0.0.1:{peer.port}", tmp_path) as address:
        yield peer, address


def _numbered(status: int = 200, after_s: float = 0.0) -> Answer:
    """Return an answer with a number that is another each time, in the service's shape."""
    numbers = itertools.count()

    def answer(connection: socket.socket, asked: Asked) -> None:
        body = str(next(numbers)).encode()
        let_pass(after_s)
        respond(body, status, UNSHARED)(connection, asked)

    return answer


def _asked(peer: HttpPeer) -> list[str]:
    return [request.path for request in peer.asked if request.path.startswith(PATH)]


def _at_once(address: str, query: str) -> list[httpx2.Response]:
    def ask(_: int) -> httpx2.Response:
        with client_of(address) as client:
            return client.get(PATH + query)

    with ThreadPoolExecutor(CLIENTS) as clients:
        return list(clients.map(ask, range(CLIENTS)))


def test_equal_waits_are_a_single_one(scripted: tuple[HttpPeer, str]) -> None:
    """Of each second in which they came; every client has the answer that is then there."""
    peer, address = scripted
    peer.answers[PATH] = _numbered(after_s=1.5)
    began = int(time.time())

    answers = _at_once(address, "?since=1-e&bookmaker=a&wait=30")

    assert len(_asked(peer)) <= 1 + int(time.time()) - began
    assert {(200, "no-store")} == {
        (answer.status_code, answer.headers["cache-control"]) for answer in answers
    }


@pytest.mark.parametrize("status", [410, 503])
def test_equal_waits_are_refused_together(scripted: tuple[HttpPeer, str], status: int) -> None:
    """Such as when their version is too old. A request of a later second may be answered."""
    peer, address = scripted
    peer.answers[PATH] = _numbered(status, after_s=0.5)
    began = int(time.time())

    answers = _at_once(address, "?since=1-e&wait=30")

    assert [(status, "no-store")] * CLIENTS == [
        (answer.status_code, answer.headers["cache-control"]) for answer in answers
    ]
    assert len(_asked(peer)) <= 1 + int(time.time()) - began
    peer.answers[PATH] = respond(b"{}", headers=UNSHARED)
    with client_of(address) as client:
        eventually(lambda: client.get(f"{PATH}?since=1-e&wait=30").status_code == 200, "it is asked again")


def test_a_client_that_asks_too_often_is_refused_alone(scripted: tuple[HttpPeer, str]) -> None:
    """That others ask the same is no matter."""
    peer, address = scripted
    peer.answers[PATH] = _numbered(429)
    with client_of(address) as client:
        answers = [client.get(f"{PATH}?since=1-e&wait=30") for _ in range(4)]

    assert [b"0", b"1", b"2", b"3"] == [answer.content for answer in answers]


@pytest.mark.parametrize(
    "query",
    ["", "?since=1-e", "?since=1-e&wait=1", "?since=1-e&wait=2.5", "?since=1-e&wait=30&x=1", "?wait=31"],
)
def test_other_requests_for_changes_are_not_shared(scripted: tuple[HttpPeer, str], query: str) -> None:
    """Those that do not wait, or so briefly that an empty answer would answer the next too; odd ones."""
    peer, address = scripted
    peer.answers[PATH] = _numbered()
    with client_of(address) as client:
        bodies = [client.get(PATH + query).content for _ in range(2)]

    assert [b"0", b"1"] == bodies


def test_an_answer_without_changes_is_not_given_again(scripted: tuple[HttpPeer, str]) -> None:
    """A client that asks the same again waits again; else it would ask without a pause."""
    peer, address = scripted
    peer.answers[PATH] = _numbered(after_s=2.0)
    with client_of(address) as client:
        bodies = [client.get(f"{PATH}?since=1-e&wait=2").content for _ in range(2)]

    assert [b"0", b"1"] == bodies


def test_clients_that_wait_behind_a_proxy_have_the_list(proxy: Proxy, tmp_path: Path) -> None:
    """Each follows the changes with others at its side; what it has in the end is a list of the service."""
    config = simulated(tmp_path, updates_per_s=5.0)
    with service(config) as running, proxy(running.base.removeprefix("http://"), tmp_path) as address:
        running.wait_ready()
        lists: dict[int, Any] = {}
        is_over = threading.Event()

        def watch() -> None:
            with running.client() as client:
                while not is_over.is_set():
                    found = client.get("/api/v2/odds").json()
                    lists[found["version"]] = found["matches"]

        with ThreadPoolExecutor(11) as threads:
            watching = threads.submit(watch)
            followed = list(threads.map(lambda _: _followed(address), range(10)))
            eventually(lambda: lists.keys() >= {version for version, _ in followed}, "all are seen")
            is_over.set()
            watching.result()
        before = running.get("/api/stats").json()["http"]["answers"][PATH]

    assert [lists[version] for version, _ in followed] == [matches for _, matches in followed]
    assert before["200"] < 10 * 20


def _followed(address: str) -> tuple[int, list[Any]]:
    """Return version and matches of a client after twenty answers."""
    with client_of(address) as client:
        first = client.get("/api/v2/odds")
        document, cursor = first.json(), first.headers["odds-cursor"]
        matches = {match["id"]: match for match in document["matches"]}
        version = document["version"]
        for _ in range(20):
            changes = json.loads(client.get(f"{PATH}?since={cursor}&wait=20").content)
            matches |= {match["id"]: match for match in changes["matches"]}
            for removed in changes["removed"]:
                matches.pop(removed["id"], None)
            version, cursor = changes["version"], changes["cursor"]
    return version, [matches[name] for name in sorted(matches, key=_order)]


def _order(name: str) -> tuple[int, str]:
    """Return the place of an id: the order of the configuration is that of the alphabet here."""
    bookmaker, _, _ = name.partition("_")
    return ["alder", "birch"].index(bookmaker), name
