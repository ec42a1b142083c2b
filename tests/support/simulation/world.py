"""The simulated service: real actors, board and front end; scripted bookmakers, virtual time, one seed.

Every random choice comes from the seed, also where a long computation pauses, so that the same seed gives
the same log.
"""

from __future__ import annotations

import time
import zlib
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from math import inf
from random import Random

import anyio
import msgspec

from actors.board.history import HistoryLimits
from actors.board.snapshot import Book, Snapshot
from actors.board.validity import BoardRules
from actors.core.cooperative import Sliced, run_now
from actors.core.messages import Batch, BookmakerId, Failure, Scope, SourceName
from actors.matches.model import FixtureView, fixtures_of
from actors.matching.event import Event, EventKey
from actors.matching.matcher import GroupChanges, Matcher
from actors.matching.overrides import Overrides
from actors.monitoring.metrics import Counts, Metrics
from actors.runtime.actor import ActorState
from actors.service.settings import BookmakerSettings, ServerSettings, Settings, SourceSettings
from actors.source_api.options import PolledOptions, SourceOptions
from tests.support.builders.hostile import poison
from tests.support.simulation.fixture_readers import FixtureReaders
from tests.support.simulation.linked import FixtureRules, check_surebets
from tests.support.simulation.model import Belief
from tests.support.simulation.offers import AGAIN, NAMES, TICKED, Calendar, Reader, Rows, Ticker
from tests.support.simulation.readers import Readers, View, expected
from tests.support.simulation.site import POLL_S, TIMEOUT_S, Site
from tests.support.systems.virtual_service import VirtualService
from tests.support.time.virtual import VirtualClock

POLLED = SourceName("lists")
CEDAR, ALDER, BIRCH, DOGWOOD = NAMES
OF_KEY = {"A": ALDER, "B": BIRCH}
TICKING = {CEDAR: (SourceName("ticker"), TICKED), DOGWOOD: (SourceName("again"), AGAIN)}
TICKED_STALE_S = 300.0
TICK_S = 60.0
"""Longer than in production: idle turns of the aggregator are most of a day's work."""
RULES = BoardRules(max_matches=120)
ROOMY = 70
"""The most matches of a bookmaker without invented matches."""
KEPT_LINES = 60


class Breakable(Counts):
    """A record of the aggregator; when `is_broken`, the next note of a turn crashes the actor, once."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(Metrics().counts["oddsboard_batches_total"])
        self.is_broken = False
        self.crashed_mono = -inf
        self._clock = clock

    def add(self, *values: str, number: int = 1) -> None:
        """Count an event."""
        if self.is_broken:
            self.is_broken, self.crashed_mono = False, self._clock.now().mono
            raise RuntimeError("the record is broken")
        super().add(*values, number=number)


class Fragile(Matcher):
    """A linker that crashes during its work as often as its world says; it knows its events."""

    def __init__(self, world: World) -> None:
        super().__init__(world.system.review.overrides)
        self.events: dict[EventKey, Event] = {}
        self._world = world

    def update(self, changed: Iterable[Event], gone: Iterable[EventKey] = ()) -> Sliced[GroupChanges]:
        """Link, or raise before the end."""
        changed, gone = [*changed], [*gone]
        self.events = {key: event for key, event in self.events.items() if key not in {*gone}}
        self.events |= {event.key: event for event in changed}
        made = super().update(changed, gone)
        if not self._world.link_crashes:
            return (yield from made)
        self._world.link_crashes -= 1
        for _ in zip(made, range(self._world.random.randrange(50)), strict=False):
            yield
        raise RuntimeError("the linker broke")

    def linked(self) -> set[tuple[EventKey, ...]]:
        """Return the present groups."""
        return {
            tuple(sorted(member.key for member in group))
            for key in self.keys()
            if (group := self.group(key))
        }


class World(VirtualService):
    """The service, its bookmakers and readers; `say` writes the log, `seen` counts what happened.

    `link_crashes` are crashes of the linker to come.
    """

    def __init__(self, seed: int) -> None:
        self.random, clock = Random(seed), VirtualClock()
        calendar = Calendar(self.random)
        self.tickers = {name: Ticker(self.random, calendar, scope) for name, (_, scope) in TICKING.items()}
        self.reader = Reader()
        self.site = Site(self.random, clock, OF_KEY, calendar)
        self.site.on_crash = self.doubt_all
        self.ticked = {name: Belief(name, TICKED_STALE_S) for name in TICKING}
        for name, ticker in self.tickers.items():
            ticker.on_tick = partial(self._on_tick, name)
        self.link_crashes = 0
        super().__init__(
            self._settings(),
            clock=clock,
            random=self.random,
            transports={POLLED: self.site.connect},
            linker=lambda: Fragile(self),
            tick_s=TICK_S,
        )
        published = self.system.published
        published.history.subscribe(lambda _: self._on_commit())
        self.fixture_rules = FixtureRules(published.newest, NAMES, clock)
        published.follow(self.fixture_rules.take)
        self.readers = Readers(self.app, self.random, NAMES)
        self.fixture_readers = FixtureReaders(self.app, self.random, NAMES)
        self.records = Breakable(self.clock)
        self.system.status.board.verdicts = self.records
        self.seen: Counter[str] = Counter()
        self.lines: deque[str] = deque(maxlen=KEPT_LINES)
        self.digest = blake2b(digest_size=16)
        self._first_version = self.system.shown.newest.version
        self._last: Snapshot = published.newest

    def say(self, event: str) -> None:
        """Write a line of the log."""
        line = f"{self.clock.now().mono:.6f} {event}"
        self.lines.append(line)
        self.digest.update(line.encode() + b"\n")

    def doubt_all(self) -> None:
        """Note a crash: the model does not know which answers a crash loses."""
        for belief in self.beliefs().values():
            belief.is_sure = False

    def check(self) -> None:
        """Compare the board with what the bookmakers offered, when nothing is under way."""
        now, snapshot = self.clock.now(), self.snapshot
        assert self.fixture_rules.broken is None, self.fixture_rules.broken
        self.check_links()
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
            books = [snapshot.books[bookmaker] for bookmaker in NAMES if name in {None, bookmaker}]
            assert (status == 200) == any(book.is_serving for book in books), f"{view}: {status}"
            if status == 200:
                body = msgspec.json.encode(document["matches"])
                assert expected(view, snapshot, NAMES) == body, f"{view}: the body is not the board"
                self.say(f"{view[0]} {name} {document['version'] - self._first_version} {zlib.crc32(body)}")

    def check_links(self, *, from_nothing: bool = False) -> None:
        """Compare the fixtures with the linker's groups, when nothing is under way.

        If `from_nothing`, another linker with equal events, memory and overrides must make equal groups.
        """
        linker, state = self.system.review.matcher, fixtures_of(self.snapshot)
        if (
            not isinstance(linker, Fragile)
            or self.system.status.links.actor.state is not ActorState.RUNNING
            or self.system.review.turn.locked()
        ):
            return
        found = {
            tuple(sorted(m.key for m in fixture.members)) for fixture in state if len(fixture.members) > 1
        }
        assert sorted(state.by_event) == sorted(linker.events), "the linker has other events"
        assert found == linker.linked(), "fixtures are not the linker's groups"
        if from_nothing:
            self.seen["linked anew"] += 1
            other = Fragile(self)
            run_now(Matcher.update(other, sorted(linker.events.values(), key=lambda event: event.key)))
            assert found == other.linked(), "from nothing there are other groups"

    async def check_fixtures(self, *views: FixtureView) -> None:
        """Read these views, compare them with the fixtures, and follow their changes."""
        await self.fixture_readers.read_form()
        for view in views:
            seen = await self.fixture_readers.read(view)
            state = fixtures_of(self.snapshot)
            if seen is not None:
                assert self.fixture_rules.shown(view, state) == seen.fixtures, f"{view} is not the fixtures"
                self.say(f"{view.kind} {view.bookmaker} {seen.version - self._first_version}")
            oldest = self.system.fixture_history.oldest(view)
            await self.fixture_readers.resume(view, self.snapshot.epoch, oldest)

    async def hold_links(self, seconds: float) -> None:
        """Have the linker wait for some seconds: events that come and go meanwhile reach it together."""
        async with self.system.review.turn:
            await anyio.sleep(seconds)

    def take_links(self, overrides: Overrides) -> None:
        """Have the service link by a file of links with this content."""
        self.system.replace_links(overrides)

    async def check_in_time(self) -> None:
        """Read everything while anything may be under way: nothing is past its deadline."""
        snapshot = await self.system.published.read()
        now = self.clock.now()
        check_surebets(snapshot, now)
        for (bookmaker, scope), belief in self.beliefs().items():
            belief.check_in_time(_rows(snapshot.books[bookmaker], scope), now)

    async def check_changes(self, view: BookmakerId | None) -> None:
        """Follow the changes of a view and compare the copy with the list."""
        snapshot = await self.system.published.read()
        copy = await self.readers.follow(view, snapshot.epoch)
        self.seen["followed"] += copy.version >= 0
        if copy.version >= 0:
            assert b"[%b]" % copy.matches == expected(("/api/v2/odds", view), snapshot, NAMES)
            self.say(f"changes {view} {copy.version - self._first_version}")

    def poison(self, bookmaker: BookmakerId, scope: Scope) -> None:
        """Publish a batch that crashes the board."""
        self.doubt_all()
        kills, self.kills = self.kills, Counter[str]()
        self.system.bus.publish(poison(bookmaker, scope, self.clock.now().mono))
        self.kills = kills

    def beliefs(self) -> dict[tuple[BookmakerId, Scope], Belief]:
        """Return the lists that may be shown, by bookmaker and scope."""
        return {
            **self.site.beliefs,
            **{(name, TICKING[name][1]): belief for name, belief in self.ticked.items()},
        }

    def _on_tick(self, name: BookmakerId, rows: Rows) -> None:
        now, belief = self.clock.now(), self.ticked[name]
        belief.given.append((-1, rows))
        if belief.is_sure:
            belief.take(rows, -1, now.mono, now)
        else:
            belief.vouched_mono = now.mono

    def _on_commit(self) -> None:
        """Check what holds between two commits: versions, and views that did not change."""
        is_whole = self.random.random() < 1 / 2  # otherwise the aggregator makes fixtures during reads
        new, old = self.snapshot if is_whole else self.system.published.newest, self._last
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

    def _take(self, batch: Batch | Failure) -> None:
        if isinstance(batch, Batch) and self.kills[batch.bookmaker]:
            self.kills[batch.bookmaker] -= 1
            self.doubt_all()
            self.site.tainted.update(
                belief.given[-1][0] for belief in self.site.beliefs.values() if belief.given
            )
            self.seen["kills"] += 1
            raise RuntimeError("killed")

    def _settings(self) -> Settings:
        polled = PolledOptions(
            kind=POLLED, url="http://127.0.0.1:9", poll_interval_s=POLL_S, timeout_s=TIMEOUT_S
        )
        sources = {POLLED: SourceSettings(self.reader.kind(), polled)}
        bookmakers = {ALDER: BookmakerSettings(POLLED, "A"), BIRCH: BookmakerSettings(POLLED, "B")}
        for name, (source, _) in TICKING.items():
            options = SourceOptions(kind=source, stale_after_s=TICKED_STALE_S)
            sources[source] = SourceSettings(self.tickers[name].kind(), options)
            bookmakers[name] = BookmakerSettings(source, "C")
        return Settings(
            ServerSettings(),
            RULES,
            sources,
            {name: msgspec.structs.replace(bookmakers[name], name=shown) for name, shown in NAMES.items()},
            HistoryLimits(max_changes=150),
        )


@contextmanager
def work_clock(random: Random) -> Iterator[None]:
    """Make the clock of work budgets return random times: computations pause at random places."""
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
