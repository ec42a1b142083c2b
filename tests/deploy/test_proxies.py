"""nginx and Varnish with the settings that we ship, in front of a scripted service: the tests of both."""

from __future__ import annotations

import itertools
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from tests.support.peers.http import Answer, Asked, HttpPeer, http_peer, respond
from tests.support.systems.process import free_port
from tests.support.systems.proxies import client_of, needs_nginx, needs_varnish, nginx, varnish
from tests.support.time.waiting import eventually, let_pass

LIST, CHANGES = "/api/v2/odds", "/api/v2/changes"
KEPT, UNKEPT = {"Cache-Control": "no-cache", "ETag": '"1-e"'}, {"Cache-Control": "no-store"}
CLIENTS = 30
OF_OPERATORS = (
    *("/metrics", "/metrics?x=1", "/%6Detrics", "/monitor", "/%6Donitor", "/monitor?x=1", "/monitor/"),
    *("/monitor/entries/a_1", "/monitor%2Ffixtures/1", "/api/stats", "/api%2Fst%61ts?x=1"),
)
OTHERS = (
    *(f"{LIST}{query}" for query in ("?x=1", "?bookmaker=a&bookmaker=b", "?bookmaker=%61", "?bookmaker=")),
    *("/health", "/health/ready", CHANGES, "/nothing"),
    *(f"{CHANGES}?since=1-e{more}" for more in ("", "&wait=1", "&wait=2.5", "&wait=30&x=1")),
    f"{CHANGES}?wait=31",
)
"""Targets whose answers no proxy keeps or shares: odd queries of lists, probes, no or brief waits."""
MEMBERS = {"type", "title", "status", "detail", "instance", "code", "request_id"}
Proxy = Callable[[str, Path], AbstractContextManager[str]]

pytestmark = pytest.mark.long


@dataclass
class Front:
    """A proxy in front of a scripted service, with a client of the proxy."""

    peer: HttpPeer
    address: str
    client: httpx2.Client

    def count(self, path: str) -> int:
        """Return how often the service was asked for a path; without a query in it, any query counts."""
        return sum(path in {asked.path, asked.path.partition("?")[0]} for asked in self.peer.asked)

    def at_once(self, path: str) -> list[httpx2.Response]:
        """Have many clients ask in parallel."""

        def ask(_: int) -> httpx2.Response:
            with client_of(self.address) as client:
                return client.get(path)

        with ThreadPoolExecutor(CLIENTS) as clients:
            return list(clients.map(ask, range(CLIENTS)))


@pytest.fixture(
    params=[
        pytest.param(nginx, id="nginx", marks=needs_nginx),
        pytest.param(varnish, id="varnish", marks=needs_varnish),
    ]
)
def proxy(request: pytest.FixtureRequest) -> Proxy:
    """Return a function that runs a proxy in front of HOST:PORT."""
    found: Proxy = request.param
    return found


@pytest.fixture
def front(proxy: Proxy, tmp_path: Path) -> Iterator[Front]:
    """Return the proxy in front of a service that answers with another number each time."""
    with http_peer() as peer, proxy(f"127.0.0.1:{peer.port}", tmp_path) as address:
        peer.otherwise = _numbered(headers=KEPT)
        with client_of(address) as client:
            yield Front(peer, address, client)


def _numbered(status: int = 200, after_s: float = 0.0, headers: dict[str, str] = UNKEPT) -> Answer:
    numbers = itertools.count()

    def answer(connection: socket.socket, asked: Asked) -> None:
        body = str(next(numbers)).encode()
        let_pass(after_s)
        respond(body, status, headers)(connection, asked)

    return answer


@pytest.mark.parametrize(
    "path",
    [LIST, f"{LIST}?bookmaker=a", "/api/odds", "/api/v2/surebets?bookmaker=a", "/", "/static/main.js"],
)
def test_the_service_is_asked_once_a_second(front: Front, path: str) -> None:
    """Each address is asked for at most once a second."""
    front.peer.answers[path] = respond(b"[]", headers=KEPT)
    began = time.monotonic()
    statuses = {front.client.get(path).status_code for _ in range(400)}

    assert {200} == statuses
    assert 1 <= front.count(path) <= 2 + time.monotonic() - began


def test_what_is_about_to_go_is_not_kept(front: Front) -> None:
    """A list that is about to end goes to each client anew, without the header that forbids to keep it."""
    front.peer.answers[LIST] = _numbered(headers={**KEPT, "X-Accel-Expires": "0"})
    answers = [front.client.get(LIST) for _ in range(5)]

    assert [b"0", b"1", b"2", b"3", b"4"] == [answer.content for answer in answers]
    assert not any("x-accel-expires" in answer.headers for answer in answers)


def test_nothing_else_is_kept_or_shared(front: Front) -> None:
    """Other answers are new for each request, whatever clients invent."""
    for path in OTHERS:
        first, second = (int(front.client.get(path).content) for _ in range(2))
        assert second == first + 1, path


def test_the_public_gets_nothing_of_operators(front: Front) -> None:
    """The service does not get the request, however the path is spelled."""
    before = len(front.peer.asked)
    answers = [front.client.get(path) for path in OF_OPERATORS]

    assert {(404, "not_found", 404)} == {
        (answer.status_code, answer.json()["code"], answer.json()["status"]) for answer in answers
    }
    assert before == len(front.peer.asked)


def test_while_the_service_is_down_errors_are_problem_documents(proxy: Proxy, tmp_path: Path) -> None:
    """The service is down in a restart: the error is 503 with the time to try again, as all its errors."""
    with proxy(f"127.0.0.1:{free_port()}", tmp_path) as address, client_of(address) as client:
        answers = [client.get(path) for path in (LIST, "/", CHANGES, "/health")]

    for answer in answers:
        problem = answer.json()
        assert (503, "application/problem+json") == (answer.status_code, answer.headers["content-type"])
        assert ("1", "*") == (answer.headers["retry-after"], answer.headers["access-control-allow-origin"])
        assert (503, "overloaded", MEMBERS) == (problem["status"], problem["code"], problem.keys())


@pytest.mark.parametrize(("status", "after_s"), [(200, 1.5), (410, 0.5), (503, 0.5)])
def test_equal_waits_are_a_single_one(front: Front, status: int, after_s: float) -> None:
    """The waits of one second share one answer or refusal. Soon after, the service is asked again."""
    front.peer.answers[CHANGES] = _numbered(status, after_s)
    began = int(time.time())
    answers = front.at_once(f"{CHANGES}?since=1-e&bookmaker=a&wait=30")

    assert front.count(CHANGES) <= 1 + int(time.time()) - began
    assert {(status, "no-store")} == {
        (answer.status_code, answer.headers["cache-control"]) for answer in answers
    }
    front.peer.answers[CHANGES] = respond(b"again", headers=UNKEPT)
    path = f"{CHANGES}?since=1-e&bookmaker=a&wait=30"
    eventually(lambda: front.client.get(path).content == b"again", "it is asked again")


@pytest.mark.parametrize(("status", "after_s", "wait"), [(429, 0.0, 30), (200, 2.0, 2)])
def test_an_answer_to_one_client_is_not_given_again(
    front: Front, status: int, after_s: float, wait: int
) -> None:
    """A client that asks too often is refused alone; a wait without changes is not repeated in a loop."""
    front.peer.answers[CHANGES] = _numbered(status, after_s)
    answers = [front.client.get(f"{CHANGES}?since=1-e&wait={wait}") for _ in range(3)]

    assert [b"0", b"1", b"2"] == [answer.content for answer in answers]
