"""After a wrong wall clock is corrected, polled lists are complete with the next answers."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.builders.football_data import BOOKMAKERS, SITE, config, file_of
from tests.support.peers.web import Answer, Web, conditional, serving
from tests.support.systems.virtual_service import VirtualService, configured, until

pytestmark = pytest.mark.anyio

WALL = 1_771_000_000.0  # 2026-02-13, the day before the matches
AHEAD_S = 2_000_000_000.0
"""Longer than the time after which a match is over, in the configuration of these tests."""
COUNT = 30
FILE = file_of(COUNT)
Confirming = pytest.mark.parametrize(
    "answer", [conditional(FILE, '"one"'), serving(FILE)], ids=["304", "equal bytes"]
)


@contextlib.asynccontextmanager
async def _polling(folder: Path, answer: Answer, wall: float) -> AsyncIterator[VirtualService]:
    """Poll the file, with this wall clock at first, until a list and a confirmation of it have arrived."""
    async with configured(folder, config(), web=Web(answer), wall=wall) as service:
        await until(lambda: service.serving() == set(BOOKMAKERS))
        await service.confirmations(SITE, 2)
        yield service


def _shown(service: VirtualService) -> set[int]:
    return {len(service.entries(name)) for name in BOOKMAKERS}


@Confirming
async def test_clock_briefly_ahead_loses_no_match(tmp_path: Path, answer: Answer) -> None:
    """All matches end; all are back when the clock is right, although the file has not changed."""
    async with _polling(tmp_path, answer, WALL) as service:
        before = _shown(service)
        service.clock.wall_shift_s = AHEAD_S
        await service.system.published.read()
        ahead = _shown(service)
        service.clock.wall_shift_s = 0.0
        await until(lambda: _shown(service) == {COUNT})
        version = service.snapshot.version
        await service.confirmations(SITE, 3)

        assert ({COUNT}, {0}) == (before, ahead)
        assert version == service.snapshot.version


@pytest.mark.parametrize("shift_s", [3600.0, -3600.0])
async def test_clock_an_hour_off_changes_nothing(tmp_path: Path, shift_s: float) -> None:
    """A wall clock that is an hour off ends no match, so no list is requested again (faults.md, C12)."""
    async with _polling(tmp_path, conditional(FILE, '"one"'), WALL) as service:
        version, payloads = service.snapshot.version, service.source(SITE).payloads.number
        for shift in (shift_s, 0.0):
            service.clock.wall_shift_s = shift
            await service.confirmations(SITE, 3)

        assert (version, payloads, {COUNT}) == (
            service.snapshot.version,
            service.source(SITE).payloads.number,
            _shown(service),
        )
