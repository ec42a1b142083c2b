"""Looking up names: one at a time for a source, so that names which do not resolve harm nobody else.

A look-up blocks a thread and cannot be cancelled. Threads that all sources share would be used up by the
names of one of them; so each look-up has a thread of its own, of which a source has one. Nothing waits
for it at the end of the process.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import Protocol, TypeVar

import anyio
import httpcore2

Resolve = Callable[[str, int], Sequence[str]]
"""`(name, port) -> addresses`, the best first; blocks. Raises OSError or ValueError if there is none."""

NEXT_AFTER_S = 0.25
"""Seconds after which the next address of a name is tried as well (RFC 8305, 8)."""


class _Closable(Protocol):
    async def aclose(self) -> None: ...


S = TypeVar("S", bound=_Closable)


def resolved(name: str, port: int) -> list[str]:
    """Ask the system. Raises: OSError or ValueError if the name has no address."""
    found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class Names:
    """The look-ups of one source; outlives its actors, as a look-up that hangs does."""

    def __init__(self, resolve: Resolve = resolved) -> None:
        self._resolve = resolve
        self._running: _LookUp | None = None

    async def addresses(self, name: str, port: int) -> Sequence[str]:
        """Return the addresses of `name`, which may be one; waits for the look-up that is under way.

        Raises: OSError or ValueError if there is none. It may take long: the caller has a deadline.
        """
        with suppress(ValueError):
            return [str(ip_address(name))]
        while (running := self._running) is not None and running.asked != (name, port):
            await running.done.wait()
        if running is None:
            running = _LookUp((name, port), self._resolve)
            running.start(self._ended)  # it may be refused a thread, and then does not run
            self._running = running
        await running.done.wait()
        if running.error is not None:
            raise running.error
        return running.addresses

    def _ended(self) -> None:
        if self._running is not None:
            self._running.done.set()
            self._running = None


class _LookUp:
    def __init__(self, asked: tuple[str, int], resolve: Resolve) -> None:
        self.asked = asked
        self.done = anyio.Event()
        self.addresses: Sequence[str] = ()
        self.error: Exception | None = OSError(f"{asked[0]!r} could not be looked up")
        self._resolve = resolve

    def start(self, ended: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._run, args=(loop, ended), name="look-up", daemon=True).start()

    def _run(self, loop: asyncio.AbstractEventLoop, ended: Callable[[], None]) -> None:
        try:
            self.addresses, self.error = self._resolve(*self.asked), None
        except (OSError, ValueError, OverflowError) as error:
            self.error = error
        finally:
            with suppress(RuntimeError):  # the loop has been closed in the meantime
                loop.call_soon_threadsafe(ended)


async def first_connected(addresses: Sequence[str], connect: Callable[[str], Awaitable[S]]) -> S:
    """Return the first connection to any of these, each tried when those before it failed or take long.

    Raises: OSError or httpcore2.ConnectError, of the address that failed first, if there is none.
    """
    if len(addresses) == 1:
        return await connect(addresses[0])
    made: list[S] = []
    errors: list[Exception] = [OSError("the name has no address")]

    async def attempt(address: str, ended: anyio.Event) -> None:
        try:
            connection = await connect(address)
        except (OSError, httpcore2.ConnectError) as error:
            errors.append(error)
        else:
            if made:
                await connection.aclose()
            made.append(connection)
            tasks.cancel_scope.cancel()
        finally:
            ended.set()

    try:
        async with anyio.create_task_group() as tasks:
            for address in addresses:
                ended = anyio.Event()
                tasks.start_soon(attempt, address, ended)
                with anyio.move_on_after(NEXT_AFTER_S):
                    await ended.wait()
    except anyio.get_cancelled_exc_class():
        if made:  # at the very moment at which it was given up
            with anyio.CancelScope(shield=True):
                await made[0].aclose()
        raise
    if not made:
        raise errors[:2][-1]
    return made[0]
