"""The service behind Varnish, with the settings that we ship (config/deploy/varnish.vcl)."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from shutil import which

import httpx2
import pytest

from tests.support.peers.http import HttpPeer, http_peer, respond
from tests.support.peers.plain_http import NO_TLS
from tests.support.systems.process import ROOT, service, simulated
from tests.support.time.waiting import eventually

VARNISH = which("varnishd") or "/usr/sbin/varnishd"
SHIPPED = ROOT / "config" / "deploy" / "varnish.vcl"
LIST = "/api/v2/odds"

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not Path(VARNISH).exists(), reason="needs varnish (Debian: apt-get install varnish)"
    ),
]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _proxied(port: int, folder: Path) -> Iterator[httpx2.Client]:
    """Run Varnish with the shipped settings in front of that port, and return a client of it."""
    text, own = SHIPPED.read_text("utf-8"), _free_port()
    assert '.port = "8000";' in text
    settings = folder / "board.vcl"
    settings.write_text(text.replace('.port = "8000";', f'.port = "{port}";'), "utf-8")
    listen, state = f"127.0.0.1:{own}", folder / "state"
    state.mkdir()
    command = [VARNISH, "-F", "-a", listen, "-f", str(settings), "-n", str(state), "-s", "malloc,32m"]
    # Outside of a service of its own it may run as nobody else.
    process = subprocess.Popen(
        [*command, "-j", "none"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        with httpx2.Client(
            base_url=f"http://{listen}", trust_env=False, verify=NO_TLS, timeout=30
        ) as client:
            eventually(lambda: _answers(client), "Varnish listens", 60)
            yield client
    finally:
        process.terminate()
        process.wait(20)


def _answers(client: httpx2.Client) -> bool:
    try:
        client.get("/nothing")
    except httpx2.TransportError:
        return False
    return True


@pytest.fixture
def scripted(tmp_path: Path) -> Iterator[tuple[HttpPeer, httpx2.Client]]:
    """Return a scripted service, and a client of Varnish in front of it."""
    with http_peer() as peer, _proxied(peer.port, tmp_path) as client:
        yield peer, client


def test_the_board_is_served_through_varnish(tmp_path: Path) -> None:
    """A tag is known again in each coding, a stream passes at once, and what is refused is a problem."""
    config = simulated(tmp_path, updates_per_s=0.01)
    with service(config) as running, _proxied(running.address[1], tmp_path) as client:
        eventually(lambda: client.get("/health/ready").status_code == httpx2.codes.OK, "it is ready")
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


def test_while_the_service_is_down_there_are_problem_documents(tmp_path: Path) -> None:
    """503 with Retry-After, in the shape of all other errors."""
    with _proxied(_free_port(), tmp_path) as client:
        answer = client.get(LIST)

    document = json.loads(answer.content)
    assert (503, "1", "application/problem+json") == (
        answer.status_code,
        answer.headers["retry-after"],
        answer.headers["content-type"],
    )
    assert {"type", "title", "status", "detail", "instance", "code", "request_id"} == document.keys()
