"""Combines the entries of a source's bookmakers into the event to link, and finds sure links. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from math import inf
from statistics import median

from actors.board.snapshot import Entry
from actors.core.messages import BookmakerId, SourceName
from actors.markets.market import FORMS
from actors.markets.odds import of_one_winner, scaled
from actors.matches.fair import Quote, fair
from actors.matches.model import Fixture, FixtureSettings, FixtureState, Roster
from actors.matching.event import Chances, Event, EventKey
from actors.matching.rules import Certainty


def event_of(fixture: Fixture, key: EventKey, roster: Roster) -> Event:
    """Return a fixture's event with that key, named as its source's first bookmaker lists it."""
    entries = entries_of(fixture, key.source, roster)
    return _event(key, entries[0], chances_of(entries))


def unpriced_event_of(fixture: Fixture, key: EventKey, roster: Roster) -> Event:
    """Return the event without its chances, which take most of the time."""
    listed = zip(fixture.bookmakers, fixture.listed, strict=True)
    return _event(key, next(entry for name, entry in listed if roster[name].source == key.source), None)


def _event(key: EventKey, first: Entry, chances: Chances | None) -> Event:
    home, away, league, start_time = first.match.listing
    return Event(key, home, away, league, first.scope, start_time, chances)


def entries_of(fixture: Fixture, source: SourceName, roster: Roster) -> list[Entry]:
    """Return the entries of a source's bookmakers, in their order."""
    listed = zip(fixture.bookmakers, fixture.listed, strict=True)
    return [entry for name, entry in listed if roster[name].source == source]


def chances_by_source(fixture: Fixture, roster: Roster) -> dict[SourceName, Chances]:
    """Return the chances of each source's event in a fixture, from its current prices."""
    listed: dict[SourceName, list[Entry]] = {}
    for name, entry in fixture.entries.items():
        listed.setdefault(roster[name].source, []).append(entry)
    return {source: chances_of(entries) for source, entries in listed.items()}


def chances_in(state: FixtureState, key: EventKey) -> Chances | None:
    """Return the chances of an event from its current prices, None if no source lists it."""
    fixture = state.of_event(key)
    return None if fixture is None else chances_of(entries_of(fixture, key.source, state.terms.roster))


def is_other_event(old: Entry, new: Entry) -> bool:
    """Return whether an entry differs in more than prices, so that its link may change."""
    return old.match.listing != new.match.listing or old.scope != new.scope


def quotes_of(fixture: Fixture, chances: Iterable[Chances], roster: Roster) -> dict[BookmakerId, Quote]:
    """Return the prices of all bookmakers of a fixture, converted to one winner (`of_one_winner`).

    `chances` are their fair chances, in order.
    """
    names, live, market = fixture.bookmakers, roster.live, fixture.market
    superseded = fixture.superseded(names)
    return {
        name: Quote(
            of_one_winner(market, entry.match.prices), of_entry, name in live and name not in superseded
        )
        for name, entry, of_entry in zip(names, fixture.listed, chances, strict=True)
    }


def live_quotes(fixture: Fixture, terms: FixtureSettings) -> dict[BookmakerId, Quote]:
    """Return the prices of a fixture's bookmakers with live prices, converted to one winner."""
    names, live, market = fixture.bookmakers, terms.roster.live, fixture.market
    superseded = fixture.superseded(names)
    return {
        name: Quote(
            prices := of_one_winner(market, entry.match.prices),
            fair(terms.method, prices),
            name not in superseded,
        )
        for name, entry in zip(names, fixture.listed, strict=True)
        if name in live
    }


def chances_of_entry(entry: Entry) -> Chances:
    """Return the probabilities of an entry's prices; the margin is removed in proportion."""
    return scaled([1 / price for price in entry.match.prices])


def chances_of(entries: Sequence[Entry]) -> Chances:
    """Return the median by outcome of one or more entries, scaled to the sum 1."""
    if len(entries) == 1:
        return chances_of_entry(entries[0])
    return scaled([median(chances) for chances in zip(*map(chances_of_entry, entries), strict=True)])


def sure_legs(fixture: Fixture, roster: Roster) -> dict[BookmakerId, bool]:
    """Return for each bookmaker whether its source's link is sure enough for a surebet."""
    sure = {member.key.source for member in fixture.members if member.certainty is Certainty.SURE}
    return {name: roster[name].source in sure for name in fixture.bookmakers}


def start_of(fixture: Fixture, live: Container[BookmakerId]) -> tuple[float, bool]:
    """Return the earliest kick-off (Unix seconds), and whether the match has begun, or may have begun.

    Only bookmakers with `live` prices and the 1X2 fixture count; the kick-off is infinity if none gives
    one. A handicap may be another bet in play, where only later goals count.
    """
    listed = [entry.match for name, entry in fixture.entries.items() if name in live]
    starts = [float(match.start_time) for match in listed if match.start_time is not None]
    head = fixture.head
    kick_off = min([*starts, inf if head is None else head.kick_off])
    every = (*[match.in_play for match in listed], None if head is None else head.in_play)
    said = [is_so for is_so in every if is_so is not None]
    may_have = kick_off == inf and not said and FORMS[fixture.market.kind].count_from_now
    return kick_off, any(said) or fixture.has_begun or may_have
