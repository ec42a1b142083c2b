"""Calls and polls of the client: capabilities first, repeated attempts, refusals, conditional requests."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from typing import Any

import anyio
import httpx2
import msgspec
import pytest

from web import client as c
from web.client.core import KEPT_S
from web.client.values import Capabilities, MatchList

pytestmark = pytest.mark.anyio

PATHS = {"/api/v2/odds": ("bookmaker",), "/api/v2/fixtures": ("league",), "/health": ()}
PROBLEM = {"content-type": "application/problem+json"}
REFUSED = httpx2.Response(400, headers=PROBLEM, content=b'{"code":"invalid_bookmaker","detail":"was x"}')
LIST = MatchList(version=5, matches=(), matches_count=0)


class Scripted(httpx2.AsyncBaseTransport):
    """A service with scripted answers to all requests except requests for its capabilities."""

    def __init__(self, *answers: httpx2.Response | Exception) -> None:
        self.answers = [*answers]
        self.asked: list[tuple[float, httpx2.Request]] = []
        self.surveys = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the next answer of the script, or the capabilities."""
        if request.url.path == "/api/capabilities":
            self.surveys += 1
            names = ("alder",)
            known = Capabilities(
                endpoints=(*PATHS,), filters=PATHS, supported_bookmakers=names, version="2.9"
            )
            return httpx2.Response(200, content=msgspec.json.encode(known))
        self.asked.append((anyio.current_time(), request))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, **policy: Any) -> c.AsyncClient:
        """Return a client of this service."""
        return c.AsyncClient(
            "http://board", transport=self, now=anyio.current_time, policy=c.Policy(**policy)
        )


def listed(version: int = 5, tag: str = "") -> httpx2.Response:
    """Return an empty list."""
    body = msgspec.json.encode(msgspec.structs.replace(LIST, version=version))
    return httpx2.Response(200, headers={"etag": tag or f'"{version}-e"'}, content=body)


@pytest.mark.parametrize("call", [c.other("/api/v2/value"), c.odds(at=7), c.fixtures(fair="alder")])
async def test_what_a_service_does_not_have_is_not_asked(call: c.Call[Any]) -> None:
    """A service ignores a parameter that it does not know, and would therefore answer another question."""
    service = Scripted()
    with pytest.raises(c.UnsupportedError):
        await service.client().get(call)

    assert [] == service.asked


async def test_capabilities_are_kept_for_five_minutes() -> None:
    """After five minutes the client asks for the capabilities again."""
    service = Scripted(listed(), listed(), listed())
    client, surveys = service.client(), []
    for wait_s in (0.0, KEPT_S - 1.0, 2.0):
        await anyio.sleep(wait_s)
        await client.get(c.odds())
        surveys.append(service.surveys)

    assert [1, 1, 2] == surveys


@pytest.mark.parametrize(
    "passing",
    [
        lambda: httpx2.ConnectError("refused"),
        lambda: httpx2.Response(503, headers={"retry-after": "7"}),
        lambda: httpx2.Response(429, headers={"retry-after": "7", **PROBLEM}, content=b'{"code":"x"}'),
        lambda: httpx2.Response(404, content=b"<html>a proxy's own"),
        lambda: httpx2.Response(200, content=b'{"version":5,"matches":[{}]}'),
        lambda: httpx2.Response(200, content=b"\xff"),
        lambda: httpx2.Response(200, content=b"[" * 100_000),
    ],
    ids=["refused", "503", "429", "404 of a proxy", "other members", "no UTF-8", "nested"],
)
async def test_what_may_pass_is_tried_again(passing: Callable[[], Any]) -> None:
    """The next attempt follows after the client's own delay, or after the delay in `Retry-After`."""
    failed = passing()
    service = Scripted(failed, listed())
    found = await service.client().get(c.odds())
    (first, _), (second, _) = service.asked

    least_s = 7.0 if getattr(failed, "headers", {}).get("retry-after") else 0.25
    assert (LIST, True) == (found, least_s <= second - first <= least_s + 0.5)


async def test_attempts_end_with_the_last_reason() -> None:
    """The delays between attempts grow up to a limit, and the error has the reason of the last attempt."""
    service = Scripted(*(httpx2.ConnectError(f"refused {number}") for number in range(9)))
    with pytest.raises(c.UnavailableError, match="refused 8, in 9 attempts"):
        await service.client(attempts=9).get(c.odds())
    times = [at for at, _ in service.asked]

    longest = [min(30.0, 0.5 * 2**number) for number in range(8)]
    waits = [later - at for at, later in pairwise(times)]
    assert all(limit / 2 <= wait <= limit for wait, limit in zip(waits, longest, strict=True))


async def test_a_refusal_is_told_at_once() -> None:
    """The client raises an error with the service's code, and does not try again."""
    service = Scripted(REFUSED, REFUSED)
    client = service.client()
    with pytest.raises(c.AnsweredError) as told:
        await client.get(c.odds(bookmaker="x"))

    assert ("invalid_bookmaker", 400, 1) == (told.value.code, told.value.status, len(service.asked))


async def test_health_is_read_while_no_bookmaker_is_serving() -> None:
    """The 503 answer of `/health` has the usual body."""
    body = b'{"status":"fail","epoch":"e","checks":{}}'
    service = Scripted(httpx2.Response(503, headers={"content-type": "application/json"}, content=body))

    assert "fail" == (await service.client().get(c.health())).status


async def test_a_poll_yields_news_alone() -> None:
    """A poll sends the tag of its newest answer; it ignores 304 and older answers."""
    again = httpx2.Response(304)
    service = Scripted(listed(5), again, listed(4), listed(6), listed(5, '"5-other"'))
    found = []
    async for answer in service.client().poll(c.odds(), every_s=10.0):
        found.append(answer.version)
        if len(found) == 3:
            break

    assert [5, 6, 5] == found
    tags = [request.headers.get("if-none-match") for _, request in service.asked]
    assert [None, '"5-e"', '"5-e"', '"5-e"', '"6-e"'] == tags


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        (True, "1"),
        (12, "12"),
        (0.05, "0.05"),
        ("a b&c", "a+b%26c"),
        (("x", "y"), "x%2Cy"),
        (datetime(2026, 12, 5, 15, tzinfo=UTC), "2026-12-05T15%3A00%3A00Z"),
    ],
)
def test_a_parameter_is_written_as_the_service_reads_it(given: Any, sent: str) -> None:
    """A value of any type is written in the form that the service reads."""
    assert f"/x?of={sent}" == c.other("/x", of=given).target


@pytest.mark.parametrize(
    "wrong",
    [
        partial(c.fixture, ".."),
        partial(c.odds, at=datetime(2026, 1, 1)),  # noqa: DTZ001 - a time without a zone is the wrong value
        partial(c.Client, "board:8000"),
        partial(c.Client, "http://[::1"),
    ],
)
def test_a_wrong_value_is_refused_at_once(wrong: Callable[[], Any]) -> None:
    """The error says what was found."""
    with pytest.raises(ValueError, match=r"was|is"):
        wrong()


def test_both_clients_have_the_same_methods() -> None:
    """The two clients, and their boards, have methods with equal names and equal parameters."""
    pairs = [(c.Client, c.AsyncClient), (c.Board, c.AsyncBoard)]
    for waiting, other in pairs:
        for name in {name for name in vars(waiting) if not name.startswith("_")} - {"close"}:
            both = [inspect.signature(getattr(kind, name)).parameters for kind in (waiting, other)]
            assert both[0] == both[1]
