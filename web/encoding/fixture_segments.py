"""Makes the bodies of lists of fixtures: each fixture's JSON is made once, and joined to segments."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import TypeAlias

import msgspec
from msgspec import UNSET

from actors.board.snapshot import Entry, Snapshot
from actors.core.cooperative import SLICE
from actors.core.messages import BookmakerId, Prices
from actors.markets.market import Market
from actors.markets.odds import of_one_winner
from actors.matches.entries import event_of, is_other_event, quotes_of, sure_legs
from actors.matches.fair import Method, consensus_of_sorted, fair, may_be_overpriced, overpriced
from actors.matches.forms import Form, Shown
from actors.matches.leagues import FixtureLeague, league_of_fixture
from actors.matches.model import (
    Fixture,
    FixtureChunk,
    FixtureSettings,
    FixtureState,
    FixtureView,
    Roster,
    ViewKind,
    fixtures_of,
)
from actors.matching.event import Chances, FixtureId
from web.encoding.fixture_schemas import (
    BestOfAll,
    FairReason,
    Part,
    Reference,
    best_of,
    entries_v2,
    fair_odds,
    fixture_v2,
    link,
)
from web.encoding.schemas import Names, match_v2
from web.encoding.segments import FIXTURES, UNENCODABLE, Kept, Segment, Segments, UnencodableError
from web.encoding.surebet_schemas import divided, doubted

MAX_VIEWS = 8
"""Views whose segments are kept besides the whole view; each may need as much memory as the whole."""

_encode = msgspec.json.Encoder().encode
_ENTRIES = b'"entries":['  # occurs once: texts in JSON have escaped quotes
_WHOLE = FixtureView(ViewKind.FIXTURES)


class FixtureSegments(Segments[FixtureView, FixtureChunk]):
    """The lists of fixtures (each view is one part), and the newest JSON of each fixture, by id."""

    name = FIXTURES

    def __init__(self, names: Mapping[BookmakerId, str]) -> None:
        super().__init__()
        self._names = names
        self._made: OrderedDict[FixtureId, _Made] = OrderedDict()
        self._most = SLICE

    def json(self, fixture: Fixture, terms: FixtureSettings) -> bytes:
        """Return a fixture as JSON. Raises: UnencodableError."""
        return self._made_of(fixture, terms).json

    def _made_of(self, fixture: Fixture, terms: FixtureSettings) -> _Made:
        known = self._made.get(fixture.id)
        if known is not None and known.fixture is fixture:
            return known
        with self._rejecting(fixture):
            made = self._made[fixture.id] = _made(fixture, self._names_of(fixture), terms, known)
        self._made.move_to_end(fixture.id)
        for _ in range(min(len(self._made) - self._most, 2)):  # two: a smaller board makes no long step
            self._made.popitem(last=False)
        return made

    def formed(self, shown: Shown, form: Form, terms: FixtureSettings) -> bytes:
        """Return a fixture as JSON in the given form. Raises: UnencodableError."""
        fixture, surebet, doubts = shown.fixture, shown.surebet, shown.doubts
        made, names = self._made_of(fixture, terms), self._names_of(fixture)
        json = made.json
        if form.bookmakers or (surebet is not None and surebet.usual_profit is not None):
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
            count = len(fixture.market.outcomes)
            at = count * fixture.bookmakers.index(name)
            chances = tuple(made.fair[at : at + count])
        return _with_reference(json, fixture, name, chances, terms)

    def fit(self, state: FixtureState) -> None:
        """Keep the JSON of twice as many fixtures as the board has; the oldest is dropped first."""
        self._most = 2 * len(state.places) + SLICE

    def links(self, fixture: Fixture, terms: FixtureSettings) -> bytes:
        """Return the links of a fixture as JSON. Raises: UnencodableError."""
        with self._rejecting(fixture):
            events = {member.key: event_of(fixture, member.key, terms.roster) for member in fixture.members}
            return _encode([link(member, events) for member in fixture.members])

    def _names_of(self, fixture: Fixture) -> Names:
        return {name: self._names[name] for name in fixture.bookmakers}

    @contextmanager
    def _rejecting(self, fixture: Fixture) -> Iterator[None]:
        """Raise UnencodableError with the guilty entry if the `with` body cannot encode a fixture."""
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
    """A fixture with its JSON, the fair chances of each entry (home, draw, away, ...), and of all entries.

    `doubted` are bookmakers with prices that all other prices put in doubt. The JSON of each entry begins
    at one of `starts` in `json`; the last of `starts` is the end. Usually one of fifty bookmakers has
    changed: then the chances and the JSON of the others are reused.
    """

    fixture: Fixture
    json: bytes
    fair: array[float]
    chances: Chances | None
    doubted: frozenset[BookmakerId]
    league: FixtureLeague
    starts: array[int]
    best: BestOfAll | None


Places: TypeAlias = Sequence[int | None]
"""For each entry of a fixture, its index in the result made before; None if the entry is new or changed."""


def _made(fixture: Fixture, names: Names, terms: FixtureSettings, known: _Made | None) -> _Made:
    places: Places = [None] * len(fixture.listed)
    if known is not None:
        at_before = {id(entry): at for at, entry in enumerate(known.fixture.listed)}
        places = [at_before.get(id(entry)) for entry in fixture.listed]
    of_each = _fair_of_each(fixture, terms.method, known, places)
    ordered, ratio = _sorted(fixture, of_each, terms.roster), terms.surebets.max_price_ratio
    prices_of_each = [of_one_winner(fixture.market, entry.match.prices) for entry in fixture.listed]
    highest = [*map(max, zip(*prices_of_each, strict=True))]
    chances, doubted = consensus_of_sorted(ordered), frozenset[BookmakerId]()
    if may_be_overpriced(ordered, highest, ratio):
        doubted = overpriced(quotes_of(fixture, _chances(of_each, fixture.market), terms.roster), ratio)
    parts = _entries(fixture, names, terms.roster, doubted, known=known, places=places)
    encoded = msgspec.Raw(b"[%b]" % b",".join(parts))
    league = known.league if known is not None and _are_labelled_alike(fixture, known.fixture) else None
    league = league or league_of_fixture(fixture)
    prices = None if known is None else _best_as_before(fixture, known, doubted, places)
    prices = prices or best_of(fixture, fixture.entries, doubted)
    of_all = fixture_v2(
        fixture, names, terms, chances, doubted, league=league, encoded=encoded, prices=prices
    )
    json = _encode(of_all)
    first = json.index(_ENTRIES) + len(_ENTRIES)
    starts = array("I", accumulate([len(part) + 1 for part in parts], initial=first))
    return _Made(fixture, json, of_each, chances, doubted, league, starts, prices)


def _best_as_before(
    fixture: Fixture, known: _Made, doubted: frozenset[BookmakerId], places: Places
) -> BestOfAll | None:
    """Return the best prices made before if no changed price is or was as high; otherwise None."""
    before, names = known.fixture, fixture.bookmakers
    if known.best is None or known.doubted != doubted or before.bookmakers != names:
        return None
    if before.superseded(names) != fixture.superseded(names):
        return None
    least = [price.price for price in known.best]
    changed = [
        prices
        for old, new, at in zip(before.listed, fixture.listed, places, strict=True)
        if at is None
        for prices in (old.match.prices, new.match.prices)
    ]
    is_below = all(price < high for prices in changed for price, high in zip(prices, least, strict=True))
    return known.best if is_below else None


def _fair_of_each(fixture: Fixture, method: Method, known: _Made | None, places: Places) -> array[float]:
    """Return the fair chances of the entries in order; known chances are reused."""
    found, count = array("d"), len(fixture.market.outcomes)
    for entry, at in zip(fixture.listed, places, strict=True):
        if at is None or known is None:
            found.extend(fair(method, of_one_winner(fixture.market, entry.match.prices)))
        else:
            found += known.fair[count * at : count * (at + 1)]
    return found


def _sorted(fixture: Fixture, of_each: array[float], roster: Roster) -> list[list[float]]:
    """Return for each outcome the fair chances of the entries that count, in rising order."""
    uncounted, count = fixture.superseded(fixture.bookmakers), len(fixture.market.outcomes)
    counted = [
        count * at
        for at, name in enumerate(fixture.bookmakers)
        if name in roster.live and name not in uncounted
    ]
    return [sorted([of_each[at + outcome] for at in counted]) for outcome in range(count)]


def _entries(
    fixture: Fixture,
    names: Names,
    roster: Roster,
    doubted: frozenset[BookmakerId],
    *,
    known: _Made | None,
    places: Places,
) -> list[bytes]:
    """Return the JSON of each entry in order; the known JSON of an unchanged entry is reused."""
    others = frozenset(fixture.bookmakers)
    if known is not None and _are_described_alike(fixture, known.fixture):
        superseded, before = (each.superseded(each.bookmakers) for each in (fixture, known.fixture))
        others = (superseded ^ before) | (doubted ^ known.doubted)
    found: dict[BookmakerId, bytes] = {}
    other: dict[BookmakerId, Entry] = {}
    for name, entry, at in zip(fixture.bookmakers, fixture.listed, places, strict=True):
        if at is None or known is None or name in others:
            found[name], other[name] = b"", entry
        else:
            found[name] = known.json[known.starts[at] : known.starts[at + 1] - 1]
    made = entries_v2(fixture, other, names, roster, doubted=doubted, among=fixture.bookmakers)
    found.update(zip(other, map(_encode, made), strict=True))
    return [*found.values()]


def _are_described_alike(a: Fixture, b: Fixture) -> bool:
    """Return whether an entry in both states has the same rule and link, and shows the same names."""
    return a.members is b.members and a.match.listing == b.match.listing


def _are_labelled_alike(a: Fixture, b: Fixture) -> bool:
    """Return whether two states of a fixture have the same entries except for prices."""
    if a.bookmakers != b.bookmakers:
        return False
    pairs = zip(a.listed, b.listed, strict=True)
    return not any(is_other_event(before, after) for before, after in pairs if before is not after)


def _chances(of_each: array[float], market: Market) -> Iterator[Chances]:
    """Yield the fair chances of each entry, in order."""
    count = len(market.outcomes)
    return zip(*[of_each[outcome::count] for outcome in range(count)], strict=True)


def _with_reference(
    json: bytes, fixture: Fixture, name: BookmakerId, chances: Chances | None, terms: FixtureSettings
) -> bytes:
    """Return the JSON of a fixture with a bookmaker's fair odds; `chances` is None if it lacks it."""
    if chances is None:
        return _with_more(json, Reference(None, FairReason.NOT_LISTED))
    if terms.roster[name].prices is not Prices.LIVE:
        return _with_more(json, Reference(None, FairReason.NOT_LIVE))
    if fixture.has_begun:
        return _with_more(json, Reference(None, FairReason.IN_PLAY_RULE))
    if not sure_legs(fixture, terms.roster)[name]:
        return _with_more(json, Reference(None, FairReason.LIKELY_LINK))
    return _with_more(json, Reference(fair_odds(terms.method, chances, fixture.market), UNSET))


def _with_more(json: bytes, more: msgspec.Struct) -> bytes:
    """Return the JSON of an object with more members at its end."""
    return b"%b,%b" % (json[:-1], _encode(more)[1:])


def _culprit(fixture: Fixture, names: Names) -> tuple[BookmakerId, Entry]:
    """Return the entry that cannot be encoded; the first entry if each can be encoded alone."""
    for name, entry in fixture.entries.items():
        try:
            _encode(match_v2(entry, names[name]))
        except UNENCODABLE:
            return name, entry
    return next(iter(fixture.entries.items()))
