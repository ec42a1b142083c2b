"""The plan of Polymarket's requests: leagues, their markets, and the matches' order books. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf

from actors.core.clock import Instant
from actors.core.errors import PayloadError
from actors.core.messages import Removal, Scope, SourceMatchId, event_id_of
from actors.core.validation import Reason
from actors.markets.market import Kind
from actors.source_api.catalogue import CataloguePlan, Listing
from actors.source_api.plan import Target
from actors.sources.polymarket.catalogue import MarketsPage, Sports
from actors.sources.polymarket.lines import MARKET_TYPES, SIBLING, MarketType, completed, read_lines
from actors.sources.polymarket.listing import MONEYLINE, PAGES, League, ListedMatch, read_listing
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
MAX_PAGES = 50  # pages of a league; a season has some 400 matches with 1,200 markets
TOKENS_A_CALL = 99  # for 33 matches, or the lines of five; more than 100 tokens were never tried
KINDS = (Kind.ONE_X_TWO, *MARKET_TYPES)
HORIZON_S = 14 * DAY_S
ASSUMED = (
    "tried against recordings only; where the venue's documents are silent it is assumed:",
    f"  at most {TOKENS_A_CALL} tokens a call for books, and {PAGE} markets a page",
    "  leagues are asked one by one, each by a tag that no other league has; requests are not conditional",
    "  teams are those of the title where a list has no teams, if something says which plays at home",
    "  a match that has ended is not shown, though it may take orders: bets are on 90 minutes alone",
)
ASSUMED_OF_LINES = (
    "  each type of market can be asked for by its name, and its event says of which match it is"
)


class PolymarketPlan(CataloguePlan[ListedMatch]):
    """The plan of all leagues. Raises: ValueError for options that cannot work."""

    size = TOKENS_A_CALL
    no_prices = b"[]"
    list_interval_s, listed_for_s = 300.0, 900.0
    horizon_s = HORIZON_S

    def __init__(self, options: PolymarketOptions, keys: tuple[str, ...]) -> None:
        del keys
        super().__init__(options)
        self._venue = options
        self._leagues: dict[Scope, League] = {}  # by the scopes of `listings`
        self._types: dict[Scope, MarketType] = {}  # by the scopes of lists of markets other than results
        self._ids: dict[Scope, Mapping[str, SourceMatchId]] = {}  # ids by slug, for lists of results
        if unknown := [kind for kind in options.kinds if kind not in KINDS]:
            raise ValueError(f"markets was {unknown[0]}, must be among {', '.join(KINDS)}")
        self._cannot_ask: set[str] = set()
        if options.stale_after_s is not None:
            self.check_staleness(options.stale_after_s, "a list of matches")
        elif options.staleness_at(self._far_s) > self.listed_for_s:  # no list would be valid long enough
            name = "far_interval_s" if self._far_s == options.far_interval_s else "poll_interval_s"
            most = self.listed_for_s / options.staleness_at(1.0)
            why = f"prices hold for three intervals, a list of matches for {self.listed_for_s:g} s"
            raise ValueError(f"{name} was {self._far_s:g}, must be at most {most:g}: {why}")

    def catalogue_targets(self) -> Iterable[Target]:
        """Return the targets of the list of leagues, and of each league's next page."""
        yield sports_target(self._venue)
        for scope, listing in self.listings.items():
            cursor = listing.pages[-1].cursor if listing.pages else ""
            name = self._types[scope].name if scope in self._types else MONEYLINE
            yield markets_target(self._venue, scope, self._leagues[scope].tag, name, cursor)

    def prices_target(self, scope: Scope, matches: Sequence[ListedMatch], preface: bytes) -> Target:
        """Return the target of the order books of the matches' tokens."""
        tokens = [token for match in matches for token in match.every_token]
        return books_target(self._venue, scope, tokens, preface)

    def weight(self, match: ListedMatch) -> int:
        """Return the number of a match's tokens."""
        return len(match.every_token)

    def completed(self, match: ListedMatch, now: Instant) -> ListedMatch | Removal | None:
        """Return a match, its questions completed by its result; None while the result is unknown."""
        del now
        if not match.questions:
            return match
        lists, slug = [self.listings[scope] for scope in self._ids], match.slug.removesuffix(SIBLING)
        by_slug = (ids[slug] for ids in self._ids.values() if slug in ids)
        names = [SourceMatchId(match.parent)] if match.parent else [event_id_of(match.id), *by_slug]
        mains = [each.matches[name] for each in lists for name in names if name in each.matches]
        if not mains:
            is_read = all(each.since_mono > -inf for each in lists)
            return Removal(match.id, Reason.NO_RESULT) if is_read else None
        return completed(match, mains[0])

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
        league, row = self._leagues[target.scope], self._types.get(target.scope)
        if row is not None:
            lines = read_lines(markets, row, league)
            listing.end(lines.matches, unreadable, lines.passed_over)
            return True
        listing.end(read_listing(markets, league), unreadable)
        shown = (each for each in listing.matches.values() if isinstance(each, ListedMatch))
        self._ids[target.scope] = {(each.url or "").removeprefix(PAGES): each.id for each in shown}
        return True

    def facts(self) -> Mapping[str, object]:
        """Return the requested leagues, and the leagues that cannot be requested."""
        if not self._leagues:
            return {}
        leagues = sorted({league.key for league in self._leagues.values()})
        return {"leagues": leagues, "cannot_ask": sorted(self._cannot_ask)}

    def describe(self) -> list[str]:
        """Return lines for an operator: targets, intervals, freshness and assumptions."""
        options = self._venue
        leagues = "all of football" if options.leagues == "football" else ", ".join(options.leagues)
        fees = "after the taker's fee" if options.after_fees else "before the taker's fee"
        return [
            *([] if options.kinds == KINDS[:1] else [f"markets: {', '.join(options.kinds)}"]),
            f"leagues: {leagues}; prices {fees}, for a stake of at least {options.min_stake:g} USD",
            f"matches of {HORIZON_S / DAY_S:g} days every {self.list_interval_s:g} s",
            *super().describe(),
            *ASSUMED,
            *([] if options.kinds == KINDS[:1] else [ASSUMED_OF_LINES]),
        ]

    def _set_leagues(self, sports: Sports) -> None:
        known, wanted = {league.key: league for league in sports.leagues}, self._venue.leagues
        chosen = {*known} if wanted == "football" else {*wanted}
        missing = chosen - known.keys() - {league.key for league in self._leagues.values()}
        self._cannot_ask = missing | {*sports.untagged} if wanted == "football" else missing
        for key in sorted(chosen & known.keys()):
            for row in (None, *(MARKET_TYPES[kind] for kind in self._venue.kinds[1:])):
                self._set_list(known[key], row)
        if not self._leagues:
            found = ", ".join(sorted(known))
            raise PayloadError(
                f"leagues was {', '.join(sorted(chosen))}, must be among {found}", "no_league"
            )

    def _set_list(self, league: League, row: MarketType | None) -> None:
        """Add the listing of a league's results, or of its markets of another type."""
        scope = markets_scope(league.key, "" if row is None else row.slug)
        if self._leagues.get(scope) == league:
            return
        prefix = f"{league.key}-" if row is None else f"{league.key}-{row.slug}-"
        self._leagues[scope], self.listings[scope] = league, Listing(prefix)
        if row is None:
            self._ids[scope] = {}
        else:
            self._types[scope] = row
