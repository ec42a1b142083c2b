"""The limit of requests of one client, on a real socket.

The peer is a trusted proxy, such as nginx on the same machine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import msgspec
import pytest

from actors.core.limits import Limits
from tests.support.builders.messages import match
from tests.support.peers.stream_client import streaming
from tests.support.systems.site import Answered, Site, open_site

pytestmark = pytest.mark.anyio

BURST = 3
LIMITS = Limits(
    requests_per_s=0.01,
    burst=BURST,
    max_clients=5,
    max_streams_per_client=2,
    trusted_proxies=("127.0.0.1",),
)
"""After its burst a client must wait 100 s, longer than any test takes."""

ONE, OTHER = "198.51.100.1", "198.51.100.2"
POLICY = '"client";q=3;w=300'
FIELDS = ("ratelimit-policy", "ratelimit")


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """Return a site behind a trusted proxy."""
    async with open_site(of_clients=LIMITS) as opened:
        opened.publish("alder", match("a"))
        yield opened


async def _ask(
    site: Site, client: str, path: str = "/api/v2/odds", *lines: str, by: str = "GET"
) -> Answered:
    return await site.raw(by, path, f"X-Forwarded-For: {client}", *lines)


async def _use_up(site: Site, client: str) -> None:
    for _ in range(BURST):
        assert 200 == (await _ask(site, client)).status


async def _http(site: Site) -> Any:
    return msgspec.json.decode((await _ask(site, "203.0.113.9", "/api/stats")).body)["http"]


async def test_a_client_above_its_burst_gets_429(site: Site) -> None:
    """The refusal says when to ask again, in Retry-After and in the fields of the draft."""
    answers = [await _ask(site, ONE) for _ in range(BURST + 2)]

    assert [200] * BURST + [429] * 2 == [answer.status for answer in answers]
    assert [POLICY] * 5 == [answer.headers["ratelimit-policy"] for answer in answers]
    limits = [
        re.fullmatch('"client";r=([0-9]+);t=([0-9]+)', answer.headers["ratelimit"]) for answer in answers
    ]
    assert ["2", "1", "0", "0", "0"] == [limit[1] for limit in limits if limit]
    refused = answers[-1]
    problem = msgspec.json.decode(refused.body)
    assert [refused.headers["retry-after"]] == [limit[2] for limit in limits[-1:] if limit]
    assert 0 < int(refused.headers["retry-after"]) <= 100
    assert "application/problem+json" == refused.headers["content-type"]
    assert "no-store" == refused.headers["cache-control"]
    assert "3 requests at once and 0.01 a second" in problem["detail"]
    assert (
        429,
        "Too Many Requests",
        "too_many_requests",
        "/api/v2/odds",
        refused.headers["x-request-id"],
    ) == (*(problem[name] for name in ("status", "title", "code", "instance", "request_id")),)


async def test_one_that_asks_all_the_time_leaves_the_others_alone(site: Site) -> None:
    """Of one client's 300 requests only its burst is answered, of another client all (faults.md, G7)."""
    seen = {ONE: Counter[int](), OTHER: Counter[int]()}
    for number in range(300):
        for client in (ONE, OTHER) if number % 100 == 50 else (ONE,):
            response = await site.client.get("/api/v2/odds", headers={"X-Forwarded-For": client})
            seen[client][response.status_code] += 1

    assert {ONE: {200: BURST, 429: 300 - BURST}, OTHER: {200: 3}} == seen
    assert 300 - BURST == (await _http(site))["throttled"]


async def test_a_refusal_is_counted_in_the_answers(site: Site) -> None:
    """Refusals count under one name for all paths; the table of clients has both clients."""
    await _use_up(site, ONE)
    for path in ("/api/v2/odds", "/nowhere"):
        assert 429 == (await _ask(site, ONE, path)).status

    counted = await _http(site)
    assert ({"429": 2}, 2, 2) == (counted["answers"]["refused"], counted["throttled"], counted["clients"])


@pytest.mark.parametrize("trusted", [(), ("10.0.0.0/8", "::1", "local")])
async def test_a_forged_address_is_ignored_from_any_other_peer(trusted: tuple[str, ...]) -> None:
    """Only a trusted proxy forwards (faults.md, F11). This machine has no limit, and no fields."""
    limits = Limits(requests_per_s=0.01, burst=1, max_streams_per_client=0, trusted_proxies=trusted)
    async with open_site(of_clients=limits) as site:
        for path in ("/api/v2/odds", "/health/live", "/nowhere") * 3:
            answered = await _ask(site, ONE, path)

            assert 429 != answered.status
            assert not {*FIELDS} & {*answered.headers}
        counted = await _http(site)
        async with streaming(site.base, "", f"X-Forwarded-For: {ONE}") as connection:
            status = connection.head.status

    assert (0, 0, 200) == (counted["throttled"], counted["clients"], status)


async def test_what_is_forged_in_front_of_the_proxys_own_line_is_ignored(site: Site) -> None:
    """A client that invents a new address for each request is still one client."""
    answers = [await _ask(site, f"6.6.6.{number}, {ONE}") for number in range(BURST + 2)]

    assert [200] * BURST + [429] * 2 == [answer.status for answer in answers]


@pytest.mark.parametrize("by", ["GET", "HEAD"])
@pytest.mark.parametrize("path", ["/health", "/health/live", "/health/ready"])
async def test_probes_are_never_refused(site: Site, path: str, by: str) -> None:
    """Even a client that gets 429 for everything else is answered (faults.md, G8)."""
    await _use_up(site, ONE)

    answers = [await _ask(site, ONE, path, by=by) for _ in range(5)]

    assert 429 == (await _ask(site, ONE)).status
    assert not [answer.status for answer in answers if answer.status == 429]
    assert not [answer.headers for answer in answers if {*FIELDS} & {*answer.headers}]


@pytest.mark.parametrize(
    ("by", "path", "status"),
    [
        ("HEAD", "/api/v2/odds", 200),
        ("HEAD", "/api/v2/stream", 200),
        ("OPTIONS", "/api/v2/odds", 200),
        ("OPTIONS", "/health/live", 200),
        ("POST", "/api/v2/stream", 405),
        ("POST", "/health/live", 405),
        ("GET", "/health/%6cive", 200),
        ("GET", "/nowhere", 404),
        ("GET", "/api/v2/odds?bookmaker=nobody", 400),
        ("GET", "/api/v2/changes?since=5001&wait=0", 200),
        ("GET", "/monitor", 200),
    ],
)
async def test_everything_else_counts(site: Site, by: str, path: str, status: int) -> None:
    """Each request counts, whatever its method and its answer."""
    answers = [await _ask(site, ONE, path, by=by) for _ in range(BURST + 1)]

    assert [status] * BURST + [429] == [answer.status for answer in answers]
    assert [POLICY] * 4 == [answer.headers["ratelimit-policy"] for answer in answers]
    assert (by == "HEAD") == (answers[-1].body == b"")


async def test_an_answer_without_news_has_the_fields(site: Site) -> None:
    """A 304 counts as well, because it costs nearly as much as a 200."""
    tag = (await _ask(site, ONE)).headers["etag"]

    answered = await _ask(site, ONE, "/api/v2/odds", f"If-None-Match: {tag}")

    assert (304, POLICY, '"client";r=1;t=200') == (
        answered.status,
        *(answered.headers[field] for field in FIELDS),
    )


async def test_a_refusal_of_the_gate_counts(site: Site) -> None:
    """A refusal of the gate counts for its client; the gate's secret path is not shown."""
    answers = [await _ask(site, ONE, "/?" + "a&" * 20) for _ in range(BURST + 1)]

    assert [400] * BURST + [429] == [answer.status for answer in answers]
    assert "" == msgspec.json.decode(answers[-1].body)["instance"]
    assert "close" == answers[-1].headers["connection"]


async def test_a_stream_that_comes_back_is_never_refused(site: Site) -> None:
    """An EventSource that gets anything but 200 gives up, so opening a stream costs nothing."""
    await _use_up(site, ONE)
    for _ in range(200):
        async with streaming(site.base, "", f"X-Forwarded-For: {ONE}") as connection:
            assert 200 == connection.head.status
            assert not {*FIELDS} & {*connection.head.headers}
        await site.until(lambda: not site.audience)

    assert 429 == (await _ask(site, ONE)).status


async def test_a_client_has_so_many_streams_at_a_time(site: Site) -> None:
    """Waits for changes count, too. Another client has its own places; an ended stream frees a place."""
    waiting, line = "/api/v2/changes?since=5001&wait=30", f"X-Forwarded-For: {ONE}"
    async with AsyncExitStack() as streams:
        for _ in range(2):
            connection = await streams.enter_async_context(streaming(site.base, "", line))
            assert 200 == connection.head.status
        stream, wait = await _ask(site, ONE, "/api/v2/stream"), await _ask(site, ONE, waiting)
        other = await streams.enter_async_context(streaming(site.base, "", f"X-Forwarded-For: {OTHER}"))

        assert [(429, "too_many_client_streams", "5")] * 2 == [
            (answer.status, msgspec.json.decode(answer.body)["code"], answer.headers["retry-after"])
            for answer in (stream, wait)
        ]
        assert 200 == other.head.status
    await site.until(lambda: not site.audience)

    async with streaming(site.base, "", line) as again:
        assert 200 == again.head.status
