"""Answers of a cache are as old as it says: their prices go earlier, and those too old are refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path

import anyio
import pytest

from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId
from actors.recordings.playback import Arrival, Playback
from actors.recordings.reader import open_sources
from actors.service.registry import kind_named
from tests.support.builders import the_odds_api as api
from tests.support.builders.football_data import ROW, csv_bytes
from tests.support.peers.http import Asked, HttpPeer, http_peer, respond
from tests.support.systems.playback import FILE, Running, config, running

pytestmark = [pytest.mark.anyio, pytest.mark.real_time]

WALL = 1_771_000_000.0  # 2026-02-13, the day before the match
BET365 = BookmakerId("bet365")
AGE_S = 20


@pytest.fixture
def peer() -> Iterator[HttpPeer]:
    """Return a peer behind a cache that has had its answers for 20 s."""
    with http_peer() as one:
        _serve(one, AGE_S)
        yield one


def _serve(peer: HttpPeer, age_s: int) -> None:
    headers = {"Age": str(age_s), "ETag": '"one"'}
    full, same = respond(csv_bytes(ROW), headers=headers), respond(status=304, headers=headers)

    def answer(connection: object, asked: Asked) -> None:
        (same if "if-none-match" in asked.headers else full)(connection, asked)  # type: ignore[arg-type]

    peer.answers["/fixtures.csv"] = answer


def _confirmed_mono(board: Running) -> float:
    return board.snapshot.books[BET365].lists[FILE].confirmed_mono


def _last_error(board: Running) -> str | None:
    return board.source.scopes[FILE].last_error


async def test_list_is_as_old_as_the_answer(peer: HttpPeer, tmp_path: Path) -> None:
    """Both a 200 and a 304 vouch for the time when the cache got them, and hold from then on."""
    async with running(tmp_path, config(peer.url("/fixtures.csv"), stale_after_s=60.0), WALL) as board:
        began = anyio.current_time()
        await board.until(lambda: BET365 in board.serving())
        received = _confirmed_mono(board)
        await board.confirmations(2)
        await board.until(lambda: _confirmed_mono(board) > received)

        assert began - AGE_S - 1 < received <= anyio.current_time() - AGE_S
        assert _confirmed_mono(board) <= anyio.current_time() - AGE_S
        assert board.snapshot.valid_until <= anyio.current_time() - AGE_S + 60


async def test_answer_that_holds_no_longer_is_refused(peer: HttpPeer, tmp_path: Path) -> None:
    """An answer as old as its prices may be fails, also one that confirms; the operator reads why."""
    async with running(tmp_path, config(peer.url("/fixtures.csv"), stale_after_s=21.0), WALL) as board:
        await board.until(lambda: BET365 in board.serving())
        _serve(peer, 21)
        await board.until(lambda: _last_error(board) is not None)
        while_confirmed = _last_error(board)
        await board.until(lambda: not board.serving())
        await board.polls(2)

        assert "a cache had the answer for 21 s, its prices hold for 21 s" == while_confirmed
        assert while_confirmed == _last_error(board)
        assert board.source.failed_by["aged"] > 1
        assert not board.serving()


async def test_recording_of_aged_answers_is_replayed(peer: HttpPeer, tmp_path: Path) -> None:
    """What a cache had before the recording began was asked for before it, and shows the same board."""
    out = tmp_path / "out"
    async with running(tmp_path, config(peer.url("/fixtures.csv"), stale_after_s=60.0), WALL, out) as board:
        await board.until(lambda: BET365 in board.serving())
        await board.confirmations(2)
        live = [one.match for one in board.entries(BET365)]

    (source,) = open_sources(out, kind_named)
    asked = [one.payload.received_mono for one in source.records()]
    playback = Playback(open_sources(out, kind_named))
    for moment in playback.moments():
        run_now(playback.play(moment))
        if isinstance(moment, Arrival):
            shown = [one.match for chunk in playback.snapshot.books[BET365].chunks for one in chunk.entries]
            assert live == shown

    assert live
    assert len(asked) >= 2
    assert max(asked) < 0


async def test_price_is_as_old_as_its_time_says(peer: HttpPeer, tmp_path: Path) -> None:
    """A price that was 5 s old when the cache got it, 20 s ago, is 25 s old: the age counts once."""
    prices = {"some": [api.market("Leeds", "Hull", (2.1, 3.4, 3.6))]}
    one = api.event("m1", "Leeds", "Hull", prices)
    written = f"{datetime.fromtimestamp(WALL - AGE_S - 5, UTC):%Y-%m-%dT%H:%M:%SZ}"
    one["bookmakers"][0]["last_update"] = one["bookmakers"][0]["markets"][0]["last_update"] = written
    headers = {"Age": str(AGE_S), "Date": formatdate(WALL - AGE_S, usegmt=True)}
    answer = respond(json.dumps([one]).encode(), headers=headers)
    peer.answers[api.odds_path("soccer_epl")] = answer

    text = api.config(peer.url(""), ["soccer_epl"], ["some"], stale_after_s=60.0)
    async with running(tmp_path, text, WALL) as board:
        began = anyio.current_time()
        await board.until(lambda: len(board.serving()) == 1)
        (book,) = board.snapshot.books.values()
        (state,) = book.lists.values()
        (vouched,) = state.vouched.values()

        assert began - 26 < vouched <= anyio.current_time() - 25
