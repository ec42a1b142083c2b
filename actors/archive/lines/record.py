"""Reads the results of values: flags of fixtures that kicked off on some days, judged by their close.

Runs in threads. Whole days are kept once they are over, so that a long record is read in several requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from actors.archive.lines.closings import DAY_MS, AskedClosings, Closings, FixtureClose
from actors.archive.past import Days
from actors.core.clock import thread_worked_s
from actors.lines.closing import Close, NoClose
from actors.lines.links import Bookmakers
from actors.markets.market import Market
from actors.matches.model import FixtureSettings
from actors.value.record import Flag, FlagTerms, Judged, company_of, flags_of, judged, why_none

BACK_MS: Final = 3 * DAY_MS
"""The time before the day of the kick-off from which on values are searched."""
AT_ONCE: Final = 50
"""Fixtures read together."""
MAX_KEPT: Final = 1000
"""Days of a market that are kept."""
WORK_S: Final = 2.0
"""Seconds of work of one read; the rest is left to a later read."""


class AskedRecord(Struct, frozen=True):
    """The record of some markets by kick-off (Unix milliseconds, the end excluded)."""

    from_ms: int
    until_ms: int
    now_ms: int
    markets: tuple[Market, ...]
    min_ev: float
    bookmakers: Bookmakers
    settings: FixtureSettings


class Unfinished(Struct, frozen=True):
    """The record is not complete yet: `done` of `count` days have been read."""

    done: int
    count: int


class Records:
    """The records of whole days, by market and least value."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Market, int, float], tuple[FixtureSettings, list[Judged]]] = {}

    def read(self, days: Days, asked: AskedRecord) -> list[Judged] | Unfinished:
        """Return all values with their closes, or how far they have been read after some seconds of work.

        Raises: OSError, sqlite3.Error, UnreadableError.
        """
        held = days.held()
        first_ms = held[0].first_ms if held else asked.until_ms
        ends_s, found, parts = thread_worked_s() + WORK_S, list[Judged](), [*_parts(asked, first_ms)]
        for done, (market, begin_ms) in enumerate(parts):
            if thread_worked_s() > ends_s:
                return Unfinished(done, len(parts))
            found += self._day(days, asked, market, begin_ms)
        return [of for of in found if asked.from_ms <= of.kick_off * 1000 < asked.until_ms]

    def _day(self, days: Days, asked: AskedRecord, market: Market, begin_ms: int) -> list[Judged]:
        until_ms = min(begin_ms + DAY_MS, max(asked.until_ms, asked.now_ms))
        key, known = (market, begin_ms, asked.min_ev), self._kept.get((market, begin_ms, asked.min_ev))
        if known is not None and known[0] is asked.settings:
            return known[1]
        found = list[Judged]()
        while begin_ms < until_ms:
            about = begin_ms, until_ms, asked.now_ms, market, asked.bookmakers, asked.settings.method
            closings = Closings(days, AskedClosings(*about, BACK_MS))
            closed = closings.read(most=AT_ONCE)
            terms = FlagTerms(market, asked.min_ev, asked.settings)
            found += _judged(closings, [of for of in closed.fixtures if of.into is None], terms)
            begin_ms = until_ms if closed.next_from is None else closed.next_from * 1000
        if key[1] + 2 * DAY_MS <= asked.now_ms:
            while len(self._kept) >= MAX_KEPT:
                self._kept.pop(next(iter(self._kept)), None)
            self._kept[key] = asked.settings, found
        return found


def _parts(asked: AskedRecord, first_ms: int) -> Iterator[tuple[Market, int]]:
    """Yield each market and the begin of each day (UTC) of the range, none before the archive begins."""
    for market in asked.markets:
        for begin_ms in range(max(asked.from_ms, first_ms) // DAY_MS * DAY_MS, asked.until_ms, DAY_MS):
            yield market, begin_ms


def _judged(closings: Closings, fixtures: list[FixtureClose], terms: FlagTerms) -> Iterator[Judged]:
    begun = {of.id: of.listed.kick_off for of in fixtures if of.is_started}
    cuts = closings.cuts(begun.values())
    started = {fixture: cuts[kick_off] for fixture, kick_off in begun.items()}
    last = max(started.values(), default=0) - 1
    lines = closings.lines(started, last)
    for of in fixtures:
        if of.id not in started:
            continue
        past = closings.past(of.id, lines)
        for flag in flags_of(past, (started[of.id], of.listed.kick_off * 1000), terms):
            about = of.id, of.listed.kick_off, terms.market, flag
            yield Judged(*about, *_verdict(flag, of, terms))


def _verdict(flag: Flag, of: FixtureClose, terms: FlagTerms) -> tuple[float | None, str | None]:
    """Return the closing line value of a flag, or why there is none."""
    company = company_of(flag.bookmaker, terms.settings)
    others = [
        chances for name, chances in of.counted.items() if company_of(name, terms.settings) != company
    ]
    closes: list[NoClose | None] = [
        None if isinstance(entry.close, Close) else entry.close for entry in of.entries
    ]
    absent = None if of.consensus is None else of.consensus.absent
    return judged(flag, terms.market, others, why_none(closes, absent))
