"""Lists of fixtures with several markets: each fixture has them in `markets`, by name.

A list is made from the boards of all its kinds at one moment; its version is the largest of their versions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from actors.board.history import Recent
from actors.board.snapshot import Snapshot
from actors.core.cooperative import SLICE, Sliced, run_now
from actors.market_fixtures.model import MarketState
from actors.market_fixtures.views import SeveralView
from actors.markets.market import Market
from actors.matches.forms import USUAL, Form, Shown, whole
from actors.matches.history import FixtureRecord, Gone
from actors.matches.model import Fixture, FixtureState, FixtureView, Place, ViewKind, fixtures_of
from actors.matching.event import FixtureId
from web.encoding.fixture_schemas import removed_fixture
from web.encoding.schemas import cursor_of
from web.encoding.segments import FIXTURES, UnencodableError, ends, gzipped
from web.feeds import fixture_lists
from web.feeds.csv_lists import coded, several_as_csv
from web.feeds.fixture_lists import (
    Choice,
    FixturesOf,
    cursor,
    division,
    league_meant,
    linking,
    of_league,
)
from web.feeds.lists import Answers, unavailable
from web.feeds.messages import Frames
from web.feeds.own_bodies import Content, Making, OwnBody, Room
from web.protocol.negotiation import Coding, Format, acceptable, has_already
from web.protocol.responses import Asked, Prepared, prepared

if TYPE_CHECKING:
    from web.feeds.subscribers import Live

_OF_MATCH = ("id", "home", "away", "league", "league_id", "country", "start_time", "in_play")
_NAMED = "market"
_UNCACHED = {"Vary": "Accept-Encoding", "Cache-Control": "no-cache", "X-Accel-Expires": "0"}
_encode = msgspec.json.Encoder().encode
_members = msgspec.json.Decoder(dict[str, Raw]).decode


class Board(Struct, frozen=True):
    """A market of a view: its list, its answers, and its board at one moment."""

    listed: FixturesOf
    answers: Answers
    snapshot: Snapshot

    @property
    def state(self) -> FixtureState:
        """The fixtures of the board."""
        return fixtures_of(self.snapshot)

    def shown(self, fixtures: Iterator[Fixture]) -> Iterator[tuple[Shown, bytes]]:
        """Yield the shown fixtures, each with its JSON."""
        form, state = self.listed.form, self.state
        for fixture in fixtures:
            if (shown := self.listed.shown(fixture, state)) is not None:
                yield shown, self.answers.fixtures.formed(shown, form, state.terms)

    def of_match(self, match_id: FixtureId) -> list[Fixture]:
        """Return the fixtures of a match, one for each line."""
        if isinstance(self.state, MarketState):
            return self.state.of_match(match_id)
        fixture = self.state.get(match_id)
        return [] if fixture is None else [fixture]


def boards_of(
    view: SeveralView, live: Live, form: Form = USUAL, format_: Format = Format.JSON
) -> list[Board]:
    """Return the current boards of a view."""
    found = []
    for of_one in view.views:
        of_kind = live.of(of_one)
        snapshot = of_kind.board.newest
        listed = FixturesOf(of_one, form, format_).held(snapshot, of_kind.board.is_valid)
        found.append(Board(listed, of_kind.answers, snapshot))
    return found


def version_of(boards: Collection[Board]) -> int:
    """Return the version of several boards: the version of the last commit that changed any of them."""
    return max(board.listed.version(board.snapshot) for board in boards)


def mark_of(view: SeveralView, boards: Sequence[Board]) -> str:
    """Return the part of the tags after the version."""
    of = _encode((view.asked, [board.listed.form for board in boards]))
    return f"-{blake2b(of, digest_size=8).hexdigest()}{fixture_lists.mark_of(boards[0].listed.format)}"


def listed(
    boards: Sequence[Board], choice: Choice, join: Callable[[Sequence[bytes]], bytes]
) -> Sliced[list[bytes]]:
    """Return the shown fixtures, by kick-off and id; `join` makes one of its JSON for each market."""
    places: dict[FixtureId, Place] = {}
    found: dict[FixtureId, list[bytes]] = {}
    for board in boards:
        for chunk in board.state.chunks:
            for shown, json in board.shown(iter(chunk.entries)):
                if choice.has(shown):
                    match_id = shown.fixture.match_id
                    places.setdefault(match_id, Place(shown.fixture.place.start, match_id))
                    found.setdefault(match_id, []).append(json)
            yield
    made = list[bytes]()
    for count, match_id in enumerate(sorted(found, key=places.__getitem__), 1):
        made.append(join(found[match_id]))
        if count % (SLICE // 8) == 0:
            yield
    return made


def joined(by_market: Sequence[bytes]) -> bytes:
    """Return the JSON of a fixture with several markets, from its JSON for each market."""
    of_match, markets = _match_and_markets(by_market)
    return _encode({**of_match, "markets": markets})


def _match_and_markets(by_market: Sequence[bytes]) -> tuple[dict[str, Raw], dict[str, Mapping[str, Raw]]]:
    """Return the members of the match, and the members of each market by its name."""
    of_match: dict[str, Raw] = {}
    markets: dict[str, Mapping[str, Raw]] = {}
    for json in by_market:
        members = _members(json)
        of_match |= {name: members.pop(name) for name in _OF_MATCH if name in members}
        named = members.pop(_NAMED, None)
        markets["1x2" if named is None else msgspec.json.decode(named, type=str)] = members
    return of_match, markets


class WithMarkets(Struct, frozen=True):
    """The other markets of a match, from the boards of all kinds at one moment, and their version."""

    version: int
    mark: str
    markets: dict[str, Mapping[str, Raw]]
    of_match: dict[str, Raw]

    def added_to(self, fixture: bytes | None) -> bytes:
        """Return the JSON of a 1X2 fixture with its other markets; without 1X2, only names and markets."""
        markets = _encode({"markets": self.markets})
        if fixture is None:
            return b"%b,%b" % (_encode(self.of_match)[:-1], markets[1:])
        return b"%b,%b" % (fixture[:-1], markets[1:])


def other_markets(live: Live, match_id: FixtureId, form: Form) -> WithMarkets | None:
    """Return the markets of a match besides 1X2; None if no bookmaker lists any."""
    views = [
        FixtureView(ViewKind.FIXTURES, market=Market(kind), has_every_line=True) for kind in live.markets
    ]
    if not views:
        return None
    view = SeveralView("all", tuple(views))
    boards = boards_of(view, live, form)
    every = [json for board in boards for _, json in board.shown(iter(board.of_match(match_id)))]
    if not every:
        return None
    of_match, markets = _match_and_markets(every)
    return WithMarkets(version_of(boards), mark_of(view, boards), markets, of_match)


class SeveralRecord(Struct, frozen=True):
    """A match that changed in one of the markets: its JSON, or None if its last market has left."""

    id: FixtureId
    place: Place | None
    json: bytes | None
    gone: Gone | None = None


class SeveralHistory:
    """The changes of views of several markets, made from each market's changes."""

    def __init__(self, live: Live) -> None:
        self._live = live

    @property
    def epoch(self) -> str:
        """The epoch of all boards."""
        return self._live.board.newest.epoch

    def latest(self, view: SeveralView) -> int:
        """Return the view's version."""
        return max([int(self._of(of_one).latest(of_one)) for of_one in view.views])

    def oldest(self, view: SeveralView) -> int:
        """Return the oldest version since which all changes of the view are known."""
        return max([int(self._of(of_one).oldest(of_one)) for of_one in view.views])

    def since(self, view: SeveralView, version: int) -> Sliced[Recent[Any] | None]:
        """Return the changes of the view after `version`; None if not all changes are known any more."""
        changed: dict[FixtureId, Gone | None] = {}
        is_merged = False
        for of_one in view.views:
            recent: Recent[FixtureRecord] | None = yield from self._of(of_one).since(of_one, version)
            if recent is None:
                return None
            is_merged = is_merged or recent.is_merged
            for record in (*recent.shown, *recent.gone):
                changed[record.match_id] = record.gone_from(of_one) or changed.get(record.match_id)
        boards, newest = boards_of(view, self._live), max(self.latest(view), version)
        pending = fixtures_of(self._live.board.newest).pending
        found: Recent[Any] = Recent(newest, is_merged, [], [], pending)
        for count, (match_id, gone) in enumerate(changed.items(), 1):
            now = _current_record(match_id, gone, boards, view.league)
            if now.json is not None:
                found.shown.append(now)
            elif gone is not None:
                found.gone.append(now)
            if count % (SLICE // 8) == 0:
                yield
        found.shown.sort(key=lambda record: record.place)
        return found

    def _of(self, view: FixtureView) -> Any:
        return self._live.of(view).frames(view).history


def _current_record(
    match_id: FixtureId, gone: Gone | None, boards: list[Board], league: str | None
) -> SeveralRecord:
    """Return the record of a changed match, as the boards show it now."""
    shown = [made for board in boards for made in board.shown(iter(board.of_match(match_id)))]
    shown = [(it, json) for it, json in shown if Choice(league).has(it)]
    if not shown:
        return SeveralRecord(match_id, None, None, gone)
    place = Place(shown[0][0].fixture.place.start, match_id)
    return SeveralRecord(match_id, place, joined([json for _, json in shown]))


class SeveralFrames(Frames[SeveralView, Any]):
    """The messages of views of several markets."""

    name = FIXTURES

    def __init__(self, live: Live) -> None:
        history: Any = SeveralHistory(live)
        super().__init__(history, live.answers)
        self._live = live

    def listed(self, view: SeveralView) -> FixturesOf:
        """Return the list of the view's first market; the lists of several markets are joined elsewhere."""
        return FixturesOf(view.views[0])

    def _shown(self, record: SeveralRecord, view: SeveralView) -> bytes:
        del view
        return record.json or b""

    def _gone(self, record: SeveralRecord, view: SeveralView) -> bytes:
        del view
        return b"" if record.gone is None else _encode(removed_fixture(record.id, record.gone))

    def _more(self, recent: Recent[Any], view: SeveralView) -> bytes:
        return linking(recent.pending) + (b"" if view.league is None else of_league(view.league))

    async def passed(self, view: SeveralView, since: int, client: str | None) -> int | None:
        """Return the newest version if the view has not changed after `since`, as in `Frames`.

        Lines or a league may be unchanged although the version has risen.
        """
        if self.history.latest(view) <= since:
            return since
        delta = await self.delta(view, since, client=client)
        return delta.version if delta is not None and delta.is_empty else None

    async def _list(self, view: SeveralView, coding: Coding, client: str | None) -> Content:
        del coding
        await self._live.read(view)
        body = await made(self._live, view, Choice(view.league), client=client)
        return Content(body.version, body.parts)


async def answer(
    live: Live,
    view: SeveralView,
    form: Form,
    choice: Choice,
    request: Asked,
    *,
    format_: Format,
) -> Prepared:
    """Answer a GET of fixtures that are shown with several markets.

    Raises: Problem 503 if no bookmaker of the view is serving, or fixtures are not linked yet; 406 if no
    coding is acceptable; 429 or 503 if the client, or all single clients, have caused too much work.
    """
    await live.read_boards(request.header(b"if-none-match"), view)
    boards = boards_of(view, live, form, format_)
    if not any(book.is_serving for book in boards[0].listed.books(live.board.newest).values()):
        raise unavailable(boards[0].listed)
    coding = acceptable(request.header(b"accept-encoding"))
    since = cursor_of(version_of(boards), live.board.newest.epoch)
    tag = f"{since}{mark_of(view, boards)}"
    tag = f'"{tag}-gzip"' if coding is Coding.GZIP else f'"{tag}"'
    headers = {"ETag": tag, **_UNCACHED, **boards[0].listed.cursor(since)}
    if has_already(request.header(b"if-none-match") or "", tag):
        return prepared(304, headers, None)
    body = await made(live, view, choice, form, format_, coding=coding, client=request.client)
    headers["Content-Type"] = format_.media_type
    if coding is not Coding.IDENTITY:
        headers["Content-Encoding"] = coding
    return prepared(200, headers, tuple(body.parts), holds=body)


async def one(live: Live, match_id: FixtureId, others: WithMarkets, form: Form, request: Asked) -> Prepared:
    """Answer a GET of one fixture that has markets other than 1X2, with its links.

    Raises: Problem, as `answer`.
    """
    view, main = FixturesOf(FixtureView(ViewKind.FIXTURES), form), live.board.newest
    if not any(book.is_serving for book in view.books(main).values()):
        raise unavailable(view)
    coding, state = acceptable(request.header(b"accept-encoding")), fixtures_of(main)
    version = max(view.version(main), others.version)
    tag = f"{cursor_of(version, main.epoch)}{others.mark}"
    headers = {"ETag": f'"{tag}-gzip"' if coding is Coding.GZIP else f'"{tag}"', **_UNCACHED}
    if has_already(request.header(b"if-none-match") or "", headers["ETag"]):
        return prepared(304, headers, None)
    fixture, shown, links = state.get(match_id), None, b"[]"
    if fixture is not None:
        live.answers.fixtures.fit(state)
        shown = live.answers.fixtures.formed(whole(fixture), form, state.terms)
        links = live.answers.fixtures.links(fixture, state.terms)
    found = (version, others.added_to(shown), links, cursor(version, main.epoch))
    parts: Sequence[bytes] = (b'{"version":%d,"fixture":%b,"links":%b%b}' % found,)
    if coding is not Coding.IDENTITY:
        parts, headers["Content-Encoding"] = run_now(gzipped(parts)), coding
    return prepared(200, {**headers, "Content-Type": "application/json"}, tuple(parts))


async def made(
    live: Live,
    view: SeveralView,
    choice: Choice,
    form: Form = USUAL,
    format_: Format = Format.JSON,
    *,
    coding: Coding = Coding.IDENTITY,
    client: str | None,
) -> OwnBody:
    """Return the body of fixtures with several markets, from the current boards."""
    while True:
        boards = boards_of(view, live, form, format_)
        version = version_of(boards)
        key = (FIXTURES, view.asked, view.kind, view.bookmaker), (mark_of(view, boards), choice, coding)
        try:
            body = await live.answers.own.get(key, version, client, _making(live, boards, choice, coding))
        except UnencodableError as error:
            await live.answers.reject(error)
            continue
        if body is not None:
            return body


def _making(live: Live, boards: Sequence[Board], choice: Choice, coding: Coding) -> Making:
    main, version = live.board.newest, version_of(boards)
    pending = max([board.state.pending_in(board.listed.versioned) for board in boards])
    more = linking(pending) + cursor(version, main.epoch) + division(boards[0].listed.form)

    def make(room: Room) -> Sliced[Content]:
        asked, chosen, found_league = choice.league, choice, b""
        if (
            asked is not None
            and (league := (yield from league_meant(asked, fixtures_of(main)))) is not None
        ):
            chosen, found_league = replace(choice, league=league), of_league(league)
        if boards[0].listed.format is Format.CSV:
            views = [board.listed.view for board in boards]
            parts = yield from several_as_csv(views, boards[0].listed.form, partial(listed, boards, chosen))
        else:
            fixtures = yield from listed(boards, chosen, joined)
            head, tail = ends(version, len(fixtures), FIXTURES, more + found_league)
            parts = [head, *[b"," * (at > 0) + json for at, json in enumerate(fixtures)], tail]
        room(sum(map(len, parts)))
        return Content(version, (yield from coded(parts, coding)), coding)

    return make
