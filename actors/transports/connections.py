"""Connections to a peer: the addresses of its name, the first that answers, the errors of all of it."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import TypeVar

import anyio
import httpcore2
import httpx2
from anyio.abc import AsyncResource

from actors.core.errors import TransportError

Resolve = Callable[[str, int], Sequence[str]]
"""`(name, port) -> addresses`, the best first; blocks. Raises OSError or ValueError if there is none."""

NEXT_AFTER_S = 0.25  # until the next address of a name is tried as well (RFC 8305, 8)

_Outcome = Sequence[str] | Exception

# ValueError and OverflowError: addresses and header values that only fail when they are used.
CONNECTION_ERRORS = (
    *(httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError),
    *(ssl.SSLError, OSError, ValueError, OverflowError),
    *(anyio.BrokenResourceError, anyio.ClosedResourceError),
)


S = TypeVar("S", bound=AsyncResource | httpcore2.AsyncNetworkStream)


def connection_error(error: BaseException, *, is_sent: bool = True) -> TransportError:
    """Return what the actors see of an error: its type, and the text of its first cause."""
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
    """The look-ups of one source; outlives its actors, as a look-up that hangs does.

    A look-up blocks a thread and cannot be cancelled. So each has a thread of its own, which the end of the
    process does not wait for, and a source has at most one: it cannot use up threads that all share.
    """

    def __init__(self, resolve: Resolve = system_addresses) -> None:
        self._resolve = resolve
        self._question = ("", 0)
        self._answer: asyncio.Future[_Outcome] | None = None

    async def addresses(self, name: str, port: int) -> Sequence[str]:
        """Return the addresses of `name`, which may be one; waits for the look-up that is under way.

        Raises: OSError or ValueError if there is none. The caller has a deadline.
        """
        with suppress(ValueError):
            return [str(ip_address(name))]
        while (answer := self._answer) is not None and self._question != (name, port):
            await asyncio.wait([answer])
        if answer is None:
            answer = asyncio.get_running_loop().create_future()
            threading.Thread(target=self._look_up, args=(name, port, answer), daemon=True).start()
            self._question, self._answer = (name, port), answer  # not before: there may be no thread left
        await asyncio.wait([answer])  # unlike `await answer`, this leaves it to others when cancelled
        if isinstance(found := answer.result(), Exception):
            raise found
        return found

    def _look_up(self, name: str, port: int, answer: asyncio.Future[_Outcome]) -> None:
        found: _Outcome = OSError(f"{name!r} could not be looked up")
        try:
            found = self._resolve(name, port)
        except (OSError, ValueError, OverflowError) as error:
            found = error
        finally:
            with suppress(RuntimeError):  # the loop has been closed in the meantime
                answer.get_loop().call_soon_threadsafe(self._finish, answer, found)

    def _finish(self, answer: asyncio.Future[_Outcome], found: _Outcome) -> None:
        answer.set_result(found)
        self._answer = None


async def first_connected(addresses: Sequence[str], connect: Callable[[str], Awaitable[S]]) -> S:
    """Return the first connection to any of these, each tried when those before it failed or take long.

    Raises: OSError or httpcore2.ConnectError, of the address that failed first, if there is none.
    """
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
