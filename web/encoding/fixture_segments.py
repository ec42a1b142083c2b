"""The bodies of lists of fixtures: the JSON of each, made once, spliced to segments and runs."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import msgspec
from msgspec import UNSET

from actors.board.snapshot import Entry, Snapshot
from actors.core.cooperative import SLICE
from actors.core.messages import BookmakerId, Prices
from actors.core.outcomes import ONE_X_TWO
from actors.matches.entries import event_of, quotes_of, sure_legs
from actors.matches.fair import Method, consensus_of, fair, overpriced
from actors.matches.forms import Form, Shown
from actors.matches.model import (
    Fixture,
    FixtureChunk,
    FixtureSettings,
    FixtureState,
    FixtureView,
    ViewKind,
    fixtures_of,
)
from actors.matching.event import Chances, FixtureId
from web.encoding.fixture_schemas import FairReason, Part, Reference, fair_odds, fixture_v2, link
from web.encoding.schemas import Names, match_v2
from web.encoding.segments import FIXTURES, UNENCODABLE, Kept, Segment, Segments, UnencodableError
from web.encoding.surebet_schemas import divided, doubted

MAX_VIEWS = 8
"""Besides the whole view, of so many the segments are kept: each may need as much memory as the whole."""

_encode = msgspec.json.Encoder().encode
_COUNT = len(ONE_X_TWO)
_WHOLE = FixtureView(ViewKind.FIXTURES)


class FixtureSegments(Segments[FixtureView, FixtureChunk]):
    """Lists of fixtures, a view in one part, and the JSON of each fixture as made last, by id."""

    name = FIXTURES

    def __init__(self, names: Mapping[BookmakerId, str]) -> None:
        super().__init__()
        self._names = names
        self._made: OrderedDict[FixtureId, _Made] = (
            OrderedDict()
        )  # weak references would have them collected
        self._most = SLICE

    def json(self, fixture: Fixture, terms: FixtureSettings) -> bytes:
        """Return a fixture as JSON. Raises: UnencodableError."""
        return self._made_of(fixture, terms).json

    def _made_of(self, fixture: Fixture, terms: FixtureSettings) -> _Made:
        known = self._made.get(fixture.id)
        if known is not None and known.fixture is fixture:
            return known
        with self._rejecting(fixture):
            of_each = _fair_of_each(fixture, terms.method, known)
            quotes = quotes_of(fixture, _chances(of_each), terms.roster)
            chances, doubted = consensus_of(quotes), overpriced(quotes, terms.surebets.max_price_ratio)
            names = self._names_of(fixture)
            json = _encode(fixture_v2(fixture, names, terms, chances, doubted))
        made = self._made[fixture.id] = _Made(fixture, json, of_each, chances, doubted)
        self._made.move_to_end(fixture.id)
        for _ in range(min(len(self._made) - self._most, 2)):  # so that a smaller board costs no long step
            self._made.popitem(last=False)
        return made

    def formed(self, shown: Shown, form: Form, terms: FixtureSettings) -> bytes:
        """Return a fixture as JSON in that form. Raises: UnencodableError."""
        fixture, surebet, doubts = shown.fixture, shown.surebet, shown.doubts
        made, names = self._made_of(fixture, terms), self._names_of(fixture)
        json = made.json
        if form.bookmakers:
            with self._rejecting(fixture):
                entries = {name: fixture.entries[name] for name in shown.bookmakers}
                some = Part(entries, None if doubts else surebet)
                json = _encode(fixture_v2(fixture, names, terms, made.chances, made.doubted, part=some))
        if surebet is not None and doubts:
            json = _with_more(json, doubted(surebet, doubts, fixture, names, terms))
        elif surebet is not None and form.total:
            json = _with_more(json, divided(surebet, fixture, terms, form.total, form.step))
        if (name := form.reference) is None:
            return json
        chances: Chances | None = None
        if name in fixture.bookmakers:
            at = 3 * fixture.bookmakers.index(name)
            home, draw, away = made.fair[at : at + 3]
            chances = home, draw, away
        return _with_reference(json, fixture, name, chances, terms)

    def fit(self, state: FixtureState) -> None:
        """Keep the JSON of twice as many fixtures as are there: the oldest goes first."""
        self._most = 2 * len(state.places) + SLICE

    def links(self, fixture: Fixture, terms: FixtureSettings) -> bytes:
        """Return what links the events of a fixture as JSON. Raises: UnencodableError."""
        with self._rejecting(fixture):
            events = {member.key: event_of(fixture, member.key, terms.roster) for member in fixture.members}
            return _encode([link(member, events) for member in fixture.members])

    def _names_of(self, fixture: Fixture) -> Names:
        return {name: self._names[name] for name in fixture.bookmakers}

    @contextmanager
    def _rejecting(self, fixture: Fixture) -> Iterator[None]:
        """Name the entry to blame if a fixture cannot be encoded."""
        try:
            yield
        except UNENCODABLE as error:
            raise UnencodableError(*_culprit(fixture, self._names_of(fixture)), error) from error

    def _kept_of(self, key: FixtureView) -> Kept[FixtureChunk]:
        kept = super()._kept_of(key)
        for view in [part for part in self._kept if part != _WHOLE][:-MAX_VIEWS]:
            del self._kept[view]
        return kept

    def _chunks(self, key: FixtureView, snapshot: Snapshot) -> tuple[FixtureChunk, ...]:
        del key
        return fixtures_of(snapshot).chunks

    def _segment(self, key: FixtureView, chunk: FixtureChunk, snapshot: Snapshot) -> Segment:
        shown = [fixture for fixture in chunk.entries if key == _WHOLE or key.shows(fixture)]
        state = fixtures_of(snapshot)
        self.fit(state)
        return Segment(len(shown), tuple([self.json(fixture, state.terms) for fixture in shown]))


class _Made(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A fixture, its JSON, and fair chances: of each entry (home, draw, away, and so on), and of all.

    `doubted` are the bookmakers whose prices are doubted by those of all others.
    Usually one of fifty bookmakers changed: the chances of the others are not computed again.
    """

    fixture: Fixture
    json: bytes
    fair: array[float]
    chances: Chances | None
    doubted: frozenset[BookmakerId]


def _fair_of_each(fixture: Fixture, method: Method, known: _Made | None) -> array[float]:
    """Return the fair chances of the entries, in their order; known chances are reused."""
    before: dict[BookmakerId, tuple[Entry, array[float]]] = {}
    if known is not None:
        for count, (name, entry) in enumerate(known.fixture.entries.items()):
            before[name] = entry, known.fair[_COUNT * count : _COUNT * (count + 1)]
    found = array("d")
    for name, entry in fixture.entries.items():
        old = before.get(name)
        if old is not None and old[0] is entry:
            found += old[1]
        else:
            found.extend(fair(method, entry.match.prices))
    return found


def _chances(of_each: array[float]) -> Iterator[Chances]:
    """Return the fair chances of each entry, in their order."""
    return zip(*[of_each[outcome::_COUNT] for outcome in range(_COUNT)], strict=True)


def _with_reference(
    json: bytes, fixture: Fixture, name: BookmakerId, chances: Chances | None, terms: FixtureSettings
) -> bytes:
    """Return the JSON of a fixture with a bookmaker's fair odds; `chances` is None if it lacks it."""
    if chances is None:
        return _with_more(json, Reference(None, FairReason.NOT_LISTED))
    if terms.roster[name].prices is not Prices.LIVE:
        return _with_more(json, Reference(None, FairReason.NOT_LIVE))
    if not sure_legs(fixture, terms.roster)[name]:
        return _with_more(json, Reference(None, FairReason.LIKELY_LINK))
    return _with_more(json, Reference(fair_odds(terms.method, chances), UNSET))


def _with_more(json: bytes, more: msgspec.Struct) -> bytes:
    """Return the JSON of an object with more members at its end."""
    return b"%b,%b" % (json[:-1], _encode(more)[1:])


def _culprit(fixture: Fixture, names: Names) -> tuple[BookmakerId, Entry]:
    """Return the entry for which a fixture cannot be encoded; the first if each can for itself."""
    for name, entry in fixture.entries.items():
        try:
            _encode(match_v2(entry, names[name]))
        except UNENCODABLE:
            return name, entry
    return next(iter(fixture.entries.items()))
