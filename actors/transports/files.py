"""Reads a file that another program writes, once two looks find no change, so that it is complete.

Looks and reads run in a thread, because a network disk may not answer.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Self

import anyio
import anyio.to_thread
from msgspec import Struct

from actors.core.clock import Clock
from actors.core.errors import TransportError
from actors.transports.polling import Fetched, FetchLimits, Validators

BETWEEN_LOOKS_S = 1.0


class Look(Struct, frozen=True):
    """The attributes that show whether a file changed; `time_ns` is its modification time."""

    device: int
    number: int
    size: int
    time_ns: int


class FileTransport:
    """Reads files in place of addresses; it awaits `pause` between two looks."""

    def __init__(
        self, limits: FetchLimits, clock: Clock, pause: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._pause = pause or partial(anyio.sleep, BETWEEN_LOOKS_S)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def fetch(self, url: str, validators: Validators, body: bytes = b"") -> Fetched:
        """Read the file with the path `url`, whatever the validators; `modified_at` is the file's time.

        Raises: TransportError if it is not a regular file, is too large, or changes at every look.
        """
        del validators, body
        path, limit, now = Path(url), self._limits.max_payload_bytes, self._clock.now()
        content: bytes | None = None
        try:
            with anyio.fail_after(self._limits.timeout_s):
                look, _ = await _in_thread(_read, path, None, limit)
                while content is None:
                    await self._pause()
                    now = self._clock.now()
                    look, content = await _in_thread(_read, path, look, limit)
        except TimeoutError as error:
            message = f"{path} was not the same at two looks within {self._limits.timeout_s:g} s"
            raise TransportError(message, reason="unsettled") from error
        size, modified_at = len(content), look.time_ns / 1e9
        return Fetched(content, size, Validators(), modified_at, now.mono, answered_at=now.wall)


async def _in_thread(
    read: Callable[[Path, Look | None, int], tuple[Look, bytes | None]],
    path: Path,
    before: Look | None,
    limit: int,
) -> tuple[Look, bytes | None]:
    try:
        return await anyio.to_thread.run_sync(read, path, before, limit, abandon_on_cancel=True)
    except (OSError, ValueError) as error:  # ValueError: the path has a zero byte
        why = error.strerror if isinstance(error, OSError) else error
        raise TransportError(f"{path} cannot be read: {why}", reason="file") from error
    except RuntimeError as error:  # the system allows no further thread
        raise TransportError(f"{path} cannot be read: {error}", reason="file") from error


def _read(path: Path, before: Look | None, limit: int) -> tuple[Look, bytes | None]:
    """Look at a file, and read it if it is unchanged since `before`. Raises: OSError, TransportError."""
    _check(path, path.stat().st_mode)  # before opening: opening a device can have effects
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(number, "rb") as file:  # noqa: PTH123 - opens a descriptor
        _check(path, os.fstat(number).st_mode)
        look = _look(number)
        if look != before:
            return look, None
        if look.size > limit:
            found = f"{path} has {look.size} bytes"
            raise TransportError(f"{found}, at most {limit} are allowed", reason="too_big")
        content = file.read(limit + 1)
        after = _look(number)
    return after, content if after == look and len(content) == look.size else None


def _look(number: int) -> Look:
    found = os.fstat(number)
    return Look(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _check(path: Path, mode: int) -> None:
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket"}
    if not stat.S_ISREG(mode):
        found = kinds.get(stat.S_IFMT(mode), "a device")
        raise TransportError(f"{path} is {found}, must be a file", reason="file")
