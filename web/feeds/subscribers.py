"""The clients that wait for changes. They have no queues: a woken client reads the changes itself."""

from __future__ import annotations

import asyncio
import dataclasses
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import partial
from itertools import islice
from random import uniform
from typing import Any, TypeAlias

import anyio
from msgspec.structs import replace

from actors.board.history import History, ListHistory
from actors.board.snapshot import Readable, Snapshot
from actors.board.validity import Deadlines
from actors.core.clock import elapsed_s
from actors.core.messages import BookmakerId
from actors.market_fixtures.views import SeveralView
from actors.markets.market import Kind
from actors.matches.history import FixtureHistory
from actors.matches.model import FixtureView, ViewKind, fixtures_of
from actors.matching.leagues import league_stated
from actors.monitoring.metrics import Metrics
from web.encoding.schemas import ResetReason
from web.feeds.catching_up import CatchUp
from web.feeds.lists import Answers
from web.feeds.messages import FixtureFrames, Frames, ListFrames
from web.protocol.problems import Problem

HEARTBEAT_S = 10.0
FAREWELL_S = 1.0  # seconds in which clients may end their connections when the service ends
RETRY_MIN_MS, RETRY_MAX_MS = 1000, 5000  # clients then reconnect at random times, not all at the same time
_EVERY = FixtureView(ViewKind.FIXTURES)
REFUSALS = ("stopping", "too_many_client_streams", "too_many_streams")
GROUP = 32  # clients woken in one loop iteration: one or two milliseconds of work


_Woken: TypeAlias = asyncio.Future[float | None]
"""The commit time of the change that wakes a client; None if something else wakes it."""
Watched: TypeAlias = BookmakerId | FixtureView | SeveralView | None
"""A view that changes: the list of a bookmaker, of all bookmakers (None), or fixtures of some markets."""


class Beside(Enum):
    """A view that does not belong to a board, for `Audience.wait` and `wake`."""

    ALERTS = auto()
    VALUES = auto()


class Rest:
    """A pause in which changes do not wake a client; it begins immediately."""

    def __init__(self, seconds: float) -> None:
        self.is_over = False
        self.sleeper: _Woken | None = None
        self._timer = asyncio.get_running_loop().call_later(seconds, self._end)

    def cancel(self) -> None:
        """End the pause without waking the client."""
        self._timer.cancel()

    def _end(self) -> None:
        self.is_over = True
        if self.sleeper is not None:
            _wake(self.sleeper)


class Audience:
    """All clients that follow changes; `beats` counts heartbeats while there are any clients.

    At most `max_clients` are admitted, at most `max_per_client` with one client name (`peers.py`).
    """

    def __init__(
        self,
        history: ListHistory,
        max_clients: int,
        max_per_client: int,
        fixtures: FixtureHistory | None = None,
        metrics: Metrics | None = None,
        *,
        markets: Mapping[Kind, FixtureHistory] = {},
    ) -> None:
        self.history = history
        self.fixtures, self.markets = fixtures, markets
        metrics = metrics or Metrics()
        self.conflated = metrics.counts["oddsboard_stream_conflated_total"]
        self.commit_to_wire = metrics.timings["oddsboard_commit_to_wire_seconds"]
        resets = metrics.counts["oddsboard_stream_resets_total"]
        self.resets = {reason: resets.labels(reason) for reason in ResetReason}
        refused = metrics.counts["oddsboard_stream_refused_total"]
        self._refused = {code: refused.labels(code) for code in REFUSALS}
        self.beats = 0
        self.is_leaving = False
        self.max_clients, self.max_per_client = max_clients, max_per_client
        self._per_client: Counter[str | None] = Counter()
        self._clients: set[anyio.CancelScope] = set()
        self._waiting: dict[tuple[Kind, Watched | Beside], set[_Woken]] = {}
        self._resting: set[_Woken] = set()
        self._heart: asyncio.TimerHandle | None = None
        self._gone = anyio.Event()
        history.subscribe(partial(self._wake_views, history, Kind.ONE_X_TWO))
        if fixtures is not None:
            fixtures.subscribe(partial(self._wake_views, fixtures, Kind.ONE_X_TWO))
        for kind, of_kind in markets.items():
            of_kind.subscribe(partial(self._wake_views, of_kind, kind))

    def __len__(self) -> int:
        """Return the number of clients."""
        return len(self._clients)

    @contextmanager
    def admitted(self, client: str | None) -> Iterator[anyio.CancelScope]:
        """Count a client while the block runs; without a name it counts only in the total.

        Raises: Problem 503 if no more clients are admitted, 429 if no more clients with this name are.
        """
        if self.is_leaving:
            raise self._refusal("stopping", "the service is about to end")
        if client is not None and self._per_client[client] >= self.max_per_client:
            why = f"this client follows changes {self.max_per_client} times already"
            raise self._refusal("too_many_client_streams", why, 429)
        if len(self._clients) >= self.max_clients:
            raise self._refusal("too_many_streams", f"{self.max_clients} clients follow changes already")
        if self._heart is None:
            self._heart = asyncio.get_running_loop().call_later(HEARTBEAT_S, self._beat)
        with anyio.CancelScope() as scope:
            self._clients.add(scope)
            self._per_client[client] += 1
            try:
                yield scope
            finally:
                self._clients.discard(scope)
                self._per_client[client] -= 1
                if not self._per_client[client]:
                    del self._per_client[client]
                if not self._clients:
                    self._gone.set()

    async def wait(self, view: Watched | Beside, rest: Rest | None = None) -> float | None:
        """Wait for a change of the view (during `rest`: for its end), a heartbeat, or the service's end.

        Return when the change was committed, by `elapsed_s`; None for anything else.
        """
        future: _Woken = asyncio.get_running_loop().create_future()
        if rest is None or rest.is_over:
            places = [self._waiting.setdefault(key, set()) for key in _keys(view)]
        else:
            places, rest.sleeper = [self._resting], future
        for waiting in places:
            waiting.add(future)
        try:
            return await future
        finally:
            for waiting in places:
                waiting.discard(future)

    def wake(self, view: Beside) -> None:
        """Wake the clients that wait for a view that does not belong to a board."""
        _wake_in_groups(iter([*self._waiting.get((Kind.ONE_X_TWO, view), ())]))

    def note_sent(self, committed_s: float) -> None:
        """Count the time since a commit whose change was sent just now."""
        self.commit_to_wire.observe(elapsed_s() - committed_s)

    def retry_ms(self) -> int:
        """Return the random milliseconds that a client should wait before it reconnects."""
        return round(uniform(RETRY_MIN_MS, RETRY_MAX_MS))

    async def leave(self) -> None:
        """Wake all clients because the service ends; after a second, cancel the clients that remain."""
        self.is_leaving = True
        self._wake_all()
        if self._clients:
            self._gone = anyio.Event()
            with anyio.move_on_after(FAREWELL_S):
                await self._gone.wait()
        for scope in self._clients:
            scope.cancel()
        if self._heart is not None:
            self._heart.cancel()

    def _refusal(self, code: str, why: str, status: int = 503) -> Problem:
        self._refused[code].inc()
        return Problem(status, code, f"{why}; try again later", {"Retry-After": "5"})

    def _wake_views(self, history: History[Any, Any], kind: Kind, views: Collection[Watched]) -> None:
        for view in views:
            if waiting := self._waiting.get((kind, view)):
                _wake_in_groups(iter([*waiting]), history.committed_s)

    def _beat(self) -> None:
        self._heart = None
        self.beats += 1
        self._wake_all()
        if self._clients:
            self._heart = asyncio.get_running_loop().call_later(HEARTBEAT_S, self._beat)

    def _wake_all(self) -> None:
        waiting = [future for futures in self._waiting.values() for future in futures]
        _wake_in_groups(iter([*waiting, *self._resting]))


def _keys(view: Watched | Beside) -> list[tuple[Kind, Watched | Beside]]:
    """Return the views whose changes wake the clients of a view."""
    if isinstance(view, SeveralView):
        return [*dict.fromkeys(key for of_one in view.views for key in _keys(of_one))]
    if isinstance(view, FixtureView):
        return [(view.market.kind, view.whole)]
    return [(Kind.ONE_X_TWO, view)]


def _wake_in_groups(waiting: Iterator[_Woken], committed_s: float | None = None) -> None:
    group = list(islice(waiting, GROUP))
    for future in group:
        _wake(future, committed_s)
    if group:
        asyncio.get_running_loop().call_soon(_wake_in_groups, waiting, committed_s)


def _wake(future: _Woken, committed_s: float | None = None) -> None:
    if not future.done():
        future.set_result(committed_s)


@dataclass(frozen=True, slots=True)
class Live:
    """The parts that answer clients; `names` are the display names in the order of the configuration.

    `markets` has the same parts for each kind of market besides 1X2.
    """

    board: Readable
    names: Mapping[BookmakerId, str]
    audience: Audience
    answers: Answers
    lists: ListFrames
    fixtures: FixtureFrames | None = None
    markets: Mapping[Kind, Live] = field(default_factory=dict)
    several: Frames[Any, Any] | None = None

    def with_several(self, frames: Frames[Any, Any]) -> Live:
        """Return a copy in which `frames` makes the messages for views of several markets."""
        return dataclasses.replace(self, several=frames)

    def of(self, view: Watched) -> Live:
        """Return the parts that answer a view's clients; for several markets return these parts themselves.

        Raises: Problem 400 for a market without a board.
        """
        if isinstance(view, SeveralView):
            for of_one in view.views:
                self.of(of_one)
            return self
        if not isinstance(view, FixtureView) or view.market.kind is Kind.ONE_X_TWO:
            return self
        if (found := self.markets.get(view.market.kind)) is None:
            why = f"parameter 'market' was {view.market}, must be 1x2: no other market is kept here"
            raise Problem(400, "invalid_market", why)
        return found

    def is_known(self, version: int) -> bool:
        """Return whether a board has reached a version: the boards of all kinds share one counter."""
        boards = [self.board, *(live.board for live in self.markets.values())]
        return any(version <= board.newest.version for board in boards)

    @property
    def catch_up(self) -> CatchUp:
        """Waits for newer versions of other machines of a cluster."""
        return self.answers.catch_up

    @property
    def is_one_of_several(self) -> bool:
        """Whether this is one of several machines: clients may have newer versions from another."""
        return self.catch_up.longest_s > 0

    async def reached(self, view: Watched, version: int) -> bool:
        """Wait for a version that a client has from another machine; return whether it was reached."""
        deadlines, epoch = partial(_deadlines, view), self.board.newest.epoch
        return await self.catch_up.reached(version, epoch, deadlines)

    async def read_boards(self, tags: str | None, view: SeveralView | None = None) -> None:
        """Wait until the boards of a view, or (None) of all markets, reach the version in a client's tags.

        Then none of the boards' deadlines has passed. All boards of a cluster get a version at the same
        time. Raises: CommitLateError, NotLinkedError, as `read`.
        """
        await self.catch_up.waited(tags, await self.read(_EVERY), partial(_deadlines, _EVERY))
        for live in (self, *self.markets.values()) if view is None else map(self.of, view.views):
            await live.read(_EVERY)

    async def read(self, view: Watched) -> Snapshot:
        """Return the newest board; wait for one, and until overdue entries of the view are withdrawn.

        Raises: CommitLateError, and NotLinkedError for a view of fixtures.
        """
        if isinstance(view, SeveralView):
            for of_one in view.views:
                await self.of(of_one).read(of_one)
            return self.board.newest
        snapshot = await self.board.read(partial(_deadlines, view))
        if not snapshot.version:  # a replica without a board yet
            snapshot = await self.catch_up.begun(partial(_deadlines, view))
        if isinstance(view, FixtureView):
            self.catch_up.check_linked()
        return snapshot

    async def resolved(self, view: Watched, client: str | None) -> Watched:
        """Return a view with the id of its league; wait for a board, which knows the labels of leagues.

        Raises: Problem 400 if no or several leagues match, 429 if the client has caused too much work; the
        errors of `read`.
        """
        if view is None or isinstance(view, str) or view.league is None or self.fixtures is None:
            return view
        league = league_stated(view.league)
        if league is None:
            state = fixtures_of(await self.read(FixtureView(view.kind, view.bookmaker)))
            league = await self.fixtures.league(view.league, state, client)
        return view.of_league(league) if isinstance(view, SeveralView) else replace(view, league=league)

    def is_valid(self, view: Watched, snapshot: Snapshot) -> bool:
        """Return whether the epoch of `snapshot` is current, and no deadline of the view has passed."""
        if isinstance(view, SeveralView):
            boards = [self.of(of_one).board for of_one in view.views]
            return all(board.is_valid(board.newest.deadlines) for board in boards)
        is_same = snapshot.epoch == self.board.newest.epoch
        return is_same and self.board.is_valid(_deadlines(view, snapshot))

    def frames(self, view: Watched) -> Frames[Any, Any]:
        """Return the maker of a view's messages, which has its history."""
        if view is None or isinstance(view, str):
            return self.lists
        found = self.several if isinstance(view, SeveralView) else self.fixtures
        if found is None:
            raise TypeError("this board has no fixtures")
        return found


def _deadlines(view: Watched, snapshot: Snapshot) -> Deadlines:
    """Return the deadlines of a view; for fixtures, the deadlines of the whole board."""
    if view is None or isinstance(view, str):
        return snapshot.list_deadlines(view)
    return snapshot.deadlines
