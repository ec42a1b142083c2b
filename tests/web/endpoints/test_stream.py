"""/api/v2/stream on a real socket: the events that a client receives."""

from __future__ import annotations

from contextlib import AsyncExitStack
from urllib.parse import quote

import pytest
from msgspec.structs import replace

from actors.board.history import MAX_ANSWER
from actors.core.cooperative import run_now
from tests.support.builders.messages import match
from tests.support.peers.stream_client import Connection, Copy, Event, streaming
from tests.support.systems.site import EPOCH, NAMES, Site

pytestmark = pytest.mark.anyio

STREAM = "/api/v2/stream"
ORDER = list(NAMES)
VIEW = pytest.mark.parametrize("view", [None, *NAMES])
RESETS = [
    *(("4999", "too_old"), ("0", "too_old"), ("-1", "too_old"), ("-" + "9" * 1900, "too_old")),
    *(("5004", "future"), ("9" * 30, "future"), ("9" * 1900, "future")),
    *(("x", "malformed"), ("5003.0", "malformed"), ("5003, 5003", "malformed"), ('"5003"', "malformed")),
    *((f"4999-{EPOCH}", "too_old"), (f"-1-{EPOCH}", "too_old"), (f"5004-{EPOCH}", "future")),
    *(("5003-0e90c002", "other_epoch"), ("5003-gzip", "other_epoch"), ("1-0", "other_epoch")),
    *((f"5003-{EPOCH}-gzip", "malformed"), ("5003-", "malformed"), ("5003--1", "malformed")),
    *((f'"5003-{EPOCH}"', "malformed"), ("5003-0E90C001", "malformed"), ("5003-" + "0" * 33, "malformed")),
    *(("5003;", "malformed"), ("0x1f", "malformed"), ("\xff", "malformed"), ("null", "malformed")),
]


def _id(version: int) -> str:
    return f"{version}-{EPOCH}"


def _events(*events: Event) -> list[tuple[str, str | None]]:
    return [(event.name, event.id) for event in events]


async def _taken(copy: Copy, connection: Connection, count: int) -> list[Event]:
    events = [await connection.event() for _ in range(count)]
    for event in events:
        copy.take(event)
    return events


@VIEW
async def test_a_stream_begins_with_the_whole_list(site: Site, view: str | None) -> None:
    """The first event is the v2 list, byte for byte, with the view's version and epoch as its id."""
    query = f"?bookmaker={view}" if view else ""

    async with streaming(site.base, query) as connection:
        first = await connection.event()

    body = (await site.get(f"/api/v2/odds{query}")).content
    version = first.data["version"]
    assert b"id: %b\nevent: snapshot\ndata: %b" % (_id(version).encode(), body) == first.raw


@pytest.mark.parametrize("query", ["", "?since=1-other"])
async def test_the_headers_keep_proxies_from_buffering(site: Site, query: str) -> None:
    """A stream, also one with a reset, has these headers, its type, and the headers of every answer."""
    async with streaming(site.base, query) as connection:
        head = connection.head

    expected = {
        "content-type": "text/event-stream",
        "cache-control": "no-store, no-transform",
        "x-accel-buffering": "no",
        "access-control-allow-origin": "*",
    }
    assert (200, expected) == (head.status, {name: head.headers[name] for name in expected})
    assert 32 == len(head.headers["x-request-id"])
    assert "content-length" not in head.headers


async def test_every_commit_is_sent(site: Site) -> None:
    """Each commit is one event with the body of `changes`, except the cursor, which is the event's id."""
    async with streaming(site.base) as connection:
        await connection.event()
        site.publish("birch", match("b"))
        first = await connection.event()
        site.publish("birch")
        second = await connection.event()
        answered = (await site.get("/api/v2/changes?since=5004")).content

    assert [("changes", _id(5004)), ("changes", _id(5005))] == _events(first, second)
    assert ["version", "since", "matches", "removed"] == list(first.data)
    assert (5003, ["birch_b"]) == (first.data["since"], [entry["id"] for entry in first.data["matches"]])
    data = answered.replace(f',"cursor":"{_id(5005)}"'.encode(), b"")
    assert f"id: {_id(5005)}\nevent: changes\ndata: ".encode() + data == second.raw


@VIEW
async def test_a_clients_copy_equals_the_list(site: Site, view: str | None) -> None:
    """The copy equals the list after every event, staleness and commits of other views included."""
    copy = Copy(ORDER)
    async with streaming(site.base, f"?bookmaker={view}" if view else "") as connection:
        await _taken(copy, connection, 1)
        for number in range(12):
            site.clock.pass_(7)
            name = ORDER[number % 3]
            site.publish(
                name, *(match(f"m{count}", home="x" * ((number + count) % 2)) for count in range(number))
            )
            newest = Copy.of(ORDER, site.published.current(), view)
            while copy.version < newest.version:
                await _taken(copy, connection, 1)

            assert newest.matches == copy.matches


@pytest.mark.parametrize("known", ["5003", f"5003-{EPOCH}"])
@pytest.mark.parametrize("given", ["header", "parameter", "both"])
async def test_a_client_resumes_from_its_version(site: Site, given: str, known: str) -> None:
    """With `since` or Last-Event-ID, which takes precedence, missed changes come merged and marked."""
    site.publish("birch", match("b"))
    site.publish("birch", match("b"), match("d"))
    lines = [] if given == "parameter" else [f"Last-Event-ID: {known}"]
    query = {"header": "", "parameter": f"?since={known}", "both": "?since=4"}[given]

    async with streaming(site.base, query, *lines) as connection:
        event = await connection.event()

    assert [("changes", _id(5005))] == _events(event)
    assert ["version", "since", "conflated", "matches", "removed"] == list(event.data)
    assert (5003, True) == (event.data["since"], event.data["conflated"])
    assert ["birch_b", "birch_d"] == [entry["id"] for entry in event.data["matches"]]


@pytest.mark.parametrize("since", ["5003", "5004", f"5003-{EPOCH}", f"5004-{EPOCH}"])
async def test_a_client_that_missed_nothing_gets_a_heartbeat(site: Site, since: str) -> None:
    """A heartbeat comes at once if the view has not changed since; then come changes of the view."""
    site.publish("cedar", match("c"))

    async with streaming(site.base, f"?bookmaker=birch&since={since}") as connection:
        first = await connection.event()
        site.publish("alder", match("a"))
        site.publish("birch", match("b"))
        second = await connection.event()

    assert [("heartbeat", None), ("changes", _id(5006))] == _events(first, second)
    version = int(since.partition("-")[0])
    assert ({"version": version}, version) == (first.data, second.data["since"])
    assert "conflated" not in second.data


async def test_an_unusable_version_resets(site: Site) -> None:
    """The client gets a reset with its reason and then the whole list, never an error (faults.md, H2)."""
    for given in ["header", "parameter"]:
        for version, reason in RESETS:
            lines = [f"Last-Event-ID: {version}"] if given == "header" else []
            query = f"?since={quote(version)}" if given == "parameter" else ""

            async with streaming(site.base, query, *lines) as connection:
                reset, snapshot = await connection.event(), await connection.event()

            assert [("reset", None), ("snapshot", _id(5003))] == _events(reset, snapshot), (given, version)
            assert {"reason": reason, "version": 5003} == reset.data, (given, version)


async def test_another_board_is_a_reset(site: Site) -> None:
    """A cluster's server that lost its data begins a new board, of which the client has nothing."""
    async with streaming(site.base) as connection:
        await connection.event()
        site.published.restart(replace(site.published.newest, version=6000, epoch="later"))
        site.publish("alder", match("y"))
        reset = await connection.event()

    assert ("reset", {"reason": "other_epoch", "version": 6001}) == (reset.name, reset.data)


async def test_more_changes_than_one_event_has_are_a_reset(site: Site) -> None:
    """The whole list is then smaller than the changes."""
    site.publish("alder", *(match(f"{number:05}") for number in range(MAX_ANSWER)))
    site.publish("birch", match("y"))

    async with streaming(site.base, "?since=5003") as connection:
        reset, snapshot = await connection.event(), await connection.event()

    assert [("reset", None), ("snapshot", _id(5005))] == _events(reset, snapshot)
    assert {"reason": "too_old", "version": 5005} == reset.data


async def test_an_empty_last_event_id_is_none(site: Site) -> None:
    """A browser that has no id sends no header, or an empty header."""
    for lines in [["Last-Event-ID:"], ["Last-Event-ID: "]]:
        async with streaming(site.base, "?since=5003", *lines) as connection:
            assert "heartbeat" == (await connection.event()).name, lines


async def test_no_serving_bookmaker_is_no_error(empty_site: Site) -> None:
    """The stream of an empty board begins with an empty list and goes on."""
    async with streaming(empty_site.base) as connection:
        first = await connection.event()
        empty_site.publish("birch", match("b"))
        second = await connection.event()

    assert {"version": 5000, "matches": [], "matches_count": 0} == first.data
    assert [("snapshot", _id(5000)), ("changes", _id(5001))] == _events(first, second)


async def test_staleness_is_sent_as_removals(site: Site) -> None:
    """The aggregator's next turn, within 1 s, sends the removals, even if a read finds them first."""
    async with streaming(site.base) as connection:
        await connection.event()
        site.clock.pass_(31)
        site.published.current()
        run_now(site.published.history.digest())
        event = await connection.event()

    assert {"stale"} == {removal["reason"] for removal in event.data["removed"]}
    assert 4 == len(event.data["removed"])


async def test_above_the_cap_it_is_503(site: Site) -> None:
    """The 503 has Retry-After; when one client has left, the next client is accepted."""
    async with AsyncExitStack() as stack:
        for _ in range(site.max_streams - 1):
            await stack.enter_async_context(streaming(site.base))
        async with streaming(site.base) as last:
            await last.event()
            refused = await site.get(STREAM)
        await site.until(lambda: len(site.audience) == site.max_streams - 1)
        async with streaming(site.base) as next_one:
            let_in = await next_one.event()

    assert (503, "5", "too_many_streams") == (
        refused.status_code,
        refused.headers["Retry-After"],
        refused.json()["code"],
    )
    assert "snapshot" == let_in.name


async def test_head_has_the_headers_and_no_body(site: Site) -> None:
    """The answer to HEAD ends at once."""
    answered = await site.raw("HEAD", STREAM)

    assert (200, b"", "text/event-stream") == (
        answered.status,
        answered.body,
        answered.headers["content-type"],
    )
    assert 0 == len(site.audience)


async def test_streams_are_counted(site: Site) -> None:
    """An ended stream is counted with its bytes like any answer; open streams have a count of their own."""
    async with streaming(site.base) as connection:
        await connection.event()
        during = (await site.json("/api/stats"))["http"]
    await site.until(lambda: len(site.audience) == 0)
    await site.get(f"{STREAM}?bookmaker=x")

    after = (await site.json("/api/stats"))["http"]

    assert (1, 0) == (during["streams"], after["streams"])
    assert STREAM not in during["answers"]
    assert {"200": 1, "400": 1} == after["answers"][STREAM]
    assert after["body_bytes"] - during["body_bytes"] > 1000


async def test_at_the_end_clients_get_a_time_to_reconnect(site: Site) -> None:
    """Each client gets `bye` with its own delay, and the answer ends properly."""
    async with streaming(site.base) as connection, streaming(site.base, "?bookmaker=cedar") as other:
        await connection.event()
        await other.event()
        await site.audience.leave()
        last = [*(await connection.rest()), *(await other.rest())]
        refused = await site.get(STREAM)

    assert [("bye", None), ("bye", None)] == _events(*last)
    assert [{"version": 5003, "retry": int(event.retry or 0)} for event in last] == [
        event.data for event in last
    ]
    assert 2 == len({event.retry for event in last})
    assert all(1000 <= int(event.retry or 0) <= 5000 for event in last)
    assert (503, "5", "stopping") == (
        refused.status_code,
        refused.headers["Retry-After"],
        refused.json()["code"],
    )
