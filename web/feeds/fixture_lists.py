"""What URLs of fixtures show: a view, or some of its fixtures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from web.protocol.problems import Problem
from web.protocol.query import WEAK, market_asked

MAX_MEANT = 20  # leagues that are named

_encode = msgspec.json.Encoder().encode


class FixturesOf(Struct, frozen=True):
    """A view of fixtures as a list in a form; it is serving while its bookmaker, or any, is."""

    view: FixtureView
    form: Form = USUAL

    @property
    def bookmaker(self) -> BookmakerId | None:
        """The only bookmaker, None for all or several."""
        return self.view.bookmaker

    @property
    def market(self) -> Market:
        """Its market."""
        return self.view.market

    def books(self, snapshot: Snapshot) -> Mapping[BookmakerId, Book]:
        """Return the books, one of which must be serving."""
        if among := self.form.bookmakers:
            return {name: snapshot.books[name] for name in among}
        if self.bookmaker is None:
            return snapshot.books
        return {self.bookmaker: snapshot.books[self.bookmaker]}

    @property
    def versioned(self) -> FixtureView:
        """The view whose versions it has.

        With doubted surebets these are of all fixtures: each change of a fixture may change its surebet.
        With weak ones as well it changes also when one of these begins or ends.
        """
        kind = ViewKind.FIXTURES if self.form.doubted else self.view.kind
        return FixtureView(kind, self.bookmaker)

    def version(self, snapshot: Snapshot) -> int:
        """Return its version: the last commit that changed what it shows."""
        state = fixtures_of(snapshot)
        if self.has_weak:
            return max(state.version(self.versioned), state.version(self.view.whole))
        return state.version(self.versioned)

    @property
    def has_weak(self) -> bool:
        """Whether it shows weak surebets."""
        return self.view.kind is ViewKind.WEAK

    def linking(self, state: FixtureState) -> bytes:
        """Return the member of the list that says how many events were still to be linked."""
        return linking(state.pending_in(self.versioned))

    def deadlines(self, snapshot: Snapshot) -> Deadlines:
        """Return when what it may show no longer holds, but for surebets of some bookmakers (`held`)."""
        return snapshot.deadlines

    def shown(self, fixture: Fixture, state: FixtureState) -> Shown | None:
        """Return a fixture as it is shown, None if it is not."""
        if self.bookmaker is not None and self.bookmaker not in fixture.bookmakers:
            return None
        if not self.view.has_market(fixture):
            return None
        it = shown(fixture, self.form, state, weak=self.has_weak)
        is_empty = it is None or (it.surebet is None and self.view.kind is not ViewKind.FIXTURES)
        return None if is_empty else it

    def held(self, snapshot: Snapshot, holds: Callable[[Deadlines], bool]) -> FixturesOf:
        """Return the view without those surebets of its bookmakers that ended since its version."""
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
        """The part of its tags after the version: nothing in the usual form."""
        if self.market is not ONE_X_TWO:
            of = _encode((self.form, str(self.market), *(WEAK.name,) * self.has_weak))
        elif self.form == USUAL:
            return ""
        else:
            of = _encode(self.form)
        return f"-{blake2b(of, digest_size=8).hexdigest()}"

    @property
    def is_fleeting(self) -> bool:
        """Whether no cache may keep it: surebets of some bookmakers may end without a new version."""
        return bool(self.form.bookmakers)

    def cursor(self, since: str) -> Mapping[str, str]:
        """Return no header: the body has it."""
        del since
        return {}

    @property
    def link(self) -> Mapping[str, str]:
        """No other list replaces it."""
        return {}


class Choice(Struct, frozen=True):
    """Which fixtures of a view are shown: of a league, from and before a kick-off, with so much profit.

    The league is as it was asked for, and its id when that is known.
    """

    league: str | None = None
    begins_at: float = -inf
    ends_at: float = inf
    min_profit: float | None = None

    def has(self, shown: Shown) -> bool:
        """Return whether a fixture is shown; without a kick-off it is in no range of times."""
        start = shown.fixture.place.start
        is_timed = self.begins_at > -inf or self.ends_at < inf
        if is_timed and not (self.begins_at <= start < self.ends_at and start < inf):
            return False
        if self.league is not None and league_of_fixture(shown.fixture).id != self.league:
            return False
        surebet = shown.surebet
        return self.min_profit is None or (surebet is not None and surebet.profit >= self.min_profit)


def division(form: Form) -> bytes:
    """Return the members of a list that say which total is divided, in which steps; nothing without."""
    if not form.total:
        return b""
    return b',"total":%b,"step":%b' % (_encode(form.total / 100), _encode(form.step / 100))


def linking(pending: int) -> bytes:
    """Return the member of a list, or of changes, that says how many events were still to be linked."""
    return b',"linking":{"pending":%d}' % pending


def league_meant(asked: str, state: FixtureState) -> Sliced[str | None]:
    """Return the id of the league that was asked for, None if no match has it now.

    Raises: Problem 400 if several leagues are meant.
    """
    found = yield from leagues_named(asked, state)
    if len(found) > 1:
        ids = ", ".join(sorted(found)[:MAX_MEANT])
        why = f"parameter 'league' was {asked[:64]!r}, which is a label of several leagues"
        raise Problem(400, "invalid_league", f"{why}, must be one of their ids: {ids}")
    return next(iter(found), None)


def of_league(league_id: str) -> bytes:
    """Return the member of a list, or of changes, that says which league is shown."""
    return b',"league_id":%b' % _encode(league_id)


def note(league: str, league_id: str | None, state: FixtureState) -> Sliced[bytes]:
    """Return the member that says that no match has a league, and which may be meant; nothing if some has.

    That is the same in another case, or one with that in its name, best as words of their own.
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
    """Return the member of a list, or of changes, that names its market, unless that is 1X2."""
    return b"" if market is ONE_X_TWO else b',"market":%b' % _encode(market_asked(market))


def of_market_listed(view: FixtureView, count: int, state: FixtureState) -> Sliced[bytes]:
    """Return the same of a list of so many fixtures, with a note if nobody of the view lists the market.

    A view of surebets has none: which markets are listed may change without it.
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
    """Return whether a view of main lines shows one of that match."""
    lines = markets_of(snapshot).of_match(match_id)
    return any(view.has_market(line) and view.shows(line) for line in lines)


def cursor(version: int, epoch: str) -> bytes:
    """Return the member that says what `since` takes for this version."""
    return b',"cursor":"%b"' % cursor_of(version, epoch).encode()


def is_whole(view: FixturesOf, choice: Choice) -> bool:
    """Return whether all fixtures of a view are shown, by 1X2 and in the usual form."""
    return choice == EVERYTHING and view.form == USUAL and view.market is ONE_X_TWO


ALL = FixturesOf(FixtureView(ViewKind.FIXTURES))
EVERYTHING = Choice()
