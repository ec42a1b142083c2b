"""Clients that keep boards through faults of a network and restarts of a service, in virtual time.

After each fault each board must be the service's list. Its events must lead from each board to the next
without a gap or a repetition. Whenever it says that it is current, its version must have been the newest
a moment ago.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import anyio
import msgspec

from actors.archive.archive import Archive
from actors.archive.past import Past
from actors.board.history import HistoryLimits
from actors.board.validity import BoardRules
from actors.core.messages import BookmakerId, Match
from actors.matches.history import FixtureHistory
from actors.matches.linking import Links
from actors.matches.model import (
    BookmakerInfo,
    FixtureSettings,
    FixtureView,
    ViewKind,
    first_snapshot,
    roster_of,
)
from actors.matches.update import FixtureUpdater
from tests.support.archive.boards import keep
from tests.support.builders.messages import match
from tests.support.peers.faulty import CUTS, PASSING, FaultyNetwork
from tests.support.simulation.archived import killed
from tests.support.systems.committing import Committing
from tests.support.systems.front_end import UNLIMITED, front_end, get
from tests.support.systems.site import NAMES, SOURCE, site_archive, site_status
from tests.support.time.virtual import WALL_0, VirtualClock, VirtualLoop, jump
from web import client as c
from web.client.values import FixtureList, MatchList
from web.feeds.subscribers import Audience
from web.protocol.throttle import ClientLimits

LEAGUES = ("Some League", "Another League")
STALE_AFTER_S = 1e6
SILENCE_S = c.Policy().silence_s
LATEST_S = 240.0
"""In this time each board must be current again."""
TERMS = FixtureSettings(roster_of({name: BookmakerInfo(SOURCE) for name in NAMES}))
CALLS: dict[str, tuple[c.ListCall[Any, Any], bool]] = {
    "odds": (c.odds(), True),
    "odds of birch, polled": (c.odds(bookmaker="birch"), False),
    "fixtures": (c.fixtures(), True),
    "fixtures of a league": (c.fixtures(league=LEAGUES[0]), True),
    "surebets": (c.surebets(), True),
}
"""The followed lists, and whether the stream or polls are used."""


class Life:
    """One life of the service, from its start to its end; `kill` and `stop` end it."""

    def __init__(self, clock: VirtualClock, first_version: int, epoch: str, folder: Path | None) -> None:
        self.committed: Callable[[], None] = lambda: None
        self.archive: Archive | None = None
        first = first_snapshot(first_version, TERMS, epoch)
        if folder is not None:
            self.archive = site_archive(folder, TERMS, NAMES, clock, ())
            first = self.archive.beginning.snapshot
        limits = HistoryLimits(max_changes=60)
        self.published = Committing(
            first, BoardRules(), clock, limits, advance=FixtureUpdater(TERMS), terms=TERMS
        )
        if self.archive is not None:
            keep(self.published, self.archive)
        self.fixtures = fixtures = FixtureHistory(first, limits)
        self.published.follow(fixtures.add, fixtures.digest)
        status = site_status(NAMES, clock.now().wall)
        status.is_idle = lambda: True
        self.audience = Audience(self.published.history, 100, 100, fixtures, status.metrics)
        parts = (self.published, status, NAMES, clock, self.audience)
        past = None if self.archive is None else _past(self.archive)
        self.app = front_end(*parts, limits=ClientLimits(UNLIMITED), past=past).asgi_app

    def publish(self, bookmaker: str, *matches: Match, is_written: bool = True) -> None:
        """Publish a list of a bookmaker; an archive may lose the list, if the life is killed then."""
        self.published.put(bookmaker, *matches, stale_after_s=STALE_AFTER_S)
        self._write(is_written=is_written)

    def link(self) -> None:
        """Link all waiting events."""
        board = self.published.board()
        board.link(Links((), {}))
        self.published.commit(board)
        self._write(is_written=True)

    def kill(self) -> None:
        """End the life as SIGKILL does."""
        if self.archive is not None:
            killed(self.archive)  # type: ignore[arg-type]

    async def stop(self) -> None:
        """End the life in order, with a last message to each follower."""
        await self.audience.leave()
        if self.archive is not None:
            self.archive.close(is_orderly=True)

    def _write(self, *, is_written: bool) -> None:
        if self.archive is not None and is_written:
            self.archive.writer.step()
        self.committed()


class _AtOnce(Executor):
    """Runs each read when it is asked for, because virtual time does not wait for threads."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a function, and return its result or error as a future."""
        done: Future[Any] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - the reader of the future gets it
            done.set_exception(error)
        return done


def _past(archive: Archive) -> Past:
    return Past(archive.folder, archive.writer, archive.status, threads=_AtOnce())


@dataclass
class Follower:
    """A client's board, the board that its events led to, and the events that may explain an error."""

    name: str
    call: c.ListCall[Any, Any]
    board: c.AsyncBoard[Any]
    shadow: dict[str, Any] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    lately: deque[Any] = field(default_factory=lambda: deque(maxlen=12))
    newest: list[tuple[float, str]] = field(default_factory=list)
    _is_current: bool = False
    _version: tuple[str, int] = ("", 0)

    async def follow(self) -> None:
        """Take all events, and check each."""
        async for event in self.board:
            self.lately.append(event)
            self.seen[type(event).__name__] += 1
            self._check(event)

    def _check(self, event: Any) -> None:
        match event:
            case c.Changes():
                self._apply(event)
                assert self.shadow == dict(self.board.entries), f"{self.name}: the events are not the board"
            case c.Cleared():
                left = [str(entry) for entry in self.board.entries.values()]
                assert not any(f"'{event.bookmaker}'" in entry for entry in left), event
            case c.Connected():
                assert not self._is_current, f"{self.name}: connected twice"
                self._is_current = True
            case c.Disconnected():
                assert self._is_current or not self.seen["Connected"], f"{self.name}: disconnected twice"
                self._is_current = False

    def _apply(self, changes: c.Changes[Any]) -> None:
        epoch, version = self._version
        assert epoch != changes.epoch or version < changes.version, f"{self.name}: a version twice"
        self._version = changes.epoch, changes.version
        for entry in changes.added:
            assert entry.id not in self.shadow, f"{self.name}: {entry.id} was added twice"
            self.shadow[entry.id] = entry
        for changed in changes.changed:
            assert changed.before == self.shadow[changed.now.id] != changed.now
            self.shadow[changed.now.id] = changed.now
        for gone in changes.removed:
            assert self.shadow.pop(gone.before.id) == gone.before


class World:
    """A service, a network and some followers; `run` lets `faults` faults happen."""

    def __init__(self, seed: int, folder: Path, network: FaultyNetwork) -> None:
        self.random, self.clock, self.folder = Random(seed), VirtualClock(), folder
        self.network = network
        self.seen: Counter[str] = Counter()
        self._lives = 0
        self._is_archived = False
        self.http = c.AsyncClient("http://board", transport=network, now=anyio.current_time)
        self.followers = [
            Follower(name, call, self.http.board(call, stream=by_stream))
            for name, (call, by_stream) in CALLS.items()
        ]
        self.life: Life
        self._born(self.clock.now().wall * 1000)

    async def run(self, faults: int) -> None:
        """Let faults happen, and check all boards after each."""
        await self._equal("at first")
        for number in range(faults):
            what = await self._fault()
            self.seen[what] += 1
            await self._equal(f"after fault {number}, {what}")

    async def _fault(self) -> str:
        what = self.random.choice((*PASSING, *CUTS, "kill", "kill", "stop", "set back", "suspended"))
        if what in PASSING:
            self.network.mood = what
            await self._live(self.random.choice((1.0, 15.0, 60.0)))
            self.network.mood = "fine"
        elif what in CUTS:
            self.network.cut(what)
            await self._live(self.random.choice((0.0, 1.0, 12.0)))
        elif what == "suspended":
            jump(self.random.choice((5.0, 30.0, 3600.0)))
        else:
            what = await self._restart(what)
        return what

    async def _restart(self, what: str) -> str:
        is_archived = self.random.random() < 0.5
        self.life.publish("alder", *self._some(), is_written=False)
        if what == "stop":
            await self.life.stop()
        else:
            self.life.kill()
        self.network.app = None
        self.network.cut("reset")
        await anyio.sleep(self.random.choice((0.0, 0.5, 40.0)))
        back_ms = 7_200_000 if what == "set back" else 0
        self._is_archived = is_archived
        self._born(self.clock.now().wall * 1000 - back_ms)
        return f"{what}, {'with' if is_archived else 'without'} archive"

    def _born(self, first_version: float) -> None:
        self._lives += 1
        folder = self.folder if self._is_archived else None
        life = Life(self.clock, round(first_version), f"e{self._lives}", folder)
        self.network.app, self.life, life.committed = life.app, life, self._note
        for name in NAMES:
            life.publish(name, *self._some())

    async def _live(self, seconds: float) -> None:
        """Let `seconds` seconds pass, with changes."""
        until = anyio.current_time() + seconds
        while True:
            self._change()
            self._check_current()
            if anyio.current_time() >= until:
                return
            await anyio.sleep(min(self.random.expovariate(0.3), until - anyio.current_time()))

    def _change(self) -> None:
        name, size = self.random.choice([*NAMES]), self.random.random()
        if size < 0.1:
            self.life.publish(name)
        elif size < 0.15:
            for _ in range(80):  # more changes than the history keeps
                self.life.publish(name, *self._some())
        else:
            self.life.publish(name, *self._some())
        if self.random.random() < 0.5:
            self.life.link()

    def _some(self) -> list[Match]:
        """Return some matches, each in a league of its own; some prices make surebets."""
        chosen = [number for number in range(9) if self.random.random() < 0.7]
        return [
            match(
                f"m{number}",
                home=f"Home {number}",
                away=f"Away {number}",
                league=LEAGUES[number % 2],
                prices=[self.random.choice((2.0, 2.5, 3.4)) for _ in range(3)],
                start_time=int(WALL_0) + 10**8,  # the match stays, so each commit is noted
            )
            for number in chosen
        ]

    def _note(self) -> None:
        """Note the newest version of each list."""
        for follower in self.followers:
            newest = self._cursor(follower)
            if not follower.newest or follower.newest[-1][1] != newest:
                follower.newest.append((anyio.current_time(), newest))
                del follower.newest[:-400]

    def _check_current(self) -> None:
        """Check that a board that calls itself current was the newest a moment ago."""
        now = anyio.current_time()
        for follower in self.followers:
            cursor, noted = follower.board.cursor, follower.newest
            ended = [at for (_, had), (at, _) in pairwise(noted) if had == cursor]
            is_true = cursor == noted[-1][1] or (ended and now - ended[-1] <= SILENCE_S + 1.0)
            if follower.board.is_current:
                self.seen["current"] += 1
                assert is_true, f"{follower.name} says that {cursor} is current: {now} {noted[-5:]}"

    def _cursor(self, follower: Follower) -> str:
        """Return the cursor of the list that a follower keeps."""
        newest, call = self.life.published.newest, follower.call
        if call.view:
            version = self.life.fixtures.latest(FixtureView(ViewKind(call.view)))
        else:
            name = call.parameters.get("bookmaker")
            version = self.life.published.history.latest(BookmakerId(name) if name else None)
        return f"{version}-{newest.epoch}"

    async def _equal(self, when: str) -> None:
        """Wait until all boards are the service's lists. Raises: AssertionError."""
        self.life.publish("birch", *self._some())
        self.life.link()
        for follower in self.followers:
            with anyio.move_on_after(LATEST_S) as scope:
                while not await self._is_equal(follower):  # noqa: ASYNC110 - no event reports it
                    await anyio.sleep(0.5)
            assert not scope.cancelled_caught, (
                f"{follower.name} is not the service's list {when}: {follower.board.cursor},"
                f" {follower.board.why!r}, {[*follower.lately][-6:]}"
            )

    async def _is_equal(self, follower: Follower) -> bool:
        kind = MatchList if follower.call.path.endswith("odds") else FixtureList
        path, _, query = follower.call.target.partition("?")
        answer = await get(self.life.app, path, query)
        if answer.status != 200:
            return False
        listed: Any = msgspec.json.decode(answer.body, type=kind)
        board = follower.board
        cursor = answer.headers.get("odds-cursor") or listed.cursor
        if not board.is_current or board.cursor != cursor:
            return False
        assert board.listed() == [*(listed.matches if kind is MatchList else listed.fixtures)], (
            follower.name
        )
        return True


class Lived(NamedTuple):
    """The events of network and service, the answers of the boards, and the rule that was broken."""

    faults: Counter[str]
    events: Counter[str]
    requests: int
    error: str


def live(seed: int, faults: int, folder: Path) -> Lived:
    """Let `faults` faults happen, in virtual time."""
    return anyio.run(_lived, seed, faults, folder, backend_options={"loop_factory": VirtualLoop})


async def _lived(seed: int, faults: int, folder: Path) -> Lived:
    async with anyio.create_task_group() as tasks:
        network = FaultyNetwork(tasks, Random(seed))
        world = World(seed, folder, network)
        failed: list[AssertionError] = []
        try:
            async with anyio.create_task_group() as following:
                for follower in world.followers:
                    following.start_soon(follower.follow)
                await world.run(faults)
                following.cancel_scope.cancel()
        except* AssertionError as errors:
            failed += [error for error in errors.exceptions if isinstance(error, AssertionError)]
        for follower in world.followers:
            await follower.board.aclose()
        await world.http.aclose()
        error = "; ".join(map(str, failed))
        tasks.cancel_scope.cancel()
    events = sum((follower.seen for follower in world.followers), Counter[str]())
    return Lived(world.seen, events, network.requests, error)
