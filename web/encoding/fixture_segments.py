"""The bodies of lists of fixtures: the JSON of each, made once, spliced to segments and runs.

A view by bookmaker, or of surebets, shares the segments of those chunks that it shows whole.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from weakref import WeakKeyDictionary

import msgspec

from actors.board.snapshot import Entry
from actors.core.cooperative import SLICE, Sliced
from actors.core.messages import BookmakerId, Prices
from actors.matches.entries import event_of
from actors.matches.fair import Method, consensus, fair
from actors.matches.model import Fixture, FixtureChunk, FixtureState, FixtureView, Kind, Terms
from actors.matching.event import Chances, FixtureId
from web.encoding.fixture_schemas import Names, fixture_v2, link
from web.encoding.schemas import match_v2
from web.encoding.segments import RUN, UNENCODABLE, Packed, Run, UnencodableError, packed

MAX_VIEWS = 8
"""Besides the whole view, of so many the segments are kept: each may need as much memory as the whole."""

_encode = msgspec.json.Encoder().encode
_WHOLE = FixtureView(Kind.FIXTURES)


class FixtureSegments:
    """The JSON of fixtures, by id what was made last, and the newest runs of some views."""

    def __init__(self, names: Mapping[BookmakerId, str]) -> None:
        self._names = names
        self._made: OrderedDict[FixtureId, _Made] = OrderedDict()  # a weak one would have them collected
        self._most = SLICE
        self._views: OrderedDict[FixtureView, _OfView] = OrderedDict({_WHOLE: _OfView()})

    def json(self, fixture: Fixture, terms: Terms) -> bytes:
        """Return a fixture as JSON. Raises: UnencodableError."""
        known = self._made.get(fixture.id)
        if known is not None and known.fixture is fixture:
            return known.json
        with self._rejecting(fixture):
            of_each = _fair_of_each(fixture, terms.method, known)
            chances = consensus(_live(fixture, of_each, terms))
            json = _encode(fixture_v2(fixture, self._names_of(fixture), terms, chances))
        self._made[fixture.id] = _Made(fixture, json, of_each)
        self._made.move_to_end(fixture.id)
        for _ in range(min(len(self._made) - self._most, 2)):  # so that a smaller board costs no long step
            self._made.popitem(last=False)
        return json

    def fit(self, state: FixtureState) -> None:
        """Keep the JSON of twice as many fixtures as are there: what was made first goes first."""
        self._most = 2 * len(state.places) + SLICE

    def links(self, fixture: Fixture, terms: Terms) -> bytes:
        """Return what links the events of a fixture as JSON. Raises: UnencodableError."""
        with self._rejecting(fixture):
            return _encode([link(one, event_of(fixture, one.key, terms.roster)) for one in fixture.members])

    def _names_of(self, fixture: Fixture) -> Names:
        return {name: self._names[name] for name in fixture.bookmakers}

    @contextmanager
    def _rejecting(self, fixture: Fixture) -> Iterator[None]:
        """Say which entry is to blame if a fixture cannot be encoded."""
        try:
            yield
        except UNENCODABLE as error:
            raise UnencodableError(*_culprit(fixture, self._names_of(fixture)), error) from error

    def runs(self, view: FixtureView, state: FixtureState) -> Sliced[tuple[tuple[Run, ...], int]]:
        """Return the runs of a view that show something, and how many fixtures these are."""
        if view not in self._views:
            self._views[view] = _OfView()
            if len(self._views) > MAX_VIEWS + 1:
                del self._views[next(one for one in self._views if one != _WHOLE)]
        self._views.move_to_end(view)
        of_view = self._views[view]
        self.fit(state)
        runs: dict[tuple[FixtureChunk, ...], Run] = {}
        count = 0
        for at in range(0, len(state.chunks), RUN):
            chunks = state.chunks[at : at + RUN]
            if (run := of_view.runs.get(chunks)) is None:
                segments = []
                for chunk in chunks:
                    if (segment := of_view.segments.get(chunk)) is None:
                        segment = of_view.segments[chunk] = self._segment(view, chunk, state.terms)
                        yield
                    if segment.parts:
                        segments.append(segment)
                run = Run(tuple(segments))
            runs[chunks] = run
            count += sum([len(of_view.segments[chunk].parts) for chunk in chunks])
        of_view.runs = runs
        return tuple(run for run in runs.values() if run.segments), count

    def _segment(self, view: FixtureView, chunk: FixtureChunk, terms: Terms) -> FixtureSegment:
        is_whole = view == _WHOLE
        fixtures = tuple(chunk.fixtures.values())
        if not is_whole:
            shown = tuple(one for one in fixtures if view.shows(one))
            if len(shown) == len(fixtures):
                segments = self._views[_WHOLE].segments
                if chunk not in segments:
                    segments[chunk] = self._segment(_WHOLE, chunk, terms)
                return segments[chunk]
            fixtures = shown
        return FixtureSegment(tuple(self.json(one, terms) for one in fixtures))


class _Made(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A fixture, its JSON, and the fair chances in each of its entries: home, draw, away, and so on.

    Of fifty bookmakers one changed: to find these anew for all would be most of the work.
    """

    fixture: Fixture
    json: bytes
    fair: array[float]


class FixtureSegment:
    """Some fixtures: their JSON is joined when it is needed, because each is kept for itself."""

    def __init__(self, parts: tuple[bytes, ...]) -> None:
        self.parts = parts

    @property
    def json(self) -> bytes:
        """Their JSON with commas between them."""
        return b",".join(self.parts)

    @cached_property
    def packed(self) -> Packed:
        """The JSON deflated, with its CRC-32."""
        return packed(self.json)


class _OfView:
    def __init__(self) -> None:
        self.segments: WeakKeyDictionary[FixtureChunk, FixtureSegment] = WeakKeyDictionary()
        self.runs: dict[tuple[FixtureChunk, ...], Run] = {}


def _fair_of_each(fixture: Fixture, method: Method, known: _Made | None) -> array[float]:
    """Return the fair chances in each entry, one after the other; what is known of it is taken over."""
    before: dict[BookmakerId, tuple[Entry, array[float]]] = {}
    if known is not None:
        for count, (name, entry) in enumerate(known.fixture.entries.items()):
            before[name] = entry, known.fair[3 * count : 3 * count + 3]
    found = array("d")
    for name, entry in fixture.entries.items():
        match, old = entry.match, before.get(name)
        if old is not None and old[0] is entry:
            found += old[1]
        else:
            found.extend(fair(method, (match.home_price, match.draw_price, match.away_price)))
    return found


def _live(fixture: Fixture, of_each: array[float], terms: Terms) -> list[Chances]:
    """Return those of the bookmakers whose prices are live."""
    starts = range(0, len(of_each), 3)
    return [
        (of_each[at], of_each[at + 1], of_each[at + 2])
        for at, name in zip(starts, fixture.bookmakers, strict=True)
        if terms.roster[name].prices is Prices.LIVE
    ]


def _culprit(fixture: Fixture, names: Names) -> tuple[BookmakerId, Entry]:
    """Return the entry for which a fixture cannot be encoded; the first if each can for itself."""
    for name, entry in fixture.entries.items():
        try:
            _encode(match_v2(entry, names[name]))
        except UNENCODABLE:
            return name, entry
    return next(iter(fixture.entries.items()))
