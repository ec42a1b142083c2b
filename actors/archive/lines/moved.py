"""Reads how the prices of an entry, or of all entries of a fixture, moved; runs in a thread.

It only collects data from the days; `actors/lines` does all computing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from actors.archive.days.format import Gap
from actors.archive.days.lines import EntryRows, cuts, entry_rows
from actors.archive.days.links import links, rosters
from actors.archive.days.reading import Reader
from actors.archive.past import BEFORE_FIRST, Days, Held, Unknown
from actors.core.messages import BookmakerId, Prices
from actors.lines.closing import Close, NoClose, close_of
from actors.lines.consensus import Past, Terms, consensus_points
from actors.lines.line import Absence, Break, Moment, Point, left_in_a_gap, points_of
from actors.lines.links import Bookmakers, LinkRow, RosterRow, entry_ids, ids_by_source
from actors.lines.thinning import thinned
from actors.lines.told import MOST, Lines, line_of, memberships, share_of
from actors.markets.market import ONE_X_TWO, Market
from actors.matches.fair import Method

R = TypeVar("R", LinkRow, RosterRow)


class Asked(Struct, frozen=True):
    """The requested lines: times in Unix milliseconds, the end excluded; `now_ms` is the present.

    `bookmakers` are the present bookmakers, for days that did not store their own.
    """

    id: str
    market: Market
    from_ms: int
    until_ms: int
    now_ms: int
    bookmakers: Bookmakers
    method: Method
    points: int = MOST

    @property
    def is_entry(self) -> bool:
        """Whether the id is an entry's: a fixture's id has no underscore."""
        return "_" in self.id


class Nowhere(Struct, frozen=True):
    """The entry or fixture did not exist between these versions."""

    first: int
    last: int


LinesResult: TypeAlias = Lines | Unknown | Nowhere


class Span(Struct, frozen=True):
    """The part of the archive to read: its first and last moment, days and gaps."""

    first: Moment
    last: Moment
    days: Sequence[Held]
    gaps: Sequence[Break]
    seen_ms: int


def read_lines(days: Days, asked: Asked) -> LinesResult:
    """Return the requested lines. Raises: OSError, sqlite3.Error, UnreadableError."""
    held = days.held()
    span = _span(days, held, asked)
    if isinstance(span, Unknown):
        return span
    entry = _entry_lines if asked.is_entry else _fixture_lines
    return entry(days, asked, span) or Nowhere(span.first.version, span.last.version)


def _span(days: Days, held: Sequence[Held], asked: Asked) -> Span | Unknown:
    last = moment_before(days, held, asked.until_ms)
    if last is None:
        return Unknown(BEFORE_FIRST, after_at=None, until_at=held[0].first_ms if held else None)
    first = moment_before(days, held, asked.from_ms + 1) or Moment(held[0].base, held[0].first_ms)
    gaps = breaks_of(days.gaps([*held]))
    hidden = next((gap for gap in gaps if gap.after == first.version == last.version), None)
    if hidden is not None and hidden.after_ms < asked.from_ms:
        around = hidden.after, hidden.until, hidden.after_ms, hidden.until_ms
        return Unknown(hidden.reason, *around)
    read = [day for day in held if day.last >= first.version and day.base <= last.version]
    begun = [
        gap
        for gap in gaps
        if gap.after >= read[0].base and gap.after <= last.version and gap.after_ms < asked.until_ms
    ]
    return Span(first, last, read, begun, held[-1].seen_ms)


def moment_before(days: Days, held: Sequence[Held], before_ms: int) -> Moment | None:
    """Return the largest version with a time before `before_ms`; None if there is none."""
    for day in reversed(held):
        if before_ms > day.min_ms:
            with days.reader(day.day) as reader:
                version = reader.version_at(before_ms - 1)
                if version is not None:
                    return Moment(version, reader.time(version))
    return None


def breaks_of(gaps: Iterable[Gap]) -> list[Break]:
    """Return gaps in the form that lines use."""
    return [Break(gap.after, gap.until, gap.after_at, gap.until_at, gap.reason) for gap in gaps]


class Found:
    """The rows of entries in some days, and the cut at the kick-off."""

    def __init__(self, days: Days, span: Span, asked: Asked) -> None:
        self._days, self.span, self.asked = days, span, asked
        self.entries: dict[str, EntryRows] = {}
        self._cuts: dict[int, dict[int, int]] = {}

    def read(self, ids: Iterable[str]) -> None:
        """Read all rows of entries."""
        wanted = [*ids]
        for day in self.span.days:
            with self._days.reader(day.day) as reader:
                high = min(day.last, self.span.last.version)
                for entry_id, found in entry_rows(reader, self.asked.market, wanted, high).items():
                    there = self.entries.setdefault(entry_id, EntryRows(found.bookmaker, [], []))
                    there.rows += found.rows
                    there.starts += found.starts

    def points(self, entry_id: str) -> list[Point]:
        """Return the points of an entry."""
        span = self.span
        return points_of(self.entries[entry_id].rows, span.gaps, span.first, span.last.version)

    def close(
        self, entry_id: str, points: Sequence[Point], kick_off: int | None, bookmakers: Sequence[RosterRow]
    ) -> Close | NoClose | None:
        """Return the close of a line; None if the kick-off is unknown or outside the span."""
        if kick_off is None:
            return None
        kick_off_ms = kick_off * 1000
        if kick_off_ms > self.asked.now_ms:
            return NoClose.NOT_STARTED
        if not self.span.first.at_ms <= kick_off_ms <= self.asked.until_ms:
            return None
        if kick_off_ms not in self._cuts:
            self._cuts[kick_off_ms] = cuts_at(self._days, self.span.days, [kick_off_ms])
        cut = self._cuts[kick_off_ms].get(kick_off_ms)
        if cut is None and self.span.seen_ms < kick_off_ms:
            return NoClose.GAP
        cut = self.span.last.version + 1 if cut is None else cut
        if kind_at(bookmakers, cut - 1, self.entries[entry_id].bookmaker) is Prices.COLLECTED:
            return NoClose.COLLECTED
        return close_of(points, cut, kick_off_ms)


def cuts_at(days: Days, held: Iterable[Held], times_ms: Iterable[int]) -> dict[int, int]:
    """Return for each time the first version at or after it; times without one are left out."""
    found, rest = dict[int, int](), {*times_ms}
    for day in held:
        if some := [time_ms for time_ms in rest if time_ms <= day.seen_ms]:
            with days.reader(day.day) as reader:
                there = cuts(reader, some)
            found |= {time_ms: cut for time_ms, cut in there.items() if cut is not None}
            rest -= found.keys()
    return found


def _entry_lines(days: Days, asked: Asked, span: Span) -> Lines | None:
    found = Found(days, span, asked)
    found.read([asked.id])
    if asked.id not in found.entries:
        return None
    rows = found.entries[asked.id]
    points = found.points(asked.id)
    kick_off = rows.starts[-1][1] if rows.starts else None
    _, bookmakers = _history(days, asked, span)
    close = found.close(asked.id, points, kick_off, bookmakers)
    entry, prices = (asked.id, rows.bookmaker), kind_at(bookmakers, span.last.version, rows.bookmaker)
    line = line_of(entry, points, share_of(asked.points, 1), close, prices=prices)
    about = asked.id, asked.market, span.first, span.last, kick_off
    return Lines(*about, [line], span.gaps, is_over=_is_over(kick_off, [points], asked))


def _fixture_lines(days: Days, asked: Asked, span: Span) -> Lines | None:
    linked, bookmakers = _history(days, asked, span)
    ids = {
        entry_id: None
        for row in linked
        for roster in bookmakers
        for entry_id in entry_ids(row.links, roster.bookmakers)
    }
    found = Found(days, span, asked)
    found.read(ids)
    listed = {entry_id: found.points(entry_id) for entry_id in ids if entry_id in found.entries}
    by_id = {entry_id: points for entry_id, points in listed.items() if points}
    if not by_id:
        return None
    named = found
    if asked.market != ONE_X_TWO:  # 1X2 alone decides the kick-off of a fixture
        named = Found(days, span, replace(asked, market=ONE_X_TWO))
        named.read(ids)
    kick_off = kick_off_of(named.entries, (linked, bookmakers, span.gaps), span.last.version)
    past = Past(by_id, linked, bookmakers, span.gaps)
    return _told(found, past, kick_off, _is_over(kick_off, by_id.values(), asked))


def _told(found: Found, past: Past, kick_off: int | None, is_over: bool) -> Lines:  # noqa: FBT001 - a fact
    asked, span = found.asked, found.span
    most, newest = share_of(asked.points, len(past.lines)), past.rosters[-1].bookmakers
    members = memberships(past.links, past.rosters, span.first)
    lines = [
        line_of(
            (entry_id, (name := found.entries[entry_id].bookmaker)),
            points,
            most,
            found.close(entry_id, points, kick_off, past.rosters),
            prices=newest[name].prices if name in newest else None,
            members=members.get(entry_id, ()),
        )
        for entry_id, points in past.lines.items()
    ]
    terms = Terms(asked.market, asked.method, None if kick_off is None else kick_off * 1000)
    fair = [*consensus_points(terms, past, span.last.version)]
    shown = thinned(fair, most, (), lambda point: point.absent is not None)
    about = asked.id, asked.market, span.first, span.last, kick_off
    return Lines(*about, lines, span.gaps, shown, len(fair), is_over)


def _history(days: Days, asked: Asked, span: Span) -> tuple[list[LinkRow], list[RosterRow]]:
    """Return the members of a fixture, and the bookmakers, from the first moment on."""
    linked, bookmakers = list[LinkRow](), list[RosterRow]()
    for day in span.days:
        with days.reader(day.day) as reader:
            linked += links(reader.connection, asked.id)
            bookmakers += rosters_of(reader, asked.bookmakers)
    whole = with_ends(linked, span.gaps, span.last.version)
    return between(whole, span), between(bookmakers, span)


def between(rows: Iterable[R], span: Span) -> list[R]:
    """Return the rows within a span; the newest row before it is moved to the span's first moment."""
    found: list[R] = []
    for row in rows:
        if row.version > span.last.version:
            continue
        if row.version <= span.first.version:
            found.clear()
            found.append(replace(row, version=span.first.version, at_ms=span.first.at_ms))
        else:
            found.append(row)
    return found


def with_ends(rows: Sequence[LinkRow], gaps: Iterable[Break], last: int) -> list[LinkRow]:
    """Return the members of a fixture, with an end after each gap whose next state lacks the fixture."""
    versions = {row.version for row in rows}
    ends = [
        LinkRow(gap.until, gap.until_ms, rows[0].fixture, ())
        for gap in gaps
        if rows and not gap.goes_on and rows[0].version < gap.until <= last and gap.until not in versions
    ]
    return sorted([*rows, *ends], key=lambda row: row.version)


def rosters_of(reader: Reader, today: Bookmakers) -> list[RosterRow]:
    """Return a day's bookmakers by version; today's, without kinds, if the day stored none."""
    return rosters(reader.connection) or [RosterRow(reader.base, reader.first_ms, today)]


def kick_off_of(
    entries: Mapping[str, EntryRows],
    history: tuple[Sequence[LinkRow], Sequence[RosterRow], Sequence[Break]],
    last: int,
) -> int | None:
    """Return the last kick-off of a fixture up to a version, from its first shown bookmaker.

    The `entries` are those of 1X2. The bookmakers are ordered by source and by their place in the
    configuration.
    """
    members, bookmakers, gaps = history
    held = next((row for row in reversed(members) if row.links), None)
    if held is None:
        return None
    later = [row.version for row in members if row.version > held.version]
    end = later[0] - 1 if later else last
    roster = next((row.bookmakers for row in reversed(bookmakers) if row.version <= end), {})
    for entry_id in ids_by_source(held.links, roster):
        if (rows := entries.get(entry_id)) is None:
            continue
        shown = [(version, odds) for version, _, odds, _ in rows.rows if version <= end]
        if shown and shown[-1][1] is not None and not left_in_a_gap(gaps, shown[-1][0], end):
            return next((start for version, start in reversed(rows.starts) if version <= end), None)
    return None


def kind_at(bookmakers: Sequence[RosterRow], version: int, name: BookmakerId) -> Prices | None:
    """Return the kind of a bookmaker's prices at a version; None if it was not stored."""
    then = next((row.bookmakers for row in reversed(bookmakers) if row.version <= version), {})
    return then[name].prices if name in then else None


def _is_over(kick_off: int | None, lines: Iterable[Sequence[Point]], asked: Asked) -> bool:
    if kick_off is None or kick_off * 1000 >= asked.until_ms:
        return False
    ends = [points[-1].absent for points in lines if points]
    return all(absent is not None and absent is not Absence.GAP for absent in ends)
