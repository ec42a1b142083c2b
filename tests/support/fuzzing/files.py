"""Targets of files that an operator gives: recordings, historic files and the configuration."""

from __future__ import annotations

import bz2
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

import msgspec
import zstandard

from actors.board.chunks import entries_of
from actors.core.cooperative import run_now
from actors.core.errors import ConfigError
from actors.recordings.playback import Playback
from actors.recordings.reader import SUFFIX, open_source
from actors.service.registry import kind_named
from actors.service.settings import load
from tests.support.builders import betfair as wire
from tests.support.builders import football_data
from tests.support.builders.recorded import encoded, header, received
from tests.support.fuzzing.prices import valid
from tests.support.fuzzing.target import Target

SECRET = "s3cret-of-the-environment"  # noqa: S105 - no account has it
ENVIRONMENT = {"API_KEY": SECRET}
MAX_MOMENTS = 100
CONFIG = b"""[server]
bind = "127.0.0.1:0"
[board]
max_matches = 20
[limits]
trusted_proxies = ["local", "10.0.0.0/8"]
[sources.a]
kind = "the_odds_api"
api_key = "${API_KEY}"
sports = ["soccer_epl"]
[bookmakers.some]
source = "a"
key = "some"
"""
OTHERS = b"""[sources.f]
kind = "football_data"
url = "http://feed.example/f.csv"
stale_after_s = 2700.0
[bookmakers.b]
source = "f"
key = "B365"
name = "B"
[sources.s]
kind = "simulated"
seed = 1
[bookmakers.x]
source = "s"
key = "x"
name = "X"
[sources.e]
kind = "betfair_stream"
app_key = "k"
session_token = "t"
[bookmakers.e]
source = "e"
key = "exchange"
name = "E"
"""


def targets() -> tuple[Target, ...]:
    """Return the targets."""
    body = football_data.csv_bytes(football_data.changed(Date="31/05/2026"))
    records = [received(body, 0.5), received(b"", 1.5, status=304), received(body[:-3], 2.5)]
    stream = {"kind": "betfair_stream", "session_token": "none", "app_key": "recorded"}
    lines = [wire.line(wire.image(wire.market())), wire.line(wire.delta(wire.market("1.2", name="x")))]
    pushed = header(kind="betfair_stream", options=stream)
    recorded = encoded(header(), records)
    content = zstandard.ZstdDecompressor().stream_reader(recorded).readall()
    of_stream = (
        zstandard.ZstdDecompressor()
        .stream_reader(encoded(pushed, [received(line, 1.0) for line in lines]))
        .readall()
    )
    fields = (b'"crc32":', b'"bytes":', b'"status":304', b'"started_at":', b'"received_s":', b'"options":{')
    return (
        Target(
            "recording_file", _recording, (recorded, encoded(header(), records[:1], closed=False)), fields
        ),
        Target("recording_content", _sealed_recording, (content, of_stream), fields),
        Target("historic_file", _historic, (bz2.compress(b"\n".join(lines), 1),)),
        Target(
            "historic_content", _historic_lines, (b"\n".join(lines), lines[0]), (b'"pt":', b"SUB_IMAGE")
        ),
        Target(
            "settings", _settings, (CONFIG, OTHERS), (b"[sources.b]", b"${API_KEY}", b"${X}", b"0x", b"'''")
        ),
    )


@contextmanager
def _written(suffix: str, data: bytes) -> Iterator[Path]:
    """Write a file, in memory where possible; the file is gone afterwards."""
    memory = Path("/dev/shm")  # noqa: S108 - under a name of our own
    folder = memory if memory.is_dir() else Path(tempfile.gettempdir())
    path = folder / f"fuzz-{os.getpid()}{suffix}"
    try:
        path.write_bytes(data)
        yield path
    finally:
        path.unlink()


def _played(path: Path) -> int:
    """Open a recording and play it on a board; return the number of prices that the board had."""
    try:
        source = open_source(path, kind_named)
        playback = Playback((source,))
    except ConfigError:
        return 0
    checked = 0
    for number, moment in enumerate(playback.moments()):
        run_now(playback.play(moment))
        for book in playback.snapshot.books.values():
            checked += valid(entry.match for entry in entries_of(book.chunks))
        if number > MAX_MOMENTS:
            break
    return checked


def _recording(data: bytes) -> int:
    with _written(SUFFIX, data) as path:
        return _played(path)


def _sealed_recording(content: bytes) -> int:
    """Read this content with checksums that fit, as a program that writes recordings would have made it."""
    sealed, rest = [], content
    while rest:
        line, _, rest = rest.partition(b"\n")
        front = line.rpartition(b',"crc32":')[0]
        try:
            size = msgspec.json.decode(front + b"}", type=dict).get("bytes")
        except (msgspec.MsgspecError, ValueError, RecursionError):
            size = None
        size = size + 1 if isinstance(size, int) and 0 <= size <= len(rest) else 0
        sealed.append(
            b'%b,"crc32":%d}\n%b' % (front, crc32(rest[: max(size - 1, 0)], crc32(front)), rest[:size])
        )
        rest = rest[size:]
    return _recording(zstandard.ZstdCompressor(level=1).compress(b"".join(sealed)))


def _historic(data: bytes) -> int:
    with _written(".bz2", data) as path:
        return _played(path)


def _historic_lines(content: bytes) -> int:
    return _historic(bz2.compress(content, 1))


def _settings(text: bytes) -> int:
    try:
        with _written(".toml", text) as path:
            load(path, ENVIRONMENT)
    except ConfigError as error:
        if SECRET in str(error):
            raise AssertionError("the error shows a secret") from error
    return 0
