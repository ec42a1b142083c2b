"""The limits of reading the past, and a disk that is slow or cannot be read now: nobody is delayed."""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from actors.archive.past import MAX_HANGING, Days, Past
from tests.support.builders.messages import match
from tests.support.systems.site import open_site
from tests.support.time.virtual import ManualClock
from web.feeds.older_changes import OlderChanges
from web.feeds.own_bodies import OwnBodies
from web.feeds.past_lists import PastLists
from web.protocol.moments import At
from web.protocol.problems import Problem
from web.protocol.rate_limit import WorkLimit
from web.protocol.responses import Asked

pytestmark = pytest.mark.anyio
LIST = "/api/v2/odds"


async def test_reading_the_past_is_work_for_the_client_alone(tmp_path: Path) -> None:
    """A client that had too much read for it gets 429; another client is answered."""
    async with open_site(archived=tmp_path) as site:
        version = site.publish("birch", match("m1"))
        assert site.archive is not None
        own = OwnBodies(WorkLimit(share=1e-9, burst_s=1e-9))
        lists = PastLists(site.archive.past(), site.published, site.clock, own)
        first, other = (Asked("GET", LIST, b"", {}, "id", 0.0, client) for client in ("a", "b"))
        answered = (await lists.answer(first, None, At(version))).status
        with pytest.raises(Problem) as refused:
            await lists.answer(first, None, At(version))
        others = (await lists.answer(other, None, At(version))).status

    assert (200, 429, 200) == (answered, refused.value.status, others)


@contextmanager
def _no_descriptors() -> Iterator[None]:
    """Within the block, no further file can be opened in this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_what_cannot_be_read_now_is_asked_for_later(tmp_path: Path) -> None:
    """If the process has no free descriptor, the answer is 503, and the day is not set aside as damaged."""
    async with open_site(archived=tmp_path) as site:
        version = site.publish("birch", match("m1"))
        assert site.archive is not None
        lists = PastLists(site.archive.past(), site.published, site.clock, OwnBodies(WorkLimit()))
        asked = Asked("GET", LIST, b"", {}, "id", 0.0, None)
        with _no_descriptors(), pytest.raises(Problem) as refused:
            await lists.answer(asked, None, At(version))
        again = await lists.answer(asked, None, At(version))

    assert (503, "overloaded", "5") == (
        refused.value.status,
        refused.value.code,
        refused.value.headers["Retry-After"],
    )
    assert 200 == again.status


@pytest.mark.real_time
async def test_a_disk_that_takes_for_ever_delays_nobody(tmp_path: Path) -> None:
    """While the thread is stuck in a write, lists are served and `/health` warns; no change is lost."""
    async with open_site(archived=tmp_path) as site:
        assert site.archive is not None
        stuck, free = threading.Event(), threading.Event()

        def reach(boundary: str) -> None:
            if boundary == "before write":
                stuck.set()
                free.wait(20)

        site.publish("birch", match("m1"), stale_after_s=100.0)
        on_time = (await site.get("/health")).json()["archive"]
        site.archive.folder.reached = reach
        site.archive.start()
        try:
            site.published.put("birch", match("m2"), stale_after_s=100.0)
            await site.until(stuck.is_set)
            newest = site.published.put("birch", match("m3"), stale_after_s=100.0)
            site.clock.pass_(12)
            late = (await site.get("/health")).json()["archive"]
            listed = await site.json(LIST)
        finally:
            free.set()
        await site.until(lambda: site.archive is not None and site.archive.writer.written == newest)
        found = await site.json("/api/v2/archive")

    assert ("pass", 0.0) == (on_time["status"], on_time["lag_s"])
    assert ("warn", 12.0) == (late["status"], late["lag_s"])
    assert newest == listed["version"]
    assert ([], newest) == (found["gaps"], found["written_version"])


async def test_changes_that_cannot_be_read_now_are_asked_for_later(tmp_path: Path) -> None:
    """The answer is 503, not 410: a client that asks again can continue from its own version."""
    clock = ManualClock()
    async with open_site(archived=tmp_path, clock=clock) as site:
        site.publish("birch", match("m1"))
        cursor = (await site.get(LIST)).headers["odds-cursor"]
    clock.pass_(100)
    async with open_site(archived=tmp_path, clock=clock) as site:
        assert site.archive is not None
        past, own = site.archive.past(), OwnBodies(WorkLimit())
        older = OlderChanges(past, site.status.names, own)
        since, newest = int(cursor.partition("-")[0]), site.published.newest.version
        with _no_descriptors(), pytest.raises(Problem) as refused:
            await older.read(None, since, newest, None)
        again = await older.read(None, since, newest, None)

    assert (503, "5") == (refused.value.status, refused.value.headers["Retry-After"])
    assert ["birch_m1"] == [change.id for change in again.gone]


async def test_what_was_shown_and_is_not_written_is_asked_for_later(tmp_path: Path) -> None:
    """The version exists already, so the answer is 503, not 404."""
    async with open_site(archived=tmp_path) as site:
        site.publish("birch", match("m1"))
        version = site.published.put("birch", match("m2"))
        answer = await site.get(f"{LIST}?at={version}")

    assert (503, "overloaded", "5") == (
        answer.status_code,
        answer.json()["code"],
        answer.headers["retry-after"],
    )


async def test_reads_that_hang_are_given_up_and_are_few(tmp_path: Path) -> None:
    """At most four reads hang at a time, and each fails only its own answer; the writing thread goes on."""
    async with open_site(archived=tmp_path) as site:
        assert site.archive is not None
        past = Past(site.archive.folder, site.archive.writer, site.archive.status, read_s=0.05)
        free, hanging = threading.Event(), list[Days]()

        def hang(days: Days) -> bool:
            hanging.append(days)
            return free.wait(20)

        given_up = [await past.read(hang) for _ in range(MAX_HANGING + 2)]
        during = await past.read(Days.held)
        version = site.publish("birch", match("m1"))
        written = site.archive.writer.written
        free.set()
        await site.until(lambda: past.hanging == 0)
        after = await past.read(Days.held)

    assert ([None] * (MAX_HANGING + 2), None, MAX_HANGING) == (given_up, during, len(hanging))
    assert version == written
    assert after is not None
