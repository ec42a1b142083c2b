"""Fixtures at one version: the entries of several sources for each real match, immutable and shared.

Pure values. A version costs as much as its changes: unchanged fixtures, chunks and parts of mappings are
the same objects in the next state, so that values derived from them can be cached as long as they live.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from math import inf
from typing import Final

from immutables import Map
from msgspec import Struct, field
from msgspec.structs import replace

from actors.board.chunks import SortedChunk, entries_of, find
from actors.board.snapshot import Entry, Snapshot
from actors.core.messages import BookmakerId, Match, Prices, SourceName
from actors.markets.market import FORMS, ONE_X_TWO, Market
from actors.markets.odds import Odds
from actors.markets.returns import may_gain
from actors.matches.candidates import Candidates
from actors.matches.fair import Method
from actors.matches.surebets import Surebet, SurebetRules
from actors.matching.event import EventKey, FixtureId
from actors.matching.matcher import Member

MAX_KELLY: Final = 0.05
"""The largest share of the bank that may be staked on one price, if the configuration names no other."""


class Place(Struct, frozen=True, order=True, gc=False):
    """The sort key of a fixture: kick-off (Unix seconds; infinity if unknown), then id."""

    start: float
    id: FixtureId


class ViewKind(StrEnum):
    """The content of a view of fixtures."""

    FIXTURES = "fixtures"
    SUREBETS = "surebets"  # only fixtures with a surebet
    WEAK = "weak"  # also fixtures with weak surebets of lines; other markets have none


OF_EVERY_MARKET = (ViewKind.FIXTURES, ViewKind.SUREBETS)
"""The kinds of view that clients request by name, and that every kind of market has."""


class FixtureView(Struct, frozen=True):
    """All fixtures of a kind; with a bookmaker, the complete fixtures that it has prices of.

    A `league` (its id) or a `market` other than 1X2 limits the changes to its fixtures; versions are still
    those of the whole view of that kind of market. A kind with lines, without a line given, means the main
    line of each match, or every line if the view `has_every_line`.
    """

    kind: ViewKind
    bookmaker: BookmakerId | None = None
    league: str | None = None
    market: Market = ONE_X_TWO
    has_every_line: bool = False

    @property
    def whole(self) -> FixtureView:
        """The view of all leagues and all lines."""
        if self.league is None and self.market is ONE_X_TWO:
            return self
        return FixtureView(self.kind, self.bookmaker)

    @property
    def is_of_main_lines(self) -> bool:
        """Whether it shows the main line of each match."""
        has_lines = FORMS[self.market.kind].lines is not None
        return has_lines and self.market.quarters is None and not self.has_every_line

    def has_market(self, fixture: Fixture) -> bool:
        """Return whether a fixture has the view's market."""
        market = self.market
        if market is ONE_X_TWO or self.has_every_line or fixture.market == market:
            return True
        return self.is_of_main_lines and fixture.is_main

    def shows(self, fixture: Fixture) -> bool:
        """Return whether the view shows a fixture of its league and market."""
        if self.bookmaker is not None and self.bookmaker not in fixture.bookmakers:
            return False
        return self.kind is ViewKind.FIXTURES or self.surebet_of(fixture) is not None

    def surebet_of(self, fixture: Fixture) -> Surebet | None:
        """Return the surebet of a fixture in this view."""
        return fixture.standing if self.kind is ViewKind.WEAK else fixture.surebet


class FixtureRemoval(StrEnum):
    """Why a fixture is no longer in a view."""

    ENDED = "ended"  # no source lists it any more, or the view's bookmaker does not
    MERGED = "merged"  # it is the same match as `into`
    SPLIT = "split"  # the bookmaker's match was found to be another one
    GONE = "gone"  # its prices make no surebet now
    AGE = "age"  # a price of its surebet was not confirmed in time
    LEAGUE = "league"  # its league changed
    NO_MARKET = "no_market"  # its market is listed no more, but other markets of the match are


class BookmakerInfo(Struct, frozen=True):
    """A bookmaker in the configuration: its source, the meaning of its confirmations, and both places.

    With `counts_from_now` its handicap in play ignores goals before the bet, as on exchanges. The place of
    a source is that of its first bookmaker. `commission` is the share that it keeps of a win. `company` is
    who pays; several bookmakers may belong to one company.
    """

    source: SourceName
    prices: Prices = Prices.LIVE
    commission: float = 0.0
    company: str = ""
    place: int = 0
    source_place: int = 0
    counts_from_now: bool = True


class Roster(dict[BookmakerId, BookmakerInfo]):
    """All bookmakers in the order of the configuration; never changed after it is made."""

    @cached_property
    def live(self) -> frozenset[BookmakerId]:
        """The bookmakers whose prices are confirmed as live while they are shown."""
        return frozenset(name for name, info in self.items() if info.prices is Prices.LIVE)

    @cached_property
    def shared(self) -> frozenset[BookmakerId]:
        """The bookmakers that share their company with others."""
        companies = Counter(info.company for info in self.values())
        return frozenset(name for name, info in self.items() if companies[info.company] > 1)


class FixtureSettings(Struct, frozen=True):
    """The settings of fixtures: bookmakers in order, the method of fair odds, the rules of surebets.

    A Kelly stake on a value may have at most the share `max_kelly` of the bank.
    """

    roster: Roster
    method: Method = Method.POWER
    surebets: SurebetRules = SurebetRules()
    max_kelly: float = MAX_KELLY


def roster_of(bookmakers: Mapping[BookmakerId, BookmakerInfo]) -> Roster:
    """Return bookmakers with their places in the configuration; without a company, the id is used."""
    placed = Roster()
    sources: dict[SourceName, int] = {}
    for place, (name, info) in enumerate(bookmakers.items()):
        source_place = sources.setdefault(info.source, place)
        company = info.company or name
        placed[name] = replace(info, company=company, place=place, source_place=source_place)
    return placed


class Highest(Struct, frozen=True, gc=False):
    """The highest live price of each outcome; 1 for an outcome without one."""

    prices: Odds = (1.0,) * len(ONE_X_TWO.outcomes)

    @classmethod
    def of(cls, live: Collection[Match], market: Market = ONE_X_TWO) -> Highest:
        """Return the highest prices among these matches of a market."""
        if not live:
            return cls((1.0,) * len(market.outcomes))
        return cls(tuple(map(max, zip(*[match.prices for match in live], strict=True))))

    def after(self, changed: Iterable[tuple[Match, Match]]) -> Highest | None:
        """Return the highest prices after these changes; None if a highest price fell: check all."""
        highest = self.prices
        for old, new in changed:
            prices = new.prices
            for most, before, after in zip(self.prices, old.prices, prices, strict=True):
                if after < before == most:
                    return None
            highest = tuple(map(max, highest, prices))
        return Highest(highest)


class Head(Struct, frozen=True, gc=False):
    """The names, league and kick-off that another market's fixture takes from the 1X2 fixture.

    The prices of `match` are 0. `kick_off` is the earliest in any entry (Unix seconds; infinity if no live
    source gives one), and `in_play` is what sources say (None: nothing).
    """

    match: Match
    league: str
    country: str | None
    kick_off: float = inf
    in_play: bool | None = None


class Fixture(Struct, frozen=True, eq=False, gc=False):
    """One market of a match: its events, and each bookmaker's entry.

    `members` begins with the event that began the fixture; the others are sorted by key. `bookmakers` are
    in the order of the configuration, `listed` has the entry of each. Names, league and kick-off come from
    `lead`, a bookmaker of the first source. The fixture appeared with version `created`. In best prices and
    fair odds only the last confirmed entry of each company counts, as of the fixture's last change:
    `outdone` maps its other bookmakers to the one that counts. The id of a `market` other than 1X2 ends
    with the market, and `head` names the fixture if there are 1X2 prices. A handicap `has_begun` once its
    match has, or may have, because some bookmakers then ignore earlier goals. One of several lines
    `is_main`. If all stakes may be returned, only a `weak` surebet is possible.
    """

    id: FixtureId
    created: int
    members: tuple[Member, ...]
    bookmakers: tuple[BookmakerId, ...]
    listed: tuple[Entry, ...]
    lead: BookmakerId
    place: Place
    highest: Highest
    surebet: Surebet | None = None
    outdone: Mapping[BookmakerId, BookmakerId] = {}
    market: Market = ONE_X_TWO
    head: Head | None = None
    has_begun: bool = False
    is_main: bool = False
    weak: Surebet | None = None

    @property
    def standing(self) -> Surebet | None:
        """The surebet of the fixture, also a weak one; the kind of market says whether it is weak."""
        return self.surebet or self.weak

    def with_standing(self, surebet: Surebet | None) -> Fixture:
        """Return a copy with this surebet, weak or not, according to its market."""
        return replace(self, surebet=surebet) if may_gain(self.market) else replace(self, weak=surebet)

    @property
    def match_id(self) -> FixtureId:
        """The id that the fixtures of all markets of the match share."""
        return FixtureId(self.id.partition(" ")[0])

    def superseded(self, among: Container[BookmakerId]) -> frozenset[BookmakerId]:
        """Return the bookmakers whose prices do not count if only `among` are shown."""
        return frozenset([name for name, other in self.outdone.items() if other in among])

    @property
    def entries(self) -> dict[BookmakerId, Entry]:
        """The entry of each bookmaker, in their order."""
        return dict(zip(self.bookmakers, self.listed, strict=True))

    def entry(self, bookmaker: BookmakerId) -> Entry | None:
        """Return the entry of a bookmaker, None if it has none."""
        names = self.bookmakers
        return self.listed[names.index(bookmaker)] if bookmaker in names else None

    @property
    def match(self) -> Match:
        """The match that names the fixture."""
        if self.head is not None:
            return self.head.match
        return self.listed[self.bookmakers.index(self.lead)].match


class FixtureChunk(SortedChunk[Place, Fixture], frozen=True, eq=False, weakref=True):
    """Some neighbouring fixtures by place."""

    @classmethod
    def ends(cls, entries: Sequence[Fixture]) -> Sequence[int]:
        """Return the length of the JSON up to each fixture's end, in entries; a fixture adds one."""
        return [*accumulate([len(fixture.listed) + 1 for fixture in entries])]


class FixtureChange(Struct, frozen=True, eq=False, gc=False):
    """A commit's change of one fixture, as readers see it; None for a missing state.

    `reason` says why the fixture, or some of its bookmakers, are gone, `surebet_reason` why its surebet
    is. The matches of the bookmakers `apart` are not in the fixture `into`, with which it merged. With
    `is_of_weak` only its weak surebet changed.
    """

    id: FixtureId
    before: Fixture | None
    after: Fixture | None
    reason: FixtureRemoval = FixtureRemoval.ENDED
    into: FixtureId | None = None
    surebet_reason: FixtureRemoval = FixtureRemoval.GONE
    apart: frozenset[BookmakerId] = frozenset()
    is_of_weak: bool = False


class FixtureChanges(Struct, frozen=True, eq=False):
    """A commit's changes, the views whose fixtures changed, and the `events` that are linked anew."""

    changes: tuple[FixtureChange, ...] = ()
    events: tuple[EventKey, ...] = ()
    views: tuple[FixtureView, ...] = ()


class FixtureState(Struct, frozen=True, eq=False):
    """All fixtures at one version, in chunks by place; `versions` has the last change of each changed view.

    `places` has each fixture's place by id, `by_event` the fixture of each event, and `derived` each event
    by its derived id. `pending` events are not linked yet; `pendings` has that number at the last change of
    a view. `candidates` are the fixtures whose prices would make a surebet. At `valid_until` (monotonic
    seconds), or at `kick_off` (Unix seconds), the first shown surebet ends.
    """

    first_version: int
    terms: FixtureSettings
    chunks: tuple[FixtureChunk, ...] = ()
    places: Map[FixtureId, Place] = field(default_factory=Map)
    by_event: Map[EventKey, FixtureId] = field(default_factory=Map)
    derived: Map[FixtureId, EventKey] = field(default_factory=Map)
    versions: Mapping[ViewKind, Mapping[BookmakerId | None, int]] = {}
    pending: int = 0
    pendings: Mapping[ViewKind, Mapping[BookmakerId | None, int]] = {}
    candidates: Candidates = field(default_factory=Candidates)

    @property
    def valid_until(self) -> float:
        """The monotonic second at which it changes without new data."""
        return self.candidates.until

    @property
    def kick_off(self) -> float:
        """The Unix second at which it changes without new data; valid even if that clock is set."""
        return self.candidates.kick_off

    def version(self, view: FixtureView) -> int:
        """Return the last commit that changed the view's content."""
        return self.versions.get(view.kind, {}).get(view.bookmaker, self.first_version)

    def pending_in(self, view: FixtureView) -> int:
        """Return the number of unlinked events in the view's version."""
        return self.pendings.get(view.kind, {}).get(view.bookmaker, 0)

    def get(self, fixture_id: FixtureId) -> Fixture | None:
        """Return a fixture by its id; None if there is none."""
        place = self.places.get(fixture_id)
        return None if place is None else find(self.chunks, place)

    def of_event(self, key: EventKey) -> Fixture | None:
        """Return the fixture of an event, None if no source lists it."""
        fixture_id = self.by_event.get(key)
        return None if fixture_id is None else self.get(fixture_id)

    def holder(self, fixture_id: FixtureId) -> Fixture | None:
        """Return the fixture of the event from which that id is derived, None if no source lists it."""
        key = self.derived.get(fixture_id)
        return None if key is None else self.of_event(key)

    def __iter__(self) -> Iterator[Fixture]:
        """Iterate over the fixtures in order."""
        return entries_of(self.chunks)


def fixtures_of(snapshot: Snapshot) -> FixtureState:
    """Return the fixtures of a board. Raises: TypeError for a board without linking."""
    if not isinstance(snapshot.fixtures, FixtureState):
        raise TypeError("this board has no fixtures")
    return snapshot.fixtures


def first_snapshot(version: int, terms: FixtureSettings, epoch: str = "0") -> Snapshot:
    """Return a board without lists and fixtures."""
    empty = Snapshot.empty(version, tuple(terms.roster), epoch)
    return replace(empty, fixtures=FixtureState(version, terms))
