"""The client over blocking sockets: does the effects of the logic, and decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from .values import Fixture, Match
from .wire import EFFECTS, Chunk, Close, CutError, Head, Open, Policy, Read, Sleep, Steps

A = TypeVar("A")
E = TypeVar("E", bound=Match | Fixture)

URL = "http://127.0.0.1:8000"
HEADERS = {"user-agent": "oddsboard-client"}


def checked(url: str) -> str:
    """Return a URL of HTTP. Raises: ValueError for another URL."""
    try:
        found = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise ValueError(f"the URL was {url!r}: {error}") from error
    if found.scheme not in {"http", "https"} or not found.host:
        raise ValueError(f"the URL was {url!r}, must begin with http:// or https:// and a host")
    return url


class Client:
    """A client of the service at `url`; close it, or use it in a `with`. Raises: ValueError for a bad URL.

    `transport`, `now` (seconds) and `sleep` are for tests.
    """

    def __init__(
        self,
        url: str = URL,
        *,
        policy: Policy = Policy(),  # noqa: B008 - a frozen value
        transport: httpx2.BaseTransport | None = None,
        now: Callable[[], float] = clock.now,
        sleep: Callable[[float], Any] = clock.pause,
    ) -> None:
        self._http = httpx2.Client(
            base_url=checked(url), headers=HEADERS, trust_env=False, transport=transport
        )
        self._core, self._sleep = Core(policy, now, Random()), sleep

    def get(self, call: Call[A]) -> A:
        """Make a call. Raises: UnsupportedError, AnsweredError, UnavailableError."""
        driver = self._driver(self._core.call(call))
        try:
            is_value, found = driver.next()
        finally:
            driver.close()
        assert not is_value, "a call yields nothing"  # noqa: S101
        result: A = found
        return result

    def poll(self, call: Call[A], every_s: float = 5.0) -> Iterator[A]:
        """Yield each new answer of a call. Raises: as `get`."""
        driver = self._driver(self._core.poll(call, every_s))
        try:
            while True:
                is_value, answer = driver.next()
                assert is_value, "a poll does not end"  # noqa: S101
                yield answer
        finally:
            driver.close()

    def board(self, call: ListCall[Any, E], *, stream: bool = True) -> Board[E]:
        """Return a board that follows a list; with `stream=False` it polls."""
        return Board(self._core, call, self._driver, by_stream=stream)

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def _driver(self, steps: Steps[Any]) -> _Driver:
        return _Driver(steps, self._http, self._core.policy, self._sleep)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Board(BoardView[E], Generic[E]):
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

    def __iter__(self) -> Iterator[Event[E]]:
        return self

    def __next__(self) -> Event[E]:
        is_event, event = self._driver.next()
        if not is_event:  # it has been closed, or has raised an error
            raise StopIteration
        found: Event[E] = event
        return found

    def close(self) -> None:
        """Close the connection; the board keeps what it has, and is not current any more."""
        self._driver.close()
        self._ledger.why = "closed"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Driver:
    def __init__(
        self, steps: Steps[Any], http: httpx2.Client, policy: Policy, sleep: Callable[[float], Any]
    ) -> None:
        self._steps, self._http, self._policy, self._sleep = steps, http, policy, sleep
        self._answer: httpx2.Response | None = None
        self._bytes: Iterator[bytes] = iter(())

    def next(self) -> tuple[bool, Any]:
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
                result = self._do(effect)
            except (httpx2.HTTPError, httpx2.StreamError) as error:
                cut = CutError(f"{str(error) or type(error).__name__}")

    def close(self) -> None:
        """Close what is open."""
        self._steps.close()
        self._shut()

    def _do(self, effect: Any) -> Any:
        match effect:
            case Open():
                return self._open(effect)
            case Read():
                was_ready = self._is_ready()
                return Chunk(next(self._bytes, b""), was_ready)
            case Close():
                self._shut()
            case Sleep():
                self._sleep(effect.seconds)
        return None

    def _open(self, effect: Open) -> Head:
        self._shut()
        timeout = httpx2.Timeout(self._policy.connect_s, read=effect.read_s)
        request = self._http.build_request("GET", effect.target, headers=effect.headers, timeout=timeout)
        self._answer = answer = self._http.send(request, stream=True)
        self._bytes = answer.iter_bytes()
        return Head(answer.status_code, answer.headers)

    def _is_ready(self) -> bool:
        stream = None if self._answer is None else self._answer.extensions.get("network_stream")
        return stream is not None and bool(stream.get_extra_info("is_readable"))

    def _shut(self) -> None:
        answer, self._answer, self._bytes = self._answer, None, iter(())
        if answer is not None:
            answer.close()
