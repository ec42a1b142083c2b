"""The fixtures whose highest prices would make a surebet, and when all of them are evaluated again.

Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import floor, inf

from msgspec import Struct
from msgspec.structs import replace

from actors.board.snapshot import Book, Entry
from actors.board.validity import is_skewed, until
from actors.core.clock import Instant
from actors.core.messages import BookmakerId
from actors.matches.surebets import (
    SHARE_DIGITS,
    FoundSurebet,
    Leg,
    PricedLeg,
    Surebet,
    SurebetRules,
    surebet,
    weak_surebet,
)
from actors.matching.event import FixtureId

EVERY_S = 1.0

Books = Mapping[BookmakerId, Book]
Entries = Mapping[BookmakerId, Entry]
Companies = Mapping[BookmakerId, str]


class Evaluation(Struct, frozen=True):
    """The inputs for a fixture's surebets at a moment: legs and its kick-off (Unix seconds).

    After the match has begun there are no legs.
    """

    legs: tuple[PricedLeg, ...]
    at: Instant
    kick_off: float

    def found(
        self, rules: SurebetRules, among: Collection[BookmakerId] | None = None
    ) -> FoundSurebet | None:
        """Return the best surebet at that moment, with its doubts, from all bookmakers or those `among`.

        It is weak if all stakes may be returned.
        """
        legs = self.legs if among is None else [leg for leg in self.legs if leg.bookmaker in among]
        return surebet(legs, self.at.mono, rules) or weak_surebet(legs, self.at.mono, rules)

    def published(self, found: FoundSurebet, since: float) -> Surebet:
        """Return a found surebet in its public form."""
        market = found.legs[0].market
        legs = tuple(
            Leg(
                outcome,
                leg.bookmaker,
                leg.price,
                round(share, SHARE_DIGITS),
                round(max(self.at.mono - leg.vouched_mono, 0.0), 3),
            )
            for outcome, leg, share in zip(market.outcomes, found.legs, found.shares, strict=True)
        )
        ends_at = min(self.at.wall + (found.until - self.at.mono), self.kick_off)
        profit, book_sum = round(found.profit, 6), round(market.winners * found.book_sum, 6)
        until_then = floor(ends_at * 1000) / 1000
        if found.is_weak:
            return Surebet(0.0, since, legs, 1.0, until_then, profit)
        return Surebet(profit, since, legs, book_sum, until_then)


def holds_until(
    found: FoundSurebet, companies: Companies, entries: Entries, books: Books, rules: SurebetRules
) -> float:
    """Return until when (monotonic seconds) a surebet of entries is valid, by the confirmations in `books`.

    It is minus infinity for an invalid surebet: one of its lists is not trusted any more, its prices are
    too far apart in time, or another bookmaker of a leg's company was confirmed later. `companies` are the
    companies of the bookmakers that count, with live prices.
    """
    legs = []
    for leg in found.legs:
        entry, book = entries[leg.bookmaker], books[leg.bookmaker]
        state, vouched = book.lists[entry.scope], book.vouched_mono(entry)
        rivals = [name for name, company in companies.items() if company == leg.company]
        newest = max([books[name].vouched_mono(entries[name]) for name in rivals], default=-inf)
        if newest > vouched or not state.is_trusted:
            return -inf
        legs.append(replace(leg, vouched_mono=vouched, holds_s=state.stale_after_s))
    return -inf if is_skewed(legs, rules.max_skew_s) else until(legs, rules.max_age_s)


class Candidate(Struct, frozen=True, gc=False):
    """A surebet believed since `since` (Unix seconds), which may be shown from `appears` on.

    While shown it ends by itself at `until`, or at `kick_off` (Unix seconds). All other times are monotonic
    seconds; infinity for never. `seen` is its evaluation for the version that last changed its fixture,
    None if the time was unknown then. That version shows only this evaluation, even after new
    confirmations.
    """

    since: float = 0.0
    appears: float = inf
    until: float = inf
    kick_off: float = inf
    seen: Evaluation | None = None


class Candidates(Struct, frozen=True, eq=False):
    """All candidates by fixture: evaluated again at `due`, or when the first shown one ends."""

    by_fixture: Mapping[FixtureId, Candidate] = {}
    due: float = inf
    until: float = inf
    kick_off: float = inf

    def is_due(self, now: Instant) -> bool:
        """Return whether all candidates must be evaluated again."""
        return min(self.due, self.until) <= now.mono or self.kick_off <= now.wall

    def changed(self, changes: Mapping[FixtureId, Candidate | None], due: float) -> Candidates:
        """Return these candidates with changes; None removes a candidate."""
        merged = {**self.by_fixture, **changes}
        every = {name: candidate for name, candidate in merged.items() if candidate is not None}
        return Candidates(
            every,
            due if every else inf,
            min([candidate.until for candidate in every.values()], default=inf),
            min([candidate.kick_off for candidate in every.values()], default=inf),
        )
