"""An event loop that looks up host names in threads, and the errors of connections."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio
import httpx2

from actors.core.errors import TransportError

# ValueError and OverflowError: invalid addresses and header values, found only when they are used.
CONNECTION_ERRORS = (
    *(httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError),
    *(ssl.SSLError, OSError, ValueError, OverflowError),
    *(anyio.BrokenResourceError, anyio.ClosedResourceError),
)


def connection_error(error: BaseException, *, is_sent: bool = True) -> TransportError:
    """Return an error for the actors, with the type of this one and the text of its first cause."""
    message = f"{type(error).__name__}: {_in_words(_first_cause(error))}"
    return TransportError(message, reason="connection", is_sent=is_sent)


def _first_cause(error: BaseException) -> BaseException:
    inner = error.__cause__ or error.__context__
    if isinstance(error, BaseExceptionGroup):
        inner = error.exceptions[0]
    return error if inner is None else _first_cause(inner)


def _in_words(cause: BaseException) -> str:
    if isinstance(cause, socket.gaierror):
        return f"no address is known for the host ({cause.strerror})"
    return str(cause) or repr(cause)


class LookUpLoop(asyncio.SelectorEventLoop):
    """The event loop of the service: each look-up of a host name has its own thread.

    A look-up blocks a thread and cannot be cancelled. So it uses no shared thread, the process does not
    wait for it at its end, and simultaneous requests for one name share a look-up.
    """

    def __init__(self, resolve: Callable[..., list[Any]] = socket.getaddrinfo) -> None:
        super().__init__()
        self.resolve = resolve
        self._look_ups: dict[Any, asyncio.Future[list[Any]]] = {}

    async def getaddrinfo(
        self,
        host: Any,
        port: Any,
        *,
        family: int = 0,
        type: int = 0,  # noqa: A002 - asyncio's name for it
        proto: int = 0,
        flags: int = 0,
    ) -> list[Any]:
        """Return the addresses of a host; the caller has a deadline. Raises: OSError without addresses."""
        question = host, port, family, type, proto, flags
        if (answer := self._look_ups.get(question)) is None:
            answer = self.create_future()
            threading.Thread(target=self._look_up, args=(question,), daemon=True).start()
            self._look_ups[question] = answer  # only after the start of the thread, which may fail
        await asyncio.wait([answer])  # unlike `await answer`, this never cancels the shared future
        return answer.result()

    def _look_up(self, question: Any) -> None:
        found: list[Any] | OSError
        try:
            found = self.resolve(*question)
        except (OSError, ValueError, OverflowError) as error:
            found = error if isinstance(error, OSError) else OSError(str(error))
        with suppress(RuntimeError):  # the loop is already closed
            self.call_soon_threadsafe(self._finish, question, found)

    def _finish(self, question: Any, found: list[Any] | OSError) -> None:
        answer = self._look_ups.pop(question)
        if isinstance(found, OSError):
            answer.set_exception(found)
            answer.exception()  # marks the error as retrieved, in case nothing waits for it any more
        else:
            answer.set_result(found)
