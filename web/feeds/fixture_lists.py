"""The views behind URLs of fixtures, filters of their fixtures, and further members of their lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from math import inf

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.board.snapshot import Book, Snapshot
from actors.board.validity import Deadlines
from actors.core.cooperative import Sliced
from actors.core.messages import BookmakerId
from actors.market_fixtures.model import markets_of
from actors.markets.market import ONE_X_TWO, Market
from actors.matches.forms import USUAL, Form, Shown, overdue, shown
from actors.matches.leagues import UNKNOWN, league_of_fixture, leagues_named
from actors.matches.model import Fixture, FixtureState, FixtureView, ViewKind, fixtures_of
from actors.matching.event import FixtureId
from web.encoding.schemas import cursor_of
from web.protocol.negotiation import Format
from web.protocol.problems import Problem
from web.protocol.query import WEAK, market_asked

MAX_MEANT = 20  # leagues in the message
FORMED = 16
"""Fixtures encoded and compressed in a step: with 50 bookmakers a sixth of a megabyte."""
CURSOR = "Odds-Cursor"
"""The header with the `since` of a list's changes."""

_encode = msgspec.json.Encoder().encode


class FixturesOf(Struct, frozen=True):
    """A list of fixtures in a form; it is serving while its bookmaker, or any of its bookmakers, is."""

    view: FixtureView
    form: Form = USUAL
    format: Format = Format.JSON

    @property
    def bookmaker(self) -> BookmakerId | None:
        """The list's bookmaker; None for all bookmakers or several."""
        return self.view.bookmaker

    @property
    def market(self) -> Market:
        """The list's market."""
        return self.view.market

    def books(self, snapshot: Snapshot) -> Mapping[BookmakerId, Book]:
        """Return the books of the list's bookmakers; one of them must be serving."""
        if among := self.form.bookmakers:
            return {name: snapshot.books[name] for name in among}
        if self.bookmaker is None:
            return snapshot.books
        return {self.bookmaker: snapshot.books[self.bookmaker]}

    @property
    def versioned(self) -> FixtureView:
        """The view whose versions the list has.

        For doubted surebets it is the view of all fixtures, because each change of a fixture may change its
        surebet.
        """
        kind = ViewKind.FIXTURES if self.form.doubted else self.view.kind
        return FixtureView(kind, self.bookmaker)

    def version(self, snapshot: Snapshot) -> int:
        """Return the version of the last commit that changed the list; weak surebets change it, too."""
        state = fixtures_of(snapshot)
        if self.has_weak:
            return max(state.version(self.versioned), state.version(self.view.whole))
        return state.version(self.versioned)

    @property
    def has_weak(self) -> bool:
        """Whether the list shows weak surebets."""
        return self.view.kind is ViewKind.WEAK

    def linking(self, state: FixtureState) -> bytes:
        """Return the list's member with the number of events still to be linked."""
        return linking(state.pending_in(self.versioned))

    def deadlines(self, snapshot: Snapshot) -> Deadlines:
        """Return the deadlines of the list; `held` has the deadlines of surebets of some bookmakers."""
        return snapshot.deadlines

    def shown(self, fixture: Fixture, state: FixtureState) -> Shown | None:
        """Return a fixture in the list's form; None if the list does not show it."""
        if self.bookmaker is not None and self.bookmaker not in fixture.bookmakers:
            return None
        if not self.view.has_market(fixture):
            return None
        it = shown(fixture, self.form, state, weak=self.has_weak)
        is_empty = it is None or (it.surebet is None and self.view.kind is not ViewKind.FIXTURES)
        return None if is_empty else it

    def held(self, snapshot: Snapshot, holds: Callable[[Deadlines], bool]) -> FixturesOf:
        """Return the list without surebets of its chosen bookmakers that ended since its version."""
        form = overdue(
            self.form,
            fixtures_of(snapshot),
            snapshot.books,
            lambda mono: holds(Deadlines(mono, inf)),
            weak=self.has_weak,
        )
        return self if form is self.form else replace(self, form=form)

    @property
    def mark(self) -> str:
        """The part of the list's tags after the version; empty for 1X2 in the usual form, as JSON."""
        if self.market is not ONE_X_TWO:
            of = _encode((self.form, str(self.market), *(WEAK.name,) * self.has_weak))
        elif self.form == USUAL:
            return mark_of(self.format)
        else:
            of = _encode(self.form)
        return f"-{blake2b(of, digest_size=8).hexdigest()}{mark_of(self.format)}"

    @property
    def is_fleeting(self) -> bool:
        """Whether no cache may keep the list: surebets of some bookmakers may end without a new version."""
        return bool(self.form.bookmakers)

    def cursor(self, since: str) -> Mapping[str, str]:
        """Return no header, because the body has the cursor; CSV has no other place for it."""
        return {CURSOR: since} if self.format is Format.CSV else {}

    @property
    def link(self) -> Mapping[str, str]:
        """No header: no other list replaces this one."""
        return {}


class Choice(Struct, frozen=True):
    """A filter of fixtures by league, by kick-off and by the profit of the surebet.

    `league` is at first the requested text, and the league's id once that is known.
    """

    league: str | None = None
    begins_at: float = -inf
    ends_at: float = inf
    min_profit: float | None = None

    def has(self, shown: Shown) -> bool:
        """Return whether a fixture passes the filter; without a kick-off it is in no range of times."""
        start = shown.fixture.place.start
        is_timed = self.begins_at > -inf or self.ends_at < inf
        if is_timed and not (self.begins_at <= start < self.ends_at and start < inf):
            return False
        if self.league is not None and league_of_fixture(shown.fixture).id != self.league:
            return False
        surebet = shown.surebet
        return self.min_profit is None or (surebet is not None and surebet.profit >= self.min_profit)


def mark_of(format_: Format) -> str:
    """Return the part of a list's tags for its format; nothing for JSON."""
    return "" if format_ is Format.JSON else f"-{format_}"


def division(form: Form) -> bytes:
    """Return a list's members with the divided total and its step; nothing without a total."""
    if not form.total:
        return b""
    return b',"total":%b,"step":%b' % (_encode(form.total / 100), _encode(form.step / 100))


def linking(pending: int) -> bytes:
    """Return the member of a list, or of changes, with the number of events still to be linked."""
    return b',"linking":{"pending":%d}' % pending


def league_meant(asked: str, state: FixtureState) -> Sliced[str | None]:
    """Return the id of the requested league; None if no match has it now.

    Raises: Problem 400 if several leagues have this label.
    """
    found = yield from leagues_named(asked, state)
    if len(found) > 1:
        ids = ", ".join(sorted(found)[:MAX_MEANT])
        why = f"parameter 'league' was {asked[:64]!r}, which is a label of several leagues"
        raise Problem(400, "invalid_league", f"{why}, must be one of their ids: {ids}")
    return next(iter(found), None)


def of_league(league_id: str) -> bytes:
    """Return the member of a list, or of changes, with the league's id."""
    return b',"league_id":%b' % _encode(league_id)


def note(league: str, league_id: str | None, state: FixtureState) -> Sliced[bytes]:
    """Return a note that no match has the league, with the league that may be meant; nothing if one has.

    The suggestion contains the given text in any case, preferably as whole words.
    """
    leagues = set[str]()
    for chunk in state.chunks:
        for fixture in chunk.entries:
            if league_of_fixture(fixture).id == league_id:
                return b""
            leagues.update([entry.match.league or UNKNOWN for entry in fixture.listed])
        yield
    wanted = league.strip().casefold()
    near = [name for name in leagues if wanted and wanted in name.casefold()]
    near.sort(key=lambda name: (f" {wanted} " not in f" {name.casefold()} ", len(name), name))
    meant = f"; did you mean {near[0]!r}?" if near else ""
    return b',"note":%b' % _encode(f"no match has the league {league[:128]!r} now{meant}")


def of_market(market: Market) -> bytes:
    """Return the member of a list, or of changes, with its market; nothing for 1X2."""
    return b"" if market is ONE_X_TWO else b',"market":%b' % _encode(market_asked(market))


def of_market_listed(view: FixtureView, count: int, state: FixtureState) -> Sliced[bytes]:
    """Return the member with the market of a list, and a note if no bookmaker of the view lists the market.

    `count` is the number of fixtures. A list of surebets has no note, because the listed markets may change
    without a new version of it.
    """
    if view.market is ONE_X_TWO or view.kind is ViewKind.SUREBETS or count:
        return of_market(view.market)
    if (yield from _is_listed(view, state)):
        return of_market(view.market)
    who = "nobody lists" if view.bookmaker is None else f"{view.bookmaker} does not list"
    why = f"{who} the market {market_asked(view.market)} now"
    return of_market(view.market) + b',"note":%b' % _encode(why)


def _is_listed(view: FixtureView, state: FixtureState) -> Sliced[bool]:
    for chunk in state.chunks:
        if any(view.has_market(fixture) and view.shows(fixture) for fixture in chunk.entries):
            return True
        yield
    return False


def has_main_line(view: FixtureView, match_id: FixtureId, snapshot: Snapshot) -> bool:
    """Return whether a view of main lines shows a line of the match."""
    lines = markets_of(snapshot).of_match(match_id)
    return any(view.has_market(line) and view.shows(line) for line in lines)


def cursor(version: int, epoch: str) -> bytes:
    """Return the member with the `since` of this version."""
    return b',"cursor":"%b"' % cursor_of(version, epoch).encode()


def is_whole(view: FixturesOf, choice: Choice) -> bool:
    """Return whether the body has all fixtures of the view, for 1X2, in the usual form."""
    is_json = view.format is Format.JSON
    return is_json and choice == EVERYTHING and view.form == USUAL and view.market is ONE_X_TWO


def some_of(view: FixturesOf, choice: Choice, state: FixtureState) -> Iterator[list[Shown]]:
    """Yield the chosen fixtures in order, few at a time, perhaps none; the work can stop between two."""
    for chunk in state.chunks:
        if chunk.first.start >= choice.ends_at < inf:  # chunks are sorted; unknown kick-offs are infinite
            break
        every = [view.shown(fixture, state) for fixture in chunk.entries]
        some = [shown for shown in every if shown is not None and choice.has(shown)]
        yield from [some[at : at + FORMED] for at in range(0, len(some), FORMED)]
        yield []


ALL = FixturesOf(FixtureView(ViewKind.FIXTURES))
EVERYTHING = Choice()
