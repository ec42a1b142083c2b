"""Makes the answers of the odds endpoints: status, headers and body for a view, a snapshot and a request.

The first request makes the body of a view; requests that come meanwhile wait for it. The body is kept, with
its headers, until the view changes. Bodies for few clients, with some fixtures or in another form, are made
within limits (`own_bodies.py`).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import anyio
import anyio.lowlevel
import msgspec
from msgspec import Struct

from actors.board.snapshot import Book, Readable, Snapshot
from actors.board.validity import Deadlines
from actors.core.cooperative import Sliced, run_now, run_sliced
from actors.core.messages import BookmakerId
from actors.matches.forms import USUAL, Form, whole
from actors.matches.model import FixtureState, fixtures_of
from actors.matching.event import FixtureId
from web.encoding.fixture_segments import MAX_VIEWS, FixtureSegments
from web.encoding.list_segments import Api, ListSegments
from web.encoding.members import blocks_of
from web.encoding.schemas import cursor_of
from web.encoding.segments import UnencodableError, ends, gzip_at_once, gzip_body, plain_body
from web.feeds.catching_up import CatchUp
from web.feeds.csv_lists import coded, fixtures_as_csv, odds_as_csv
from web.feeds.fixture_lists import (
    ALL,
    CURSOR,
    EVERYTHING,
    Choice,
    FixturesOf,
    cursor,
    division,
    is_whole,
    league_meant,
    mark_of,
    note,
    of_league,
    of_market_listed,
    some_of,
)
from web.feeds.own_bodies import Content, Key, Making, OwnBodies, Room
from web.protocol.negotiation import Coding, Format, acceptable, has_already
from web.protocol.problems import Problem
from web.protocol.responses import Prepared, prepared

CACHED_S = 2.0
"""Seconds for which nginx may show an answer that it may keep for 1 s, because it counts whole seconds."""
SUCCESSOR = '</api/v2/odds>; rel="successor-version"'  # the Link header of version 1 (RFC 5829)
UNCACHED = (b"x-accel-expires", b"0")
"""The header of an answer with entries that are about to end: no cache may keep it (nginx's header)."""


class View(Struct, frozen=True):
    """The list behind a URL: an API version, and one bookmaker or (None) all bookmakers."""

    api: Api
    bookmaker: BookmakerId | None = None
    format: Format = Format.JSON

    def books(self, snapshot: Snapshot) -> Mapping[BookmakerId, Book]:
        """Return the books that the list shows."""
        if self.bookmaker is None:
            return snapshot.books
        return {self.bookmaker: snapshot.books[self.bookmaker]}

    def version(self, snapshot: Snapshot) -> int:
        """Return the version of the last commit that changed the list."""
        books = self.books(snapshot).values()
        return max(book.v1_version if self.api is Api.V1 else book.v2_version for book in books)

    def deadlines(self, snapshot: Snapshot) -> Deadlines:
        """Return the deadlines of the list's entries."""
        return snapshot.list_deadlines(self.bookmaker)

    def held(self, snapshot: Snapshot, holds: Callable[[Deadlines], bool]) -> View:
        """Return the list itself: each end of an entry is a new version."""
        del snapshot, holds
        return self

    @property
    def mark(self) -> str:
        """The part of the list's tags after the version: nothing for JSON."""
        return mark_of(self.format)

    @property
    def is_fleeting(self) -> bool:
        """Whether no cache may keep the list: never."""
        return False

    def cursor(self, since: str) -> Mapping[str, str]:
        """Return the header with the `since` of the list's changes; version 1 has no changes."""
        return {CURSOR: since} if self.api is Api.V2 else {}

    @property
    def link(self) -> Mapping[str, str]:
        """The header of version 1 that names its successor."""
        return {"Link": SUCCESSOR} if self.api is Api.V1 else {}


Listed: TypeAlias = View | FixturesOf
"""The list behind a URL."""


class Answers:
    """Makes and keeps answers from `board`; `names` are the display names of the bookmakers.

    If `board` has another kind of market than 1X2, the 1X2 board `main` says which leagues there are, and
    which bookmakers are serving.
    """

    def __init__(
        self,
        board: Readable,
        names: Mapping[BookmakerId, str],
        own: OwnBodies | None = None,
        catch_up: CatchUp | None = None,
        main: Readable | None = None,
    ) -> None:
        self._main = main or board
        self.own = own or OwnBodies()
        self.catch_up = catch_up or CatchUp(board)
        self.board = board
        self._lists = ListSegments(names)
        self.fixtures = FixtureSegments(names)
        self._newest: Callable[[], Snapshot | None] = lambda: None
        self._pages: dict[Listed, _Page] = {}
        self._replaced: dict[Listed, _Page] = {}  # freed only after the next body is made: see `_make`

    async def answer(
        self,
        view: Listed,
        if_none_match: str | None,
        accept_encoding: str | None,
        choice: Choice = EVERYTHING,
        client: str | None = None,
    ) -> Prepared:
        """Answer a GET of `view`, or of some of its fixtures; waits only while a body is made.

        Raises: Problem 503 if no bookmaker of the view is serving, or fixtures are not linked yet; 406 if
        no coding is acceptable; 429 or 503 if `client`, or all single clients, have caused too much work.
        """
        awaited = if_none_match
        while True:
            snapshot = await self._read(view)
            page = self._page(view.held(snapshot, self.board.is_valid), snapshot)
            if not page.is_serving:
                raise unavailable(view)
            coding = acceptable(accept_encoding)
            found: Prepared | None
            if if_none_match is not None and has_already(if_none_match, page.etags[coding]):
                found = page.not_modified[coding]
            elif await self.catch_up.waited(awaited, snapshot, view.deadlines):
                awaited = None
                continue
            elif choice is not EVERYTHING or (found := page.ready.get(coding)) is None:
                found = await self._made(page, coding, snapshot, choice, client)
                # There is a newer board if a list was withdrawn, or a deadline passed, during the making.
                if found is None or not self._holds(page):
                    continue
                if view.held(snapshot, self.board.is_valid) != page.view:
                    continue
            if self.board.is_due(page.deadlines, CACHED_S) or page.view.is_fleeting:
                return msgspec.structs.replace(found, headers=(*found.headers, UNCACHED))
            return found

    async def _read(self, view: Listed) -> Snapshot:
        snapshot = await self.board.read(view.deadlines)
        if isinstance(view, FixturesOf):
            self.catch_up.check_linked()
        return snapshot

    def _holds(self, page: _Page) -> bool:
        """Return whether a page is from the board's current epoch, and none of its deadlines has passed."""
        return page.epoch == self.board.newest.epoch and self.board.is_valid(page.deadlines)

    async def listed(self, view: Listed, coding: Coding = Coding.IDENTITY) -> Content:
        """Return the list of `view`, serving or not, as plain JSON or as the blocks of a gzip body."""
        while True:
            snapshot = await self._read(view)
            page = self._page(view, snapshot)
            made = await self._made(page, coding, snapshot)
            if made is not None and self._holds(page):
                return page.listed(coding, made.parts)

    async def chosen(self, view: FixturesOf, choice: Choice, client: str | None) -> Content:
        """Return some fixtures of `view`, serving or not.

        Raises: Problem 429 or 503 if the client, or all single clients, have caused too much work.
        """
        while True:
            snapshot = await self._read(view)
            page = self._page(view, snapshot)
            made = await self._made(page, Coding.IDENTITY, snapshot, choice, client)
            if made is not None and self._holds(page):
                return Content(page.version, made.parts)

    async def fixture(
        self,
        fixture_id: FixtureId,
        if_none_match: str | None,
        accept_encoding: str | None,
        form: Form = USUAL,
    ) -> Prepared | None:
        """Answer a GET of one fixture with its links; None if no fixture has this id.

        Raises: Problem 503 and 406, as for the list.
        """
        view, awaited = FixturesOf(ALL.view, form), if_none_match
        while True:
            snapshot = await self._read(view)
            state = fixtures_of(snapshot)
            page = self._page(view, snapshot)
            if not page.is_serving:
                raise unavailable(view)
            coding, fixture = acceptable(accept_encoding), state.get(fixture_id)
            if fixture is not None and has_already(if_none_match or "", page.etags[coding]):
                return page.not_modified[coding]
            if await self.catch_up.waited(awaited, snapshot, view.deadlines):
                awaited = None
                continue
            if fixture is None:
                return None
            self.fixtures.fit(state)
            try:
                shown = self.fixtures.formed(whole(fixture), form, state.terms)
                links = self.fixtures.links(fixture, state.terms)
            except UnencodableError as error:
                await self.reject(error)
                continue
            body = b'{"version":%d,"fixture":%b,"links":%b%b}' % (page.version, shown, links, page.cursor)
            return page.answer(coding, run_now(coded((body,), coding)))

    async def reject(self, error: UnencodableError) -> None:
        """Withdraw the list with an entry that cannot be encoded, so that the other lists are served."""
        await self.board.reject(error.bookmaker, error.entry, str(error))
        await anyio.lowlevel.checkpoint()  # so that callers that try again never block the loop

    def _page(self, view: Listed, snapshot: Snapshot) -> _Page:
        if snapshot is not self._newest():  # drop pages that are not current any more
            self._newest = weakref.ref(snapshot)
            self._replaced = self._pages
            self._pages = {view: page for view, page in self._pages.items() if page.still_shows(snapshot)}
        if view not in self._pages:
            of_fixtures = [known for known in self._pages if isinstance(known, FixturesOf)]
            for known in of_fixtures[
                : max(len(of_fixtures) - MAX_VIEWS, 0)
            ]:  # each page may be as large as the whole list
                del self._pages[known]
            self._pages[view] = _Page(view, snapshot)
        page = self._pages[view]
        if self._main is not self.board:
            page.is_serving = any(book.is_serving for book in view.books(self._main.newest).values())
        return page

    async def _made(
        self,
        page: _Page,
        coding: Coding,
        snapshot: Snapshot,
        choice: Choice = EVERYTHING,
        client: str | None = None,
    ) -> Prepared | None:
        """Make the answer; None if a list had to be withdrawn, or if there is a newer version."""
        try:
            if (own := self._own_body(page, coding, snapshot, choice)) is not None:
                body = await self.own.get(own[0], page.version, client, own[1])
                if body is None or body.version != page.version:
                    return None
                return page.answer(coding, body.parts, body)
            async with page.making[coding]:
                if coding not in page.ready:
                    page.ready[coding] = await run_sliced(self._make(page, coding, snapshot))
                return page.ready[coding]
        except UnencodableError as error:
            await self.reject(error)
            return None

    def _own_body(
        self, page: _Page, coding: Coding, snapshot: Snapshot, choice: Choice
    ) -> tuple[Key, Making] | None:
        """Return key and maker of a body that few clients want; None for other bodies."""
        match page.view:
            case FixturesOf() as view if not is_whole(view, choice):
                of_list = view.form, view.market, view.has_weak, view.format
                key = (view.market.kind, view.versioned), (of_list, choice, coding)
                return key, self._chosen(view, page, coding, snapshot, choice)
            case View(api, bookmaker, Format.CSV):
                parts = [(api, name) for name in page.view.books(snapshot)]
                made = odds_as_csv(self._lists, parts, snapshot, page.version, coding)
                return ((api, bookmaker), (Format.CSV, coding)), made
        return None

    def _chosen(
        self, view: FixturesOf, page: _Page, coding: Coding, snapshot: Snapshot, choice: Choice
    ) -> Making:
        """Return the function that makes the body with some fixtures, or all fixtures in another form."""
        version, where = page.version, page.cursor

        def make(room: Room) -> Sliced[Content]:
            state, main = fixtures_of(snapshot), self._state(snapshot)
            self.fixtures.fit(state)
            pieces, count, size, asked, chosen = list[bytes](), 0, 0, choice.league, choice
            if asked is not None and (league := (yield from league_meant(asked, main))) is not None:
                chosen = msgspec.structs.replace(choice, league=league)
            if view.format is Format.CSV:
                made = yield from fixtures_as_csv(self.fixtures, view, chosen, state, room)
                return Content(version, (yield from coded(made, coding)), coding)
            for few in some_of(view, chosen, state):
                if few:
                    formed = [self.fixtures.formed(shown, view.form, state.terms) for shown in few]
                    pieces.append(b"," * bool(pieces) + b",".join(formed))
                    count += len(few)
                    room(size := size + len(pieces[-1]))
                yield
            more = view.linking(state) + where + division(view.form)
            more += yield from of_market_listed(view.view, count, state)
            if asked is not None and not count:
                more += yield from note(asked, chosen.league, main)
            if chosen is not choice and chosen.league is not None:
                more += of_league(chosen.league)
            head, tail = ends(version, count, self.fixtures.name, more)
            return Content(version, (yield from coded((head, *pieces, tail), coding)), coding)

        return make

    def _state(self, snapshot: Snapshot) -> FixtureState:
        """Return the 1X2 fixtures, which have the leagues."""
        return fixtures_of(snapshot if self._main is self.board else self._main.newest)

    def _make(self, page: _Page, coding: Coding, snapshot: Snapshot) -> Sliced[Prepared]:
        made = plain_body if coding is Coding.IDENTITY else gzip_body
        match page.view:
            case FixturesOf(view):
                made = gzip_at_once if made is gzip_body and page.view != ALL else made
                runs = yield from self.fixtures.runs([view], snapshot)
                more = page.view.linking(fixtures_of(snapshot)) + page.cursor
                parts = yield from made(page.version, runs, self.fixtures.name, more)
            case View(api):
                keys = [(api, name) for name in page.view.books(snapshot)]
                runs = yield from self._lists.runs(keys, snapshot)
                parts = yield from made(page.version, runs, self._lists.name)
        # Free old parts only after the new body has its memory. Memory freed earlier goes back to the
        # system, which takes a millisecond per megabyte to hand it out again.
        self._lists.forget(snapshot)
        self.fixtures.forget(snapshot)
        self._replaced = {}
        return page.answer(coding, parts)


class _Page:
    """A view at one version: its tags, and its finished answers by coding."""

    def __init__(self, view: Listed, snapshot: Snapshot) -> None:
        self.view = view
        self.version, self.epoch = view.version(snapshot), snapshot.epoch
        self.still_shows(snapshot)
        self.cursor = cursor(self.version, snapshot.epoch)
        self.cursor_header = view.cursor(cursor_of(self.version, snapshot.epoch))
        tag = f"{cursor_of(self.version, snapshot.epoch)}{view.mark}"
        self.etags = {Coding.IDENTITY: f'"{tag}"', Coding.GZIP: f'"{tag}-gzip"'}
        self.not_modified = {coding: prepared(304, self.headers(coding), None) for coding in Coding}
        self.making = {coding: anyio.Lock() for coding in Coding}
        self.ready: dict[Coding, Prepared] = {}
        self._blocks: Content | None = None

    def listed(self, coding: Coding, parts: Sequence[bytes]) -> Content:
        """Return the list with these parts; with gzip as blocks, made once for all streams."""
        if coding is Coding.IDENTITY:
            return Content(self.version, parts)
        if self._blocks is None:
            blocks, text = blocks_of(parts)
            self._blocks = Content(self.version, blocks, coding, text)
        return self._blocks

    def headers(self, coding: Coding) -> dict[str, str]:
        headers = {"ETag": self.etags[coding], "Vary": "Accept-Encoding", "Cache-Control": "no-cache"}
        return {**headers, **self.cursor_header, **self.view.link}

    def answer(self, coding: Coding, parts: Sequence[bytes], holds: object = None) -> Prepared:
        headers = self.headers(coding) | {"Content-Type": self.view.format.media_type}
        if coding is not Coding.IDENTITY:
            headers["Content-Encoding"] = coding
        return prepared(200, headers, tuple(parts), holds)

    def still_shows(self, snapshot: Snapshot) -> bool:
        """Update serving state and deadlines; return whether the page has the version of `snapshot`."""
        self.is_serving = any(book.is_serving for book in self.view.books(snapshot).values())
        self.deadlines = self.view.deadlines(snapshot)
        return (self.version, self.epoch) == (self.view.version(snapshot), snapshot.epoch)


def unavailable(view: Listed) -> Problem:
    """Return the problem that no bookmaker of a view is serving."""
    subject = "no bookmaker is" if view.bookmaker is None else f"{view.bookmaker} is not"
    detail = f"{subject} serving prices that are known to be live; try again later"
    return Problem(503, "no_bookmaker_serving", detail, {"Retry-After": "5"})
