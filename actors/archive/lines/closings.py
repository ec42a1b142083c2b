"""Reads the closing prices of all fixtures that kicked off in a range of time; runs in a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct

from actors.archive.days.closings import Asked as At
from actors.archive.days.closings import Numbers, Shown, firsts, listings, shown_at
from actors.archive.days.lines import entry_rows
from actors.archive.days.links import links
from actors.archive.days.reading import Reader
from actors.archive.lines.moved import breaks_of, cuts_at, rosters_of, with_ends
from actors.archive.past import Days, Held
from actors.core.messages import BookmakerId, Prices
from actors.lines.closing import LIMIT_MS, Close, NoClose
from actors.lines.consensus import FairPoint, Past, Terms, consensus_of, counting
from actors.lines.line import UNKNOWN, Break, Moment, Point, Row, left_in_a_gap, points_of
from actors.lines.links import Bookmakers, Link, LinkRow, RosterRow, entry_ids, ids_by_source
from actors.markets.market import ONE_X_TWO, Market
from actors.markets.odds import of_one_winner
from actors.matches.fair import Method, fair
from actors.matching.event import Chances, FixtureId

DAY_MS: Final = 86_400_000
SEEN_MS: Final = 7 * DAY_MS
"""The longest time before the kick-off at which the first price is searched."""
MOST = 250
"""Fixtures in an answer: with 50 bookmakers each a second or two of a processor; a read may take five."""


class AskedClosings(Struct, frozen=True):
    """The fixtures with a final kick-off (Unix milliseconds) in a range, the end excluded.

    Their members are read from `back_ms` before the range on.
    """

    from_ms: int
    until_ms: int
    now_ms: int
    market: Market
    bookmakers: Bookmakers
    method: Method
    back_ms: int = DAY_MS


class Listed(Struct, frozen=True):
    """The last names and kick-off of a fixture, from its first bookmaker."""

    home: str
    away: str
    league: str | None
    kick_off: int


class EntryClose(Struct, frozen=True):
    """The close of an entry, or why there is none; the time (Unix milliseconds) of its first price.

    With `is_state` the entry already had that price at the start of the kept data. `chances` come from the
    entry's own prices, without margin.
    """

    id: str
    bookmaker: BookmakerId
    close: Close | NoClose
    first_version: int
    first_ms: int
    is_state: bool
    chances: Chances | None = None


class FixtureClose(Struct, frozen=True):
    """The closes of a fixture's entries, and its members and consensus at the kick-off.

    The consensus is of the `counted` chances, if their kinds were stored. All are empty before the
    kick-off. If the fixture was merged `into` another by then, the other has the entries, and this one does
    not count as a match.
    """

    id: FixtureId
    listed: Listed
    members: Sequence[Link] = ()
    entries: Sequence[EntryClose] = ()
    consensus: FairPoint | None = None
    counted: Mapping[BookmakerId, Chances] = {}
    is_started: bool = True
    into: FixtureId | None = None


class Closed(Struct, frozen=True):
    """The closes of fixtures; if there are more, ask again from the kick-off `next_from`."""

    fixtures: Sequence[FixtureClose]
    next_from: int | None = None


class _Held(Struct):
    """The members of a fixture over some days, the last day that showed it, and its last version there."""

    rows: list[LinkRow]
    day: Held
    end: int


class Closings:
    """The closes of a market, read from some days."""

    def __init__(self, days: Days, asked: AskedClosings) -> None:
        self._days, self._asked = days, asked
        self._held = days.held()
        self._gaps = breaks_of(days.gaps(self._held))
        self._rosters: list[RosterRow] = []
        self._rows: Mapping[FixtureId, Sequence[LinkRow]] = {}
        self._numbers: dict[tuple[Held, Market], Numbers] = {}

    def read(self, is_wanted: Callable[[Listed], bool] = lambda _: True, most: int = MOST) -> Closed:
        """Return the closes of the wanted fixtures, by kick-off and id.

        At most `most` fixtures, or all with the same first kick-off. Raises: OSError, sqlite3.Error,
        UnreadableError.
        """
        found = self._fixtures()
        self._rows = {fixture: held.rows for fixture, held in found.items()}
        named = self._named(found)
        wanted = sorted(
            [
                (listed.kick_off, fixture)
                for fixture, listed in named.items()
                if self._asked.from_ms <= listed.kick_off * 1000 < self._asked.until_ms
                and is_wanted(listed)
            ]
        )
        next_from = wanted[most][0] if len(wanted) > most else None
        if next_from is not None and next_from > wanted[0][0]:  # otherwise all kick off together
            wanted = [found for found in wanted if found[0] < next_from]
        else:
            next_from = None
        shown = self._closed([(fixture, named[fixture], found[fixture].rows) for _, fixture in wanted])
        return Closed(shown, next_from)

    def past(self, fixture: FixtureId, lines: Mapping[str, Sequence[Point]]) -> Past:
        """Return the history of a fixture that was read; `lines` has the lines of its entries."""
        own = {entry_id: lines[entry_id] for entry_id in self._ids(fixture) if entry_id in lines}
        return Past(own, self._rows[fixture], self._rosters, self._gaps)

    def cuts(self, kick_offs: Iterable[int]) -> dict[int, int]:
        """Return for each past kick-off (Unix seconds) the first version at or after it."""
        past = {*kick_offs}
        found = cuts_at(self._days, self._held, [at * 1000 for at in past])
        return {at: found.get(at * 1000, self._held[-1].last + 1) for at in past}

    def lines(self, fixtures: Iterable[FixtureId], last: int) -> dict[str, list[Point]]:
        """Return the lines of all entries that these fixtures had, up to a version, by entry."""
        ids = {entry_id: None for fixture in fixtures for entry_id in self._ids(fixture)}
        begin_ms = self._asked.from_ms - self._asked.back_ms
        days = [day for day in self._held if day.seen_ms >= begin_ms and day.base <= last]
        found: dict[str, list[Row]] = {}
        for day in days:
            with self._days.reader(day.day) as reader:
                of_day = entry_rows(reader, self._asked.market, ids, min(day.last, last))
            for entry_id, there in of_day.items():
                found.setdefault(entry_id, []).extend(there.rows)
        if not days:
            return {}
        first = Moment(days[0].base, days[0].first_ms)
        gaps = [gap for gap in self._gaps if days[0].base <= gap.after <= last]
        return {entry_id: points_of(rows, gaps, first, last) for entry_id, rows in found.items() if rows}

    def _ids(self, fixture: FixtureId) -> dict[str, None]:
        """Return the ids of all entries that a fixture had."""
        return {
            entry_id: None
            for row in self._rows[fixture]
            for roster in self._rosters
            for entry_id in entry_ids(row.links, roster.bookmakers)
        }

    def _fixtures(self) -> dict[FixtureId, _Held]:
        """Return all fixtures since a time before the range; any may have been postponed into it."""
        found: dict[FixtureId, _Held] = {}
        for day in self._held:
            if day.seen_ms < self._asked.from_ms - self._asked.back_ms:
                continue
            rows: dict[FixtureId, list[LinkRow]] = {}
            with self._days.reader(day.day) as reader:
                self._rosters += rosters_of(reader, self._asked.bookmakers)
                for row in links(reader.connection):
                    rows.setdefault(row.fixture, []).append(row)
            for fixture, links_there in rows.items():
                of_day = with_ends(links_there, self._gaps, day.last)
                held = next((row for row in reversed(of_day) if row.links), None)
                before = found.setdefault(fixture, _Held([], day, 0))
                before.rows += of_day
                if held is not None:
                    later = next((row.version for row in of_day if row.version > held.version), None)
                    before.day, before.end = day, day.last if later is None else later - 1
        return {fixture: held for fixture, held in found.items() if held.end}

    def _roster(self, version: int) -> Bookmakers:
        return next((row.bookmakers for row in reversed(self._rosters) if row.version <= version), {})

    def _named(self, found: Mapping[FixtureId, _Held]) -> dict[FixtureId, Listed]:
        """Return the last names and kick-off of fixtures, from their first bookmakers at the end."""
        named: dict[FixtureId, Listed] = {}
        for day in self._held:
            some = {fixture: held for fixture, held in found.items() if held.day is day}
            if not some:
                continue
            with self._days.reader(day.day) as reader:
                leads = self._leads(day, reader, some)
                names = listings(reader, {*leads.values()})
            for fixture, listing in leads.items():
                home, away, league, start = names[listing]
                if start is not None:
                    named[fixture] = Listed(home, away, league, start)
        return named

    def _leads(self, day: Held, reader: Reader, some: Mapping[FixtureId, _Held]) -> dict[FixtureId, int]:
        """Return the listing of the first bookmaker that showed each fixture at its end.

        Mostly that is the first entry of the fixture, so few entries are read at first.
        """
        numbers, leads, most = self._numbers_of(day, ONE_X_TWO), dict[FixtureId, int](), 1
        waiting = {
            fixture: (entry_id for entry_id in self._in_order(held) if entry_id in numbers.by_id)
            for fixture, held in some.items()
        }
        while next_ids := {of: ids for of, every in waiting.items() if (ids := [*islice(every, most)])}:
            wanted = {
                (entry_id, some[fixture].end) for fixture, ids in next_ids.items() for entry_id in ids
            }
            shown = shown_at(reader, numbers, wanted)
            for fixture, ids in next_ids.items():
                end = some[fixture].end
                if (lead := self._lead(ids, shown, end)) is not None:
                    del waiting[fixture]
                    if listing := shown[lead, end].last.listing:
                        leads[fixture] = listing
            most *= 4
        return leads

    def _lead(self, in_order: Iterable[str], shown: Mapping[At, Shown], end: int) -> str | None:
        """Return the first entry that was on the board at a version."""
        for entry_id in in_order:
            seen = shown.get((entry_id, end))
            is_on = seen is not None and seen.last is seen.price
            if is_on and not left_in_a_gap(self._gaps, shown[entry_id, end].price.at.version, end):
                return entry_id
        return None

    def _in_order(self, known: _Held) -> Iterator[str]:
        """Yield the last entries of a fixture, in the order of sources and bookmakers."""
        held = next(row for row in reversed(known.rows) if row.links)
        roster = self._roster(known.end)
        return ids_by_source(held.links, roster)

    def _numbers_of(self, day: Held, market: Market) -> Numbers:
        if (day, market) not in self._numbers:
            with self._days.reader(day.day) as reader:
                self._numbers[day, market] = Numbers(reader, market)
        return self._numbers[day, market]

    def _closed(self, wanted: Sequence[tuple[FixtureId, Listed, list[LinkRow]]]) -> list[FixtureClose]:
        found: dict[FixtureId, FixtureClose] = {}
        by_day: dict[Held, list[_AtKickOff]] = {}
        kick_offs = [listed.kick_off for _, listed, _ in wanted]
        cuts = self.cuts(at for at in kick_offs if at * 1000 <= self._asked.now_ms)
        for fixture, listed, rows in wanted:
            kick_off_ms = listed.kick_off * 1000
            if kick_off_ms > self._asked.now_ms:
                found[fixture] = FixtureClose(fixture, listed, is_started=False, into=rows[-1].into)
                continue
            cut = cuts[listed.kick_off]
            held = next((row for row in reversed(rows) if row.links and row.version < cut), None)
            members = () if held is None else held.links
            day = next((day for day in reversed(self._held) if day.base < cut), self._held[0])
            into = next((row.into for row in reversed(rows) if row.version < cut), None)
            ids = entry_ids(members, self._roster(cut - 1))
            at = _AtKickOff(fixture, listed, members, cut, ids, into)
            by_day.setdefault(day, []).append(at)
        for day, some in by_day.items():
            found |= {close.id: close for close in self._closes_on(day, some)}
        return [found[fixture] for fixture, _, _ in wanted]

    def _closes_on(self, day: Held, some: Sequence[_AtKickOff]) -> Iterator[FixtureClose]:
        wanted = {(entry_id, fixture.cut - 1) for fixture in some for entry_id in fixture.ids}
        market = self._asked.market
        with self._days.reader(day.day) as reader:
            shown = shown_at(reader, self._numbers_of(day, market), wanted)
        earliest = min(fixture.listed.kick_off for fixture in some) * 1000
        seen: dict[At, tuple[Held, int]] = {}
        for before in self._held:
            if before is day or before.base > day.base:
                break
            if before.seen_ms >= earliest - SEEN_MS:
                rest = wanted.difference(seen)
                with self._days.reader(before.day) as reader:
                    first = firsts(reader, self._numbers_of(before, market), rest)
                seen |= {at: (before, version) for at, version in first.items()}
        for at, of_entry in shown.items():
            seen.setdefault(at, (day, of_entry.first))
        older = self._just_before(day, some, shown)
        times = self._times(seen)
        for fixture in some:
            yield self._fixture(fixture, shown | older, seen, times)

    def _just_before(
        self, day: Held, some: Sequence[_AtKickOff], shown: Mapping[At, Shown]
    ) -> dict[At, Shown]:
        """Return entries that left on the day before, unless that was too long before the kick-off."""
        before = next((held for held in reversed(self._held) if held.base < day.base), None)
        near = [fixture for fixture in some if day.first_ms > fixture.listed.kick_off * 1000 - LIMIT_MS]
        if before is None or not near:
            return {}
        rest = {
            (entry_id, fixture.cut - 1)
            for fixture in near
            for entry_id in fixture.ids
            if (entry_id, fixture.cut - 1) not in shown
        }
        with self._days.reader(before.day) as reader:
            wanted = {(entry_id, before.last) for entry_id, _ in rest}
            found = shown_at(reader, self._numbers_of(before, self._asked.market), wanted)
        return {at: found[last] for at in rest if (last := (at[0], before.last)) in found}

    def _times(self, seen: Mapping[At, tuple[Held, int]]) -> dict[tuple[Held, int], int]:
        """Return the times of these versions."""
        found: dict[tuple[Held, int], int] = {}
        by_day: dict[Held, set[int]] = {}
        for day, version in seen.values():
            by_day.setdefault(day, set()).add(version)
        for day, versions in by_day.items():
            with self._days.reader(day.day) as reader:
                found |= {(day, version): reader.time(version) for version in versions}
        return found

    def _fixture(
        self,
        fixture: _AtKickOff,
        shown: Mapping[At, Shown],
        seen: Mapping[At, tuple[Held, int]],
        times: Mapping[tuple[Held, int], int],
    ) -> FixtureClose:
        kick_off_ms = fixture.listed.kick_off * 1000
        entries, odds = list[EntryClose](), {}
        is_known, roster = self._held[-1].seen_ms >= kick_off_ms, self._roster(fixture.cut - 1)
        whole = {gap.until for gap in self._gaps}
        for entry_id, (name, _) in fixture.ids.items():
            first = seen.get((entry_id, fixture.cut - 1))
            if first is None:
                continue
            close = (
                self._close(shown.get((entry_id, fixture.cut - 1)), fixture.cut, kick_off_ms)
                if is_known
                else NoClose.GAP
            )
            if isinstance(close, Close) and close.on_offer:
                odds[entry_id] = close.odds
            if roster[name].prices is Prices.COLLECTED:
                close = NoClose.COLLECTED
            is_state = first[1] in whole or first[1] == first[0].base
            chances = None
            if isinstance(close, Close):  # `fair` caches it for the consensus
                chances = fair(self._asked.method, of_one_winner(self._asked.market, close.odds))
            entries.append(EntryClose(entry_id, name, close, first[1], times[first], is_state, chances))
        terms = Terms(self._asked.market, self._asked.method)
        prices = counting(odds, fixture.members, roster)
        consensus = consensus_of(terms, None if prices is None else [*prices.values()], kick_off_ms)
        known = {of.bookmaker: of.chances for of in entries if of.id in (prices or {}) and of.chances}
        about = fixture.fixture, fixture.listed, fixture.members, entries, consensus, known
        return FixtureClose(*about, into=fixture.into)

    def _close(self, shown: Shown | None, cut: int, kick_off_ms: int) -> Close | NoClose:
        """Return the close from the last price before the cut, and how it ended."""
        if any(
            gap.after < cut <= gap.until and gap.after_ms < kick_off_ms and not gap.goes_on
            for gap in self._gaps
        ):
            return NoClose.GAP
        if shown is None:
            return NoClose.TOO_OLD  # its first price is older
        price, last = shown.price, shown.last
        until_ms, left = (kick_off_ms, None) if last is price else (last.at.at_ms, last.reason)
        gap = self._gap_that_ends(shown, cut, kick_off_ms)
        if gap is not None:
            if gap.until >= cut:
                return NoClose.GAP
            until_ms = gap.after_ms
            left = left if last.at.version == gap.until else UNKNOWN
        if kick_off_ms - until_ms > LIMIT_MS:
            return NoClose.TOO_OLD
        since = price.at.version, price.at.at_ms, price.odds
        on_offer = last is price and gap is None
        return Close(*since, until_ms, on_offer, left)

    def _gap_that_ends(self, shown: Shown, cut: int, kick_off_ms: int) -> Break | None:
        """Return the gap before the cut that ended the price, or that contains the kick-off."""
        end = None if shown.last is shown.price else shown.last.at.version
        for gap in self._gaps:
            if gap.after < shown.price.at.version or (end is not None and gap.after >= end):
                continue
            if gap.after >= cut or gap.after_ms >= kick_off_ms:
                return None
            if gap.until >= cut or not gap.goes_on or gap.until == end:
                return gap
        return None


class _AtKickOff(Struct, frozen=True):
    """A fixture at its kick-off: the first version at or after it, its members, its entries.

    If the fixture had gone by then, `into` is the fixture that it was merged into, if any.
    """

    fixture: FixtureId
    listed: Listed
    members: Sequence[Link]
    cut: int
    ids: Mapping[str, tuple[BookmakerId, Link]]
    into: FixtureId | None
