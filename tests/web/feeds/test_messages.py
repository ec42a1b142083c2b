"""Events: encoded once for each commit and view, in a cache of bounded size."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from actors.board.history import HistoryLimits, ListHistory
from actors.board.snapshot import Snapshot
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId
from tests.support.builders.boards import ALDER, BIRCH, EMPTY, RULES, after
from tests.support.builders.messages import batch, match
from tests.support.systems.committing import Committing
from tests.support.time.virtual import ManualClock
from web.feeds.lists import Answers
from web.feeds.messages import ListFrames
from web.feeds.own_bodies import OwnBody

pytestmark = pytest.mark.anyio

NAMES = {ALDER: "Alder", BIRCH: "Birch & Söhne"}
ONE = after(EMPTY, batch([match("a")]), batch([match("x")], bookmaker="birch"))
TWO = after(ONE, batch([match("a", prices=(2.1, 3.5, 4.0))], received_mono=1.0))


def _frames(*snapshots: Snapshot) -> ListFrames:
    history = ListHistory(EMPTY, HistoryLimits())
    for snapshot in snapshots:
        history.add(snapshot)
    return ListFrames(history, NAMES, _answers(snapshots[-1]))


def _answers(snapshot: Snapshot) -> Answers:
    return Answers(Committing(snapshot, RULES, ManualClock()), NAMES)


@pytest.mark.parametrize("view", [None, ALDER])
async def test_an_event_is_encoded_once(view: BookmakerId | None) -> None:
    """All clients of a view that continue from the same version get the same bytes object."""
    made = _frames(ONE)

    first, second = await made.changes(view, 1000), await made.changes(view, 1000)
    assert first is not None
    assert first is second


async def test_an_event_is_compressed_once_for_clients_with_the_same_before() -> None:
    """Clients with another event before get other blocks, because these refer to that event."""
    made = _frames(ONE)

    first, second = [await made.changes(None, 1000, last=b"before") for _ in range(2)]
    other, plain = await made.changes(None, 1000, last=b"else"), await made.changes(None, 1000)

    assert first is not None
    assert first is second
    assert len({id(first), id(other), id(plain)}) == 3


async def test_the_next_commit_makes_new_events() -> None:
    """After a commit each earlier version has a new event, which leads to the new version."""
    history = ListHistory(EMPTY, HistoryLimits())
    made = ListFrames(history, NAMES, _answers(ONE))
    history.add(ONE)
    results = [await made.changes(None, 1000)]
    history.add(TWO)
    results += [await made.changes(None, since) for since in (1000, 1001)]

    data = [_data(result) for result in results]
    assert [(1000, 1001), (1000, 1002), (1001, 1002)] == [(row["since"], row["version"]) for row in data]
    assert [False, True, False] == ["conflated" in row for row in data]


async def test_polls_are_not_marked() -> None:
    """`conflated` is in stream events only; a poll states its own `since`."""
    made = _frames(ONE, TWO)

    assert "conflated" in _data(await made.changes(None, 1000))
    assert (polled := await made.delta(None, 1000)) is not None
    assert b"conflated" not in b"".join(polled.parts)


async def test_a_long_event_is_made_once_and_of_one_version() -> None:
    """Other tasks run while a long event is made; later changes are in the event of the next request."""
    many = [match(f"{number:05}") for number in range(20_000)]
    first = after(EMPTY, batch(many))
    second = after(first, batch([match("00000", prices=(9.0, 9.0, 1.3)), *many[1:]], received_mono=1.0))
    history = ListHistory(EMPTY, HistoryLimits())
    made, results = ListFrames(history, NAMES, _answers(first)), []
    history.add(first)
    run_now(history.digest())

    async def client() -> None:
        results.append(await made.changes(None, 1000))

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(client)
        await checkpoint()
        await checkpoint()
        before = list(results)
        history.add(second)

    shared = {id(result) for result in results}
    results.append(await made.changes(None, 1000))
    data = [_data(result) for result in results]
    seen = [(row["version"], row["matches"][0]["odds"]["1"]) for row in data]
    assert ([], [(1001, 2.0)] * 5 + [(1002, 9.0)]) == (before, seen)
    assert {20_000} == {len(row["matches"]) for row in data}
    assert 1 == len(shared)


def _data(result: OwnBody | None) -> Any:
    """Return the data of an event."""
    assert result is not None
    event = b"".join(result.parts)
    assert event.startswith(b"id: %d-0\nevent: changes\ndata: " % result.version)
    return json.loads(event.split(b"data: ")[1])
