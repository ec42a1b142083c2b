"""When Polymarket is asked for what: leagues, the markets of each, and the books of their matches. Pure.

Names and states come from the lists of markets, so nothing is asked for, and nothing shown, without a list
that was read to its end within `LISTED_FOR_S`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import inf

from msgspec import Struct
from msgspec.structs import replace

from actors.core.clock import Instant
from actors.core.errors import PayloadError, SourceError
from actors.core.messages import Removal, Scope, SourceMatchId
from actors.core.validation import Reason
from actors.source_api.groups import Groups, NothingAsked, day_of, is_near, preface_of, with_rest
from actors.source_api.pause import Pause
from actors.source_api.plan import CatalogueList, Plan, Target
from actors.sources.polymarket.catalogue import MarketsPage, Sports
from actors.sources.polymarket.listing import League, Listed, ListedMatch, read_listing
from actors.sources.polymarket.options import (
    PAGE,
    SPORTS_SCOPE,
    PolymarketOptions,
    books_target,
    markets_scope,
    markets_target,
    sports_target,
)
from actors.sources.polymarket.prices import Group
from actors.sources.polymarket.wire import Market

DAY_S = 86_400.0
SPORTS_INTERVAL_S = DAY_S
MARKETS_INTERVAL_S = 300.0
LISTED_FOR_S = 900.0
MAX_PAGES = 50  # of a league; a season has some 400 matches, 1,200 markets
MATCHES_A_CALL = 33  # 99 tokens: more than 100 were never tried
HORIZON_S = 14 * DAY_S
BEHIND_S = 6 * 3600.0  # a kick-off longer ago than that is of a match that is over
NO_BOOKS = b"[]"
UNLISTED_S = 60.0  # until books without a list are looked at again
ASSUMED = (
    "tried against recordings only; where the venue's documents are silent it is assumed:",
    f"  at most {3 * MATCHES_A_CALL} tokens a call for books, and {PAGE} markets a page",
    "  leagues are asked one by one, each by a tag that no other league has; requests are not conditional",
    "  teams are those of the title where a list has no teams, if something says which plays at home",
    "  a match that has ended is not shown, though it may take orders: bets are on 90 minutes alone",
)


class _Reading:
    """What is known of a league: the list that was read to its end, and the pages of the next."""

    def __init__(self, league: League) -> None:
        self.league = league
        self.listed: dict[SourceMatchId, Listed] = {}
        self.listed_mono = -inf  # when its first page was asked for
        self.listed_unreadable = 0  # markets
        self.has_ended = False  # the first attempt to read it
        self.begin()

    def begin(self) -> None:
        """Begin with the first page."""
        self.markets: list[Market] = []
        self.unreadable = 0
        self.cursors: list[str] = [""]
        self.asked_mono = inf

    def take(self, page: MarketsPage) -> bool:
        """Take a page; return whether it was the last. Raises: PayloadError if pages go in a circle."""
        self.markets += page.markets
        self.unreadable += page.unread.count
        if page.cursor and (page.cursor in self.cursors or len(self.cursors) >= MAX_PAGES):
            count = len(self.cursors)
            self.begin()
            raise PayloadError(f"the list of markets does not end: page {count} points to an earlier one")
        if page.cursor:
            self.cursors.append(page.cursor)
            return False
        self.listed, self.listed_mono = read_listing(self.markets, self.league), self.asked_mono
        self.listed_unreadable = self.unreadable
        self.has_ended = True
        self.begin()
        return True


class _Asked(Struct, frozen=True):
    """A group of matches that is asked for; its last match is over when there are none."""

    target: Target
    league: Scope
    kick_offs: tuple[int, ...]


class PolymarketPlan(Plan):
    """The plan of all leagues. Raises: ValueError for options that cannot be kept."""

    def __init__(self, options: PolymarketOptions, keys: tuple[str, ...]) -> None:
        del keys
        super().__init__(options, ())
        self._venue = options
        self._readings: dict[Scope, _Reading] = {}
        self._groups = Groups(MATCHES_A_CALL)
        self._asked: dict[Scope, _Asked] = {}
        self._days: Mapping[SourceMatchId, str] = {}
        self._nothing_asked = NothingAsked(Group(()), NO_BOOKS, LISTED_FOR_S)
        self._cannot_ask: set[str] = set()
        self._pause = Pause(options.poll_interval_s)
        stale_s = options.stale_after_s
        if stale_s is not None and stale_s > LISTED_FOR_S - 2 * MARKETS_INTERVAL_S:
            most = LISTED_FOR_S - 2 * MARKETS_INTERVAL_S
            why = (
                f"a list of matches is read every {MARKETS_INTERVAL_S:g} s and holds for {LISTED_FOR_S:g} s"
            )
            raise ValueError(f"stale_after_s was {stale_s:g}, must be at most {most:g}: {why}")

    def targets(self) -> tuple[Target, ...]:
        """Return the list of leagues, the next page of each, and the books of every group."""
        pages = (
            markets_target(self._venue, reading.league.key, reading.league.tag, reading.cursors[-1])
            for reading in self._readings.values()
        )
        return (sports_target(self._venue), *pages, *(asked.target for asked in self._asked.values()))

    def interval_s(self, target: Target, now: Instant) -> float:
        """Return the seconds to the next page or list, or until books are asked for again."""
        if (asked := self._asked.get(target.scope)) is not None:
            near_s, far_s = self._venue.poll_interval_s, self._venue.far_interval_s
            is_far = asked.kick_offs and not is_near(asked.kick_offs, now.wall)
            return max(near_s, far_s) if is_far else near_s
        if (reading := self._readings.get(target.scope)) is not None:
            return 0.0 if len(reading.cursors) > 1 else MARKETS_INTERVAL_S
        return SPORTS_INTERVAL_S if target.scope == SPORTS_SCOPE else self._venue.poll_interval_s

    def wait_s(self, target: Target, now: Instant) -> float:
        """Return the rest of a pause; books wait for a list that holds until their prices are stale."""
        pause_s = self._pause.left_s(now)
        if (asked := self._asked.get(target.scope)) is not None:
            reading = self._readings.get(asked.league)
            stale_s = self._venue.staleness_at(self.interval_s(target, now))
            if reading is None or now.mono + stale_s > reading.listed_mono + LISTED_FOR_S:
                return max(pause_s, UNLISTED_S)
        return pause_s

    def on_asked(self, target: Target, now: Instant) -> None:
        """Note when the reading of a list began."""
        if (reading := self._readings.get(target.scope)) is not None:
            reading.asked_mono = min(reading.asked_mono, now.mono)

    def on_answered(self, target: Target, headers: Mapping[str, str], now: Instant) -> None:
        """End a pause."""
        del target, headers, now
        self._pause.on_answered()

    def on_failed(self, target: Target, error: SourceError, now: Instant) -> float:
        """Begin a list anew; pause everything where the limit of requests may be reached, twice as long."""
        if (reading := self._readings.get(target.scope)) is not None:
            reading.has_ended = True
            reading.begin()
        self._pause.on_failed(error, now)
        return 0.0

    def on_learnt(self, target: Target, content: object, now: Instant) -> None:
        """Take the leagues, or a page of a league's markets, or note that a group was asked for."""
        match content:
            case Sports():
                self._set_leagues(content)
            case MarketsPage():
                reading = self._readings.get(target.scope)
                if reading is not None and reading.take(content):
                    self._arrange(now)
            case _:
                asked = self._asked.get(target.scope)
                if asked is not None and not asked.kick_offs and target == asked.target:
                    del self._asked[target.scope]

    def take_lists(self) -> tuple[CatalogueList, ...]:
        """Return the list of a venue that has nothing to be asked for."""
        return self._nothing_asked.take()

    def facts(self) -> Mapping[str, object]:
        """Return the leagues that are asked for, and those that cannot be."""
        if not self._readings:
            return {}
        leagues = sorted(reading.league.key for reading in self._readings.values())
        return {"leagues": leagues, "cannot_ask": sorted(self._cannot_ask)}

    def describe(self) -> list[str]:
        """Return lines for an operator: what is asked how often, how fresh that is, and what is assumed."""
        options = self._venue
        near_s, far_s = options.poll_interval_s, max(options.poll_interval_s, options.far_interval_s)
        leagues = "all of football" if options.leagues == "football" else ", ".join(options.leagues)
        fees = "after the taker's fee" if options.after_fees else "before the taker's fee"
        return [
            f"leagues: {leagues}; prices {fees}, for a stake of at least {options.min_stake:g} USD",
            f"matches of {HORIZON_S / DAY_S:g} days every {MARKETS_INTERVAL_S:g} s",
            f"near (2 h before a kick-off to 2.5 h after): {self._freshness(near_s)}",
            f"at other hours: {self._freshness(far_s)}",
            *ASSUMED,
        ]

    def _freshness(self, interval_s: float) -> str:
        return f"every {interval_s:g} s, stale after {self._venue.staleness_at(interval_s):g} s"

    def _set_leagues(self, sports: Sports) -> None:
        known, wanted = {league.key: league for league in sports.leagues}, self._venue.leagues
        chosen = {*known} if wanted == "football" else {*wanted}
        missing = chosen - known.keys() - {reading.league.key for reading in self._readings.values()}
        self._cannot_ask = missing | {*sports.untold} if wanted == "football" else missing
        for key in sorted(chosen & known.keys()):
            old, scope = self._readings.get(markets_scope(key)), markets_scope(key)
            if old is None or old.league != known[key]:
                self._readings[scope] = _Reading(known[key])
        if not self._readings:
            found = ", ".join(sorted(known))
            raise PayloadError(
                f"leagues was {', '.join(sorted(chosen))}, must be among {found}", "no_league"
            )

    def _arrange(self, now: Instant) -> None:
        """Set the groups to ask for; one that has lost its last match is asked once more, for nothing."""
        days: dict[SourceMatchId, str] = {}
        listed: dict[SourceMatchId, Listed] = {}
        left_out = Counter[str]()
        for reading in self._readings.values():
            left_out[Reason.UNREADABLE] += reading.listed_unreadable
            for name, each in reading.listed.items():
                if name in listed:
                    continue  # in two leagues: the first counts
                listed[name] = found = _unless_past(each, now)
                if isinstance(found, ListedMatch) and found.start > now.wall + HORIZON_S:
                    left_out[Reason.AHEAD] += 1
                elif (day := self._day(reading.league, found)) is not None:
                    days[name] = day
        unplaced = (each for name, each in listed.items() if isinstance(each, Removal) and name not in days)
        placed = {
            Scope(group): [listed[name] for name in names]
            for group, names in self._groups.arrange(days).items()
        }
        groups, rest = with_rest(placed, unplaced)
        self._days = days
        self._ask(groups, +left_out)
        if rest is None or all(reading.has_ended for reading in self._readings.values()):
            nothing = None if rest is None else _group_of(rest, +left_out)
            newest = max(reading.listed_mono for reading in self._readings.values())
            self._nothing_asked.update(nothing, newest)

    def _ask(self, groups: Mapping[Scope, Iterable[Listed]], left_out: Mapping[str, int]) -> None:
        """Ask for these groups, of which the first with a match says what is left out."""
        old, self._asked = self._asked, {}
        for scope in {**groups, **old}:
            part = _group_of(groups.get(scope, ()))
            if part.matches:
                part, left_out = replace(part, left_out=left_out), {}
            if part.matches or scope in old:
                self._asked[scope] = self._asked_for(scope, part, old)

    def _day(self, league: League, found: Listed) -> str | None:
        """Return league and day of a match; if it is not shown, the day that it had before, if any."""
        if isinstance(found, Removal):
            return self._days.get(found.source_match_id)
        return f"{league.key}-{day_of(found.start)}"

    def _asked_for(self, scope: Scope, group: Group, old: Mapping[Scope, _Asked]) -> _Asked:
        """Return what to ask for a group; without matches, the same as before, whatever the answer."""
        preface, starts = preface_of(group), tuple(match.start for match in group.matches)
        tokens = [token for match in group.matches for token in match.tokens]
        league = markets_scope(scope.partition("-")[0])
        if tokens:
            return _Asked(books_target(self._venue, scope, tokens, preface), league, starts)
        return _Asked(replace(old[scope].target, preface=preface), league, ())


def _unless_past(found: Listed, now: Instant) -> Listed:
    """Return a match, or that its kick-off is long past: a postponed match may keep its old one."""
    if isinstance(found, ListedMatch) and found.start < now.wall - BEHIND_S:
        return Removal(found.id, Reason.PAST)
    return found


def _group_of(found: Iterable[Listed], left_out: Mapping[str, int] | None = None) -> Group:
    matches = tuple(each for each in found if isinstance(each, ListedMatch))
    removals = tuple(each for each in found if isinstance(each, Removal))
    return Group(matches, removals, left_out or {})
