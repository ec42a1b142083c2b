"""What a simulated source lists, and what each of its bookmakers shows of it. Pure state, no clock."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import Extract, Match, Removal
from actors.sources.simulated.bookmaker import Bookmaker
from actors.sources.simulated.prices import Triple
from actors.sources.simulated.spelling import Spelling, league_name, match_id, team_name
from actors.sources.simulated.world import Fixture, World

_SLICE = 32
"""Matches priced between two yields: each takes some ten microseconds."""


class Listing:
    """A match as the source writes it; what is in `blanks` is left out."""

    __slots__ = ("away", "fixture", "home", "league", "match_id", "start_time")

    def __init__(self, fixture: Fixture, spelling: Spelling, blanks: Collection[str]) -> None:
        self.fixture = fixture
        self.match_id = match_id(fixture, spelling)
        self.home = "" if "home" in blanks else team_name(fixture.home.name, spelling)
        self.away = "" if "away" in blanks else team_name(fixture.away.name, spelling)
        self.league = None if "league" in blanks else league_name(fixture.slot.league, spelling)
        self.start_time = None if "start" in blanks else fixture.kickoff // 1000

    def match(self, prices: Triple) -> Match:
        """Return the match as it is published, at `prices`."""
        return Match(self.match_id, self.home, self.away, self.league, *prices, self.start_time)


class State:
    """A match at one moment of the world; its probabilities are computed when they are first asked for."""

    __slots__ = ("_at", "_is_known", "_probabilities", "listing")

    def __init__(self, listing: Listing, at: int) -> None:
        self.listing = listing
        self._at = at
        self._is_known = False
        self._probabilities: Triple | None = None

    def probabilities(self, world: World) -> Triple | None:
        """Return the true probabilities; None while nobody would take a bet."""
        if not self._is_known:
            self._is_known, self._probabilities = True, world.probabilities(self.listing.fixture, self._at)
        return self._probabilities


class _Offer:
    """A match at one bookmaker: `estimate` and `match` are None while it is suspended."""

    __slots__ = ("estimate", "is_covered", "listing", "match", "opinion")

    def __init__(self, listing: Listing, bookmaker: Bookmaker, coverage: float) -> None:
        self.listing = listing
        self.is_covered = bookmaker.covers(listing.fixture, coverage)
        self.opinion = bookmaker.opinion(listing.fixture)
        self.estimate: Triple | None = None
        self.match: Match | None = None


class Book:
    """The list of one bookmaker, which covers that share of the matches. Slots are keys of the world's."""

    def __init__(self, bookmaker: Bookmaker, world: World, coverage: float) -> None:
        self.bookmaker = bookmaker
        self._world = world
        self._coverage = coverage
        self._offers: dict[int, _Offer] = {}

    def image(self, slots: Iterable[int]) -> Sliced[Extract]:
        """Return the whole list in the order of `slots`; the removals name what is suspended."""
        matches: list[Match] = []
        suspended: list[Removal] = []
        for number, slot in enumerate(slots):
            if number % SLICE == 0:
                yield
            offer = self._offers[slot]
            if offer.match is not None:
                matches.append(offer.match)
            elif offer.is_covered:
                suspended.append(Removal(offer.listing.match_id, "suspended"))
        return Extract(tuple(matches), tuple(suspended))

    def update(self, states: Mapping[int, State]) -> Sliced[Extract]:
        """Take the newest state of some slots, and return what changes by them."""
        changed: list[Match] = []
        removals: list[Removal] = []
        for number, (slot, state) in enumerate(states.items()):
            if number % _SLICE == 0:
                yield
            offer = self._offers.get(slot)
            is_new = offer is None or offer.listing is not state.listing
            if offer is None or is_new:
                if offer is not None and offer.is_covered:
                    removals.append(Removal(offer.listing.match_id, "finished"))
                offer = self._offers[slot] = _Offer(state.listing, self.bookmaker, self._coverage)
            if not offer.is_covered:
                continue
            fair = state.probabilities(self._world)
            estimate = None if fair is None else self.bookmaker.estimate(fair)
            if estimate == offer.estimate and not is_new:
                continue
            offer.estimate, before = estimate, offer.match
            if estimate is None:
                offer.match = None
                removals.append(Removal(offer.listing.match_id, "suspended"))
                continue
            offer.match = offer.listing.match(self.bookmaker.quote(estimate, offer.opinion))
            if offer.match != before:
                changed.append(offer.match)
        return Extract(tuple(changed), tuple(removals))
