"""The recorded leagues of The Odds API, recorded again by our service and replayed."""

from __future__ import annotations

from math import inf
from pathlib import Path

import anyio
import pytest

from actors.board.chunks import entries_of
from actors.core.clock import SystemClock
from actors.recordings.reader import open_sources
from actors.service.registry import kind_named
from actors.service.replay import Replay
from tests.support.systems.the_odds_api_playback import leagues, played

pytestmark = [pytest.mark.anyio, pytest.mark.real_time, pytest.mark.recordings]


@pytest.mark.long
async def test_recording_of_all_leagues_is_replayed_unchanged(tmp_path: Path) -> None:
    """Every entry of every bookmaker is equal, including `updated`, with the names given by the API."""
    out = tmp_path / "out"
    async with played(tmp_path, leagues(), out=out, poll_interval_s=3600.0) as (live, _):
        expected = {name: live.entries(name) for name in live.snapshot.books}
        names = dict(live.system.status.names)

        replay = Replay(open_sources(out, kind_named), inf, SystemClock())
        async with anyio.create_task_group() as tasks:
            await tasks.start(replay.run)
            await live.until(lambda: bool(replay.playback.endings))
            await replay.stop()

    books = replay.playback.snapshot.books
    assert expected == {name: list(entries_of(book.chunks)) for name, book in books.items()}
    assert names == dict(replay.status.names)
