"""Notes which values change, for clients that follow them: `view=value` of the changes and of the stream.

Values have no versions, because they also end as time passes. So this module looks at the boards, and each
look that finds values other than the look before has a number. All clients share the looks.
"""

from __future__ import annotations

from collections.abc import Iterator
from secrets import token_hex
from typing import Final

import anyio
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.board.snapshot import Snapshot
from actors.core.clock import Clock, worked_s
from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import BookmakerId
from actors.markets.market import Kind
from actors.matches.leagues import league_of_fixture
from actors.matches.model import Fixture, FixtureView, fixtures_of
from actors.matching.event import FixtureId
from actors.value.values import Value
from web.encoding.schemas import cursor_of
from web.encoding.value_schemas import ChangedMarket, ValueChanges, ValueV2, value_v2
from web.feeds.subscribers import Live
from web.feeds.value.asked import AskedValues
from web.feeds.value.judging import JUDGED, Judging, confirmed_at
from web.feeds.value.lists import Values

FRESH_S, OLD_S = 0.5, 5.0
"""Seconds for which a look serves further clients: the least, and the most."""
SHARE: Final = 0.2
"""The share of the time that looks may take between these limits; slow looks are made less often."""
FOLLOWED_S: Final = 60.0
"""Seconds without a look after which nobody is assumed to follow a kind of market by a reference."""
KEPT: Final = 1_000
"""Looks after which ended values are forgotten; a client from before them needs the whole list."""
MAX_FEEDS: Final = 24
"""Pairs of a reference and a kind of market whose changes are noted."""
_encode = msgspec.json.Encoder().encode


class _Noted(Struct, frozen=True):
    """The values of a fixture's market, which look `number` found, each with its public form.

    `before` are the values until then; None if there were no values, or if they are forgotten.
    """

    number: int
    fixture: Fixture
    values: tuple[tuple[Value, ValueV2], ...]
    before: _Noted | None = None


class _Feed:
    """The noted values of a kind of market by one reference, the latest change last.

    Changes up to the look `began` are not known. `snapshot` is the board of the newest look, which took
    the processor `took_s` seconds.
    """

    def __init__(self, snapshot: Snapshot, number: int) -> None:
        self.snapshot, self.looked_mono, self.began = snapshot, 0.0, number
        self.took_s = 0.0
        self._noted: dict[FixtureId, _Noted] = {}

    def note(self, number: int, fixture: Fixture, values: tuple[tuple[Value, ValueV2], ...]) -> bool:
        """Note the values of a fixture's market; return whether clients see a difference."""
        known = self._noted.get(fixture.id)
        if known is None and not values:
            return False
        is_same_line = not values or known is None or known.fixture.is_main == fixture.is_main
        if known is not None and known.values == values and is_same_line:
            self._noted[fixture.id] = replace(known, fixture=fixture)
            return False
        before = None if known is None else replace(known, before=None)
        self._noted.pop(fixture.id, None)
        self._noted[fixture.id] = _Noted(number, fixture, values, before)
        return True

    def end(self, number: int, listed: set[FixtureId]) -> bool:
        """Note the end of all values whose fixtures are not `listed`; return whether there were any."""
        gone = [noted.fixture for noted in self._noted.values() if noted.fixture.id not in listed]
        return True in [self.note(number, fixture, ()) for fixture in gone]

    def after(self, number: int) -> Iterator[_Noted]:
        """Yield the values that changed after the look `number`, the latest change first."""
        for noted in reversed(self._noted.values()):
            if noted.number <= number:
                return
            yield noted

    def forget(self, number: int) -> None:
        """Forget the values that ended up to the look `number`."""
        for noted in [*self._noted.values()]:
            if noted.number > number:
                return
            if not noted.values:
                del self._noted[noted.fixture.id]
                self.began = max(self.began, noted.number)


class Changed(Struct, frozen=True):
    """The changes until the look `number`, as JSON; `is_empty` says that the client wants none of them."""

    number: int
    body: bytes
    is_empty: bool


class FollowedValues:
    """The changes of `values`; `newest` is the number of the last look with changes, in this `epoch`."""

    def __init__(self, live: Live, clock: Clock) -> None:
        self._live, self._clock, self._judging = live, clock, Judging(live)
        self.values = Values(live, clock, self._judging)
        self._feeds: dict[tuple[Kind, BookmakerId | None], _Feed] = {}
        self._looking = anyio.Lock()
        self.epoch, self.newest = token_hex(4), 0

    async def changed(self, asked: AskedValues, number: int, client: str | None) -> Changed | None:
        """Return the changes after the look `number`, with 0 all values; None if the changes are not known.

        Raises: Problem 429 if the client has caused too much work; the errors of `Live.read`.
        """
        own = self._live.answers.own
        async with self._looking:
            while True:  # repeated if a deadline passed meanwhile
                for view in asked.by_kind:
                    await self._live.read(view)
                    if not self._is_fresh(view, asked.reference):
                        with anyio.CancelScope(shield=True):  # a look serves all clients
                            await own.charged(self._look(view, asked.reference), client)
                if number and not self.oldest(asked) <= number <= self.newest:
                    return None
                made = await own.charged(self._changed(asked, number), client)
                if all(self._is_valid(view, asked.reference) for view in asked.by_kind):
                    return made

    def oldest(self, asked: AskedValues) -> int:
        """Return the look after which all changes of the requested values are known."""
        feeds = [self._feeds.get((view.market.kind, asked.reference)) for view in asked.by_kind]
        return max(self.newest if feed is None else feed.began for feed in feeds)

    def _is_fresh(self, view: FixtureView, reference: BookmakerId | None) -> bool:
        feed, now = self._feeds.get((view.market.kind, reference)), self._clock.now().mono
        if feed is None:
            return False
        took_s = sum([each.took_s for each in self._feeds.values() if now - each.looked_mono < FOLLOWED_S])
        is_young = now - feed.looked_mono < min(max(FRESH_S, took_s / SHARE), OLD_S)
        return is_young and self._is_valid(view, reference)

    def _is_valid(self, view: FixtureView, reference: BookmakerId | None) -> bool:
        """Return whether no deadline of the board that was looked at has passed."""
        seen, board = self._feeds[view.market.kind, reference].snapshot, self._live.of(view).board
        return seen.epoch == board.newest.epoch and board.is_valid(seen.deadlines)

    def _look(self, view: FixtureView, reference: BookmakerId | None) -> Sliced[None]:
        """Note the values of a kind of market on its newest board."""
        number, snapshot, names = self.newest + 1, self._judging.newest(view), {**self._live.names}
        feed = self._feeds.pop((view.market.kind, reference), None) or _Feed(snapshot, number)
        self._feeds[view.market.kind, reference] = feed
        feed.snapshot, feed.looked_mono = snapshot, self._clock.now().mono
        kept, listed, is_other = self._judging.kept_of(view, snapshot, reference), set[FixtureId](), False
        took_s = 0.0
        for chunk in fixtures_of(snapshot).chunks:
            for begin in range(0, len(chunk.entries), JUDGED):
                now, began_s = self._clock.now(), worked_s()
                for fixture in chunk.entries[begin : begin + JUDGED]:
                    listed.add(fixture.id)
                    values = kept.values(fixture, snapshot.books, now)
                    forms = tuple([(value, value_v2(value, fixture, names, 0.0)) for value in values])
                    is_other |= feed.note(number, fixture, forms)
                took_s += worked_s() - began_s
                yield
        is_other |= feed.end(number, listed)
        feed.took_s = took_s
        feed.forget(number - KEPT)
        self.newest = number if is_other or feed.began == number else self.newest
        if len(self._feeds) > MAX_FEEDS:
            del self._feeds[next(iter(self._feeds))]

    def _changed(self, asked: AskedValues, number: int) -> Sliced[Changed]:
        now, changed, values = self._clock.now(), list[ChangedMarket](), list[bytes]()
        for view in asked.by_kind:
            feed = self._feeds[view.market.kind, asked.reference]
            for count, noted in enumerate(feed.after(number)):
                if count % SLICE == SLICE - 1:
                    yield
                wanted = _wanted(asked, noted)
                if number and not _differs(asked, noted, wanted, number):
                    continue
                if number:
                    changed.append(ChangedMarket(noted.fixture.match_id, str(noted.fixture.market)))
                for value, form in wanted:
                    confirmed = confirmed_at(feed.snapshot.books, noted.fixture, value, now)
                    values.append(_encode(replace(form, confirmed=round(confirmed, 3))))
        listed = _encode(ValueChanges(cursor_of(self.newest, self.epoch), not number, tuple(changed), ()))
        body = b"%b%b]}" % (listed[:-2], b",".join(values))
        return Changed(self.newest, body, is_empty=bool(number) and not changed)


def _wanted(asked: AskedValues, noted: _Noted) -> list[tuple[Value, ValueV2]]:
    fixture = noted.fixture
    if not asked.has_market(fixture) or asked.league not in {None, league_of_fixture(fixture).id}:
        return []
    return [pair for pair in noted.values if asked.wants(pair[0])]


def _differs(asked: AskedValues, noted: _Noted, wanted: object, number: int) -> bool:
    """Return whether a client that was up to date at the look `number` may have other values than these."""
    before = noted.before
    if before is not None and before.number > number:
        return True  # the values that the client has are not known any more
    return wanted != ([] if before is None else _wanted(asked, before))
