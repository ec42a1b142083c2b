"""When Polymarket is asked for what: leagues, the markets of each, and the books of their matches. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from actors.core.clock import Instant
from actors.core.errors import PayloadError
from actors.core.messages import Scope
from actors.source_api.catalogue import CataloguePlan, Listing
from actors.source_api.plan import Target
from actors.sources.polymarket.catalogue import MarketsPage, Sports
from actors.sources.polymarket.listing import League, ListedMatch, read_listing
from actors.sources.polymarket.options import (
    PAGE,
    SPORTS_SCOPE,
    PolymarketOptions,
    books_target,
    markets_scope,
    markets_target,
    sports_target,
)

DAY_S = 86_400.0
SPORTS_INTERVAL_S = DAY_S
MAX_PAGES = 50  # of a league; a season has some 400 matches, 1,200 markets
MATCHES_A_CALL = 33  # 99 tokens: more than 100 were never tried
HORIZON_S = 14 * DAY_S
ASSUMED = (
    "tried against recordings only; where the venue's documents are silent it is assumed:",
    f"  at most {3 * MATCHES_A_CALL} tokens a call for books, and {PAGE} markets a page",
    "  leagues are asked one by one, each by a tag that no other league has; requests are not conditional",
    "  teams are those of the title where a list has no teams, if something says which plays at home",
    "  a match that has ended is not shown, though it may take orders: bets are on 90 minutes alone",
)


class PolymarketPlan(CataloguePlan[ListedMatch]):
    """The plan of all leagues. Raises: ValueError for options that cannot be kept."""

    size = MATCHES_A_CALL
    no_prices = b"[]"
    list_interval_s, listed_for_s = 300.0, 900.0
    horizon_s = HORIZON_S

    def __init__(self, options: PolymarketOptions, keys: tuple[str, ...]) -> None:
        del keys
        super().__init__(options)
        self._venue = options
        self._leagues: dict[Scope, League] = {}  # of `listings`
        self._cannot_ask: set[str] = set()
        if options.stale_after_s is not None:
            self.check_staleness(options.stale_after_s, "a list of matches")
        elif options.staleness_at(self._far_s) > self.listed_for_s:  # no list would hold long enough
            name = "far_interval_s" if self._far_s == options.far_interval_s else "poll_interval_s"
            most = self.listed_for_s / options.staleness_at(1.0)
            why = f"prices hold for three intervals, a list of matches for {self.listed_for_s:g} s"
            raise ValueError(f"{name} was {self._far_s:g}, must be at most {most:g}: {why}")

    def catalogue_targets(self) -> Iterable[Target]:
        """Return the list of leagues, and the next page of each."""
        yield sports_target(self._venue)
        for scope, listing in self.listings.items():
            league, cursor = self._leagues[scope], listing.pages[-1].cursor if listing.pages else ""
            yield markets_target(self._venue, league.key, league.tag, cursor)

    def prices_target(self, scope: Scope, matches: Sequence[ListedMatch], preface: bytes) -> Target:
        """Return the books of the matches' tokens."""
        tokens = [token for match in matches for token in match.tokens]
        return books_target(self._venue, scope, tokens, preface)

    def other_interval_s(self, target: Target) -> float:
        """Return a day for the list of leagues."""
        return SPORTS_INTERVAL_S if target.scope == SPORTS_SCOPE else super().other_interval_s(target)

    def learn(self, target: Target, content: Sports | MarketsPage, now: Instant) -> bool:
        """Take the leagues, or a page of a league's markets."""
        del now
        if isinstance(content, Sports):
            self._set_leagues(content)
            return False
        listing, count = self.listings[target.scope], len(self.listings[target.scope].pages) + 1
        is_seen = content.cursor in {page.cursor for page in listing.pages}
        if content.cursor and (is_seen or count >= MAX_PAGES):
            raise PayloadError(f"the list of markets does not end: page {count} points to an earlier one")
        listing.pages.append(content)
        if content.cursor:
            return False
        markets = [market for page in listing.pages for market in page.markets]
        unreadable = sum(page.unread.count for page in listing.pages)
        listing.end(read_listing(markets, self._leagues[target.scope]), unreadable)
        return True

    def facts(self) -> Mapping[str, object]:
        """Return the leagues that are asked for, and those that cannot be."""
        if not self._leagues:
            return {}
        leagues = sorted(league.key for league in self._leagues.values())
        return {"leagues": leagues, "cannot_ask": sorted(self._cannot_ask)}

    def describe(self) -> list[str]:
        """Return lines for an operator: what is asked how often, how fresh that is, and what is assumed."""
        options = self._venue
        leagues = "all of football" if options.leagues == "football" else ", ".join(options.leagues)
        fees = "after the taker's fee" if options.after_fees else "before the taker's fee"
        return [
            f"leagues: {leagues}; prices {fees}, for a stake of at least {options.min_stake:g} USD",
            f"matches of {HORIZON_S / DAY_S:g} days every {self.list_interval_s:g} s",
            *super().describe(),
            *ASSUMED,
        ]

    def _set_leagues(self, sports: Sports) -> None:
        known, wanted = {league.key: league for league in sports.leagues}, self._venue.leagues
        chosen = {*known} if wanted == "football" else {*wanted}
        missing = chosen - known.keys() - {league.key for league in self._leagues.values()}
        self._cannot_ask = missing | {*sports.untold} if wanted == "football" else missing
        for key in sorted(chosen & known.keys()):
            scope = markets_scope(key)
            if self._leagues.get(scope) != known[key]:
                self._leagues[scope], self.listings[scope] = known[key], Listing(f"{key}-")
        if not self._leagues:
            found = ", ".join(sorted(known))
            raise PayloadError(
                f"leagues was {', '.join(sorted(chosen))}, must be among {found}", "no_league"
            )
