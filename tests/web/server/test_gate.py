"""The gate in front of a real server: requests that pass, and answers to all other bytes."""

from __future__ import annotations

import time

import msgspec
import pytest

from tests.support.peers.raw_client import exchange, problem_in
from tests.support.systems.site import Site, open_site
from web.server.connections import Caps

pytestmark = pytest.mark.anyio

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
BOTH_LENGTHS = b"Content-Length: 44\r\nTransfer-Encoding: chunked\r\n\r\n"
SMUGGLED = b"0\r\n\r\nGET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (PREFACE + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00", (400, "http2_not_supported")),
        (b"GET /" + b"a" * 3_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", (414, "target_too_long")),
        (b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", (414, "target_too_long")),
        (b"GET /api/v2/odds?" + b"a&" * 30_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", (414, "target_too_long")),
        (b"GET /api/v2/odds?" + b"a&" * 20 + b" HTTP/1.1\r\nHost: x\r\n\r\n", (400, "too_many_parameters")),
        (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"a:b\r\n" * 11_000 + b"\r\n", (431, "headers_too_large")),
        (b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 40_000 + b"\r\n\r\n", (431, "headers_too_large")),
        (b"GET / HTTP/3.7\r\nHost: x\r\n\r\n", (400, "bad_request")),
        (b"nonsense\r\n\r\n", (400, "bad_request")),
        (b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n", (400, "bad_request")),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", (400, "bad_request")),
        (b"GET /health/live\r\n", (400, "bad_request")),
        (b"POST / HTTP/1.1\r\nHost: x\r\n" + BOTH_LENGTHS + SMUGGLED, (400, "bad_request")),
    ],
)
async def test_a_refusal_is_a_problem_document_and_ends_the_connection(
    site: Site, data: bytes, expected: tuple[int, str]
) -> None:
    """Nothing after the refusal is answered on that connection."""
    began = time.monotonic()

    answer = await exchange(site, data)

    assert expected == problem_in(answer)
    assert 1 == answer.count(b"x-request-id: ")
    assert time.monotonic() - began < 4.0  # the idle timeout would take 5 s


@pytest.mark.long
@pytest.mark.parametrize("frame", [b"\0\0\x08\x06\0\0\0\0\0pingping", b"\0\0\0\x04\0\0\0\0\0", b"a: b\r\n"])
async def test_a_refused_client_that_goes_on_sending_is_cut(site: Site, frame: bytes) -> None:
    """The server reads frames of HTTP/2, or anything else, for a short time only."""
    answer = await exchange(site, PREFACE, then=frame * 1_000)

    assert (400, "http2_not_supported") == problem_in(answer)
    await site.until(lambda: site.connections.open == 0)


@pytest.mark.parametrize("protocol", ["h2c", "websocket"])
async def test_an_upgrade_is_answered_in_http_1_1(site: Site, protocol: str) -> None:
    """RFC 9110 allows a server to ignore an upgrade."""
    answer = await exchange(
        site,
        f"GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings, close\r\n"
        f"Upgrade: {protocol}\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n".encode(),
    )

    assert answer.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("fields", ["Content-Length: 16000000\r\n", "Transfer-Encoding: chunked\r\n"])
@pytest.mark.parametrize(("method", "status"), [("GET", b"200"), ("POST", b"405")])
async def test_a_request_with_a_body_is_answered_without_reading_it(
    site: Site, method: str, status: bytes, fields: str
) -> None:
    """A long body costs the client its connection, but the request is still answered."""
    head = f"{method} /health/live HTTP/1.1\r\nHost: x\r\n{fields}\r\n".encode()

    answer = await exchange(site, head + b"a" * 16_000_000)

    assert answer.startswith(b"HTTP/1.1 " + status)
    assert 1 == answer.count(b"x-request-id: ")


async def test_request_ids_cannot_be_guessed(site: Site) -> None:
    """An id says nothing about the id before it, and therefore nothing about the number of requests."""
    ids = [(await site.get("/health/live")).headers["x-request-id"] for _ in range(3)]

    assert [32] * 3 == [len(match_id) for match_id in ids]
    assert 3 == len({match_id[:8] for match_id in ids}) == len({match_id[-8:] for match_id in ids})


async def test_a_connection_has_a_bounded_number_of_requests() -> None:
    """The last allowed request gets `Connection: close`; further requests get no answer."""
    request = b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"
    async with open_site(caps=Caps(requests=3)) as site:
        answer = (await exchange(site, request * 5)).lower()

        assert 3 == answer.count(b"http/1.1 200")
        assert 1 == answer.count(b"connection: close")
        assert answer.rindex(b"http/1.1 200") < answer.index(b"connection: close")


async def test_refusals_are_counted(site: Site) -> None:
    """Refusals are counted by status under one route name, so a client cannot create routes."""
    await exchange(site, b"nonsense\r\n\r\n")

    answer = await exchange(site, b"GET /api/stats HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")

    assert {"400": 1} == msgspec.json.decode(answer.partition(b"\r\n\r\n")[2])["http"]["answers"]["refused"]
