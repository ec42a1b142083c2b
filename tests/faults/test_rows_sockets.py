"""Rows of docs/faults.md that need a real socket: requests, streams, and errors of our own."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable

import pytest
from structlog.testing import capture_logs

from tests.support.builders.messages import match
from tests.support.peers.cutting import cut_all, leftovers
from tests.support.peers.raw_client import exchange, problem_in
from tests.support.systems.every_answer import ANSWERS, Broken
from tests.support.systems.site import NAMES, Site, open_site

pytestmark = [pytest.mark.anyio, pytest.mark.real_time]

Figure = Callable[[str], None]
QUIET = pytest.mark.usefixtures("logs_like_a_service")
INSIDE = ("hunter2", "RuntimeError", "secret", ".py", "Traceback", "quart")
CUTS = (1_000_000, 1_460, 97)
"""Sizes in bytes of the pieces that are sent."""
HIDDEN = b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"
SMUGGLING = {
    "both lengths": b"Content-Length: 44\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "both, the other way round": b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
    "length twice": b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
    "two lengths": b"Content-Length: 0\r\nContent-Length: 37\r\n\r\n",
    "a list of lengths": b"Content-Length: 0, 0\r\n\r\n",
    "length with a sign": b"Content-Length: +5\r\n\r\n",
    "length below zero": b"Content-Length: -1\r\n\r\n",
    "hexadecimal length": b"Content-Length: 0x5\r\n\r\n",
    "huge length": b"Content-Length: 99999999999999999999\r\n\r\n",
    "bad chunk size": b"Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
    "negative chunk size": b"Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
    "chunk extension": b"Transfer-Encoding: chunked\r\n\r\n0;a=\nb\r\n\r\n",
    "bare line feed in a chunk": b"Transfer-Encoding: chunked\r\n\r\n0\n\n",
    "another coding": b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "two codings": b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "space before the colon": b"Content-Length : 5\r\n\r\n",
    "line folding": b"A: b\r\n Content-Length: 5\r\n\r\n",
    "bare carriage return": b"A: b\rContent-Length: 5\r\n\r\n",
}


@pytest.fixture
async def empty() -> AsyncIterator[Site]:
    """Return a site without any odds yet."""
    async with open_site() as opened:
        yield opened


@pytest.fixture
async def site(empty: Site) -> Site:
    """Return a site where every bookmaker serves."""
    for name in NAMES:
        empty.publish(name, match())
    return empty


async def _refused(site: Site, data: bytes) -> tuple[int, str]:
    """Send a request in pieces of several sizes; return the problem that each time is the only answer."""
    found = set()
    for piece in CUTS:
        answer = await exchange(site, data, piece=piece)
        assert 1 == answer.count(b"\r\nx-request-id: ")
        found.add(problem_in(answer))
    (pair,) = found
    return pair


@QUIET
async def test_f5_a_long_target_is_414(site: Site, figure: Figure) -> None:
    """Targets of 3, 40 or 200 kB, in the path or in the query, are refused in pieces of any size."""
    targets = [start + b"a" * size for size in (3_000, 40_000, 200_000) for start in (b"/", b"/api/odds?")]
    found = [await _refused(site, b"GET %b HTTP/1.1\r\nHost: x\r\n\r\n" % target) for target in targets]

    figure(f"{len(found) * len(CUTS)} of {len(targets) * len(CUTS)} are 414, and closed")
    assert {(414, "target_too_long")} == set(found)


@QUIET
async def test_f6_a_large_head_is_431(site: Site, figure: Figure) -> None:
    """40 kB of headers in one line or in many, and 1,200 headers, are refused in pieces of any size."""
    fields = (b"A: " + b"a" * 40_000 + b"\r\n", b"A: %b\r\n" % (b"a" * 400) * 100, b"a: b\r\n" * 1_200)
    found = [await _refused(site, b"GET / HTTP/1.1\r\nHost: x\r\n" + field + b"\r\n") for field in fields]

    figure(f"{len(found) * len(CUTS)} of {len(fields) * len(CUTS)} are 431, and closed")
    assert {(431, "headers_too_large")} == set(found)


@QUIET
async def test_f7_a_smuggled_request_is_not_answered(site: Site, figure: Figure) -> None:
    """Each attack gets one answer, and the connection ends; `exchange` reads to that end."""
    seen, attacks = Counter[bytes](), 0
    for name, rest in SMUGGLING.items():
        for method in (b"GET", b"POST"):
            answer = await exchange(
                site, b"%b /api/odds HTTP/1.1\r\nHost: x\r\n%b" % (method, rest) + HIDDEN
            )
            assert 1 == answer.count(b"\r\nx-request-id: "), name
            seen[answer[9:12]] += 1
            attacks += 1

    statuses = ", ".join(f"{count} times {status.decode()}" for status, count in sorted(seen.items()))
    figure(f"{attacks} attacks, one answer each, then closed: {statuses}")
    assert {b"200", b"400", b"405"} == seen.keys()


@QUIET
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("cuts", "least"), [(100, 5), pytest.param(1_000, 60, marks=pytest.mark.long)])
async def test_h1_a_stream_may_be_cut_anywhere(
    empty: Site, cuts: int, least: int, figure: Figure, *, is_whole: bool
) -> None:
    """A client that resumes gets exactly what it missed: no gap, no repeat, never a reset.

    With `--whole` there are ten times as many cuts.
    """
    cuts *= 10 if is_whole else 1

    counts = await cut_all(empty, cuts, cuts)

    figure(f"{cuts:,} cuts, {sum(counts):,} events applied: no gap, no repeat, each list as the server's")
    assert min(counts) > least


@QUIET
@pytest.mark.long
@pytest.mark.timeout(300)
async def test_h9_who_leaves_leaves_nothing_behind(empty: Site, figure: Figure, *, is_whole: bool) -> None:
    """3,000 clients (10,000 with `--whole`) leave at any moment; their tasks and descriptors go as well."""
    connects = 10_000 if is_whole else 3_000

    left = await leftovers(empty, connects)

    figure(f"{connects:,} connects and closes: {left[0]} tasks and {left[1]} descriptors more than before")
    assert (0, 0) == left


async def test_k4_an_exception_in_a_handler_shows_its_id_only(figure: Figure) -> None:
    """On each path and in each layer the answer is 500, and one log line has the stack under its id."""
    asked = right = 0
    of_quart = ("/api/v2/fixtures/x", "/monitor/links/x", "/monitor/links/x/y", "/monitor/fixtures/x")
    async with open_site(Broken()) as site:
        with capture_logs() as logs:
            answers = [await site.raw("GET", path) for path in (*ANSWERS, *of_quart)]
    failed = {line["request_id"] for line in logs if line["event"] == "request.failed"}
    for answer in answers:
        if answer.status != 500:
            continue
        sent = f"{answer.body.decode()} {answer.headers}"
        asked += 1
        right += (
            json.loads(answer.body)["request_id"] in failed
            and answer.headers["content-type"] == "application/problem+json"
            and not any(word in sent for word in INSIDE)
        )

    figure(f"{right} of {asked} show the id that the log has, and nothing of the inside")
    assert asked == right > 10
