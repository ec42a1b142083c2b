"""Makes the list of values from the newest boards at each request, because values end as time passes.

Nothing is computed at a commit. The judgement of a fixture is kept until the fixture or the age of its
prices changes it (`actors/value/kept.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nsmallest
from typing import Final, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType

from actors.board.snapshot import Snapshot
from actors.core.clock import Clock
from actors.core.cooperative import Sliced
from actors.core.messages import BookmakerId
from actors.market_fixtures.views import SeveralView
from actors.markets.market import Kind
from actors.matches.fair import MIN_BOOKMAKERS
from actors.matches.forms import Form
from actors.matches.leagues import league_of_fixture
from actors.matches.model import Fixture, FixtureView, ViewKind, fixtures_of
from actors.value.kept import KeptValues
from actors.value.values import Value, ValueTerms
from web.encoding.segments import gzipped
from web.encoding.value_schemas import ValueList, ValueV2, csv_of, value_v2
from web.feeds.fixture_lists import FixturesOf, league_meant, note
from web.feeds.lists import unavailable
from web.feeds.subscribers import Live
from web.protocol.negotiation import Coding, Format

MOST: Final = 200
"""Values in an answer."""
MAX_KEPT: Final = 8
"""Pairs of a reference and a kind of market whose judgements are kept."""
JUDGED: Final = 4
"""Fixtures judged in a step: with 50 bookmakers two milliseconds if all of them have changed."""
LONG_S: Final = 0.1
"""After so many seconds of computing, the values found are judged again."""
_encode = msgspec.json.Encoder().encode
_Found: TypeAlias = tuple[Fixture, Value]


class AskedValues(Struct, frozen=True):
    """The requested values; without `bookmakers` of all, `league` is as the client wrote it."""

    view: FixtureView | SeveralView
    reference: BookmakerId | None
    bookmakers: tuple[BookmakerId, ...]
    league: str | None
    min_ev: float
    doubted: bool
    format: Format = Format.JSON

    @property
    def views(self) -> tuple[FixtureView, ...]:
        """The view of each market."""
        return self.view.views if isinstance(self.view, SeveralView) else (self.view,)

    def wants(self, value: Value) -> bool:
        """Return whether a value passes the filters."""
        is_of = not self.bookmakers or value.bookmaker in self.bookmakers
        return is_of and value.expected >= self.min_ev and (self.doubted or not value.doubts)


class Values:
    """Finds prices above the fair price on the boards of `live`."""

    def __init__(self, live: Live, clock: Clock) -> None:
        self._live, self._clock = live, clock
        self._kept: dict[tuple[Kind, BookmakerId | None], KeptValues] = {}

    async def made(self, asked: AskedValues, coding: Coding, client: str | None) -> tuple[bytes, ...]:
        """Return the list in its format, judged when no deadline of its boards has passed.

        Raises: Problem 400 if several leagues have the requested label, 503 if no bookmaker is serving, and
        the errors of `OwnBodies.run` and `Live.read`.
        """
        every = FixturesOf(FixtureView(ViewKind.FIXTURES), Form(bookmakers=asked.bookmakers))
        while True:
            await self._live.read(every.view)
            await self._live.read(asked.view)
            if not any(book.is_serving for book in every.books(self._live.board.newest).values()):
                raise unavailable(every)
            body = await self._live.answers.own.run(self._coded(asked, coding), client)
            boards = [self._live.board, *[self._live.of(view).board for view in asked.views]]
            if all(board.is_valid(board.newest.deadlines) for board in boards):
                return body

    def _coded(self, asked: AskedValues, coding: Coding) -> Sliced[tuple[bytes, ...]]:
        body = yield from self._listed(asked)
        return (body,) if coding is Coding.IDENTITY else tuple((yield from gzipped([body])))

    def _listed(self, asked: AskedValues) -> Sliced[bytes]:
        began, main = self._clock.now(), fixtures_of(self._live.board.newest)
        league = None
        if asked.league is not None:
            league = (yield from league_meant(asked.league, main)) or asked.league
        found = list[_Found]()
        for view in asked.views:
            snapshot = self._newest(view)
            kept = self._kept_of(view, snapshot, asked.reference)
            for chunk in fixtures_of(snapshot).chunks:
                for begin in range(0, len(chunk.entries), JUDGED):
                    some = [of for of in chunk.entries[begin : begin + JUDGED] if view.has_market(of)]
                    of_league = [of for of in some if league in {None, league_of_fixture(of).id}]
                    found += self._judged(of_league, snapshot, asked, kept)
                    yield
        shown = nsmallest(MOST, found, key=_order)
        if self._clock.now().mono - began.mono > LONG_S:
            shown = self._again(shown, asked)
        values = tuple([self._value(fixture, value) for fixture, value in shown])
        if asked.format is Format.CSV:
            return b"".join(csv_of(values))
        more = b"" if asked.league is None else (yield from note(asked.league, league, main))
        return self._encoded(values, len(found), asked, (league, more))

    def _newest(self, view: FixtureView) -> Snapshot:
        return self._live.of(view).board.newest

    def _kept_of(self, view: FixtureView, snapshot: Snapshot, reference: BookmakerId | None) -> KeptValues:
        state, key = fixtures_of(snapshot), (view.market.kind, reference)
        kept = self._kept.pop(key, None)
        if kept is None or kept.terms.fixtures is not state.terms:
            kept = KeptValues(ValueTerms(state.terms, reference))
        self._kept[key] = kept
        kept.fit(state)
        if len(self._kept) > MAX_KEPT:
            del self._kept[next(iter(self._kept))]
        return kept

    def _judged(
        self, fixtures: list[Fixture], snapshot: Snapshot, asked: AskedValues, kept: KeptValues
    ) -> Iterator[_Found]:
        """Yield the wanted values of fixtures now."""
        now = self._clock.now()
        for fixture in fixtures:
            for value in kept.values(fixture, snapshot.books, now):
                if asked.wants(value):
                    yield fixture, value

    def _again(self, shown: list[_Found], asked: AskedValues) -> list[_Found]:
        """Return the values that the same fixtures have on the newest boards now."""
        found = list[_Found]()
        for view in asked.views:
            snapshot = self._newest(view)
            state, kept = fixtures_of(snapshot), self._kept_of(view, snapshot, asked.reference)
            ids = dict.fromkeys(fixture.id for fixture, _ in shown if view.has_market(fixture))
            newest = [fixture for each in ids if (fixture := state.get(each)) is not None]
            found += self._judged(newest, snapshot, asked, kept)
        return nsmallest(MOST, found, key=_order)

    def _encoded(
        self, values: tuple[ValueV2, ...], count: int, asked: AskedValues, about: tuple[str | None, bytes]
    ) -> bytes:
        """Return the list as JSON; `about` has the id of the league, and its note as members of JSON."""
        league, more = about
        listed = ValueList(
            asked.reference or "consensus",
            asked.min_ev,
            fixtures_of(self._live.board.newest).terms.max_kelly,
            values,
            count,
            UNSET if more else self._why_none(asked),
            league_id=UNSET if league is None or more else league,
        )
        return _encode(listed)[:-1] + more + b"}"

    def _why_none(self, asked: AskedValues) -> str | UnsetType:
        """Return why the consensus finds no value, if too few companies are configured."""
        roster = fixtures_of(self._live.board.newest).terms.roster
        count, needed = len({roster[name].company for name in roster.live}), MIN_BOOKMAKERS + 1
        if asked.reference is not None or count >= needed:
            return UNSET
        return (
            f"the consensus needs {needed} companies with live prices, there are {count}; name a reference"
        )

    def _value(self, fixture: Fixture, value: Value) -> ValueV2:
        now, name = self._clock.now(), value.bookmaker
        board = self._live.of(FixtureView(ViewKind.FIXTURES, market=fixture.market)).board.newest
        age_s = now.mono - board.books[name].vouched_mono(fixture.entries[name])
        return value_v2(value, fixture, {**self._live.names}, now.wall - age_s)


def _order(found: _Found) -> tuple[object, ...]:
    """Return the sort key: values without doubts first, then the highest, then by kick-off."""
    fixture, value = found
    return bool(value.doubts), -value.expected, fixture.place, value.bookmaker, value.outcome
