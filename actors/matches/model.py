"""Fixtures at one version: what several sources list of one real match, immutable and shared.

Pure values. A version's cost is that of its changes: fixtures, chunks and parts of mappings that did not
change are the same objects in the next state, and what is derived of them can be kept while they live.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from math import inf

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


class Place(Struct, frozen=True, order=True, gc=False):
    """Where a fixture stands in order: by kick-off (Unix seconds; infinity if unknown), then by id."""

    start: float
    id: FixtureId


class ViewKind(StrEnum):
    """The content of a view of fixtures."""

    FIXTURES = "fixtures"
    SUREBETS = "surebets"  # those with a surebet
    WEAK = "weak"  # the same, or with a weak surebet; of lines alone: other markets have none


OF_EVERY_MARKET = (ViewKind.FIXTURES, ViewKind.SUREBETS)
"""The kinds of view that are asked for by name, and that each kind of market has."""


class FixtureView(Struct, frozen=True):
    """All fixtures of a kind or, with a bookmaker, those that it has prices of, whole.

    With a `league` (its id), or another `market` than 1X2, changes are of these fixtures alone; versions
    are still those of the whole view, which is of one kind of market. A kind that has lines, but without
    one, is the main line of each match, unless the view `has_every_line`.
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
        """Whether it has the main line of each match."""
        has_lines = FORMS[self.market.kind].lines is not None
        return has_lines and self.market.quarters is None and not self.has_every_line

    def has_market(self, fixture: Fixture) -> bool:
        """Return whether a fixture is of the market of the view."""
        market = self.market
        if market is ONE_X_TWO or self.has_every_line or fixture.market == market:
            return True
        return self.is_of_main_lines and fixture.is_main

    def shows(self, fixture: Fixture) -> bool:
        """Return whether the view has it, if it is of the league and the market."""
        if self.bookmaker is not None and self.bookmaker not in fixture.bookmakers:
            return False
        return self.kind is ViewKind.FIXTURES or self.surebet_of(fixture) is not None

    def surebet_of(self, fixture: Fixture) -> Surebet | None:
        """Return the surebet that it shows of a fixture."""
        return fixture.standing if self.kind is ViewKind.WEAK else fixture.surebet


class FixtureRemoval(StrEnum):
    """Why a fixture is no longer in a view."""

    ENDED = "ended"  # no source lists it, or not the bookmaker of the view
    MERGED = "merged"  # it is the same match as `into`
    SPLIT = "split"  # the bookmaker's match turned out to be another one
    GONE = "gone"  # its prices make no surebet any more
    AGE = "age"  # a price of its surebet was not confirmed in time
    LEAGUE = "league"  # it is of another league now
    NO_MARKET = "no_market"  # nobody lists the market any more, but another of the match


class BookmakerInfo(Struct, frozen=True):
    """A bookmaker in the configuration: its source and what that vouches for, its place and its source's.

    In play its handicap `counts_from_now` on: goals before the bet do not count, as they do of an exchange.

    The place of a source is that of its first bookmaker. `commission` is the part of a win that it keeps,
    `company` who pays: several may be of one company.
    """

    source: SourceName
    prices: Prices = Prices.LIVE
    commission: float = 0.0
    company: str = ""
    place: int = 0
    source_place: int = 0
    counts_from_now: bool = True


class Roster(dict[BookmakerId, BookmakerInfo]):
    """All bookmakers in the order of the configuration; not changed once it is made."""

    @cached_property
    def live(self) -> frozenset[BookmakerId]:
        """The bookmakers whose prices are vouched for while they are shown."""
        return frozenset(name for name, info in self.items() if info.prices is Prices.LIVE)

    @cached_property
    def shared(self) -> frozenset[BookmakerId]:
        """The bookmakers that are not alone of their company."""
        companies = Counter(info.company for info in self.values())
        return frozenset(name for name, info in self.items() if companies[info.company] > 1)


class FixtureSettings(Struct, frozen=True):
    """The settings of fixtures: bookmakers in order, the method of fair odds, the rules of surebets."""

    roster: Roster
    method: Method = Method.POWER
    surebets: SurebetRules = SurebetRules()


def roster_of(bookmakers: Mapping[BookmakerId, BookmakerInfo]) -> Roster:
    """Return bookmakers in the order of the configuration with their places; its id is a company's name."""
    placed = Roster()
    sources: dict[SourceName, int] = {}
    for place, (name, info) in enumerate(bookmakers.items()):
        source_place = sources.setdefault(info.source, place)
        company = info.company or name
        placed[name] = replace(info, company=company, place=place, source_place=source_place)
    return placed


class Highest(Struct, frozen=True, gc=False):
    """The highest live price of each outcome; 1 where there is none."""

    prices: Odds = (1.0,) * len(ONE_X_TWO.outcomes)

    @classmethod
    def of(cls, live: Collection[Match], market: Market = ONE_X_TWO) -> Highest:
        """Return the highest of these prices of a market."""
        if not live:
            return cls((1.0,) * len(market.outcomes))
        return cls(tuple(map(max, zip(*[match.prices for match in live], strict=True))))

    def after(self, changed: Iterable[tuple[Match, Match]]) -> Highest | None:
        """Return the highest prices after these changed; None if one of them fell: look at all."""
        highest = self.prices
        for old, new in changed:
            prices = new.prices
            for most, before, after in zip(self.prices, old.prices, prices, strict=True):
                if after < before == most:
                    return None
            highest = tuple(map(max, highest, prices))
        return Highest(highest)


class Head(Struct, frozen=True, gc=False):
    """The names, league and kick-off that a fixture of another market takes from the 1X2 fixture.

    The prices of `match` are 0. By all entries it kicks off at `kick_off` at the earliest (Unix seconds;
    infinity if no live source says), and is, or is not, in play (None: nobody says).
    """

    match: Match
    league: str
    country: str | None
    kick_off: float = inf
    in_play: bool | None = None


class Fixture(Struct, frozen=True, eq=False, gc=False):
    """One market of a match: its events, and what each bookmaker lists of them.

    The first of `members` is the event that it began with, the others are in the order of their keys.
    `bookmakers` are in the order of the configuration, `listed` has the entry of each. Names, league and
    kick-off are what `lead` lists, a bookmaker of the first source. `created` is the version that it
    appeared with. Of a company only the entry that was confirmed last, when the fixture changed last,
    counts for best prices and fair odds: `outdone` has the other bookmakers, each with the one that counts.
    Of another `market` than 1X2 its id has that behind it, and `head` names it where there are 1X2 prices.
    A handicap `has_begun` once its match has, or may have: some bookmakers count the goals from then on.
    Of several lines one `is_main`. Where all stakes may be returned no `surebet` is possible, but a `weak`
    one.
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
        """Its surebet, weak or not: its market decides which it may have."""
        return self.surebet or self.weak

    def with_standing(self, surebet: Surebet | None) -> Fixture:
        """Return it with that surebet as the one that its market may have."""
        return replace(self, surebet=surebet) if may_gain(self.market) else replace(self, weak=surebet)

    @property
    def match_id(self) -> FixtureId:
        """The id that the fixtures of all markets of the match have in common."""
        return FixtureId(self.id.partition(" ")[0])

    def superseded(self, among: Container[BookmakerId]) -> frozenset[BookmakerId]:
        """Return the bookmakers whose prices do not count among those of these bookmakers."""
        return frozenset([name for name, other in self.outdone.items() if other in among])

    @property
    def entries(self) -> dict[BookmakerId, Entry]:
        """The entry of each bookmaker, in their order."""
        return dict(zip(self.bookmakers, self.listed, strict=True))

    def entry(self, bookmaker: BookmakerId) -> Entry | None:
        """Return the entry of a bookmaker, None if it lists none."""
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
        """Return the length of the JSON up to each fixture, in entries; names and prices are one more."""
        return [*accumulate([len(fixture.listed) + 1 for fixture in entries])]


class FixtureChange(Struct, frozen=True, eq=False, gc=False):
    """A commit's change of one fixture, as readers see it; None where there is none.

    `reason` is why it is gone or, where it stays, why bookmakers are; `surebet_reason` why its surebet is.
    The matches of the bookmakers in `apart` are not in the fixture `into`, with which it merged. If it
    `is_of_weak`, nothing but its weak surebet changed.
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
    """A commit's changes, and their views; `events` are those that may have to be linked anew."""

    changes: tuple[FixtureChange, ...] = ()
    events: tuple[EventKey, ...] = ()
    views: tuple[FixtureView, ...] = ()


class FixtureState(Struct, frozen=True, eq=False):
    """All fixtures at one version, in chunks by place; `versions` has those of the views that changed.

    `places` is where to find a fixture by its id, `by_event` the fixture of each event, and `derived` each
    event by the id that is derived of it. `pending` events are still to be linked; `pendings` has their
    number when a view changed last, if any.
    `candidates` are those whose prices would be a surebet. At `valid_until` (monotonic seconds), or at
    `kick_off` (Unix seconds), the first of those that are shown ends.
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
        """Monotonic second at which it changes by itself."""
        return self.candidates.until

    @property
    def kick_off(self) -> float:
        """Unix second at which it changes by itself, also if that clock was set meanwhile."""
        return self.candidates.kick_off

    def version(self, view: FixtureView) -> int:
        """Return the last commit that changed what the view shows."""
        return self.versions.get(view.kind, {}).get(view.bookmaker, self.first_version)

    def pending_in(self, view: FixtureView) -> int:
        """Return how many events were still to be linked in the version of the view."""
        return self.pendings.get(view.kind, {}).get(view.bookmaker, 0)

    def get(self, fixture_id: FixtureId) -> Fixture | None:
        """Look a fixture up; None if it is not here."""
        place = self.places.get(fixture_id)
        return None if place is None else find(self.chunks, place)

    def of_event(self, key: EventKey) -> Fixture | None:
        """Return the fixture of an event, None if no source lists it."""
        fixture_id = self.by_event.get(key)
        return None if fixture_id is None else self.get(fixture_id)

    def holder(self, fixture_id: FixtureId) -> Fixture | None:
        """Return the fixture that has the event which that id is derived of, None if no source lists it."""
        key = self.derived.get(fixture_id)
        return None if key is None else self.of_event(key)

    def __iter__(self) -> Iterator[Fixture]:
        """Iterate over the fixtures in order."""
        return entries_of(self.chunks)


def fixtures_of(snapshot: Snapshot) -> FixtureState:
    """Return the fixtures of a board that links. Raises: TypeError for one that does not."""
    if not isinstance(snapshot.fixtures, FixtureState):
        raise TypeError("this board has no fixtures")
    return snapshot.fixtures


def first_snapshot(version: int, terms: FixtureSettings, epoch: str = "0") -> Snapshot:
    """Return a board without any list, and without fixtures yet."""
    empty = Snapshot.empty(version, tuple(terms.roster), epoch)
    return replace(empty, fixtures=FixtureState(version, terms))
