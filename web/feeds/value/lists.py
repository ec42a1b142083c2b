"""Makes the list of values from the newest boards at each request, because values end as time passes.

Nothing is computed at a commit.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nsmallest
from typing import Final, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from actors.board.snapshot import Snapshot
from actors.core.clock import Clock
from actors.core.cooperative import Sliced
from actors.matches.fair import MIN_BOOKMAKERS
from actors.matches.forms import Form
from actors.matches.leagues import league_of_fixture
from actors.matches.model import Fixture, FixtureView, ViewKind, fixtures_of
from actors.value.kept import KeptValues
from actors.value.values import Value
from web.encoding.segments import gzipped
from web.encoding.value_schemas import ValueList, ValueV2, csv_of, value_v2
from web.feeds.fixture_lists import FixturesOf, league_meant, note
from web.feeds.lists import unavailable
from web.feeds.subscribers import Live
from web.feeds.value.asked import AskedValues
from web.feeds.value.judging import JUDGED, Judging, confirmed_at
from web.protocol.negotiation import Coding, Format

MOST: Final = 200
"""The most values in an answer."""
LONG_S: Final = 0.1
"""Seconds of computing after which the values found are judged again."""
_encode = msgspec.json.Encoder().encode
_Found: TypeAlias = tuple[Fixture, Value, float]
"""A fixture, its value, and when the value's price was confirmed (Unix seconds)."""


class Values:
    """Finds prices above the fair price on the boards of `live`."""

    def __init__(self, live: Live, clock: Clock, judging: Judging) -> None:
        self._live, self._clock, self._judging = live, clock, judging

    async def made(self, asked: AskedValues, coding: Coding, client: str | None) -> tuple[bytes, ...]:
        """Return the list in its format. It is made again if a price grew too old meanwhile.

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
        for view in asked.by_kind:
            snapshot = self._judging.newest(view)
            kept = self._judging.kept_of(view, snapshot, asked.reference)
            for chunk in fixtures_of(snapshot).chunks:
                for begin in range(0, len(chunk.entries), JUDGED):
                    some = [of for of in chunk.entries[begin : begin + JUDGED] if asked.has_market(of)]
                    of_league = [of for of in some if league in {None, league_of_fixture(of).id}]
                    found += self._judged(of_league, snapshot, asked, kept)
                    yield
        shown = nsmallest(MOST, found, key=_order)
        if self._clock.now().mono - began.mono > LONG_S:
            shown = self._again(shown, asked)
        names = {**self._live.names}
        values = tuple([value_v2(value, fixture, names, confirmed) for fixture, value, confirmed in shown])
        if asked.format is Format.CSV:
            return b"".join(csv_of(values))
        more = b"" if asked.league is None else (yield from note(asked.league, league, main))
        return self._encoded(values, len(found), asked, (league, more))

    def _judged(
        self, fixtures: list[Fixture], snapshot: Snapshot, asked: AskedValues, kept: KeptValues
    ) -> Iterator[_Found]:
        """Yield the wanted values of fixtures now."""
        now = self._clock.now()
        for fixture in fixtures:
            for value in kept.values(fixture, snapshot.books, now):
                if asked.wants(value):
                    yield fixture, value, confirmed_at(snapshot.books, fixture, value, now)

    def _again(self, shown: list[_Found], asked: AskedValues) -> list[_Found]:
        """Return the values that the same fixtures have on the newest boards now."""
        found = list[_Found]()
        for view in asked.by_kind:
            snapshot = self._judging.newest(view)
            state, kept = fixtures_of(snapshot), self._judging.kept_of(view, snapshot, asked.reference)
            kind = view.market.kind
            ids = dict.fromkeys(fixture.id for fixture, *_ in shown if fixture.market.kind is kind)
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


def _order(found: _Found) -> tuple[object, ...]:
    """Return the sort key: values without doubts first, then the highest values, then by kick-off."""
    fixture, value, _ = found
    return bool(value.doubts), -value.expected, fixture.place, value.bookmaker, value.outcome
