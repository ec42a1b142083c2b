"""Surebets over time: their beginning, their appearance, and their end without new data.

Pure. A changed fixture is evaluated in the same commit, all candidates once a second. A surebet appears
after it has lasted for `min_life_s`, and ends at the earliest kick-off from a live source.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import msgspec

from actors.board.board import Books
from actors.board.snapshot import Book
from actors.core.clock import Instant
from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import Scope
from actors.markets.odds import book_sum, of_all_winners, of_one_winner
from actors.matches.candidates import EVERY_S, Candidate, Evaluation
from actors.matches.draft import FixtureUpdate, is_seen
from actors.matches.entries import live_quotes, start_of, sure_legs
from actors.matches.model import Fixture, FixtureSettings
from actors.matches.surebets import Doubt, PricedLeg, Surebet, doubted_legs
from actors.matching.event import FixtureId

_TIME_DOUBTS = {Doubt.AGE, Doubt.SKEW}


class Surebets:
    """Finds the surebets of fixtures, and follows them as time passes."""

    def __init__(self, terms: FixtureSettings) -> None:
        self._terms = terms
        self._live = terms.roster.live

    def settle(
        self, draft: FixtureUpdate, before: Books, books: Books, now: Instant, *, is_present: bool = True
    ) -> Sliced[None]:
        """Set the surebets of the changed fixtures.

        All candidates are evaluated when they are due, or when other lists are trusted than in `before`. A
        new surebet begins only if `now` is the present moment, because an older one may have ended already.
        """
        known = draft.base.candidates
        is_due = known.is_due(now) or any(
            _trusted(book) != _trusted(before[name])
            for name, book in books.items()
            if book is not before[name]
        )
        evaluated: dict[FixtureId, Candidate | None] = {}
        names = dict.fromkeys([*draft.touched, *(known.by_fixture if is_due else ())])
        for count, fixture_id in enumerate(names, 1):
            fixture = draft.get(fixture_id)
            if fixture is not None and is_candidate(fixture):
                evaluated[fixture_id] = self._evaluate(draft, fixture, books, now, is_present=is_present)
                yield
            elif fixture_id in known.by_fixture:
                evaluated[fixture_id] = None
            if count % SLICE == 0:
                yield
        if evaluated:
            due = now.mono + EVERY_S
            draft.candidates = known.changed(evaluated, due if is_due else min(known.due, due))

    def end(self, draft: FixtureUpdate) -> None:
        """End all surebets while the time is unknown; candidates wait until it is known."""
        known, changes = draft.base.candidates, dict[FixtureId, Candidate | None]()
        for fixture_id in dict.fromkeys([*draft.touched, *known.by_fixture]):
            fixture, old = draft.get(fixture_id), known.by_fixture.get(fixture_id)
            if fixture is not None and fixture.standing is not None:
                draft.put(fixture.with_standing(None))
            candidate = None
            if fixture is not None and is_candidate(fixture):
                before = draft.base.get(fixture_id)
                is_kept = old is not None and before is not None and _is_as_before(before, fixture, None)
                candidate = Candidate(seen=old.seen if old is not None and is_kept else None)
            if candidate != old:
                changes[fixture_id] = candidate
        if changes:
            draft.candidates = known.changed(changes, -inf)

    def _evaluate(
        self, draft: FixtureUpdate, fixture: Fixture, books: Books, now: Instant, *, is_present: bool
    ) -> Candidate:
        """Set the surebet of a fixture at `now`, and return the prices that are or may become a surebet."""
        evaluation = self._evaluation(fixture, books, now)
        found = evaluation.found(self._terms.surebets)
        known, former = draft.base.get(fixture.id), draft.base.candidates.by_fixture.get(fixture.id)
        old = former or Candidate()
        candidate, surebet = Candidate(seen=evaluation), None
        if found is not None and not found.doubts:
            since, appears = old.since, old.appears + self._longer_s(draft)
            if appears == inf and is_present:
                since, appears = round(now.wall, 3), now.mono + self._terms.surebets.min_life_s
            candidate = Candidate(since, appears, seen=evaluation)
            if appears <= now.mono:
                kick_off = evaluation.kick_off
                until = min(found.until, now.mono + (kick_off - now.wall))
                candidate = Candidate(since, appears, until, kick_off, evaluation)
                surebet = evaluation.published(found, since)
        elif found is not None and _TIME_DOUBTS.issuperset(found.doubts):
            draft.aged.add(fixture.id)
        is_known = former is not None and draft.terms is draft.base.terms
        if is_known and known is not None and _is_as_before(known, fixture, surebet):
            candidate, surebet = msgspec.structs.replace(candidate, seen=old.seen), known.standing
        if surebet != fixture.standing:
            draft.put(fixture.with_standing(surebet))
        return candidate

    def _longer_s(self, draft: FixtureUpdate) -> float:
        """Return the increase of `min_life_s` over the base's rules."""
        return self._terms.surebets.min_life_s - draft.base.terms.surebets.min_life_s

    def _evaluation(self, fixture: Fixture, books: Books, now: Instant) -> Evaluation:
        """Return the inputs for a fixture's surebets at `now`."""
        kick_off, has_begun = start_of(fixture, self._live)
        has_begun = has_begun or now.mono + (kick_off - now.wall) <= now.mono
        return Evaluation(() if has_begun else tuple(self._legs(fixture, books)), now, kick_off)

    def _legs(self, fixture: Fixture, books: Books) -> Iterator[PricedLeg]:
        sure, quotes = sure_legs(fixture, self._terms.roster), live_quotes(fixture, self._terms)
        market, entries = fixture.market, fixture.entries
        doubted = doubted_legs(quotes, self._terms.surebets, market)
        for name, quote in quotes.items():
            entry, listed = entries[name], self._terms.roster[name]
            state, vouched = books[name].lists[entry.scope], books[name].vouched_mono(entry)
            chances = of_all_winners(market, quote.chances)
            for outcome, price in enumerate(entry.match.prices):
                yield PricedLeg(
                    name,
                    outcome,
                    price,
                    listed.commission,
                    vouched,
                    state.stale_after_s,
                    listed.prices,
                    sure[name],
                    chances,
                    name in doubted,
                    listed.company,
                    entry.match.fee_rate,
                    state.is_trusted,
                    market,
                )


def _trusted(book: Book) -> set[Scope]:
    """Return the lists whose newest attempt succeeded."""
    return {scope for scope, state in book.lists.items() if state.is_trusted}


def is_candidate(fixture: Fixture) -> bool:
    """Return whether its highest prices may never lose; commission and fees only lower them."""
    return book_sum(of_one_winner(fixture.market, fixture.highest.prices)) < 1


def _is_as_before(known: Fixture, fixture: Fixture, surebet: Surebet | None) -> bool:
    """Return whether readers see no difference if a fixture has a surebet of these bets."""
    bets, known_bets = (None if each is None else each.bets for each in (surebet, known.standing))
    return bets == known_bets and not is_seen(known, fixture.with_standing(known.standing))
