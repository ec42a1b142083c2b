"""The simulated service: real actors, board and front end; scripted bookmakers, virtual time, one seed.

Every random choice comes from the seed, also where a long computation pauses, so that the same seed gives
the same log.
"""

from __future__ import annotations

import asyncio
import time
import zlib
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from hashlib import blake2b
from math import inf
from random import Random

import anyio
import msgspec

from actors.board.board import BoardRules
from actors.board.history import HistoryLimits
from actors.board.snapshot import Book, Snapshot
from actors.core.cooperative import run_now
from actors.core.limits import Limits
from actors.core.messages import Batch, BookmakerId, Scope, SourceName
from actors.runtime.actor import ActorState
from actors.service.settings import BookmakerSettings, ServerSettings, Settings, SourceSettings
from actors.service.system import System
from actors.source_api.options import PolledOptions, SourceOptions
from tests.support.builders.hostile import poison
from tests.support.simulation.model import Belief
from tests.support.simulation.offers import TICKED, Reader, Rows, Ticker
from tests.support.simulation.readers import Readers, View, expected
from tests.support.simulation.site import POLL_S, TIMEOUT_S, Site
from tests.support.systems.site import NAMES
from tests.support.time.virtual import VirtualClock, VirtualLoop, settle
from web.app import create_app
from web.feeds.subscribers import Audience

POLLED, TICKING = SourceName("lists"), SourceName("ticker")
CEDAR, ALDER, BIRCH = NAMES
OF_KEY = {"A": ALDER, "B": BIRCH}
TICKED_STALE_S = 300.0
TICK_S = 60.0
"""Longer than in production: idle turns of the aggregator are most of a day's work."""
RULES = BoardRules(max_matches=120)
ROOMY = 70
"""Matches of a bookmaker that has not invented any."""
KEPT_LINES = 60


class Breakable(Counter[str]):
    """A record of the aggregator; when `is_broken`, the next note of a turn crashes its actor, once."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self.is_broken = False
        self.crashed_mono = -inf
        self._clock = clock

    def __setitem__(self, key: str, value: int) -> None:
        """Set a count."""
        if self.is_broken:
            self.is_broken, self.crashed_mono = False, self._clock.now().mono
            raise RuntimeError("the record is broken")
        super().__setitem__(key, value)


class World:
    """The service, its bookmakers and readers; `say` writes the log, `seen` counts what happened."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.clock = VirtualClock()
        self.ticker = Ticker(self.random)
        self.reader = Reader()
        self.site = Site(self.random, self.clock, OF_KEY)
        self.site.on_crash = self.doubt_all
        self.ticked = Belief("cedar", TICKED_STALE_S)
        self.ticker.on_tick = self._on_tick
        self.system = self._system()
        published = self.system.published
        published.history.subscribe(lambda _: self._on_commit())
        self.system.bus.subscribe(self._kill)
        self.audience = Audience(published.history, 100, 100)
        app = create_app(
            published,
            self.system.status,
            NAMES,
            self.clock,
            self.audience,
            keep_fresh=lambda _client: None,
            refusals="/refused/",
            limits=Limits(requests_per_s=1_000_000, burst=1_000_000),
        )
        self.app = app.asgi_app
        self.readers = Readers(self.app, self.random)
        self.kills: Counter[BookmakerId] = Counter()
        self.records = Breakable(self.clock)
        self.system.status.board.verdicts = self.records
        self.seen: Counter[str] = Counter()
        self.lines: deque[str] = deque(maxlen=KEPT_LINES)
        self.digest = blake2b(digest_size=16)
        self._first_version = self.system.status.board.first_version
        self._last: Snapshot = run_now(published.current())

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot that a reader gets now."""
        return run_now(self.system.published.current())

    def say(self, event: str) -> None:
        """Write a line of the log."""
        line = f"{self.clock.now().mono:.6f} {event}"
        self.lines.append(line)
        self.digest.update(line.encode() + b"\n")

    def doubt_all(self) -> None:
        """Note a crash: which answers it loses is not modelled."""
        for belief in self.beliefs().values():
            belief.is_sure = False

    def check(self) -> None:
        """Compare the board with what the bookmakers offered, when nothing is under way."""
        now, snapshot = self.clock.now(), self.snapshot
        for (bookmaker, scope), belief in self.beliefs().items():
            book = snapshot.books[bookmaker]
            assert book.count <= RULES.max_matches
            is_running = self.system.status.bookmakers[bookmaker].actor.state is ActorState.RUNNING
            is_sound = is_running and book.count <= ROOMY
            belief.check(_rows(book, scope), book.lists.get(scope), now, is_sound=is_sound)
        assert all(count <= 2 for count in self.reader.crashed.values()), self.reader.crashed

    async def check_reads(self, *views: View) -> None:
        """Read these views and compare them with the board."""
        for view in views:
            status, document = await self.readers.read(view)
            self.seen[f"read {status}"] += 1
            snapshot, name = self.snapshot, view[1]
            books = [snapshot.books[one] for one in NAMES if name in {None, one}]
            assert (status == 200) == any(book.is_serving for book in books), f"{view}: {status}"
            if status == 200:
                body = msgspec.json.encode(document["matches"])
                assert expected(view, snapshot) == body, f"{view}: the body is not the board"
                self.say(f"{view[0]} {name} {document['version'] - self._first_version} {zlib.crc32(body)}")

    async def check_in_time(self) -> None:
        """Read everything while anything may be under way: nothing is past its deadline."""
        snapshot = await self.system.published.read()
        now = self.clock.now()
        for (bookmaker, scope), belief in self.beliefs().items():
            belief.check_in_time(_rows(snapshot.books[bookmaker], scope), now)

    async def check_changes(self, view: BookmakerId | None) -> None:
        """Follow the changes of a view and compare the copy with the list."""
        snapshot = await self.system.published.read()
        copy = await self.readers.follow(view, snapshot.epoch)
        self.seen["followed"] += copy.version >= 0
        if copy.version >= 0:
            assert f"[{copy.matches.decode()}]".encode() == expected(("/api/v2/odds", view), snapshot)
            self.say(f"changes {view} {copy.version - self._first_version}")

    def poison(self, bookmaker: BookmakerId, scope: Scope) -> None:
        """Publish a batch that crashes the board."""
        self.doubt_all()
        kills, self.kills = self.kills, Counter()
        self.system.bus.publish(poison(bookmaker, scope, self.clock.now().mono))
        self.kills = kills

    def beliefs(self) -> dict[tuple[BookmakerId, Scope], Belief]:
        """Return what may be shown, by bookmaker and scope."""
        return {**self.site.beliefs, (CEDAR, TICKED): self.ticked}

    def _on_tick(self, rows: Rows) -> None:
        now = self.clock.now()
        self.ticked.given.append((-1, rows))
        if self.ticked.is_sure:
            self.ticked.take(rows, -1, now.mono, now)
        else:
            self.ticked.vouched_mono = now.mono

    def _on_commit(self) -> None:
        """Check what holds between two commits: versions, and views that did not change."""
        new, old = self.snapshot, self._last
        assert new.epoch == old.epoch
        assert new.version > old.version, f"version {new.version} after {old.version}"
        for name, book in new.books.items():
            before = old.books[name]
            if book.chunks == before.chunks:
                versions = (book.v1_version, book.v2_version) == (before.v1_version, before.v2_version)
                assert versions, f"{name} has another version with the same entries"
        self._last = new
        self.seen["commits"] += 1
        counts = " ".join(str(book.count) for book in new.books.values())
        self.say(f"commit {new.version - self._first_version} {counts}")

    def _kill(self, batch: Batch) -> None:
        if self.kills[batch.bookmaker]:
            self.kills[batch.bookmaker] -= 1
            self.doubt_all()
            self.site.tainted.update(one.given[-1][0] for one in self.site.beliefs.values() if one.given)
            self.seen["kills"] += 1
            raise RuntimeError("killed")

    def _system(self) -> System:
        polled = PolledOptions(
            kind=POLLED, url="http://127.0.0.1:9", poll_interval_s=POLL_S, timeout_s=TIMEOUT_S
        )
        ticking = SourceOptions(kind=TICKING, stale_after_s=TICKED_STALE_S)
        bookmakers = {ALDER: (POLLED, "A"), BIRCH: (POLLED, "B"), CEDAR: (TICKING, "C")}
        settings = Settings(
            ServerSettings(),
            RULES,
            {
                POLLED: SourceSettings(self.reader.kind(), polled),
                TICKING: SourceSettings(self.ticker.kind(), ticking),
            },
            {name: BookmakerSettings(*bookmakers[name], NAMES[name]) for name in NAMES},
            HistoryLimits(max_changes=150),
        )
        return System(
            settings, self.clock, self.random, transports={POLLED: self.site.connect}, tick_s=TICK_S
        )


@asynccontextmanager
async def running(world: World) -> AsyncIterator[None]:
    """Run the service within the block."""
    async with anyio.create_task_group() as tasks:
        await tasks.start(world.system.supervisor.run)
        yield
        await world.system.supervisor.stop()
        await world.audience.leave()
        tasks.cancel_scope.cancel()


@contextmanager
def work_clock(random: Random) -> Iterator[None]:
    """Make the clock that budgets of work are read from random: computations pause at random places."""
    real, at = time.perf_counter, 0.0

    def read() -> float:
        nonlocal at
        if random.random() < 0.02:
            at += 0.002
        return at

    time.perf_counter = read
    try:
        yield
    finally:
        time.perf_counter = real


def jump(seconds: float) -> None:
    """Let that much time pass at once, as while the process is stopped."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    loop.jump(seconds)


async def pass_to(mono: float) -> None:
    """Let time pass up to that second of the loop, until nothing is under way."""
    await anyio.sleep(mono - anyio.current_time())
    await settle()


def _rows(book: Book, scope: Scope) -> Rows:
    return {
        entry.match.source_match_id: (
            entry.match.home,
            entry.match.away,
            entry.match.league,
            (entry.match.home_price, entry.match.draw_price, entry.match.away_price),
            entry.match.start_time,
        )
        for chunk in book.chunks
        for entry in chunk.entries
        if entry.scope == scope
    }
