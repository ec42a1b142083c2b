"""Rows F of docs/faults.md: what clients may send, on real sockets."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from random import Random

import msgspec
import pytest

from tests.support.builders.messages import match
from tests.support.oracles.queries import status_of
from tests.support.peers.raw_client import ask_in_a_row, exchange, problem_in
from tests.support.systems.attacked import attack, attacked, crowd, probed
from tests.support.systems.site import NAMES, Answered, Site, open_site
from tests.support.time.waiting import let_pass
from web.app import OPERATIONS
from web.endpoints import archive
from web.endpoints.past import closing, movers
from web.protocol.problems import ProblemDocument

pytestmark = [pytest.mark.anyio, pytest.mark.real_time, pytest.mark.usefixtures("logs_like_a_service")]

Figure = Callable[[str], None]
PIECES = (
    *("api", "odds", "v2", "v3", "changes", "health", "static", "..", "%2e", "%00", "%ff", "%zz", "admin"),
    *("index.php", ".git", "%e2%80%ae", "~", "x" * 60, "monitor.json", ";", "'", "$"),
)
QUERIES = (
    *("bookmaker", "bookmaker=", "=", "&", "cedar", "alder", "%63edar", "%00", "%zz", "%", "%c0%af", "%ff"),
    *(
        "%ed%a0%80",
        "%e2%80%ae",
        "+",
        ";",
        "[]",
        "<script>",
        "'--",
        "${x}",
        "../",
        "&bookmaker=cedar",
        "x" * 90,
    ),
)
METHODS = ("GET", "POST", "PUT", "DELETE", "OPTIONS", "PROPFIND")
REFUSED_METHODS = ("POST", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "CONNECT", "get")
CUTS = (1_000_000, 1_460, 97)
"""Bytes that are sent at a time."""
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
ONE = "198.51.100.1"


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """Return a site where every bookmaker serves."""
    async with open_site() as opened:
        for name in NAMES:
            opened.publish(name, match())
        yield opened


def _is_problem(answer: Answered, status: int) -> bool:
    """Return whether an answer is a problem document with that status, and says so in every place."""
    document = msgspec.json.decode(answer.body, type=ProblemDocument)
    return (status, status, "application/problem+json") == (
        answer.status,
        document.status,
        answer.headers["content-type"],
    )


async def test_f1_an_unknown_path_is_404_as_a_document(site: Site, figure: Figure) -> None:
    """Whatever the path and the method."""
    random = Random(1)
    targets = {"/" + "/".join(random.choices(PIECES, k=random.randrange(1, 5))) for _ in range(200)}
    targets -= OPERATIONS.keys()
    answers = [await site.raw(random.choice(METHODS), target) for target in sorted(targets)]

    right = sum(_is_problem(answer, 404) for answer in answers)
    figure(f"{right} of {len(targets)} are 404 as problem documents")
    assert len(targets) == right


async def test_f2_another_method_is_405_with_allow(site: Site, figure: Figure) -> None:
    """On every path of the contract."""
    without = {archive.PATH, closing.PATH, movers.PATH}  # which a service without an archive does not have
    served = [path for path in OPERATIONS if path not in without]
    paths = [path.replace("{file}", "main.js") for path in served]
    answers = [await site.raw(method, path) for path in paths for method in REFUSED_METHODS[:-2]]

    right = sum(
        _is_problem(answer, 405) and {"GET", "HEAD", "OPTIONS"} == {*answer.headers["allow"].split(", ")}
        for answer in answers
    )
    figure(f"{right} of {len(answers)} on {len(paths)} paths are 405 with Allow")
    assert len(answers) == right > 50


async def _ask_hostile(site: Site, asked: int) -> Counter[int]:
    """Send so many hostile queries; return how often each status came, which is what the oracle says."""
    random, seen = Random(4), Counter[int]()
    for _ in range(0, asked, 500):
        queries = ["".join(random.choices(QUERIES, k=random.randrange(1, 10))) for _ in range(500)]
        answers = await ask_in_a_row(site, [(f"/api/v2/odds?{name}", "") for name in queries])
        for query, answer in zip(queries, answers, strict=False):
            assert status_of(query.encode(), NAMES) == answer.status, query
            seen[answer.status] += 1
    return seen


@pytest.mark.timeout(180)
@pytest.mark.parametrize("asked", [1_000, pytest.param(10_000, marks=pytest.mark.long)])
async def test_f4_hostile_queries_are_400_or_ignored(
    site: Site, asked: int, figure: Figure, *, is_whole: bool
) -> None:
    """As a second reading of the same bytes says; with `--whole` for ten times as many."""
    asked *= 10 if is_whole else 1

    seen = await _ask_hostile(site, asked)

    parts = ", ".join(f"{count:,} times {status}" for status, count in sorted(seen.items()))
    figure(f"{seen.total():,} queries: {parts}; no 5xx")
    assert asked == seen.total()
    assert min(seen[200], seen[400]) > 100


async def _refused(site: Site, data: bytes) -> tuple[int, str]:
    """Send a request in pieces of several sizes; return the problem that each time is the only answer."""
    found = set()
    for piece in CUTS:
        answer = await exchange(site, data, piece=piece)
        assert 1 == answer.count(b"\r\nx-request-id: ")
        found.add(problem_in(answer))
    (pair,) = found
    return pair


async def test_f5_a_long_target_is_414(site: Site, figure: Figure) -> None:
    """Of 3, 40 or 200 kB, in the path or in the query, however it is cut."""
    targets = [start + b"a" * size for size in (3_000, 40_000, 200_000) for start in (b"/", b"/api/odds?")]
    found = [await _refused(site, b"GET %b HTTP/1.1\r\nHost: x\r\n\r\n" % target) for target in targets]

    figure(f"{len(found) * len(CUTS)} of {len(targets) * len(CUTS)} are 414, and closed")
    assert {(414, "target_too_long")} == set(found)


async def test_f6_a_large_head_is_431(site: Site, figure: Figure) -> None:
    """40 kB of headers in one line or in many, 1,200 headers, however they are cut."""
    fields = (b"A: " + b"a" * 40_000 + b"\r\n", b"A: %b\r\n" % (b"a" * 400) * 100, b"a: b\r\n" * 1_200)
    found = [await _refused(site, b"GET / HTTP/1.1\r\nHost: x\r\n" + field + b"\r\n") for field in fields]

    figure(f"{len(found) * len(CUTS)} of {len(fields) * len(CUTS)} are 431, and closed")
    assert {(431, "headers_too_large")} == set(found)


async def test_f7_a_smuggled_request_is_not_answered(site: Site, figure: Figure) -> None:
    """One answer for each attack, and the end of the connection; `exchange` reads to the end."""
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


@pytest.mark.long
def test_f10_rapid_resets_end_the_connection(tmp_path: Path, figure: Figure) -> None:
    """10,000 streams of HTTP/2, opened and reset at once: there is no HTTP/2 in cleartext."""
    with attacked(tmp_path) as running:
        with crowd(running, "probe", path="/api/v2/odds") as probe:
            let_pass(2)
            before = probe.result()
        with crowd(running, "probe", path="/api/v2/odds") as probe:
            found = attack(running, "rapid_resets", streams=10_000)
            let_pass(1)
            during = probe.result()

    figure(
        f"{found['streams']:,} streams on {found['connections']} connections, {found['refused']} of them"
        f" ended by 400; another client: {probed(during)}, {before['p99']:g} ms before"
    )
    assert found["connections"] == found["refused"]
    assert during["asked"] == during["answered"]
