"""Files that other programs write: a regular file is read when it is the same at two looks."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from actors.core.clock import SystemClock
from actors.core.errors import TransportError
from actors.transports.files import FileTransport
from actors.transports.polling import Fetched, FetchLimits, Validators

pytestmark = pytest.mark.anyio

LIMIT = 1000


async def _read(path: Path, *between: Callable[[], object], timeout_s: float = 60.0) -> Fetched:
    """Read a file; the `between` functions are called one by one between the looks at the file."""
    steps: Iterator[Callable[[], object]] = iter(between)

    async def pause() -> None:
        next(steps, lambda: None)()

    waits: Callable[[], Awaitable[None]] = pause
    async with FileTransport(FetchLimits(timeout_s, LIMIT, LIMIT), SystemClock(), waits) as transport:
        return await transport.fetch(str(path), Validators())


async def test_a_file_is_read_with_its_time(tmp_path: Path) -> None:
    """The time is that of the last change; a link to the file is followed, as some programs write links."""
    path = tmp_path / "odds.csv"
    path.write_bytes(b"one\n")
    os.utime(path, (1.7e9, 1.7e9))

    (tmp_path / "link").symlink_to(path)

    for place in (path, tmp_path / "link"):
        read = await _read(place)
        assert (b"one\n", 1.7e9, True) == (read.body, read.last_modified_at, read.is_framed)


async def test_a_file_that_is_written_is_read_when_it_is_done(tmp_path: Path) -> None:
    """A file whose size or time changes may be half-written."""
    path = tmp_path / "odds.csv"
    path.write_bytes(b"one\n")

    def grow() -> None:
        with path.open("ab") as file:
            file.write(b"two\n")

    def rewrite() -> None:
        path.write_bytes(b"six\ntwo\n")  # the same length as before
        os.utime(path, (1.7e9, 1.7e9))

    def change() -> None:
        path.write_bytes(b"new\ntwo\n")
        os.utime(path, (1.7e9 + 1, 1.7e9 + 1))

    assert b"new\ntwo\n" == (await _read(path, grow, rewrite, change)).body


async def test_a_file_that_is_replaced_is_read_whole(tmp_path: Path) -> None:
    """The result is the old file or the new file, not a mixture."""
    path, other = tmp_path / "odds.csv", tmp_path / "new"
    path.write_bytes(b"one\n")
    os.utime(path, (1.7e9, 1.7e9))
    other.write_bytes(b"two\n")
    os.utime(other, (1.7e9, 1.7e9))

    assert b"two\n" == (await _read(path, lambda: other.replace(path))).body


async def test_a_file_that_always_changes_is_no_answer(tmp_path: Path) -> None:
    """The error says that the file was not the same at two looks."""
    path = tmp_path / "odds.csv"
    path.write_bytes(b"one\n")

    def grow() -> None:
        with path.open("ab") as file:
            file.write(b"x")

    with pytest.raises(TransportError, match=r"was not the same at two looks within 0\.2 s") as error:
        await _read(path, *[grow] * 1_000_000, timeout_s=0.2)
    assert "unsettled" == error.value.reason


async def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    """A FIFO is not waited for, and a device is not opened; a file that is too large is not read."""
    fifo, link, loop = tmp_path / "fifo", tmp_path / "link", tmp_path / "loop"
    os.mkfifo(fifo)
    link.symlink_to(fifo)
    loop.symlink_to(loop)
    told = [
        (fifo, "is a FIFO, must be a file"),
        (link, "is a FIFO, must be a file"),
        (tmp_path, "is a folder, must be a file"),
        (Path("/dev/zero"), "is a device, must be a file"),
        (tmp_path / "nothing", "cannot be read: No such file"),
        (loop, "cannot be read: Too many levels of symbolic links"),
        (Path("a\0b"), "cannot be read: "),
    ]
    large = tmp_path / "large.csv"
    large.write_bytes(b"x" * (LIMIT + 1))

    for path, why in told:
        with pytest.raises(TransportError, match=why) as error:
            await _read(path)
        assert "file" == error.value.reason
    with pytest.raises(TransportError, match="has 1001 bytes, at most 1000") as error:
        await _read(large)
    assert "too_big" == error.value.reason
