"""The client on asyncio: does the effects of the logic, and decides nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from random import Random
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import httpx2

from . import clock
from .board import BoardView
from .calls import Call, ListCall
from .core import Core
from .events import Event
from .following import Following
from .state import Ledger
from .sync import HEADERS, URL, checked
from .values import Fixture, Match
from .wire import EFFECTS, Chunk, Close, CutError, Head, Open, Policy, Read, Sleep, Steps

A = TypeVar("A")
E = TypeVar("E", bound=Match | Fixture)


class AsyncClient:
    """A client of the service at `url`; close it, or use it in an `async with`.

    `transport` and `now` (seconds) are for tests.
    """

    def __init__(
        self,
        url: str = URL,
        *,
        policy: Policy = Policy(),  # noqa: B008 - a frozen value
        transport: httpx2.AsyncBaseTransport | None = None,
        now: Callable[[], float] = clock.now,
    ) -> None:
        self._http = httpx2.AsyncClient(
            base_url=checked(url), headers=HEADERS, trust_env=False, transport=transport
        )
        self._core = Core(policy, now, Random())

    async def get(self, call: Call[A]) -> A:
        """Make a call. Raises: UnsupportedError, AnsweredError, UnavailableError."""
        driver = self._driver(self._core.call(call))
        try:
            is_value, found = await driver.next()
        finally:
            await driver.close()
        assert not is_value, "a call yields nothing"  # noqa: S101
        result: A = found
        return result

    async def poll(self, call: Call[A], every_s: float = 5.0) -> AsyncGenerator[A]:
        """Yield each new answer of a call. Raises: as `get`."""
        driver = self._driver(self._core.poll(call, every_s))
        try:
            while True:
                is_value, answer = await driver.next()
                assert is_value, "a poll does not end"  # noqa: S101
                yield answer
        finally:
            await driver.close()

    def board(self, call: ListCall[Any, E], *, stream: bool = True) -> AsyncBoard[E]:
        """Return a board that follows a list; with `stream=False` it polls."""
        return AsyncBoard(self._core, call, self._driver, by_stream=stream)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    def _driver(self, steps: Steps[Any]) -> _Driver:
        return _Driver(steps, self._http, self._core.policy)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class AsyncBoard(BoardView[E], Generic[E]):
    """A local board that follows the service while its caller iterates over its events.

    Nothing is read between two events; the board says so by its age. Raises while iterated:
    UnsupportedError, AnsweredError.
    """

    def __init__(
        self,
        core: Core,
        call: ListCall[Any, E],
        driver: Callable[[Steps[Any]], _Driver],
        *,
        by_stream: bool,
    ) -> None:
        ledger = Ledger[E](core.policy.silence_s, core.now, is_whole=call.is_whole)
        super().__init__(ledger)
        self._driver = driver(Following(core, call, ledger, by_stream=by_stream).steps())

    def __aiter__(self) -> AsyncIterator[Event[E]]:
        return self

    async def __anext__(self) -> Event[E]:
        is_event, event = await self._driver.next()
        if not is_event:  # it has been closed, or has raised an error
            raise StopAsyncIteration
        found: Event[E] = event
        return found

    async def aclose(self) -> None:
        """Close the connection; the board keeps what it has, and is not current any more."""
        await self._driver.close()
        self._ledger.why = "closed"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class _Driver:
    def __init__(self, steps: Steps[Any], http: httpx2.AsyncClient, policy: Policy) -> None:
        self._steps, self._http, self._policy = steps, http, policy
        self._answer: httpx2.Response | None = None
        self._bytes: AsyncIterator[bytes] | None = None

    async def next(self) -> tuple[bool, Any]:
        """Run to the next value and return (True, value), or to the end and return (False, result)."""
        result: Any = None
        cut: CutError | None = None
        while True:
            try:
                effect = self._steps.send(result) if cut is None else self._steps.throw(cut)
            except StopIteration as end:
                return False, end.value
            if not isinstance(effect, EFFECTS):
                return True, effect
            result = cut = None
            try:
                result = await self._do(effect)
            except (httpx2.HTTPError, httpx2.StreamError) as error:
                cut = CutError(f"{str(error) or type(error).__name__}")

    async def close(self) -> None:
        """Close what is open."""
        self._steps.close()
        await self._shut()

    async def _do(self, effect: Any) -> Any:
        match effect:
            case Open():
                return await self._open(effect)
            case Read():
                was_ready = self._is_ready()
                return Chunk(b"" if self._bytes is None else await anext(self._bytes, b""), was_ready)
            case Close():
                await self._shut()
            case Sleep():
                await asyncio.sleep(effect.seconds)
        return None

    async def _open(self, effect: Open) -> Head:
        await self._shut()
        timeout = httpx2.Timeout(self._policy.connect_s, read=effect.read_s)
        request = self._http.build_request("GET", effect.target, headers=effect.headers, timeout=timeout)
        self._answer = answer = await self._http.send(request, stream=True)
        self._bytes = answer.aiter_bytes()
        return Head(answer.status_code, answer.headers)

    def _is_ready(self) -> bool:
        stream = None if self._answer is None else self._answer.extensions.get("network_stream")
        return stream is not None and bool(stream.get_extra_info("is_readable"))

    async def _shut(self) -> None:
        answer, self._answer, self._bytes = self._answer, None, None
        if answer is not None:
            await answer.aclose()
