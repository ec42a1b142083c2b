"""Connections to a peer: the addresses of its name, the first that answers, the errors of all of it.

A look-up blocks a thread and cannot be cancelled. In threads that all sources share, the names of one
source that do not resolve would use up all of them. So each look-up has a thread of its own, and a source
has at most one at a time. The end of the process waits for none of them.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import Protocol, TypeVar

import anyio
import httpcore2
import httpx2

from actors.core.errors import TransportError

Resolve = Callable[[str, int], Sequence[str]]
"""`(name, port) -> addresses`, the best first; blocks. Raises OSError or ValueError if there is none."""

NEXT_AFTER_S = 0.25
"""Seconds after which the next address of a name is tried as well (RFC 8305, 8)."""

# ValueError and OverflowError: addresses and header values that only fail when they are used.
CONNECTION_ERRORS = (
    *(httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError),
    *(ssl.SSLError, OSError, ValueError, OverflowError),
    *(anyio.BrokenResourceError, anyio.ClosedResourceError),
)


class _Closable(Protocol):
    async def aclose(self) -> None: ...


S = TypeVar("S", bound=_Closable)


def connection_error(error: BaseException, *, is_sent: bool = True) -> TransportError:
    """Return what the actors see of an error, with the text of its first cause.

    That is "Connect call failed" rather than "All connection attempts failed".
    """
    message = f"{type(error).__name__}: {_first_cause(error)}"
    return TransportError(message, reason="connection", is_sent=is_sent)


def _first_cause(error: BaseException) -> str:
    inner = error.__cause__ or error.__context__
    if isinstance(error, BaseExceptionGroup):
        inner = error.exceptions[0]
    return _first_cause(inner) if inner is not None else str(error) or repr(error)


def system_addresses(name: str, port: int) -> list[str]:
    """Look up `name` with the operating system. Raises: OSError or ValueError if it has no address."""
    found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class NameResolver:
    """The look-ups of one source; outlives its actors, as a look-up that hangs does."""

    def __init__(self, resolve: Resolve = system_addresses) -> None:
        self._resolve = resolve
        self._running: _LookUp | None = None

    async def addresses(self, name: str, port: int) -> Sequence[str]:
        """Return the addresses of `name`, which may be one; waits for the look-up that is under way.

        Raises: OSError or ValueError if there is none. It may take long: the caller has a deadline.
        """
        with suppress(ValueError):
            return [str(ip_address(name))]
        while (running := self._running) is not None and running.question != (name, port):
            await running.done.wait()
        if running is None:
            running = _LookUp(name, port)
            arguments = (running, asyncio.get_running_loop())
            threading.Thread(target=self._run, args=arguments, name="look-up", daemon=True).start()
            self._running = running  # not before: the machine may have no thread left
        await running.done.wait()
        if running.error is not None:
            raise running.error
        return running.addresses

    def _run(self, look_up: _LookUp, loop: asyncio.AbstractEventLoop) -> None:
        try:
            look_up.addresses, look_up.error = self._resolve(*look_up.question), None
        except (OSError, ValueError, OverflowError) as error:
            look_up.error = error
        finally:
            with suppress(RuntimeError):  # the loop has been closed in the meantime
                loop.call_soon_threadsafe(self._finish, look_up)

    def _finish(self, look_up: _LookUp) -> None:
        look_up.done.set()
        self._running = None


class _LookUp:
    def __init__(self, name: str, port: int) -> None:
        self.question = (name, port)
        self.done = anyio.Event()
        self.addresses: Sequence[str] = ()
        self.error: Exception | None = OSError(f"{name!r} could not be looked up")


async def first_connected(addresses: Sequence[str], connect: Callable[[str], Awaitable[S]]) -> S:
    """Return the first connection to any of these, each tried when those before it failed or take long.

    Raises: OSError or httpcore2.ConnectError, of the address that failed first, if there is none.
    """
    if len(addresses) == 1:
        return await connect(addresses[0])
    made: list[S] = []
    errors: list[Exception] = []

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
        if made:  # cancelled at the very moment of the connection
            with anyio.CancelScope(shield=True):
                await made[0].aclose()
        raise
    if made:
        return made[0]
    raise errors[0] if errors else OSError("the name has no address")
