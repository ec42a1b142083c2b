"""Conditional polls by the whole service: withdrawals, late 304s, suspect lists, unreadable payloads."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import httpx2
import pytest

from actors.core.messages import BookmakerId
from actors.monitoring.status import BookmakerState
from tests.support.builders.football_data import BOOKMAKERS, SITE, config, file_of
from tests.support.peers.web import Web, conditional, hanging, is_conditional, serving
from tests.support.systems.virtual_service import VirtualService, configured, until
from tests.support.time.virtual import settle

pytestmark = pytest.mark.anyio

WALL = 1_771_000_000.0  # 2026-02-13, the day before the matches
ALL = set(BOOKMAKERS)


@pytest.fixture
def web() -> Web:
    """Return a site that serves a file of one match, with an ETag."""
    return Web(conditional(file_of(1), '"one"'))


def _serve(web: Web, body: bytes, etag: str) -> list[bool]:
    """Serve `body` from now on; return a list that grows: whether each request was conditional."""
    answer, seen = conditional(body, etag), list[bool]()

    async def remembered(request: httpx2.Request) -> httpx2.Response:
        seen.append(is_conditional(request))
        return await answer(request)

    web.answer = remembered
    return seen


@contextlib.asynccontextmanager
async def _confirmed(web: Web, tmp_path: Path, **options: float) -> AsyncIterator[VirtualService]:
    """Run until every bookmaker has the first list on the board and a 304 has confirmed it."""
    async with configured(tmp_path, config(**options), web=web, wall=WALL) as service:
        await until(lambda: service.serving() == ALL)
        await service.confirmations(SITE, 2)
        yield service


async def test_withdrawn_list_is_requested_without_validators(web: Web, tmp_path: Path) -> None:
    """After an outage the list is requested without validators, since a 304 would not restore it."""
    async with _confirmed(web, tmp_path) as service:
        version, shown = service.snapshot.version, {name: service.entries(name) for name in ALL}
        web.answer = hanging
        await until(lambda: not service.serving())
        withdrawn = service.snapshot.version, [service.entries(name) for name in BOOKMAKERS]
        await service.polls(SITE, 2)
        seen = _serve(web, file_of(1), '"one"')
        await until(lambda: service.serving() == ALL)

        assert withdrawn == (version + 1, [[], [], []])
        assert not seen[0]
        assert {name: [entry.match for entry in service.entries(name)] for name in ALL} == {
            name: [entry.match for entry in entries] for name, entries in shown.items()
        }


async def test_304_after_a_withdrawal_restores_nothing(web: Web, tmp_path: Path) -> None:
    """A late 304 confirms a withdrawn list, so the source polls again at once, without validators."""
    seen = list[tuple[float, bool, set[BookmakerId]]]()
    async with _confirmed(web, tmp_path, timeout_s=60.0) as service:

        async def late(request: httpx2.Request) -> httpx2.Response:
            if is_conditional(request):
                await anyio.sleep(40.0)
            seen.append((anyio.current_time(), is_conditional(request), service.serving()))
            return await conditional(file_of(1), '"one"')(request)

        web.answer = late
        await until(lambda: len(seen) == 2)
        await settle()
        (at, *confirming), (at_once, *asked) = seen

        assert [True, set()] == confirming
        assert [False, set()] == asked
        assert at == at_once
        assert ALL == service.serving()


async def test_unreadable_body_drops_the_validators(web: Web, tmp_path: Path) -> None:
    """A body that cannot be read changes nothing on the board, and the next poll has no validators."""
    async with _confirmed(web, tmp_path, stale_after_s=600.0) as service:
        version, source = service.snapshot.version, service.source(SITE)
        web.answer = serving(b"<html>Down for maintenance</html>")
        await until(lambda: source.failures >= 2)
        during = service.snapshot.version, service.serving()
        seen = _serve(web, file_of(1), '"one"')
        await until(lambda: not source.failures)
        await until(lambda: seen[-1])

        assert during == (version, ALL)
        assert not seen[0]
        assert service.snapshot.version == version


async def test_suspect_list_is_requested_until_it_is_accepted(web: Web, tmp_path: Path) -> None:
    """A list that loses too many matches is accepted at the third time; a 304 does not count as a time."""
    web.answer = conditional(file_of(30), '"one"')
    async with _confirmed(web, tmp_path, stale_after_s=600.0) as service:
        seen = _serve(web, file_of(5), '"two"')
        await until(lambda: {len(service.entries(name)) for name in ALL} == {5})
        await service.confirmations(SITE, 1)

        assert service.system.status.board.verdicts["suspect"] == 2 * len(ALL)
        assert [True, False, False] == seen[:3]
        assert seen[-1]


async def test_bookmaker_without_columns_does_not_affect_the_others(web: Web, tmp_path: Path) -> None:
    """The others are shown; the file is requested without validators until no bookmaker lacks its part."""
    web.answer = conditional(file_of(2, "B365", "BFE"), '"one"')
    bwin = BookmakerId("bwin")
    async with configured(tmp_path, config(), web=web, wall=WALL) as service:
        await until(lambda: service.serving() == ALL - {bwin})
        await service.polls(SITE, 4)
        record, version = service.system.status.bookmakers[bwin], service.snapshot.version
        lacking = record.last_error(), record.state, any(map(is_conditional, web.requests))
        seen = _serve(web, file_of(2), '"two"')
        await until(lambda: service.serving() == ALL)
        await until(lambda: seen[-1])

        assert lacking == ("column not in this file: BWH, BWD, BWA", BookmakerState.STARTING, False)
        assert (record.last_error(), service.snapshot.version) == (None, version + 1)
        assert [book.v1_version > version for book in service.snapshot.books.values()] == [
            False,
            True,
            False,
        ]


async def test_updated_is_not_later_than_the_receipt(web: Web, tmp_path: Path) -> None:
    """A server whose clock is ahead does not make prices newer than they are (faults.md, B14)."""
    headers = {"Last-Modified": "Sat, 14 Feb 2026 16:26:40 GMT"}  # a day after WALL
    web.answer = conditional(file_of(1), '"one"', headers)
    async with _confirmed(web, tmp_path) as service:
        (entry,) = service.entries("bet365")

        assert WALL <= entry.updated <= service.clock.now().wall
