"""Surebets over time: since when they stand, when they appear, and when they end by themselves.

Pure. A surebet appears once it has stood for `min_life_s`, and ends at the earliest kick-off that a live
source gives. Where prices are confirmed at unequal intervals it would come and go with them: each time that
it goes it must stand for twice as long before it comes back, until its prices make none any more.

Time alone makes a doubted one believable too: what is too good is no longer in its way once a price of that
is too old.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from math import inf, nextafter
from typing import TypeAlias

import msgspec

from actors.board.board import Books
from actors.board.snapshot import Book
from actors.core.clock import Instant
from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import BookmakerId, Prices, SourceName
from actors.matches import surebets
from actors.matches.draft import Draft
from actors.matches.entries import chances_by_source
from actors.matches.fair import consensus, fair
from actors.matches.model import Fixture, Leg, Roster, Surebet, Terms, live_of
from actors.matches.surebets import Doubt
from actors.matches.watchlist import Standing
from actors.matching.event import Chances, FixtureId
from actors.matching.matcher import Member
from actors.matching.rules import AGREE, Rule, price_gap

Names: TypeAlias = Collection[BookmakerId]

OUTCOMES = ("1", "X", "2")
WELL_LINKED = {Rule.FIRST, Rule.MUST, Rule.SAME, Rule.SAME_NAMES, Rule.MOVED, Rule.DAY_MOVED}
MAX_LAPSES = 16
SHARE_DIGITS = 10  # with fewer a share of a high price, up to 1,000, may return less than the total

_OF_TIME = {Doubt.AGE, Doubt.SKEW}


class Surebets:
    """Finds the surebets of fixtures, and what becomes of them as time passes."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._live = live_of(terms.roster)

    def settle(self, draft: Draft, before: Books, books: Books, now: Instant) -> Sliced[None]:
        """Set the surebets of the fixtures that changed, and of those that are due or confirmed."""
        known = draft.base.watched.standing
        for count, fixture_id in enumerate(draft.touched, 1):
            fixture = draft.get(fixture_id)
            if fixture_id in known or (fixture is not None and is_candidate(fixture)):
                self._set(draft, fixture_id, books, now)
                yield
            elif count % SLICE == 0:
                yield
        touched = {*draft.touched}
        for due in self._due(draft, before, books, now):
            if due is not None and due not in touched:
                self._set(draft, due, books, now)
            yield

    def _due(self, draft: Draft, before: Books, books: Books, now: Instant) -> Iterator[FixtureId | None]:
        """Yield the fixtures that are to be looked at, whether they changed or not; None after a slice."""
        watched = draft.base.watched
        if not watched.standing:
            return
        changed = {name for name, book in books.items() if book is not before[name]}
        retimed = {name for name in changed if _is_retimed(before[name], books[name])}
        ones = watched.standing if retimed or watched.is_due(now) else watched.open
        for count, fixture_id in enumerate(ones, 1):
            standing = watched.standing[fixture_id]
            is_due = standing.due <= now.mono or (standing.kick_off <= now.wall) != standing.is_in_play
            is_confirmed = not standing.awaited.isdisjoint(changed)
            if is_due or is_confirmed or (retimed and _has_any(draft, fixture_id, retimed)):
                yield fixture_id
            elif count % SLICE == 0:
                yield None

    def _set(self, draft: Draft, fixture_id: FixtureId, books: Books, now: Instant) -> None:
        """Set the surebet of a fixture as of `now`."""
        fixture, old = draft.get(fixture_id), draft.base.watched.standing.get(fixture_id)
        if fixture is None or not is_candidate(fixture):
            if old is not None:
                draft.standing[fixture_id] = None
            return
        kick_off = self._kick_off(fixture)
        is_in_play = kick_off <= now.wall
        legs = [] if is_in_play else [*self._legs(fixture, books)]
        found = None if is_in_play else self._found(fixture, legs, kick_off - now.wall, now)
        standing = self._standing(found, old, now, was_shown=_is_shown(draft, fixture_id))
        if is_in_play:  # kept, because the clock may turn out to be wrong
            standing = Standing(inf, inf, 0.0, 0 if old is None else old.lapses, is_in_play=True)
        if standing is not None:
            awaited = self._awaited(fixture, legs, found, now)
            standing = msgspec.structs.replace(standing, awaited=awaited, kick_off=kick_off)
        if standing != old:
            draft.standing[fixture_id] = standing
        surebet = None
        if found is not None and not found.doubts and standing is not None and standing.appears <= now.mono:
            surebet = _shown(found, standing)
        elif found is not None and found.doubts and _OF_TIME.issuperset(found.doubts):
            draft.aged.add(fixture_id)
        if surebet != fixture.surebet:
            draft.put(msgspec.structs.replace(fixture, surebet=surebet))

    def _standing(
        self,
        found: surebets.Surebet | None,
        old: Standing | None,
        now: Instant,
        *,
        was_shown: bool,
    ) -> Standing | None:
        if found is None:
            return None
        lapses = 0 if old is None else old.lapses
        if not found.doubts:
            if old is not None and old.appears != inf:
                appears, since = old.appears, old.since
            else:
                appears, since = now.mono + self._terms.surebets.min_life_s * 2**lapses, round(now.wall, 3)
            due = found.until if appears <= now.mono else min(found.until, appears)
            return Standing(max(due, nextafter(now.mono, inf)), appears, since, lapses)
        due = found.until if found.until > now.mono else inf  # then others of its prices may be believed
        return Standing(due, inf, 0.0, min(lapses + was_shown, MAX_LAPSES))

    def _awaited(
        self, fixture: Fixture, legs: list[surebets.Leg], found: surebets.Surebet | None, now: Instant
    ) -> frozenset[BookmakerId]:
        """Return the bookmakers whose confirmation alone may change what was found."""
        awaited = surebets.awaited(legs, now.mono, self._terms.surebets)
        if not awaited or found is None or found.doubts or self._terms.surebets.max_skew_s is not None:
            return awaited
        # Prices that are older do no harm to what is believed, unless they gain more, or too much.
        return awaited if self._may_be_too_good(fixture) or surebets.is_beaten(found, legs) else frozenset()

    def _may_be_too_good(self, fixture: Fixture) -> bool:
        """Return whether its highest prices gain too much: they do no harm while they are not confirmed."""
        return _book_sum(fixture) * (1 + self._terms.surebets.max_profit) < 1

    def _kick_off(self, fixture: Fixture) -> float:
        """Return the earliest kick-off that a live source gives (Unix seconds); infinity if none does."""
        starts = [one.match.start_time for name, one in fixture.entries.items() if name in self._live]
        return min([one for one in starts if one is not None], default=inf)

    def _found(
        self, fixture: Fixture, legs: list[surebets.Leg], left_s: float, now: Instant
    ) -> surebets.Surebet | None:
        """Return what there is at `now`, so many seconds before the kick-off."""
        chances = fair_chances(fixture, self._terms)
        found = surebets.surebet(legs, chances, now.mono, self._terms.surebets)
        if found is None:
            return None
        return msgspec.structs.replace(found, until=min(found.until, now.mono + left_s))

    def _legs(self, fixture: Fixture, books: Books) -> Iterator[surebets.Leg]:
        well = _well_linked(fixture, self._terms.roster)
        for name, entry in fixture.entries.items():
            if name in self._live:
                match, state = entry.match, books[name].lists[entry.scope]
                vouched = state.vouched.get(match.source_match_id, state.confirmed_mono)
                listed = self._terms.roster[name]
                for outcome, price in enumerate((match.home_price, match.draw_price, match.away_price)):
                    yield surebets.Leg(
                        name,
                        outcome,
                        price,
                        listed.commission,
                        vouched,
                        state.stale_after_s,
                        listed.prices,
                        listed.source in well,
                    )


def _has_any(draft: Draft, fixture_id: FixtureId, names: Names) -> bool:
    """Return whether any of these bookmakers lists a fixture."""
    fixture = draft.get(fixture_id)
    return fixture is not None and any(name in names for name in fixture.bookmakers)


def _is_retimed(before: Book, book: Book) -> bool:
    """Return whether prices of a book are vouched for since other times, or hold for another time."""
    return any(
        new.stale_after_s != old.stale_after_s or new.vouched != old.vouched
        for scope, new in book.lists.items()
        if (old := before.lists.get(scope)) is not None and new is not old
    )


def is_candidate(fixture: Fixture) -> bool:
    """Return whether its highest prices win whatever happens; commission can only make that worse."""
    return _book_sum(fixture) < 1


def fair_chances(fixture: Fixture, terms: Terms) -> Chances | None:
    """Return the consensus of the bookmakers whose prices are live; None of too few."""
    chances = [
        fair(terms.method, (entry.match.home_price, entry.match.draw_price, entry.match.away_price))
        for name, entry in fixture.entries.items()
        if terms.roster[name].prices is Prices.LIVE
    ]
    return consensus(chances)


def _book_sum(fixture: Fixture) -> float:
    highest = fixture.highest
    return 1 / highest.home + 1 / highest.draw + 1 / highest.away


def _is_shown(draft: Draft, fixture_id: FixtureId) -> bool:
    before = draft.base.get(fixture_id)
    return before is not None and before.surebet is not None


def _shown(found: surebets.Surebet, standing: Standing) -> Surebet:
    legs = tuple(
        Leg(outcome, leg.bookmaker, leg.price, round(share, SHARE_DIGITS))
        for outcome, leg, share in zip(OUTCOMES, found.legs, found.shares, strict=True)
    )
    return Surebet(round(found.profit, 6), standing.since, legs)


def _well_linked(fixture: Fixture, roster: Roster) -> set[SourceName]:
    """Return the sources whose event is well linked with the first, by each of the links on the way."""
    members = {one.key: one for one in fixture.members}
    is_priced = any(one.rule not in WELL_LINKED for one in fixture.members)
    chances = chances_by_source(fixture, roster) if is_priced else {}
    good = {one.key for one in fixture.members if _is_good(one, chances)}
    well = set()
    for one in fixture.members:
        link = one
        while link.key in good and link.to is not None:
            link = members[link.to]
        if link.key in good:
            well.add(one.key.source)
    return well


def _is_good(link: Member, chances: Mapping[SourceName, Chances]) -> bool:
    """Return whether a surebet may rest on a link: one of names that are not the same while prices agree.

    Without evidence nobody has compared the two yet.
    """
    if link.to is None or link.basis is None:
        return link.to is None
    if link.rule in WELL_LINKED:
        return True
    gap = price_gap(chances[link.key.source], chances[link.to.source])
    return gap is not None and gap <= AGREE
