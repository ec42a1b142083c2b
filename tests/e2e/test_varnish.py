"""The service behind Varnish, with the settings that we ship (config/deploy/varnish.vcl)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from tests.support.peers.http import HttpPeer, http_peer, respond
from tests.support.systems.feed import unmoving
from tests.support.systems.process import free_port
from tests.support.systems.proxies import client_of, needs_varnish, varnish

LIST = "/api/v2/odds"

pytestmark = [pytest.mark.long, needs_varnish]


@pytest.fixture
def scripted(tmp_path: Path) -> Iterator[tuple[HttpPeer, httpx2.Client]]:
    """Return a scripted service, and a client of Varnish in front of it."""
    with (
        http_peer() as peer,
        varnish(f"127.0.0.1:{peer.port}", tmp_path) as address,
        client_of(address) as client,
    ):
        yield peer, client


def test_the_board_is_served_through_varnish(tmp_path: Path) -> None:
    """A tag is known again in each coding, a stream passes at once, and what is refused is a problem."""
    with (
        unmoving(tmp_path) as running,
        varnish(running.base, tmp_path) as address,
        client_of(address) as client,
    ):
        for coding in ("gzip", "identity"):
            first = client.get(LIST, headers={"Accept-Encoding": coding})
            tag = {"Accept-Encoding": coding, "If-None-Match": first.headers["etag"]}
            assert (200, 304) == (first.status_code, client.get(LIST, headers=tag).status_code)
            assert first.json()["matches_count"] > 0
        refused = client.get(f"{LIST}?bookmaker=nobody")
        with client.stream("GET", "/api/v2/stream") as stream:
            line = next(stream.iter_lines())

    assert (400, "invalid_bookmaker") == (refused.status_code, refused.json()["code"])
    assert line.startswith(("retry", "event", "id", ":"))


def test_equal_requests_of_a_second_are_few(scripted: tuple[HttpPeer, httpx2.Client]) -> None:
    """A hundred requests for a list reach the service once a second; those for other queries each."""
    peer, client = scripted
    peer.answers[LIST] = respond(b"{}", headers={"Cache-Control": "no-cache", "ETag": '"1-e"'})

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: client.get(LIST), range(100)))
    asked = [request.path for request in peer.asked if request.path.startswith(LIST)]
    assert {200} == {answer.status_code for answer in answers}
    assert len(asked) < 30

    for _ in range(3):
        client.get(f"{LIST}?x=1")
    assert 3 == sum("x=1" in request.path for request in peer.asked)


def test_what_is_about_to_leave_is_not_kept(scripted: tuple[HttpPeer, httpx2.Client]) -> None:
    """With X-Accel-Expires: 0 each request reaches the service, and no client sees that header."""
    peer, client = scripted
    peer.answers[LIST] = respond(b"{}", headers={"Cache-Control": "no-cache", "X-Accel-Expires": "0"})

    answers = [client.get(LIST) for _ in range(5)]

    assert 5 == sum(request.path == LIST for request in peer.asked)
    assert all("x-accel-expires" not in answer.headers for answer in answers)


@pytest.mark.parametrize(
    "path",
    [
        *("/metrics", "/metrics?x=1", "/%6Detrics", "/monitor", "/%6Donitor", "/monitor?x=1", "/monitor/"),
        *("/monitor/entries/a_1", "/monitor%2Ffixtures/1", "/api/stats", "/api%2Fst%61ts?x=1"),
    ],
)
def test_the_public_gets_nothing_of_operators(scripted: tuple[HttpPeer, httpx2.Client], path: str) -> None:
    """However the path is spelled, the service is not asked."""
    peer, client = scripted
    before = len(peer.asked)
    answer = client.get(path)

    assert (404, "not_found", 404) == (answer.status_code, answer.json()["code"], answer.json()["status"])
    assert len(peer.asked) == before


def test_another_method_is_refused_with_a_problem_document(
    scripted: tuple[HttpPeer, httpx2.Client],
) -> None:
    """It says which methods there are."""
    _, client = scripted
    answer = client.post(LIST)

    assert (405, "GET, HEAD, OPTIONS", "method_not_allowed") == (
        answer.status_code,
        answer.headers["allow"],
        answer.json()["code"],
    )


def test_while_the_service_is_down_there_are_problem_documents(tmp_path: Path) -> None:
    """503 with Retry-After, in the shape of all other errors."""
    with varnish(f"127.0.0.1:{free_port()}", tmp_path) as address, client_of(address) as client:
        answer = client.get(LIST)

    document = json.loads(answer.content)
    assert (503, "1", "application/problem+json") == (
        answer.status_code,
        answer.headers["retry-after"],
        answer.headers["content-type"],
    )
    assert {"type", "title", "status", "detail", "instance", "code", "request_id"} == document.keys()
