"""The source kind `simulated`: football odds that nobody offers, computed from a seed.

It must not read a clock, sleep, or draw from a shared random generator: its content depends only on the
options and the time, not on its start (except that it is never away in its first five minutes).
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heapify, heapreplace
from random import Random
from typing import Annotated

from msgspec import Meta

from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.core.errors import SourceError
from actors.core.messages import Extract, Scope, SourceMatchId
from actors.markets.market import Kind as MarketKind
from actors.source_api.kinds import TickingKind
from actors.source_api.options import Markets, SourceOptions
from actors.sources.simulated.bookmaker import MAX_LAG_MS, PRICING_SLICE, Bookmaker, Boost, Listing, State
from actors.sources.simulated.goals import outlook_of
from actors.sources.simulated.names import Spelling, spelled
from actors.sources.simulated.world import World

MAX_UPDATES = 20_000  # updates in an `advance`; if more are due, the oldest are left out
# The length of an absence, and the earliest time of the first after the start.
_AWAY_MS, _FIRST_AWAY_MS = 60_000, 300_000
_TRIES, _OPEN = 100, (0.36, 0.62)  # slots tried for a boost, and the range of its outcome's probability

# The first letter of a source's ids, and the bits that are flipped in the number of a slot.
_IDS = {Spelling.PLAIN: ("s", 0), Spelling.SHORT: ("x", 173_561), Spelling.FORMAL: ("m", 94_207)}


class SimulatedOptions(SourceOptions, frozen=True, kw_only=True):
    """Options of a simulated source: matches listed at a time, and price updates a second over all."""

    seed: Annotated[int, Meta(description="The world's number; equal seeds have the same matches.")] = 1
    matches: Annotated[int, Meta(ge=1, le=250_000, description="Matches listed at a time.")] = 240
    updates_per_s: Annotated[
        float, Meta(gt=0, le=100_000, description="Price changes a second, over all matches.")
    ] = 20.0
    spelling: Annotated[Spelling, Meta(description="How ids and names are written.")] = Spelling.PLAIN
    coverage: Annotated[
        float, Meta(gt=0, le=1, description="The share of the matches that each bookmaker lists.")
    ] = 1.0
    away_every_s: Annotated[
        Annotated[float, Meta(ge=300, le=1e9)] | None,
        Meta(description="Seconds from one pause of a minute to the next; not set, there are none."),
    ] = None
    boost_every_s: Annotated[
        Annotated[float, Meta(ge=10, le=1e9)] | None,
        Meta(
            description="The seconds for which a bookmaker offers more than the fair price for an outcome"
            " of a future match, then for another; not set, it never does."
        ),
    ] = None
    markets: Markets = (MarketKind.ONE_X_TWO,)


def check_key(key: str) -> None:
    """Raise ValueError unless `key` belongs to a simulated bookmaker."""
    Bookmaker(key, seed=0)


class SimulatedMachine:
    """A simulated source stepped by the clock, with one bookmaker for each of `keys`, checked before.

    A match is removed as `suspended` for 40 s after a goal and while it is nearly decided, and as
    `finished` 115 minutes after its kick-off, when another match takes its place. The work of a call is
    proportional to the due updates, or to the number of matches if more than `MAX_UPDATES` are due.
    """

    def __init__(self, options: SimulatedOptions, keys: tuple[str, ...], now: Instant) -> None:
        self.scope = Scope("simulated")
        self.interval_s = min(1.0, max(0.1, 1.0 / options.updates_per_s))
        self._options = options
        self._start = now
        self._at = 0  # in milliseconds, like all times here
        self._world = World(options.seed, options.matches, options.updates_per_s)
        self._blanks = Random(f"{options.seed}/blanks").sample(range(50), 3)
        self._bookmakers = [
            Bookmaker(key, options.seed, options.coverage, options.kinds) for key in dict.fromkeys(keys)
        ]
        self._boosts: dict[str, tuple[int, Boost | None]] = {}  # by key: the period and its boost
        self._calendar: list[tuple[int, int, Listing]] = []  # a heap of the next moment of each slot

    def image(self) -> Mapping[str, Extract]:
        """Return every key's list as of the last `advance`; the removals are suspended matches."""
        return {bookmaker.key: bookmaker.image() for bookmaker in self._bookmakers}

    def advance(self, now: Instant) -> Sliced[Mapping[str, Extract]]:
        """Return every key's changes up to `now` by the monotonic clock; the first call returns all.

        Raises: SourceError while the source is away.
        """
        at = round(1000 * (self._start.wall + now.mono - self._start.mono))
        self._check_presence(at)
        appeared: dict[int, State] = {}
        if not self._calendar or (at - self._at) / 1000 * self._options.updates_per_s > MAX_UPDATES:
            appeared = yield from self._look_at_all(at)
        self._at = max(at, self._at)
        yield from self._follow(self._at, appeared)
        changes: dict[str, Extract] = {}
        for bookmaker in self._bookmakers:
            boost = self._boost(bookmaker, self._at)
            changes[bookmaker.key] = yield from bookmaker.update(appeared, self._at, boost)
        return changes

    def _boost(self, bookmaker: Bookmaker, at: int) -> Boost | None:
        """Return a bookmaker's boost, if any: the likeliest outcome of an open future match."""
        if self._options.boost_every_s is None:
            return None
        every = round(1000 * self._options.boost_every_s)
        period = at // every
        if (known := self._boosts.get(bookmaker.key)) is not None and known[0] == period:
            return known[1]
        draw, found = Random(f"{self._options.seed}/boost/{bookmaker.key}/{period}"), None
        for _ in range(_TRIES):
            slot, begins = draw.randrange(self._options.matches), period * every
            fixture = self._world.fixture(slot, begins)
            chances = self._world.probabilities(fixture, begins)
            is_coming = fixture.listed_at < begins and begins + every < fixture.kickoff
            if is_coming and chances is not None and bookmaker.lists(slot, fixture.number):
                likeliest = max(chances)
                if _OPEN[0] <= likeliest <= _OPEN[1]:
                    found = Boost(slot, chances.index(likeliest))
                    break
        self._boosts[bookmaker.key] = period, found
        return found

    def _look_at_all(self, at: int) -> Sliced[dict[int, State]]:
        """Begin anew at a time before `at` that all bookmakers have seen; return the states then."""
        self._at = at - min(MAX_LAG_MS, int(1000 * MAX_UPDATES / self._options.updates_per_s))
        calendar: list[tuple[int, int, Listing]] = []
        states: list[State] = []
        for slot in range(self._options.matches):
            if slot % PRICING_SLICE == 0:
                yield
            listing = self._listing(slot, self._at)
            changed_at, changes_at = self._world.moments(listing.fixture, self._at)
            calendar.append((changes_at, slot, listing))
            states.append(self._state(slot, listing, changed_at))
        yield
        heapify(calendar)
        self._calendar = calendar
        for bookmaker in self._bookmakers:
            bookmaker.pending.clear()
        yield
        states.sort(key=lambda state: (state.listing.fixture.listed_at, state.slot))
        yield
        return {state.slot: state for state in states}

    def _follow(self, until: int, appeared: dict[int, State]) -> Sliced[None]:
        """Add newly listed matches up to `until` to `appeared`; queue other changes for the bookmakers."""
        moments = 0
        while self._calendar[0][0] <= until:
            moments += 1
            if moments % PRICING_SLICE == 0:
                yield
            at, slot, listing = self._calendar[0]
            if at == listing.fixture.end:
                listing = self._listing(slot, at)
                appeared.pop(slot, None)  # keeps the order of appearance
                appeared[slot] = self._state(slot, listing, at)
            else:
                state = self._state(slot, listing, at)
                for bookmaker in self._bookmakers:
                    bookmaker.expect(at, state)
            _, changes_at = self._world.moments(listing.fixture, at)
            heapreplace(self._calendar, (changes_at, slot, listing))

    def _state(self, slot: int, listing: Listing, at: int) -> State:
        fair = self._world.probabilities(listing.fixture, at)
        has_others = len(self._options.kinds) > 1
        outlook = outlook_of(self._world, listing.fixture, at) if has_others else None
        return State(slot, listing, fair, outlook)

    def _listing(self, slot: int, at: int) -> Listing:
        fixture, spelling = self._world.fixture(slot, at), self._options.spelling
        first, changed_bits = _IDS[spelling]
        # Times of listing are multiples of five minutes, so that ids are unique.
        match_id = SourceMatchId(f"{first}{fixture.listed_at // 300_000:07d}{slot ^ changed_bits:06d}")
        # By slot, so that the successor of a match lacks the same values.
        no_league, no_start, no_name = self._blanks
        nameless = (fixture.away, fixture.home)[fixture.number % 2] if slot % 200 == no_name else None
        teams = fixture.home, fixture.away
        home, away = ("" if team is nameless else spelled(team.name, spelling) for team in teams)
        league = None if slot % 50 == no_league else spelled(fixture.slot.league, spelling)
        start_time = None if slot % 50 == no_start else fixture.kickoff // 1000
        return Listing(fixture, match_id, home, away, league, start_time)

    def _check_presence(self, at: int) -> None:
        if self._options.away_every_s is None:
            return
        every = round(1000 * self._options.away_every_s)
        period, passed = divmod(at, every)
        names = ",".join(bookmaker.key for bookmaker in self._bookmakers)
        draw = Random(f"{self._options.seed}/away/{self._options.spelling}/{names}/{period}")
        begins = draw.randrange(every - _AWAY_MS)
        since_start = period * every + begins - 1000 * self._start.wall
        if begins <= passed < begins + _AWAY_MS and since_start >= _FIRST_AWAY_MS:
            raise SourceError(f"away for another {(begins + _AWAY_MS - passed) / 1000:.0f} s", "away")


KIND = TickingKind("simulated", SimulatedOptions, check_key, SimulatedMachine)
