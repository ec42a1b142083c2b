"""The source kind `simulated`: football odds that nobody offers, computed from a seed.

A ticking kind: the machine below prices the matches of the simulated world for its bookmakers, the
actor that runs it brings the time. It must not look at a clock, sleep, or draw random numbers: what it
shows depends on the options and the time alone, not on when it was started or how often it is called.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from heapq import heapify, heapreplace
from random import Random
from typing import Annotated

from msgspec import Meta

from actors.core.clock import Instant
from actors.core.cooperative import SLICE, Sliced
from actors.core.errors import SourceError
from actors.core.messages import Extract, Scope
from actors.source_api.kinds import TickingKind
from actors.source_api.options import SourceOptions
from actors.sources.simulated.book import Book, Listing, State
from actors.sources.simulated.bookmaker import LAG_STEP_MS, MAX_LAG, Bookmaker
from actors.sources.simulated.spelling import Spelling
from actors.sources.simulated.world import Fixture, World

MAX_UPDATES = 20_000
"""Most price updates that one `advance` follows; if more are due, the oldest are left out."""

AWAY_MS = 60_000
"""How long an absence lasts."""

FIRST_AWAY_MS = 300_000
"""No absence begins sooner after the start."""


class SimulatedOptions(SourceOptions, frozen=True, kw_only=True):
    """Options of a simulated source: matches listed at a time, and price updates a second in all.

    `coverage` is the share of these matches that each of its bookmakers lists. Once in each period of
    `away_every_s` seconds the source delivers nothing for a minute; without it, it is always there.
    """

    seed: int = 1
    matches: Annotated[int, Meta(ge=1, le=250_000)] = 240
    updates_per_s: Annotated[float, Meta(gt=0, le=100_000)] = 20.0
    spelling: Spelling = Spelling.PLAIN
    coverage: Annotated[float, Meta(gt=0, le=1)] = 1.0
    away_every_s: Annotated[float, Meta(ge=300, le=1e9)] | None = None


def check_key(key: str) -> None:
    """Check a bookmaker key: a style of pricing, and a number to tell bookmakers of one style apart.

    Raises: ValueError, saying what was found and what is allowed.
    """
    Bookmaker(key, seed=0)


class SimulatedMachine:
    """A simulated source stepped by the clock, with one book for each of `keys`, checked before.

    A match is removed as `suspended` for 40 s after a goal and while it is as good as decided, and
    as `finished` 115 minutes after kick-off, when another takes its place. What changes in the world
    waits in `_pending` for each bookmaker until that bookmaker sees it.

    The work of a call is in proportion to the updates that are due, at most `MAX_UPDATES`; if more are,
    all matches are looked at once instead.
    """

    def __init__(self, options: SimulatedOptions, keys: tuple[str, ...], now: Instant) -> None:
        self.scope = Scope("simulated")
        self.interval_s = min(1.0, max(0.1, 1.0 / options.updates_per_s))
        self._options = options
        self._start = now
        self._at = 0  # in milliseconds, as all times here
        self._world = World(options.seed, options.matches, options.updates_per_s)
        self._blanks = Random(f"{options.seed}/blanks").sample(range(50), 3)
        self._books = tuple(
            Book(Bookmaker(key, options.seed), self._world, options.coverage) for key in dict.fromkeys(keys)
        )
        self._listings: dict[int, Listing] = {}  # by slot, in order of appearance
        self._calendar: list[tuple[int, int]] = []  # next moment of each slot
        # By the step in which it is seen: number of the book, slot, state.
        self._pending: defaultdict[int, list[tuple[int, int, State]]] = defaultdict(list)

    def image(self) -> Sliced[Mapping[str, Extract]]:
        """Return the complete list of every key as of the last `advance`, in order of appearance.

        The removals name the matches that are suspended and may come back.
        """
        lists: dict[str, Extract] = {}
        for book in self._books:
            lists[book.bookmaker.key] = yield from book.image(self._listings)
        return lists

    def advance(self, now: Instant) -> Sliced[Mapping[str, Extract]]:
        """Move on to `now` and return every key's changes, empty if there are none; the first returns all.

        Only the monotonic clock counts; a time before the last call's changes nothing.

        Raises: SourceError while the source is away.
        """
        at = round(1000 * (self._start.wall + now.mono - self._start.mono))
        self._check_presence(at)
        states: dict[int, State] = {}
        updates = (at - self._at) / 1000 * self._options.updates_per_s
        if not self._listings or updates > MAX_UPDATES:
            states = yield from self._look_at_all(at)
        seen_before = self._at
        self._at = max(at, seen_before)
        yield from self._run_world(self._at, states)
        seen = [dict(states) for _ in self._books]
        for step in range(seen_before // LAG_STEP_MS, self._at // LAG_STEP_MS + 1):
            for index, slot, state in self._pending.pop(step, ()):
                if state.listing is self._listings[slot]:
                    seen[index][slot] = state
        changes: dict[str, Extract] = {}
        for book, newest in zip(self._books, seen, strict=True):
            changes[book.bookmaker.key] = yield from book.update(newest)
        return changes

    def _look_at_all(self, at: int) -> Sliced[dict[int, State]]:
        """Begin anew so long before `at` that all bookmakers have seen what was then, and return that."""
        since = at - min(MAX_LAG * LAG_STEP_MS, int(1000 * MAX_UPDATES / self._options.updates_per_s))
        listings: list[Listing] = []
        for slot in range(self._options.matches):
            if slot % SLICE == 0:
                yield
            listing = self._listings.get(slot)
            if listing is None or listing.fixture.end <= since:
                listing = self._listing(self._world.fixture(slot, since))
            listings.append(listing)
        listings.sort(key=lambda one: (one.fixture.listed_at, one.fixture.slot.number))
        self._listings = {one.fixture.slot.number: one for one in listings}
        self._at = since
        self._pending.clear()
        self._calendar.clear()
        states: dict[int, State] = {}
        for number, listing in enumerate(listings):
            if number % SLICE == 0:
                yield
            fixture = listing.fixture
            self._calendar.append((self._world.next_moment(fixture, since), fixture.slot.number))
            states[fixture.slot.number] = State(listing, self._world.last_moment(fixture, since))
        heapify(self._calendar)
        return states

    def _run_world(self, until: int, states: dict[int, State]) -> Sliced[None]:
        """Add to `states` the matches that appear; queue all else for the moment when it is seen."""
        calendar, pending, moments = self._calendar, self._pending, 0
        lags = [book.bookmaker.lag for book in self._books]
        while calendar[0][0] <= until:
            moments += 1
            if moments % SLICE == 0:
                yield
            at, slot = calendar[0]
            listing = self._listings[slot]
            if at >= listing.fixture.end:
                del self._listings[slot]
                listing = self._listings[slot] = self._listing(self._world.successor(listing.fixture))
                states.pop(slot, None)
                states[slot] = State(listing, at)
            else:
                state, step = State(listing, at), -(-at // LAG_STEP_MS)
                for index, lag in enumerate(lags):
                    pending[step + lag(slot)].append((index, slot, state))
            heapreplace(calendar, (self._world.next_moment(listing.fixture, at), slot))

    def _listing(self, fixture: Fixture) -> Listing:
        # By slot, so that the successor of a match with something missing misses the same.
        no_league, no_start, no_name = self._blanks
        slot, team = fixture.slot.number, "home" if fixture.number % 2 else "away"
        is_blank = {
            "league": slot % 50 == no_league,
            "start": slot % 50 == no_start,
            team: slot % 200 == no_name,
        }
        return Listing(fixture, self._options.spelling, {name for name, blank in is_blank.items() if blank})

    def _check_presence(self, at: int) -> None:
        if self._options.away_every_s is None:
            return
        every = round(1000 * self._options.away_every_s)
        period, passed = divmod(at, every)
        names = ",".join(book.bookmaker.key for book in self._books)
        draw = Random(f"{self._options.seed}/away/{self._options.spelling}/{names}/{period}")
        begins = draw.randrange(every - AWAY_MS)
        since_start = period * every + begins - 1000 * self._start.wall
        if begins <= passed < begins + AWAY_MS and since_start >= FIRST_AWAY_MS:
            raise SourceError(f"away for another {(begins + AWAY_MS - passed) / 1000:.0f} s", "away")


KIND = TickingKind("simulated", SimulatedOptions, check_key, SimulatedMachine)
"""What the registry knows of this module."""
