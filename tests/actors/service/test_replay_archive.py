"""Replays that are archived: the same recording gives the same archive, as it is exported."""

from __future__ import annotations

from math import inf
from pathlib import Path

import anyio
import pytest
from structlog.testing import capture_logs

from actors.archive.export import Chosen, rows
from actors.archive.folder import Folder
from actors.archive.past import Days, Listed
from actors.core.errors import ConfigError
from actors.recordings.reader import open_sources
from actors.service.registry import kind_named
from actors.service.replay import Replay
from tests.support.builders.football_data import sheet
from tests.support.builders.recorded import ALDER, BIRCH, header, received, write
from tests.support.time.virtual import VirtualClock

pytestmark = pytest.mark.anyio
ONE, TWO = sheet("B365", (2.0, 3.5, 4.0)), sheet("B365", (2.1, 3.5, 4.0))


def _recorded(folder: Path) -> Path:
    records = (received(ONE, 0.5), received(TWO, 1.5), received(ONE, 90_000.0))
    return write(folder / "feed.rec.zst", header(bookmakers=(ALDER, BIRCH)), *records)


async def _archived(recording: Path, folder: Path) -> Replay:
    replay = Replay(open_sources(recording, kind_named), inf, VirtualClock(), folder)
    async with anyio.create_task_group() as tasks:
        await tasks.start(replay.run)
        await anyio.sleep(1)
        await replay.stop()
        tasks.cancel_scope.cancel()
    return replay


async def test_the_same_recording_gives_the_same_archive(tmp_path: Path) -> None:
    """Every row of the export is equal, and at the end it is the board of the replay."""
    recording = _recorded(tmp_path)
    with capture_logs() as logs:
        replays = [await _archived(recording, tmp_path / name) for name in ("first", "second")]
    first, second = (
        [*rows(Folder.reading(tmp_path / name), Chosen(0, 2**60), lambda _: None)]
        for name in ("first", "second")
    )

    assert first == second
    assert [] == [log for log in logs if log["event"] == "archive.delayed"]  # by the recording's clock
    assert [2.0, 2.1, None, 2.0] == [row["odds_1"] for row in first]
    snapshot = replays[0].playback.snapshot
    found = Days(Folder.reading(tmp_path / "first"), lambda: None).at_version(
        None, max(book.v2_version for book in snapshot.books.values())
    )
    assert isinstance(found, Listed)
    assert found.epoch == snapshot.epoch
    assert sum(book.count for book in snapshot.books.values()) == len(found.entries)


async def test_a_folder_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    """Two replays in one folder would be neither."""
    recording = _recorded(tmp_path)

    with pytest.raises(ConfigError, match="--archive was"):
        await _archived(recording, tmp_path)
