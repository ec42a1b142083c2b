"""The recorder: the files contain everything that a system delivers, and no secrets."""

from __future__ import annotations

import contextlib
import re
import resource
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from actors.core.errors import ConfigError, CoreFailure
from actors.core.messages import ListId, Payload, Scope, SourceName
from actors.recordings.format import Ending
from actors.service.recorder import Recorder
from actors.service.settings import Settings, load
from tests.support.builders.recorded import read, received
from tests.support.time.virtual import WALL_0, VirtualClock

pytestmark = pytest.mark.anyio

SECRET = "k3y-that-nobody-may-see"  # noqa: S105 - invented
KEYED = """
[board]
expire_after_kickoff_s = 7000.0
[sources.api]
kind = "the_odds_api"
api_key = "${API_KEY}"
sports = ["soccer_epl"]
url = "https://user:word@api.example/v4?token=${API_KEY}#${API_KEY}"
poll_interval_s = 60
[bookmakers.second]
source = "api"
key = "williamhill"
[sources.feed]
kind = "football_data"
url = "http://feed.example/fixtures.csv"
[bookmakers.third]
name = "Third"
source = "feed"
key = "B365"
"""
API, FEED = SourceName("api"), SourceName("feed")


def _settings(folder: Path, text: str = KEYED) -> Settings:
    path = folder / "some.toml"
    path.write_text(text, "utf-8")
    return load(path, {"API_KEY": SECRET})


async def test_every_payload_is_readable_at_once(tmp_path: Path) -> None:
    """While the recorder runs, the file reads as after a crash; later the file has its end mark."""
    payloads = [received(b"one", 1.0).payload, received(b"", 2.0, status=304).payload]
    file = tmp_path / "new" / "feed.rec.zst"
    with Recorder.open(tmp_path / "new", _settings(tmp_path), VirtualClock()) as recorder:
        found = []
        for payload in payloads:
            await anyio.sleep(1)
            recorder.of(FEED)(payload)
            _, records, ending = read(file.read_bytes())
            found.append(([record.payload.body for record in records], records[-1].received_s, ending))

    assert [([b"one"], 1.0, Ending.CUT), ([b"one", b""], 2.0, Ending.CUT)] == found
    assert Ending.CLOSED is read(file.read_bytes())[2]


async def test_header_has_what_a_replay_needs(tmp_path: Path) -> None:
    """The header has kind, options, expiry, and bookmakers with their place in the configuration."""
    with Recorder.open(tmp_path / "out", _settings(tmp_path), VirtualClock()):
        pass
    header = read((tmp_path / "out" / "feed.rec.zst").read_bytes())[0]

    assert ("feed", "football_data", 7000.0, WALL_0) == (
        header.source,
        header.kind,
        header.expire_after_kickoff_s,
        header.started_at,
    )
    assert [("third", "Third", "B365", 1)] == [
        (bookmaker.id, bookmaker.name, bookmaker.key, bookmaker.position) for bookmaker in header.bookmakers
    ]
    assert {"kind": "football_data", "url": "http://feed.example/fixtures.csv"} == header.options


async def test_no_secret_is_recorded(tmp_path: Path) -> None:
    """Secrets are removed from options, from addresses, and from answers that repeat them."""
    echo = Payload(
        API, Scope("s"), ListId("l"), f'["{SECRET}"]'.encode(), 0.0, 0.0, headers={"x-told": SECRET}
    )
    with Recorder.open(tmp_path / "out", _settings(tmp_path), VirtualClock()) as recorder:
        recorder.of(API)(echo)
    header, (record,), _ = read((tmp_path / "out" / "api.rec.zst").read_bytes())

    assert (b'["***"]', {"x-told": "***"}) == (record.payload.body, record.payload.headers)
    assert ("https://api.example/v4", False) == (header.options["url"], "api_key" in header.options)
    assert (None, None) == (re.search("token|word|user", repr(header)), re.search(SECRET, repr(record)))


async def test_older_recording_is_not_changed(tmp_path: Path) -> None:
    """The recorder refuses the folder before it has made any file."""
    settings = _settings(tmp_path)
    (tmp_path / "feed.rec.zst").write_bytes(b"older")

    with (
        pytest.raises(ConfigError, match=r"--out was .*, which has feed\.rec\.zst, must have no such file"),
        Recorder.open(tmp_path, settings, VirtualClock()),
    ):
        pass

    assert not (tmp_path / "api.rec.zst").exists()
    assert b"older" == (tmp_path / "feed.rec.zst").read_bytes()


async def test_invalid_folder_is_refused(tmp_path: Path) -> None:
    """The error has the folder and the reason."""
    settings = _settings(tmp_path)

    with (
        pytest.raises(ConfigError, match=r"--out was .*some\.toml: cannot be written to: File exists"),
        Recorder.open(tmp_path / "some.toml", settings, VirtualClock()),
    ):
        pass


async def test_options_that_cannot_be_restored_are_refused(tmp_path: Path) -> None:
    """A recording that could not be played is not begun."""
    text = KEYED.replace('["soccer_epl"]', '["${SPORT}"]')
    path = tmp_path / "some.toml"
    path.write_text(text, "utf-8")
    settings = load(path, {"API_KEY": SECRET, "SPORT": "soccer_epl"})

    with (
        pytest.raises(ConfigError, match=r"sources\.api cannot be recorded without its secrets: .*sports"),
        Recorder.open(tmp_path / "out", settings, VirtualClock()),
    ):
        pass


@contextlib.contextmanager
def _room_for(size: int) -> Iterator[None]:
    """Limit every file of this process to `size` bytes within the block, as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


async def test_full_disk_ends_the_recording_in_order(tmp_path: Path) -> None:
    """The source goes on, the failure is reported, and complete records stay readable."""
    file = tmp_path / "feed.rec.zst"
    with Recorder.open(tmp_path, _settings(tmp_path), VirtualClock()) as recorder:
        write = recorder.of(FEED)
        write(received(b"one", 0.0).payload)
        with _room_for(len(file.read_bytes()) + 20):
            write(received(b"two", 0.0).payload)
        write(received(b"three", 0.0).payload)
        with pytest.raises(CoreFailure, match=r"the recording cannot go on: .*File too large"):
            await recorder.watch()

    _, records, ending = read(file.read_bytes())
    assert ([b"one"], Ending.CUT) == ([record.payload.body for record in records], ending)


def _recordings(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.glob("*.rec.zst"))


async def test_recording_that_cannot_begin_leaves_no_file(tmp_path: Path) -> None:
    """On a full disk the recorder refuses; when there is space again, the next recording may begin."""
    settings = _settings(tmp_path)

    with (
        pytest.raises(ConfigError, match=r"--out was .*: cannot be written to: File too large"),
        _room_for(20),
        Recorder.open(tmp_path, settings, VirtualClock()),
    ):
        pass
    left = _recordings(tmp_path)
    with Recorder.open(tmp_path, settings, VirtualClock()):
        pass

    assert [] == left
    assert ["api.rec.zst", "feed.rec.zst"] == _recordings(tmp_path)
