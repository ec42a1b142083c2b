"""After a wrong wall clock is corrected, polled lists are complete with the next answers."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.support.builders.football_data import ROW, changed, csv_bytes
from tests.support.peers.http import Answer, HttpPeer, conditional, http_peer, respond
from tests.support.systems.playback import BOOKMAKERS, Running, config, running

pytestmark = [pytest.mark.anyio, pytest.mark.real_time]

WALL = 1_771_000_000.0  # 2026-02-13, the day before the matches
AHEAD_S = 2_000_000_000.0
"""Longer than the time after which a match is over, in the configuration of these tests."""
HEADER = ("Div", "Date", "Time", "HomeTeam", "AwayTeam")
TRIPLES = [tuple(key + side for side in "HDA") for key in BOOKMAKERS.values()]
COUNT = 30
FILE = csv_bytes(
    *((*changed(HomeTeam=f"Team {number}")[:5], *ROW[5:] * len(TRIPLES)) for number in range(COUNT)),
    header=(*HEADER, *(name for triple in TRIPLES for name in triple)),
)
Confirming = pytest.mark.parametrize(
    "answer", [conditional(FILE, '"one"'), respond(FILE)], ids=["304", "equal bytes"]
)


@pytest.fixture
def peer() -> Iterator[HttpPeer]:
    """Return a peer."""
    with http_peer() as one:
        yield one


@contextlib.asynccontextmanager
async def _polling(peer: HttpPeer, folder: Path, answer: Answer, wall: float) -> AsyncIterator[Running]:
    """Poll the file from that time on, until a first list and a confirmation of it have arrived."""
    peer.answers["/fixtures.csv"] = answer
    async with running(folder, config(peer.url("/fixtures.csv")), wall) as board:
        await board.until(lambda: board.serving() == set(BOOKMAKERS))
        await board.confirmations(2)
        yield board


def _shown(board: Running) -> set[int]:
    return {len(board.entries(name)) for name in BOOKMAKERS}


@Confirming
async def test_clock_briefly_ahead_loses_no_match(peer: HttpPeer, tmp_path: Path, answer: Answer) -> None:
    """All matches end, and are back when the clock is right, although the file has not changed."""
    async with _polling(peer, tmp_path, answer, WALL) as board:
        before = _shown(board)
        board.clock.put(WALL + AHEAD_S)
        await board.system.published.read()
        ahead = _shown(board)
        board.clock.put(WALL)
        await board.until(lambda: _shown(board) == {COUNT})
        version = board.snapshot.version
        await board.confirmations(3)

        assert ({COUNT}, {0}) == (before, ahead)
        assert version == board.snapshot.version


@Confirming
async def test_clock_corrected_after_the_start_loses_no_match(
    peer: HttpPeer, tmp_path: Path, answer: Answer
) -> None:
    """A service that was started with a clock ahead shows all matches after the correction."""
    async with _polling(peer, tmp_path, answer, WALL + AHEAD_S) as board:
        before = _shown(board)
        board.clock.put(WALL)
        await board.until(lambda: _shown(board) == {COUNT})

        assert {0} == before


@pytest.mark.parametrize("shift_s", [3600.0, -3600.0])
async def test_clock_an_hour_off_changes_nothing(peer: HttpPeer, tmp_path: Path, shift_s: float) -> None:
    """No match ends by it, so no list is requested again (faults.md, C12)."""
    async with _polling(peer, tmp_path, conditional(FILE, '"one"'), WALL) as board:
        version, payloads = board.snapshot.version, board.source.payloads
        for wall in (WALL + shift_s, WALL):
            board.clock.put(wall)
            await board.confirmations(3)

        assert (version, payloads, {COUNT}) == (
            board.snapshot.version,
            board.source.payloads,
            _shown(board),
        )
