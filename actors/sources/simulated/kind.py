"""The source kind `simulated`: football odds that nobody offers, computed from a seed.

A ticking kind beside the polled ones: the machine below lists matches and moves their prices, the
actor that runs it brings the time. It must not look at a clock, sleep, or draw from a shared
random generator. What happens depends on the options and on the time alone, never on how often
`advance` is called nor on who else is priced: fixtures and drifting prices have random numbers of
their own, drawn in the order of simulated time, and a bookmaker's opinion is a digest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Annotated

from msgspec import Meta

from actors.core.clock import Instant
from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import Extract, Match, Removal, Scope, SourceMatchId
from actors.source_api.kinds import TickingKind
from actors.source_api.options import SourceOptions
from actors.sources.simulated.prices import Book, Labels, Offer, Triple, open_book, quote
from actors.sources.simulated.world import Fixture, World

MAX_UPDATES = 20_000
"""Most price updates that one `advance` computes; of more, the oldest are left out."""

_SLICE = 32
"""Matches priced between two yields: each takes some ten microseconds."""

_SHARE_IN_PLAY = 0.08
_UPDATES_IN_PLAY = 0.5
_STEP_UPCOMING, _STEP_IN_PLAY = 0.008, 0.02  # the widest, of the logarithm of a goal rate


class SimulatedOptions(SourceOptions, frozen=True, kw_only=True):
    """Options of a simulated source: matches listed at a time, and price updates a second in all."""

    seed: int = 1
    matches: Annotated[int, Meta(ge=1, le=250_000)] = 240
    updates_per_s: Annotated[float, Meta(gt=0, le=100_000)] = 20.0


def check_key(key: str) -> None:
    """Check a bookmaker key: a style of pricing, and a number to tell bookmakers of one style apart.

    Raises: ValueError, saying what was found and what is allowed.
    """
    open_book(key, seed=0)


class SimulatedMachine:
    """A simulated source stepped by the clock, with one book for each of `keys`, checked before.

    Update k falls k / `updates_per_s` seconds after the start and moves one match in every book.
    A match is removed as `suspended` for 40 s after a goal and while it is as good as decided, and
    as `finished` 115 minutes after kick-off, when another takes its place.

    Fixtures, ids, kick-offs, goals and ends up to a time depend on options and start alone. So do
    prices, unless more than `MAX_UPDATES` updates fell due between two calls: then they are others,
    equally good. The work of a call is in proportion to the updates due, at most `MAX_UPDATES`, and
    to the kick-offs, goals and ends since the last: an hour brings about three for ten matches.
    """

    def __init__(self, options: SimulatedOptions, keys: tuple[str, ...], now: Instant) -> None:
        self.scope = Scope("simulated")
        self.interval_s = min(1.0, max(0.1, 1.0 / options.updates_per_s))
        self._start_mono = now.mono
        self._listing = _Listing(options, now.wall)
        self._books = tuple(open_book(key, options.seed) for key in dict.fromkeys(keys))
        self._shown: dict[str, dict[SourceMatchId, Match]] = {book.key: {} for book in self._books}
        self._fair: dict[SourceMatchId, Triple | None] = {}
        self._unreported: Iterable[SourceMatchId] = tuple(self._listing.offers)

    def image(self) -> Sliced[Mapping[str, Extract]]:
        """Return the complete list of every key as of the last `advance`, in order of appearance.

        The removals name the matches that are suspended and may come back.
        """
        order = tuple(self._listing.offers)
        suspended = tuple(Removal(name, "suspended") for name in order if self._fair[name] is None)
        lists: dict[str, Extract] = {}
        for key, shown in self._shown.items():
            matches: list[Match] = []
            for at in range(0, len(order), SLICE):
                yield
                matches += [shown[name] for name in order[at : at + SLICE] if name in shown]
            lists[key] = Extract(tuple(matches), suspended)
        return lists

    def advance(self, now: Instant) -> Sliced[Mapping[str, Extract]]:
        """Move on to `now` and give every key its changes, empty if there are none; the first gives all.

        Only the monotonic clock counts; a time before the last call's changes nothing.
        """
        touched = dict.fromkeys(self._unreported)
        self._unreported = ()
        touched |= yield from self._listing.run(now.mono - self._start_mono)
        return (yield from self._report(touched))

    def _report(self, touched: Iterable[SourceMatchId]) -> Sliced[dict[str, Extract]]:
        priced: list[tuple[Offer, Triple]] = []
        removals: list[Removal] = []
        for number, name in enumerate(touched):
            if number % _SLICE == 0:
                yield
            was_reported, before = name in self._fair, self._fair.pop(name, None)
            offer = self._listing.offers.get(name)
            if offer is None:
                if was_reported:
                    removals.append(Removal(name, "finished"))
                continue
            fair = self._fair[name] = offer.fair()
            if fair is not None:
                priced.append((offer, fair))
            elif before is not None or not was_reported:
                removals.append(Removal(name, "suspended"))
        changes: dict[str, Extract] = {}
        for book in self._books:
            changes[book.key] = yield from self._changes(book, priced, tuple(removals))
        return changes

    def _changes(
        self, book: Book, priced: list[tuple[Offer, Triple]], removals: tuple[Removal, ...]
    ) -> Sliced[Extract]:
        shown = self._shown[book.key]
        for removal in removals:
            shown.pop(removal.source_match_id, None)
        changed: list[Match] = []
        for number, (offer, fair) in enumerate(priced):
            if number % _SLICE == 0:
                yield
            match = offer.match(quote(book, offer.name, fair))
            if match != shown.get(offer.name):
                shown[offer.name] = match
                changed.append(match)
        return Extract(tuple(changed), removals)


class _Pool:
    """Offers to choose from; adding, removing and choosing take the same time at any size."""

    def __init__(self) -> None:
        self.offers: list[Offer] = []
        self._places: dict[SourceMatchId, int] = {}

    def add(self, offer: Offer) -> None:
        self._places[offer.name] = len(self.offers)
        self.offers.append(offer)

    def remove(self, offer: Offer) -> None:
        last = self.offers.pop()
        place = self._places.pop(offer.name)
        if last is not offer:
            self.offers[place] = last
            self._places[last.name] = place


class _Listing:
    """The matches on offer, with the calendar and the price updates that change them."""

    def __init__(self, options: SimulatedOptions, start: float) -> None:
        self.offers: dict[SourceMatchId, Offer] = {}
        self._start = start
        self._updates_per_s = options.updates_per_s
        self._update = 1
        self._numbers = count(1)
        self._random = Random(f"{options.seed}/updates")
        self._blanks = Random(f"{options.seed}/blanks").sample(range(50), 3)
        self._world = World(options.seed, options.matches)
        self._upcoming, self._in_play = _Pool(), _Pool()
        self._calendar: list[tuple[float, SourceMatchId]] = []
        in_play = round(_SHARE_IN_PLAY * options.matches)
        for slot in range(options.matches):
            draw = self._world.draw_in_play if slot < in_play else self._world.draw_upcoming
            self._open(draw(slot, start), start)

    def run(self, elapsed_s: float) -> Sliced[dict[SourceMatchId, None]]:
        """Move on, and name what may have changed, appeared or ended, once each."""
        until = self._start + elapsed_s
        touched: dict[SourceMatchId, None] = {}
        self._update = max(self._update, int(elapsed_s * self._updates_per_s) - MAX_UPDATES + 1)
        while (at := self._start + self._update / self._updates_per_s) <= until:
            self._keep_calendar(at, touched)
            touched[self._move_one(at)] = None
            self._update += 1
            if self._update % SLICE == 0:
                yield
        self._keep_calendar(until, touched)
        return touched

    def _move_one(self, at: float) -> SourceMatchId:
        draw = self._random.random
        pool, step = self._upcoming.offers, _STEP_UPCOMING
        if self._in_play.offers and (draw() < _UPDATES_IN_PLAY or not pool):
            pool, step = self._in_play.offers, _STEP_IN_PLAY
        offer = pool[int(draw() * len(pool))]
        offer.drift(at, step * (2.0 * draw() - 1.0), step * (2.0 * draw() - 1.0))
        return offer.name

    def _keep_calendar(self, until: float, touched: dict[SourceMatchId, None]) -> None:
        while self._calendar[0][0] <= until:
            at, name = heappop(self._calendar)
            offer = self.offers[name]
            touched[name] = None
            if at >= offer.fixture.end:
                touched[self._replace(offer, at)] = None
            else:
                if offer.at < offer.fixture.kickoff <= at:
                    self._upcoming.remove(offer)
                    self._in_play.add(offer)
                offer.at = at
                heappush(self._calendar, (offer.fixture.next_moment(at), name))

    def _open(self, fixture: Fixture, at: float) -> SourceMatchId:
        name = SourceMatchId(f"s{next(self._numbers):06d}")
        offer = self.offers[name] = Offer(name, fixture, self._labels(fixture), at)
        (self._in_play if fixture.kickoff <= at else self._upcoming).add(offer)
        heappush(self._calendar, (fixture.next_moment(at), name))
        return name

    def _replace(self, over: Offer, at: float) -> SourceMatchId:
        del self.offers[over.name]
        self._in_play.remove(over)
        self._world.release(over.fixture)
        return self._open(self._world.draw_upcoming(over.fixture.slot, at), at)

    def _labels(self, fixture: Fixture) -> Labels:
        # By slot, so that the successor of a match with something missing misses the same.
        no_league, no_start, no_name = self._blanks
        home, away = fixture.home.name, fixture.away.name
        if fixture.slot % 200 == no_name:
            home, away = (home, "") if fixture.home.strength < fixture.away.strength else ("", away)
        league = None if fixture.slot % 50 == no_league else fixture.league.name
        return home, away, league, None if fixture.slot % 50 == no_start else fixture.kickoff


KIND = TickingKind("simulated", SimulatedOptions, check_key, SimulatedMachine)
