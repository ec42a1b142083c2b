"""The source kind `replay` in a running service: the same final content at any speed, which then stays."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from itertools import pairwise
from pathlib import Path

import anyio
import msgspec
import pytest
from structlog.testing import capture_logs

from actors.board.snapshot import Snapshot
from actors.core.cooperative import run_now
from actors.core.errors import ConfigError
from actors.core.messages import BookmakerId, Match
from actors.monitoring.status import BookmakerState
from actors.recordings.playback import Playback
from actors.recordings.reader import open_sources
from actors.service.registry import kind_named
from actors.service.settings import load
from tests.support.builders.football_data import sheet
from tests.support.builders.recorded import ALDER, header, received, write
from tests.support.systems.virtual_service import VirtualService, configured

pytestmark = pytest.mark.anyio

CEDAR = BookmakerId("cedar")
REPLAY = """
[board]
expire_after_kickoff_s = 1_000_000_000
in_play_max_age_s = 1_000_000_000
[sources.recording]
kind = "replay"
path = "{path}"
{options}
[bookmakers.cedar]
name = "Cedar"
source = "recording"
key = "{key}"
"""
ONE, TWO = sheet("B365", (2.0, 3.5, 4.0)), sheet("B365", (2.1, 3.5, 4.0))
FULL, HALF = (sheet("B365", *[(2.0, 3.5, 4.0)] * count) for count in (60, 20))


def _config(folder: Path, path: Path, options: str = "", key: str = "B365") -> Path:
    config = folder / "replay.toml"
    config.write_text(REPLAY.format(path=path, options=options, key=key), "utf-8")
    return config


def _running(folder: Path, path: Path, options: str = "") -> AbstractAsyncContextManager[VirtualService]:
    return configured(folder, REPLAY.format(path=path, options=options, key="B365"))


def _matches(snapshot: Snapshot, bookmaker: BookmakerId) -> list[Match]:
    """Return the matches on the board without the sources' times, which conflation can change."""
    entries = [entry for chunk in snapshot.books[bookmaker].chunks for entry in chunk.entries]
    return [msgspec.structs.replace(entry.match, source_time=None) for entry in entries]


def _prices(service: VirtualService) -> list[float]:
    return [match.home_price for match in _matches(service.snapshot, CEDAR)]


def _final(path: Path) -> Snapshot:
    playback = Playback(open_sources(path, kind_named))
    for moment in playback.moments():
        run_now(playback.play(moment))
    return playback.snapshot


@pytest.mark.long
@pytest.mark.parametrize("speed", ["0.5", "1", "60.0", '"max"'])
@pytest.mark.parametrize(
    "records",
    [
        [received(ONE, 0.0), received(TWO, 50.0)],
        [received(FULL, 0.0), *(received(HALF, at, list_id=str(at)) for at in (10.0, 20.0))],
        [received(FULL, 0.0), *(received(HALF, at, list_id=str(at)) for at in (10.0, 20.0, 30.0))],
        [received(ONE, 0.0, stale_after_s=30.0), received(b"<html>", 100.0)],
        [received(b"<html>", 0.0), received(ONE, 100.0)],
    ],
    ids=["change", "doubted", "believed", "withdrawn", "late"],
)
async def test_final_content_is_that_of_the_recording(
    tmp_path: Path, records: list[object], speed: str
) -> None:
    """At any speed the final board is equal, with its rejections and withdrawals, and it stays."""
    path = write(tmp_path / "feed.rec.zst", header(), *records)  # type: ignore[arg-type]  # of Recorded
    expected = _matches(_final(path), ALDER.id)

    async with _running(tmp_path, path, f"speed = {speed}") as service:
        await anyio.sleep(300)
        after_minutes = _matches(service.snapshot, CEDAR)
        await anyio.sleep(100)
        later = _matches(service.snapshot, CEDAR)

    assert expected == after_minutes == later


async def test_recording_is_played_at_its_speed(tmp_path: Path) -> None:
    """The first payload comes at once, the next after the recorded time divided by the speed."""
    path = write(tmp_path / "feed.rec.zst", header(), received(ONE, 7.0), received(TWO, 67.0))

    async with _running(tmp_path, path, "speed = 2.0") as service:
        seen = []
        for second in (0.5, 29.5, 30.5):
            await anyio.sleep(second - anyio.current_time())
            seen.append(_prices(service))

    assert [[2.0], [2.0], [2.1]] == seen


async def test_recording_that_is_over_says_so(tmp_path: Path) -> None:
    """Its last prices stay; the state, the last error and a line of the log say that they are not live."""
    path = write(tmp_path / "feed.rec.zst", header(), received(ONE, 7.0), received(TWO, 17.0))

    with capture_logs() as lines:
        async with _running(tmp_path, path) as service:
            await anyio.sleep(5)
            during = service.states()
            await anyio.sleep(600)
            after, (bookmaker,) = service.states(), service.system.status.bookmakers.values()

    assert ([BookmakerState.LIVE], [BookmakerState.ENDED], [2.1]) == (during, after, _prices(service))
    assert "the recording is over" in (bookmaker.last_error() or "")
    assert ["warning"] == [line["log_level"] for line in lines if line["event"] == "source.ended"]


async def test_loop_begins_again(tmp_path: Path) -> None:
    """After its end the recording begins again: it is never over, and the board is never empty."""
    path = write(tmp_path / "feed.rec.zst", header(), received(ONE, 7.0), received(TWO, 17.0))

    async with _running(tmp_path, path, "loop = true") as service:
        await anyio.sleep(1)
        seen = []
        for _ in range(400):
            seen.append(_prices(service))
            await anyio.sleep(0.1)
        await anyio.sleep(600)
        assert [BookmakerState.LIVE] == service.states()

    changes = [new for old, new in pairwise(seen) if old != new]
    assert [[2.1], [2.0], [2.1], [2.0]] == changes[:4]
    assert [] not in seen


async def test_bookmaker_without_a_list_is_not_serving(tmp_path: Path) -> None:
    """A bookmaker serves from its first readable list, except between a withdrawal and the next list."""
    path = write(
        tmp_path / "feed.rec.zst",
        header(),
        received(b"<html>", 0.0),
        received(ONE, 10.0, stale_after_s=30.0),
        received(b"<html>", 100.0),
    )
    states = []
    async with _running(tmp_path, path) as service:
        for second in (5.0, 15.0, 38.0, 45.0, 80.0):
            await anyio.sleep(second - anyio.current_time())
            snapshot = service.snapshot
            (state,) = service.states()
            states.append((state, snapshot.books[CEDAR].count))

    live, stale = BookmakerState.LIVE, BookmakerState.STALE
    assert [(BookmakerState.STARTING, 0), (live, 1), (live, 1), (live, 0), (stale, 0)] == states


@pytest.mark.parametrize(
    ("options", "key", "message"),
    [
        ("", "BW", r"path was '.*', which has no bookmaker with the key 'BW', must be one of B365$"),
        ("", "", r"bookmakers\.cedar\.key was '', must be the key of a bookmaker in the recording$"),
        ("speed = 0", "B365", r"sources\.recording\.speed was 0, must be a number above 0 "),
        ('speed = "fast"', "B365", r"sources\.recording\.speed was 'fast', must be a number above 0 "),
        ('speed = "max"\nloop = true', "B365", r"loop was true, must be false with speed 'max'$"),
    ],
    ids=["key", "empty key", "speed 0", "speed", "endless"],
)
def test_options_that_cannot_work_are_refused(tmp_path: Path, options: str, key: str, message: str) -> None:
    """Invalid options are refused when the configuration is read; the error names file, key and value."""
    path = write(tmp_path / "feed.rec.zst", header(), received(ONE, 0.0))
    config = _config(tmp_path, path, options, key)

    with pytest.raises(ConfigError, match=message) as caught:
        load(config, {})

    assert str(caught.value).startswith(f"{config}: ")


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "cannot be read: No such file"), (b"Div,Date\n", "is not a recording that can be read: ")],
    ids=["missing", "damaged"],
)
def test_file_that_is_no_recording_is_refused(tmp_path: Path, content: bytes | None, message: str) -> None:
    """Such a file is refused when the configuration is read, not when it is played."""
    path = tmp_path / "feed.rec.zst"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(ConfigError, match=rf"sources\.recording\.path was '{path}': {path}: {message}"):
        load(_config(tmp_path, path), {})
