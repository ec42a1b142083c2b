"""The plan of the requests to 5DollarFootballAPI, within the rate of its key. Pure.

Three kinds of list have Bet365's 1X2 prices: matches in play, matches of the next two hours, and the
matches of each later day. The board shows a list for each kick-off, so that two of these lists never
contradict each other. Other bookmakers and markets are requested by match, before its kick-off.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from urllib.parse import parse_qs, urlsplit

import msgspec
from msgspec import Struct

from actors.core.clock import Instant
from actors.core.errors import SourceError, TransportError
from actors.core.messages import Removal, Scope, SourceMatchId
from actors.core.validation import clean_name
from actors.markets.market import Kind
from actors.source_api.catalogue import CataloguePlan
from actors.source_api.groups import Group, preface_of
from actors.source_api.plan import CatalogueList, Target
from actors.sources.five_dollar_football.kick_offs import KickOffs
from actors.sources.five_dollar_football.newest import Newest
from actors.sources.five_dollar_football.options import (
    AHEAD,
    IN_PLAY,
    LIVE,
    LIVE_PAGE,
    NEAR,
    PAGE,
    READ,
    STATUS,
    FiveDollarFootballOptions,
    Window,
    bookmakers_target,
    leagues_target,
    live_target,
    odds_target,
    status_target,
    window_target,
)
from actors.sources.five_dollar_football.prices import (
    BET365,
    SCHEDULED,
    SUSPENDED,
    ListedMatch,
    listed_match,
)
from actors.sources.five_dollar_football.rate import (
    LIMIT,
    REMAINING,
    Gate,
    Need,
    Rate,
    rate_of,
    shared,
)
from actors.sources.five_dollar_football.reading import Reading
from actors.sources.five_dollar_football.refusals import Refusals
from actors.sources.five_dollar_football.wire import (
    Account,
    Bookmakers,
    Fixture,
    FixturesPage,
    Leagues,
    Row,
    body_of,
)

MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86_400
NEAR_S = 2 * HOUR_S
PLAYED_S = 3 * HOUR_S  # longest time from a kick-off in which its match may be in play
IDLE_S = 120.0  # seconds between two requests for matches in play, or near, while none is known
SHORTEST_S = 600.0  # a match that begins is in play for at least this long
UNKNOWN_RATE = Rate(10.0)  # of the API's plan for five dollars
USUAL_PAGES = 4  # pages of all matches of a day


class Carried(Struct, frozen=True, array_like=True):
    """The plan's state for another process: its rate."""

    requests: float
    window_s: float


class FiveDollarFootballPlan(CataloguePlan[ListedMatch]):
    """The plan of a key. Raises: ValueError for options that cannot work."""

    size = 1
    no_prices = b"{}"
    list_interval_s, listed_for_s = 600.0, 1800.0

    def __init__(self, options: FiveDollarFootballOptions, keys: tuple[str, ...]) -> None:
        super().__init__(options)
        if not {*options.kinds} <= {*READ}:
            raise ValueError(f"markets was {', '.join(options.kinds)}, must be among {', '.join(READ)}")
        self._api, self._keys = options, keys
        own = options.requests_per_minute
        self._refusals = Refusals(keys)
        self._gate = Gate(UNKNOWN_RATE if own is None else rate_of(own))
        self._account: Account | None = None
        self._readings = {LIVE: Reading(LIVE_PAGE), NEAR: Reading(PAGE)}
        self._readings |= {Scope(f"{AHEAD}{day}"): Reading(PAGE) for day in range(options.days_ahead)}
        self.listings.update(self._readings)
        self._is_by_match = {*keys} != {BET365} or options.kinds != (Kind.ONE_X_TWO,)
        self._leagues = None if options.leagues == "all" else _names(options.leagues)
        self._missing: set[str] = set()
        self._league_pages: list[Leagues] = []
        self._chosen: frozenset[SourceMatchId] = frozenset()
        self._newest = Newest()
        self._kick_offs = KickOffs(self._newest)
        self._watched_mono = -inf  # no match can have begun and ended unseen since then
        self._lists: list[CatalogueList] = []
        self._wall: float | None = None  # the time of the newest call
        self._share_at_mono = -inf
        self._share = shared(self._gate.rate, self._need((), (), 0.0))

    def catalogue_targets(self) -> Iterable[Target]:
        """Return the target of the account, and of each list's next page once the rate is known."""
        yield status_target(self._api)
        if self._wall is None or (self._account is None and self._api.requests_per_minute is None):
            return
        for scope, reading in self._readings.items():
            page, per_page = reading.next_page()
            if scope == LIVE:
                yield live_target(self._api, page, per_page)
            else:
                window = reading.window if reading.pages else None
                yield window_target(self._api, scope, window or _window(scope, self._wall), page, per_page)

    def checks(self) -> tuple[Target, ...]:
        """Return targets to check configured leagues and bookmakers."""
        pages = self._league_pages
        is_read = self._leagues is None or (pages and not pages[-1].pagination.has_more)
        leagues = () if is_read else (leagues_target(self._api, len(pages) + 1),)
        return (*leagues, bookmakers_target(self._api))

    def prices_target(self, scope: Scope, matches: Sequence[ListedMatch], preface: bytes) -> Target:
        """Return the target of the match's odds at all bookmakers."""
        return odds_target(self._api, scope, matches[0].id, self._keys, preface)

    def completed(self, match: ListedMatch, now: Instant) -> ListedMatch | Removal | None:
        """Return a future match, which is requested by itself.

        Later its odds are useless: they do not say that a match is over, and keep its prices in play.
        """
        del now
        return match if match.id in self._chosen and self._is_to_come(match) else None

    def prices_interval_s(self, matches: Sequence[ListedMatch], now: Instant) -> float:
        """Return the interval that the rate allows for a match."""
        is_far = matches and not any(_is_near(match, now.wall) for match in matches)
        return self._share.match_s * (3.0 if is_far else 1.0)

    def other_interval_s(self, target: Target) -> float:
        """Return a day for the account."""
        return DAY_S if target.scope == STATUS else super().other_interval_s(target)

    def interval_s(self, target: Target, now: Instant) -> float:
        """Return the seconds until the next page, or the next reading of a list."""
        self._note(now)
        reading = self._readings.get(target.scope)
        if reading is None:
            return super().interval_s(target, now)
        return 0.0 if reading.pages else self._share.lists[target.scope]

    def listed_for(self, scope: Scope) -> float:
        """Return the validity of a list for requests by match."""
        longest_s = self._options.staleness_at(3.0 * self._share.match_s)
        return longest_s + 3 * self._share.lists.get(scope, self.list_interval_s)

    def wait_s(self, target: Target, now: Instant) -> float:
        """Return the seconds until the rate allows a request, and no refusal forbids it."""
        self._note(now)
        waits = [super().wait_s(target, now), self._gate.wait_s(now), self._refusals.wait_s(target, now)]
        if target.scope in self._asked and not all(self._is_fresh(scope, now) for scope in (LIVE, NEAR)):
            waits.append(self.unlisted_s)  # the match may have begun
        return max(waits)

    def known_mono(self, target: Target) -> float:
        """Return the last request for matches in play, as odds by match do not say whether it has begun."""
        return self._readings[LIVE].since_mono if target.scope in self._asked else inf

    def on_asked(self, target: Target, now: Instant) -> None:
        """Count a request."""
        super().on_asked(target, now)
        self._gate.on_asked(target.scope, now)

    def on_answered(self, target: Target, headers: Mapping[str, str], now: Instant) -> None:
        """Take the rate in the headers."""
        super().on_answered(target, headers, now)
        self._gate.on_answered(target.scope, headers, now)
        self._refusals.on_answered(target)

    def on_failed(self, target: Target, error: SourceError, now: Instant) -> float:
        """Explain a refusal; wait longer if the key lacks the right."""
        least_s = super().on_failed(target, error, now)
        if not isinstance(error, TransportError):
            return least_s
        self._gate.on_answered(target.scope, error.headers, now)
        plan = "" if self._account is None else _plain(self._account.plan)
        return max(least_s, self._refusals.on_failed(target, error, plan, now))

    def learn(self, target: Target, content: object, now: Instant) -> bool:
        """Take a page of a list, or the account."""
        self._note(now)
        match content:
            case Account():
                self._take_account(content, now)
            case Leagues():
                self._take_leagues(content)
            case FixturesPage():
                return self._take_page(target, content, now)
            case Bookmakers(bookmakers=bookmakers):
                known = {each.slug for each in bookmakers}
                self._missing |= {f"bookmaker {key}" for key in self._keys if key not in known}
        return False

    def take_lists(self) -> tuple[CatalogueList, ...]:
        """Return the lists of each kick-off, or of matches in play, made from the last answer."""
        lists, self._lists = self._lists, []
        return (*lists, *super().take_lists())

    def quota(self) -> Mapping[str, float | None]:
        """Return the planned share of the rate, and the venue's figures on it."""
        return {
            "requests_per_minute": round(self._gate.rate.per_minute, 3),
            "requests_planned": round(self._share.per_minute, 3),
            "rate_limit": self._gate.seen[LIMIT],
            "rate_remaining": self._gate.seen[REMAINING],
        }

    def carried(self, soon: Sequence[Target], now: Instant) -> bytes:
        """Return the rate, encoded."""
        del soon, now
        rate = self._gate.rate
        return msgspec.msgpack.encode(Carried(rate.requests, rate.window_s))

    def resume(self, carried: bytes, now: Instant) -> None:
        """Continue with the rate of another process, which may just have sent requests."""
        if carried:
            found = msgspec.msgpack.decode(carried, type=Carried)
            self._gate.set_rate(Rate(found.requests, found.window_s))
        self._gate.pause(now)

    def facts(self) -> Mapping[str, object]:
        """Return the rights of the key, as soon as these are known."""
        if self._account is None:
            return {}
        limits = self._account.limits
        missing = {"not_found": sorted(self._missing)} if self._missing else {}
        return {
            "plan": _plain(self._account.plan),
            "requests": int(limits.rate_limit),
            "window_s": int(limits.rate_window_seconds),
            **missing,
        }

    def describe(self) -> list[str]:
        """Return lines for an operator: targets, intervals, and their share of the rate."""
        options, rate = self._api, self._gate.rate
        leagues = "all" if options.leagues == "all" else ", ".join(map(str, options.leagues))
        limit = f"{rate.requests:g} requests in {rate.window_s:g} s"
        known = "" if options.requests_per_minute else " (of the plan pro; yours by /status when it runs)"
        need = Need(self._need_of_lists(USUAL_PAGES if self._leagues is None else 1, is_busy=True))
        share = shared(rate, need)
        each = ", ".join(
            f"{name} every {share.lists[scope]:.3g} s"
            for name, scope in (("in play", LIVE), ("near", NEAR), ("a day ahead", Scope(f"{AHEAD}0")))
        )
        taken = f"{share.per_minute:.3g} of your {rate.per_minute:.3g} requests a minute"
        lines = [
            f"leagues: {leagues}; markets: {', '.join(options.kinds)}; {options.days_ahead} days ahead",
            f"a poll of these leagues takes {taken}: each list {each}",
            f"never more than {limit}{known}; prices hold for three intervals, to the kick-off at most",
        ]
        if self._is_by_match:
            lines.append(f"by match: {', '.join(self._keys)}, with what is left of the rate")
        return [*lines, "tried against answers written by hand only; terms of use were not read"]

    def _note(self, now: Instant) -> None:
        self._wall = now.wall if self._wall is None else max(now.wall, self._wall - DAY_S)
        if now.mono >= self._share_at_mono + MINUTE_S / 4:
            self._set_share(now)

    def _is_fresh(self, scope: Scope, now: Instant) -> bool:
        holds_s = self._options.staleness_at(self._share.lists[scope])
        return now.mono < self._readings[scope].since_mono + holds_s

    def _take_account(self, account: Account, now: Instant) -> None:
        self._account = account
        rate = Rate(account.limits.rate_limit, account.limits.rate_window_seconds)
        self._gate.longest_s = rate.window_s
        own = self._api.requests_per_minute
        if own is None or rate.per_minute < rate_of(own).per_minute:
            self._gate.set_rate(rate)
        self._set_share(now)

    def _take_leagues(self, page: Leagues) -> None:
        self._league_pages.append(page)
        if self._leagues is not None and not page.pagination.has_more:
            rows = [league for each in self._league_pages for league in each.leagues]
            known = {*(str(int(row.id)) for row in rows), *(_name(row.name) for row in rows)}
            self._missing |= {f"league {name}" for name in self._leagues if name not in known}

    def _take_page(self, target: Target, page: FixturesPage, now: Instant) -> bool:
        reading = self._readings[target.scope]
        if not reading.pages and target.scope != LIVE:
            reading.window = _window_of(target)
        if (read := reading.take(page)) is None:
            return False
        rows = tuple(row for row in read.rows if row.fixture is None or self._is_ours(row.fixture))
        listed = [listed_match(row.fixture) for row in rows if row.fixture is not None]
        last_mono = reading.since_mono
        reading.finish({_id_of(each): each for each in listed}, read)
        if target.scope == LIVE and reading.since_mono > last_mono + SHORTEST_S:
            self._watched_mono = reading.since_mono - SHORTEST_S
        self._newest.take(read.rows, reading.since_mono)
        known = (each.matches.keys() for each in self._readings.values())
        self._newest.keep(self._kick_offs.names().union(*known))
        self._set_share(now)
        if target.scope == LIVE:
            self._show_in_play(rows, reading)
        else:
            self._show_ahead(rows, reading, now)
        self._lists += self._kick_offs.changed(now.wall)
        self._withdraw(now)
        return True

    def _is_ours(self, fixture: Fixture) -> bool:
        league = fixture.league
        if self._leagues is None:
            return True
        return _name(league.name) in self._leagues or (
            league.id is not None and str(int(league.id)) in self._leagues
        )

    def _show_in_play(self, rows: tuple[Row, ...], reading: Reading) -> None:
        """Show matches in play."""
        holds_s = self._options.staleness_at(self._share.lists[LIVE])
        body = body_of(tuple(row.raw for row in rows))
        self._lists.append(CatalogueList(IN_PLAY, body, reading.since_mono, holds_s))
        self._kick_offs.begin(reading.matches)

    def _show_ahead(self, rows: tuple[Row, ...], reading: Reading, now: Instant) -> None:
        """Show the matches of each kick-off of a window."""

        def holds_s(start: int) -> float:
            scope = NEAR if start < now.wall + NEAR_S else Scope(f"{AHEAD}0")
            return self._options.staleness_at(self._share.lists[scope])

        window = reading.window or (0, 0)
        self._kick_offs.take(rows, window, reading.since_mono, holds_s, now.wall)

    def _withdraw(self, now: Instant) -> None:
        """Withdraw odds by match of matches that are in play, or have a newer statement."""
        holds_s = self._options.staleness_at(self._share.lists[LIVE])
        for scope, asked in self._asked.items():
            if gone := [match.id for match in asked.matches if not self._is_to_come(match)]:
                removals = tuple(Removal(name, SUSPENDED) for name in gone)
                empty = preface_of(Group((), removals)) + self.no_prices
                self._lists.append(CatalogueList(scope, empty, now.mono, holds_s))

    def _is_to_come(self, match: ListedMatch) -> bool:
        """Return whether a match has not begun, and has the newest known kick-off.

        A match that was moved forward may have ended while no list of matches in play could be read.
        """
        is_begun = match.in_play or match.id in self._readings[LIVE].matches
        return not is_begun and self._newest.is_so(match.id, match.start, SCHEDULED, self._watched_mono)

    def _set_share(self, now: Instant) -> None:
        """Divide the rate anew, and choose the matches that are requested by themselves."""
        self._share_at_mono = now.mono
        listed = self._listed()
        is_asked = self._is_by_match
        coming = [match for match in listed if is_asked and match.start > now.wall and not match.in_play]
        self._share = shared(self._gate.rate, self._need(listed, coming, now.wall))
        near = [match for match in coming if _is_near(match, now.wall)]
        far = [match for match in coming if not _is_near(match, now.wall)]
        chosen = near[: self._share.near] + far[: self._share.far]
        self._chosen = frozenset(match.id for match in chosen)

    def _listed(self) -> list[ListedMatch]:
        """Return all matches in play and future ones, each once, in the order of their kick-offs."""
        found: dict[SourceMatchId, ListedMatch] = {}
        for reading in self._readings.values():
            for name, each in reading.matches.items():
                if isinstance(each, ListedMatch) and (each.in_play or self._is_to_come(each)):
                    found.setdefault(name, each)
        return sorted(found.values(), key=lambda match: (match.start, match.id))

    def _need(self, listed: Sequence[ListedMatch], coming: Sequence[ListedMatch], wall: float) -> Need:
        starts = [match.start for match in listed]
        is_read = all(reading.has_ended for reading in self._readings.values())
        is_busy = not is_read or any(wall - PLAYED_S <= start <= wall + NEAR_S for start in starts)
        lists = self._need_of_lists(None, is_busy=is_busy)
        soonest_s = min((start - NEAR_S - wall for start in starts if start > wall + NEAR_S), default=inf)
        for scope in (LIVE, NEAR):  # an idle list is read again when it may have a match
            pages, every_s = lists[scope]
            lists[scope] = pages, max(min(every_s, soonest_s), self._near_s)
        near = sum(_is_near(match, wall) for match in coming)
        return Need(lists, near, len(coming) - near, self._near_s)

    def _need_of_lists(self, pages: int | None, *, is_busy: bool) -> dict[Scope, tuple[int, float]]:
        soon_s = self._near_s if is_busy else max(min(self._far_s, IDLE_S), self._near_s)
        return {
            scope: (
                1 if scope in {LIVE, NEAR} and pages else pages or reading.count,
                soon_s if scope in {LIVE, NEAR} else self._far_s,
            )
            for scope, reading in self._readings.items()
        }


def _window(scope: Scope, wall: float) -> Window:
    """Return the window of a list; consecutive windows overlap by an hour or more."""
    if scope == NEAR:
        first = int(wall // MINUTE_S) * MINUTE_S
        return first, first + NEAR_S + MINUTE_S
    first = (int(wall // HOUR_S) + 1) * HOUR_S + int(scope.removeprefix(AHEAD)) * DAY_S
    return first, first + DAY_S


def _window_of(target: Target) -> Window:
    query = parse_qs(urlsplit(target.url).query)
    return int(query["start_time"][0]), int(query["end_time"][0])


def _is_near(match: ListedMatch, wall: float) -> bool:
    return match.start <= wall + NEAR_S


def _id_of(each: ListedMatch | Removal) -> SourceMatchId:
    return each.source_match_id if isinstance(each, Removal) else each.id


def _names(leagues: Iterable[int | str]) -> frozenset[str]:
    return frozenset(_name(str(league)) for league in leagues)


def _name(text: str) -> str:
    return clean_name(text).casefold()


def _plain(text: str) -> str:
    return clean_name(text)[:40]
